//! The parts that every probe in Rust needs besides its workloads: the loop of probe protocol 1 and
//! the clocks. A probe of your own imports it. The following is a whole probe, which
//! `taskscale probe check` accepts:
//!
//! ```no_run
//! use serde_json::json;
//! use taskscale_probe_sdk::{Probe, Variant, Workload};
//!
//! fn main() -> std::io::Result<()> {
//!     let spawn = Variant {
//!         name: "spawn".into(),
//!         creates_task: true,
//!         about: json!({"max_size": 10_000, "note": "one thread per task"}),
//!         perform: Box::new(|run| {
//!             Ok(run.time(|_| {
//!                 let threads: Vec<_> = (0..run.size).map(|_| std::thread::spawn(|| 1)).collect();
//!                 threads.into_iter().map(|thread| thread.join().unwrap()).sum()
//!             }))
//!         }),
//!     };
//!     let nop = Workload { name: "nop", params: vec![], variants: vec![spawn] };
//!     Probe { name: "mypool", version: "1.0".into(), workers: None, workloads: vec![nop] }.serve()
//! }
//! ```
//!
//! The Rust probe has all of this as its module `sdk`
//! (`use taskscale_probe_rust::sdk::{Probe, Variant, Workload}`). A probe of your own may not want
//! the runtimes beside it in its dependencies. Samples of the Rust probe are also done in parts, at
//! random depths of the stack (`taskscale_probe_rust::parts`). This is no part of the protocol and
//! not in here.
//!
//! | module | holds |
//! |---|---|
//! | `clock` | the two clocks and their resolution |
//! | `threads` | brings the clock of the process up to date |
//! | `describe` | the description of a probe: runtime, workloads, parameters, variants |
//! | `request` | a request, made into a [`Run`] |
//! | `timing` | the timed loop |
//! | `serve` | one reply line per request line, until end of input |
//! | [`criterion`] | functions that were written for criterion, performed as they are |

mod clock;
pub mod criterion;
mod describe;
mod request;
mod serve;
mod threads;
mod timing;

pub use self::{clock::*, describe::*, request::*, timing::*};
