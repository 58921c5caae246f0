//! The timed loop. One pair of clock readings surrounds all iterations, and nothing is inside that
//! a hand-written loop would not have. The wall clock is read outermost, so CPU time never exceeds
//! wall time times cores.

use super::{clock::{cpu_ns, wall_ns}, request::Run};
use serde_json::{Map, Value};

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
    pub extra: Map<String, Value>,
}

impl Timing {
    /// Adds another part of the same sample, whose iterations were done apart with something
    /// untimed between. Figures of `extra` that are numbers add up, because a timed run has only
    /// times.
    pub fn add(&mut self, other: Timing) {
        let answer = self.answer.wrapping_add(other.answer);
        (self.wall_ns, self.cpu_ns, self.answer) = (self.wall_ns + other.wall_ns, self.cpu_ns + other.cpu_ns, answer);
        for (name, value) in other.extra {
            let sum = self.extra.get(&name).and_then(Value::as_u64).zip(value.as_u64()).map(|(a, b)| (a + b).into());
            self.extra.insert(name, sum.unwrap_or(value));
        }
    }
}

impl Run {
    /// Times `iterations` calls of `one`, which does the workload once and returns its answer.
    pub fn time(&self, mut one: impl FnMut(&mut Phases) -> u64) -> Timing {
        let (mut answer, mut phases) = (0u64, Phases::start(self.phases));
        for _ in 0..self.iterations { phases.begin(); answer = answer.wrapping_add(one(&mut phases)); }
        phases.stop(answer)
    }

    /// Times calls like [`Run::time`], inside a runtime that is already running.
    pub async fn time_async(&self, mut one: impl AsyncFnMut(&mut Phases) -> u64) -> Timing {
        let (mut answer, mut phases) = (0u64, Phases::start(self.phases));
        for _ in 0..self.iterations { phases.begin(); answer = answer.wrapping_add(one(&mut phases).await); }
        phases.stop(answer)
    }
}

/// The share of creation, summed over iterations. It reads no clock in an iteration unless the
/// request has `phases = true`.
pub struct Phases {
    // Each pair is wall and CPU time: the begin of the first iteration (`start`), the sums, and the
    // readings at the begin of the present iteration less the sums (`before`).
    on: bool, start: [u64; 2], sums: [u64; 2], before: [u64; 2],
}

impl Phases {
    fn start(on: bool) -> Self { Phases { on, sums: [0; 2], before: [0; 2], start: [wall_ns(), cpu_ns()] } }

    fn begin(&mut self) { if self.on { self.before = less([wall_ns(), cpu_ns()], self.sums); } }

    /// Says that the last task has just been started. If this is called more than once in an
    /// iteration (a windowed workload starts tasks until near its end), the last call counts.
    #[inline] pub fn created(&mut self) { if self.on { self.sums = less([wall_ns(), cpu_ns()], self.before); } }

    fn stop(self, answer: u64) -> Timing {
        let (cpu_end, wall_end) = (cpu_ns(), wall_ns());
        let told = [("create_wall_ns".to_owned(), self.sums[0].into()), ("create_cpu_ns".to_owned(), self.sums[1].into())];
        let extra = told.into_iter().filter(|_| self.sums[0] > 0).collect();
        Timing { wall_ns: wall_end - self.start[0], cpu_ns: cpu_end - self.start[1], answer, extra }
    }
}

fn less(a: [u64; 2], b: [u64; 2]) -> [u64; 2] { [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1])] }
