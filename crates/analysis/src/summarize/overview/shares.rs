//! Rows as shares of their runtime's own base, and claims about them.

use taskscale_model::{
    figure::count,
    run_file::{Role, Time},
    suite::{Block, Claim, ClaimOf, ShareOf},
    summary::{ClaimVerdict, Interval, Judged, Served, Share, Shares},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    quantile::{median, sorted},
    sign::sign_interval,
};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost, ratio},
};
use crate::read::Run;

/// The block of a suite that a row's table comes from, if that is read as shares.
pub fn block<'r>(run: &'r Run, one: &RowSamples<'_>) -> Option<(&'r Block, &'r ShareOf)> {
    let block = run.block(&one.row.key)?;
    block.share.as_ref().map(|share| (block, share))
}

/// All tables that are read as shares, at each of their sizes. O(rows).
pub fn of(run: &Run, samples: &[RowSamples<'_>]) -> Vec<Shares> {
    let mut groups: Vec<Vec<&RowSamples<'_>>> = Vec::new();
    for one in samples.iter().filter(|one| block(run, one).is_some()) {
        let key =
            |one: &RowSamples<'_>| (one.row.key.suite.clone(), one.row.key.table.clone(), one.row.key.size);
        match groups.iter_mut().find(|group| key(group[0]) == key(one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().filter_map(|group| table(run, group)).collect()
}

fn table(run: &Run, group: &[&RowSamples<'_>]) -> Option<Shares> {
    let (block, share) = block(run, group[0])?;
    let key = &group[0].row.key;
    let costs: Vec<Cost<'_>> = group
        .iter()
        .filter(|one| one.is_ok() && one.row.role != Role::Control)
        .filter_map(|one| cost(one, Time::Cpu))
        .filter(|cost| cost.ns > 0.0)
        .collect();
    let rows: Vec<Share> = costs.iter().filter_map(|one| row(one, &costs, share)).collect();
    let (subtracted, mut rows): (Vec<Share>, Vec<Share>) =
        rows.into_iter().partition(|row| Some(&row.variant) == share.subtract.as_ref());
    for row in &mut rows {
        row.percent_without = without(row, subtracted.iter().find(|one| one.runtime == row.runtime));
    }
    rows.sort_by(|a, b| {
        let first = |row: &Share| if row.is_base { row.unit_ns } else { f64::INFINITY };
        first(a).total_cmp(&first(b)).then(b.percent.total_cmp(&a.percent))
    });
    Some(Shares {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: key.size,
        unit: share.unit.clone(),
        count: share.count,
        claims: block.claims.iter().map(|claim| judged(claim, &costs)).collect(),
        rows,
        subtracted,
    })
    .filter(|shares| !shares.rows.is_empty())
}

fn row(one: &Cost<'_>, costs: &[Cost<'_>], share: &ShareOf) -> Option<Share> {
    let record = one.samples.row;
    let base = match record.baseline {
        Some(number) => costs.iter().find(|cost| cost.samples.row.row == number)?,
        None => one,
    };
    let is_base = base.samples.row.row == record.row;
    let (percent, ci) = if is_base { (100.0, None) } else { percent(one, base) };
    let unit_ns = one.ns / share.count.max(1) as f64;
    let key = &record.key;
    let variant = key.variant_and_case();
    Some(Share {
        is_base,
        percent,
        ci,
        unit_ns,
        // Of the paired ratio, so that it has the noise of one round and not of two.
        added_ns: if is_base { 0.0 } else { unit_ns * (1.0 - percent / 100.0) },
        percent_without: None,
        served: served(one),
        published: share.published.get(&format!("{}:{variant}", key.runtime)).copied(),
        runtime: key.runtime.clone(),
        variant,
    })
}

/// The share of a row without what `subtracted` takes. All three are ratios to the same base,
/// paired by round.
fn without(row: &Share, subtracted: Option<&Share>) -> Option<f64> {
    let taken = 100.0 / subtracted?.percent;
    let (base, left) = (1.0 - taken, 100.0 / row.percent - taken);
    (base > 0.0 && left > 0.0).then_some(100.0 * base / left)
}

/// What the server of a row did.
fn served(one: &Cost<'_>) -> Option<Served> {
    let samples = || one.samples.timed.iter().filter_map(|sample| Some((sample, sample.load.as_ref()?)));
    let middle = |values: Vec<f64>| median(&sorted(&values));
    let per_s = samples().map(|(sample, load)| {
        let requests = sample.size as f64 * sample.iterations as f64;
        requests * 1e9 / load.wall_ns.max(1) as f64
    });
    let used = samples().map(|(_, load)| load.generator_cpu_ns as f64 / load.wall_ns.max(1) as f64);
    Some(Served {
        server: samples().next()?.1.server.clone(),
        per_s: middle(per_s.collect())?,
        generator_share: middle(used.collect())?,
    })
}

/// What remains of `base`'s throughput, in percent, with its 95 % interval.
fn percent(one: &Cost<'_>, base: &Cost<'_>) -> (f64, Option<Interval>) {
    let (ratio, ci) = ratio(one, base, Time::Cpu);
    let share = |ratio: f64| 100.0 / ratio;
    (ratio.map_or(f64::NAN, share), ci.map(|Interval(low, high)| Interval(share(high), share(low))))
}

/// CPU time of a row as a share of its wall time, in percent, with its 95 % interval.
fn cores(one: &Cost<'_>) -> Option<(f64, Option<Interval>)> {
    let shares = one.samples.timed.iter().filter(|sample| sample.wall_ns > 0);
    let shares: Vec<f64> =
        shares.map(|sample| 100.0 * sample.cpu_ns as f64 / sample.wall_ns as f64).collect();
    let processes: Vec<u64> =
        one.samples.timed.iter().filter(|sample| sample.wall_ns > 0).map(|sample| sample.process).collect();
    let ci = sign_interval(&sorted(&independent(&processes, &shares)), CONFIDENCE);
    Some((median(&sorted(&shares))?, ci.map(|(low, high)| Interval(low, high))))
}

/// Holds a claim to what was measured at one size.
pub fn judged(claim: &Claim, costs: &[Cost<'_>]) -> Judged {
    let find = |variant: &str| {
        costs.iter().find(|cost| {
            let key = &cost.samples.row.key;
            key.runtime == claim.runtime && key.variant_and_case() == variant
        })
    };
    let measured = match claim.of {
        ClaimOf::Throughput => {
            find(&claim.variant).zip(find(&claim.than)).map(|(one, other)| percent(one, other))
        }
        ClaimOf::Cores => find(&claim.variant).and_then(cores),
        // A table with published rates holds it to them.
        ClaimOf::Published => None,
        // A table of streams has the counts of its rows.
        ClaimOf::Peak => None,
    };
    held_to(claim, measured)
}

/// The verdict on a claim by its share in percent and the interval.
pub fn held_to(claim: &Claim, measured: Option<(f64, Option<Interval>)>) -> Judged {
    let (above, below) = (claim.above.unwrap_or(f64::NEG_INFINITY), claim.below.unwrap_or(f64::INFINITY));
    let verdict = match measured {
        None => ClaimVerdict::NotMeasured,
        Some((_, Some(Interval(low, high)))) if low >= above && high <= below => ClaimVerdict::Confirmed,
        Some((_, Some(Interval(low, high)))) if high < above || low > below => ClaimVerdict::Refuted,
        Some(_) => ClaimVerdict::CannotTell,
    };
    Judged {
        text: claim.text.clone(),
        verdict,
        percent: measured.map(|(percent, _)| percent),
        ci: measured.and_then(|(_, ci)| ci),
        of: of_what(claim),
    }
}

/// Which row a claim is about, and which other.
fn of_what(claim: &Claim) -> String {
    let at = |size: Option<u64>| size.map(|size| format!(" at {}", count(size))).unwrap_or_default();
    let one = format!("{} {}{}", claim.runtime, claim.variant, at(claim.size));
    match claim.of {
        ClaimOf::Throughput if claim.than == claim.variant => format!("{one} of that{}", at(claim.than_size)),
        ClaimOf::Throughput => format!("{one} of {}{}", claim.than, at(claim.than_size)),
        ClaimOf::Cores => format!("{one}, CPU time of wall time"),
        ClaimOf::Peak => format!("peak memory of {one} of {} (--metrics rss)", claim.than),
        ClaimOf::Published => format!("{one} of the published rate"),
    }
}
