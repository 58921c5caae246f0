//! Executes a case by discrete events with exact times. Spans come in the order in which a
//! worker-major trace has them.

use std::{cmp::Reverse, collections::BinaryHeap};

use fastrand::Rng;
use taskscale_digest::Accumulator;
use taskscale_model::span::{Span, SpanSink};

use crate::case::{Case, Phase, Sharing};

/// Shortest event, in ns, after which an observer asks the kernel for run delay. Asking costs more
/// than shorter events lose.
const ASKS_FROM: i64 = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Executed {
    worker: usize,
    start: i64,
    end: i64,
    /// Time in which the worker could run and did not: inside the task, and in the hand-over before
    /// it.
    lost_in_task: i64,
    lost_before: i64,
}

/// Executes a case and sends its spans worker by worker, sorted by start. Returns the window in ns.
pub fn run(case: &Case, sink: &mut impl SpanSink) -> f64 {
    let executed = in_order(case);
    executed.iter().for_each(|task| send(task, sink));
    window(&executed)
}

/// Executes a case for an observer. The observer also learns what the machine took away, where the
/// case says that it knows.
pub fn observe(case: &Case, observer: &mut Accumulator) -> f64 {
    let executed = in_order(case);
    let known = case.preemption.is_some_and(|preemption| preemption.known);
    for task in &executed {
        send(task, observer);
        if known && task.end - task.start >= ASKS_FROM {
            observer.preempted(true, task.lost_in_task as u64);
        }
        if known && task.lost_before >= ASKS_FROM {
            observer.preempted(false, task.lost_before as u64);
        }
    }
    window(&executed)
}

fn in_order(case: &Case) -> Vec<Executed> {
    let mut executed = execute(case);
    executed.sort_unstable_by_key(|task| (task.worker, task.start, Reverse(task.end)));
    executed
}

fn send(task: &Executed, sink: &mut impl SpanSink) {
    let (start_ns, end_ns) = (task.start, task.end);
    sink.span(&Span { worker: task.worker as u32, start_ns, end_ns, name: b"task", ..Span::default() });
}

fn window(executed: &[Executed]) -> f64 {
    let first = executed.iter().map(|task| task.start).min().unwrap_or(0);
    let last = executed.iter().map(|task| task.end).max().unwrap_or(0);
    (last - first) as f64
}

fn execute(case: &Case) -> Vec<Executed> {
    let mut machine = Machine {
        case,
        rng: Rng::with_seed(case.seed ^ 0x5EED),
        thief: Rng::with_seed(case.seed ^ 0x7415F),
        executed: Vec::new(),
    };
    let mut now = 0.0;
    for phase in &case.phases {
        now = machine.phase(phase, now + phase.pause);
    }
    machine.executed
}

/// Executes a case: the workers of a runtime on a machine that may take the CPU away.
struct Machine<'a> {
    case: &'a Case,
    rng: Rng,
    /// Preemption has a random stream of its own, so that without it all else is equal.
    thief: Rng,
    executed: Vec<Executed>,
}

impl Machine<'_> {
    fn lost(&mut self, time: f64) -> f64 {
        self.case.preemption.map_or(0.0, |preemption| preemption.lost(time, &mut self.thief))
    }

    /// Hands a task to a worker that is ready at `at`. Returns when the task ends.
    fn task(&mut self, worker: usize, at: f64, duration: f64) -> f64 {
        let dispatch = self.case.dispatch * (0.8 + 0.4 * self.rng.f64());
        let (before, inside) = (self.lost(dispatch), self.lost(duration));
        let start = at + dispatch + before;
        let end = start + duration + inside;
        self.executed.push(Executed {
            worker,
            start: start as i64,
            end: end as i64,
            lost_in_task: inside as i64,
            lost_before: before as i64,
        });
        end
    }

    /// Executes one phase from `begin` on. Returns when its last task ends.
    fn phase(&mut self, phase: &Phase, begin: f64) -> f64 {
        let mut end = begin;
        // The waiting parent keeps the last worker from executing anything else.
        let waits = phase.waiting_parent && self.case.workers > 1;
        let workers = self.case.workers - usize::from(waits);
        match &phase.sharing {
            Sharing::Queue => {
                let mut free: BinaryHeap<Reverse<(u64, usize)>> =
                    (0..workers).map(|worker| Reverse((begin as u64, worker))).collect();
                for duration in &phase.tasks {
                    let Some(Reverse((at, worker))) = free.pop() else { break };
                    let done = self.task(worker, at as f64, *duration);
                    end = end.max(done);
                    free.push(Reverse((done as u64, worker)));
                }
            }
            Sharing::Divided(weights) => {
                let total: f64 = weights[..workers].iter().sum();
                let (mut taken, mut given) = (0usize, 0.0);
                for (worker, weight) in weights[..workers].iter().enumerate() {
                    given += weight / total * phase.tasks.len() as f64;
                    let upto = (given.round() as usize).min(phase.tasks.len());
                    let mut at = begin;
                    for duration in &phase.tasks[taken..upto] {
                        at = self.task(worker, at, *duration);
                    }
                    end = end.max(at);
                    taken = upto;
                }
            }
            Sharing::Chain { hops } => {
                let mut worker = 0;
                for (index, duration) in phase.tasks.iter().enumerate() {
                    if *hops {
                        worker = (worker + 1 + index % 3) % workers;
                    }
                    end = self.task(worker, end, *duration);
                }
            }
        }
        if waits {
            // The parent does a little work of its own, then has children elsewhere. One of them
            // runs inside it, as with corun.
            let inner = ((end - begin) * 0.01).max(1.0);
            for (start, end) in [(begin, end), (begin + inner, begin + 2.0 * inner)] {
                let (start, end) = (start as i64, end as i64);
                self.executed.push(Executed { worker: workers, start, end, lost_in_task: 0, lost_before: 0 });
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Cause;

    fn spans(case: &Case) -> Vec<Executed> {
        let mut executed = execute(case);
        executed.sort_unstable();
        executed
    }

    #[test]
    fn a_worker_does_one_thing_at_a_time() {
        for seed in 0..40 {
            for cause in Cause::ALL.into_iter().filter(|cause| *cause != Cause::Recursive) {
                let spans = spans(&Case::draw(seed, &[cause]));
                assert!(
                    spans.windows(2).all(|two| two[0].worker != two[1].worker || two[0].end <= two[1].start),
                    "{seed} {cause:?}"
                );
            }
        }
    }

    #[test]
    fn a_queue_is_as_good_as_graham_says() {
        for seed in 0..40 {
            let mut case = Case::draw(seed, &[]);
            case.phases.truncate(1);
            let mut count = 0;
            let window = run(&case, &mut |_: &Span<'_>| count += 1);
            assert_eq!(count, case.phases[0].tasks.len());
            let task = |duration: &f64| duration + case.dispatch * 1.2;
            let work: f64 = case.phases[0].tasks.iter().map(task).sum();
            let longest = case.phases[0].tasks.iter().map(task).fold(0.0, f64::max);
            assert!(window <= work / case.workers as f64 + longest + 1.0);
        }
    }

    #[test]
    fn removing_a_cause_never_slows_a_case_down_much() {
        for seed in 0..60 {
            for cause in Cause::ALL {
                let case = Case::draw(seed, &[cause]);
                let nothing = &mut |_: &Span<'_>| ();
                let (with, without) = (run(&case, nothing), run(&case.without(cause), nothing));
                assert!(without <= with * 1.1, "{seed} {cause:?}: {with} {without}");
            }
        }
    }
}
