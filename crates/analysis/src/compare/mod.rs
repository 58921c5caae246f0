//! Compares an old side and a new side, row by row: what is worse, better or the same, and what
//! cannot be told.
//!
//! ```text
//! Run, Run --rows--> pairs --limits, verdict--> Comparison
//! Run -------^
//! ```
//!
//! Two files are two sessions. Nothing is paired, and intervals rest on processes of either side. A
//! difference must exceed what identical code shows in the same files: the A/A controls of each,
//! and rows whose code is the same in both. One run that took both sides in turns (`taskscale run
//! --against`) is paired round by round, and its own controls only have to show no difference.

mod code;
mod counts;
mod limits;
pub(crate) mod longer;
mod notes;
mod rows;
mod verdict;

use taskscale_model::{
    compare::{Comparison, Counts, Design, SCHEMA, Side, Verdict},
    machine::Machine,
    missing::Reading,
    plain::clean,
    run_file::Time,
    summary::lines::{CPU_PER_TASK, Metric, WALL_PER_TASK},
};

use taskscale_stats::confidence::{CONFIDENCE, GATE};

use crate::{read::Run, summarize::samples::RowSamples};
use verdict::{Evidence, Judge};

/// How two runs are to be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// The time to compare. A gate should rest on CPU time.
    pub time: Time,
    /// The share up to which a difference counts as none; 0.02 is 2 %.
    pub threshold: f64,
}

/// Compares two runs, each with the name that the reader knows it by. Swapping the runs swaps
/// better and worse and changes nothing else in the verdicts. O(samples log samples + rows x
/// processes squared).
pub fn compare(old: (&str, &Run), new: (&str, &Run), options: &CompareOptions) -> Comparison {
    let (time, metric) = (options.time, metric_of(options.time).name);
    let series = (RowSamples::of_run(old.1), RowSamples::of_run(new.1));
    let controls = (limits::Controls::of(&series.0, time), limits::Controls::of(&series.1, time));
    let machine_differences = differences(&old.1.header.machine, &new.1.header.machine);
    let same_machine = old.1.header.machine.fingerprint == new.1.header.machine.fingerprint;
    let runtimes = code::runtimes(old.1, new.1);
    let (pairs, absent) = rows::without_absent(rows::of_two_runs(&series, time, &runtimes));
    let evidence = Evidence::TwoRuns { controls: &controls, same_machine };
    let judge = Judge::new(&pairs, evidence, options.threshold);
    let mut comparison = Comparison {
        design: Design::TwoRuns,
        machine_differences,
        runtimes,
        unchanged: if same_machine { judge.unchanged() } else { Default::default() },
        ..judged(&judge, &pairs, metric, (side(old, &controls.0), side(new, &controls.1)))
    };
    comparison.same_machine = same_machine;
    comparison.notes = notes::notes(&comparison, (old.1, new.1), (&series.0, &series.1));
    comparison.notes.extend(absent);
    counts::judge(&mut comparison, &pairs, old.1, new.1);
    comparison
}

/// Compares the two sides of one run, where it has two (`taskscale run --against`). O(samples log
/// samples).
pub fn compare_sides(run: &Run, options: &CompareOptions) -> Option<Comparison> {
    let sides: Vec<(String, String)> = run
        .runtimes
        .iter()
        .filter_map(|runtime| Some((runtime.old_of.clone()?, runtime.id.clone())))
        .collect();
    if sides.is_empty() {
        return None;
    }
    let (time, metric) = (options.time, metric_of(options.time).name);
    let series = RowSamples::of_run(run);
    let controls = limits::Controls::of(&series, time);
    let runtimes = code::sides(run, &sides);
    let pairs = rows::of_one_run(&series, &sides, time, &runtimes);
    let longer = longer::Longer::of(run);
    let judge = Judge::new(&pairs, Evidence::OneRun(&controls, &longer), options.threshold);
    let named = |names: Vec<&str>| side((&names.join(", "), run), &controls);
    let old = named(sides.iter().map(|(_, old)| old.as_str()).collect());
    let new = named(sides.iter().map(|(new, _)| new.as_str()).collect());
    let mut comparison = Comparison {
        design: Design::OneRun,
        confidence: GATE,
        runtimes,
        unchanged: judge.unchanged(),
        ..judged(&judge, &pairs, metric, (old, new))
    };
    comparison.notes = notes::notes_of_one_run(&comparison, run, &series);
    counts::judge(&mut comparison, &pairs, run, run);
    Some(comparison)
}

/// The verdicts and the fields that follow from them alone.
fn judged(judge: &Judge<'_>, pairs: &[rows::Pair<'_>], metric: &str, (old, new): (Side, Side)) -> Comparison {
    let rows: Vec<_> = pairs.iter().map(|pair| judge.row(pair)).collect();
    let counts = count(rows.iter().map(|row| row.verdict));
    Comparison {
        schema: SCHEMA.to_owned(),
        design: Design::TwoRuns,
        metric: metric.to_owned(),
        threshold: judge.threshold,
        confidence: CONFIDENCE,
        family: judge.family as u64,
        old,
        new,
        same_machine: true,
        machine_differences: Vec::new(),
        runtimes: Vec::new(),
        unchanged: Default::default(),
        counts,
        counted: Default::default(),
        regression: counts.worse > 0,
        summary: notes::summary(counts, rows.len()),
        rows,
        notes: Vec::new(),
    }
}

fn metric_of(time: Time) -> Metric {
    match time {
        Time::Cpu => CPU_PER_TASK,
        Time::Wall => WALL_PER_TASK,
    }
}

fn count(verdicts: impl Iterator<Item = Verdict>) -> Counts {
    let mut counts = Counts::default();
    for verdict in verdicts {
        *match verdict {
            Verdict::Worse => &mut counts.worse,
            Verdict::Better => &mut counts.better,
            Verdict::Same => &mut counts.same,
            Verdict::CannotTell => &mut counts.cannot_tell,
            Verdict::OtherMachine => &mut counts.other_machine,
        } += 1;
    }
    counts
}

fn side((name, run): (&str, &Run), controls: &limits::Controls) -> Side {
    Side {
        name: clean(name),
        tool: run.header.tool.clone(),
        started_unix_s: run.header.started_unix_s,
        complete: run.ended.is_some(),
        fingerprint: run.header.machine.fingerprint.clone(),
        machine: crate::machine::machine_words(&run.header.machine),
        controls: controls.len() as u64,
        control_limit: controls.largest().map(f64::exp_m1),
    }
}

/// How two machines differ, as far as the fingerprint holds it.
fn differences(old: &Machine, new: &Machine) -> Vec<String> {
    fn shown<T: ToString>(reading: &Reading<T>) -> String {
        reading.value().map_or_else(|| "not known".to_owned(), ToString::to_string)
    }
    let parts = |machine: &Machine| {
        [
            ("CPU", shown(&machine.cpu_model)),
            ("CPUs", shown(&machine.cpus)),
            ("CPUs usable", shown(&machine.cpus_usable)),
            ("threads per core", shown(&machine.threads_per_core)),
            ("NUMA nodes", shown(&machine.numa_nodes)),
            ("CPU quota", shown(&machine.cpu_quota)),
            ("governor", shown(&machine.governor)),
            ("memory bytes", shown(&machine.memory_bytes)),
            ("kernel", shown(&machine.kernel)),
            ("clock source", shown(&machine.clock_source)),
            ("virtualised", shown(&machine.virtualised)),
        ]
    };
    let pairs = parts(old).into_iter().zip(parts(new));
    let differ = pairs.filter(|((_, old), (_, new))| old != new);
    differ.map(|((name, old), (_, new))| clean(&format!("{name}: {old} | {new}"))).collect()
}
