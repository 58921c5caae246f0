//! Turns the raw samples of a run file into typed figures, verdicts and findings. Everything here
//! is pure: no clock, no disk, no environment, nothing printed.
//!
//! ```text
//! run file --read--> Run --summarize--> Summary
//! Run, Run --compare--> Comparison
//! Facts --checkup--> Checkup
//! guide file --guide::read--> File --guide::judge--> Verdicts
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`read`] | reads `taskscale.run/1`, forgiving what a kill may leave behind and nothing else |
//! | [`summarize`](mod@summarize) | derives every figure: percentiles, intervals, ratios, growth, control |
//! | [`compare`](mod@compare) | judges two runs, or two sides of one, row by row |
//! | [`doctor`] | judges a machine: from facts to findings |
//! | [`guide`] | judges the claims of Taskflow's performance guide |
//! | [`told`] | holds the times that a probe tells to those seen from outside |
//! | `grouped` | groups of equal keys, by an index |
//! | `machine` | describes a machine in one line |

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod compare;
pub mod doctor;
mod grouped;
pub mod guide;
mod machine;
pub mod read;
pub mod summarize;
pub mod told;

pub use compare::{CompareOptions, compare, compare_sides};
pub use doctor::checkup;
pub use grouped::grouped;
pub use machine::machine_words;
pub use read::{ReadError, Run, parse_run, salvage_run};
pub use summarize::{Options as SummaryOptions, Sort, is_gradable, summarize, summarize_with};
