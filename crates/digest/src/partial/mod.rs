//! Sums of one source that merge with those of others, and the digest of the whole.
//!
//! ```text
//! Accumulator --of_source--> Partial --merge--> Partial --digest--> Digest
//! ```
//!
//! Each source has a clock of its own, and no two are aligned. What needs a clock is therefore
//! finished for each source alone: its losses, and what each cause takes of its worker time, by the
//! rules of its own diagnosis. These become integers, and the whole is judged by their sums.

mod lists;
mod merge;
mod source;
mod whole;

pub use merge::merge;
pub use whole::digest;
