//! Live observers: a digest of what workers do, taken while they do it, with no trace and in fixed memory.
//!
//! A runtime calls [`Worker::begin`] and [`Worker::end`] on the worker's own thread, some nanoseconds each; anyone asks the
//! [`Observer`] for the digest at any moment, from any thread. The rims (`crates/capi`, `crates/tokio`, `python`) bring the
//! calls to their runtimes; what a span means is `crates/digest`, the same as for traces.
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
//! | module | holds |
//! |---|---|
//! | [`observer`] | the workers of one runtime, and their digest |
//! | [`worker`] | what one worker records: open frames and a buffer, single writer, no lock on the way |
//! | [`clock`] | the machine's clock, or one that a program sets |
//! | [`regime`] | when every task is timed, and when one in several |
//! | `state` | what a worker's buffer is emptied into, behind a lock that it takes every 75 timed tasks |

pub mod clock;
pub mod observer;
pub mod regime;
mod state;
pub mod worker;

pub use clock::{Clock, SetClock};
pub use observer::{Observer, Options};
pub use worker::Worker;
