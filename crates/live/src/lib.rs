//! Live observers: they digest what workers do while it happens, with no trace and in fixed memory.
//!
//! A runtime calls [`Worker::begin`] and [`Worker::end`] on the worker's own thread; each call
//! takes some nanoseconds. Any thread may ask the [`Observer`] for the digest at any moment. The
//! rims (`crates/capi`, `crates/tokio`, `python`) bring the calls to their runtimes.
//! `crates/digest` defines what a span means, for observers as for traces.
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
//! Read the modules in this order. A file imports none below it.
//!
//! | module | holds |
//! |---|---|
//! | [`clock`], [`options`] | the machine's clock or one that a program sets; the options of an observer |
//! | [`plan`] | how many tasks go untimed before the next timed one, in one word |
//! | `entry` | one span of a worker's buffer, in three words |
//! | [`shared`] | the memory that the C header uses too: plan, buffer, open frames |
//! | [`regime`] | when every task is timed, and when one in several |
//! | `cost`, `cpus` | what observing takes of the program; how much of its CPUs the program uses |
//! | `names` | names of tasks as numbers |
//! | `ready` | when tasks became ready, for all workers of an observer |
//! | `cpu` | whether CPU time shows that a task ran while none was timed |
//! | `state` | a worker's sums, behind a lock that it takes every 75 timed tasks |
//! | `window`, `count` | counting untimed windows and entries into these sums |
//! | [`worker`] | the calls that every task makes, without a lock |
//! | `rare`, `look` | the calls that few tasks make; counting when the buffer is full or somebody looks |
//! | [`observer`] | the workers of one runtime, and their digest |

#![warn(missing_docs)]

pub mod clock;
mod cost;
mod count;
mod cpu;
mod cpus;
mod entry;
mod look;
mod names;
pub mod observer;
pub mod options;
pub mod plan;
mod rare;
mod ready;
pub mod regime;
pub mod shared;
mod state;
mod window;
pub mod worker;

pub use clock::{Clock, SetClock};
pub use entry::leaf;
pub use observer::Observer;
pub use options::Options;
pub use ready::Wait;
pub use worker::Worker;
