//! A sample done in parts. This is no part of the protocol: it makes the figures of the Rust probe
//! steadier, and the SDK knows nothing of it.
//!
//! The position of the stack relative to the heap decides which loads alias which stores (in steps
//! of 16 bytes, up to a page), and a process keeps its position for life. Identical processes of
//! tokio's `spawn` differed by 2 % (standard deviation, 64 tasks), and by 0.6 % with address
//! randomisation and environment held fixed, while one process repeated itself to 0.3 %. So a
//! sample is done in parts, each at a random depth of the stack, and the luck of a process averages
//! out within the sample. The heap stays the luck of a process: a random block held on it during
//! each part made processes differ by 4.6 % instead of 0.8 %. Intervals therefore rest on
//! processes. The idea is that of Stabilizer (Curtsinger and Berger, ASPLOS 2013).

use std::hint::black_box;

use serde_json::Value;
use taskscale_probe_sdk::{Perform, Probe, Run, Timing, Variant, Workload};

/// The number of parts of a sample. Each part costs two pairs of clock readings, outside the time
/// that they measure.
const PARTS: u64 = 16;

/// Has every variant of `probe` do its samples in parts.
pub fn in_parts(probe: Probe) -> Probe {
    let variant = |one: Variant| Variant {
        perform: Box::new(move |run| spread(run, &one.perform)),
        name: one.name,
        creates_task: one.creates_task,
        about: one.about,
    };
    let workload =
        |one: Workload| Workload { variants: one.variants.into_iter().map(variant).collect(), ..one };
    Probe { workloads: probe.workloads.into_iter().map(workload).collect(), ..probe }
}

/// Whether `run` asks for a server rather than for a loop.
pub fn is_served(run: &Run) -> bool {
    run.params.get("mode").and_then(Value::as_str).is_some_and(|mode| mode.starts_with("http-"))
}

/// Whether `run` divides its requests among workers, on threads of their own.
fn is_divided(run: &Run) -> bool {
    run.params.get("workers").and_then(Value::as_u64).is_some_and(|workers| workers > 0)
}

/// Whether `run` asks for the memory of the process, which one iteration tells.
fn is_resident(run: &Run) -> bool {
    run.params.get("resident").and_then(Value::as_bool) == Some(true)
}

/// Whether `run` asks for what can only be told of all iterations together, or has no CPU time to
/// speak of.
fn is_whole(run: &Run) -> bool {
    run.workload == "blocking"
}

/// Does `run` in up to [`PARTS`] parts and adds them up. The depth of the stack of each part
/// follows from the seed.
fn spread(run: &Run, perform: &Perform) -> Result<Timing, String> {
    // The counts of an instrumented run would have to be merged, and its time says nothing. What is
    // served has one server. Workers have stacks of their own, which this one does not move. Memory
    // is no figure that adds up, and neither is a percentile.
    if run.param("verify") || is_served(run) || is_divided(run) || is_resident(run) || is_whole(run) {
        return perform(run);
    }
    let parts = run.iterations.min(PARTS);
    let mut whole = Timing::default();
    let mut random = run.seed;
    for part in 0..parts {
        // The first parts take the iterations that do not divide evenly.
        let iterations = run.iterations / parts + u64::from(part < run.iterations % parts);
        let one = Run { iterations, ..run.clone() };
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut timing = Ok(Timing::default());
        // The high bits of a linear congruential generator are its good ones. (The constants are
        // those of Knuth's MMIX.)
        lower((random >> 56) as u8, &mut || timing = perform(&one));
        whole.add(timing?);
    }
    Ok(whole)
}

/// Calls `f` with the stack lowered by `steps` times 16 bytes, a page at most.
fn lower(steps: u8, f: &mut dyn FnMut()) {
    match steps {
        0 => f(),
        _ if steps & 128 != 0 => frame::<2048>(steps & !128, f),
        _ if steps & 64 != 0 => frame::<1024>(steps & !64, f),
        _ if steps & 32 != 0 => frame::<512>(steps & !32, f),
        _ if steps & 16 != 0 => frame::<256>(steps & !16, f),
        _ if steps & 8 != 0 => frame::<128>(steps & !8, f),
        _ if steps & 4 != 0 => frame::<64>(steps & !4, f),
        _ if steps & 2 != 0 => frame::<32>(steps & !2, f),
        _ => frame::<16>(0, f),
    }
}

#[inline(never)]
fn frame<const BYTES: usize>(rest: u8, f: &mut dyn FnMut()) {
    let held = [0u8; BYTES];
    black_box(&held);
    lower(rest, f);
    // The array is used after the call, so the frame is still there during the call.
    black_box(&held);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn depths_spread_over_a_page_in_steps_of_sixteen_bytes() {
        let depth = |steps| {
            let mut at = 0;
            lower(steps, &mut || {
                let here = 0u8;
                at = &raw const here as usize;
            });
            at
        };
        let depths: BTreeSet<usize> = (0..=255).map(|steps| depth(steps) % 4096 / 16).collect();
        // Each frame adds some bytes of its own, more in a debug build, so some depths coincide:
        // 178 of 256 places are left there. A stack that does not move has one place.
        assert!(depths.len() > 128, "{} of 256 places in a page", depths.len());
    }
}
