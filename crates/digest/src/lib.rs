//! Spans in, a bounded digest out: where *workers x window* went, and which cause explains the
//! loss.
//!
//! ```text
//! Span --Accumulator--> sums of fixed size --finish--> Profile --losses, patterns--> Digest
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`accumulator`] | takes spans in any order, merges |
//! | `batch` | the same for a live observer's buffer, at a third of the cost |
//! | `scale` | a clock's ticks as nanoseconds |
//! | `estimate` | what timed tasks say of those that were not timed |
//! | `sampled` | batches where one task in several was timed |
//! | [`histogram`] | durations and gaps in log2 octaves of four buckets |
//! | [`grid`] | parallelism over time: bins that double, and a point in each |
//! | [`worker`] | outermost spans, gaps, nesting of one worker |
//! | [`names`] | the names that cost most |
//! | [`top`] | the longest spans |
//! | `calibrate` | the line between dispatch and idleness, from the run's own gaps |
//! | `profile` | what the points say: time by parallelism and by cause |
//! | `thresholds`, `evidence` | what a diagnosis rests on, and what it is made of |
//! | `patterns` | the diagnosis |
//! | `finish` | the digest |
//!
//! It knows no file format, no clock and no way of showing.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod accumulator;
mod batch;
mod calibrate;
mod estimate;
mod evidence;
mod finish;
pub mod grid;
pub mod histogram;
pub mod names;
mod patterns;
mod profile;
mod sampled;
mod scale;
mod thresholds;
pub mod top;
pub mod worker;

pub use accumulator::{Accumulator, Config, MAX_WORKERS};
pub use batch::NUMBERS;
pub use estimate::{Estimate, TimedSpan, Usual};
pub use scale::Scale;
pub use thresholds::Thresholds;
