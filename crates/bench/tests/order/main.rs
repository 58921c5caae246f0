//! The order of execution, by seed and plan. Fake probes write a log and move a fake clock.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{self, Write},
    rc::Rc,
};

use taskscale_bench::{
    fault::Fault,
    journal::Journal,
    limits::Limits,
    link::{Clock, Counted, Event, Launcher, Link, Listener, Observed},
    pass::Pass,
    plan::{Found, Plan, Selection},
    run::{Order, run},
};
use taskscale_model::{
    answer::Rule,
    machine::Disturbance,
    metric::Metric,
    missing::{Missing, Reading},
    protocol::{self, Answer, Description, RunRequest, Runtime, Sample, Variant, Workload},
    run_file::{Header, Kind, Record, Records, SCHEMA, SampleRecord, Status, Stop, Stopped, ThreadsRan},
    suite::Suite,
};

mod beside;
mod calibration;
mod counting;
mod faults;
mod hanging;
mod machine;
mod restart;
mod stop;
mod told;
mod turns;
mod waiting;
mod warming;

const MS: u64 = 1_000_000;

/// The variant of the kernel alone. It is no variant of the workload.
const KERNEL: &str = "loop";

/// What the fakes share: the time, the log, and how each variant behaves.
#[derive(Default)]
struct World {
    now_ns: u64,
    launches: Vec<String>,
    interrupt_after: Option<usize>,
    sampled: usize,
}

type Shared = Rc<RefCell<World>>;

/// How a fake variant behaves.
#[derive(Clone, Copy)]
enum Behaviour {
    /// Each task takes this long.
    Costs(u64),
    /// A task takes longer the more there are: all of them n to the power of so many tenths.
    Grows(i32),
    /// Each task takes this long, and one thread does it all.
    Alone(u64),
    /// Each task takes 1000 ns in the first two answers of a process, 300 up to the 18th, then 100:
    /// the tiers of a JIT.
    Tiers,
    /// Each answer of a process is a tenth cheaper than the one before it, from 1 ms a task on.
    Falls,
    /// Costs a third more in every other round, as if disturbed. The seed tells the round, and all
    /// rows of a round share it.
    Uneven,
    /// Has more threads than the tool looks at.
    Hidden,
    /// Answers wrongly from its n-th answer on.
    LiesFrom(usize),
    /// Answers wrongly when it is counted. Only counting has its seed.
    BearsNoCounting,
    /// Says that it needed twice the time that passed.
    Boasts,
    /// Tells microseconds of CPU time where nanoseconds are asked for.
    Microseconds,
    /// Tells one part in so many of its wall time and of its CPU time; nothing where that is 0.
    Tells(u64, u64),
    /// Sets up for so long before the timed part of every n-th answer of a process.
    SetsUp(u64, usize),
    /// Is stopped for a second in every n-th answer of a process.
    IsStopped(usize),
    /// Waits for the square of its tasks in microseconds in the first answer of a process.
    Starves,
    /// Never answers.
    Hangs,
    /// The system refuses to start it.
    DoesNotStart,
}

struct FakeLauncher {
    world: Shared,
    behaviours: BTreeMap<&'static str, Behaviour>,
    jit: bool,
    wake_ms: Option<u64>,
    counted: bool,
    next: usize,
}

struct FakeLink {
    world: Shared,
    behaviours: BTreeMap<&'static str, Behaviour>,
    jit: bool,
    wake_ms: Option<u64>,
    answers: usize,
    calls: u64,
}

impl FakeLauncher {
    fn link(&self) -> FakeLink {
        FakeLink {
            world: self.world.clone(),
            behaviours: self.behaviours.clone(),
            jit: self.jit,
            wake_ms: self.wake_ms,
            answers: 0,
            calls: 0,
        }
    }
}

impl Launcher for FakeLauncher {
    fn launch(&mut self, runtime: &str, _layout: u64) -> Result<Box<dyn Link>, Fault> {
        self.next += 1;
        self.world.borrow_mut().launches.push(runtime.to_owned());
        if self.behaviours.values().any(|behaviour| matches!(behaviour, Behaviour::DoesNotStart)) {
            return Err(Fault::Start { command: "fake".into(), why: "no".into() });
        }
        Ok(Box::new(self.link()))
    }

    fn counts(&self) -> &[Metric] {
        if self.counted { &[Metric::Allocs] } else { &[] }
    }

    fn launch_counted(&mut self, _runtime: &str, _pass: Pass) -> Result<Box<dyn Counted>, Fault> {
        Ok(Box::new(self.link()))
    }
}

impl Link for FakeLink {
    fn run(&mut self, request: &RunRequest, timeout_ns: u64) -> Result<Observed, Fault> {
        self.answers += 1;
        let behaviour = self.behaviours[request.variant.as_str()];
        let tasks = request.size * request.iterations;
        self.calls += tasks + counting::CALLS_OF_A_REQUEST;
        let rule = if request.workload == "spin" { Rule::Spin } else { Rule::Count };
        let right = rule.of_one(request.size, 0, request.seed).expect("a rule that computes");
        let mut answer = right.wrapping_mul(request.iterations);
        let mut told = 1;
        let cost = match behaviour {
            Behaviour::Costs(ns) | Behaviour::Alone(ns) => ns,
            Behaviour::Grows(tenths) => {
                (100.0 * (request.size as f64).powf(f64::from(tenths) / 10.0 - 1.0)) as u64
            }
            Behaviour::Tiers => match self.answers {
                ..=2 => 1_000,
                3..=18 => 300,
                _ => 100,
            },
            Behaviour::Uneven => [900, 1_200][request.seed as usize % 2],
            Behaviour::Falls => (1e6 * 0.9_f64.powi(self.answers as i32)) as u64,
            Behaviour::LiesFrom(from) if self.answers >= from => {
                answer += 1;
                1_000
            }
            Behaviour::BearsNoCounting => {
                answer += u64::from(request.seed == 1);
                1_000
            }
            Behaviour::Boasts => {
                told = 2;
                1_000
            }
            Behaviour::Hangs => {
                self.world.borrow_mut().now_ns += timeout_ns;
                return Err(Fault::TimedOut {
                    asked: request.variant.clone(),
                    seconds: timeout_ns as f64 / 1e9,
                });
            }
            Behaviour::LiesFrom(_)
            | Behaviour::DoesNotStart
            | Behaviour::Hidden
            | Behaviour::Starves
            | Behaviour::Microseconds
            | Behaviour::Tells(..)
            | Behaviour::SetsUp(..)
            | Behaviour::IsStopped(_) => 1_000,
        };
        let ns = tasks * cost;
        let set_up_ns = match behaviour {
            Behaviour::SetsUp(ns, every) if self.answers.is_multiple_of(every) => ns,
            _ => 0,
        };
        let is_stopped =
            matches!(behaviour, Behaviour::IsStopped(every) if self.answers.is_multiple_of(every));
        let waited_ns = waiting::waited_ns(behaviour, self.answers, request.size);
        let idle_ns = if is_stopped { 1_000 * MS } else { waited_ns };
        let part = |of: u64| ns.checked_div(of).unwrap_or(0);
        let (wall_ns, cpu_ns) = match behaviour {
            Behaviour::Tells(wall, cpu) => (part(wall), part(cpu)),
            Behaviour::Microseconds => (ns, ns / 1_000),
            _ => (told * ns + idle_ns, ns),
        };
        let mut world = self.world.borrow_mut();
        world.now_ns += ns + 10_000 + set_up_ns + idle_ns;
        world.sampled += 1;
        let sample = Sample {
            id: Some(request.id),
            wall_ns,
            cpu_ns,
            answer: Answer(answer),
            extra: serde_json::Map::new(),
        };
        Ok(Observed {
            sample,
            outside_wall_ns: ns + 10_000 + set_up_ns + idle_ns,
            outside_cpu_ns: Some(ns + 5_000 + set_up_ns),
            stopped: is_stopped.then_some(Stopped::Probe),
            threads: self.threads(request),
            run_delay_ns: Some(0),
            load: None,
            server_cpu_ns: None,
        })
    }

    fn shake_hands(&mut self, _: u64) -> Result<Description, Fault> {
        Ok(description(self.jit, self.wake_ms, self.behaviours.keys()))
    }

    fn keep_on(&mut self, place: u64) -> Option<u32> {
        u32::try_from(place % beside::CPUS).ok()
    }

    fn dismiss(&mut self) {}

    fn end(&mut self) {}
}

impl FakeLink {
    fn threads(&self, request: &RunRequest) -> Result<ThreadsRan, Missing> {
        match self.behaviours[request.variant.as_str()] {
            Behaviour::Hidden => Err(Missing::new("too many", "")),
            Behaviour::Alone(_) => Ok(ThreadsRan { ran: 1, busiest_share: 1.0 }),
            _ => Ok(ThreadsRan { ran: 2, busiest_share: 0.75 }),
        }
    }
}

struct FakeClock(Shared);

impl Clock for FakeClock {
    fn now_ns(&self) -> u64 {
        self.0.borrow().now_ns
    }

    fn disturbance(&mut self) -> Disturbance {
        Disturbance::default()
    }
}

struct FakeListener {
    world: Shared,
    words: Vec<String>,
}

impl Listener for FakeListener {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::CellStarted { number, of, size, .. } => {
                self.words.push(format!("cell {number}/{of} n={size}"))
            }
            Event::CellEnded => self.words.push("end".into()),
            Event::Calibrating { row } => self.words.push(format!("calibrating {}", row.key.runtime)),
            Event::TooShort { short, .. } => self.words.push(format!("{short:?}")),
            Event::Said { text, .. } => self.words.push(format!("said {text}")),
            Event::Sampled { .. } | Event::Counting { .. } | Event::RowEnded { .. } => (),
        }
    }

    fn interrupted(&self) -> bool {
        let world = self.world.borrow();
        world.interrupt_after.is_some_and(|after| world.sampled >= after)
    }
}

fn description<'a>(
    jit: bool,
    wake_ms: Option<u64>,
    variants: impl Iterator<Item = &'a &'static str>,
) -> Description {
    let variant = |name: &&'static str| Variant {
        name: (*name).into(),
        creates_task: true,
        only: Default::default(),
        max_size: None,
        unavailable: None,
        note: String::new(),
    };
    Description {
        protocol: protocol::PROTOCOL,
        runtime: Runtime {
            name: "fake".into(),
            language: "rust".into(),
            version: "1".into(),
            toolchain: String::new(),
        },
        clock: protocol::Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 },
        workers: None,
        counters: [("collections".into(), Reading::Value("fake".into()))].into(),
        jit,
        settle_ms: None,
        wake_ms,
        workloads: vec![Workload {
            name: "nop".into(),
            params: vec![],
            variants: variants.filter(|name| **name != KERNEL).map(variant).collect(),
        }],
    }
}

/// What a run did.
struct Done {
    records: Vec<Record>,
    words: Vec<String>,
    launches: usize,
}

impl Done {
    fn samples(&self) -> impl Iterator<Item = &SampleRecord> {
        self.records.iter().filter_map(|record| match record {
            Record::Sample(sample) => Some(sample),
            _ => None,
        })
    }

    /// The timed samples, a word per round: the rows in the order of measurement.
    fn rounds(&self) -> Vec<String> {
        let mut rounds: BTreeMap<u64, String> = BTreeMap::new();
        for sample in self.samples().filter(|sample| sample.kind == Kind::Timed) {
            let letter = char::from(b'A' + u8::try_from(sample.row).expect("few rows"));
            rounds.entry(sample.round).or_default().push(letter);
        }
        rounds.into_values().collect()
    }

    fn ends(&self) -> Vec<(u64, Status)> {
        let ends = self.records.iter().filter_map(|record| match record {
            Record::RowEnd(end) => Some((end.row, end.status.clone())),
            _ => None,
        });
        ends.collect()
    }
}

struct Setting {
    seed: u64,
    limits: Limits,
    sizes: &'static str,
    jit: bool,
    settle_ms: Option<u64>,
    wake_ms: Option<u64>,
    counted: bool,
    interrupt_after: Option<usize>,
    selection: Selection,
    /// More lines of the suite, before its workload.
    suite: &'static str,
    /// More lines of the workload.
    block: &'static str,
}

impl Default for Setting {
    fn default() -> Self {
        let limits = Limits {
            samples: 6,
            max_time_ns: 3_600_000 * MS,
            precision: 0.0,
            sample_ns: MS,
            timeout_ns: 1_000 * MS,
            restart_every: 0,
            ..Limits::default()
        };
        Setting {
            seed: 7,
            limits,
            sizes: "[100]",
            jit: false,
            settle_ms: None,
            wake_ms: None,
            counted: false,
            interrupt_after: None,
            selection: Selection::default(),
            suite: "",
            block: "",
        }
    }
}

fn measure(behaviours: &[(&'static str, Behaviour)], setting: Setting) -> Done {
    let mut out = Vec::new();
    let (written, words, launches) = measure_into(behaviours, setting, &mut out);
    written.expect("written");
    let text = String::from_utf8(out).expect("text");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    Done { records, words, launches }
}

/// Carries a run out whose file is `out`. Returns whether it could be written, what was told, and
/// how often a probe was started.
fn measure_into(
    behaviours: &[(&'static str, Behaviour)],
    setting: Setting,
    out: &mut dyn Write,
) -> (io::Result<()>, Vec<String>, usize) {
    let suite = Suite::parse(&format!(
        "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\n{}\n[[workload]]\nname = \"nop\"\nsizes = {}\n{}\n\
         answer = {{ rule = \"count\" }}",
        setting.suite, setting.sizes, setting.block
    ))
    .expect("suite");
    let mut about = description(setting.jit, setting.wake_ms, behaviours.iter().map(|(name, _)| name));
    about.settle_ms = setting.settle_ms;
    let found = Found {
        id: "fake".into(),
        asked: true,
        by_name: false,
        only_floors: false,
        old_of: None,
        description: Ok(about),
    };
    let plan = Plan::new(std::slice::from_ref(&suite), &[found], &setting.selection, &|_, _| setting.limits)
        .expect("plan");
    let world =
        Shared::new(RefCell::new(World { interrupt_after: setting.interrupt_after, ..World::default() }));
    let order = Order {
        header: Header {
            schema: SCHEMA.into(),
            tool: "0".into(),
            command: vec![],
            seed: setting.seed,
            started_unix_s: 0,
            machine: machine::unknown(),
            suites: vec![suite],
        },
        runtimes: vec![],
        plan,
        cpus: 1,
    };
    let mut launcher = FakeLauncher {
        world: world.clone(),
        behaviours: behaviours.iter().copied().collect(),
        jit: setting.jit,
        wake_ms: setting.wake_ms,
        counted: setting.counted,
        next: 0,
    };
    let mut listener = FakeListener { world: world.clone(), words: vec![] };
    let mut clock = FakeClock(world.clone());
    let written = run(order, &mut launcher, &mut clock, &mut listener, &mut Journal::new(out));
    let launches = world.borrow().launches.len();
    (written, listener.words, launches)
}

#[test]
fn rounds_are_mirrored_in_pairs_and_follow_from_the_seed() {
    let behaviours = [("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(200))];
    // A and B are the two variants. C is the control: A entered a second time.
    let rounds = measure(&behaviours, Setting::default()).rounds();
    assert_eq!(rounds.len(), 6);
    for pair in rounds.chunks(2) {
        let mirrored: String = pair[0].chars().rev().collect();
        assert_eq!(pair[1], mirrored, "{rounds:?}");
        let mut rows: Vec<char> = pair[0].chars().collect();
        rows.sort_unstable();
        assert_eq!(rows, ['A', 'B', 'C']);
    }
    assert_eq!(rounds, measure(&behaviours, Setting::default()).rounds(), "the same seed, the same order");
    let others: Vec<_> =
        (0..8).map(|seed| measure(&behaviours, Setting { seed, ..Setting::default() }).rounds()).collect();
    assert!(others.iter().any(|other| *other != rounds), "another seed, another order");
}

#[test]
fn a_row_is_verified_piloted_and_warmed_up_before_its_first_round() {
    let done = measure(&[("a", Behaviour::Costs(100))], Setting::default());
    for row in [0, 1] {
        let mut kinds: Vec<Kind> =
            done.samples().filter(|sample| sample.row == row).map(|sample| sample.kind).collect();
        kinds.dedup();
        assert_eq!(kinds, [Kind::Verify, Kind::Pilot, Kind::Warmup, Kind::Timed, Kind::Phases, Kind::Timed]);
    }
    let orders: Vec<u64> = done.samples().map(|sample| sample.order).collect();
    assert_eq!(
        orders,
        (0..orders.len() as u64).collect::<Vec<_>>(),
        "samples are numbered as they were taken"
    );
}

#[test]
fn rows_of_a_comparison_share_iterations_and_the_fastest_decides() {
    let done = measure(&[("a", Behaviour::Costs(100)), ("b", Behaviour::Costs(300))], Setting::default());
    let mut by_round: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for sample in done.samples().filter(|sample| sample.kind == Kind::Timed) {
        by_round.entry(sample.round).or_default().push(sample.iterations);
    }
    for (round, iterations) in by_round {
        assert!(iterations.windows(2).all(|pair| pair[0] == pair[1]), "round {round}: {iterations:?}");
        // 100 tasks of 100 ns take 10 us, so 100 iterations are the 1 ms asked for. Jitter adds up
        // to a fifth.
        assert!((100..=120).contains(&iterations[0]), "{iterations:?}");
    }
}

#[test]
fn a_slow_row_bounds_what_a_fast_one_may_ask_of_it() {
    let done = measure(&[("a", Behaviour::Costs(10)), ("b", Behaviour::Costs(10_000))], Setting::default());
    // One iteration of b is 1 ms. It may last 8 ms for the sake of a, so a's samples are 8
    // iterations.
    assert!(done.samples().filter(|sample| sample.kind == Kind::Timed).all(|sample| sample.iterations == 8));
}

/// CPU ns per task.
fn cost(sample: &SampleRecord) -> f64 {
    sample.cpu_ns as f64 / (sample.iterations * sample.size) as f64
}

#[test]
fn a_runtime_that_must_be_woken_works_untimed_before_each_sample_that_follows_a_pause() {
    let kinds = |wake_ms, cost| {
        let rows = [("a", Behaviour::Costs(cost)), ("b", Behaviour::Costs(cost))];
        let done = measure(&rows, Setting { wake_ms, ..Setting::default() });
        let of_b = done.samples().filter(|sample| sample.variant == "b" && sample.kind != Kind::Verify);
        of_b.map(|sample| (sample.kind, sample.iterations)).collect::<Vec<_>>()
    };
    // 100 tasks of 1 us make an iteration of 0.1 ms, so waking of 3 ms takes 30 of them. The other
    // two rows take 1 ms each.
    let woken = kinds(Some(3), 1_000);
    let before_timed: Vec<_> =
        woken.windows(2).filter(|pair| pair[1].0 == Kind::Timed).map(|pair| pair[0]).collect();
    assert_eq!(before_timed.len(), 6);
    // A row that is last in one round and first in the next did not pause.
    let slept = before_timed.iter().filter(|(kind, _)| *kind == Kind::Wake).count();
    assert!((3..=6).contains(&slept), "{before_timed:?}");
    assert!(before_timed.iter().all(|(kind, n)| *kind != Kind::Wake || *n == 30), "{before_timed:?}");
    assert!(kinds(None, 1_000).iter().all(|(kind, _)| *kind != Kind::Wake));
    // An iteration of 10 ms comes back within itself.
    assert!(kinds(Some(3), 100_000).iter().all(|(kind, _)| *kind != Kind::Wake));
}

#[test]
fn the_threads_that_ran_are_recorded_or_why_they_are_not_known() {
    let done = measure(&[("a", Behaviour::Costs(100)), ("b", Behaviour::Hidden)], Setting::default());
    for sample in done.samples() {
        let expected = match &*sample.variant {
            "a" => Reading::Value(ThreadsRan { ran: 2, busiest_share: 0.75 }),
            _ => Reading::missing("too many", ""),
        };
        assert_eq!(sample.threads, Some(expected));
    }
    let record = Record::Sample(done.samples().next().expect("a sample").clone());
    let line = serde_json::to_string(&record).expect("JSON");
    assert!(line.contains("\"threads\":{\"ran\":2,\"busiest_share\":0.75}"), "{line}");
}

#[test]
fn a_probe_that_lies_boasts_hangs_or_will_not_start_is_a_failed_row_and_the_rest_goes_on() {
    for (behaviour, words) in [
        (Behaviour::LiesFrom(1), "the answer is 101, right is 100"),
        (Behaviour::LiesFrom(9), "right is"),
        (Behaviour::Boasts, "a time that cannot be"),
        (Behaviour::Hangs, "no answer to b within 1 s"),
    ] {
        let done = measure(&[("a", Behaviour::Costs(100)), ("b", behaviour)], Setting::default());
        let ends: BTreeMap<u64, Status> = done.ends().into_iter().collect();
        let Status::Failed(missing) = &ends[&1] else { panic!("{words}: {ends:?}") };
        assert!(missing.reason.contains(words) && !missing.remedy.is_empty(), "{missing}");
        assert_eq!(ends[&0], Status::Ok { stop: Stop::Samples });
        assert_eq!(done.rounds().len(), 6);
        assert_eq!(done.ends().len(), 3, "every row ends once");
    }
    let done = measure(&[("a", Behaviour::DoesNotStart)], Setting::default());
    assert!(done.ends().iter().all(|(_, status)| matches!(status, Status::Failed(_))));
}
