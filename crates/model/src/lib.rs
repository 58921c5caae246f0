//! Plain data of `taskscale`: what the tool and a probe exchange, what a suite asks for, what a run
//! file holds, what a summary says. Nothing here touches a clock, a disk, the environment or a
//! statistic.
//!
//! | module | holds | written down in |
//! |---|---|---|
//! | [`blocking`] | what ready tasks wait while others block | `probes/PROTOCOL.md` |
//! | [`idle`] | tasks that arrive while nothing else happens | `probes/PROTOCOL.md` |
//! | [`load`] | samples that a server gives under load | `probes/PROTOCOL.md` |
//! | [`params`] | named values that select a case of a workload | `probes/PROTOCOL.md` |
//! | [`parked`] | what tasks hold while they wait | `probes/PROTOCOL.md` |
//! | [`protocol`] | probe protocol 1: requests and replies | `probes/PROTOCOL.md` |
//! | [`suite`] | suite files: workloads, sizes, baselines, expected answers | `CONTRIBUTING.md` |
//! | [`answer`] | the rules that say which answer is right | `METHODOLOGY.md` |
//! | [`bytes`] | the content of the workload `bytes`, and its sums | `probes/PROTOCOL.md` |
//! | [`machine`] | the fingerprint of a machine | `METHODOLOGY.md` |
//! | [`run_file`] | `taskscale.run/1`: raw samples, appended one by one | `docs/reference/run-file.md` |
//! | [`summary`] | `taskscale.summary/1`: every figure that is shown | `docs/reference/summary.md` |
//! | [`compare`] | `taskscale.compare/1`: two runs, row by row | `docs/reference/compare.md` |
//! | [`span`] | one task execution, and what a trace held | `ARCHITECTURE.md` |
//! | [`digest`] | `taskscale.digest/1`: where the workers' time went, and why | `ARCHITECTURE.md` |
//! | [`partial`] | `taskscale.partial/1`: the sums of a digest, which merge | `docs/reference/partial.md` |
//! | [`doctor`] | `taskscale.doctor/1`: what blurs or biases the figures here | `docs/reference/doctor.md` |
//! | [`guide`] | `taskscale.guide/1`: programs of Taskflow's guide, and verdicts on its claims | `probes/guide/README.md` |
//! | [`figure`] | numbers and times in words, as precise as their interval allows | |
//! | [`key`] | what names a row, in every record of one | `docs/reference/run-file.md` |
//! | [`metric`] | what can be measured of a row, and the counts behind it | `METHODOLOGY.md` |
//! | [`missing`] | a value that is not there, with reason and remedy | |
//! | [`plain`] | text of others, made plain before it is shown | |
//! | `schema` | JSON Schemas of all of these, for tests | `schemas/` |

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod answer;
pub mod blocking;
pub mod bytes;
pub mod compare;
pub mod digest;
pub mod doctor;
pub mod figure;
pub mod guide;
pub mod idle;
pub mod key;
pub mod load;
pub mod machine;
pub mod metric;
pub mod missing;
pub mod params;
pub mod parked;
pub mod partial;
pub mod plain;
pub mod protocol;
pub mod run_file;
#[cfg(feature = "schema")]
pub mod schema;
pub mod span;
pub mod suite;
pub mod summary;
