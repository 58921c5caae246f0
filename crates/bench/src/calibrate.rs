//! How many iterations make a sample long enough.

/// How many times the clock's resolution a sample must last, so that rounding is below 0.1 %.
const RESOLUTIONS: u64 = 1_000;

/// The most by which one step of a pilot multiplies its iterations: the first sample is cold and
/// misleads.
const STEP: u64 = 64;

/// The length of a sample whose units the judge can tell. It tells nanoseconds from microseconds
/// from 50 ms of CPU time on, and a pilot stops at four fifths of its target.
pub const TOLD_UNITS_NS: u64 = 64_000_000;

/// On a busy machine, or where tasks wait, wall time runs ahead of CPU time. This many times as
/// much is long enough. Two suites of tests beside a busy loop on each of two cores made it more
/// than 10 times as long now and then, and a probe that reports microseconds passed.
const WAITING: u64 = 40;

/// How long a sample lasted by the outside clocks. A probe that reports microseconds would never
/// reach a target by its own.
pub fn seen_ns(outside_wall_ns: u64, outside_cpu_ns: Option<u64>) -> u64 {
    outside_cpu_ns.map_or(outside_wall_ns, |cpu_ns| cpu_ns.max(outside_wall_ns / WAITING))
}

/// How long a sample must last, by the wanted length and the resolution of the probe's wall clock.
pub fn target_ns(sample_ns: u64, wall_resolution_ns: u64) -> u64 {
    sample_ns.max(wall_resolution_ns.saturating_mul(RESOLUTIONS)).max(1)
}

/// The iterations at which any workload lasts longer than a sample: at one tenth of a nanosecond
/// each they take 100 ms. A probe whose time does not grow up to here does not repeat the work.
const MOST: u64 = 1_000_000_000;

/// What follows from one pilot sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pilot {
    /// The sample was long enough.
    Enough,
    /// The next pilot sample takes this many iterations.
    Try(u64),
    /// The time does not grow, however many iterations there are.
    Stuck,
}

/// What follows when `iterations` took `wall_ns`. Four fifths of the target are enough, so that
/// noise cannot keep the pilot going.
pub fn next_pilot(iterations: u64, wall_ns: u64, target_ns: u64) -> Pilot {
    if wall_ns.saturating_mul(5) >= target_ns.saturating_mul(4) {
        return Pilot::Enough;
    }
    if iterations >= MOST {
        return Pilot::Stuck;
    }
    let needed = target_ns as f64 / wall_ns.max(1) as f64 * iterations as f64;
    Pilot::Try((needed.ceil() as u64).clamp(iterations + 1, iterations * STEP).min(MOST))
}

/// The fewest iterations of a sample, where they do not make it too long. A collector comes after
/// so many tasks: of four iterations of asyncio's `TaskGroup` with 2,048 tasks one takes twice the
/// time of the others, and samples of one iteration met it in every process or in none.
const FEWEST: f64 = 4.0;

/// The iterations that rows of one comparison share, from each row's own pilot `(iterations,
/// wall_ns)`.
///
/// The fastest row decides, so that every row is long enough. No row's sample grows beyond
/// `longest_ns`, unless one iteration is already longer. Different counts would compare different
/// amortisation of fixed costs.
pub fn shared(pilots: &[(u64, u64)], target_ns: u64, longest_ns: u64) -> u64 {
    let one = |&(iterations, wall): &(u64, u64)| (wall as f64 / iterations.max(1) as f64).max(1.0);
    let fastest = pilots.iter().map(one).fold(f64::INFINITY, f64::min);
    let slowest = pilots.iter().map(one).fold(1.0, f64::max);
    if !fastest.is_finite() {
        return 1;
    }
    let wanted = (target_ns as f64 / fastest).ceil().max(FEWEST);
    let bearable = (longest_ns as f64 / slowest).floor();
    wanted.min(bearable).max(1.0) as u64
}

/// The number of steps that last `work_ns` where one takes `step_ns`; at least one.
pub fn steps_of(work_ns: u64, step_ns: f64) -> u64 {
    (work_ns as f64 / step_ns.max(f64::MIN_POSITIVE)).round().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pilot_grows_until_it_is_long_enough() {
        let target = 1_000_000;
        let (mut iterations, mut steps) = (1, 0);
        while let Pilot::Try(next) = next_pilot(iterations, iterations * 10, target) {
            assert!(next > iterations && next <= iterations * STEP);
            (iterations, steps) = (next, steps + 1);
        }
        assert_eq!((iterations, steps), (100_000, 3));
        assert_eq!(next_pilot(1, 0, target), Pilot::Try(STEP), "a clock that shows nothing yet");
    }

    #[test]
    fn a_time_that_does_not_grow_ends_the_pilot() {
        let mut iterations = 1;
        let end = loop {
            match next_pilot(iterations, 500, 1_000_000) {
                Pilot::Try(next) => iterations = next,
                end => break end,
            }
        };
        assert_eq!((end, iterations), (Pilot::Stuck, MOST));
    }

    #[test]
    fn the_fastest_row_decides_within_what_the_slowest_can_bear() {
        assert_eq!(shared(&[(1, 1_000), (10, 50_000)], 10_000, 1_000_000), 10);
        assert_eq!(shared(&[(1, 1_000), (1, 500_000)], 10_000, 1_000_000), 2);
        assert_eq!(shared(&[(1, 5_000_000)], 10_000, 1_000_000), 1);
        assert_eq!(shared(&[], 10_000, 1_000_000), 1);
    }

    #[test]
    fn a_coarse_clock_makes_samples_longer() {
        assert_eq!(target_ns(5_000_000, 1), 5_000_000);
        assert_eq!(target_ns(5_000_000, 10_000), 10_000_000);
    }

    #[test]
    fn work_is_counted_in_steps() {
        assert_eq!(steps_of(10_000, 2.5), 4_000);
        assert_eq!(steps_of(100, 1_000.0), 1, "a step that lasts longer");
    }
}
