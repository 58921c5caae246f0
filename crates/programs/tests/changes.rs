//! Each change helps where it should, by as much as can be worked out by hand, and not elsewhere.

mod checks;

use checks::{conservation, equal, nesting};
use taskscale_programs::{
    Change, Kind, Program,
    graph::Graph,
    machine::{Collection, Machine, Preemption},
    program::{Body, NO_FAMILY, Role, Step},
    speedup,
};

#[track_caller]
fn gains(program: &Program, change: &Change, expected: f64) {
    let found = speedup(program, change);
    assert!((found / expected - 1.0).abs() < 1e-3, "{change:?}: {found}, not {expected}");
}

#[test]
fn batches_pay_for_one_start() {
    let mut program = equal(1_000, 100, 2);
    program.machine.dispatch.own_ns = 100.0;
    gains(&program, &Change::BatchTasks { by: 10 }, 200.0 / 110.0);
    assert_eq!(program.with(&Change::BatchTasks { by: 10 }).expect("a family").spans(), 100);
    // One task on one of two workers.
    gains(&program, &Change::BatchTasks { by: 1_000 }, 100_000.0 / 100_100.0);
}

#[test]
fn pieces_pay_for_their_own_starts() {
    let mut program = equal(2, 8_000, 4);
    gains(&program, &Change::SplitTasks { by: 2, name: None }, 2.0);
    gains(&program, &Change::SplitTasks { by: 2, name: Some("t".into()) }, 2.0);
    assert_eq!(program.with(&Change::SplitTasks { by: 2, name: Some("u".into()) }), None);
    program.machine.dispatch.own_ns = 2_000.0;
    gains(&program, &Change::SplitTasks { by: 2, name: None }, 10_000.0 / 6_000.0);
    gains(&program, &Change::SplitTasks { by: 8, name: None }, 10_000.0 / 12_000.0);
}

#[test]
fn what_follows_a_task_follows_all_of_its_pieces() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    let first = graph.work(name, NO_FAMILY, 3_000);
    let last = graph.alone(name, 100);
    graph.after(last, first);
    let mut program = graph.on(Machine::plain(2));
    // The last piece begins first.
    program.machine.order = taskscale_programs::machine::Order::Lifo;
    gains(&program, &Change::SplitTasks { by: 3, name: None }, 3_100.0 / 2_100.0);
}

#[test]
fn the_longest_is_split_or_begins_first() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    for ns in [1, 1, 1, 1, 1, 1, 6] {
        graph.work(name, NO_FAMILY, ns * 1_000);
    }
    let program = graph.on(Machine::plain(2));
    gains(&program, &Change::StartLongestFirst, 9.0 / 6.0);
    gains(&program, &Change::SplitLongest { name: None, into: 6 }, 9.0 / 6.0);
    gains(&program, &Change::SplitLongest { name: Some("t".into()), into: 2 }, 9.0 / 6.0);
    assert_eq!(equal(10, 100, 2).with(&Change::SplitLongest { name: None, into: 2 }), None);
}

/// Rounds of four tasks on four workers, each after a stage of one task.
fn stages(loose: bool) -> Program {
    let mut graph = Graph::new();
    let (name, update) = (graph.name("t"), graph.name("update"));
    let (mut before, mut stage): (Option<u32>, Option<u32>) = (None, None);
    for _ in 0..3 {
        let alone = graph.alone(update, 1_000);
        graph.get(alone).after.extend(stage);
        if loose {
            graph.get(alone).loose.extend(before);
        } else {
            graph.get(alone).after.extend(before);
        }
        // Three tasks leave a worker for the next stage.
        let round: Vec<u32> = (0..3).map(|_| graph.work(name, NO_FAMILY, 1_000)).collect();
        for task in &round {
            graph.after(*task, alone);
        }
        before = Some(graph.barrier(&round));
        stage = Some(alone);
    }
    graph.on(Machine::plain(4))
}

#[test]
fn a_serial_stage_is_split_or_overlapped() {
    let program = stages(false);
    gains(&program, &Change::SplitAlone { into: 4 }, 6_000.0 / 3_750.0);
    assert_eq!(program.with(&Change::OverlapAlone), None);
    gains(&stages(true), &Change::OverlapAlone, 6_000.0 / 4_000.0);
    // A split of all tasks leaves the stage as it is.
    gains(&program, &Change::SplitTasks { by: 4, name: None }, 6_000.0 / 5_250.0);
}

#[test]
fn what_was_seen_alone_again_and_again_is_a_serial_stage() {
    let mut program = stages(false);
    for task in &mut program.tasks {
        task.role = Role::Plain;
    }
    gains(&program, &Change::SplitAlone { into: 4 }, 6_000.0 / 3_750.0);
    assert_eq!(equal(12, 100, 4).with(&Change::SplitAlone { into: 4 }), None);
}

#[test]
fn a_shared_queue_levels_what_was_divided() {
    let mut pinned = equal(8, 1_000, 4);
    for task in &mut pinned.tasks {
        task.place = taskscale_programs::program::Place::Pinned(0);
    }
    gains(&pinned, &Change::ShareQueue, 4.0);

    let mut graph = Graph::new();
    let name = graph.name("t");
    for (worker, count) in [7, 1].into_iter().enumerate() {
        let id = graph.add(name, NO_FAMILY, Body::Parts(vec![100; count]));
        graph.pin(id, worker);
    }
    gains(&graph.on(Machine::plain(2)), &Change::ShareQueue, 700.0 / 400.0);
    assert_eq!(equal(8, 100, 2).with(&Change::ShareQueue), None);
}

#[test]
fn a_parent_that_ends_frees_its_worker() {
    let mut graph = Graph::new();
    let (name, parent) = (graph.name("t"), graph.name("parent"));
    let children: Vec<u32> = (0..3).map(|_| graph.work(name, NO_FAMILY, 1_000)).collect();
    let mut steps: Vec<Step> = children.iter().map(|task| Step::Spawn { cost_ns: 0, task: *task }).collect();
    steps.extend([Step::Join { help: false }, Step::Compute(500)]);
    let id = graph.steps(parent, NO_FAMILY, steps);
    for child in children {
        graph.get(child).parent = Some(id);
    }
    let last = graph.work(name, NO_FAMILY, 100);
    graph.after(last, id);
    let program = graph.on(Machine::plain(2));
    gains(&program, &Change::ContinueInsteadOfWait, 3_600.0 / 2_600.0);
    let continued = program.with(&Change::ContinueInsteadOfWait).expect("a parent");
    assert_eq!(continued.execute().spans.len(), 6);
    assert_eq!(continued.with(&Change::ContinueInsteadOfWait), None);
}

#[test]
fn pauses_and_collections_can_be_removed() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    let first = graph.work(name, NO_FAMILY, 1_000);
    let pause = graph.host(Role::Pause, 2_000, &[first]);
    let last = graph.work(name, NO_FAMILY, 1_000);
    graph.after(last, pause);
    gains(&graph.on(Machine::plain(1)), &Change::RemovePauses, 2.0);
    let mut program = equal(40, 1_000, 4);
    program.machine.collection =
        Some(Collection { every_work_ns: 12_000, pause_ns: 500, between_tasks: true });
    gains(&program, &Change::RemovePauses, 1.15);
    assert_eq!(equal(40, 1_000, 4).with(&Change::RemovePauses), None);
}

#[test]
fn a_loop_is_relieved_of_its_long_steps() {
    let mut program = equal(100, 1_000, 1);
    for index in [20, 40, 60, 80] {
        program.tasks[index].body = Body::Steps(vec![Step::Block(24_000)]);
    }
    gains(&program, &Change::UnblockLoop, 2.0);
    assert_eq!(equal(100, 1_000, 1).with(&Change::UnblockLoop), None);
    assert_eq!(equal(100, 1_000, 2).with(&Change::UnblockLoop), None);
}

#[test]
fn cores_come_free() {
    let mut program = equal(80, 1_000_000, 8);
    program.machine.cores = Some(2);
    gains(&program, &Change::FreeCpus, 4.0);
    gains(&program, &Change::UseWorkers { count: 2 }, 1.0);
    program.machine.switching = 0.2;
    gains(&program, &Change::UseWorkers { count: 2 }, 1.25);
    let mut program = equal(4_000, 1_000_000, 4);
    program.machine.preempted = vec![Some(Preemption { every_ns: 3e5, for_ns: 1e5 }); 4];
    let found = speedup(&program, &Change::FreeCpus);
    assert!((found - 4.0 / 3.0).abs() < 0.02, "{found}");
}

#[test]
fn fewer_workers_take_longer_or_not() {
    gains(&equal(8, 1_000, 4), &Change::UseWorkers { count: 2 }, 0.5);
    gains(&equal(2, 1_000, 8), &Change::UseWorkers { count: 2 }, 1.0);
    assert_eq!(equal(8, 1_000, 4).with(&Change::UseWorkers { count: 4 }), None);
}

#[test]
fn a_lock_is_shortened_or_divided() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    for _ in 0..8 {
        graph.steps(name, NO_FAMILY, vec![Step::Lock { lock: 0, ns: 800 }]);
    }
    let program = graph.on(Machine::plain(8));
    gains(&program, &Change::ShortenLock { by: 4 }, 6_400.0 / (600.0 + 8.0 * 200.0));
    gains(&program, &Change::ShardLock { into: 4 }, 4.0);
    assert_eq!(equal(8, 100, 2).with(&Change::ShardLock { into: 4 }), None);
}

#[test]
fn a_master_hands_out_faster_or_less_often() {
    let mut graph = Graph::new();
    let (name, family) = (graph.name("t"), graph.family());
    let children: Vec<u32> = (0..8).map(|_| graph.work(name, family, 100)).collect();
    let steps = children.iter().map(|task| Step::Spawn { cost_ns: 1_000, task: *task }).collect();
    graph.steps(name, NO_FAMILY, steps);
    let program = graph.on(Machine::plain(4));
    gains(&program, &Change::SpeedUpMaster { by: 10 }, 8_100.0 / 900.0);
    gains(&program, &Change::BatchTasks { by: 4 }, 8_100.0 / 2_400.0);

    let mut graph = Graph::new();
    let (name, family, tolls) = (graph.name("t"), graph.family(), graph.family());
    let mut before: Vec<u32> = Vec::new();
    for _ in 0..8 {
        let handed = graph.host(Role::Toll, 1_000, &before);
        graph.get(handed).family = tolls;
        let task = graph.work(name, family, 100);
        graph.after(task, handed);
        before = vec![handed];
    }
    let program = graph.on(Machine::plain(4));
    gains(&program, &Change::SpeedUpMaster { by: 10 }, 8_100.0 / 900.0);
    gains(&program, &Change::BatchTasks { by: 4 }, 8_100.0 / 2_400.0);
}

#[test]
fn a_changed_program_does_the_same_work_in_order() {
    let changes = [
        Change::BatchTasks { by: 4 },
        Change::SplitTasks { by: 3, name: None },
        Change::SplitLongest { name: None, into: 4 },
        Change::StartLongestFirst,
        Change::SplitAlone { into: 4 },
        Change::OverlapAlone,
        Change::ShareQueue,
        Change::ContinueInsteadOfWait,
        Change::RemovePauses,
        Change::UnblockLoop,
        Change::FreeCpus,
        Change::ShortenLock { by: 4 },
        Change::ShardLock { into: 8 },
    ];
    let mut done = vec![0; changes.len()];
    for kind in Kind::ALL {
        let program = Program::draw(*kind, 77);
        for (change, done) in changes.iter().zip(&mut done) {
            let Some(changed) = program.with(change) else { continue };
            let what = format!("{} {change:?}", kind.name());
            // Rounding up a piece adds a nanosecond to each of its steps.
            // A batch is handed out once.
            let slack = 20 * changed.tasks.len() as u64;
            let (new, old) = (changed.work_ns(), program.work_ns());
            let master = matches!(kind, Kind::SlowMaster | Kind::SlowConsumers);
            assert!(master || new.abs_diff(old) <= slack, "{what}: {new} ns of work, not {old}");
            let Ok(execution) = changed.try_execute() else { continue };
            conservation(&changed, &execution, &what);
            nesting(&execution, &what);
            *done += 1;
        }
    }
    for (change, done) in changes.iter().zip(done) {
        assert!(done > 0, "{change:?} was never done");
    }
}

#[test]
fn arrivals_stay_as_they_are() {
    for kind in [Kind::PoissonServer, Kind::Frames, Kind::Ticks, Kind::LoopOfRequests] {
        let program = Program::draw(kind, 3);
        let last = |program: &Program| program.tasks.iter().filter_map(|task| task.arrives_ns).max();
        for change in [Change::SplitTasks { by: 2, name: None }, Change::StartLongestFirst] {
            let changed = program.with(&change).expect("tasks");
            assert_eq!(last(&changed), last(&program));
            let found = speedup(&program, &change);
            assert!((0.9..1.2).contains(&found), "{kind:?} {change:?}: {found}");
        }
    }
}

#[test]
fn at_most_a_tenth_of_the_tasks_are_the_longest() {
    let mut program = equal(20, 1_000, 2);
    for index in 0..8 {
        program.tasks[index].body = Body::Work(10_000);
    }
    let changed = program.with(&Change::SplitLongest { name: None, into: 5 }).expect("long tasks");
    assert_eq!(changed.spans(), 18 + 2 * 5);
}
