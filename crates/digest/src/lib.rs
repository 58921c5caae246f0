//! Takes spans and makes a bounded digest: where *workers x window* went, and which cause explains
//! the loss.
//!
//! ```text
//! Span --Accumulator--> sums of fixed size --finish--> Profile --losses, patterns--> Digest
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`accumulator`] | takes spans in any order, merges |
//! | `batch` | takes a live observer's buffer, at a third of the cost |
//! | `scale` | a clock's ticks as nanoseconds |
//! | `estimate` | what timed tasks show of untimed ones |
//! | `sampled` | batches in which one task in several was timed |
//! | [`histogram`] | durations and gaps in log2 octaves of four buckets |
//! | `bins` | bins over time that double, with a point in each |
//! | [`grid`] | parallelism over time: counted in bins and at their points |
//! | [`waits`] | when tasks were ready and not started |
//! | [`worker`] | outermost spans, gaps, nesting of one worker |
//! | [`names`] | the costliest names |
//! | [`top`] | the longest spans |
//! | `calibrate` | the line between dispatch and idleness, from the run's own gaps |
//! | `profile` | what the points show: time by parallelism and by cause |
//! | `edges` | a sample of begins and ends over all workers |
//! | `releases` | what lets workers that wait go on |
//! | `ticks` | whether a clock sets when tasks begin |
//! | `queue` | whether workers had nothing to do or tasks no worker, where ready times are known |
//! | `thresholds`, `evidence` | the choices and the quantities that a diagnosis rests on |
//! | `patterns` | the diagnosis, and who is to blame |
//! | `finish` | the digest |
//! | [`partial`] | sums of one source that merge with others', and the digest of the whole |
//!
//! The crate knows no file format, no clock and no way of showing.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod accumulator;
mod batch;
mod bins;
mod calibrate;
mod edges;
mod estimate;
mod evidence;
mod finish;
pub mod grid;
pub mod histogram;
pub mod names;
mod observed;
pub mod partial;
mod patterns;
mod profile;
mod queue;
mod releases;
mod sampled;
mod scale;
mod thresholds;
mod ticks;
mod told;
pub mod top;
pub mod waits;
pub mod worker;

pub use accumulator::{Accumulator, Config, MAX_WORKERS};
pub use batch::NUMBERS;
pub use estimate::{Estimate, TimedSpan, Usual};
pub use scale::Scale;
pub use thresholds::Thresholds;
pub use waits::Waits;
