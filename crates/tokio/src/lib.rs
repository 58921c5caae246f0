//! Observes a tokio runtime. One poll is one span, one of tokio's workers is one worker, and a task
//! is named after the line that spawned it. No trace is written, and memory is fixed: less than 16
//! KB per worker.
//!
//! ```
//! let (rt, digest) = taskscale_tokio::observe(&mut tokio::runtime::Builder::new_current_thread()).build()?;
//! rt.block_on(async {
//!     for _ in 0..100 {
//!         tokio::spawn(async {}).await.expect("an empty task does not panic");
//!     }
//! });
//! println!("{digest}");
//! # assert!(digest.to_string().len() <= 2_048);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! tokio calls its hooks around polls only if it is built with `RUSTFLAGS="--cfg tokio_unstable"`.
//! Without that flag this crate builds too, sets no hook, and its digest says what it cannot see.
//! `docs/guides/live-tokio.md` has the cost of either build.
//!
//! | module | holds |
//! |---|---|
//! | [`builder`] | [`observe`], and the place for the user's own hooks |
//! | [`live`] | the digest, at any moment, as text or JSON |
//! | `seats` | which thread is which worker; what happens at a poll (only with `--cfg tokio_unstable`) |
//! | `sites` | the numbers of spawn locations on one worker (only with `--cfg tokio_unstable`) |
//! | `unseen` | what the digest says where polls cannot be seen (only without that flag) |

#![warn(missing_docs)]

pub mod builder;
pub mod live;
#[cfg(tokio_unstable)]
mod seats;
#[cfg(tokio_unstable)]
mod sites;
#[cfg(not(tokio_unstable))]
mod unseen;

pub use builder::{Observe, observe};
pub use live::Live;
