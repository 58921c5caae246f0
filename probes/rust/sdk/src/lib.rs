//! The parts that every probe in Rust needs besides its workloads: the loop of probe protocol 1 and
//! the clocks. A probe of your own imports it. The following is a whole probe, which
//! `taskscale probe check` accepts:
//!
//! ```no_run
//! use taskscale_probe_sdk::{Probe, Variant, Workload};
//!
//! fn main() -> std::process::ExitCode {
//!     Probe::new("mypool", "1.0")
//!         .workload(Workload::new("nop").variant(Variant::new("submit", |run| {
//!             Ok(run.time(|_| (0..run.size).map(|_| std::thread::spawn(|| 1)).map(|t| t.join().unwrap()).sum()))
//!         })))
//!         .serve()
//! }
//! ```
//!
//! The Rust probe has all of this as its module `sdk`
//! (`use taskscale_probe_rust::sdk::{Probe, Variant, Workload}`). A probe of your own may not want
//! the runtimes beside it in its dependencies.
//!
//! | module | holds |
//! |---|---|
//! | [`clock`] | the two clocks and their resolution |
//! | [`describe`] | the description of a probe: runtime, workloads, parameters, variants |
//! | [`layout`] | a random place of the stack for every part of a sample |
//! | [`request`] | a request, made into a [`Run`] |
//! | [`serve`] | one reply line per request line, until end of input |
//! | [`timing`] | the timed loop |

// Methods of one line stay on one line in these, so that each can be read at a glance.
#[rustfmt::skip] pub mod clock;
#[rustfmt::skip] pub mod describe;
pub mod layout;
#[rustfmt::skip] pub mod request;
#[rustfmt::skip] pub mod serve;
#[rustfmt::skip] pub mod timing;

#[rustfmt::skip]
pub use self::{describe::{Param, Probe, Variant, Workload}, request::Run, timing::{Phases, Timing}};

/// The protocol that this probe speaks.
pub const PROTOCOL: u64 = 1;

/// The name and version of the compiler that built this: `rustc 1.95.0 (59807616e 2026-04-14)`.
pub const TOOLCHAIN: &str = env!("TASKSCALE_TOOLCHAIN");
