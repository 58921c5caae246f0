//! Tables of how throughput grows with workers, from a run file to what is shown.

use serde_json::json;
use taskscale_analysis::{Run, parse_run, summarize};
use taskscale_model::{
    missing::Reading,
    params::ParamValue,
    run_file::{Kind, Role},
    suite::ScaleOf,
    summary::{FindingKind, Scale},
};
use taskscale_report::{Style, markdown, overview, page, text};

const QUICK: &str = include_str!("../../analysis/tests/data/quick.jsonl");
const TITLE: &str = "fanout, shared by workers";

/// A kept run whose first rows are one variant with these numbers of workers, with a process for
/// each round. A task takes as many microseconds of wall time as `task_us` says of a number of
/// workers and a process. Each worker had that part of the tasks, and that percentage of the time,
/// which `part` gives.
fn of_workers(
    workers: &[u64],
    task_us: impl Fn(u64, u64) -> u64,
    part: impl Fn(u64, u64) -> (u64, u64),
) -> Run {
    let mut run = parse_run(QUICK).expect("a run file");
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        block.title = TITLE.into();
        block.scale =
            Some(ScaleOf { param: "workers".into(), unit: "request".into(), to_cpus: false, work_ns: None });
    }
    run.rows.truncate(workers.len());
    // The order of the plan is not that of the numbers.
    for (row, workers) in run.rows.iter_mut().zip(workers.iter().rev()) {
        (row.role, row.key.series.table) = (Role::Row, TITLE.into());
        (row.key.series.runtime, row.key.series.variant) = ("node".into(), "sync".into());
        let count = [("workers".to_owned(), ParamValue::Integer(*workers))];
        (row.key.series.params, row.key.series.case) = (count.clone().into(), count.into());
    }
    run.rows.last_mut().expect("a row").key.series.case.clear();
    run.samples.retain(|sample| run.rows.iter().any(|row| row.row == sample.row));
    for sample in run.samples.iter_mut().filter(|sample| sample.kind == Kind::Timed) {
        let row = run.rows.iter().find(|row| row.row == sample.row).expect("its row");
        let Some(ParamValue::Integer(workers)) = row.key.params.get("workers") else { panic!("no workers") };
        let tasks = sample.size * sample.iterations;
        sample.process = sample.round;
        sample.wall_ns = 1_000 * tasks * task_us(*workers, sample.process);
        sample.cpu_ns = 3_000 * tasks;
        let parts: Vec<(u64, u64)> = (0..*workers).map(|worker| part(*workers, worker)).collect();
        let whole: u64 = parts.iter().map(|(tasks, _)| tasks).sum();
        let requests: Vec<u64> = parts.iter().map(|(part, _)| tasks * part / whole).collect();
        let walls: Vec<u64> = parts.iter().map(|(_, percent)| sample.wall_ns * percent / 100).collect();
        sample.extra.insert("worker_requests".into(), json!(requests));
        sample.extra.insert("worker_wall_ns".into(), json!(walls));
    }
    run
}

/// Two workers need half the time and four need it too: there are two CPUs.
fn on_two_cpus(workers: u64, _: u64) -> u64 {
    if workers == 1 { 100 } else { 50 }
}

fn even(_: u64, _: u64) -> (u64, u64) {
    (1, 100)
}

fn shown(run: &Run) -> String {
    let screen = overview(&summarize(run), &Style::default(), "last");
    assert!(screen.lines().count() <= 40, "{screen}");
    for line in screen.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    screen
}

#[track_caller]
fn near(got: f64, right: f64) {
    assert!((got / right - 1.0).abs() < 1e-2, "{got} is not {right}");
}

#[test]
fn tasks_a_second_are_told_beside_the_fewest_workers() {
    let run = of_workers(&[1, 2, 4], on_two_cpus, even);
    let summary = summarize(&run);
    let table = &summary.overview.scales[0];
    assert_eq!((&*table.table, &*table.param, &*table.unit), (TITLE, "workers", "request"));
    let workers: Vec<(u64, u64)> = table.rows.iter().map(|row| (row.workers, row.base)).collect();
    assert_eq!(workers, [(1, 1), (2, 1), (4, 1)]);
    assert!(table.rows.iter().all(|row| (&*row.runtime, &*row.variant) == ("node", "sync")));
    for (row, (per_s, times, each)) in
        table.rows.iter().zip([(1e4, 1.0, 1e4), (2e4, 2.0, 1e4), (2e4, 2.0, 5e3)])
    {
        near(row.per_s, per_s);
        near(row.times, times);
        near(row.cpu_ns, 3_000.0);
        let told = row.each.expect("what each worker did");
        near(told.slowest_per_s, each);
        near(told.fastest_per_s, each);
        near(told.least_share * row.workers as f64, 1.0);
        assert_eq!(row.ci.is_some(), row.workers != row.base, "{row:?}");
    }
    assert!(summary.overview.rankings.is_empty(), "workers are not ranked");

    let screen = shown(&run);
    assert!(screen.contains("requests a second by wall time: fanout, shared by workers\n"), "{screen}");
    for line in [
        "          workers    in all        times [95 %] each worker\n",
        "node sync       1    10,000                base       10.0k\n",
        "                2    20,000  2.00x [2.00, 2.00]       10.0k\n",
        "                4    20,000  2.00x [2.00, 2.00]       5,000\n",
        "times: those of 1 worker of the same variant, paired by round\n",
        "every worker had an even share of the requests\n",
    ] {
        assert!(screen.contains(line), "{line:?} is not in\n{screen}");
    }
    assert!(text(&summary, &Style::default()).contains("4    20,000  2.00x [2.00, 2.00]"));
    let line = r"| node | sync | 4 | 20,000 | 2.00x \[2.00, 2.00\] | 50 % | 5,000 | 25 % | 3.00 us |";
    assert!(markdown(&summary).contains(line), "{}", markdown(&summary));
    let cells = "<td class=\"n\">4</td><td class=\"n\">20,000</td><td class=\"n\">2.00x [2.00, 2.00]</td>";
    assert!(page(&summary).contains(cells), "{}", page(&summary));
    let head = "times those of 1 worker";
    assert!(page(&summary).contains(head) && markdown(&summary).contains(head));
}

#[test]
fn more_rows_than_a_screen_has_are_a_line_for_each_series() {
    let mut summary = summarize(&of_workers(&[1, 2, 3, 4], on_two_cpus, even));
    let table = &mut summary.overview.scales[0];
    let rows = table.rows.clone();
    for number in 1..60 {
        table.rows.extend(rows.iter().cloned().map(|row| Scale {
            variant: format!("sync{number}"),
            // Of one series one worker has no figures.
            base: if number == 1 { 2 } else { 1 },
            ..row
        }));
    }
    table.rows.retain(|row| row.base <= row.workers);
    for kept in [8, 20, 60] {
        let mut summary = summary.clone();
        summary.overview.scales[0].rows.truncate(4 * kept - 1);
        let screen = overview(&summary, &Style::default(), "last");
        assert!(screen.lines().count() <= 40, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        let words: Vec<String> =
            screen.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in [
            "workers=1 workers=2 [95 %] workers=4 [95 %]",
            "node sync 10,000 2.00x [2.00, 2.00] 2.00x [2.00, 2.00]",
            "node sync1 - - -",
            "node sync7 10,000 2.00x [2.00, 2.00] 2.00x [2.00, 2.00]",
        ] {
            assert!(words.iter().any(|shown| shown == line), "{line:?} is not in\n{screen}");
        }
        assert!(screen.contains("each number of workers and each worker: --details\n"), "{screen}");
        assert_eq!(screen.contains("\nand "), kept == 60, "{screen}");
        let whole = text(&summary, &Style::default());
        assert!(whole.contains("3    20,000  2.00x [2.00, 2.00]") && !whole.contains("workers=2 [95 %]"));
    }
}

#[test]
fn multiples_are_paired_and_their_interval_is_over_processes() {
    // Processes differ by far more than the numbers of workers do.
    let slower = |workers, process| (10 + process) * on_two_cpus(workers, process);
    let summary = summarize(&of_workers(&[1, 2], slower, even));
    let row = &summary.overview.scales[0].rows[1];
    let ci = row.ci.expect("an interval");
    near(row.times, 2.0);
    assert!(ci.0 <= row.times && row.times <= ci.1 && ci.1 - ci.0 < 0.01, "{ci:?}");
    // A process in two is three times as slow with two workers.
    let unsteady =
        |workers, process| if workers == 2 && process % 2 == 1 { 150 } else { on_two_cpus(workers, 0) };
    let summary = summarize(&of_workers(&[1, 2], unsteady, even));
    let ci = summary.overview.scales[0].rows[1].ci.expect("an interval");
    assert!(ci.0 < 0.7 && ci.1 > 1.9, "{ci:?}");
}

#[test]
fn workers_of_other_speeds_and_uneven_shares_are_told() {
    // The second of two does three in four, in the same time; the last of four is done in half of
    // it.
    let part = |workers, worker| match (workers, worker) {
        (2, 1) => (3, 100),
        (4, 3) => (1, 50),
        _ => (1, 100),
    };
    let run = of_workers(&[1, 2, 4], on_two_cpus, part);
    let screen = shown(&run);
    for line in [
        "2    20,000  2.00x [2.00, 2.00] 5,000-15.0k\n",
        "4    20,000  2.00x [2.00, 2.00] 5,000-10.0k\n",
        "workers had uneven shares of the requests in 1 row: --details\n",
    ] {
        assert!(screen.contains(line), "{line:?} is not in\n{screen}");
    }
    let summary = summarize(&run);
    let line = "node sync, 2 workers: a worker had 25 to 75 % of the requests\n";
    assert!(text(&summary, &Style::default()).contains(line));
    assert!(markdown(&summary).contains("| 25 to 75 % |"));
}

#[test]
fn a_probe_that_does_not_tell_of_its_workers_has_their_efficiency() {
    let mut run = of_workers(&[1, 2], on_two_cpus, even);
    run.samples.iter_mut().for_each(|sample| _ = sample.extra.remove("worker_wall_ns"));
    let screen = shown(&run);
    assert!(screen.contains("2.00x [2.00, 2.00]       100 %\n"), "{screen}");
    assert!(!screen.contains("share of the requests"), "{screen}");
}

#[test]
fn a_busy_machine_says_that_workers_have_no_other_time() {
    let mut run = of_workers(&[1, 2], on_two_cpus, even);
    let busy = |run: &Run| {
        let findings = summarize(run).overview.findings;
        findings.into_iter().find(|one| one.kind == FindingKind::Busy).map(|one| one.remedy)
    };
    assert_eq!(busy(&run), None);
    run.header.machine.load_1m = Reading::Value(9.0);
    let remedy = "throughput of workers is wall time: run it again when the machine is idle";
    assert_eq!(busy(&run).as_deref(), Some(remedy));
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        block.scale = None;
    }
    assert_eq!(busy(&run).as_deref(), Some(""));
}

#[test]
fn more_workers_than_cpus_wait_on_an_idle_machine_too() {
    let waited = |workers: &[u64]| {
        let mut run = of_workers(workers, on_two_cpus, even);
        // Half of each round.
        for round in &mut run.rounds {
            (round.wall_ns, round.disturbance.cpu_pressure_us) = (Some(1_000_000_000), Some(500_000));
        }
        assert!(!run.rounds.is_empty());
        summarize(&run).notes.iter().any(|note| note.contains("tasks waited for a CPU"))
    };
    assert!(waited(&[1, 2]) && !waited(&[1, 2, 3]));
}

#[test]
fn the_fewest_workers_are_the_base_whatever_their_number() {
    let rows = |workers: &[u64]| -> Vec<Scale> {
        summarize(&of_workers(workers, on_two_cpus, even)).overview.scales.remove(0).rows
    };
    assert_eq!(rows(&[2, 4]).iter().map(|row| row.base).collect::<Vec<_>>(), [2, 2]);
    near(rows(&[2, 4])[1].times, 1.0);
    assert!(shown(&of_workers(&[2, 4], on_two_cpus, even)).contains("times: those of 2 workers of"));
}

#[test]
fn multiples_of_few_processes_have_no_interval_and_are_unsure() {
    let mut run = of_workers(&[1, 2], on_two_cpus, even);
    let few = |run: &mut Run, processes| run.samples.retain(|sample| sample.process < processes);
    few(&mut run, 3);
    assert!(shown(&run).contains("2.00x no interval"), "{}", shown(&run));
    let findings = summarize(&run).overview.findings;
    let unsure = findings.iter().find(|one| one.kind == FindingKind::Unsure).expect("a finding");
    assert_eq!(unsure.text, "1 of 2 have no interval: fewer than six processes");
}

/// As [`of_workers`], of a table to all CPUs of a machine with so many, whose probe tells nothing
/// of each worker.
fn on_cpus(cpus: u64, workers: &[u64], task_us: impl Fn(u64, u64) -> u64) -> Run {
    let mut run = of_workers(workers, task_us, even);
    run.header.machine.cpus_usable = Reading::Value(cpus);
    for block in run.header.suites.iter_mut().flat_map(|suite| &mut suite.workloads) {
        block.scale = block.scale.take().map(|scale| ScaleOf { to_cpus: true, ..scale });
    }
    run.samples.iter_mut().for_each(|sample| _ = sample.extra.remove("worker_wall_ns"));
    run
}

/// Microseconds of a task by the law, and a share of them that depends on process and workers.
fn by_law(workers: u64, process: u64) -> u64 {
    let n = workers as f64;
    let us = 100_000.0 * (1.0 + 0.03 * (n - 1.0) + 0.008 * n * (n - 1.0)) / n;
    (us * (1.0 + 0.002 * ((7 * process + 3 * workers) % 5) as f64)) as u64
}

#[test]
fn the_law_of_sixteen_cpus_is_told_with_its_peak() {
    let run = on_cpus(16, &[1, 2, 4, 8, 12, 16], by_law);
    let summary = summarize(&run);
    let table = &summary.overview.scales[0];
    assert_eq!(table.cpus, Some(16));
    let fit = table.laws[0].fit.value().expect("a law");
    assert!((fit.contention - 0.03).abs() < 0.005 && (fit.coherency - 0.008).abs() < 0.0005, "{fit:?}");
    let peak = fit.peak.expect("a peak");
    assert!((peak - 11.0).abs() < 0.4, "{fit:?}");
    let ci = fit.peak_ci.expect("an interval");
    assert!(ci.low.is_some_and(|low| low <= peak) && ci.high.is_some_and(|high| high >= peak), "{ci:?}");
    assert_eq!(fit.measured, 16);
    near(table.rows[5].efficiency, table.rows[5].times / 16.0);
    let screen = shown(&run);
    for words in [
        "node sync 16 workers do 4.75x as much as one [",
        "  peaks at about 11 workers [11, 11]; contention 2.9 % [2.9, 3.1], coherency\n",
        "  0.81 % [0.79, 0.81]\n",
        "30 %\n",
    ] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    assert!(text(&summary, &Style::default()).contains("efficiency"));
    assert!(markdown(&summary).contains("the law of scalability"), "{}", markdown(&summary));
    assert!(page(&summary).contains("coherency"));
}

#[test]
fn more_workers_than_cpus_are_not_fitted_and_two_numbers_have_no_law() {
    let run = on_cpus(2, &[1, 2, 3, 4], on_two_cpus);
    let summary = summarize(&run);
    let why = summary.overview.scales[0].laws[0].fit.why().expect("no law");
    assert_eq!(why.reason, "no law is fitted: 2 numbers of workers on 2 CPUs, and it takes 4");
    assert_eq!(why.remedy, "measure on a machine with 4 or more");
    let screen = shown(&run);
    for words in [
        "node sync 2 workers do 2.00x as much as one [2.00, 2.00]",
        "100 %\n",
        "more workers than the 2 CPUs are in --details, and no scaling\n",
        "no law is fitted: 2 numbers of workers on 2 CPUs, and it takes 4; measure on a\n",
    ] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    let few = on_cpus(16, &[1, 2, 4], on_two_cpus);
    let summary = summarize(&few);
    let why = summary.overview.scales[0].laws[0].fit.why().expect("no law");
    assert_eq!(why.remedy, "measure more of them: --param workers=all");
}
