//! Rows whose memory is read: each process is alone, answers once, and is not started where memory
//! would not hold its tasks.

use std::{cell::RefCell, rc::Rc};

use taskscale_bench::{
    fault::Fault,
    journal::Journal,
    limits::Limits,
    link::{Clock, Launcher, Link, Observed, Silent},
    plan::{Found, Plan, Selection},
    run::{Order, run},
};
use taskscale_model::{
    machine::{Disturbance, Machine},
    missing::{Missing, Reading},
    params::ParamValue,
    protocol::{self, Answer, Description, Param, RunRequest, Runtime, Sample, Variant, Workload},
    run_file::{Header, Kind, Record, SCHEMA, SampleRecord, Status},
    suite::Suite,
};

const MB: u64 = 1_000_000;

#[derive(Default)]
struct World {
    now_ns: u64,
    alive: usize,
    most_alive: usize,
    /// The requests of each process.
    processes: Vec<Vec<RunRequest>>,
    /// How many tasks of the largest size go on at once.
    early: u64,
}

type Shared = Rc<RefCell<World>>;

struct Fake(Shared);

struct FakeLink(Shared, usize);

struct FakeClock(Shared, Option<u64>);

impl Launcher for Fake {
    fn launch(&mut self, _runtime: &str, _layout: u64) -> Result<Box<dyn Link>, Fault> {
        let mut world = self.0.borrow_mut();
        world.alive += 1;
        world.most_alive = world.most_alive.max(world.alive);
        world.processes.push(Vec::new());
        Ok(Box::new(FakeLink(Rc::clone(&self.0), world.processes.len() - 1)))
    }
}

impl Link for FakeLink {
    fn shake_hands(&mut self, _timeout_ns: u64) -> Result<Description, Fault> {
        Ok(description())
    }

    fn run(&mut self, request: &RunRequest, _timeout_ns: u64) -> Result<Observed, Fault> {
        let mut world = self.0.borrow_mut();
        world.now_ns += 50 * MB;
        world.processes[self.1].push(request.clone());
        let waiting = request.size - world.early;
        // A task holds 1,000 bytes, the first brings 5 MB, and the process had 10 MB.
        let told = serde_json::json!({
            "waiting": waiting, "resident_before": 10 * MB, "resident_waiting": 15 * MB + 1_000 * request.size,
        });
        let sample = Sample {
            id: Some(request.id),
            wall_ns: MB,
            cpu_ns: MB,
            answer: Answer(request.size * request.iterations),
            extra: told.as_object().cloned().expect("an object"),
        };
        let threads = Err(Missing::new("a fake", ""));
        Ok(Observed {
            sample,
            outside_wall_ns: 50 * MB,
            outside_cpu_ns: Some(50 * MB),
            stopped: None,
            threads,
            run_delay_ns: None,
            load: None,
            server_cpu_ns: None,
        })
    }

    fn dismiss(&mut self) {}

    fn end(&mut self) {
        self.0.borrow_mut().alive -= 1;
    }
}

impl Clock for FakeClock {
    fn now_ns(&self) -> u64 {
        self.0.borrow().now_ns
    }

    fn disturbance(&mut self) -> Disturbance {
        Disturbance::default()
    }

    fn memory_free(&self) -> Option<u64> {
        self.1
    }
}

/// A runtime whose code is compiled while it runs, and that has to be woken after a pause.
fn description() -> Description {
    let variant = |name: &str| Variant {
        name: name.into(),
        creates_task: true,
        only: Default::default(),
        max_size: (name == "thread").then_some(1_000),
        unavailable: None,
        note: String::new(),
    };
    let resident = Param {
        name: "resident".into(),
        default: ParamValue::Flag(false),
        choices: vec![],
        unavailable: Default::default(),
        help: String::new(),
    };
    let parked = Workload {
        name: "parked".into(),
        params: vec![resident],
        variants: vec![variant("task"), variant("thread")],
    };
    Description {
        counters: Default::default(),
        protocol: protocol::PROTOCOL,
        runtime: Runtime {
            name: "fake".into(),
            language: "x".into(),
            version: "1".into(),
            toolchain: String::new(),
        },
        clock: protocol::Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 },
        workers: None,
        jit: true,
        settle_ms: Some(1_000),
        wake_ms: Some(25),
        workloads: vec![parked],
    }
}

fn machine() -> Machine {
    fn missing<T>() -> Reading<T> {
        Reading::missing("a fake machine", "")
    }
    Machine {
        cpu_model: missing(),
        cpus_usable: missing(),
        cpus: missing(),
        threads_per_core: missing(),
        numa_nodes: missing(),
        cpu_quota: missing(),
        governor: missing(),
        memory_bytes: missing(),
        kernel: missing(),
        clock_source: missing(),
        load_1m: missing(),
        virtualised: missing(),
        fingerprint: String::new(),
    }
}

struct Done {
    records: Vec<Record>,
    world: Shared,
}

impl Done {
    fn samples(&self) -> Vec<&SampleRecord> {
        let samples = self.records.iter().filter_map(|record| match record {
            Record::Sample(sample) => Some(sample),
            _ => None,
        });
        samples.collect()
    }

    fn missing(&self) -> Vec<String> {
        let why = |record: &Record| match record {
            Record::RowEnd(end) => match &end.status {
                Status::Failed(missing) | Status::Skipped(missing) => Some(missing.reason.clone()),
                Status::Ok { .. } => None,
            },
            _ => None,
        };
        self.records.iter().filter_map(why).collect()
    }
}

fn measure(limits: Limits, free: Option<u64>, early: u64) -> Done {
    let suite = Suite::parse(
        "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\nbaseline = { fake = [\"task\"] }\n[[workload]]\n\
         name = \"parked\"\nsizes = [1000, 10000, 100000]\nparams = { resident = true }\n\
         answer = { rule = \"count\" }",
    )
    .expect("a suite");
    let found = |id: &str| Found {
        id: id.into(),
        asked: true,
        by_name: false,
        only_floors: false,
        old_of: None,
        description: Ok(description()),
    };
    let runtimes = [found("one"), found("other")];
    let plan = Plan::new(std::slice::from_ref(&suite), &runtimes, &Selection::default(), &|_, _| limits);
    let world = Shared::new(RefCell::new(World { early, ..World::default() }));
    let order = Order {
        header: Header {
            schema: SCHEMA.into(),
            tool: "0".into(),
            command: vec![],
            seed: 7,
            started_unix_s: 0,
            machine: machine(),
            suites: vec![suite],
        },
        runtimes: vec![],
        plan: plan.expect("a plan"),
        cpus: 1,
    };
    let mut out = Vec::new();
    run(
        order,
        &mut Fake(Rc::clone(&world)),
        &mut FakeClock(Rc::clone(&world), free),
        &mut Silent,
        &mut Journal::new(&mut out),
    )
    .expect("written");
    let text = String::from_utf8(out).expect("text");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    Done { records, world }
}

#[test]
fn each_process_is_alone_and_answers_once() {
    let in_one_go = Limits { samples: 4, restart_every: 2, ..Limits::default() };
    let in_turns = Limits { budget_ns: Some(60_000 * MB), restart_every: 1, ..in_one_go };
    for limits in [in_one_go, in_turns] {
        let done = measure(limits, None, 0);
        let world = done.world.borrow();
        assert_eq!((world.most_alive, world.alive), (1, 0));
        // Two runtimes; a task at three sizes, a thread at one; four processes each.
        assert_eq!(world.processes.len(), 2 * (3 + 1) * 4);
        for requests in &world.processes {
            let [request] = requests.as_slice() else { panic!("{requests:?}") };
            assert_eq!((request.iterations, request.params.len()), (1, 1), "{request:?}");
            assert_eq!(request.params.get("resident"), Some(&ParamValue::Flag(true)));
        }
        assert!(done.samples().iter().all(|sample| sample.kind == Kind::Timed));
        let limits = done.missing();
        assert_eq!(limits.len(), 2 * 2, "threads at the two larger sizes: {limits:?}");
        assert!(limits.iter().all(|why| why.contains("at most 1000 tasks")), "{limits:?}");
    }
}

#[test]
fn a_size_that_memory_does_not_hold_is_a_row_with_the_reason() {
    // 25 MB at 10,000, 1,000 bytes a task: 115 MB at 100,000, half as much again while they are
    // made.
    let done = measure(Limits { samples: 1, ..Limits::default() }, Some(170 * MB), 0);
    let said = done.missing();
    let memory: Vec<&String> = said.iter().filter(|why| why.contains("GiB")).collect();
    assert_eq!(memory.len(), 2, "{said:?}");
    assert!(
        memory[0].starts_with("100,000 tasks may take 0.2 GiB while they are made, by 1,000 bytes a task")
    );
    let done = measure(Limits { samples: 1, ..Limits::default() }, Some(175 * MB), 0);
    assert!(done.missing().iter().all(|why| !why.contains("GiB")));
}

#[test]
fn a_process_in_which_a_task_goes_on_too_early_fails_its_row() {
    let done = measure(Limits { samples: 1, ..Limits::default() }, None, 1);
    assert!(done.samples().is_empty());
    let said = done.missing();
    let early = |why: &&String| why.contains("counted waiting 999, right is 1000");
    assert_eq!(said.iter().filter(early).count(), 4, "a task and a thread of each runtime: {said:?}");
}
