//! Executes a case: discrete events, exact times, spans in the order in which a worker-major trace has them.

use std::{cmp::Reverse, collections::BinaryHeap};

use fastrand::Rng;
use taskscale_model::span::{Depth, Span, SpanSink};

use super::case::{Case, Phase, Sharing};

/// One executed task: worker, start, end.
type Executed = (usize, i64, i64);

/// Executes a case, sends its spans worker by worker, sorted by start, and returns the window in ns.
pub fn run(case: &Case, sink: &mut impl SpanSink) -> f64 {
    let mut executed = execute(case);
    executed.sort_unstable_by_key(|(worker, start, end)| (*worker, *start, Reverse(*end)));
    let first = executed.iter().map(|(_, start, _)| *start).min().unwrap_or(0);
    let last = executed.iter().map(|(_, _, end)| *end).max().unwrap_or(0);
    for (worker, start, end) in executed {
        let span = Span {
            worker: worker as u32,
            start_ns: start,
            end_ns: end,
            name: b"task",
            depth: Depth::Unknown,
        };
        sink.span(&span);
    }
    (last - first) as f64
}

fn execute(case: &Case) -> Vec<Executed> {
    let mut rng = Rng::with_seed(case.seed ^ 0x5EED);
    let mut executed = Vec::new();
    let mut now = 0.0;
    for phase in &case.phases {
        now = phase_end(case, phase, now + phase.pause, &mut rng, &mut executed);
    }
    executed
}

/// Executes one phase from `begin` on and returns when its last task ends.
fn phase_end(case: &Case, phase: &Phase, begin: f64, rng: &mut Rng, executed: &mut Vec<Executed>) -> f64 {
    let mut dispatch = || case.dispatch * (0.8 + 0.4 * rng.f64());
    let mut end = begin;
    let mut add = |worker: usize, start: f64, duration: f64| {
        executed.push((worker, start as i64, (start + duration) as i64));
        end = f64::max(end, start + duration);
    };
    // The waiting parent keeps the last worker from executing anything else.
    let waits = phase.waiting_parent && case.workers > 1;
    let workers = case.workers - usize::from(waits);
    match &phase.sharing {
        Sharing::Queue => {
            let mut free: BinaryHeap<Reverse<(u64, usize)>> =
                (0..workers).map(|worker| Reverse((begin as u64, worker))).collect();
            for duration in &phase.tasks {
                let Some(Reverse((at, worker))) = free.pop() else { break };
                let start = at as f64 + dispatch();
                add(worker, start, *duration);
                free.push(Reverse(((start + duration) as u64, worker)));
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
                    at += dispatch();
                    add(worker, at, *duration);
                    at += duration;
                }
                taken = upto;
            }
        }
        Sharing::Chain { hops } => {
            let mut at = begin;
            let mut worker = 0;
            for (index, duration) in phase.tasks.iter().enumerate() {
                if *hops {
                    worker = (worker + 1 + index % 3) % workers;
                }
                at += dispatch();
                add(worker, at, *duration);
                at += duration;
            }
        }
    }
    if waits {
        // A little work of its own, then children elsewhere; one of them runs inside it, as with corun.
        let duration = end - begin;
        let inner = (duration * 0.01).max(1.0);
        executed.push((workers, begin as i64, end as i64));
        executed.push((workers, (begin + inner) as i64, (begin + 2.0 * inner) as i64));
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{super::case::Cause, *};

    fn spans(case: &Case) -> Vec<Executed> {
        let mut executed = execute(case);
        executed.sort_unstable();
        executed
    }

    #[test]
    fn a_worker_does_one_thing_at_a_time() {
        for seed in 0..40 {
            for cause in [Cause::Scheduling, Cause::Serial, Cause::Imbalance, Cause::Straggler, Cause::Under]
            {
                let spans = spans(&Case::draw(seed, &[cause]));
                assert!(
                    spans.windows(2).all(|two| two[0].0 != two[1].0 || two[0].2 <= two[1].1),
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
