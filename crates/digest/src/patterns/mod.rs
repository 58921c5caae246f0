//! The diagnosis: which cause explains the loss.
//!
//! Each idle point of time is put down to one cause by what ran meanwhile ([`causes`]), each cause becomes a pattern whose
//! gain is the share of the run's time that removing it would save ([`patterns()`]), and the largest gain is the diagnosis,
//! unless the evidence is too thin ([`verdict`]). The thresholds are ratios of quantities of the same run ([`Thresholds`]); the only absolute
//! ones are definitions: a loss below [`WORTH`] is healthy, and a cause that explains less than half is not *the* cause.

mod causes;
mod delay;
mod thresholds;
mod verdict;
mod words;

pub use thresholds::Thresholds;

use taskscale_model::digest::{Confidence, Pattern, PatternName};

use crate::finish::Evidence;

/// What a fix must save, as a share of the run's time, to be worth naming: two runs of one program in short windows differ
/// by as much. A late wake-up alone is 10 to 30 % of a window of 20 to 300 ms.
pub(crate) const WORTH: f64 = 0.1;

/// A cause and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cause {
    pub name: PatternName,
    /// Share of *workers x window*.
    pub share: f64,
    /// Share of the run's time that removing it saves.
    pub gain: f64,
}

/// Patterns, the diagnosis first, and how far to trust it.
pub(crate) fn diagnose(evidence: &Evidence<'_>) -> (Vec<Pattern>, Confidence) {
    let delay = delay::Delay::of(evidence);
    let most = causes::causes(evidence, delay.most);
    let least = causes::causes(evidence, delay.least);
    let (ranked, confidence) = verdict::verdict(evidence, most, least);
    let patterns = ranked
        .iter()
        .enumerate()
        .map(|(rank, cause)| {
            let (text, remedy) = words::words(evidence, cause, &ranked[rank + 1..]);
            Pattern {
                name: cause.name,
                share: cause.share.clamp(0.0, 1.0),
                evidence: text,
                remedy,
                predicted_speedup: 1.0 / (1.0 - cause.gain.clamp(0.0, 0.999)),
            }
        })
        .collect();
    (patterns, confidence)
}
