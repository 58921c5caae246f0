//! Latency of servers: the histograms of all samples of a row, added up.

use std::collections::BTreeMap;

use taskscale_model::{
    load::{LoadRecord, Mode, OpenRecord},
    run_file::Role,
    summary::{Latencies, Latency},
};
use taskscale_stats::quantile::{median, sorted};

use super::super::samples::RowSamples;

/// Whether the requests of a row start at a fixed rate. Such a row is about latency.
pub fn is_open(one: &RowSamples<'_>) -> bool {
    matches!(Mode::of(&one.row.key.workload, &one.row.key.params), Some(Mode::Open { .. }))
}

/// All tables with such rows. O(rows + buckets).
pub fn of(samples: &[RowSamples<'_>]) -> Vec<Latencies> {
    let mut tables: Vec<Latencies> = Vec::new();
    for one in samples.iter().filter(|one| one.is_ok() && one.row.role != Role::Control) {
        let Some(row) = row(one) else { continue };
        let key = &one.row.key;
        let same = |table: &Latencies| {
            (&table.suite, &table.table, table.size) == (&key.suite, &key.table, key.size)
        };
        match tables.iter_mut().find(|table| same(table)) {
            Some(table) => table.rows.push(row),
            None => tables.push(Latencies {
                suite: key.suite.clone(),
                table: key.table.clone(),
                size: key.size,
                rows: vec![row],
            }),
        }
    }
    tables
}

fn row(one: &RowSamples<'_>) -> Option<Latency> {
    let Some(Mode::Open { rate }) = Mode::of(&one.row.key.workload, &one.row.key.params) else {
        return None;
    };
    let loads: Vec<(&LoadRecord, &OpenRecord)> = one
        .timed
        .iter()
        .filter_map(|sample| {
            let load = sample.load.as_ref()?;
            Some((load, load.open.as_ref()?))
        })
        .collect();
    let middle = |of: fn(&OpenRecord) -> f64| {
        median(&sorted(&loads.iter().map(|(_, open)| of(open)).collect::<Vec<_>>()))
    };
    let latency = Merged::of(loads.iter().map(|(_, open)| &open.latency));
    let late = Merged::of(loads.iter().map(|(_, open)| &open.late));
    let key = &one.row.key;
    Some(Latency {
        runtime: key.runtime.clone(),
        variant: key.variant.clone(),
        server: loads.first()?.0.server.clone(),
        rate,
        wanted_per_s: middle(|open| open.wanted_per_s)?,
        achieved_per_s: middle(|open| open.achieved_per_s)?,
        n: latency.n,
        waiting: loads.iter().map(|(_, open)| open.waiting).fold(0, u64::saturating_add),
        p50: latency.percentile(0.5)?,
        p90: latency.percentile(0.9)?,
        p99: latency.percentile(0.99),
        p999: latency.percentile(0.999),
        max: latency.counts.last_key_value().map(|(ns, _)| *ns as f64)?,
        late_p99: late.percentile(0.99),
    })
}

/// Histograms, added up.
struct Merged {
    counts: BTreeMap<u64, u64>,
    n: u64,
}

impl Merged {
    fn of<'b>(all: impl Iterator<Item = &'b Vec<(u64, u64)>>) -> Self {
        let mut merged = Merged { counts: BTreeMap::new(), n: 0 };
        for (ns, count) in all.flatten() {
            let sum = merged.counts.entry(*ns).or_default();
            *sum = sum.saturating_add(*count);
            merged.n = merged.n.saturating_add(*count);
        }
        merged
    }

    /// The smallest time that at least this share does not exceed. `None` where not even one
    /// request is to lie above.
    fn percentile(&self, share: f64) -> Option<f64> {
        // Rounded, as 0.1 % of a thousand is one.
        if (self.n as f64 * (1.0 - share)).round() < 1.0 {
            return None;
        }
        let wanted = (self.n as f64 * share).ceil();
        let mut seen = 0;
        self.counts.iter().find_map(|(ns, count)| {
            seen += count;
            (seen as f64 >= wanted).then_some(*ns as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_all_requests_together() {
        let samples = [vec![(1, 500), (2, 400)], vec![(2, 50), (7, 49), (9, 1)]];
        let merged = Merged::of(samples.iter());
        assert_eq!(merged.n, 1_000);
        let percentiles = [0.5, 0.9, 0.95, 0.99, 0.999].map(|share| merged.percentile(share));
        assert_eq!(percentiles, [Some(1.0), Some(2.0), Some(2.0), Some(7.0), Some(7.0)]);
        let few = Merged::of([vec![(1, 99)]].iter());
        assert_eq!((few.percentile(0.99), few.percentile(0.999)), (Some(1.0), None));
        assert_eq!(Merged::of([].iter()).percentile(0.5), None);
    }
}
