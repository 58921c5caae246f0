//! Cases that can be read in more than one way, and what the digest may say about them.

use taskscale_model::digest::PatternName;

use crate::{
    case::{Case, Phase, Sharing},
    preemption::Preemption,
};

/// A case made by hand.
pub struct Ambiguous {
    /// A description of the case.
    pub name: &'static str,
    pub case: Case,
    /// Right answers, of which one must be among the first two. `MIXED` and `INCONCLUSIVE` are
    /// always fair.
    pub right: Vec<PatternName>,
}

fn phase(tasks: Vec<f64>, sharing: Sharing) -> Phase {
    Phase { tasks, sharing, planted: None, pause: 0.0, waiting_parent: false }
}

fn case(workers: usize, dispatch: f64, phases: Vec<Phase>) -> Case {
    Case {
        seed: 7,
        workers,
        dispatch,
        phases,
        causes: Vec::new(),
        straggler_from: f64::INFINITY,
        preemption: None,
        blocking_from: f64::INFINITY,
    }
}

/// Returns all ambiguous cases. Times are in ns.
pub fn ambiguous() -> Vec<Ambiguous> {
    use PatternName::*;
    const MS: f64 = 1e6;
    let queue = |tasks| phase(tasks, Sharing::Queue);
    let chain = |tasks, hops| phase(tasks, Sharing::Chain { hops });
    let one = |name, workers, dispatch, stage, right: &[PatternName]| Ambiguous {
        name,
        case: case(workers, dispatch, vec![stage]),
        right: right.to_vec(),
    };
    let mut with_straggler = vec![2.0 * MS; 200];
    with_straggler.insert(100, 300.0 * MS);
    let mut first = vec![2.0 * MS; 200];
    first.insert(0, 300.0 * MS);
    let halves = (0..10).flat_map(|_| [queue(vec![MS; 40]), chain(vec![10.0 * MS], false)]).collect();
    let mut pauses: Vec<Phase> = (0..10).map(|_| queue(vec![2.0 * MS; 60])).collect();
    pauses.iter_mut().skip(1).for_each(|phase| phase.pause = 30.0 * MS);
    let stolen = Preemption { every: 20.0 * MS, slice: (8.0 * MS, 24.0 * MS), known: true };
    let late = Preemption { every: 15.0 * MS, slice: (20.0 * MS, 30.0 * MS), known: true };
    let mut blocked = vec![MS / 10.0; 5_000];
    blocked.extend([300.0 * MS, MS, MS]);
    let mut waits: Vec<Phase> = (0..50).map(|_| queue(vec![MS / 10.0; 40])).collect();
    waits.iter_mut().for_each(|phase| phase.pause = 10.0 * MS);
    waits[20].tasks.push(250.0 * MS);
    let mut never = queue(vec![MS; 400]);
    never.sharing = Sharing::Divided([vec![1.0; 4], vec![0.0; 4]].concat());
    vec![
        one(
            "chain of empty tasks, one worker of 4",
            4,
            100.0,
            chain(vec![10.0; 50_000], false),
            &[SchedulingOverhead],
        ),
        one(
            "chain of empty tasks, from worker to worker",
            4,
            100.0,
            chain(vec![10.0; 50_000], true),
            &[SchedulingOverhead, SerialBottleneck],
        ),
        one("5 equal tasks on 4", 4, 1e3, queue(vec![100.0 * MS; 5]), &[UnderDecomposition, LoadImbalance]),
        one("9 equal tasks on 4", 4, 1e3, queue(vec![100.0 * MS; 9]), &[UnderDecomposition, LoadImbalance]),
        one("65 equal tasks on 64", 64, 1e3, queue(vec![100.0 * MS; 65]), &[UnderDecomposition]),
        one(
            "4 tasks on 8, one of them short",
            8,
            1e3,
            queue(vec![100.0 * MS, 100.0 * MS, 100.0 * MS, 10.0 * MS]),
            &[UnderDecomposition],
        ),
        one("2 tasks on 4", 4, 1e3, queue(vec![100.0 * MS; 2]), &[UnderDecomposition]),
        one(
            "50, 100, 150, 200 ms on 4",
            4,
            1e3,
            queue(vec![50.0 * MS, 100.0 * MS, 150.0 * MS, 200.0 * MS]),
            &[UnderDecomposition, LoadImbalance, StragglerTasks],
        ),
        one("a straggler in the middle", 4, 1e3, queue(with_straggler), &[StragglerTasks]),
        one("a straggler at the start", 4, 1e3, queue(first), &[StragglerTasks]),
        Ambiguous { name: "half of it serial", case: case(4, 1e3, halves), right: vec![SerialBottleneck] },
        Ambiguous { name: "pauses between runs", case: case(4, 1e3, pauses), right: vec![OutsideRun] },
        one("four of eight workers never ran", 8, 1e3, never, &[UnderDecomposition, LoadImbalance]),
        Ambiguous {
            name: "3,000 tasks of 200 us on 4 workers that lose a CPU for 8 to 24 ms now and then",
            case: Case { preemption: Some(stolen), ..case(4, 1e3, vec![queue(vec![MS / 5.0; 3_000])]) },
            right: vec![Preempted],
        },
        Ambiguous {
            name: "tasks of which some lose their CPU for 20 times their length",
            case: Case { preemption: Some(late), ..case(8, 1e3, vec![queue(vec![MS; 64])]) },
            right: vec![Preempted],
        },
        one("an event loop that a step blocks", 1, 1e3, queue(blocked), &[EventLoopBlocked]),
        Ambiguous {
            name: "an event loop that mostly waits",
            case: case(1, 1e3, waits),
            right: vec![EventLoopBlocked],
        },
        one("one worker", 1, 1e3, queue(vec![MS; 500]), &[Healthy]),
        one("one worker, tiny tasks", 1, 1e3, queue(vec![500.0; 20_000]), &[SchedulingOverhead]),
        one("two thousand workers", 2_000, 1e3, queue(vec![10.0 * MS; 40_000]), &[Healthy]),
        Ambiguous {
            name: "200 phases of full use",
            case: case(4, 1e3, (0..200).map(|_| queue(vec![MS / 4.0; 80])).collect()),
            right: vec![Healthy],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial;

    #[test]
    fn one_of_the_right_answers_is_among_the_first_two() {
        for Ambiguous { name, case, right } in ambiguous() {
            let digest = trial(case).digest;
            let said: Vec<PatternName> = digest.patterns.iter().take(2).map(|pattern| pattern.name).collect();
            let declined = matches!(said[0], PatternName::Mixed | PatternName::Inconclusive);
            assert!(
                declined || said.iter().any(|said| right.contains(said)),
                "{name}: {said:?} {:?}",
                digest.losses
            );
        }
    }

    #[test]
    fn a_chain_of_empty_tasks_is_told_to_be_one() {
        let all = ambiguous();
        let reasons = trial(all[0].case.clone()).digest.confidence.reasons;
        assert!(reasons.iter().any(|reason| reason.contains("one after the other")), "{reasons:?}");
    }
}
