//! `taskscale run`: makes an order for [`taskscale_bench::run`] from the words typed, and prints
//! the figures.

use std::{io::IsTerminal, path::Path, time::Duration};

use anyhow::bail;

use taskscale_analysis::CompareOptions;
use taskscale_bench::{
    clock::RealClock,
    journal::Journal,
    launcher::{Counting, ProbeLauncher},
    limits::Limits,
    plan::{Found, Plan, Selection, Takes},
    run::{self, Order},
};
use taskscale_model::{
    metric::Metric,
    missing::Missing,
    run_file::{self, Header, Role, Status, Time},
    suite::{self, Block, Suite},
};
use tempfile::TempDir;

use crate::{
    args::RunArgs,
    baselines, bytes,
    commands::guide,
    folders, free, grade,
    interrupt::Interrupt,
    output::{self, Outcome, tell},
    probes::shim,
    progress::{Building, Progress},
    runtimes::{self, Shaken},
    sides, store, suites, tables,
};

/// `--quick` puts these over a suite's own limits, for a first look.
const QUICK: suite::LimitsAsked = suite::LimitsAsked {
    samples: Some(15),
    max_time_s: Some(3.0),
    budget_s: None,
    precision: Some(0.05),
    sample_ms: Some(4.0),
    timeout_s: Some(20.0),
    restart_every: None,
    restart_warmup: None,
};

/// The least that an answer may take where `--max-time` shortens it, in seconds. A row that has not
/// shown yet how long it takes is waited for less long (`Limits::hurry_ns`).
const SHORTEST_TIMEOUT_S: f64 = 10.0;

/// Measures, keeps the samples and prints the figures.
pub fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    store::suits(args.output.as_deref())?;
    if guide::is_asked(args)? {
        return guide::run(args);
    }
    tables::check(&args.param)?;
    free::check(args)?;
    let is_free = free::is_asked(args);
    let interrupt = Interrupt::listen()?;
    let mut suites = if is_free { Vec::new() } else { suites::load(&args.suites)? };
    to_cpus(&mut suites);
    grade::plan(args, &mut suites)?;
    if args.probe.is_empty() {
        suites.iter_mut().for_each(|suite| put_first(suite, &args.runtime));
    }
    let (mut suites, mut whole, mut left_out) = asked(args, suites);
    let terminal = std::io::stderr().is_terminal();
    if terminal {
        tell("taskscale: looking for runtimes");
    }
    let mut candidates =
        runtimes::candidates(if is_free { &args.beside } else { &args.runtime }, &args.probe)?;
    sides::add(args, &mut candidates)?;
    candidates.retain(|candidate| candidate.asked || takes_part(&suites, &candidate.id));
    if args.against.is_empty() {
        runtimes::add_floors(&suites, &mut candidates)?;
        runtimes::add_counterparts(&suites, &mut candidates)?;
    }
    let building = Building::new(interrupt.clone());
    building.expect(candidates.iter().filter(|candidate| candidate.is_unbuilt()).count());
    for candidate in &mut candidates {
        if !interrupt.came() {
            candidate.prepare(&building);
        }
    }
    let mut shaken = runtimes::shake_hands(candidates, args.timeout, &building);
    if interrupt.came() {
        tell("taskscale: interrupted; nothing was measured yet, and there is no run file");
        return Ok(Outcome::Interrupted);
    }
    sides::check(&shaken)?;
    let (of_table, mut args) = (free::of_table(args), args);
    if is_free {
        let mut own = vec![free::suite(args, &mut shaken)?];
        args = &of_table;
        grade::plan(args, &mut own)?;
        (suites, whole, left_out) = asked(args, own);
    }
    let absent = absent(&shaken);
    let mut launcher = launcher(&shaken);
    let scratch = args.metrics.contains(&Metric::Callgrind).then(folders::scratch);
    launcher = launcher.counting(counting(args, &building, scratch.as_ref()));
    // Tables that are left out are taken in where they alone have what was named.
    let own = order(args, suites, &shaken);
    let (mut order, left_out) = match (own, args.variant.is_empty()) {
        (Err(_), false) => (order(args, whole, &shaken)?, Vec::new()),
        (own, _) => (own?, left_out),
    };
    let counts_growth = launcher.counts_growth() && shaken.iter().any(|one| one.found.tells_collector());
    grade::time(args, &mut order.plan, counts_growth);
    let beside = bytes::ready(&mut order.plan, &|line| {
        if terminal {
            tell(line)
        }
    });
    if let Some(beside) = &beside {
        launcher = launcher.environment(beside.environment()).serving(beside.pid());
    }
    let takes = order.plan.takes();
    let counts = match (launcher.counts_anything(), args.max_time) {
        (false, _) => String::new(),
        (true, None) => {
            let rows = order.plan.rows().filter(|row| row.state.takes_part()).count() as u64;
            let time = Duration::from_secs(rows * launcher.counting_row_s());
            format!(", then counts for about {}", humantime::format_duration(time))
        }
        (true, Some(_)) => ", half of it for counts".to_owned(),
    };
    tell(&format!("taskscale: {}", amount(&order.plan, takes, &counts)));
    if !left_out.is_empty() {
        tell(&format!("taskscale: left out, and taken in by --all: {}", left_out.join("; ")));
    }

    let names: Vec<&str> = order.header.suites.iter().map(|suite| suite.name.as_str()).collect();
    let mut kept = store::create(args.output.as_deref(), &names.join("-"), order.header.started_unix_s)?;
    let mut progress = Progress::new(terminal, takes, interrupt.clone());
    let mut journal = Journal::new(&mut kept.file).redacting(store::redactor());
    let written = run::run(order, &mut launcher, &mut RealClock::start(), &mut progress, &mut journal);
    progress.clear();
    let shown = show(args, &kept.path);
    // What was measured before is shown first: a full disk takes none of it back.
    written.map_err(|error| {
        let what = match &shown {
            Ok(_) => "what was measured before is kept there and shown above",
            Err(_) => "nothing was kept; free some room, or name a file elsewhere: --output FILE",
        };
        anyhow::anyhow!("cannot go on writing {}: {error}; {what}", kept.path.display())
    })?;
    let Shown { measured, sampled, failed, outcome } = shown?;
    let nothing = if failed { "no process gave a sample" } else { "no process was asked" };

    let path = kept.path.display();
    tell(&match (interrupt.came() && !measured, sampled || args.output.is_some()) {
        (true, true) => {
            format!("taskscale: interrupted; nothing was measured yet; the run file with the plan: {path}")
        }
        (false, true) => format!("Raw samples: {path}"),
        // A run of nothing would be the newest that `last` names.
        (_, false) => match std::fs::remove_file(&kept.path) {
            Ok(()) => format!("taskscale: {nothing}, so no run file is kept"),
            Err(error) => format!("taskscale: {nothing}; cannot remove {path}: {error}"),
        },
    });
    if let Some(name) = &args.save_baseline {
        tell(&match measured && !interrupt.came() && absent.is_empty() {
            true => baselines::save(name, &kept.path)?,
            false => format!("Baseline {name}: not kept, since the run did not come to a good end"),
        });
    }
    Ok(match (interrupt.came(), measured) {
        (true, _) => Outcome::Interrupted,
        (false, false) => Outcome::Nothing,
        (false, true) if outcome == Outcome::Finding => Outcome::Finding,
        (false, true) if !absent.is_empty() => {
            tell(&format!("taskscale: asked for and not measured: {}", absent.join("; ")));
            Outcome::Nothing
        }
        (false, true) => outcome,
    })
}

/// Gives tables of all numbers of workers those of this machine.
fn to_cpus(suites: &mut [Suite]) {
    let asks = |block: &&mut Block| block.scale.as_ref().is_some_and(|scale| scale.to_cpus);
    let asked: Vec<&mut Block> =
        suites.iter_mut().flat_map(|suite| &mut suite.workloads).filter(asks).collect();
    if asked.is_empty() {
        return;
    }
    let cpus = taskscale_sys::machine::read().cpus_usable.value().copied().unwrap_or(1);
    asked.into_iter().for_each(|block| block.scale_to(cpus));
}

/// The runtimes and probes that the user named and that cannot be had, each with the reason.
fn absent(shaken: &[Shaken]) -> Vec<String> {
    let asked = shaken.iter().map(|one| &one.found).filter(|found| found.asked);
    asked
        .filter_map(|found| {
            Some(format!(
                "{}: {}",
                found.id,
                taskscale_report::bounded(&found.description.as_ref().err()?.reason)
            ))
        })
        .collect()
}

/// The suites without the tables that nobody asked for; the same with all of their tables; and the
/// titles of those that are left out. Whoever names parameters asks for the tables that have them
/// all so, where no other does, and of each for the rows that have them.
fn asked(args: &RunArgs, mut suites: Vec<Suite>) -> (Vec<Suite>, Vec<Suite>, Vec<String>) {
    let narrow = |suites: &mut Vec<Suite>| {
        suites
            .iter_mut()
            .flat_map(|suite| &mut suite.workloads)
            .for_each(|block| tables::narrow(block, &args.param));
    };
    let mut whole = in_full(args, suites.clone());
    narrow(&mut whole);
    if args.all {
        return (whole.clone(), whole, Vec::new());
    }
    let mut left_out = Vec::new();
    for suite in &mut suites {
        let sets = |block: &suite::Block| tables::sets(block, &args.param);
        let own = args.param.is_empty() || suite.workloads.iter().any(|block| !block.extra && sets(block));
        let blocks = std::mem::take(&mut suite.workloads);
        // A workload's own table gives way to those that have what is asked for.
        let has = |name: &str| !own && blocks.iter().any(|block| block.name == name && sets(block));
        let is_kept = |block: &suite::Block| if has(&block.name) { sets(block) } else { !block.extra };
        let is_kept: Vec<bool> = blocks.iter().map(is_kept).collect();
        for (block, is_kept) in blocks.into_iter().zip(is_kept) {
            match is_kept {
                true => suite.workloads.push(block),
                false => left_out.push(block.title),
            }
        }
    }
    narrow(&mut suites);
    (suites, whole, left_out)
}

/// The suites with all their tables. A suite's budget is for its own tables; with all of them it
/// grows by their number.
fn in_full(args: &RunArgs, mut suites: Vec<Suite>) -> Vec<Suite> {
    for suite in &mut suites {
        let own = suite.workloads.iter().filter(|block| !block.extra).count().max(1);
        let times = suite.workloads.len() as f64 / own as f64;
        suite.limits.budget_s = suite.limits.budget_s.map(|budget_s| budget_s * times);
        if !args.size.is_empty() {
            drop_repeated(suite);
        }
    }
    suites
}

/// Puts the tables first that the suite has first for the runtimes asked for.
fn put_first(suite: &mut Suite, asked: &[String]) {
    let names: Vec<&str> = asked.iter().map(|id| runtimes::split_id(id).0).collect();
    let is_first = |block: &suite::Block| {
        let takes_part = |name: &&str| block.runtimes.iter().flatten().any(|own| own == name);
        names.iter().all(|name| block.first_for.iter().any(|one| one == name)) && names.iter().any(takes_part)
    };
    for block in &mut suite.workloads {
        block.extra &= !is_first(block);
    }
    suite.workloads.sort_by_key(|block| !is_first(block));
}

/// Drops the tables that differ from an earlier one in nothing but their sizes, which the user has
/// named for all.
fn drop_repeated(suite: &mut Suite) {
    let mut kept: Vec<suite::Block> = Vec::new();
    for block in std::mem::take(&mut suite.workloads) {
        let same = |other: &suite::Block| {
            (&other.name, &other.params, &other.cases, &other.work_ns, &other.runtimes, &other.variants)
                == (
                    &block.name,
                    &block.params,
                    &block.cases,
                    &block.work_ns,
                    &block.runtimes,
                    &block.variants,
                )
        };
        if !kept.iter().any(same) {
            kept.push(block);
        }
    }
    suite.workloads = kept;
}

/// How much there is to measure, and how long that takes.
fn amount(plan: &Plan, takes: Takes, counts: &str) -> String {
    let measured = || plan.rows().filter(|row| row.state.takes_part());
    let controls = measured().filter(|row| row.record.role == Role::Control).count();
    let rows = measured().count() - controls;
    let beside = match controls {
        0 => String::new(),
        1 => " and 1 A/A control".to_owned(),
        n => format!(" and {n} A/A controls"),
    };
    let time = humantime::format_duration(Duration::from_secs(takes.ns.div_ceil(1_000_000_000)));
    format!(
        "{rows} row{}{beside}, {}{counts}; Ctrl-C shows what there is by then",
        if rows == 1 { "" } else { "s" },
        if takes.is_bound { format!("{time} at most") } else { format!("about {time}") }
    )
}

/// What was printed of a run.
struct Shown {
    /// Whether a row has figures.
    measured: bool,
    /// Whether a probe answered, be it before anything was timed.
    sampled: bool,
    /// Whether a row failed: then one was asked.
    failed: bool,
    /// What a gate makes of it.
    outcome: Outcome,
}

/// Prints the verdicts where two sides were measured, else the tables.
fn show(args: &RunArgs, path: &Path) -> anyhow::Result<Shown> {
    let run = crate::run_file::read(path)?;
    let summary = taskscale_analysis::summarize(&run);
    let measured = summary.rows.iter().any(|row| row.figures().is_some());
    let sampled = !run.samples.is_empty() || !run.counts.is_empty();
    let failed = run.row_ends.iter().any(|end| matches!(end.status, Status::Failed(_)));
    let options = CompareOptions { time: Time::Cpu, threshold: args.threshold };
    let named = if args.output.is_none() { "last".to_owned() } else { output::word(path) };
    let Some(comparison) = taskscale_analysis::compare_sides(&run, &options) else {
        output::show(&summary, &args.show, &named)?;
        return Ok(Shown { measured, sampled, failed, outcome: Outcome::Done });
    };
    let command = format!("taskscale compare {named}");
    output::show_comparison(&comparison, args.show.format.into(), args.show.details, &command)?;
    Ok(Shown { measured, sampled, failed, outcome: Outcome::of(&comparison, args.strict) })
}

/// Tells whether a workload of these suites wants that runtime. A runtime that would not be
/// measured is not built.
fn takes_part(suites: &[Suite], runtime: &str) -> bool {
    let mut blocks = suites.iter().flat_map(|suite| &suite.workloads);
    blocks.any(|block| match &block.runtimes {
        None => !runtimes::is_by_name(runtime),
        Some(wanted) => wanted.iter().any(|name| name == runtime),
    })
}

/// What is counted beside time, with the libraries that it needs.
fn counting(args: &RunArgs, building: &Building, scratch: Option<&Result<TempDir, Missing>>) -> Counting {
    let short: &[Metric] = if args.counts { &[Metric::Allocs, Metric::Bytes, Metric::Syscalls] } else { &[] };
    let mut metrics: Vec<Metric> = args.metrics.iter().chain(short).copied().collect();
    metrics.retain(|metric| !metric.counts().is_empty());
    metrics.sort_unstable();
    metrics.dedup();
    let is_for_growth = metrics.is_empty() && grade::ends_when_certain(args);
    if is_for_growth {
        metrics = vec![Metric::Bytes, Metric::Gc];
    }
    let mut counting = Counting { metrics, is_for_growth, ..Counting::default() };
    if counting.metrics.iter().any(|metric| matches!(metric, Metric::Allocs | Metric::Bytes)) {
        counting.allocations = Some(shim::library(building));
    }
    let place = |folder: &Result<TempDir, Missing>| match folder {
        Ok(folder) => Ok(folder.path().to_owned()),
        Err(missing) => Err(missing.clone()),
    };
    counting.scratch = scratch.map(place);
    if counting.metrics.contains(&Metric::Retains) {
        counting.references = Some(shim::references(building));
    }
    counting
}

fn launcher(shaken: &[Shaken]) -> ProbeLauncher {
    ProbeLauncher::new(shaken.iter().filter_map(|one| Some((one.found.id.clone(), one.command.clone()?))))
}

fn order(args: &RunArgs, suites: Vec<Suite>, shaken: &[Shaken]) -> anyhow::Result<Order> {
    let selection = Selection {
        sizes: once(&args.size),
        variants: args.variant.clone(),
        baseline: args.baseline.clone(),
        params: tables::over(&args.param, suites.iter().flat_map(|suite| &suite.workloads)),
        work_ns: args.work.map(|seconds| (seconds * 1e9).round().max(1.0) as u64),
    };
    let found: Vec<Found> = shaken.iter().map(|one| one.found.clone()).collect();
    let plan = Plan::new(&suites, &found, &selection, &|suite, judged| limits_of(suite, args, judged))?;
    if plan.judged(&found) == 0 && !args.against.is_empty() {
        bail!("no row is on both sides; choose a suite, --variant, --size and --param that both have");
    }
    let machine = taskscale_sys::machine::read();
    Ok(Order {
        cpus: machine.cpus_usable.value().copied().unwrap_or(1),
        header: Header {
            schema: run_file::SCHEMA.into(),
            tool: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args().collect(),
            seed: args.seed.unwrap_or_else(|| fastrand::u64(0..=taskscale_model::protocol::MAX_INTEGER)),
            started_unix_s: taskscale_sys::clock::unix_time_s(),
            machine,
            suites,
        },
        runtimes: shaken.iter().map(|one| one.record.clone()).collect(),
        plan,
    })
}

/// The sizes without those that were named before.
fn once(sizes: &[u64]) -> Vec<u64> {
    let mut kept = Vec::new();
    for size in sizes {
        if !kept.contains(size) {
            kept.push(*size);
        }
    }
    kept
}

/// Overlays the limits: what is typed goes over `--quick`, `--quick` over the suite, the suite over
/// the defaults. Rows that are judged by an old side get [`JUDGED`] over the suite's limits, which
/// are for a look at figures. These rows share the confidence, and are measured until half the
/// threshold can be told.
fn limits_of(suite: &Suite, args: &RunArgs, judged: usize) -> Limits {
    let typed = suite::LimitsAsked {
        samples: args.samples,
        max_time_s: args.max_time,
        // A user who says how long a cell may take has said how long the suite may take.
        budget_s: args.max_time.map(|_| f64::MAX),
        precision: args.precision,
        sample_ms: args.sample_time.map(|seconds| seconds * 1e3),
        timeout_s: args.timeout,
        restart_every: None,
        restart_warmup: None,
    };
    let limits = Limits::default().overlaid(&suite.limits);
    let mut limits = match (args.quick, judged) {
        (true, _) => limits.overlaid(&QUICK),
        (false, 0) => limits,
        (false, _) => limits.judged(),
    };
    if judged > 0 {
        limits.judged_at = Some(taskscale_stats::confidence::gate(judged));
        limits.precision = args.threshold / 2.0;
    }
    let mut limits = limits.overlaid(&typed);
    limits.is_bound = args.max_time.is_some();
    // A cell of a few seconds cannot wait for a minute until a probe counts as hung.
    if let (Some(seconds), None) = (args.max_time, args.timeout) {
        limits.timeout_ns = limits.timeout_ns.min((seconds.max(SHORTEST_TIMEOUT_S / 2.0) * 2e9) as u64);
        limits.hurry_ns = Some((seconds * 1e9) as u64);
    }
    limits
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn an_old_library_is_built_only_for_the_suite_that_names_it() {
        let of = |name: &str| -> Vec<String> {
            let suites = suites::built_in().expect("suites");
            suites
                .into_iter()
                .filter(|suite| takes_part(std::slice::from_ref(suite), name))
                .map(|suite| suite.name)
                .collect()
        };
        assert_eq!(of("tokio+futures-0.3.17"), ["cliffs"]);
        assert_eq!(of("csharp+runtime-async"), Vec::<String>::new());
        assert!(of("tokio").len() > 1 && of("tokio").contains(&"fanout".to_owned()), "{:?}", of("tokio"));
    }

    #[test]
    fn parameters_ask_for_the_table_that_sets_them() {
        let titles = |words: &[&str]| -> Vec<String> {
            let words = ["taskscale", "run", "interp"].iter().chain(words);
            let Command::Run(args) = Cli::try_parse_from(words).expect("words").command else {
                panic!("another command")
            };
            let (suites, _, _) = asked(&args, suites::load(&["interp".to_owned()]).expect("the suite"));
            suites[0].workloads.iter().filter(|block| block.extra).map(|block| block.title.clone()).collect()
        };
        assert_eq!(titles(&[]), Vec::<String>::new());
        assert_eq!(titles(&["--param", "workers=1"]), ["interp, requests shared by workers"]);
        for depth in ["depth=300", "depth=1000", "depth=100000000", "depth=all"] {
            assert_eq!(titles(&["--param", depth]), ["interp, nested lets"], "{depth}");
        }
        assert_eq!(titles(&["--param", "workers=all"]), ["interp, requests shared by workers"]);
        assert_eq!(titles(&["--param", "rate=50"]), ["interp over HTTP at a fixed rate"]);
        // Requests that suspend, with workers: no table sets both.
        assert_eq!(titles(&["--param", "workers=1", "--param", "pause=6"]), Vec::<String>::new());
    }

    #[test]
    fn a_published_table_comes_first_for_its_own_runtimes() {
        let tables = |asked: &[&str]| -> Vec<(String, bool)> {
            let mut suites = suites::load(&["interp".to_owned()]).expect("the suite");
            put_first(&mut suites[0], &asked.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            let title = |block: &suite::Block| (block.title.clone(), block.extra);
            suites[0].workloads.iter().map(title).collect()
        };
        let usual = tables(&[]);
        let article = usual.iter().find(|table| table.0.contains("article")).expect("the table").clone();
        assert!(article.1 && !usual[0].1);
        for asked in [&["fsharp"][..], &["fsharp@/opt/dotnet", "csharp"]] {
            assert_eq!(tables(asked)[..2], [(article.0.clone(), false), usual[0].clone()], "{asked:?}");
        }
        for asked in [&["csharp"][..], &["tokio", "fsharp"]] {
            assert_eq!(tables(asked), usual, "{asked:?}");
        }
    }
}
