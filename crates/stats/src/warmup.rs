//! Whether a fresh process has settled.
//!
//! Caches fill, heaps grow and JIT compilers replace code during the first samples. Such a process
//! gets cheaper from sample to sample; a settled one fluctuates. Either of two signs is accepted:
//!
//! * **agreement**: the last three samples lie within [`AGREEMENT`] of one another and do not all
//!   move one way;
//! * **fluctuation**: [`CHANGES`] changes of direction in the last [`WINDOW`] samples, for rows too
//!   noisy to agree. The four changes and the fewest of six samples are those of BenchmarkDotNet
//!   (`AutoWarmupStoppingCriteria`); the window is ours, so that changes from before a JIT's step
//!   do not count after it.
//!
//! A JIT compiler steps down in tiers and rests between them, so three samples agree long before
//! the last tier. Those signs took 13 fresh JVMs for settled after 10 samples at most, at 1.7 times
//! their later cost (median; 5.6 times at worst). For such processes [`has_levelled`] compares the
//! medians of [`LEVEL`] samples.

use crate::quantile::median;

/// Range of three settled samples over the smallest. A machine loaded far beyond its cores gave
/// 1,200 settled samples of a 50 ms spin. Nine in ten lay between 47.5 and 53.4 ms of CPU time
/// (docs/evidence/processes.md), so three seldom differ more.
pub const AGREEMENT: f64 = 0.10;
/// Changes of direction that show fluctuation.
pub const CHANGES: usize = 4;
/// Samples among which the changes are counted.
pub const WINDOW: usize = 8;

/// Whether the process that gave these samples has settled. Samples are of one size and in order,
/// the oldest first. O(1).
///
/// The caller bounds the number of warm-up samples: a row that keeps falling never settles.
///
/// ```
/// use taskscale_stats::warmup::is_stable;
/// assert!(!is_stable(&[90.0, 40.0, 20.0, 15.0]));
/// assert!(is_stable(&[90.0, 40.0, 20.0, 15.0, 15.3, 14.9]));
/// ```
pub fn is_stable(samples: &[f64]) -> bool {
    agree(samples) || fluctuate(samples)
}

/// The number of samples of which [`has_levelled`] takes the median. The pause between two tiers of
/// the JVM seldom outlasts so many.
///
/// The curves are of 13 fresh JVMs (JDK 25) and 12 fresh V8s (Node 20), 70 samples each, on a
/// machine with many times more processes than cores. The table has the cost right after a process
/// is called level, over that of its last 20 samples (docs/evidence/warm-up.md):
///
/// | samples in each median | JVM: median, upper quartile | V8 | samples until then: JVM, V8 |
/// |--:|--:|--:|--:|
/// | 5 | 1.64, 1.86 | 1.04, 1.07 | 14, 11 |
/// | 8 | 1.21, 2.01 | 1.02, 1.11 | 23, 19 |
/// | 12 | 1.17, 1.48 (without [`RISE`] 1.27, 1.72) | 1.02, 1.04 | 38, 27 |
/// | 15 | 1.16, 1.54 | 1.01, 1.04 | 40, 31 |
pub const LEVEL: usize = 12;
/// The fall between the two medians that counts as noise.
pub const STILL: f64 = 0.05;
/// The rise between the two medians that counts as noise. The JVM throws compiled code away when
/// what it assumed proves wrong: fresh JVMs went from 140 to 600 ns a task and back during their
/// warm-up.
pub const RISE: f64 = 0.10;

/// Whether a process whose code is compiled while it runs has come to the end of its steps. The
/// median of the last [`LEVEL`] samples is then at most [`STILL`] below and at most [`RISE`] above
/// that of the [`LEVEL`] samples before. It is false with fewer than `2 * LEVEL` samples. O(1).
///
/// ```
/// use taskscale_stats::warmup::has_levelled;
/// let steps: Vec<f64> = [[90.0; 12], [40.0; 12], [40.5; 12]].concat();
/// assert!(!has_levelled(&steps[..24]));
/// assert!(has_levelled(&steps));
/// ```
pub fn has_levelled(samples: &[f64]) -> bool {
    let Some(before) = samples.len().checked_sub(2 * LEVEL) else { return false };
    let (before, last) = samples[before..].split_at(LEVEL);
    match (median(before), median(last)) {
        (Some(before), Some(last)) => last >= (1.0 - STILL) * before && last <= (1.0 + RISE) * before,
        _ => false,
    }
}

fn agree(samples: &[f64]) -> bool {
    let Some(&[a, b, c]) = samples.last_chunk::<3>() else { return false };
    let (smallest, largest) = (a.min(b).min(c), a.max(b).max(c));
    let one_way = (a > b && b > c) || (a < b && b < c);
    !one_way && largest - smallest <= AGREEMENT * smallest
}

fn fluctuate(samples: &[f64]) -> bool {
    if samples.len() < 6 {
        return false;
    }
    let window = &samples[samples.len().saturating_sub(WINDOW)..];
    let steps: Vec<f64> =
        window.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step != 0.0).collect();
    steps.windows(2).filter(|pair| pair[0].is_sign_positive() != pair[1].is_sign_positive()).count()
        >= CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(rng: &mut fastrand::Rng, share: f64) -> f64 {
        1.0 + share * (2.0 * rng.f64() - 1.0)
    }

    /// The number of samples until the process settles, at most 50.
    fn settles_after(mut sample: impl FnMut(usize) -> f64) -> Option<usize> {
        let mut samples = Vec::new();
        (0..50).find_map(|i| {
            samples.push(sample(i));
            is_stable(&samples).then_some(samples.len())
        })
    }

    #[test]
    fn a_decay_is_followed_to_its_end() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            // The cost starts at ten times the settled one. Its excess falls by a fifth in each
            // sample. Noise is 2 %.
            let curve = |i: usize| 100.0 * (1.0 + 9.0 * 0.8_f64.powi(i as i32));
            let after = settles_after(|i| curve(i) * noise(&mut rng, 0.02)).expect("settles");
            // The excess e was e / 0.64 two samples before: agreement within 10 leaves at most 18
            // of it, more with noise.
            assert!(curve(after - 1) < 125.0, "seed {seed}: settled after {after} at {}", curve(after - 1));
        }
    }

    #[test]
    fn a_step_is_not_taken_for_a_settled_process() {
        assert!(!is_stable(&[101.0, 100.0, 50.0]));
        assert!(!is_stable(&[100.0, 50.0, 51.0]));
        assert!(is_stable(&[100.0, 50.0, 51.0, 50.0]));
    }

    #[test]
    fn flat_noise_settles_soon() {
        for (share, at_most) in [(0.02, 12), (0.5, 30)] {
            for seed in 0..200 {
                let mut rng = fastrand::Rng::with_seed(seed);
                let after = settles_after(|_| noise(&mut rng, share)).expect("settles");
                assert!(after <= at_most, "noise {share}, seed {seed}: {after} samples");
            }
        }
    }

    /// Tiers as the JVM has them: interpreted, compiled by C1, compiled by C2. Each has a cost and
    /// a number of samples.
    fn tiers(rng: &mut fastrand::Rng, rest: usize) -> Vec<f64> {
        [(1000.0, 1), (300.0, rest), (100.0, 40)]
            .into_iter()
            .flat_map(|(cost, many)| std::iter::repeat_n(cost, many))
            .map(|cost| cost * noise(rng, 0.1))
            .collect()
    }

    #[test]
    fn a_rest_between_two_tiers_is_not_the_end_of_them() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let samples = tiers(&mut rng, LEVEL + 4);
            let after = (1..=samples.len()).find(|&n| has_levelled(&samples[..n])).expect("levels");
            assert!(samples[after - 1] < 120.0, "seed {seed}: called level after {after}");
            let agreed = (1..=samples.len()).find(|&n| is_stable(&samples[..n])).expect("agrees");
            assert!(agreed <= LEVEL + 4, "the other rule is satisfied with the rest: {agreed}");
        }
    }

    #[test]
    fn what_falls_has_not_levelled() {
        let falling: Vec<f64> = (0..200).map(|i| 1000.0 * 0.99_f64.powi(i)).collect();
        assert!((0..200).all(|n| !has_levelled(&falling[..n])));
        let thrown_away = [[10.0; LEVEL], [30.0; LEVEL]].concat();
        assert!(!has_levelled(&thrown_away));
        // One sample in three holds a compilation.
        let flat: Vec<f64> = (0..60).map(|i| if i % 3 == 0 { 30.0 } else { 10.0 }).collect();
        assert!(has_levelled(&flat) && !has_levelled(&flat[..2 * LEVEL - 1]));
    }

    #[test]
    fn a_falling_row_never_settles() {
        assert_eq!(settles_after(|i| 1000.0 * 0.97_f64.powi(i as i32)), None);
        assert!(!is_stable(&[]) && !is_stable(&[1.0, 1.0]));
        assert!(is_stable(&[1.0, 1.0, 1.0]), "a clock of few steps may repeat itself");
    }
}
