//! What a program tells an observer when it makes one.

use crate::clock::Clock;

/// The options of an observer. The defaults suit a runtime of which nothing is known.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The number of workers that the runtime has, whether they run or not. `None` means as many as
    /// were seen.
    pub workers: Option<u32>,
    /// The runtime that is observed, in one word: `taskflow`, `tokio`, `asyncio`.
    pub source: String,
    /// The source of times.
    pub clock: Clock,
    /// Times every task, tiny ones too ([`regime`](crate::regime)). This costs some 20 ns for each
    /// task, and nothing is estimated.
    pub exact: bool,
    /// Whether a worker's thread does nothing but the worker's tasks. Its CPU time is then theirs,
    /// also where a task was not timed.
    pub own_threads: bool,
    /// Whether [`Worker::rests`](crate::Worker::rests) is called before each wait of a worker. A
    /// long time without that call is then a task's.
    pub waits_are_told: bool,
    /// Why no ready times come, if none do, and what to do about it. The default says what is true
    /// of any source.
    pub no_ready_times: Option<(&'static str, &'static str)>,
}
