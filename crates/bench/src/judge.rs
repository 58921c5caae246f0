//! Judges whether a sample can be believed. A probe's clock is trusted only as far as the outside
//! confirms it.

use taskscale_analysis::told::{COARSEST_NS, REMEDY, REMEDY_ELSEWHERE, Wrong, setup_ns};
use taskscale_model::{
    answer::Rule,
    idle,
    protocol::{Clock, RunRequest},
};

use crate::{expect::Answers, fault::Fault, invariants, link::Observed};

/// A reply lies between two readings of the same monotonic clock by the tool. 20 us cover clocks
/// that round differently.
const SLACK_NS: u64 = 20_000;

/// The kernel updates other threads' CPU clocks at their next tick or switch: 4 ms per CPU at the
/// slowest common tick of 250 Hz.
const TICK_NS: u64 = 4_000_000;

/// CPU time seen from outside below which set-up and protocol may be the larger part.
const ENOUGH_CPU_NS: u64 = 50_000_000;

/// The same where code is compiled while it runs. .NET spent 64 ms on that, on other threads, in a
/// request whose timed part took 0.2 ms.
const ENOUGH_CPU_JIT_NS: u64 = 250_000_000;

/// The same where the samples of a row are held against one another besides. Work that is set up
/// untimed may take 0.25 s in one request and nothing in the next; units of a microsecond make
/// samples of 5 ms that take 5 s.
const ENOUGH_CPU_ROW_NS: u64 = 1_000_000_000;

/// How many times smaller than the outside CPU time a probe's may be. A time reported in
/// microseconds is 1,000 times too small, and untimed set-up was never seen to be 200 times the
/// work.
const UNITS_FACTOR: u64 = 200;

/// How many times smaller the outside CPU time is where another process than the probe was looked
/// at.
const UNLIKE: u64 = 20;

/// By how much an iteration that is watched may be too short: a timer of whole milliseconds, read
/// at the beginning of a turn of its loop, ends up to one early.
const EARLY_NS: u64 = 2_000_000;

/// Judges samples of one probe.
#[derive(Debug)]
pub struct Judge {
    clock: Clock,
    cpus: u64,
    enough_cpu_ns: u64,
    /// The fewest iterations whose units are judged.
    fewest: u64,
    answers: Answers,
}

impl Judge {
    /// A judge for a probe with these clocks, on a machine where a process may use `cpus` CPUs.
    pub fn new(clock: Clock, cpus: u64) -> Self {
        let answers = Answers::default();
        Judge { clock, cpus: cpus.max(1), enough_cpu_ns: ENOUGH_CPU_NS, fewest: 1, answers }
    }

    /// The same where requests of several lengths are made. One of one iteration may be all set-up,
    /// that of 60 ms beside 28 us of work: it says nothing of units.
    #[must_use]
    pub fn of_lengths(mut self) -> Self {
        self.fewest = 2;
        self
    }

    /// The same for a row whose samples are held against one another
    /// ([`taskscale_analysis::told`]): only what would take for ever is stopped at once.
    #[must_use]
    pub fn accounted(mut self) -> Self {
        self.enough_cpu_ns = ENOUGH_CPU_ROW_NS;
        self.of_lengths()
    }

    /// The same for a probe that says whether its code is compiled while it runs.
    #[must_use]
    pub fn compiled(mut self, jit: bool) -> Self {
        self.enough_cpu_ns = if jit { ENOUGH_CPU_JIT_NS } else { ENOUGH_CPU_NS };
        self
    }

    /// Accepts a sample or says why not. Under [`Rule::Agree`] its answer is left to
    /// [`crate::agree`], which knows those of other rows.
    pub fn judge(&mut self, rule: Rule, request: &RunRequest, observed: &Observed) -> Result<(), Fault> {
        let sample = &observed.sample;
        if let Some(got) = sample.id
            && got != request.id
        {
            return Err(Fault::OtherQuestion { got, asked: request.id });
        }
        if let Some(right) = self.answers.right(rule, request)
            && sample.answer.0 != right
        {
            return Err(Fault::WrongAnswer {
                got: sample.answer.0,
                right,
                size: request.size,
                iterations: request.iterations,
                seed: request.seed,
            });
        }
        // What is held to its own answers need not count what a built-in workload of its name does.
        if rule != Rule::Agree {
            invariants::check(request, &sample.extra)?;
        }
        watched(request, sample.wall_ns).map_err(Fault::ImpossibleTime)?;
        self.judge_times(request.iterations, observed)
    }

    /// Judges the times alone, for workloads whose answer only their author knows.
    pub fn judge_times(&self, iterations: u64, observed: &Observed) -> Result<(), Fault> {
        self.times(iterations, observed).map_err(Fault::ImpossibleTime)
    }

    fn times(&self, iterations: u64, observed: &Observed) -> Result<(), Wrong> {
        let (wall, cpu) = (observed.sample.wall_ns, observed.sample.cpu_ns);
        let outside = observed.outside_wall_ns;
        if wall > outside + SLACK_NS + 2 * self.clock.wall_resolution_ns.min(COARSEST_NS) {
            let what = format!("{wall} ns of wall time, while only {outside} ns passed outside");
            return Err(Wrong::clock(what));
        }
        let cpu_slack = SLACK_NS + 2 * self.clock.cpu_resolution_ns.min(COARSEST_NS) + TICK_NS * self.cpus;
        let possible = outside.saturating_mul(self.cpus).saturating_add(cpu_slack);
        // The kernel books a thread's time at ticks, which a host that lends the CPU elsewhere
        // delays: .NET told 21.9 ms in 3.1 ms on two CPUs of a virtual machine, and so did the
        // kernel.
        let counted = observed.outside_cpu_ns.is_some_and(|kernel| cpu <= kernel.saturating_add(cpu_slack));
        if cpu > possible && !counted {
            let what = format!("{cpu} ns of CPU time in {outside} ns on {} CPUs", self.cpus);
            return Err(Wrong::clock(what));
        }
        let Some(outside_cpu) = observed.outside_cpu_ns else { return Ok(()) };
        if cpu > outside_cpu.saturating_add(cpu_slack) {
            let what = format!("{cpu} ns of CPU time, the kernel counted {outside_cpu} ns");
            // A shell that waits for the probe uses next to nothing.
            let remedy = if outside_cpu < cpu / UNLIKE { REMEDY_ELSEWHERE } else { REMEDY };
            return Err(Wrong { what, remedy });
        }
        let outside_cpu = outside_cpu.saturating_sub(setup_ns(&observed.sample.extra).1);
        // Only CPU time is checked: on a busy machine wall time may be any number of times as long,
        // in microseconds too.
        if iterations >= self.fewest && outside_cpu >= self.enough_cpu_ns && cpu < outside_cpu / UNITS_FACTOR
        {
            return Err(Wrong::clock(format!(
                "{cpu} ns of CPU time, the kernel counted {outside_cpu} ns: too little by a factor of {}; \
                 are the units nanoseconds?",
                outside_cpu / cpu.max(1)
            )));
        }
        Ok(())
    }
}

/// Refuses a sample of `idle` that did not last until its last task was to arrive.
fn watched(request: &RunRequest, wall_ns: u64) -> Result<(), Wrong> {
    let least_ns = request.size.saturating_mul(1_000_000).saturating_sub(EARLY_NS);
    if request.workload != idle::WORKLOAD || wall_ns >= least_ns.saturating_mul(request.iterations) {
        return Ok(());
    }
    Err(Wrong {
        what: format!("{wall_ns} ns for {} iterations of {} ms", request.iterations, request.size),
        remedy: "start each task at its time, counted from the beginning of the iteration",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskscale_model::{
        missing::Missing,
        protocol::{Answer, Sample},
    };

    /// A sample that tells so much wall and CPU time, and what was seen of it.
    fn observed([wall_ns, cpu_ns]: [u64; 2], outside_wall_ns: u64, outside_cpu_ns: u64) -> Observed {
        Observed {
            sample: Sample { id: None, wall_ns, cpu_ns, answer: Answer(0), extra: Default::default() },
            outside_wall_ns,
            outside_cpu_ns: Some(outside_cpu_ns),
            stopped: None,
            threads: Err(Missing::new("not looked at", "")),
            run_delay_ns: None,
            load: None,
            server_cpu_ns: None,
        }
    }

    fn verdict(change: impl FnOnce(&mut Observed)) -> Result<(), String> {
        let request = RunRequest {
            id: 5,
            workload: "fanout".into(),
            variant: "v".into(),
            size: 64,
            iterations: 2,
            params: Default::default(),
            seed: 1,
        };
        let mut observed = observed([90_000_000; 2], 100_000_000, 95_000_000);
        (observed.sample.id, observed.sample.answer) = (Some(5), Answer(2 * 62_496));
        change(&mut observed);
        let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
        Judge::new(clock, 2).judge(Rule::SumOfTasks, &request, &observed).map_err(|fault| fault.to_string())
    }

    #[test]
    fn more_than_the_cpus_can_give_is_believed_where_the_kernel_counted_as_much() {
        let told = |outside_cpu_ns: u64| {
            let observed = observed([3_131_061, 21_888_548], 3_190_000, outside_cpu_ns);
            let clock = Clock { wall_resolution_ns: 20, cpu_resolution_ns: 510 };
            Judge::new(clock, 2).judge_times(25, &observed)
        };
        assert!(told(21_950_000).is_ok(), "booked late");
        assert!(told(6_300_000).is_err());
    }

    #[test]
    fn what_is_watched_lasts_as_long_as_it_is_asked_to() {
        let request = |workload: &str| RunRequest {
            id: 5,
            workload: workload.into(),
            variant: "v".into(),
            size: 100,
            iterations: 3,
            params: Default::default(),
            seed: 1,
        };
        assert_eq!(watched(&request("idle"), 294_000_000), Ok(()));
        let why = watched(&request("idle"), 293_999_999).expect_err("a task was early");
        assert_eq!(why.what, "293999999 ns for 3 iterations of 100 ms");
        assert_eq!(watched(&request("nop"), 1), Ok(()));
    }

    #[test]
    fn an_honest_sample_passes() {
        assert_eq!(verdict(|_| ()), Ok(()));
        assert_eq!(verdict(|observed| observed.sample.id = None), Ok(()), "an id may be left out");
        assert_eq!(verdict(|observed| observed.outside_cpu_ns = None), Ok(()), "the kernel may say nothing");
    }

    #[test]
    fn what_is_compiled_beside_the_timed_part_is_no_wrong_unit() {
        let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
        let believed = |jit, outside_cpu_ns| {
            let observed = observed([190_000; 2], 400_000_000, outside_cpu_ns);
            Judge::new(clock, 2).compiled(jit).judge_times(2, &observed).is_ok()
        };
        assert!(believed(true, 64_000_000) && !believed(false, 64_000_000));
        assert!(!believed(true, 300_000_000));
    }

    #[test]
    fn one_iteration_may_be_all_set_up() {
        let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
        let is_believed = |judge: Judge, iterations| {
            let observed = observed([28_000; 2], 61_000_000, 60_000_000);
            judge.judge_times(iterations, &observed).is_ok()
        };
        let judge = || Judge::new(clock, 2);
        assert!(!is_believed(judge(), 1));
        assert!(is_believed(judge().of_lengths(), 1) && !is_believed(judge().of_lengths(), 2));
    }

    #[test]
    fn one_request_of_a_row_may_set_up_for_long_and_none_for_ever() {
        let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
        let judge = Judge::new(clock, 2).compiled(true).accounted();
        let is_believed = |outside_cpu_ns: u64| {
            let observed = observed([1_000_000; 2], outside_cpu_ns, outside_cpu_ns);
            judge.judge_times(2, &observed).is_ok()
        };
        assert!(is_believed(900_000_000) && !is_believed(1_000_000_000));
    }

    #[test]
    fn a_script_that_waits_for_the_probe_is_told_from_a_wrong_clock() {
        let remedy = |outside_cpu_ns| {
            let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
            let observed = observed([90_000_000; 2], 100_000_000, outside_cpu_ns);
            Judge::new(clock, 2).judge_times(2, &observed).expect_err("refused").to_missing().remedy
        };
        assert_eq!(remedy(400_000), REMEDY_ELSEWHERE);
        assert_eq!(remedy(40_000_000), REMEDY);
    }

    #[test]
    fn a_resolution_that_is_claimed_switches_nothing_off() {
        let observed = |cpu_ns| observed([90_000_000, cpu_ns], 100_000_000, 95_000_000);
        for resolution in [1 << 50, u64::MAX] {
            let clock = Clock { wall_resolution_ns: resolution, cpu_resolution_ns: resolution };
            assert_eq!(Judge::new(clock, 2).judge_times(2, &observed(90_000_000)), Ok(()));
            assert!(Judge::new(clock, 2).judge_times(2, &observed(190_000_000)).is_err());
        }
    }

    #[test]
    fn lies_are_named() {
        for (change, words) in [
            ((|r| r.sample.id = Some(4)) as fn(&mut Observed), "answered request 4"),
            (|r| r.sample.answer = Answer(62_496), "the answer is 62496, right is 124992"),
            (|r| r.sample.wall_ns = 101_000_000, "of wall time, while only 100000000 ns passed"),
            (|r| r.sample.cpu_ns = 300_000_000, "in 100000000 ns on 2 CPUs"),
            (|r| r.sample.cpu_ns = 120_000_000, "the kernel counted 95000000"),
            (|r| r.outside_cpu_ns = Some(400_000), "the kernel counted 400000 ns"),
            (|r| (r.sample.wall_ns, r.sample.cpu_ns) = (90_000, 90_000), "are the units nanoseconds?"),
            // The probe reports microseconds and waited for a processor ten times as long as it had
            // one.
            (
                |r| (r.sample.wall_ns, r.sample.cpu_ns, r.outside_wall_ns) = (950_000, 95_000, 1_000_000_000),
                "are the units nanoseconds?",
            ),
        ] {
            let said = verdict(change).expect_err(words);
            assert!(said.contains(words), "{said:?} does not say {words:?}");
        }
    }
}
