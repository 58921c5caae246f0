//! Groups rows without figures by their reason.

use taskscale_analysis::grouped;
use taskscale_model::figure::count;
use taskscale_model::summary::{Row, RowStatus, Summary};

use crate::style::{bounded, clean};

/// Rows that share a state and its reason.
pub struct Reasons {
    pub reason: String,
    /// What to do; empty where nothing helps.
    pub remedy: String,
    /// The rows as `runtime variant`, with their sizes.
    pub who: Vec<String>,
}

/// Groups the rows without figures in a state by equal reason and remedy, in the order of the plan.
pub fn reasons(summary: &Summary, status: RowStatus) -> Vec<Reasons> {
    type Who = (String, u64);
    let mut groups: Vec<(String, String, Vec<Who>)> = Vec::new();
    // A runtime that is not here has a section of its own.
    let not_here = |row: &&Row| {
        summary.runtimes.iter().any(|one| one.id == row.key.runtime && one.facts.why().is_some())
    };
    let rows = summary.rows.iter().filter(|row| row.status() == status);
    for row in rows.filter(|row| !not_here(row)) {
        let Some(missing) = row.missing() else { continue };
        let (reason, remedy) = (bounded(&clean(&missing.reason)), bounded(&clean(&missing.remedy)));
        let index =
            groups.iter().position(|group| group.0 == reason && group.1 == remedy).unwrap_or_else(|| {
                groups.push((reason, remedy, Vec::new()));
                groups.len() - 1
            });
        let name = clean(&format!("{} {}", row.key.runtime, row.key.variant_and_case()));
        groups[index].2.push((name, row.key.size));
    }
    let named = |rows: Vec<Who>| {
        let name = &rows[0].0;
        let mut sizes: Vec<u64> = rows.iter().map(|(_, size)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let sizes: Vec<String> = sizes.into_iter().map(count).collect();
        format!("{name} at n = {}", sizes.join("; "))
    };
    groups
        .into_iter()
        .map(|(reason, remedy, who)| {
            let who = grouped(who, |(name, _)| name.clone());
            Reasons { reason, remedy, who: who.into_iter().map(named).collect() }
        })
        .collect()
}
