//! Four machines, from the texts of their kernels to what a user sees. Made-up clocks stand in for
//! the measurements.

use taskscale_analysis::checkup;
use taskscale_model::{
    doctor::{
        Checkup, Severity,
        facts::{Clock, Facts, Measured, Moved, Neighbour},
    },
    missing::Reading,
};
use taskscale_report::{Style, doctor_json, doctor_markdown, doctor_overview, doctor_text};
use taskscale_sys::{
    doctor::{bench::Bench, measure, read},
    machine::Captured,
};

const BARE_METAL: &str = include_str!("../../analysis/tests/data/doctor/bare-metal.txt");
const CONTAINER_V2: &str = include_str!("../../analysis/tests/data/doctor/container-v2.txt");
const CGROUP_V1: &str = include_str!("../../analysis/tests/data/doctor/cgroup-v1.txt");
const BIG_LITTLE: &str = include_str!("../../analysis/tests/data/doctor/big-little.txt");

/// A machine whose noise is known.
struct Made {
    wall: u64,
    cpu: u64,
    delay: u64,
    /// Cost of a clock in ns: wall, CPU.
    costs: (u64, u64),
    /// The most thousandths by which work takes longer.
    noise: u64,
    /// The most thousandths by which a walk through memory takes longer.
    cache_noise: u64,
    /// Wall time in ns that others take in about every fourth piece of work.
    others: u64,
    /// Wall time in ns that no counter accounts for.
    hidden: u64,
    random: u64,
    /// How long work takes while a neighbour is busy, in thousandths.
    slowdown: u64,
}

impl Made {
    fn quiet() -> Self {
        Made {
            wall: 0,
            cpu: 0,
            delay: 0,
            costs: (22, 240),
            noise: 2,
            cache_noise: 20,
            others: 0,
            hidden: 0,
            random: 1,
            slowdown: 1_000,
        }
    }

    /// The generator of Numerical Recipes. Any generator will do if it is the same everywhere.
    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % (1 << 32);
        (self.random >> 8) % below.max(1)
    }
}

impl Bench for Made {
    fn clock_ns(&mut self, clock: Clock) -> u64 {
        let cost = if clock == Clock::Wall { self.costs.0 } else { self.costs.1 };
        self.wall += cost;
        self.cpu += cost;
        if clock == Clock::Wall { self.wall } else { self.cpu }
    }

    fn run_delay_ns(&mut self) -> Option<u64> {
        Some(self.delay)
    }

    fn work(&mut self, steps: u64) {
        let noise = self.random(self.noise + 1);
        let took = steps * (1_000 + noise) / 1_000 * self.slowdown / 1_000;
        let others = if self.random(4) == 0 { self.others } else { 0 };
        self.cpu += took;
        self.delay += others;
        self.wall += took + others + self.hidden;
    }

    fn walk(&mut self, steps: u64) {
        let noise = self.random(self.cache_noise + 1);
        self.cpu += steps * (1_000 + noise) / 1_000;
        self.wall += steps;
    }

    fn system_call(&mut self) {
        self.cpu += 95;
    }
}

/// Reads the machine and measures it with the made-up clocks. `neighbours` holds CPU, other CPU,
/// siblings, thousandths.
fn examined(files: &str, mut bench: Made, moved: Moved, neighbours: &[(u32, u32, bool, u64)]) -> Facts {
    let mut facts = read(&Captured::parse(files));
    let clocks = measure::clocks(&mut bench);
    let system_call_ns = measure::system_call(&mut bench);
    let steps = measure::steps_of_a_slice(&mut bench);
    let start = (bench.wall, bench.cpu);
    let slices = measure::slices(&mut bench, steps);
    let elapsed_ns = bench.wall - start.0;
    let own_cpu_ns = bench.cpu - start.1;
    let moved = Moved {
        elapsed_ns,
        own_cpu_ns,
        all_cpu_ns: moved.all_cpu_ns.map(|others| own_cpu_ns + others),
        ..moved
    };
    let neighbours = neighbours.iter().map(|&(cpu, other, siblings, thousandths)| {
        let pair = |_| {
            let [rest, busy] = [1_000, thousandths].map(|slowdown| {
                bench.slowdown = slowdown;
                let before = bench.clock_ns(Clock::ThreadCpu);
                bench.work(3 * steps);
                (bench.clock_ns(Clock::ThreadCpu) - before) as f64
            });
            (rest, busy)
        };
        Neighbour { cpu, other, siblings, pairs: (0..16).map(pair).collect() }
    });
    let neighbours = neighbours.collect();
    let walks = measure::walks(&mut bench);
    facts.measured = Measured { neighbours, clocks, system_call_ns, slices, walks, moved };
    facts
}

fn quiet() -> Moved {
    Moved {
        all_cpu_ns: Some(10_000_000),
        steal_ns: Some(0),
        cpu_pressure_us: Some(800),
        memory_pressure_us: Some(0),
        heat_events: Some(0),
        swapped_pages: Some(0),
        ..Moved::default()
    }
}

fn bare_metal() -> Checkup {
    let mut facts =
        examined(BARE_METAL, Made::quiet(), quiet(), &[(0, 8, true, 1_820), (0, 1, false, 1_031)]);
    facts.kernel.hardware_counters = Reading::Value(());
    checkup(&facts, "0.0.0")
}

fn container() -> Checkup {
    let bench = Made { others: 3_000_000, hidden: 90_000, noise: 40, ..Made::quiet() };
    let moved = Moved {
        all_cpu_ns: Some(2_900_000_000),
        steal_ns: Some(40_000_000),
        cpu_pressure_us: Some(400_000),
        throttled_us: Some(310_000),
        heat_events: None,
        ..quiet()
    };
    let mut facts = examined(CONTAINER_V2, bench, moved, &[(0, 1, true, 1_600), (0, 2, false, 1_000)]);
    facts.kernel.hardware_counters = Reading::missing(
        "the kernel does not let this user count (perf_event_paranoid, or a container's filter)",
        "sudo sysctl kernel.perf_event_paranoid=2, or grant CAP_PERFMON",
    );
    checkup(&facts, "0.0.0")
}

fn old_server() -> Checkup {
    let bench = Made { costs: (1_340, 1_600), noise: 10, ..Made::quiet() };
    let moved = Moved { cpu_pressure_us: None, swapped_pages: Some(412), ..quiet() };
    let mut facts = examined(CGROUP_V1, bench, moved, &[]);
    facts.kernel.hardware_counters = Reading::missing("this kernel was built without perf events", "");
    checkup(&facts, "0.0.0")
}

fn laptop() -> Checkup {
    let bench = Made { noise: 25, cache_noise: 500, others: 400_000, ..Made::quiet() };
    let moved = Moved { heat_events: None, steal_ns: None, ..quiet() };
    let mut facts = examined(BIG_LITTLE, bench, moved, &[(0, 1, false, 1_004)]);
    facts.kernel.hardware_counters = Reading::Value(());
    checkup(&facts, "0.0.0")
}

#[test]
fn a_server_on_bare_metal() {
    insta::assert_snapshot!(doctor_text(&bare_metal(), &Style::default()));
}

#[test]
fn a_throttled_container() {
    insta::assert_snapshot!(doctor_text(&container(), &Style::default()));
}

#[test]
fn an_old_server_with_version_1_of_control_groups() {
    insta::assert_snapshot!(doctor_text(&old_server(), &Style::default()));
}

#[test]
fn a_laptop_with_two_kinds_of_core() {
    insta::assert_snapshot!(doctor_text(&laptop(), &Style::default()));
}

#[test]
fn markdown_of_a_throttled_container() {
    insta::assert_snapshot!(doctor_markdown(&container()));
}

#[test]
fn json_is_read_back() {
    let checkup = container();
    let text = doctor_json(&checkup);
    assert!(text.starts_with("{\n  \"schema\": \"taskscale.doctor/1\""));
    assert_eq!(serde_json::from_str::<Checkup>(&text).expect("its own text"), checkup);
}

#[test]
fn nothing_readable_is_a_checkup_too() {
    let facts = read(&Captured::default());
    let checkup = checkup(&facts, "0.0.0");
    assert!(checkup.findings.iter().any(|finding| finding.found.value().is_none()));
    assert!(checkup.findings.iter().all(|finding| finding.severity != Severity::Warning));
    let text = doctor_text(&checkup, &Style::default());
    assert!(text.contains("Not known here") && text.contains("CPU model unknown"), "{text}");
}

#[test]
fn what_matters_most_comes_first_and_each_subject_once() {
    for checkup in [bare_metal(), container(), old_server(), laptop()] {
        assert!(checkup.findings.is_sorted_by_key(|finding| finding.severity));
        let mut subjects: Vec<&str> = checkup.findings.iter().map(|finding| &*finding.subject).collect();
        subjects.sort_unstable();
        let all = subjects.len();
        subjects.dedup();
        assert_eq!(subjects.len(), all);
        for finding in &checkup.findings {
            // A finding to worry about says what to do. One that is fine does not.
            assert!(finding.severity != Severity::Ok || finding.remedy.is_empty(), "{finding:?}");
            assert!(finding.severity != Severity::Warning || !finding.remedy.is_empty(), "{finding:?}");
            assert!(!finding.affects.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn lines_stay_within_the_width() {
    for width in [80, 110, 140] {
        for checkup in [bare_metal(), container(), old_server(), laptop()] {
            for line in doctor_text(&checkup, &Style { width, ..Style::default() }).lines() {
                // A path that is longer than a line cannot be broken.
                let breakable = line.trim_start().contains(' ');
                assert!(line.chars().count() <= width || !breakable, "{width}: {line}");
            }
        }
    }
}

#[test]
fn the_texts_of_a_kernel_cannot_drive_the_terminal() {
    let mut facts = read(&Captured::parse(BARE_METAL));
    facts.machine.clock_source = Reading::Value("tsc\x1b[31m".into());
    facts.machine.cpu_model = Reading::Value("\x1b]0;x\x07".into());
    let checkup = checkup(&facts, "0.0.0");
    assert!(!doctor_text(&checkup, &Style::default()).contains('\x1b'));
    assert!(!doctor_markdown(&checkup).contains('\x1b'));
}

#[test]
fn the_screen_of_a_throttled_container() {
    insta::assert_snapshot!(doctor_overview(&container(), &Style::default()));
}

#[test]
fn any_checkup_fits_one_screen_and_says_what_to_judge_by() {
    for (checkup, advice) in [
        (bare_metal(), "fit for CPU time: no ("),
        (container(), "fit for CPU time: no ("),
        (old_server(), "fit for CPU time: "),
        (laptop(), "fit for CPU time: "),
    ] {
        let screen = doctor_overview(&checkup, &Style::default());
        assert!(screen.lines().count() <= 40, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        let fourth = screen.lines().nth(3).unwrap_or_default();
        assert!(fourth.contains(advice), "{screen}");
    }
}
