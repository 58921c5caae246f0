//! How small a task may be, against values computed by hand from
//! `crates/analysis/tests/data/granularity.jsonl`, which `crates/analysis/tests/data/make.py`
//! describes. With an overhead of o ns a task, a share x of o / (1 - x) is work.

use taskscale_analysis::{parse_run, summarize};
use taskscale_model::{
    missing::Reading,
    run_file::Time,
    summary::{Grain, Grains, Granularity, Interval, Metg, MetgState, Summary},
};
use taskscale_report::{Style, json, markdown, text};

const GRANULARITY: &str = include_str!("../../analysis/tests/data/granularity.jsonl");

fn summary() -> Summary {
    summarize(&parse_run(GRANULARITY).expect("a run file"))
}

fn sweep<'a>(summary: &'a Summary, variant: &str) -> &'a Granularity {
    summary.granularity.iter().find(|one| one.key.variant == variant).expect("a sweep")
}

fn grains(one: &Granularity) -> &Grains {
    one.figures.value().expect("figures")
}

fn ns(metg: &Metg) -> Option<f64> {
    metg.grain.value().map(|grain| grain.ns)
}

fn metg(one: &Granularity, time: Time, efficiency: f64) -> &Metg {
    grains(one).metg.iter().find(|metg| (metg.time, metg.efficiency) == (time, efficiency)).expect("a figure")
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    // Samples are whole nanoseconds of 10,000 iterations.
    assert!((found / expected - 1.0).abs() < 1e-4, "{found}, expected {expected}");
}

#[test]
fn an_overhead_of_300_ns_is_found_by_cpu_and_one_of_800_by_wall() {
    let summary = summary();
    let even = sweep(&summary, "even");
    assert_eq!(
        (even.cores, even.workers, even.threads, even.key.size),
        (Some(2), Some(2), Some((2, 2)), 256)
    );
    for (time, overhead) in [(Time::Cpu, 300.0), (Time::Wall, 800.0)] {
        for efficiency in [0.5, 0.9, 0.95] {
            let metg = metg(even, time, efficiency);
            assert_eq!(metg.state, MetgState::Found);
            near(ns(metg), overhead / (1.0 - efficiency));
        }
    }
    // Whole processes are 0.9 to 1.1 times as slow. Medians of six of them lie within.
    let Some(&Grain { low: Some(low), high: Some(high), .. }) = metg(even, Time::Cpu, 0.5).grain.value()
    else {
        panic!("six processes make an interval")
    };
    let Interval(low, high) = Interval(low / 600.0, high / 600.0);
    assert!((0.9..0.98).contains(&low) && (1.02..=1.1001).contains(&high), "{low} {high}");
}

#[test]
fn a_sweep_has_a_blank_where_only_others_have_an_efficiency() {
    let mut summary = summary();
    let Reading::Value(first) = &mut summary.granularity[0].figures else { panic!("figures") };
    first.metg.retain(|metg| metg.efficiency == 0.5);
    let markdown = markdown(&summary);
    let table: Vec<&str> = markdown
        .lines()
        .skip_while(|line| !line.contains("| 50 % work | 90 % work | 95 % work |"))
        .take_while(|line| line.starts_with('|'))
        .collect();
    let columns = |line: &&str| line.matches('|').count();
    assert!(table.len() > 3 && table.iter().all(|line| columns(line) == columns(&table[0])), "{markdown}");
    assert!(table[2].contains("|  |  |"), "{markdown}");
    // What is folded to the width of a terminal has as many cells too.
    assert!(text(&summary, &Style { width: 60, ..Style::default() }).contains("95 % work"));
}

#[test]
fn points_tell_what_the_figures_were_read_from() {
    let summary = summary();
    let points = &grains(sweep(&summary, "even")).points;
    let works: Vec<(u64, u64)> = points.iter().map(|point| (point.work_ns, point.steps)).collect();
    assert_eq!(works[..3], [(100, 50), (400, 200), (1_600, 800)]);
    near(Some(points[0].cpu_ns), 404.0);
    // The call counts as work: the kernel alone takes 104 ns.
    near(Some(points[0].cpu_efficiency), 104.0 / 404.0);
    near(points[0].core_ns, 904.0);
    near(points[0].wall_efficiency, 104.0 / 904.0);
}

#[test]
fn what_lies_outside_is_a_value_with_its_reason() {
    let summary = summary();
    let alone = metg(sweep(&summary, "alone"), Time::Wall, 0.5);
    assert_eq!(alone.state, MetgState::Undefined);
    assert_eq!(alone.grain, Reading::missing("1 thread on 2 cores can reach at most 50 %", ""));
    near(ns(metg(sweep(&summary, "alone"), Time::Cpu, 0.5)), 600.0);

    let light = sweep(&summary, "light");
    assert_eq!(metg(light, Time::Cpu, 0.9).state, MetgState::Below);
    near(ns(metg(light, Time::Cpu, 0.95)), 200.0);
    let never = metg(light, Time::Wall, 0.9);
    assert_eq!(never.state, MetgState::Above);
    let reason = &never.grain.why().expect("a reason").reason;
    assert!(reason.contains("205 us") && reason.contains("at best 50 %"), "{reason}");

    let blind = sweep(&summary, "blind");
    assert!(blind.figures.why().is_some_and(|why| why.reason.contains("the kernel alone was not measured")));
}

#[test]
fn fewer_processes_than_an_interval_needs_leave_the_figure() {
    let few: Vec<&str> = GRANULARITY.lines().filter(|line| !line.contains(r#""process":5"#)).collect();
    let summary = summarize(&parse_run(few.join("\n")).expect("a run file"));
    let metg = metg(sweep(&summary, "even"), Time::Cpu, 0.5);
    let ends = metg.grain.value().map(|grain| (grain.low, grain.high));
    assert_eq!((metg.state, ends), (MetgState::Found, Some((None, None))));
}

#[test]
fn text_of_sweeps_in_detail() {
    insta::assert_snapshot!(text(&summary(), &Style { detailed: true, ..Style::default() }));
}

#[test]
fn tables_are_folded_to_the_width_and_each_piece_tells_its_lines() {
    let mut summary = summary();
    for one in &mut summary.granularity {
        one.key.runtime = "asyncio@/opt/pyenv/versions/3.13.0/bin/python3".into();
        one.key.variant = format!("{}/a/variant/with/a/name/of/many/parts", one.key.variant);
    }
    let text = text(&summary, &Style { detailed: true, ..Style::default() });
    let tables = &text[..text.find("Smallest task (METG)").expect("the legend")];
    for line in tables.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(tables.matches(" 95 % work").count(), 1, "{tables}");
    assert!(
        tables.matches("runtime").count() > 2 && tables.matches("even/a/variant").count() > 2,
        "{tables}"
    );
}

#[test]
fn markdown_of_sweeps() {
    insta::assert_snapshot!(markdown(&summary()));
}

#[test]
fn json_of_sweeps_is_read_back() {
    let summary = summary();
    let back: Summary = serde_json::from_str(&json(&summary)).expect("a summary");
    assert_eq!(back.granularity, summary.granularity);
    // No row of a sweep stands in the tables of costs per task.
    assert!(back.rows.iter().all(|row| row.sweep.is_some()));
}
