//! Finds how many iterations of a row last long enough, by samples that get longer.

use std::io;

use taskscale_model::{
    protocol::MAX_INTEGER,
    run_file::{Kind, SampleRecord},
};

use crate::{
    ask::Ask,
    calibrate::{self, Pilot},
    fault::Fault,
    row::{Row, World},
    warmup::Allowance,
};

/// How many times as long as wanted a pilot is seen to last, whatever it tells, from which on the
/// next one has only so many times its iterations.
const UNTOLD: u64 = 8;
const CAREFUL: u64 = 4;

/// Finds iterations that last long enough; `None` where the row died or the run was interrupted.
/// Code that is compiled while it runs goes on until it has levelled off, within `allowance`: a
/// compiled JVM is ten times as fast as a fresh one, and its samples would be a tenth as long.
pub(crate) fn pilot(
    row: &mut Row<'_>,
    sample_ns: u64,
    seed: Option<u64>,
    allowance: &Allowance,
    world: &mut World<'_, '_>,
) -> io::Result<Option<(u64, u64)>> {
    let target = calibrate::target_ns(sample_ns, row.resolution_ns);
    let started_ns = world.clock.now_ns();
    let mut iterations = 1;
    loop {
        if world.is_over() {
            return Ok(None);
        }
        let seed = seed.unwrap_or_else(|| world.rng.u64(0..=MAX_INTEGER));
        let ask = Ask { kind: Kind::Pilot, round: 0, iterations, seed };
        let Some(sample) = row.ask(ask, world)? else { return Ok(None) };
        let SampleRecord { wall_ns, kind, .. } = sample;
        let seen_ns = calibrate::seen_ns(sample.outside_wall_ns, sample.outside_cpu_ns);
        if kind == Kind::SetAside {
            continue;
        }
        match calibrate::next_pilot(iterations, wall_ns, target) {
            // What tells too little would have the next one take for ever.
            Pilot::Try(next) if seen_ns >= UNTOLD * target => iterations = next.min(CAREFUL * iterations),
            Pilot::Try(next) => iterations = next,
            Pilot::Enough if allowance.goes_on(row, world.clock.now_ns() - started_ns) => (),
            Pilot::Enough => return Ok(Some((iterations, wall_ns))),
            Pilot::Stuck => {
                row.fail(&Fault::does_not_repeat(iterations, wall_ns), world)?;
                return Ok(None);
            }
        }
    }
}
