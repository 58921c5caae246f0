//! The timed loop. One pair of clock readings surrounds all iterations, and nothing is inside that
//! a hand-written loop would not have. The wall clock is read outermost, so CPU time never exceeds
//! wall time times cores.

use std::collections::BTreeMap;

use crate::{CPU, Run, WALL, cpu_begin_ns, cpu_end_ns, now_ns};

/// The result of a timed run.
#[derive(Debug, Default)]
pub struct Timing {
    /// Wall time of all iterations, ns.
    pub wall_ns: u64,
    /// CPU time of all iterations and threads, ns.
    pub cpu_ns: u64,
    /// The sum of the iterations' answers, modulo 2^64.
    pub answer: u64,
    /// Further figures of the sample, by name.
    pub extra: BTreeMap<&'static str, serde_json::Value>,
}

impl Run {
    /// Times `iterations` calls of `one`, which does the workload once and returns its answer.
    pub fn time(&self, mut one: impl FnMut(&mut Phases) -> u64) -> Timing {
        let mut phases = Phases::start(self.param("phases"));
        let mut answer = 0u64;
        for _ in 0..self.iterations {
            phases.begin();
            answer = answer.wrapping_add(one(&mut phases));
        }
        phases.stop(answer)
    }

    /// Times calls like [`Run::time`], inside a runtime that is already running.
    pub async fn time_async(&self, mut one: impl AsyncFnMut(&mut Phases) -> u64) -> Timing {
        let mut phases = Phases::start(self.param("phases"));
        let mut answer = 0u64;
        for _ in 0..self.iterations {
            phases.begin();
            answer = answer.wrapping_add(one(&mut phases).await);
        }
        phases.stop(answer)
    }

    /// Times of each iteration `one` alone, which is given what `setup` made for it. What it leaves
    /// of that is dropped untimed. What setting up and dropping took is told beside. Clocks are
    /// read around each iteration, for some 10 us: let one take 50 us or more.
    pub fn time_each<T>(
        &self,
        setup: impl Fn() -> T,
        mut one: impl FnMut(&mut Phases, &mut T) -> u64,
    ) -> Timing {
        let (begun, mut whole) = ([WALL, CPU].map(now_ns), Timing::default());
        for _ in 0..self.iterations {
            let mut made = setup();
            let mut phases = Phases::start(self.param("phases"));
            phases.begin();
            let answer = one(&mut phases, &mut made);
            whole.add(phases.stop(answer));
        }
        whole.beside(begun)
    }
}

impl Timing {
    /// Adds another part of the same sample, with something untimed between. Figures of `extra` add
    /// up: a sample that is done in parts has only times there.
    pub fn add(&mut self, part: Timing) {
        self.wall_ns += part.wall_ns;
        self.cpu_ns += part.cpu_ns;
        self.answer = self.answer.wrapping_add(part.answer);
        for (name, figure) in part.extra {
            let known = self.extra.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default();
            self.extra.insert(name, (known + figure.as_u64().unwrap_or_default()).into());
        }
    }

    /// Tells beside the times what else passed since the clocks showed this: the setting up.
    #[must_use]
    pub fn beside(mut self, [wall, cpu]: [u64; 2]) -> Timing {
        let rest = |now: u64, begun: u64, timed: u64| (now - begun).saturating_sub(timed).into();
        self.extra.insert("setup_cpu_ns", rest(now_ns(CPU), cpu, self.cpu_ns));
        self.extra.insert("setup_wall_ns", rest(now_ns(WALL), wall, self.wall_ns));
        self
    }
}

/// The clocks of a run, and the share of creation, summed over iterations. No clock is read in an
/// iteration unless the request has `phases = true`.
#[derive(Default)]
pub struct Phases {
    on: bool,
    wall_sum: u64,
    cpu_sum: u64,
    // What the clocks showed when the present iteration began, less the sums. So the sum that
    // includes this iteration is one subtraction away, however often `created` is called.
    wall_before: u64,
    cpu_before: u64,
    // What the clocks showed before the first iteration.
    wall_start: u64,
    cpu_start: u64,
}

impl Phases {
    fn start(on: bool) -> Self {
        Phases { on, cpu_start: cpu_begin_ns(), wall_start: now_ns(WALL), ..Phases::default() }
    }

    fn begin(&mut self) {
        if self.on {
            self.wall_before = now_ns(WALL) - self.wall_sum;
            self.cpu_before = now_ns(CPU) - self.cpu_sum;
        }
    }

    /// Says that the last task has just been started. If this is called more than once in an
    /// iteration (a windowed workload starts tasks until near its end), the last call counts.
    #[inline]
    pub fn created(&mut self) {
        if self.on {
            self.wall_sum = now_ns(WALL) - self.wall_before;
            self.cpu_sum = now_ns(CPU) - self.cpu_before;
        }
    }

    fn stop(self, answer: u64) -> Timing {
        let (wall_ns, cpu_ns) = (now_ns(WALL) - self.wall_start, cpu_end_ns() - self.cpu_start);
        let creation = [("create_wall_ns", self.wall_sum), ("create_cpu_ns", self.cpu_sum)];
        let told = |(name, sum): (_, u64)| (sum > 0).then(|| (name, sum.into()));
        Timing { wall_ns, cpu_ns, answer, extra: creation.into_iter().filter_map(told).collect() }
    }
}
