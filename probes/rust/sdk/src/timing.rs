//! The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop
//! would not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores.

use serde_json::{Map, Value};

use super::{
    clock::{cpu_ns, wall_ns},
    request::Run,
};

/// What a timed run brought.
#[derive(Debug, Default)]
pub struct Timing {
    /// Wall time of all iterations, ns.
    pub wall_ns: u64,
    /// CPU time of all iterations and threads, ns.
    pub cpu_ns: u64,
    /// The sum of the iterations' answers, modulo 2^64.
    pub answer: u64,
    /// What else is known.
    pub extra: Map<String, Value>,
}

impl Timing {
    /// Adds another part of the same sample: iterations done apart, with something untimed between them. Figures of
    /// `extra` that are numbers add up: a timed run has only times.
    pub fn add(&mut self, other: Timing) {
        self.wall_ns += other.wall_ns;
        self.cpu_ns += other.cpu_ns;
        self.answer = self.answer.wrapping_add(other.answer);
        for (name, value) in other.extra {
            let merged = match (self.extra.get(&name).and_then(Value::as_u64), value.as_u64()) {
                (Some(before), Some(more)) => (before + more).into(),
                _ => value,
            };
            self.extra.insert(name, merged);
        }
    }
}

impl Run {
    /// Times `iterations` calls of `one`, which does the workload once and returns its answer.
    pub fn time(&self, mut one: impl FnMut(&mut Phases) -> u64) -> Timing {
        let mut phases = Phases::new(self.phases);
        let (wall, cpu) = (wall_ns(), cpu_ns());
        let mut answer = 0u64;
        for _ in 0..self.iterations {
            phases.begin();
            answer = answer.wrapping_add(one(&mut phases));
            phases.end();
        }
        let (cpu_end, wall_end) = (cpu_ns(), wall_ns());
        Timing { wall_ns: wall_end - wall, cpu_ns: cpu_end - cpu, answer, extra: phases.extra() }
    }

    /// As [`Run::time`], inside a runtime that is already running.
    pub async fn time_async(&self, mut one: impl AsyncFnMut(&mut Phases) -> u64) -> Timing {
        let mut phases = Phases::new(self.phases);
        let (wall, cpu) = (wall_ns(), cpu_ns());
        let mut answer = 0u64;
        for _ in 0..self.iterations {
            phases.begin();
            answer = answer.wrapping_add(one(&mut phases).await);
            phases.end();
        }
        let (cpu_end, wall_end) = (cpu_ns(), wall_ns());
        Timing { wall_ns: wall_end - wall, cpu_ns: cpu_end - cpu, answer, extra: phases.extra() }
    }
}

/// The share of creation, summed over iterations. Reads no clock unless the request has `phases = true`.
#[derive(Debug)]
pub struct Phases {
    on: bool,
    begun: (u64, u64),
    created: Option<(u64, u64)>,
    sum: Option<(u64, u64)>,
}

impl Phases {
    fn new(on: bool) -> Self {
        Phases { on, begun: (0, 0), created: None, sum: None }
    }

    /// Says that the last task has just been started. Called more than once in an iteration (a windowed workload
    /// starts tasks until near its end), the last call counts.
    #[inline]
    pub fn created(&mut self) {
        if self.on {
            self.created = Some((wall_ns(), cpu_ns()));
        }
    }

    fn begin(&mut self) {
        if self.on {
            (self.begun, self.created) = ((wall_ns(), cpu_ns()), None);
        }
    }

    fn end(&mut self) {
        if let Some((wall, cpu)) = self.created.take() {
            let sum = self.sum.get_or_insert((0, 0));
            *sum = (sum.0 + wall - self.begun.0, sum.1 + cpu - self.begun.1);
        }
    }

    fn extra(&self) -> Map<String, Value> {
        let mut extra = Map::new();
        if let Some((wall, cpu)) = self.sum {
            extra.insert("create_wall_ns".to_owned(), wall.into());
            extra.insert("create_cpu_ns".to_owned(), cpu.into());
        }
        extra
    }
}
