//! The outcome in a sentence, and what a reader must know before trusting it.

use taskscale_model::{
    compare::{Comparison, Counts},
    figure::{count, percent},
    plain::clean,
    summary::lines::WALL_PER_TASK,
};

use crate::{
    read::Run,
    summarize::{control, doubts, samples::RowSamples},
};

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

/// The outcome in a sentence where counts were judged too. A count that is worse is a regression,
/// whatever time says.
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
pub fn notes(
    comparison: &Comparison,
    (old, new): (&Run, &Run),
    (of_old, of_new): (&[RowSamples<'_>], &[RowSamples<'_>]),
) -> Vec<String> {
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
    for (side, run, series, name) in
        [(&comparison.old, old, of_old, "OLD"), (&comparison.new, new, of_new, "NEW")]
    {
        if run.header.command.iter().any(|word| word == "--quick") {
            notes.push(format!(
                "{name} is a first look (--quick): few processes a row, so small differences are not told"
            ));
        }
        if !side.complete {
            notes.push(format!("{name} was cut short: rows that it did not reach cannot be told"));
        }
        let all = run.notes.iter().cloned().chain(of_samples(run, series));
        notes.extend(all.map(|note| clean(&format!("{name}: {note}"))));
    }
    notes
}

/// What a reader must know before trusting a verdict on two sides that one run took in turns.
pub fn notes_of_one_run(comparison: &Comparison, run: &Run, series: &[RowSamples<'_>]) -> Vec<String> {
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
    notes.extend(run.notes.iter().cloned().chain(of_samples(run, series)).map(|note| clean(&note)));
    notes
}

/// What is not taken at its word.
fn of_samples(run: &Run, series: &[RowSamples<'_>]) -> impl Iterator<Item = String> {
    let times = doubts::of_times(series).into_iter().map(|(text, _)| text);
    doubts::set_aside(run).into_iter().chain(times)
}

fn of_wall_time(comparison: &Comparison) -> Option<String> {
    (comparison.metric == WALL_PER_TASK.name)
        .then(|| "wall time is the time of the neighbours too: gate on CPU time".to_owned())
}
