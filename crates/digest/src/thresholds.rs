//! The choices that a diagnosis rests on, in one place, so that they can be swept.
//!
//! On 2,139 clear cases (seeds 330,000 to 332,999) moving one of them leaves the share of right
//! diagnoses, 98.5 %, within 0.1 points over a factor of 4 both ways for `dispatch_reach`,
//! `overlap` and `preempted`; within 1.4 points from 0.71 to 4 times for `short_wait`, `same_kind`
//! and `stands_out`. Below that the first two fall under one, where they mean nothing: no wait is
//! shorter than what runs meanwhile makes it, and no factor below one holds two means together.

/// Where one explanation ends and another begins, as ratios between quantities of one run.
///
/// They are choices, not measurements; what each is worth is in docs/evidence/digest.md
/// ("Thresholds"): the experiment `diagnose --sweep` moves each by a factor of four
/// both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Gaps up to this many times the scheduling cost are dispatch.
    pub dispatch_reach: f64,
    /// A wait of up to this many times the tasks that run meanwhile is what whole tasks make
    /// unavoidable: one task, and half of another for two that do not begin together.
    pub short_wait: f64,
    /// Tasks whose mean is within this factor of the mean of all are of the same kind.
    pub same_kind: f64,
    /// A task stands out if half of it is this many times the 90th percentile of the shorter ones.
    pub stands_out: f64,
    /// Share of its time in which a stage of its own may be seen together with others.
    pub overlap: f64,
    /// Share of the time lost to preemption from which nothing but that is concluded:
    /// verdicts flipped at 0.45 to 0.85 and not at 0.25.
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
