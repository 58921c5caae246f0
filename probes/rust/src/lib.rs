//! The Rust probe. It performs taskscale's workloads on tokio, rayon, smol and plain threads, and
//! times them.
//!
//! | module | holds |
//! |---|---|
//! | [`sdk`] | the protocol and the clocks, a package of its own that your own probe can import |
//! | [`parts`] | a sample done in parts, at random depths of the stack |
//! | `workloads` | `fanout`, `nop`, `spin`, `parked`, `scale`, `pingpong`, `remote`, `context`, `idle`, `cancel`, `blocking`, `bytes`, `graph`, `drain` and `interp`, one file or folder each |
//! | `runtimes` | the runtimes, each started once per process |
//!
//! The last two come with the feature `runtimes`, which is on unless a package turns it off.

#[cfg(feature = "runtimes")]
mod known;
pub mod parts;
#[cfg(feature = "runtimes")]
pub mod runtimes;
#[cfg(feature = "runtimes")]
pub mod workloads;

#[cfg(feature = "runtimes")]
pub use known::{RUNTIMES, main, probe, variants};
pub use taskscale_probe_sdk as sdk;
