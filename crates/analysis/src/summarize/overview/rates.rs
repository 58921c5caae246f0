//! Tasks in a second of CPU time, beside rates that somebody published.

use taskscale_model::{
    run_file::{Role, Time},
    suite::{Block, Claim, ClaimOf, RatesOf},
    summary::{Interval, Judged, Ranking, Rate, Rates},
};
use taskscale_stats::quantile::{median, sorted};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost},
    shares::held_to,
};
use crate::read::Run;

/// The rows of a series that something was published of, table by table. O(rows).
pub fn of(run: &Run, samples: &[RowSamples<'_>]) -> Vec<Rates> {
    let mut groups: Vec<(&Block, &RatesOf, Vec<Cost<'_>>)> = Vec::new();
    for one in samples.iter().filter(|one| one.is_ok() && one.row.role != Role::Control) {
        let Some(block) = run.block(&one.row.key) else { continue };
        let Some(rates) = &block.rates else { continue };
        let is_published =
            one.row.key.case.is_empty() && rates.published.contains_key(&one.row.key.full_name());
        let Some(cost) = cost(one, Time::Cpu).filter(|cost| is_published && cost.ns > 0.0) else { continue };
        match groups.iter_mut().find(|(known, ..)| std::ptr::eq(*known, block)) {
            Some((.., costs)) => costs.push(cost),
            None => groups.push((block, rates, vec![cost])),
        }
    }
    groups.into_iter().map(|(block, rates, costs)| table(block, rates, costs)).collect()
}

/// Whether a ranking has no other figures: it is of the only series of its table.
pub fn are_those_of(rates: &Rates, ranking: &Ranking) -> bool {
    (&rates.suite, &rates.table) == (&ranking.suite, &ranking.table)
        && ranking.rows.iter().all(|row| {
            rates.rows.iter().any(|rate| {
                (&rate.runtime, &rate.variant, rate.size) == (&row.runtime, &row.variant, row.size)
            })
        })
}

fn table(block: &Block, of: &RatesOf, mut costs: Vec<Cost<'_>>) -> Rates {
    costs.sort_by_key(|cost| (&cost.samples.row.key.series, cost.samples.row.key.size));
    let key = &costs[0].samples.row.key;
    Rates {
        suite: key.suite.clone(),
        table: key.table.clone(),
        published_on: of.published_on.clone(),
        rows: costs.iter().map(|cost| rate(cost, of)).collect(),
        claims: block.claims.iter().map(|claim| judged(claim, &costs, of)).collect(),
    }
}

fn rate(cost: &Cost<'_>, of: &RatesOf) -> Rate {
    let key = &cost.samples.row.key;
    let wall = median(&sorted(&cost.samples.values(Time::Wall))).filter(|&ns| ns > 0.0);
    Rate {
        runtime: key.runtime.clone(),
        variant: key.variant_and_case(),
        size: key.size,
        per_s: 1e9 / cost.ns,
        ci: cost.ci.map(|Interval(low, high)| Interval(1e9 / high, 1e9 / low)),
        wall_per_s: wall.map(|ns| 1e9 / ns),
        published: of.of(&key.full_name(), key.size),
    }
}

/// Holds a claim about one or two sizes to what was measured.
fn judged(claim: &Claim, costs: &[Cost<'_>], of: &RatesOf) -> Judged {
    let find = |variant: &str, size: Option<u64>| {
        costs.iter().find(|cost| {
            let key = &cost.samples.row.key;
            key.runtime == claim.runtime && key.variant == variant && Some(key.size) == size
        })
    };
    let one = find(&claim.variant, claim.size);
    let measured = match claim.of {
        ClaimOf::Throughput => one.zip(find(&claim.than, claim.than_size)).map(|(one, other)| {
            // Two sizes are measured one after the other, so that nothing pairs: the ends of both
            // intervals make one that is wider than 95 %.
            let ci = one
                .ci
                .zip(other.ci)
                .map(|(one, other)| Interval(100.0 * other.0 / one.1, 100.0 * other.1 / one.0));
            (100.0 * other.ns / one.ns, ci)
        }),
        ClaimOf::Published => one.and_then(|one| {
            let published = of.of(&one.samples.row.key.full_name(), one.samples.row.key.size)?;
            let percent = |ns: f64| 100.0 * 1e9 / ns / published;
            Some((percent(one.ns), one.ci.map(|Interval(low, high)| Interval(percent(high), percent(low)))))
        }),
        _ => None,
    };
    held_to(claim, measured)
}
