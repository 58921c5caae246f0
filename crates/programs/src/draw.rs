//! Draws from a seed: numbers over wide ranges, and durations of a family.

/// A stream of draws. The same seed gives the same stream.
#[derive(Debug, Clone)]
pub struct Draw {
    rng: fastrand::Rng,
}

/// Spreads a seed and a salt over all 64 bits (the finalizer of SplitMix64).
pub fn mix(seed: u64, salt: u64) -> u64 {
    let mut z =
        seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt.wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw { rng: fastrand::Rng::with_seed(seed) }
    }

    /// A stream that differs with either number.
    pub fn of(seed: u64, salt: u64) -> Draw {
        Draw::new(mix(seed, salt))
    }

    /// From 0 up to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        self.rng.f64()
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Log-uniform: each octave is as likely as any other.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (high.ln() - low.ln()) * self.unit()).exp()
    }

    /// A log-uniform whole number, both ends included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        let high = high.max(low);
        (self.log(low.max(1) as f64, high as f64 + 0.999).floor() as usize).clamp(low, high)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(0..of.len())]
    }

    /// A uniform whole number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.rng.usize(0..end.max(1))
    }

    pub fn shuffle<T>(&mut self, of: &mut [T]) {
        self.rng.shuffle(of);
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A family of durations. Each has the mean that is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Durations {
    Constant,
    /// From `1 - spread` to `1 + spread` times the mean.
    Uniform {
        spread: f64,
    },
    Exponential,
    Lognormal {
        sigma: f64,
    },
    /// This share of the tasks takes that many times what the others take.
    Bimodal {
        share: f64,
        times: f64,
    },
    /// Pareto. It is cut at 300 times the mean.
    HeavyTail {
        alpha: f64,
    },
}

impl Durations {
    /// Any family.
    pub fn any(draw: &mut Draw) -> Durations {
        match draw.below(6) {
            0 => Durations::Constant,
            1 => Durations::Uniform { spread: draw.uniform(0.05, 0.95) },
            2 => Durations::Exponential,
            3 => Durations::Lognormal { sigma: draw.uniform(0.1, 1.2) },
            4 => Durations::Bimodal { share: draw.uniform(0.02, 0.4), times: draw.log(2.0, 20.0) },
            _ => Durations::HeavyTail { alpha: draw.uniform(1.6, 3.0) },
        }
    }

    /// A family in which no task is much longer than the rest.
    pub fn mild(draw: &mut Draw) -> Durations {
        match draw.below(4) {
            0 => Durations::Constant,
            1 => Durations::Uniform { spread: draw.uniform(0.05, 0.8) },
            2 => Durations::Lognormal { sigma: draw.uniform(0.05, 0.35) },
            _ => Durations::Bimodal { share: draw.uniform(0.2, 0.5), times: draw.uniform(1.2, 3.0) },
        }
    }

    /// A duration in nanoseconds, at least 1.
    pub fn draw(self, draw: &mut Draw, mean: f64) -> u64 {
        let value = match self {
            Durations::Constant => mean,
            Durations::Uniform { spread } => mean * draw.uniform(1.0 - spread, 1.0 + spread),
            Durations::Exponential => draw.exponential(mean),
            Durations::Lognormal { sigma } => mean * (sigma * draw.normal() - sigma * sigma / 2.0).exp(),
            Durations::Bimodal { share, times } => {
                let short = mean / (1.0 - share + share * times);
                if draw.chance(share) { short * times } else { short }
            }
            Durations::HeavyTail { alpha } => {
                let least = mean * (alpha - 1.0) / alpha;
                (least * (1.0 - draw.unit()).powf(-1.0 / alpha)).min(300.0 * mean)
            }
        };
        (value.round() as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_the_mean_that_is_asked_for() {
        let mut draw = Draw::new(1);
        for family in [
            Durations::Constant,
            Durations::Uniform { spread: 0.5 },
            Durations::Exponential,
            Durations::Lognormal { sigma: 0.8 },
            Durations::Bimodal { share: 0.1, times: 10.0 },
            Durations::HeavyTail { alpha: 2.5 },
        ] {
            let sum: u64 = (0..200_000).map(|_| family.draw(&mut draw, 10_000.0)).sum();
            let mean = sum as f64 / 200_000.0;
            assert!((mean / 10_000.0 - 1.0).abs() < 0.03, "{family:?}: {mean}");
        }
    }

    #[test]
    fn whole_numbers_reach_both_ends() {
        let mut draw = Draw::new(2);
        let seen: Vec<usize> = (0..2_000).map(|_| draw.count(1, 4)).collect();
        for value in 1..=4 {
            assert!(seen.contains(&value), "{value}");
        }
        assert!(seen.iter().all(|value| (1..=4).contains(value)));
    }
}
