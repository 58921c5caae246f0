//! Computes the right answer independently of the probe. A row fails where its probe answers
//! otherwise.
//!
//! The kernel consists of `splitmix64` and `xorshift64`; METHODOLOGY.md, "Answers", describes both.

use serde::{Deserialize, Serialize};

use crate::bytes::Sums;

/// The rule that gives the answer of one iteration from size, seed and work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Task `i` gives `31 * i`, or `spin(seed + i, work)` where `work` is above zero. The answer is
    /// their sum.
    SumOfTasks,
    /// The number of tasks done.
    Count,
    /// `spin(seed, size)`: one task of `size` steps of the kernel.
    Spin,
    /// The sum of `size` bytes of the content of the workload `bytes`: by the mode of a request,
    /// else modulo 256.
    Bytes,
    /// No rule computes the answer. All variants, iterations and processes must give the same one
    /// for the same size and seed, and it is not 0 above size 1.
    Agree,
}

/// The output function of `splitmix64`: a bijection on 64-bit integers that scatters neighbouring
/// seeds.
pub fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `steps` dependent steps of `xorshift64` from `splitmix(seed)`. No compiler can fold this work.
pub fn spin(seed: u64, steps: u64) -> u64 {
    let mut x = splitmix(seed);
    for _ in 0..steps {
        x = step(x);
    }
    x
}

fn step(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^ (x << 17)
}

/// A number of steps of the kernel, taken at once. A step only shifts and xors, so it is linear
/// over the bits. Many steps are therefore one 64 by 64 matrix, found by squaring (Haramoto et al.
/// 2008, "Efficient jump ahead for F2-linear random number generators"). The cost of checking a
/// million tasks then does not depend on their work.
enum Steps {
    /// Few enough steps to walk.
    Walked(u64),
    /// The image of each bit.
    Jumped(Box<Matrix>),
}

/// Column `i` is the image of bit `i`.
type Matrix = [u64; 64];

/// The number of steps from which a jump is faster than a walk. A jump costs up to 64 operations.
const WALKED: u64 = 64;

impl Steps {
    fn new(steps: u64) -> Self {
        if steps < WALKED {
            return Steps::Walked(steps);
        }
        let bits = |column: fn(u64) -> u64| std::array::from_fn(|bit| column(1 << bit));
        let (mut all, mut power): (Matrix, Matrix) = (bits(|bit| bit), bits(step));
        let mut left = steps;
        while left > 0 {
            if left % 2 == 1 {
                all = all.map(|column| image(&power, column));
            }
            power = power.map(|column| image(&power, column));
            left /= 2;
        }
        Steps::Jumped(Box::new(all))
    }

    /// The result of [`spin`] with this number of steps.
    fn spin(&self, seed: u64) -> u64 {
        match self {
            Steps::Walked(steps) => spin(seed, *steps),
            Steps::Jumped(matrix) => image(matrix, splitmix(seed)),
        }
    }
}

fn image(matrix: &Matrix, mut x: u64) -> u64 {
    let mut image = 0;
    while x != 0 {
        image ^= matrix[x.trailing_zeros() as usize];
        x &= x - 1;
    }
    image
}

impl Rule {
    /// The answer of one iteration. It takes O(size) for [`Rule::Bytes`], else O(1) without work.
    /// With work it takes O(size), and at most 0.5 ms for the number of steps. [`Rule::Agree`]
    /// gives none.
    ///
    /// ```
    /// use taskscale_model::answer::Rule;
    /// assert_eq!(Rule::SumOfTasks.of_one(2_048, 0, 7), Some(64_979_968)); // 31 * 2048 * 2047 / 2
    /// assert_eq!(Rule::Count.of_one(2_048, 0, 7), Some(2_048));
    /// ```
    pub fn of_one(self, size: u64, work: u64, seed: u64) -> Option<u64> {
        Some(match self {
            Rule::Agree => return None,
            Rule::Count => size,
            Rule::Spin => Steps::new(size).spin(seed),
            Rule::Bytes => u64::from(Sums::of_content(size).sum8),
            Rule::SumOfTasks if work == 0 => {
                let pairs = u128::from(size) * u128::from(size.saturating_sub(1)) / 2;
                // Truncation is the point: answers are modulo 2^64.
                (pairs as u64).wrapping_mul(31)
            }
            Rule::SumOfTasks => {
                let steps = Steps::new(work);
                (0..size).fold(0u64, |sum, i| sum.wrapping_add(steps.spin(seed.wrapping_add(i))))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_specification() {
        // The sums come from the closed form and from a loop in each of four languages.
        for (n, sum) in [
            (64, 62_496),
            (1_000, 15_484_500),
            (2_048, 64_979_968),
            (17_000, 4_479_236_500),
            (100_000, 154_998_450_000),
            (400_000, 2_479_993_800_000),
            (1_000_000, 15_499_984_500_000),
        ] {
            assert_eq!(Rule::SumOfTasks.of_one(n, 0, 1), Some(sum), "n = {n}");
        }
    }

    #[test]
    fn splitmix_is_the_published_generator() {
        // The first outputs of splitmix64 with seed 1234567, from its author's reference program.
        let gamma = 0x9E37_79B9_7F4A_7C15u64;
        let out: Vec<u64> =
            (0..3).map(|j: u64| splitmix(1_234_567u64.wrapping_add(j.wrapping_mul(gamma)))).collect();
        assert_eq!(out, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_jump_ends_where_a_walk_does() {
        for steps in [0, 1, WALKED - 1, WALKED, WALKED + 1, 100, 1_000, 4_095, 4_096, 123_457] {
            for seed in [0, 1, 7, u64::MAX] {
                let jumped = Rule::Spin.of_one(steps, 0, seed);
                assert_eq!(jumped, Some(spin(seed, steps)), "{steps} steps from {seed}");
            }
        }
        let walked = (0..5).fold(0u64, |sum, i| sum.wrapping_add(spin(9 + i, 777)));
        assert_eq!(Rule::SumOfTasks.of_one(5, 777, 9), Some(walked));
    }

    #[test]
    fn work_makes_the_answer_depend_on_the_seed() {
        assert_ne!(Rule::SumOfTasks.of_one(64, 10, 1), Rule::SumOfTasks.of_one(64, 10, 2));
        assert_eq!(Rule::SumOfTasks.of_one(2, 10, 1), Some(spin(1, 10).wrapping_add(spin(2, 10))));
    }
}
