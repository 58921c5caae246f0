//! Live observers: a digest of what workers do, taken while they do it, with no trace and in fixed
//! memory.
//!
//! A runtime calls [`Worker::begin`] and [`Worker::end`] on the worker's own thread, some
//! nanoseconds each; anyone asks the [`Observer`] for the digest at any moment, from any thread.
//! The rims (`crates/capi`, `crates/tokio`, `python`) bring the calls to their runtimes; what a
//! span means is `crates/digest`, the same as for traces.
//!
//! ```
//! let observer = taskscale_live::Observer::new(taskscale_live::Options::default());
//! let worker = observer.worker(0);
//! for _ in 0..1_000 {
//!     worker.begin();
//!     worker.end(b"step");
//! }
//! assert_eq!(observer.digest().tasks, 1_000);
//! observer.clear();
//! assert_eq!(observer.digest().tasks, 0);
//! ```
//!
//! Read in this order; a file imports none below it.
//!
//! | module | holds |
//! |---|---|
//! | [`clock`], [`options`] | the machine's clock, or one that a program sets; what an observer is told |
//! | [`plan`] | how many tasks go without a time before the next that is timed: one word |
//! | `entry` | one span of a worker's buffer: three words |
//! | [`shared`] | the memory that the C header knows too: plan, buffer, open frames |
//! | [`regime`] | when every task is timed, and when one in several |
//! | `names` | names of tasks as numbers |
//! | `cpu` | what CPU time says of a time in which tasks were not timed |
//! | `state` | a worker's sums, behind a lock that it takes every 75 timed tasks |
//! | `window`, `count` | windows without times, and entries, into these sums |
//! | [`worker`] | the calls that every task makes, no lock on the way |
//! | `rare`, `look` | the calls that few tasks make; what is counted when the buffer is full or somebody looks |
//! | [`observer`] | the workers of one runtime, and their digest |

#![warn(missing_docs)]

pub mod clock;
mod count;
mod cpu;
mod entry;
mod look;
mod names;
pub mod observer;
pub mod options;
pub mod plan;
mod rare;
pub mod regime;
pub mod shared;
mod state;
mod window;
pub mod worker;

pub use clock::{Clock, SetClock};
pub use observer::Observer;
pub use options::Options;
pub use worker::Worker;
