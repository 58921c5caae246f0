//! The causes that a diagnosis is chosen from.

use taskscale_model::digest::PatternName;

/// The share of the run's time that a fix must save to be worth naming. Two runs of one program in
/// short windows differ by as much. A late wake-up alone is 10 to 30 % of a window of 20 to 300 ms.
pub(crate) const WORTH: f64 = 0.1;

/// A cause and what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cause {
    pub name: PatternName,
    /// Share of *workers x window*.
    pub share: f64,
    /// The share of the run's time that removing the cause saves.
    pub gain: f64,
}
