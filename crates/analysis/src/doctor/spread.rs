//! Which difference the machine could tell during the checkup: the same work against itself.

use taskscale_model::doctor::{
    Figures::{Cpu, Wall},
    Finding, Severity,
    facts::{Measured, Slice},
};
use taskscale_stats::{
    paired::PairedRatio,
    quantile::{quantile, sorted},
};

use super::finding::{Draft, grade};
use taskscale_model::figure::percent;

/// Slices in one sample. 10 x 2 ms are the tool's usual sample.
const SAMPLE: usize = 10;
/// Differences in CPU time, for a note and for a warning. The tool is built to tell 1 % in 20
/// rounds.
const CPU: (f64, f64) = (0.01, 0.03);
/// Differences in wall time, for a note and for a warning. Wall time stands beside CPU time and
/// does not gate.
const WALL: (f64, f64) = (0.01, 0.05);

/// Findings on the A/A spread of CPU time and of wall time.
pub fn findings(measured: &Measured) -> Vec<Finding> {
    let cpu = aa(&measured.slices, |slice| slice.cpu_ns).map(|aa| {
        let severity = aa.smallest.map_or(Severity::Note, |smallest| grade(smallest, CPU.0, CPU.1));
        let draft = Draft::new("A/A in CPU time", severity, aa.found()).affects(&[Cpu]);
        // The numbers come from docs/evidence/processes.md.
        let bound = ", for one loop in one process; real rows, in fresh processes, told 0.16 to 0.61 % on the machine \
                     of METHODOLOGY.md";
        aa.effect(draft, bound)
            .remedy("measure more rounds (--samples, --precision), or look for what changes the speed of the CPU below")
            .done()
    });
    let wall = aa(&measured.slices, |slice| slice.wall_ns).map(|aa| {
        let severity = aa.smallest.map_or(Severity::Warning, |smallest| grade(smallest, WALL.0, WALL.1));
        let draft = Draft::new("A/A in wall time", severity, aa.found()).affects(&[Wall]);
        aa.effect(draft, "").remedy("do not conclude from smaller differences in wall time").done()
    });
    cpu.into_iter().chain(wall).collect()
}

/// The same work compared with itself.
struct Aa {
    /// 5th and 95th percentile of the slices over their median, minus 1.
    spread: (f64, f64),
    /// The number of slices.
    slices: usize,
    /// The number of rounds of two samples.
    rounds: usize,
    /// The smallest difference that these rounds could tell; `None` where they are too few.
    smallest: Option<f64>,
}

/// Splits the slices into samples and the samples into rounds, in the mirrored order of a run: A B
/// B A.
fn aa(slices: &[Slice], time: impl Fn(&Slice) -> u64) -> Option<Aa> {
    let times: Vec<f64> = slices.iter().map(|slice| time(slice) as f64).collect();
    let ordered = sorted(&times);
    let at = |p| quantile(&ordered, p);
    let median = at(0.5).filter(|median| *median > 0.0)?;
    let samples: Vec<f64> = times.chunks_exact(SAMPLE).map(|sample| sample.iter().sum()).collect();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (round, pair) in samples.chunks_exact(2).enumerate() {
        let (first, second) = if round.is_multiple_of(2) { (&mut a, &mut b) } else { (&mut b, &mut a) };
        first.push(pair[0]);
        second.push(pair[1]);
    }
    let paired = PairedRatio::of(&a, &b, 0.95);
    Some(Aa {
        spread: (at(0.05)? / median - 1.0, at(0.95)? / median - 1.0),
        slices: slices.len(),
        rounds: a.len(),
        smallest: paired.map(|paired| paired.smallest_difference()),
    })
}

impl Aa {
    fn found(&self) -> String {
        let (low, high) = self.spread;
        let told = match self.smallest {
            Some(smallest) => {
                format!("{} rounds of 20 ms tell a difference of {} % now", self.rounds, percent(smallest))
            }
            None => {
                format!("only {} rounds of 20 ms fitted into the time: too few to tell anything", self.rounds)
            }
        };
        let (low, high) = (signed(low), percent(high));
        format!(
            "{told}; {} equal slices of 2 ms took {low} to +{high} % of their median (p5 to p95)",
            self.slices
        )
    }

    fn effect(&self, draft: Draft, bound: &str) -> Draft {
        match self.smallest {
            Some(smallest) => draft.measured(
                100.0 * smallest,
                "%",
                format!("differences below {} % are not told from noise{bound}", percent(smallest)),
            ),
            None => {
                let (low, high) = self.spread;
                let spread = high - low;
                draft.measured(100.0 * spread, "%", format!("equal work varies by {} %", percent(spread)))
            }
        }
    }
}

/// Writes a share of at most 0 in percent, with its sign even where it rounds to 0.
fn signed(share: f64) -> String {
    format!("-{}", percent(-share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(cpu: impl Fn(u64) -> u64, n: u64) -> Vec<Slice> {
        (0..n).map(|i| Slice { wall_ns: 2 * cpu(i), cpu_ns: cpu(i), delay_ns: None }).collect()
    }

    #[test]
    fn a_steady_machine_tells_any_difference() {
        let aa = aa(&slices(|_| 2_000_000, 400), |slice| slice.cpu_ns).expect("slices");
        assert_eq!((aa.rounds, aa.smallest, aa.spread), (20, Some(0.0), (0.0, 0.0)));
    }

    #[test]
    fn a_drift_cancels_in_the_mirrored_order() {
        // Each sample is 1 % slower than the one before it. Neighbours differ by 1 %, in A's favour
        // as often as in B's.
        let slow = |i: u64| (2e6 * 1.01_f64.powi(i as i32 / 10)) as u64;
        let aa = aa(&slices(slow, 400), |slice| slice.cpu_ns).expect("slices");
        let smallest = aa.smallest.expect("20 rounds");
        assert!((smallest - 0.01).abs() < 1e-4, "{smallest}");
    }

    #[test]
    fn few_slices_have_a_spread_and_no_interval() {
        let found = findings(&Measured { slices: slices(|i| 2_000_000 + i, 100), ..Measured::default() });
        assert_eq!(found.len(), 2);
        let text = found[0].found.value().expect("a finding");
        assert!(text.starts_with("only 5 rounds of 20 ms fitted"), "{text}");
        assert_eq!(found[1].severity, Severity::Warning);
        assert!(findings(&Measured::default()).is_empty());
    }
}
