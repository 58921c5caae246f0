//! The statistics of `taskscale`: pure functions on slices. Nothing here knows what the numbers
//! mean, where they come from or how they are shown. Everything random takes a generator from its
//! caller.
//!
//! | module | answers |
//! |---|---|
//! | [`quantile`] | where do the samples lie? |
//! | [`sign`] | between which samples lies the median? |
//! | [`signed_rank`] | where is the centre of values that lie alike on both sides of it? |
//! | [`aligned_rank`] | where is one row beside two of the same code? |
//! | [`student`] | between which values lies the mean of a few? |
//! | [`pooled`] | and where each size has few samples, but the sizes are many? |
//! | [`independent`](mod@independent) | what counts as one observation? |
//! | [`paired`] | by what factor does B differ from A, measured in the same rounds? |
//! | [`rounds`] | which rounds do two rows share? |
//! | [`shift`] | by what factor does B differ from A, measured in another session? |
//! | [`confidence`] | how often does an interval hold what it is of? |
//! | [`bootstrap`] | between which values lies any other statistic? |
//! | [`stop`] | have enough rounds been measured? |
//! | [`told`] | do times that are told account for those that are seen? |
//! | [`warmup`] | has a fresh process settled? |
//! | [`growth`] | how does cost grow with size? |
//! | [`granularity`] | how small may a task be? |
//! | [`usl`] | how does throughput grow with workers, and where does it end? |

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod aligned_rank;
pub mod bootstrap;
pub mod confidence;
pub mod granularity;
pub mod growth;
pub mod independent;
pub mod paired;
pub mod pooled;
pub mod quantile;
pub mod rounds;
pub mod shift;
pub mod sign;
pub mod signed_rank;
pub mod stop;
pub mod student;
pub mod told;
pub mod usl;
pub mod warmup;
