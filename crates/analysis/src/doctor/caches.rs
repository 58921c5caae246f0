//! Whether others use the caches: the spread of a walk through memory beside that of arithmetic.

use taskscale_model::{
    doctor::{Figures::Cpu, Finding, facts::Measured},
    figure::percent,
};
use taskscale_stats::quantile::{quantile, sorted};

use super::finding::{Draft, grade};

/// Half of the range from the 5th to the 95th percentile over the median, for a note and for a
/// warning. Arithmetic varies by 1 to 4 % on the machines that were looked at, loaded or not. On a
/// shared one whose walks varied by 20 to 60 %, rows of 2,048 tasks varied by 15 to 30 % from
/// process to process (docs/evidence/processes.md).
const SPREAD: (f64, f64) = (0.05, 0.15);

/// The finding on the caches; none where no walk was measured.
pub fn findings(measured: &Measured) -> Vec<Finding> {
    let walks: Vec<f64> = measured.walks.iter().map(|ns| *ns as f64).collect();
    let slices: Vec<f64> = measured.slices.iter().map(|slice| slice.cpu_ns as f64).collect();
    let Some(walked) = spread(&walks) else { return Vec::new() };
    let beside = spread(&slices)
        .map(|slices| format!(", equal arithmetic by {} %", percent(slices)))
        .unwrap_or_default();
    let found =
        format!("equal walks through 1 MiB differ by {} % (half of p5 to p95){beside}", percent(walked));
    let says = format!(
        "rows whose tasks hold about 1 MiB vary by some {} % from sample to sample, and with them their intervals",
        percent(walked)
    );
    let finding = Draft::new("caches", grade(walked, SPREAD.0, SPREAD.1), found)
        .affects(&[Cpu])
        .measured(100.0 * walked, "%", says)
        .remedy(
            "other programs use this machine's caches, or other virtual machines do: stop them, take a machine of \
             your own, or allow more processes with --max-time",
        );
    vec![finding.done()]
}

/// Half of the range from the 5th to the 95th percentile, over the median.
fn spread(times: &[f64]) -> Option<f64> {
    let ordered = sorted(times);
    let at = |p| quantile(&ordered, p);
    let median = at(0.5).filter(|median| *median > 0.0)?;
    Some((at(0.95)? - at(0.05)?) / 2.0 / median)
}

#[cfg(test)]
mod tests {
    use taskscale_model::doctor::{Severity, facts::Slice};

    use super::*;

    /// Walks that differ evenly by up to `share` of 2 ms in either direction, beside steady
    /// arithmetic.
    fn measured(share: f64) -> Measured {
        let walk = |i: u64| (2e6 * (1.0 + share * (i as f64 / 50.0 - 1.0))) as u64;
        let slice = Slice { wall_ns: 2_000_000, cpu_ns: 2_000_000, delay_ns: None };
        Measured { walks: (0..=100).map(walk).collect(), slices: vec![slice; 100], ..Measured::default() }
    }

    #[test]
    fn walks_that_differ_are_graded_by_how_much() {
        for (share, severity) in [(0.0, Severity::Ok), (0.1, Severity::Note), (0.3, Severity::Warning)] {
            let finding = &findings(&measured(share))[0];
            assert_eq!(finding.severity, severity, "{share}");
            assert_eq!(finding.remedy.is_empty(), severity == Severity::Ok);
            let effect = finding.effect.as_ref().expect("an effect");
            assert!((effect.value - 90.0 * share).abs() < 0.1, "{effect:?}");
        }
    }

    #[test]
    fn without_walks_nothing_is_said() {
        assert!(findings(&Measured::default()).is_empty());
    }
}
