//! What one version of a runtime costs beside another: each way that both have, paired.

use taskscale_model::{
    figure,
    summary::{Finding, FindingKind, Ranking, Standing},
};

use super::rank::{Cost, Table, ratio};

/// So many ways stand in a sentence: with their ratios they fill three lines.
const WAYS: usize = 4;

/// A runtime without its toolchain: `asyncio` of `asyncio@python3.13`.
fn family(runtime: &str) -> &str {
    runtime.split_once('@').map_or(runtime, |(family, _)| family)
}

/// A sentence for each version of a runtime but the one that the others are divided by, table by
/// table. That is the reference of the table's ranking, or else the first in `order`, in which the
/// run names them.
pub fn of_versions(order: &[&str], tables: &[Table<'_>], rankings: &[Ranking]) -> Vec<Finding> {
    let with_order = |table: &Table<'_>| {
        let reference = table.rows.first().and_then(|cost| reference(cost, rankings));
        let mut order = order.to_vec();
        order.sort_by_key(|runtime| Some(*runtime) != reference);
        of_table(&order, table, tables.len() > 1)
    };
    tables.iter().flat_map(with_order).collect()
}

/// The runtime that the rows beside this one are divided by.
fn reference<'r>(cost: &Cost<'_>, rankings: &'r [Ranking]) -> Option<&'r str> {
    let key = &cost.samples.row.key;
    let ranking = rankings.iter().find(|one| (&one.suite, &one.table) == (&key.suite, &key.table))?;
    ranking.rows.iter().find(|row| row.standing == Standing::Reference).map(|row| row.runtime.as_str())
}

fn of_table(order: &[&str], table: &Table<'_>, names_the_table: bool) -> Vec<Finding> {
    let ways = |runtime: &str| -> Vec<&Cost<'_>> {
        table.rows.iter().filter(|cost| cost.samples.row.key.runtime == runtime).collect()
    };
    let mut findings = Vec::new();
    for (index, newer) in order.iter().enumerate() {
        let same = |other: &&&str| family(other) == family(newer) && !ways(other).is_empty();
        let Some(older) = order[..index].iter().find(same) else { continue };
        let mut parts: Vec<(f64, String, String)> = Vec::new();
        // Ways of which nothing is certain have no figure here: it would be read as one.
        let mut unsure: Vec<String> = Vec::new();
        for way in ways(newer) {
            let name = way.samples.row.key.variant_and_case();
            let others = ways(older);
            let same = |other: &&&Cost<'_>| other.samples.row.key.variant_and_case() == name;
            let Some(other) = others.iter().find(same) else { continue };
            match ratio(way, other, table.time) {
                (Some(ratio), Some(ci)) => parts.push((other.ns, figure::ratio(ratio, Some(ci)), name)),
                _ => unsure.push(name),
            }
        }
        // The cheapest way of the older one first.
        parts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let more = parts.len().saturating_sub(WAYS);
        let Some(((_, ratio, name), rest)) = parts.split_first() else {
            findings.extend(without_ratios(newer, older, &unsure));
            continue;
        };
        let mut text = format!("{newer} costs {ratio} of {older} ({name})");
        for (_, ratio, name) in rest.iter().take(WAYS - 1) {
            text += &format!(", {ratio} ({name})");
        }
        if more > 0 {
            text += &format!(" and {more} more");
        }
        if names_the_table {
            text += &format!(": {}", table.rows[0].samples.row.key.table);
        }
        findings.push(Finding { kind: FindingKind::Version, text, remedy: String::new() });
    }
    findings
}

/// That no way of two versions has a ratio with an interval, and what to do.
fn without_ratios(newer: &str, older: &str, ways: &[String]) -> Option<Finding> {
    let (first, more) = ways.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(Finding {
        kind: FindingKind::Version,
        text: format!("cannot tell what {newer} costs beside {older} ({first}{more}): too few processes"),
        remedy: "allow more with --max-time".to_owned(),
    })
}
