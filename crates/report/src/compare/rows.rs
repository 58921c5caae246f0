//! Which row of one file is which of the other.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    compare::{Figure, RuntimeChange},
    missing::Missing,
    run_file::{Role, RowRecord},
    summary::{Interval, Settled},
};
use taskscale_stats::{
    independent::independent,
    quantile::{median, sorted},
    sign::sign_interval,
};

use crate::summarize::{
    CONFIDENCE,
    series::{Metric, Series, State},
    warmup,
};

/// A row in one or both files.
pub struct Pair<'a> {
    /// In the old one.
    pub old: Option<Side<'a>>,
    /// In the new one.
    pub new: Option<Side<'a>>,
    /// Whether its code is the same in both.
    pub same_code: bool,
    /// Whether the other file has it with other parameters.
    pub elsewhere: bool,
}

/// A row in one file.
pub struct Side<'a> {
    /// As planned.
    pub row: &'a RowRecord,
    /// Whether it has figures.
    pub state: &'a State<'a>,
    /// One value for each process: the median of its samples, ns per task.
    pub values: Vec<f64>,
    /// How many of its processes had settled.
    settled: Option<Settled>,
}

/// What makes two rows one: all but the version of the runtime, and among equal ones the how-manieth it is.
type Key<'a> = (Named<'a>, String, u64, usize);
/// The words of a key.
type Named<'a> = [&'a str; 5];

impl<'a> Pair<'a> {
    /// The row, from the new file if that has it.
    pub fn row(&self) -> &'a RowRecord {
        match (&self.new, &self.old) {
            (Some(side), _) | (None, Some(side)) => side.row,
            (None, None) => unreachable!("a pair is made of a row of one of the files"),
        }
    }

    /// The values of both sides, where both have figures.
    pub fn values(&self) -> Option<(&[f64], &[f64])> {
        let (old, new) = (self.old.as_ref()?, self.new.as_ref()?);
        (old.is_ok() && new.is_ok()).then_some((&old.values, &new.values))
    }
}

impl Side<'_> {
    fn is_ok(&self) -> bool {
        matches!(self.state, State::Ok(_))
    }

    /// Whether most of its processes were timed while their cost still fell.
    pub fn not_settled(&self) -> bool {
        self.settled.is_some_and(Settled::mostly_not)
    }

    /// As it is shown.
    pub fn figure(&self) -> Figure {
        let missing = |words: &str, missing: &Missing| Some(format!("{words}: {missing}"));
        Figure {
            version: self.row.version.clone(),
            value: median(&self.values).filter(|_| self.is_ok()),
            ci: sign_interval(&sorted(&self.values), CONFIDENCE).map(|(low, high)| Interval(low, high)),
            processes: self.values.len() as u64,
            reason: match self.state {
                State::Ok(_) => None,
                State::Failed(why) => missing("failed", why),
                State::Skipped(why) => missing("skipped", why),
            },
        }
    }
}

/// All rows but the controls, those of the new file first, in the order of the plans.
pub fn pairs<'a>(
    (old, new): &'a (Vec<Series<'a>>, Vec<Series<'a>>),
    metric: Metric,
    runtimes: &[RuntimeChange],
) -> Vec<Pair<'a>> {
    let (before, now) = (keyed(old), keyed(new));
    let by_key: BTreeMap<&Key<'a>, &'a Series<'a>> = before.iter().map(|(key, one)| (key, *one)).collect();
    let taken: BTreeSet<&Key<'a>> = now.iter().map(|(key, _)| key).collect();
    let like = |all: &[(Key<'_>, &Series<'_>)], key: &Key<'_>| {
        all.iter().any(|(other, _)| (other.0, other.2) == (key.0, key.2))
    };
    let same_code =
        |one: &Series<'_>| runtimes.iter().any(|change| change.id == one.row.runtime && change.same_code);
    let of_new = now.iter().map(|(key, one)| {
        let old = by_key.get(key).map(|one| side(one, metric));
        let elsewhere = old.is_none() && like(&before, key);
        Pair { same_code: old.is_some() && same_code(one), old, new: Some(side(one, metric)), elsewhere }
    });
    let of_old_alone = before.iter().filter(|(key, _)| !taken.contains(key)).map(|(key, one)| Pair {
        old: Some(side(one, metric)),
        new: None,
        same_code: false,
        elsewhere: like(&now, key),
    });
    of_new.chain(of_old_alone).collect()
}

fn keyed<'a>(series: &'a [Series<'a>]) -> Vec<(Key<'a>, &'a Series<'a>)> {
    let mut seen: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    let rows = series.iter().filter(|one| one.row.role != Role::Control);
    rows.map(|one| {
        let row = one.row;
        let words: Named<'_> = [&row.suite, &row.table, &row.workload, &row.runtime, &row.variant];
        // As JSON, so that no word can pass for two.
        let params = serde_json::to_string(&(&row.params, &row.case)).unwrap_or_default();
        let place = seen.entry((words, params.clone(), row.size, 0)).or_default();
        let key = (words, params, row.size, *place);
        *place += 1;
        (key, one)
    })
    .collect()
}

fn side<'a>(one: &'a Series<'a>, metric: Metric) -> Side<'a> {
    let processes = one.processes();
    let values = one.values(metric);
    let values = match processes.first() {
        // Rounds of a single process say nothing about others.
        Some(first) if processes.iter().all(|process| process == first) => {
            median(&values).into_iter().collect()
        }
        _ => independent(&processes, &values),
    };
    let settled = if one.is_ok() { warmup::settled(one) } else { None };
    Side { row: one.row, state: &one.state, values, settled }
}
