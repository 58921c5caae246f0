//! What holds in every execution, and what is known in closed form.

mod checks;

use checks::{conservation, equal, nesting};
use taskscale_programs::{
    Kind, Program, Stuck,
    draw::{Draw, Durations},
    graph::Graph,
    machine::{Collection, Machine, Order, Preemption, Queues},
    program::{NO_FAMILY, Place, Role, Step},
};

#[test]
fn every_kind_conserves_work_and_order() {
    for kind in Kind::ALL {
        for seed in 1_000..1_004 {
            let program = Program::draw(*kind, seed);
            let execution = program.execute();
            let what = format!("{} {seed}", kind.name());
            conservation(&program, &execution, &what);
            nesting(&execution, &what);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_execution_and_another_does_not() {
    for kind in Kind::ALL {
        let once = Program::draw(*kind, 7);
        assert_eq!(once, Program::draw(*kind, 7), "{}", kind.name());
        assert_eq!(once.execute(), once.execute(), "{}", kind.name());
        assert_ne!(once, Program::draw(*kind, 8), "{}", kind.name());
    }
}

#[test]
fn equal_tasks_take_the_ceiling() {
    for (count, workers) in [(1, 1), (7, 3), (12, 4), (13, 4), (100, 64), (5, 8)] {
        let time = equal(count, 1_000, workers).execute().time_ns;
        assert_eq!(time, count.div_ceil(workers) as u64 * 1_000, "{count} on {workers}");
    }
}

#[test]
fn dispatch_adds_to_every_task() {
    let mut program = equal(10, 1_000, 2);
    program.machine.dispatch.own_ns = 100.0;
    assert_eq!(program.execute().time_ns, 5 * 1_100);
    // One worker at a time gets a task: ten tasks, ten turns, and the last task.
    program.machine.dispatch.own_ns = 0.0;
    program.machine.dispatch.held_ns = 2_000.0;
    assert_eq!(program.execute().time_ns, 10 * 2_000 + 1_000);
}

#[test]
fn a_chain_takes_the_sum_and_a_barrier_the_longest() {
    let mut draw = Draw::new(4);
    let mut graph = Graph::new();
    let name = graph.name("t");
    let lengths: Vec<u64> = (0..50).map(|_| Durations::Exponential.draw(&mut draw, 1e4)).collect();
    for (index, ns) in lengths.iter().enumerate() {
        let id = graph.work(name, NO_FAMILY, *ns);
        if index > 0 {
            graph.after(id, id - 1);
        }
    }
    assert_eq!(graph.on(Machine::plain(8)).execute().time_ns, lengths.iter().sum::<u64>());

    let mut graph = Graph::new();
    let (mut before, mut expected) = (None, 0);
    for round in lengths.chunks(5) {
        expected += round.iter().max().expect("five");
        let ids: Vec<u32> = round.iter().map(|ns| graph.work(name, NO_FAMILY, *ns)).collect();
        for id in &ids {
            graph.get(*id).after.extend(before);
        }
        before = Some(graph.barrier(&ids));
    }
    assert_eq!(graph.on(Machine::plain(5)).execute().time_ns, expected);
}

#[test]
fn longest_first_beats_longest_last() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    for ns in [1, 1, 1, 1, 1, 1, 6] {
        graph.work(name, NO_FAMILY, ns * 1_000);
    }
    let mut program = graph.on(Machine::plain(2));
    assert_eq!(program.execute().time_ns, 9_000);
    program.machine.order = Order::LongestFirst;
    assert_eq!(program.execute().time_ns, 6_000);
}

/// The mean wait of M/M/c by Erlang's formula C.
fn erlang_wait(arrivals: f64, service: f64, servers: u32) -> f64 {
    let load = arrivals * service;
    let mut term = 1.0;
    let mut sum = 1.0;
    for server in 1..servers {
        term *= load / f64::from(server);
        sum += term;
    }
    let last = term * load / f64::from(servers) / (1.0 - load / f64::from(servers));
    last / (sum + last) * service / (f64::from(servers) - load)
}

#[test]
fn waiting_of_random_requests_is_what_erlang_says() {
    for (servers, load) in [(1, 0.5), (2, 0.7), (4, 0.8), (16, 0.9)] {
        let service = 1e6;
        let every = service / f64::from(servers) / load;
        let mut draw = Draw::of(5, u64::from(servers));
        let mut graph = Graph::new();
        let name = graph.name("request");
        let (mut now, mut work) = (0.0, 0);
        let count = 200_000;
        for _ in 0..count {
            now += draw.exponential(every);
            let ns = Durations::Exponential.draw(&mut draw, service);
            work += ns;
            let id = graph.work(name, NO_FAMILY, ns);
            graph.get(id).arrives_ns = Some(now as u64);
            graph.get(id).answers = Some((now as u64, 1));
        }
        let execution = graph.on(Machine::plain(servers as usize)).execute();
        let wait = execution.response_ns.expect("requests") - work as f64 / f64::from(count);
        let expected = erlang_wait(1.0 / every, service, servers);
        assert!((wait / expected - 1.0).abs() < 0.08, "{servers}: {wait} for {expected}");
    }
}

#[test]
fn a_lock_serves_one_at_a_time_and_readers_share_it() {
    let run = |step: Step| {
        let mut graph = Graph::new();
        let name = graph.name("t");
        for _ in 0..8 {
            graph.steps(name, NO_FAMILY, vec![Step::Compute(10), step]);
        }
        graph.on(Machine::plain(8)).execute().time_ns
    };
    assert_eq!(run(Step::Lock { lock: 0, ns: 100 }), 810);
    assert_eq!(run(Step::Read { lock: 0, ns: 100 }), 110);
}

#[test]
fn pauses_take_their_time_and_collections_stop_the_world() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    let first = graph.work(name, NO_FAMILY, 100);
    let pause = graph.host(Role::Pause, 1_000, &[first]);
    let last = graph.work(name, NO_FAMILY, 100);
    graph.after(last, pause);
    assert_eq!(graph.on(Machine::plain(2)).execute().time_ns, 1_200);

    for between_tasks in [true, false] {
        let mut program = equal(40, 1_000, 4);
        program.machine.collection = Some(Collection { every_work_ns: 12_000, pause_ns: 500, between_tasks });
        assert_eq!(program.execute().time_ns, 10_000 + 3 * 500, "{between_tasks}");
    }
}

#[test]
fn what_others_take_of_a_core_is_run_delay() {
    let mut program = equal(400, 1_000_000, 4);
    program.machine.preempted = vec![Some(Preemption { every_ns: 3e5, for_ns: 1e5 }); 4];
    let execution = program.execute();
    let expected = 100.0 * 1e6 * 4.0 / 3.0;
    assert!((execution.time_ns as f64 / expected - 1.0).abs() < 0.03, "{}", execution.time_ns);
    assert!((execution.preempted() - 0.25).abs() < 0.02, "{}", execution.preempted());

    let mut program = equal(80, 1_000_000, 8);
    program.machine.cores = Some(2);
    let execution = program.execute();
    assert_eq!(execution.time_ns, 40_000_000);
    assert!((execution.preempted() - 0.75).abs() < 1e-6);
}

#[test]
fn a_slow_worker_takes_longer() {
    let mut program = equal(4, 1_000, 1);
    program.machine.speeds = vec![0.5];
    assert_eq!(program.execute().time_ns, 8_000);
}

#[test]
fn a_parent_waits_or_helps() {
    let run = |help, workers| {
        let mut graph = Graph::new();
        let name = graph.name("t");
        let children: Vec<u32> = (0..4).map(|_| graph.work(name, NO_FAMILY, 1_000)).collect();
        let mut steps: Vec<Step> =
            children.iter().map(|task| Step::Spawn { cost_ns: 0, task: *task }).collect();
        steps.extend([Step::Join { help }, Step::Compute(10)]);
        let parent = graph.steps(name, NO_FAMILY, steps);
        for child in children {
            graph.get(child).parent = Some(parent);
        }
        graph.on(Machine::plain(workers)).try_execute().map(|execution| execution.time_ns)
    };
    assert_eq!(run(true, 2), Ok(2_010));
    assert_eq!(run(false, 2), Ok(4_010));
    assert_eq!(run(false, 5), Ok(1_010));
    assert_eq!(run(true, 1), Ok(4_010));
    assert_eq!(run(false, 1), Err(Stuck { complete: 0, tasks: 5 }));
}

#[test]
fn pinned_tasks_stay_and_thieves_take_the_rest() {
    let mut graph = Graph::new();
    let name = graph.name("t");
    for _ in 0..4 {
        let id = graph.work(name, NO_FAMILY, 1_000);
        graph.pin(id, 1);
    }
    let program = graph.on(Machine::plain(4));
    let execution = program.execute();
    assert_eq!(execution.time_ns, 4_000);
    assert!(execution.spans.iter().all(|span| span.worker == 1));
    let mut free = program.clone();
    free.machine.queues = Queues::Stealing;
    for task in &mut free.tasks {
        task.place = Place::Open;
    }
    assert_eq!(free.execute().time_ns, 1_000);
}
