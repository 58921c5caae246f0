//! Whether a fresh process has settled.
//!
//! Caches fill, heaps grow and JIT compilers replace code during the first samples; such a process gets cheaper
//! from sample to sample, where a settled one fluctuates. Two signs are accepted, whichever comes first:
//!
//! * **agreement**: the last three samples lie within [`AGREEMENT`] of one another and do not all move one way;
//! * **fluctuation**: [`CHANGES`] changes of direction in the last [`WINDOW`] samples, for rows too noisy to agree.
//!   The four changes and the fewest of six samples are those of BenchmarkDotNet (`AutoWarmupStoppingCriteria`);
//!   the window is ours, so that changes from before a JIT's step do not count after it.
//!
//! A tier that a JIT enters later than this is not seen: rounds are many, and the trend shows in the raw samples.

/// Range of three settled samples over the smallest. Of 1200 settled 50 ms samples of a spin, on a machine loaded far
/// beyond its cores, nine in ten lay between 47.5 and 53.4 ms of CPU time (METHODOLOGY.md), so three seldom differ more.
pub const AGREEMENT: f64 = 0.10;
/// Changes of direction that show fluctuation.
pub const CHANGES: usize = 4;
/// Samples among which they are counted.
pub const WINDOW: usize = 8;

/// Whether the process that gave these samples (in order, oldest first, all of one size) has settled. O(1).
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

    /// Samples until settled, at most 50.
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
            // Ten times the settled cost at first, a fifth less in each sample, 2 % noise.
            let curve = |i: usize| 100.0 * (1.0 + 9.0 * 0.8_f64.powi(i as i32));
            let after = settles_after(|i| curve(i) * noise(&mut rng, 0.02)).expect("settles");
            // The excess e was e / 0.64 two samples before: agreement within 10 leaves at most 18 of it, more with noise.
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

    #[test]
    fn a_falling_row_never_settles() {
        assert_eq!(settles_after(|i| 1000.0 * 0.97_f64.powi(i as i32)), None);
        assert!(!is_stable(&[]) && !is_stable(&[1.0, 1.0]));
        assert!(is_stable(&[1.0, 1.0, 1.0]), "a clock of few steps may repeat itself");
    }
}
