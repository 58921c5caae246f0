//! Counts that changed, in sentences.

use taskscale_model::{
    compare::{ComparedRow, Comparison, Verdict},
    metric::Count,
};

use super::words;
use crate::{counts::number, style::clean};

/// The counts that have a verdict, one sentence for each row and count: `tokio spawn, size 64:
/// allocations per task 2.000 -> 3.000 (+1.000)`.
pub fn changed(comparison: &Comparison, verdict: Verdict) -> Vec<String> {
    let with_row = |row| words_of(row).filter(move |(found, _)| *found == verdict).map(|(_, line)| line);
    comparison.rows.iter().flat_map(with_row).collect()
}

/// The row's counts that got worse, one sentence each.
pub fn worse(row: &ComparedRow) -> Vec<String> {
    words_of(row).filter(|(verdict, _)| *verdict == Verdict::Worse).map(|(_, line)| line).collect()
}

fn words_of(row: &ComparedRow) -> impl Iterator<Item = (Verdict, String)> + '_ {
    row.counts.iter().filter_map(|compared| {
        let count = Count::ALL.into_iter().find(|count| count.in_summary().0 == compared.metric)?;
        let (old, new, change) = (compared.old.value()?, compared.new.value()?, compared.change?);
        let what = match count {
            Count::Bytes => "bytes allocated",
            other => other.title(),
        };
        let sign = if change < 0.0 { "" } else { "+" };
        let [old, new, change] = [old.median, new.median, change].map(|value| number(value, count));
        let name = words::name(row);
        Some((compared.verdict, clean(&format!("{name}: {what} per task {old} -> {new} ({sign}{change})"))))
    })
}
