//! What an observer is told at its making.

use crate::clock::Clock;

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Workers that the runtime has, whether they run or not; as many as were seen where it is
    /// `None`.
    pub workers: Option<u32>,
    /// Who is observed, in one word: `taskflow`, `tokio`, `asyncio`.
    pub source: String,
    /// Where times come from.
    pub clock: Clock,
    /// Times every task, also tiny ones ([`regime`](crate::regime)): some 20 ns for each, and
    /// nothing is estimated.
    pub exact: bool,
    /// Whether the thread of a worker does nothing but the worker's tasks: CPU time that it uses is
    /// then theirs, also where a task was not timed.
    pub own_threads: bool,
    /// Whether [`Worker::rests`](crate::Worker::rests) is called before each wait of a worker: a
    /// long time without that call is then a task's.
    pub waits_are_told: bool,
}
