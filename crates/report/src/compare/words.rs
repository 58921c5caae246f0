//! Words that text, Markdown and XML share.

use taskscale_model::{
    compare::{ComparedRow, Comparison, Design, Figure, Side, Verdict},
    missing::Missing,
    summary::RowStatus,
};

use crate::style::{clean, with_remedy};
use taskscale_model::figure::{count, percent, ratio, with_interval};

/// The legend of a ratio.
pub fn legend(comparison: &Comparison) -> String {
    let ratio = match comparison.design {
        Design::TwoRuns => "by Hodges and Lehmann over processes",
        Design::OneRun => "by Hodges and Lehmann over processes that took turns",
    };
    format!(
        "ns per task: median over processes ± the farther end of its 95 % interval; NEW/OLD {ratio}, with an interval that holds for all rows \
         together in {} % of cases.",
        percent(comparison.confidence)
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

/// Names a side in one line. Where each side is a run of its own, it also says what took the run.
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

/// Runtimes that may differ between the files: `go 1.26.7 (..) -> 1.26.8 (..)`.
pub fn changes(comparison: &Comparison) -> Vec<String> {
    let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "not here".to_owned());
    let differ = comparison.runtimes.iter().filter(|change| change.old != change.new);
    differ
        .map(|change| clean(&format!("{} {} -> {}", change.id, shown(&change.old), shown(&change.new))))
        .collect()
}

/// The table that a row belongs to.
pub fn heading(row: &ComparedRow) -> String {
    clean(&row.key.heading())
}

/// The row's variant and case.
pub fn variant(row: &ComparedRow) -> String {
    clean(&row.key.variant_and_case())
}

/// The row's name without its table.
pub fn name(row: &ComparedRow) -> String {
    clean(&format!("{} {}, size {}", row.key.runtime, variant(row), count(row.key.size)))
}

/// Writes `4,480 ±1.8%`, `failed`, or nothing for a row that the file does not have.
pub fn figure(figure: Option<&Figure>) -> String {
    let Some(figure) = figure else { return String::new() };
    match (figure.estimate.value(), figure.status) {
        (Some(estimate), _) => with_interval(estimate.value, estimate.ci),
        (None, RowStatus::Failed) => "failed".to_owned(),
        (None, RowStatus::Ok | RowStatus::Skipped) => "skipped".to_owned(),
    }
}

/// Writes the ratio with its interval.
pub fn compared(row: &ComparedRow) -> String {
    row.ratio.map(|value| ratio(value, row.ratio_ci)).unwrap_or_default()
}

/// Writes the reason with its remedy behind a verdict, or nothing where there is no reason.
pub fn reason(row: &ComparedRow) -> String {
    let words = |why: &Missing| with_remedy(&clean(&why.reason), &clean(&why.remedy));
    row.why.as_ref().map(words).unwrap_or_default()
}

/// The most rows that are named where many share a reason. The tables hold all.
const NAMED: usize = 4;

/// Groups the rows of a verdict by their reason, one sentence for each group.
pub fn reasons(comparison: &Comparison, verdict: Verdict) -> Vec<String> {
    reasons_of(comparison.rows.iter().filter(|row| row.verdict == verdict))
}

/// The same of these rows.
pub fn reasons_of<'r>(rows: impl Iterator<Item = &'r ComparedRow>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows.filter(|row| row.why.is_some()) {
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
