//! The choices that a diagnosis rests on, in one place, so that they can be varied.
//!
//! On 2,139 clear cases (seeds 330,000 to 332,999) the share of right diagnoses is 98.5 %. Moving
//! `dispatch_reach`, `overlap` or `preempted` by a factor of 4 either way changes it by at most 0.1
//! points. Moving `short_wait`, `same_kind` or `stands_out` to 0.71 to 4 times its value changes it
//! by at most 1.4 points. Below that the first two of these fall under one and mean nothing: no
//! wait is shorter than what runs meanwhile makes it, and no factor below one holds two means
//! together.

/// The limits between explanations, as ratios of quantities of one run.
///
/// They are choices, not measurements. The section "Thresholds" of docs/evidence/digest.md says
/// what each is worth: the experiment `diagnose --sweep` moves each by a factor of four both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Gaps up to this many times the scheduling cost are dispatch.
    pub dispatch_reach: f64,
    /// Waits of up to this many times the tasks that run meanwhile cannot be avoided with whole
    /// tasks: one task, and half of another for two that do not begin together.
    pub short_wait: f64,
    /// Tasks whose mean is within this factor of the mean of all are of the same kind.
    pub same_kind: f64,
    /// A task stands out if half of it is this many times the 90th percentile of the shorter ones.
    pub stands_out: f64,
    /// The share of its time in which a stage of its own may be seen together with others.
    pub overlap: f64,
    /// The share of time lost to preemption from which on only preemption is concluded. Verdicts
    /// flipped at 0.45 to 0.85 and not at 0.25.
    pub preempted: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds {
            dispatch_reach: 16.0,
            short_wait: 1.5,
            same_kind: 2.0,
            stands_out: 2.0,
            overlap: 0.1,
            preempted: 0.3,
        }
    }
}
