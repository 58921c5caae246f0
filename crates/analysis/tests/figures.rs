//! Figures of a summary against values computed by hand.
//!
//! `data/hand.jsonl` has 10 tasks, 100 iterations and rounds i = 1 to 20. The baseline takes 10,000
//! x (100 + i) ns of CPU per task and twice that of wall. JoinSet takes 1.5 x exp((i - 10.5) /
//! 1000) times as much. The control takes exp((i - 10.5) / 500) times as much. `late` has the last
//! three rounds only, at twice the baseline.

use taskscale_analysis::{parse_run, summarize};
use taskscale_model::{
    run_file::{Role, Stop, Time},
    suite::{Claim, ClaimOf, ShareOf},
    summary::{
        Cause, ClaimVerdict, Grade, Growth, RowStatus, Settled, Summary,
        lines::{Line, lines},
    },
};

const HAND: &str = include_str!("data/hand.jsonl");
const QUICK: &str = include_str!("data/quick.jsonl");
const WIDE: &str = include_str!("data/wide.jsonl");
const THREADS: &str = include_str!("data/threads.jsonl");
/// In `data/jit.jsonl` a fresh process of Java costs 8, then 3, then 1 times 900 ns a task (`late`:
/// 1,000) and settles in 28 samples. Four of six processes of `late` are timed after three samples.
/// tokio costs 200 ns from the first.
const JIT: &str = include_str!("data/jit.jsonl");

fn summary(text: &str) -> Summary {
    summarize(&parse_run(text).expect("a run file"))
}

fn row(summary: &Summary, variant: &str, role: Role, metric: &str) -> Line {
    let found = summary
        .rows
        .iter()
        .flat_map(lines)
        .find(|line| (&*line.key.variant, line.role, &*line.metric) == (variant, role, metric));
    found.unwrap_or_else(|| panic!("no {variant} {role:?} {metric}"))
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    assert!((found / expected - 1.0).abs() < 1e-6, "{found}, expected {expected}");
}

#[test]
fn percentiles_and_interval_of_the_baseline() {
    let summary = summary(HAND);
    let cpu = row(&summary, "spawn", Role::Baseline, "cpu_per_task");
    assert_eq!((cpu.n, cpu.status, cpu.stop, &*cpu.unit), (20, RowStatus::Ok, Some(Stop::Samples), "ns"));
    // The values are 101 to 120 times 10,000, in steps of 10,000. By type 7, p25 lies at
    // 101 + 0.25 x 19.
    for (found, expected) in [
        (cpu.p0, 1_010_000.0),
        (cpu.p25, 1_057_500.0),
        (cpu.p50, 1_105_000.0),
        (cpu.p75, 1_152_500.0),
        (cpu.p90, 1_181_000.0),
        (cpu.p99, 1_198_100.0),
        (cpu.p100, 1_200_000.0),
        // The 6th and the 15th of 20.
        (cpu.ci.map(|ci| ci.0), 1_060_000.0),
        (cpu.ci.map(|ci| ci.1), 1_150_000.0),
    ] {
        near(found, expected);
    }
    assert_eq!((cpu.ratio, cpu.ratio_ci, &cpu.baseline), (None, None, &None));
    near(row(&summary, "spawn", Role::Baseline, "wall_per_task").p50, 2_210_000.0);
    near(row(&summary, "spawn", Role::Baseline, "create_cpu_share").p50, 0.25);
    near(row(&summary, "spawn", Role::Baseline, "create_wall_share").p50, 0.75);
}

#[test]
fn a_row_has_no_ratio_to_itself() {
    let own =
        HAND.replacen("\"role\":\"baseline\",\"baseline\":null", "\"role\":\"baseline\",\"baseline\":0", 1);
    assert_ne!(own, HAND);
    assert_eq!(row(&summary(&own), "spawn", Role::Baseline, "cpu_per_task").ratio, None);
}

#[test]
fn ratios_are_paired_by_round() {
    let summary = summary(HAND);
    let cpu = row(&summary, "JoinSet", Role::Row, "cpu_per_task");
    assert_eq!(cpu.baseline.as_deref(), Some("tokio:spawn"));
    near(cpu.ratio, 1.5);
    // The log ratios are -9.5 to 9.5 thousandths, in steps of one. Of the averages of their pairs
    // the 53rd from either end are -3 and 3 thousandths.
    near(cpu.ratio_ci.map(|ci| ci.0), 1.5 * (-0.003_f64).exp());
    near(cpu.ratio_ci.map(|ci| ci.1), 1.5 * 0.003_f64.exp());
    near(row(&summary, "JoinSet", Role::Row, "wall_per_task").ratio, 0.5);
}

#[test]
fn too_few_rounds_give_a_ratio_without_interval() {
    let summary = summary(HAND);
    let late = row(&summary, "late", Role::Row, "cpu_per_task");
    // Unpaired medians would give 2 x 1,190,000 / 1,105,000 = 2.15.
    near(late.ratio, 2.0);
    assert_eq!((late.n, late.ci, late.ratio_ci), (3, None, None));
}

#[test]
fn the_control_says_what_the_run_can_tell() {
    let control = summary(HAND).control;
    assert_eq!((control.rows.len(), control.false_alarms, control.rows[0].n), (1, 0, 20));
    // The log ratios lie two thousandths apart. Half of the distance between the 53rd average from
    // either end is three times as much.
    near(control.smallest_difference, 0.006_f64.exp() - 1.0);
    assert_eq!(
        control.verdict,
        "1 A/A comparison: no false alarm; this run can tell differences of about 0.60 % in CPU time"
    );
}

#[test]
fn a_control_that_differs_is_a_false_alarm() {
    // A digit 1 stands before the control's CPU time. 20 of 20 rounds agree that it costs more, far
    // beyond chance.
    let raised: String = HAND
        .lines()
        .map(|line| {
            let is_control = line.contains("\"row\":2,\"kind\"");
            let line =
                if is_control { line.replacen("\"cpu_ns\":", "\"cpu_ns\":1", 1) } else { line.to_owned() };
            line + "\n"
        })
        .collect();
    let control = summary(&raised).control;
    assert_eq!(control.false_alarms, 1);
    assert!(control.verdict.starts_with("1 A/A comparison: 1 false alarm (0.1 expected by chance)"));
    assert!(
        control.verdict.ends_with("take no small difference in this run as shown"),
        "{}",
        control.verdict
    );
}

#[test]
fn few_rounds_cannot_tell() {
    let few: String = HAND
        .lines()
        .filter(|line| {
            !line.contains("\"sample\"")
                || ["0", "1", "2", "3"].iter().any(|round| line.contains(&format!("\"round\":{round},")))
        })
        .map(|line| line.to_owned() + "\n")
        .collect();
    let control = summary(&few).control;
    assert_eq!(
        (control.verdict.as_str(), control.smallest_difference),
        ("cannot tell: fewer than six rounds", None)
    );
}

#[test]
fn rounds_of_one_process_are_one_observation() {
    // A process takes two rounds, as in `taskscale run`.
    let rounds = HAND.lines().filter(|line| line.contains("\"sample\"")).count();
    let paired = |per_process: usize| {
        let mut text = String::new();
        for line in HAND.lines() {
            let round = (0..rounds).find(|round| line.contains(&format!("\"round\":{round},"))).unwrap_or(0);
            let process = format!("\"process\":{}", round / per_process);
            text += &(line.replace("\"process\":0", &process) + "\n");
        }
        summary(&text)
    };
    let (alone, two) = (paired(1), paired(2));
    let control = |summary: &taskscale_model::summary::Summary| summary.control.rows[0].clone();
    assert!(control(&alone).ratio_ci.is_some());
    assert_ne!(control(&two).ratio_ci, control(&alone).ratio_ci, "half as many observations");
    let few = paired(4);
    assert_eq!(control(&few).ratio_ci, None);
    assert!(
        few.control.verdict.starts_with("cannot tell: fewer than six processes"),
        "{}",
        few.control.verdict
    );
}

#[test]
fn rows_without_figures_appear_once_with_their_cause() {
    let summary = summary(QUICK);
    let lines: Vec<Line> = summary.rows.iter().flat_map(lines).collect();
    let failed: Vec<&Line> = lines.iter().filter(|line| line.status == RowStatus::Failed).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(
        (&*failed[0].key.variant, failed[0].key.size, failed[0].p50, failed[0].n),
        ("gather", 512, None, 0)
    );
    assert_eq!(failed[0].reason.as_deref(), Some("answer was 4053505, expected 4053504"));
    let skipped: Vec<&Line> = lines.iter().filter(|line| line.status == RowStatus::Skipped).collect();
    assert_eq!(skipped.len(), 4);
    assert!(skipped.iter().all(|row| row.metric == "cpu_per_task" && row.remedy.is_some()));
}

#[test]
fn growth_is_graded_and_explained() {
    let growth = summary(QUICK).growth;
    let of = |variant: &str| growth.iter().find(|growth| growth.key.variant == variant).expect("a series");
    assert_eq!(of("multi_thread/spawn").grade, Grade::Linear);
    assert_eq!((of("reverse").grade, &of("reverse").reason), (Grade::QuadraticOrWorse, &None));
    assert_eq!(of("gather").grade, Grade::CannotTell);
    assert!(growth.iter().all(|growth| growth.key.variant != "eager"), "never measured");
    assert_eq!(growth.iter().filter(|growth| growth.key.variant == "create_task").count(), 2, "one per case");
    // The cost is 300 n up to 8192, then 300 n x n / 8192. The last three octaves are 8192 to
    // 65536.
    let wide = summary(WIDE).growth;
    assert_eq!(
        (wide[1].grade, &wide[1].sizes[..]),
        (Grade::QuadraticOrWorse, &[8192, 16_384, 32_768, 65_536][..])
    );
    near(wide[1].exponent.map(|exponent| (exponent * 100.0).round()), 200.0);
    let bend = wide[1].bend.expect("a bend");
    assert!((7500.0..9000.0).contains(&bend), "{bend}");
    // 300 n x n / 8192 ns is 1e9 at 165,000.
    let second = wide[1].one_second.expect("it grows");
    assert!((155_000.0..178_000.0).contains(&second.size) && !second.measured, "{second:?}");
    assert_eq!((wide[1].cause, wide[1].growth_control.as_deref()), (Some(Cause::Isolated), Some("spawn")));
    let steps = |growth: &Growth| growth.steps.iter().map(|step| (step.from, step.to)).collect::<Vec<_>>();
    assert_eq!(steps(&wide[1]).last(), Some(&(32_768, 65_536)));
    assert_eq!((wide[0].bend, wide[0].one_second, wide[0].cause), (None, None, None), "linear");
}

/// WIDE with each of its records changed.
fn wide(change: impl Fn(&mut serde_json::Value)) -> String {
    let changed = |line| {
        let mut record = serde_json::from_str(line).expect("a record");
        change(&mut record);
        record.to_string() + "\n"
    };
    WIDE.lines().map(changed).collect()
}

#[test]
fn wall_time_alone_earns_no_grade() {
    let without = wide(|record| {
        if record.get("cpu_ns").is_some() {
            record["cpu_ns"] = 0.into();
        }
    });
    let growth = summary(&without).growth;
    assert_eq!((growth[1].grade, growth[1].cause), (Grade::CannotTell, None));
    assert!(growth[1].reason.as_deref().is_some_and(|reason| reason.contains("looks superlinear")));
    assert!(growth[0].reason.as_deref().is_some_and(|reason| reason.ends_with("look like growth")));
}

/// WIDE where an iteration of the second form takes n microseconds of CPU time and waits for the
/// square of n besides, in the first answer of each process. Others had the CPUs for `delay_ns`.
fn waiting(delay_ns: impl Fn(u64) -> u64) -> String {
    wide(|record| {
        let (Some(size), "JoinSet") = (record["size"].as_u64(), record["variant"].as_str().unwrap_or(""))
        else {
            return;
        };
        if record["type"] == "sample" {
            let iterations = record["iterations"].as_u64().expect("a sample");
            let (cpu_ns, wall_ns) = (iterations * size * 1_000, iterations * size * (1_000 + size * 1_000));
            (record["cpu_ns"], record["wall_ns"]) = (cpu_ns.into(), wall_ns.into());
            (record["outside_cpu_ns"], record["outside_wall_ns"]) = (cpu_ns.into(), wall_ns.into());
            record["process"] = record["round"].clone();
            record["run_delay_ns"] = delay_ns(wall_ns).into();
        }
    })
}

#[test]
fn wall_time_is_graded_where_iterations_wait() {
    let growth = &summary(&waiting(|_| 0)).growth[1];
    assert_eq!((growth.grade, growth.time), (Grade::QuadraticOrWorse, Time::Wall), "{growth:?}");
    assert!(growth.exponent.is_some_and(|exponent| (exponent - 2.0).abs() < 0.01), "{growth:?}");
    assert!(growth.one_second.is_some_and(|second| (900.0..1_100.0).contains(&second.size)), "{growth:?}");
    let said =
        |of: &str| summary(of).notes.iter().any(|note| note.ends_with("not wall time, but where code waits"));
    assert!(said(&waiting(|_| 0)) && !said(WIDE), "{:?}", summary(WIDE).notes);
    let busy = &summary(&waiting(|wall_ns| wall_ns / 3 * 2)).growth[1];
    assert_eq!((busy.grade, busy.time), (Grade::Linear, Time::Cpu), "others had the CPUs: {busy:?}");
    let warm = waiting(|_| 0).replace("\"order\"", "\"carried\":true,\"order\"");
    assert_eq!(summary(&warm).growth[1].time, Time::Cpu, "no sample is the first answer of its process");
}

#[test]
fn growth_beside_nothing_linear_is_not_isolated() {
    let alone: String = WIDE
        .lines()
        .filter(|line| !line.contains("\"variant\":\"spawn\""))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let growth = summary(&alone).growth;
    assert_eq!(growth[0].grade, Grade::QuadraticOrWorse);
    assert!(growth[0].reason.as_deref().is_some_and(|reason| reason.contains("cause not isolated")));
    assert_eq!((growth[0].cause, &growth[0].growth_control), (Some(Cause::NoControl), &None));
}

#[test]
fn growth_that_all_forms_of_a_table_share_is_no_cliff_of_one_of_them() {
    // Both forms of WIDE cost 300 n x (n / 64)^0.5 ns. The second is 300 n x n / 8192 from 8192 on
    // in the file.
    let shared = wide(|record| {
        if let (Some(size), Some(cpu_ns)) = (record["size"].as_f64(), record["cpu_ns"].as_f64()) {
            let bent = if record["variant"] == "JoinSet" { (size / 8192.0).max(1.0) } else { 1.0 };
            record["cpu_ns"] = ((cpu_ns / bent * (size / 64.0).sqrt()) as u64).into();
        }
    });
    let one = |variant: &str| {
        let only = |line: &&str| !line.contains(variant);
        shared.lines().filter(only).map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let alone = &summary(&one("\"variant\":\"spawn\"")).growth[0];
    assert_eq!(
        (alone.grade, alone.cause),
        (Grade::Superlinear, Some(Cause::NoControl)),
        "nothing to share it with"
    );
    for growth in summary(&shared).growth {
        assert_eq!(
            (growth.grade, growth.cause),
            (Grade::CannotTell, Some(Cause::MachineOrAllocator)),
            "{growth:?}"
        );
        let control = if growth.key.variant == "spawn" { "JoinSet" } else { "spawn" };
        assert_eq!((growth.growth_control.as_deref(), growth.one_second), (Some(control), None));
        let reason = growth.reason.unwrap_or_default();
        assert!(reason.contains(&format!("{control} grows nearly alike")), "{reason}");
    }
}

/// WIDE with its second form on another runtime, whose baselines in the suite are `named`, and
/// without the rows of `left_out`.
fn on_another_runtime(named: &[&str], left_out: &str) -> String {
    let mut text = String::new();
    for line in WIDE.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("a record");
        if record["type"] == "header" {
            record["suites"][0]["baseline"]["tokio+old"] = named.into();
        }
        if record["variant"] == "JoinSet" {
            (record["runtime"], record["variant"]) = ("tokio+old".into(), "spawn".into());
        }
        if record["type"] == "runtime" {
            let mut old = record.clone();
            (old["id"], old["runtime"]["name"]) = ("tokio+old".into(), "tokio+old".into());
            text += &(old.to_string() + "\n");
        }
        if record["type"] == "header" || record["runtime"] != left_out {
            text += &(record.to_string() + "\n");
        }
    }
    text
}

#[test]
fn the_same_form_of_another_runtime_is_a_control_where_the_suite_names_it() {
    let told = |named: &[&str], left_out: &str| {
        let growth = summary(&on_another_runtime(named, left_out)).growth;
        let old = growth.into_iter().find(|growth| growth.key.runtime == "tokio+old").expect("a series");
        assert_eq!(old.grade, Grade::QuadraticOrWorse);
        (old.cause, old.growth_control, old.reason.unwrap_or_default())
    };
    let isolated = told(&["tokio:spawn"], "");
    assert_eq!(isolated, (Some(Cause::Isolated), Some("tokio:spawn".to_owned()), String::new()));
    // The ratio to that row needs no name in the suite (`--baseline tokio:spawn`); the cause does.
    for named in [&["spawn"][..], &["tokio:JoinSet"], &["go:spawn"], &[]] {
        let (cause, control, reason) = told(named, "");
        assert_eq!((cause, control), (Some(Cause::NoControl), None), "{named:?}");
        assert!(reason.contains("cause not isolated"), "{named:?}: {reason}");
    }
    let (cause, _, reason) = told(&["tokio:spawn"], "tokio");
    assert_eq!(cause, Some(Cause::NoControl));
    assert!(
        reason.ends_with("its control is tokio:spawn, which was not measured: add --runtime tokio"),
        "{reason}"
    );
}

#[test]
fn cold_code_is_told_from_settled_code() {
    let summary = summary(JIT);
    let of = |variant, role, metric| row(&summary, variant, role, metric);
    let about = |row: &Line, expected: f64| {
        let found = row.p50.expect("a figure");
        assert!((found / expected - 1.0).abs() < 0.05, "{}: {found}, expected {expected}", row.key.variant);
    };
    about(&of("virtual/start", Role::Baseline, "cpu_per_task"), 900.0);
    let cold = of("virtual/start", Role::Baseline, "cold_cpu_per_task");
    about(&cold, 8.0 * 900.0);
    assert_eq!((cold.n, &*cold.unit, cold.ratio), (5, "ns", None), "the first process was piloted");
    about(&of("spawn", Role::Baseline, "cold_cpu_per_task"), 200.0);
    let settled = |variant, role| of(variant, role, "cpu_per_task").settled;
    assert_eq!(settled("virtual/start", Role::Baseline), Some(Settled { processes: 6, of: 6 }));
    assert_eq!(settled("late", Role::Row), Some(Settled { processes: 2, of: 6 }));
    assert_eq!(settled("spawn", Role::Baseline), None, "three samples are too few to judge");
    let notes = summary.notes.join("\n");
    assert!(notes.contains("not settled: 1 row was") && notes.contains("2 of 6 processes"), "{notes}");
    assert!(notes.contains("--max-time"), "{notes}");
    // The same samples belong to code that is not said to be compiled while it runs.
    let plain = self::summary(&JIT.replace(",\"jit\":true", ""));
    assert!(plain.rows.iter().flat_map(lines).all(|line| line.settled.is_none()));
    assert!(!plain.notes.join("\n").contains("not settled"));
}

#[test]
fn the_threads_that_ran_stand_beside_their_times() {
    let summary = summary(THREADS);
    let of = |variant, role, metric| row(&summary, variant, role, metric);
    let woken = of("woken", Role::Row, "threads_ran");
    // The second one ran in four samples of twelve.
    assert_eq!((woken.p0, woken.p50, woken.p75, woken.p100), (Some(1.0), Some(1.0), Some(2.0), Some(2.0)));
    assert_eq!((woken.n, &*woken.unit, woken.ratio), (12, "threads", None));
    near(of("woken", Role::Row, "busiest_thread_share").p50, 0.97);
    assert_eq!(of("spawn", Role::Baseline, "threads_ran").p0, Some(2.0));
    let mut all = summary.rows.iter().flat_map(lines);
    assert!(all.all(|line| (&*line.key.variant, &*line.metric) != ("threads", "threads_ran")));
    let notes = summary.notes.join("\n");
    assert!(notes.contains("not known of 1 row: most CPU time was used by threads that ended"), "{notes}");
    // A file of an earlier version says nothing of threads, so the summary says nothing of them.
    let before = self::summary(HAND);
    assert!(before.rows.iter().flat_map(lines).all(|line| line.unit != "threads"));
    assert!(!before.notes.join("\n").contains("threads"));
}

#[test]
fn a_coarse_clock_is_noted() {
    let coarse = HAND.replace("\"cpu_resolution_ns\":200", "\"cpu_resolution_ns\":10000000");
    let notes = summary(&coarse).notes.join("\n");
    assert!(notes.contains("the CPU clock is coarse for 4 rows"), "{notes}");
    assert!(!summary(HAND).notes.join("\n").contains("coarse"));
    // The screen says it too, with the length that would do.
    let told = |text: &str| -> Vec<String> {
        let findings = summary(text).overview.findings;
        let of = findings.iter().filter(|finding| finding.text.contains("these steps"));
        of.map(|finding| format!("{}: {}", finding.text, finding.remedy)).collect()
    };
    // 1.1 s are 110 steps of 10 ms, and 11 of 100 ms.
    assert_eq!(told(&coarse), [""; 0]);
    let coarser = coarse.replace("\"cpu_resolution_ns\":10000000", "\"cpu_resolution_ns\":100000000");
    let said = told(&coarser).join("\n");
    let words =
        "the clock of CPU time moves by 100 ms, and a sample is 11 of these steps: its CPU time says nothing";
    assert!(said.contains(words) && said.contains("--sample-time 5000ms"), "{said}");
}

#[test]
fn iterations_that_are_mostly_readings_of_their_clocks_are_told() {
    let set_up = wide(|record| {
        if record["type"] == "sample" {
            record["extra"] = serde_json::json!({ "setup_cpu_ns": 1, "setup_wall_ns": 1 });
        }
    });
    // 770 and 30 ns: twenty times both are 16 us, and 64 tasks of `spawn` take 12.8.
    let dear = |text: &str| {
        let dear = text.replace("\"cpu_resolution_ns\":200", "\"cpu_resolution_ns\":770");
        assert_ne!(dear, text);
        dear
    };
    let told = |text: &str| {
        let summary = summary(text);
        let is_it = |text: &str| text.contains("the clocks that are read around it");
        let noted: Vec<String> = summary.notes.into_iter().filter(|note| is_it(note)).collect();
        let found: Vec<_> = summary.overview.findings.into_iter().filter(|one| is_it(&one.text)).collect();
        let found: Vec<String> =
            found.into_iter().map(|one| format!("{}. Remedy: {}", one.text, one.remedy)).collect();
        assert_eq!(noted, found);
        noted
    };
    let [note] = &*told(&dear(&set_up)) else { panic!("one note") };
    assert!(note.starts_with("tokio spawn: one iteration at n = 64 took 12."), "{note}");
    assert!(note.contains("some 800 ns of that. Remedy: repeat the work in a loop"), "{note}");
    for silent in [WIDE, &dear(WIDE), &set_up] {
        assert!(told(silent).is_empty(), "{silent}");
    }
}

#[test]
fn samples_of_one_thread_that_are_mostly_readings_of_the_clock_are_told() {
    let told = |ran: u64, cpu_ns: u64| {
        let text = wide(|record| {
            if record["type"] == "sample" {
                record["threads"] = serde_json::json!({ "ran": ran, "busiest_share": 1.0 });
                (record["wall_ns"], record["cpu_ns"]) = (1_000_000.into(), cpu_ns.into());
            }
        });
        let summary = summary(&text);
        let is_it = |text: &str| text.contains("reading the clocks is that much of them");
        let noted = summary.notes.iter().filter(|note| is_it(note)).count();
        let found: Vec<_> = summary.overview.findings.iter().filter(|one| is_it(&one.text)).collect();
        assert_eq!(noted, found.len());
        found.first().map(|one| one.text.clone())
    };
    let text = told(1, 1_360_000).expect("a finding");
    assert!(text.contains("at n = ") && text.contains("CPU time is 36 % more than wall time"), "{text}");
    assert_eq!(told(1, 1_040_000), None);
    assert_eq!(told(2, 1_900_000), None, "two threads have two CPUs");
}

#[test]
fn what_was_linked_with_musl_is_told() {
    let musl = HAND.replace("\"version\":\"1.47.1\"", "\"version\":\"1.47.1, musl\"");
    assert_ne!(musl, HAND);
    let words = "tokio is linked with musl: tasks that are allocated cost up to a third more";
    let told = |text: &str| {
        let summary = summary(text);
        let found = summary.overview.findings.iter().any(|one| one.text.contains(words));
        assert_eq!(found, summary.notes.join("\n").contains(words));
        found
    };
    assert!(told(&musl) && !told(HAND));
}

#[test]
fn the_same_run_gives_the_same_summary() {
    assert_eq!(summary(WIDE), summary(WIDE));
}

/// The hand-made run, read as shares of its baseline, with these claims.
fn shared(claims: &[(&str, Option<f64>, Option<f64>)]) -> taskscale_model::summary::Shares {
    let mut run = parse_run(HAND).expect("a run file");
    let block = &mut run.header.suites[0].workloads[0];
    block.title = "hand".into();
    block.share = Some(ShareOf {
        unit: "step".into(),
        count: 10,
        subtract: None,
        published: [("tokio:JoinSet".to_owned(), 60.0)].into(),
    });
    block.claims = claims
        .iter()
        .map(|(variant, above, below)| Claim {
            text: "a claim".into(),
            runtime: "tokio".into(),
            variant: (*variant).to_owned(),
            than: "spawn".into(),
            size: None,
            than_size: None,
            of: ClaimOf::Throughput,
            above: *above,
            below: *below,
        })
        .collect();
    let mut summary = summarize(&run);
    assert!(summary.overview.rankings.is_empty(), "a table of shares is not ranked");
    summary.overview.shares.swap_remove(0)
}

#[test]
fn a_variant_that_takes_half_as_much_more_has_two_thirds_of_the_base() {
    let shares = shared(&[]);
    let base = &shares.rows[0];
    assert_eq!((&*base.variant, base.is_base, base.percent), ("spawn", true, 100.0));
    near(Some(base.unit_ns), 110_500.0);
    let row = shares.rows.iter().find(|row| row.variant == "JoinSet").expect("a row");
    near(Some(row.percent), 100.0 / 1.5);
    let ci = row.ci.expect("twenty rounds");
    assert!(ci.0 < row.percent && row.percent < ci.1 && ci.1 - ci.0 < 2.0, "{ci:?}");
    // A third of what it takes is not in the base.
    near(Some(row.added_ns), row.unit_ns / 3.0);
    assert_eq!(row.published, Some(60.0));
}

#[test]
fn claims_are_held_to_the_interval() {
    use ClaimVerdict::{CannotTell, Confirmed, NotMeasured, Refuted};
    for (variant, above, below, verdict) in [
        ("JoinSet", None, Some(70.0), Confirmed),
        ("JoinSet", Some(60.0), Some(70.0), Confirmed),
        ("JoinSet", Some(70.0), None, Refuted),
        ("JoinSet", None, Some(60.0), Refuted),
        ("JoinSet", Some(66.666), None, CannotTell),
        ("late", None, Some(90.0), CannotTell),
        ("nothing", None, Some(90.0), NotMeasured),
    ] {
        let shares = shared(&[(variant, above, below)]);
        assert_eq!(shares.claims[0].verdict, verdict, "{variant} {above:?} {below:?} {shares:?}");
    }
}
