//! What text, Markdown and XML say alike.

use taskscale_model::{
    compare::{ComparedRow, Comparison, Counts, Design, Figure, Side, Verdict},
    params,
};

use crate::{
    figure::{count, percent, ratio, with_interval},
    read::Run,
    style::clean,
    summarize::{control, series::Series},
};

/// How to read a ratio.
pub fn legend(design: Design) -> String {
    let ratio = match design {
        Design::TwoRuns => "by Hodges and Lehmann over processes",
        Design::OneRun => "the median over pairs of processes that took turns",
    };
    format!(
        "ns per task: median over processes, and half its 95 % interval; NEW/OLD {ratio}, with an interval that holds for all rows \
         together in 95 % of cases."
    )
}

/// A verdict in words.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot tell",
        Verdict::OtherMachine => "other machine",
    }
}

/// The outcome in a sentence.
pub fn summary(counts: Counts, rows: usize) -> String {
    if counts.other_machine > 0 {
        return format!("Another machine: {} side by side, none compared", in_rows(rows));
    }
    let named = [
        (counts.worse, "worse"),
        (counts.better, "better"),
        (counts.same, "same"),
        (counts.cannot_tell, "cannot tell"),
    ];
    let parts: Vec<String> =
        named.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let outcome = match counts {
        Counts { worse: 1.., .. } => "Regression",
        Counts { better: 0, same: 0, .. } => "Nothing can be told",
        _ => "No regression shown",
    };
    match &*parts {
        [] => "Nothing can be told: no rows".to_owned(),
        parts => format!("{outcome}: of {}, {}", in_rows(rows), parts.join(", ")),
    }
}

/// The outcome in a sentence where counts were judged too: a count that is worse is a regression whatever time says.
pub fn summary_with_counts(comparison: &Comparison) -> String {
    let counted = comparison.counted;
    let named = [
        (counted.worse, "worse"),
        (counted.better, "better"),
        (counted.same, "same"),
        (counted.cannot_tell, "cannot tell"),
        (counted.other_machine, "other machine"),
    ];
    let parts: Vec<String> =
        named.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", count(*n))).collect();
    let total: u64 = named.iter().map(|(n, _)| n).sum();
    let by_counts = format!("of {} counts, {}", count(total), parts.join(", "));
    let by_time = &comparison.summary;
    match (counted.worse > 0, comparison.counts.worse > 0) {
        (true, false) => format!("Regression by exact counts: {by_counts}. By time: {by_time}"),
        _ => format!("{by_time}; {by_counts}"),
    }
}

fn in_rows(n: usize) -> String {
    if n == 1 { "1 row".to_owned() } else { format!("{} rows", count(n as u64)) }
}

/// What a reader must know before trusting a verdict.
pub fn notes(comparison: &Comparison, old: &Run, new: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    if !comparison.same_machine {
        notes.push(
            "the two runs are from different machines: their figures stand side by side and are not divided. How much faster one \
             machine is depends on the row, so there is no factor to correct by (docs/reference/compare.md); take both on one machine"
                .to_owned(),
        );
        if comparison.machine_differences.is_empty() {
            let (old, new) = (&comparison.old.fingerprint, &comparison.new.fingerprint);
            notes.push(clean(&format!("machines differ in their fingerprints: {old} | {new} (OLD | NEW)")));
        }
        notes.extend(
            comparison
                .machine_differences
                .iter()
                .map(|what| format!("machines differ in {what} (OLD | NEW)")),
        );
    } else if comparison.rows.iter().any(|row| row.ratio.is_some()) {
        notes.push(match comparison.unchanged {
            unchanged if unchanged.rows == 0 => "no row of unchanged code is in both files with enough processes: what changed between \
                the sessions themselves is not known, and would look like a change of the code. Weigh a runtime that did not change beside \
                the others, or both versions in one run"
                .to_owned(),
            unchanged => format!(
                "{} of unchanged code moved by up to {} % between the sessions ({}{} % in the middle)",
                in_rows(unchanged.rows as usize),
                percent(unchanged.largest_shift.unwrap_or_default()),
                if unchanged.median_shift.unwrap_or_default() < 0.0 { "" } else { "+" },
                percent(unchanged.median_shift.unwrap_or_default()),
            ),
        });
    }
    notes.extend(of_wall_time(comparison));
    let (a, b) = (&old.header, &new.header);
    if (a.seed, a.started_unix_s, &a.command) == (b.seed, b.started_unix_s, &b.command) {
        notes.push("both files are of the same run".to_owned());
    }
    for (side, run, name) in [(&comparison.old, old, "OLD"), (&comparison.new, new, "NEW")] {
        if !side.complete {
            notes.push(format!("{name} was cut short: rows that it did not reach cannot be told"));
        }
        notes.extend(run.notes.iter().map(|note| clean(&format!("{name}: {note}"))));
    }
    notes
}

/// The same of two sides that one run took in turns.
pub fn notes_of_one_run(comparison: &Comparison, run: &Run, series: &[Series<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.runtimes.iter().all(|change| change.same_code) {
        notes.push(
            "both sides are the same program: whatever is told between them is a false alarm".to_owned(),
        );
    }
    notes.push(control::judge(run, series).verdict);
    notes.extend(of_wall_time(comparison));
    if !comparison.new.complete {
        notes.push("the run was cut short: rows that it did not reach cannot be told".to_owned());
    }
    notes.extend(run.notes.iter().map(|note| clean(note)));
    notes
}

fn of_wall_time(comparison: &Comparison) -> Option<String> {
    (comparison.metric == crate::summarize::WALL_PER_TASK)
        .then(|| "wall time is the time of the neighbours too: gate on CPU time".to_owned())
}

/// A side in a line: what it is called, and what took it where the two were taken apart.
pub fn side(design: Design, side: &Side) -> String {
    if design == Design::OneRun {
        return clean(&side.name);
    }
    let limit = side.control_limit.map_or_else(
        || "no A/A control with an interval".to_owned(),
        |limit| format!("{} A/A controls leave up to {} % open", count(side.controls), percent(limit)),
    );
    clean(&format!("{}: taskscale {}; {limit}", side.name, side.tool))
}

/// Runtimes of which the files do not show that they are the same: `go 1.26.7 (..) -> 1.26.8 (..)`.
pub fn changes(comparison: &Comparison) -> Vec<String> {
    let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "not here".to_owned());
    let differ = comparison.runtimes.iter().filter(|change| change.old != change.new);
    differ
        .map(|change| clean(&format!("{} {} -> {}", change.id, shown(&change.old), shown(&change.new))))
        .collect()
}

/// The table that a row belongs to.
pub fn heading(row: &ComparedRow) -> String {
    if row.table == row.suite { clean(&row.table) } else { clean(&format!("{}: {}", row.suite, row.table)) }
}

/// Its variant and case.
pub fn variant(row: &ComparedRow) -> String {
    if row.case.is_empty() {
        clean(&row.variant)
    } else {
        clean(&format!("{} {}", row.variant, params::label(&row.case)))
    }
}

/// All of its name but the table.
pub fn name(row: &ComparedRow) -> String {
    clean(&format!("{} {}, size {}", row.runtime, variant(row), count(row.size)))
}

/// `4,480 ±1.8%`, `failed`, or nothing for a row that is not in the file.
pub fn figure(figure: Option<&Figure>) -> String {
    let Some(figure) = figure else { return String::new() };
    match (figure.value, &figure.reason) {
        (Some(value), _) => with_interval(value, figure.ci),
        (None, Some(reason)) if reason.starts_with("failed") => "failed".to_owned(),
        (None, _) => "skipped".to_owned(),
    }
}

/// The ratio with its interval.
pub fn compared(row: &ComparedRow) -> String {
    row.ratio.map(|value| ratio(value, row.ratio_ci)).unwrap_or_default()
}

/// What stands beside a verdict: the reason with its remedy.
pub fn reason(row: &ComparedRow) -> String {
    let reason = clean(row.reason.as_deref().unwrap_or_default());
    crate::text::with_remedy(&reason, &clean(row.remedy.as_deref().unwrap_or_default()))
}

/// Rows that are named where many share a reason; the tables hold all.
const NAMED: usize = 4;

/// Rows of a verdict that have a reason, grouped by it, a sentence for each group.
pub fn reasons(comparison: &Comparison, verdict: Verdict) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in comparison.rows.iter().filter(|row| row.verdict == verdict && row.reason.is_some()) {
        let (reason, name) = (reason(row), name(row));
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    let sentence = |(reason, mut names): (String, Vec<String>)| {
        if names.len() > NAMED {
            let more = names.len() - (NAMED - 1);
            names.truncate(NAMED - 1);
            names.push(format!("{more} more"));
        }
        format!("{}: {reason}", names.join("; "))
    };
    groups.into_iter().map(sentence).collect()
}
