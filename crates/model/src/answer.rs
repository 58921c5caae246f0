//! Which answer is right. The tool computes it on its own; a probe that answers otherwise has a failed row.
//!
//! The kernel is that of `splitmix64` and `xorshift64`; both are in METHODOLOGY.md, "Answers".

use serde::{Deserialize, Serialize};

/// The rule by which the answer of one iteration follows from size, seed and work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Task `i` gives `31 * i`, or `spin(seed + i, work)` where `work` is above zero; the answer is their sum.
    SumOfTasks,
    /// The number of tasks done.
    Count,
    /// `spin(seed, size)`: one task, `size` steps of the kernel.
    Spin,
}

/// `splitmix64`'s output function: a bijection on 64-bit integers that scatters neighbouring seeds.
pub fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `steps` dependent steps of `xorshift64`, started at `splitmix(seed)`: work that no compiler can fold.
pub fn spin(seed: u64, steps: u64) -> u64 {
    let mut x = splitmix(seed);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

impl Rule {
    /// The answer of one iteration. Costs `size * work` steps when there is work, else O(1).
    ///
    /// ```
    /// use taskscale_model::answer::Rule;
    /// assert_eq!(Rule::SumOfTasks.of_one(2_048, 0, 7), 64_979_968); // 31 * 2048 * 2047 / 2
    /// assert_eq!(Rule::Count.of_one(2_048, 0, 7), 2_048);
    /// ```
    pub fn of_one(self, size: u64, work: u64, seed: u64) -> u64 {
        match self {
            Rule::Count => size,
            Rule::Spin => spin(seed, size),
            Rule::SumOfTasks if work == 0 => {
                let pairs = u128::from(size) * u128::from(size.saturating_sub(1)) / 2;
                // Truncation is the point: answers are modulo 2^64.
                (pairs as u64).wrapping_mul(31)
            }
            Rule::SumOfTasks => {
                (0..size).fold(0u64, |sum, i| sum.wrapping_add(spin(seed.wrapping_add(i), work)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_specification() {
        // experiments.md 2.5, which has them from the closed form and from a loop.
        for (n, sum) in [
            (64, 62_496),
            (1_000, 15_484_500),
            (2_048, 64_979_968),
            (17_000, 4_479_236_500),
            (100_000, 154_998_450_000),
            (400_000, 2_479_993_800_000),
            (1_000_000, 15_499_984_500_000),
        ] {
            assert_eq!(Rule::SumOfTasks.of_one(n, 0, 1), sum, "n = {n}");
        }
    }

    #[test]
    fn splitmix_is_the_published_generator() {
        // First outputs of splitmix64 with seed 1234567, from its author's reference program.
        let gamma = 0x9E37_79B9_7F4A_7C15u64;
        let out: Vec<u64> =
            (0..3).map(|j: u64| splitmix(1_234_567u64.wrapping_add(j.wrapping_mul(gamma)))).collect();
        assert_eq!(out, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn work_makes_the_answer_depend_on_the_seed() {
        assert_ne!(Rule::SumOfTasks.of_one(64, 10, 1), Rule::SumOfTasks.of_one(64, 10, 2));
        assert_eq!(Rule::SumOfTasks.of_one(2, 10, 1), spin(1, 10).wrapping_add(spin(2, 10)));
    }
}
