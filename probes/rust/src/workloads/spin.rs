//! `spin`: `size` steps of the kernel in one call. It tells how long a step takes, so that `work`
//! can be chosen.

use std::hint::black_box;

use serde_json::json;

use crate::sdk::{Variant, Workload};

/// The workload `spin`. The answer of an iteration is `spin(seed, size)`.
pub fn workload() -> Workload {
    let in_a_loop = Variant {
        name: "loop".to_owned(),
        creates_task: false,
        about: json!({"note": "one call, no task"}),
        perform: Box::new(|run| Ok(run.time(|_| spin(black_box(run.seed), black_box(run.size))))),
    };
    Workload { name: "spin", params: vec![], variants: vec![in_a_loop] }
}

/// Does `steps` dependent steps of `xorshift64` from `splitmix(seed)` on, which is work that no
/// compiler can fold. It is never inlined, because the compiler might interleave the steps of
/// several calls. A step takes 1 to 2 ns.
#[inline(never)]
pub fn spin(seed: u64, steps: u64) -> u64 {
    let mut x = splitmix(seed);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

/// `splitmix64`'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix
/// 13).
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_is_the_published_generator() {
        // These are the first outputs of splitmix64 with seed 1234567, from its author's reference
        // program.
        let gamma = 0x9E37_79B9_7F4A_7C15u64;
        let out: Vec<u64> =
            (0..3).map(|j: u64| splitmix(1_234_567u64.wrapping_add(j.wrapping_mul(gamma)))).collect();
        assert_eq!(out, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_step_is_that_of_xorshift64() {
        // The first step from state 1, by hand: 1 ^ 1<<13 = 0x2001; ^ >>7 = 0x2041; ^ <<17 =
        // 0x4082_2041.
        let start = spin(7, 0);
        let step = |x: u64| {
            let x = x ^ (x << 13);
            let x = x ^ (x >> 7);
            x ^ (x << 17)
        };
        assert_eq!(step(1), 0x4082_2041);
        assert_eq!(spin(7, 2), step(step(start)));
    }
}
