//! The answer of a run: rankings against one reference, and findings by how much they matter.

mod across;
mod findings;
mod grown;
mod latencies;
mod rank;
mod rates;
mod reaches;
mod residents;
mod scales;
mod shares;
mod splits;
mod streams;
mod versions;
mod waits;

use taskscale_model::summary::{Control, Granularity, Growth, Overview, Row};

use super::{Options, Sort, samples::RowSamples};
use crate::read::Run;
pub(crate) use rank::TIE;

/// What the answer is made of.
pub struct Parts<'a> {
    pub run: &'a Run,
    pub samples: &'a [RowSamples<'a>],
    pub rows: &'a [Row],
    pub growth: &'a [Growth],
    pub granularity: &'a [Granularity],
    pub control: &'a Control,
}

/// Ranks the rows of each table and collects the findings. O(rows^2) within a runtime of a table.
pub fn of(parts: &Parts<'_>, options: &Options) -> Overview {
    let tables = rank::tables(parts.run, parts.samples);
    let mut rankings = rank::rankings(parts.run, &tables, options);
    rankings.extend(rank::of_grains(parts.granularity));
    let shares = shares::of(parts.run, parts.samples);
    let scales = scales::of(parts.run, parts.samples);
    let rates = rates::of(parts.run, parts.samples);
    let streams = streams::of(parts.run, parts.samples, parts.rows);
    let findings = findings::all(parts, &tables, &rankings, (&shares, &scales), &streams);
    // Figures by size stand once on a screen: where there are published ones, beside these.
    rankings.retain(|ranking| !rates.iter().any(|rates| rates::are_those_of(rates, ranking)));
    if options.sort == Sort::Name {
        for ranking in &mut rankings {
            ranking.rows.sort_by(|a, b| (&a.runtime, &a.variant).cmp(&(&b.runtime, &b.variant)));
        }
    }
    Overview {
        titles: parts.run.header.suites.iter().map(|suite| suite.title.clone()).collect(),
        findings,
        shares,
        latencies: latencies::of(parts.samples),
        reaches: reaches::of(parts.run, parts.rows),
        scales,
        across: across::of(parts.run, parts.samples),
        residents: residents::of(parts.samples, parts.rows),
        waits: waits::of(parts.samples),
        streams,
        rates,
        splits: splits::of(parts.run, parts.samples, parts.rows),
        rankings,
        elapsed_s: parts.run.ended.as_ref().map(|end| end.elapsed_s).filter(|s| LASTED_S.contains(s)),
    }
}

/// Seconds that a run may have lasted. A file may say anything, and no run lasts for 30 years.
const LASTED_S: std::ops::Range<f64> = 0.0..1e9;
