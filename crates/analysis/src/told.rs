//! The times that a probe tells of a row, beside those that the tool saw from outside.

use taskscale_model::{
    figure,
    protocol::Clock,
    run_file::{Kind, SampleRecord, Time},
};
use taskscale_stats::told::{self, Account, Answer, Charge, Grant, Judgement, Part};

/// What to do about a probe whose times cannot be.
pub const REMEDY: &str = "report nanoseconds of a monotonic clock and of the process CPU clock";

/// What to do about a probe that leaves nearly all of its work untimed.
const REMEDY_LITTLE: &str = "time the whole of each iteration, in nanoseconds of a monotonic clock and of \
    the process CPU clock; tell what is set up untimed as `setup_cpu_ns` and `setup_wall_ns`";

/// What to do about a probe that leaves much of its work untimed.
pub const REMEDY_DOUBTED: &str =
    "time the whole of each iteration, by a monotonic clock and the process CPU clock";

/// What to do about times of a process that was not found among those that the probe's started.
pub const REMEDY_ELSEWHERE: &str =
    "let what starts the probe `exec` it: what works was not found among the processes it started";

/// How many times as much CPU time as was seen a probe has to tell over a row that it is another
/// process which used it, and how much more in nanoseconds. The count of a process is exact to a
/// tick, 4 ms, of each CPU.
const ELSEWHERE: f64 = 2.0;
const ELSEWHERE_NS: f64 = 10e6;

/// The coarsest resolution that a probe's word is taken for: clocks of 15.6 ms exist, and one that
/// claims more would be held to nothing.
pub const COARSEST_NS: u64 = 20_000_000;

/// CPU time of a request that may be untimed in any case. Reading a request, making a pool of
/// threads for it and writing the reply take 0.5 ms; after a pause, with caches that 300 other rows
/// have filled, CPython took up to 3.2 ms where it takes 0.2 ms at once.
const CPU: Grant = Grant { at_once_ns: 0.5e6, paused_ns: 3e6 };

/// The same of wall time: on a busy machine a probe waits for a CPU before it reads a request.
const WALL: Grant = Grant { at_once_ns: 2e6, paused_ns: 2e6 };

/// The workloads of which each iteration sets up untimed, also where a probe does not tell for how
/// long (probes/PROTOCOL.md). Setting up 128
/// promises takes Node 5 to 20 times what collecting them does, so what is seen of such a sample
/// does not say that too little is told.
const SET_UP: [&str; 1] = ["drain"];

/// Wall and CPU time of what a sample did untimed for its iterations, as the probe tells it beside
/// (probes/PROTOCOL.md), in nanoseconds; 0 where it tells none. A clock that is wrong tells too
/// little of both.
pub fn setup_ns(extra: &serde_json::Map<String, serde_json::Value>) -> (u64, u64) {
    let of = |name: &str| extra.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0);
    (of("setup_wall_ns"), of("setup_cpu_ns"))
}

/// How many times as much of a time was seen as told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    pub times: f64,
    /// In how many of how many timed samples, where it is not all of them together.
    pub of: Option<(usize, usize)>,
}

/// Why the times of a row cannot be, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub what: String,
    pub remedy: &'static str,
}

impl Wrong {
    /// Times that a wrong clock tells, or one in other units.
    pub fn clock(what: String) -> Self {
        Wrong { what, remedy: REMEDY }
    }
}

/// The account of one row.
#[derive(Debug, Clone)]
pub struct Told {
    clock: Clock,
    wall: Account,
    cpu: Account,
    /// CPU time that timed samples tell, with that of setting up, and that the kernel counted.
    whole: (f64, f64),
    /// Whether each iteration sets up untimed.
    sets_up: bool,
}

impl Told {
    /// The account of a row without samples, of a probe with this clock.
    pub fn new(clock: Clock) -> Self {
        Told { clock, wall: Account::default(), cpu: Account::default(), whole: (0.0, 0.0), sets_up: false }
    }

    /// Takes a sample in. An instrumented one says nothing, nor one that was stopped.
    pub fn take(&mut self, sample: &SampleRecord) {
        let part = match sample.kind {
            Kind::Verify | Kind::SetAside => return,
            Kind::Timed => Part::Timed,
            Kind::Contrast => Part::Contrast,
            Kind::Pilot | Kind::Warmup | Kind::Wake | Kind::Phases => Part::Other,
        };
        self.add(sample, part);
    }

    /// Takes a sample in as one that makes figures, whatever it was taken for.
    pub fn take_as_timed(&mut self, sample: &SampleRecord) {
        self.add(sample, Part::Timed);
    }

    fn add(&mut self, sample: &SampleRecord, part: Part) {
        self.sets_up |= SET_UP.contains(&&*sample.workload) && setup_ns(&sample.extra) == (0, 0);
        let answer = |told: u64, seen: u64, busy: u64| Answer {
            passes: sample.iterations,
            told: told as f64,
            seen: seen as f64,
            busy: busy as f64,
            part,
        };
        let (setup_wall_ns, setup_cpu_ns) = setup_ns(&sample.extra);
        let wall = sample.outside_wall_ns.saturating_sub(setup_wall_ns);
        let cpu = sample.outside_cpu_ns.map(|cpu| cpu.saturating_sub(setup_cpu_ns));
        self.wall.add(answer(sample.wall_ns, wall, wall.min(cpu.unwrap_or(wall))));
        if let Some(cpu) = cpu {
            self.cpu.add(answer(sample.cpu_ns, cpu, cpu));
            if part == Part::Timed {
                self.whole.0 += sample.cpu_ns as f64 + setup_cpu_ns as f64;
                self.whole.1 += sample.outside_cpu_ns.unwrap_or_default() as f64;
            }
        }
    }

    /// What cannot be, of either time: a tenth of what was seen, or less; or CPU time that the
    /// kernel did not count.
    pub fn wrong(&self) -> Option<Wrong> {
        let too_little = [Time::Cpu, Time::Wall].into_iter().find_map(|time| {
            let charge = self.charge(time);
            (charge.judgement == Judgement::False).then(|| Wrong {
                what: words(time, &charge, self.account(time).sums().0),
                remedy: REMEDY_LITTLE,
            })
        });
        too_little.or_else(|| self.elsewhere())
    }

    /// The same while samples are still to come. Of one or two it says nothing: what is set up may
    /// fall from request to request, so that the next ones bear the probe out.
    pub fn wrong_so_far(&self) -> Option<Wrong> {
        if self.cpu.sums().0 < told::FEWEST && self.wall.sums().0 < told::FEWEST {
            None
        } else {
            self.wrong()
        }
    }

    /// CPU time that another process used than the one that was looked at: a script that waits for
    /// the probe which it started. Nothing tells then whether the probe's times are right.
    fn elsewhere(&self) -> Option<Wrong> {
        let (timed, (told, seen)) = (self.cpu.sums().0, self.whole);
        let steps_ns = 2.0 * self.clock.cpu_resolution_ns.min(COARSEST_NS) as f64;
        let is_elsewhere =
            timed >= told::FEWEST && told >= ELSEWHERE * seen && told - seen >= ELSEWHERE_NS + steps_ns;
        let (told, seen) = (figure::time(told), figure::time(seen));
        is_elsewhere.then(|| Wrong {
            what: format!("{told} of CPU time over {timed} samples, of which the kernel counted {seen}"),
            remedy: REMEDY_ELSEWHERE,
        })
    }

    /// How many times as much of `time` was seen, where that is doubted or worse.
    pub fn doubted(&self, time: Time) -> Option<Doubt> {
        let charge = self.charge(time);
        let timed = self.account(time).sums().0;
        (charge.judgement >= Judgement::Doubted).then(|| Doubt {
            times: charge.times(),
            of: (charge.answers < timed).then_some((charge.answers, timed)),
        })
    }

    /// Iterations of a sample whose contrast with the others would settle what is to be thought of
    /// the row, where its times are suspicious and nothing settles it yet.
    pub fn wants_contrast(&self, iterations: u64) -> Option<u64> {
        let suspicious = !self.sets_up
            && [Time::Cpu, Time::Wall].into_iter().any(|time| {
                let (timed, _, seen) = self.account(time).sums();
                self.account(time).is_suspicious()
                    && seen < told::DEAR_NS * timed as f64
                    && self.charge(time).judgement != Judgement::False
            });
        // A probe may set up as many as 16 parts of a sample, one for an iteration (the Rust one
        // does), so that a request of one iteration is not like the others.
        suspicious.then_some(match iterations / told::PASSES {
            0 => iterations.saturating_mul(told::PASSES),
            few => few,
        })
    }

    /// How many times as much of `time` was seen as told, where anything was told.
    pub fn times(&self, time: Time) -> Option<f64> {
        Some(self.account(time).times()).filter(|times| times.is_finite())
    }

    fn account(&self, time: Time) -> &Account {
        match time {
            Time::Cpu => &self.cpu,
            Time::Wall => &self.wall,
        }
    }

    fn charge(&self, time: Time) -> Charge {
        let (grant, resolution_ns) = match time {
            Time::Cpu => (CPU, self.clock.cpu_resolution_ns),
            Time::Wall => (WALL, self.clock.wall_resolution_ns),
        };
        // A clock of large steps may tell nothing of what lasts less than two of them.
        let steps_ns = 2.0 * resolution_ns.min(COARSEST_NS) as f64;
        let [at_once_ns, paused_ns] = [grant.at_once_ns, grant.paused_ns].map(|ns| ns.max(steps_ns));
        let charge = self.account(time).charge(Grant { at_once_ns, paused_ns });
        match self.sets_up {
            true => Charge { judgement: Judgement::Fair, ..charge },
            false => charge,
        }
    }
}

fn words(time: Time, charge: &Charge, timed: usize) -> String {
    let (kind, who) = match time {
        Time::Cpu => ("CPU", "the kernel counted"),
        Time::Wall => ("wall", "outside there passed"),
    };
    let (told, seen) = (figure::time(charge.told), figure::time(charge.seen));
    let of = if charge.answers < timed { format!("{} of ", charge.answers) } else { String::new() };
    let samples = if timed == 1 { "sample" } else { "samples" };
    format!("{told} of {kind} time over {of}{timed} {samples}, while {who} {seen}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The account of timed samples that tell so much CPU time and of which so much was seen.
    fn told(samples: usize, cpu_ns: u64, seen_ns: u64) -> Option<Wrong> {
        told_of("fanout", samples, cpu_ns, seen_ns)
    }

    fn told_of(workload: &str, samples: usize, cpu_ns: u64, seen_ns: u64) -> Option<Wrong> {
        told_beside(workload, 0, samples, (cpu_ns, seen_ns))
    }

    fn told_beside(
        workload: &str,
        setup_ns: u64,
        samples: usize,
        (cpu_ns, seen_ns): (u64, u64),
    ) -> Option<Wrong> {
        let mut told = Told::new(Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 });
        let sample: SampleRecord = serde_json::from_value(serde_json::json!({
            "order": 0, "row": 0, "kind": "timed", "round": 0, "process": 0, "workload": workload,
            "runtime": "a", "variant": "b", "size": 1, "iterations": 9, "seed": 1, "wall_ns": 20_000_000,
            "cpu_ns": cpu_ns, "outside_wall_ns": 20_000_000, "outside_cpu_ns": seen_ns, "answer": "1",
            "extra": { "setup_cpu_ns": setup_ns },
        }))
        .expect("a sample");
        (0..samples).for_each(|_| told.take(&sample));
        told.wrong()
    }

    #[test]
    fn setting_up_each_iteration_is_no_lie() {
        assert!(told_of("fanout", 12, 10_000_000, 2_000_000_000).is_some());
        assert_eq!(told_of("drain", 12, 10_000_000, 2_000_000_000), None);
        assert!(told_of("drain", 20, 3_000_000, 0).is_some(), "another process is another process");
    }

    #[test]
    fn what_is_told_beside_is_taken_off_what_was_seen() {
        let told = |setup_ns, cpu_ns| told_beside("fanout", setup_ns, 12, (cpu_ns, 2_000_000_000));
        assert!(told(0, 10_000_000).is_some());
        assert_eq!(told(1_980_000_000, 10_000_000), None);
        assert!(told(198_000_000, 1_000_000).is_some(), "a clock that is ten times too slow");
        assert!(told(u64::MAX, 10_000_000).is_some(), "more than the kernel counted");
    }

    #[test]
    fn cpu_time_that_nobody_counted_is_another_process() {
        let wrong = told(20, 3_000_000, 0).expect("named");
        assert_eq!(wrong.what, "60.0 ms of CPU time over 20 samples, of which the kernel counted 0 ns");
        assert_eq!(wrong.remedy, REMEDY_ELSEWHERE);
        assert!(told(20, 3_000_000, 1_500_000).is_some());
        assert_eq!(told(20, 3_000_000, 1_600_000), None, "less than twice as much");
        assert_eq!(told(3, 3_000_000, 0), None, "within a tick of two CPUs");
    }
}
