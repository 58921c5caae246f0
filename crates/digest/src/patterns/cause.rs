//! What a diagnosis is chosen from.

use taskscale_model::digest::PatternName;

/// What a fix must save, as a share of the run's time, to be worth naming: two runs of one program
/// in short windows differ by as much. A late wake-up alone is 10 to 30 % of a window of 20 to 300
/// ms.
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
