//! Measurements with a [`Bench`]. They return raw figures only.

use taskscale_model::doctor::facts::{Clock, ClockCost, Slice};

use super::bench::Bench;

/// CPU time of one slice. It is short, so that a change of the clock's frequency or a visit of
/// another thread fills slices of its own. It is 1,000 times what reading the clocks around it
/// costs.
pub const SLICE_NS: u64 = 2_000_000;
/// Number of slices: ten make a sample of 20 ms, the tool's usual length, and forty samples are 20
/// rounds of an A/A comparison.
pub const SLICES: usize = 400;
/// Wall time after which no slice is begun, since others may take most of the CPU.
const SLICES_WALL_NS: u64 = 2_500_000_000;
/// Number of walks, as long as a slice each, and the wall time after which none is begun.
pub const WALKS: usize = 200;
const WALKS_WALL_NS: u64 = 1_000_000_000;
/// Number of batches, of which the cheapest counts: a disturbance only adds.
const BATCHES: usize = 16;
/// Calls in a batch: about 50 us, well below the scheduler's slice, and 1,000 times the resolution
/// of a good clock.
const CALLS: usize = 512;

/// Measures what reading each clock costs, and its smallest step.
pub fn clocks(bench: &mut impl Bench) -> Vec<ClockCost> {
    [Clock::Wall, Clock::ThreadCpu, Clock::ProcessCpu]
        .into_iter()
        .map(|clock| {
            let cost_ns = cheapest(bench, |bench| {
                bench.clock_ns(clock);
            });
            ClockCost { clock, cost_ns, step_ns: smallest_step(bench, clock) }
        })
        .collect()
}

/// Measures the CPU time of the cheapest system call, in ns.
pub fn system_call(bench: &mut impl Bench) -> Option<f64> {
    Some(cheapest(bench, Bench::system_call)).filter(|cost| *cost > 0.0)
}

/// Returns the CPU time of one call, in ns.
fn cheapest<B: Bench>(bench: &mut B, mut call: impl FnMut(&mut B)) -> f64 {
    let mut batch = || {
        let before = bench.clock_ns(Clock::ThreadCpu);
        for _ in 0..CALLS {
            call(bench);
        }
        bench.clock_ns(Clock::ThreadCpu).saturating_sub(before) as f64 / CALLS as f64
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// Returns the smallest step between readings that differ. Waits for a clock that moves only every
/// 10 ms (a tick), for ten million readings at most.
fn smallest_step(bench: &mut impl Bench, clock: Clock) -> u64 {
    let (mut smallest, mut steps) = (u64::MAX, 0);
    let mut before = bench.clock_ns(clock);
    for _ in 0..10_000_000 {
        let now = bench.clock_ns(clock);
        if now > before {
            smallest = smallest.min(now - before);
            steps += 1;
            // A coarse clock has equal steps, which take long: a few are enough.
            if steps == CALLS || (steps == 4 && smallest > 1_000_000) {
                break;
            }
        }
        before = now;
    }
    smallest
}

/// Returns how many steps of work take [`SLICE_NS`] of CPU time.
pub fn steps_of_a_slice(bench: &mut impl Bench) -> u64 {
    steps_of(bench, Bench::work)
}

/// Returns how many steps of `work` take [`SLICE_NS`] of CPU time.
fn steps_of<B: Bench>(bench: &mut B, work: impl Fn(&mut B, u64)) -> u64 {
    let mut steps: u64 = 1_024;
    // 2^40 steps take hours: the loop ends even where the clock stands still.
    while steps < 1 << 40 {
        let before = bench.clock_ns(Clock::ThreadCpu);
        work(bench, steps);
        let took = bench.clock_ns(Clock::ThreadCpu).saturating_sub(before);
        if took >= SLICE_NS / 2 {
            return (steps as f64 * SLICE_NS as f64 / took as f64).ceil() as u64;
        }
        steps *= 2;
    }
    steps
}

/// Takes [`SLICES`] passes of the same work one after the other, fewer where others take the CPU.
pub fn slices(bench: &mut impl Bench, steps: u64) -> Vec<Slice> {
    let mut slices = Vec::with_capacity(SLICES);
    let start = look(bench);
    let mut before = start;
    while slices.len() < SLICES && before.0.saturating_sub(start.0) < SLICES_WALL_NS {
        bench.work(steps);
        let now = look(bench);
        slices.push(Slice {
            wall_ns: now.0.saturating_sub(before.0),
            cpu_ns: now.1.saturating_sub(before.1),
            delay_ns: now.2.zip(before.2).map(|(now, before)| now.saturating_sub(before)),
        });
        before = now;
    }
    slices
}

/// Takes [`WALKS`] walks of the same length, fewer where others take the CPU, and returns the CPU
/// time of each, in ns.
pub fn walks(bench: &mut impl Bench) -> Vec<u64> {
    let steps = steps_of(bench, Bench::walk);
    let mut walks = Vec::with_capacity(WALKS);
    let start = bench.clock_ns(Clock::Wall);
    while walks.len() < WALKS && bench.clock_ns(Clock::Wall).saturating_sub(start) < WALKS_WALL_NS {
        let before = bench.clock_ns(Clock::ThreadCpu);
        bench.walk(steps);
        walks.push(bench.clock_ns(Clock::ThreadCpu).saturating_sub(before));
    }
    walks
}

/// Reads wall time, CPU time and run delay so far.
fn look(bench: &mut impl Bench) -> (u64, u64, Option<u64>) {
    (bench.clock_ns(Clock::Wall), bench.clock_ns(Clock::ThreadCpu), bench.run_delay_ns())
}

/// Returns the CPU time of the same work with a neighbour at rest and busy, in ns, pair by pair.
/// The one that comes first alternates by pairs, so that drift hits both alike. `switch` makes the
/// neighbour busy or lets it rest.
pub fn neighbour(
    bench: &mut impl Bench,
    steps: u64,
    pairs: usize,
    wall_ns: u64,
    mut switch: impl FnMut(bool),
) -> Vec<(f64, f64)> {
    let start = bench.clock_ns(Clock::Wall);
    let mut found = Vec::with_capacity(pairs);
    while found.len() < pairs && bench.clock_ns(Clock::Wall).saturating_sub(start) < wall_ns {
        let first = found.len() % 2 == 1;
        let (mut rest, mut busy) = (0.0, 0.0);
        for is_busy in [first, !first] {
            switch(is_busy);
            let before = bench.clock_ns(Clock::ThreadCpu);
            bench.work(steps);
            let took = bench.clock_ns(Clock::ThreadCpu).saturating_sub(before) as f64;
            if is_busy { busy = took } else { rest = took }
        }
        found.push((rest, busy));
    }
    switch(false);
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A machine with clocks of known cost and step, on which another thread runs now and then.
    struct Made<'a> {
        wall: u64,
        cpu: u64,
        delay: u64,
        cost: u64,
        step: u64,
        /// In ns per step of work.
        speed: &'a Cell<u64>,
        /// Wall time that another thread takes with each piece of work.
        others: u64,
    }

    impl Bench for Made<'_> {
        fn clock_ns(&mut self, clock: Clock) -> u64 {
            self.wall += self.cost;
            self.cpu += self.cost;
            let now = if clock == Clock::Wall { self.wall } else { self.cpu };
            if clock == Clock::ProcessCpu { now / self.step * self.step } else { now }
        }

        fn run_delay_ns(&mut self) -> Option<u64> {
            Some(self.delay)
        }

        fn work(&mut self, steps: u64) {
            let took = steps * self.speed.get();
            self.cpu += took;
            self.wall += took + self.others;
            self.delay += self.others;
        }

        fn walk(&mut self, steps: u64) {
            self.work(5 * steps);
        }

        fn system_call(&mut self) {
            self.cpu += 80;
        }
    }

    fn made(speed: &Cell<u64>) -> Made<'_> {
        Made { wall: 0, cpu: 0, delay: 0, cost: 25, step: 10_000_000, speed, others: 0 }
    }

    #[test]
    fn costs_and_steps_are_those_of_the_clock() {
        let speed = Cell::new(1);
        let clocks = clocks(&mut made(&speed));
        for clock in &clocks {
            // Each batch holds one reading of the CPU clock itself.
            assert!((clock.cost_ns - 25.0).abs() < 0.1, "{clock:?}");
        }
        assert_eq!(clocks.iter().map(|clock| clock.step_ns).collect::<Vec<_>>(), [25, 25, 10_000_000]);
        let call = system_call(&mut made(&speed)).expect("a cost");
        assert!((call - 80.0).abs() < 0.1, "{call}");
    }

    #[test]
    fn slices_are_of_one_length_and_show_what_others_took() {
        let speed = Cell::new(3);
        let mut bench = Made { others: 500_000, ..made(&speed) };
        let steps = steps_of_a_slice(&mut bench);
        assert!(steps.abs_diff(SLICE_NS / 3) < 100, "{steps}");
        let slices = slices(&mut bench, steps);
        assert_eq!(slices.len(), SLICES);
        for slice in slices {
            // Between two looks lies one reading of each clock.
            assert_eq!((slice.cpu_ns, slice.delay_ns), (3 * steps + 50, Some(500_000)));
            assert_eq!(slice.wall_ns, slice.cpu_ns + 500_000);
        }
    }

    #[test]
    fn walks_are_as_long_as_slices_and_fewer_where_others_take_the_cpu() {
        let speed = Cell::new(3);
        let walks_of = |others| walks(&mut Made { others, ..made(&speed) });
        let walks = walks_of(0);
        assert_eq!(walks.len(), WALKS);
        assert!(walks.iter().all(|walk| walk.abs_diff(SLICE_NS) < 1_000), "{walks:?}");
        assert_eq!(walks_of(98_000_000).len(), 10);
    }

    #[test]
    fn where_others_take_the_cpu_there_are_fewer_slices() {
        let speed = Cell::new(1);
        let mut bench = Made { others: 98_000_000, ..made(&speed) };
        assert_eq!(slices(&mut bench, SLICE_NS).len(), 25);
    }

    #[test]
    fn a_clock_that_stands_still_is_not_waited_for_for_ever() {
        let speed = Cell::new(0);
        let mut bench = Made { cost: 0, step: 1, ..made(&speed) };
        assert_eq!(steps_of_a_slice(&mut bench), 1 << 40);
    }

    #[test]
    fn a_busy_neighbour_shows_in_the_second_of_each_pair() {
        let speed = Cell::new(2);
        let order = Cell::new(String::new());
        let pairs = neighbour(&mut made(&speed), 1_000_000, 4, u64::MAX, |busy| {
            speed.set(if busy { 3 } else { 2 });
            order.set(order.take() + if busy { "B" } else { "A" });
        });
        assert_eq!(order.take(), "ABBAABBAA", "mirrored, and at rest in the end");
        assert_eq!(pairs, [(2_000_025.0, 3_000_025.0); 4]);
        let none = neighbour(&mut made(&speed), 1, 4, 0, |_| {});
        assert!(none.is_empty(), "no time, no pairs");
    }
}
