//! Which row of one side belongs to which row of the other, and by how much the two differ.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    compare::{Estimate, Figure, RuntimeChange},
    key::RowKey,
    missing::Missing,
    plain::clean,
    run_file::{ANY, Role, RowRecord, Time},
    summary::{Interval, RowStatus, Settled},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    quantile::{median, sorted},
    rounds::Rounds,
    shift::{self, Shift},
    sign::sign_interval,
};

use crate::summarize::{
    samples::{RowSamples, State, by_number},
    warmup,
};

/// How many times as small a part of its time one side may tell. Both leave the same set-up untimed
/// where the code is like, whose part moves a little with what is timed.
const UNLIKE: f64 = 1.25;

/// A row on one or both sides.
pub struct Pair<'a> {
    pub old: Option<Side<'a>>,
    pub new: Option<Side<'a>>,
    /// Whether its code is the same on both sides.
    pub same_code: bool,
    /// Whether the other side has it with other parameters.
    pub elsewhere: bool,
    /// The rounds of both sides, paired, where they are of one run.
    pub rounds: Option<Rounds>,
}

/// A row on one side.
pub struct Side<'a> {
    /// The row as planned.
    pub row: &'a RowRecord,
    pub state: &'a State,
    /// How many times as much as its probe tells was seen from outside, and whether that is
    /// doubted.
    told: Option<(f64, bool)>,
    /// One value for each process: the median of its samples, in ns per task.
    pub values: Vec<f64>,
    /// How many of its processes had settled.
    settled: Option<Settled>,
}

/// A row, its name on both sides, and its place among rows of that name.
struct Keyed<'a> {
    /// The key without the version, under the runtime's name on the new side.
    key: RowKey,
    place: usize,
    one: &'a RowSamples<'a>,
}

impl Keyed<'_> {
    /// The key without parameters.
    fn plain(&self) -> RowKey {
        let mut key = self.key.clone();
        (key.params, key.case) = Default::default();
        key
    }
}

impl<'a> Pair<'a> {
    /// The row of the new side, or else of the old side.
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

    /// Whether neither side was tried.
    fn is_skipped(&self) -> bool {
        let skipped = |side: &Option<Side<'_>>| {
            side.as_ref().is_none_or(|side| matches!(side.state, State::Skipped(_)))
        };
        skipped(&self.old) && skipped(&self.new)
    }

    /// The factor by which the new side differs: round by round where both are of one run, else
    /// process by process. It is `None` where there are too few.
    pub fn shift(&self, confidence: f64) -> Option<Shift> {
        let (old, new) = self.values()?;
        let Some(rounds) = &self.rounds else { return Shift::of(old, new, confidence) };
        let paired = rounds.paired(confidence)?;
        Some(Shift { log: paired.ratio.ln(), low: paired.low.ln(), high: paired.high.ln() })
    }

    /// Says what is missing for an interval at `confidence`, which so many rows share.
    pub fn too_few(&self, confidence: f64, rows: usize) -> String {
        let (old, new) = self.values().unwrap_or_default();
        let (have, needed) = match &self.rounds {
            None => (
                format!("{} in OLD and {} in NEW", old.len(), new.len()),
                format!("{} in each", shift::fewest(confidence)),
            ),
            Some(rounds) => (rounds.observations().to_string(), rounds.fewest(confidence).to_string()),
        };
        let shared = if rows > 1 { format!(" for {rows} rows") } else { String::new() };
        format!("too few processes: {have}, {needed} are needed{shared}")
    }
}

impl Side<'_> {
    /// Says what keeps two sides from being divided of which one tells a smaller part of its time
    /// than the other.
    pub fn tells_less_than(&self, other: &Side<'_>) -> Option<String> {
        let ((own, doubted), (others, _)) = (self.told?, other.told?);
        (doubted && own > others * UNLIKE)
            .then(|| format!("{own:.1} times the time that its probe tells was seen from outside"))
    }

    fn is_ok(&self) -> bool {
        matches!(self.state, State::Ok(_))
    }

    fn skipped(&self) -> Option<&Missing> {
        if let State::Skipped(why) = self.state { Some(why) } else { None }
    }

    /// Whether most of its processes were timed while their cost still fell.
    pub fn not_settled(&self) -> bool {
        self.settled.is_some_and(Settled::mostly_not)
    }

    /// The side's entry in the comparison.
    pub fn figure(&self) -> Figure {
        let (status, missing) = match self.state {
            State::Ok(_) => (RowStatus::Ok, Missing::new("the run file holds no timed sample of it", "")),
            State::Failed(why) => (RowStatus::Failed, why.clone()),
            State::Skipped(why) => (RowStatus::Skipped, why.clone()),
        };
        let ci = sign_interval(&sorted(&self.values), CONFIDENCE).map(|(low, high)| Interval(low, high));
        let value = median(&self.values).filter(|_| self.is_ok());
        Figure {
            version: self.row.key.version.clone(),
            processes: self.values.len() as u64,
            status,
            estimate: value.map(|value| Estimate { value, ci }).ok_or(missing).into(),
        }
    }
}

/// All rows but the controls, in the order of the plans. Rows of the new file come first.
pub fn of_two_runs<'a>(
    (old, new): &'a (Vec<RowSamples<'a>>, Vec<RowSamples<'a>>),
    time: Time,
    runtimes: &[RuntimeChange],
) -> Vec<Pair<'a>> {
    let (before, now) = (keyed(old.iter(), None), keyed(new.iter(), None));
    let same_code = |one: &RowSamples<'_>| {
        runtimes.iter().any(|change| change.id == one.row.key.runtime && change.same_code)
    };
    matched(&before, &now, time, &same_code)
}

/// Takes out the rows of runtimes that neither side has, and says of each runtime once why: there
/// is nothing of it to compare. A runtime that one side has stays, with a row for all of its tables
/// where the other names none.
pub fn without_absent(mut pairs: Vec<Pair<'_>>) -> (Vec<Pair<'_>>, Vec<String>) {
    let (mut notes, mut named) = (Vec::new(), BTreeSet::new());
    pairs.retain(|pair| {
        let runtime = &pair.row().key.runtime;
        if pair.row().key.variant != ANY {
            return true;
        }
        let is_first = named.insert(runtime.clone());
        match (pair.old.as_ref().and_then(Side::skipped), pair.new.as_ref().and_then(Side::skipped)) {
            (Some(_), Some(why)) => {
                notes.extend(is_first.then(|| clean(&format!("{runtime} is in neither file: {why}"))));
                false
            }
            _ => is_first,
        }
    });
    (pairs, notes)
}

/// The rows of the two sides of one run, one new side after another. `sides` holds pairs of names,
/// new and old.
pub fn of_one_run<'a>(
    series: &'a [RowSamples<'a>],
    sides: &'a [(String, String)],
    time: Time,
    runtimes: &[RuntimeChange],
) -> Vec<Pair<'a>> {
    let by_number = by_number(series);
    let of = |runtime: &'a str| series.iter().filter(move |one| one.row.key.runtime == *runtime);
    let pairs = sides.iter().zip(runtimes).flat_map(|((new, old), change)| {
        let (before, now) = (keyed(of(old), Some(new)), keyed(of(new), Some(new)));
        let mut pairs = matched(&before, &now, time, &|_| change.same_code);
        for pair in &mut pairs {
            let one = |side: &Option<Side<'_>>| {
                let row = side.as_ref()?.row;
                by_number.get(&row.row).copied()
            };
            if let (Some(old), Some(new)) = (one(&pair.old), one(&pair.new)) {
                let rounds = new.against(old, time).fresh();
                let control = series.iter().find(|one| one.row.repeats(old.row.row) && one.is_ok());
                pair.rounds = Some(match control {
                    Some(control) => rounds.beside(control.rounds(time)),
                    None => rounds,
                });
            }
        }
        // A table of the suite that neither side offers is no row of either. The tables of the run
        // say so.
        pairs.retain(|pair| !(pair.row().key.variant == ANY && pair.is_skipped()));
        pairs
    });
    pairs.collect()
}

fn matched<'a>(
    before: &[Keyed<'a>],
    now: &[Keyed<'a>],
    time: Time,
    same_code: &dyn Fn(&RowSamples<'_>) -> bool,
) -> Vec<Pair<'a>> {
    let place_of = |keyed: &Keyed<'a>| (keyed.key.clone(), keyed.place);
    let by_key: BTreeMap<_, _> = before.iter().map(|old| (place_of(old), old.one)).collect();
    let taken: BTreeSet<_> = now.iter().map(place_of).collect();
    let plain_keys = |all: &[Keyed<'_>]| -> BTreeSet<RowKey> { all.iter().map(Keyed::plain).collect() };
    let (plain_before, plain_now) = (plain_keys(before), plain_keys(now));
    let of_new = now.iter().map(|new| {
        let old = by_key.get(&place_of(new)).map(|one| side(one, time));
        Pair {
            same_code: old.is_some() && same_code(new.one),
            elsewhere: old.is_none() && plain_before.contains(&new.plain()),
            old,
            new: Some(side(new.one, time)),
            rounds: None,
        }
    });
    let of_old_alone = before.iter().filter(|old| !taken.contains(&place_of(old))).map(|old| Pair {
        old: Some(side(old.one, time)),
        new: None,
        same_code: false,
        elsewhere: plain_now.contains(&old.plain()),
        rounds: None,
    });
    of_new.chain(of_old_alone).collect()
}

/// The rows with their keys, under the name `runtime` where it is given.
fn keyed<'a>(series: impl Iterator<Item = &'a RowSamples<'a>>, runtime: Option<&str>) -> Vec<Keyed<'a>> {
    let mut seen: BTreeMap<RowKey, usize> = BTreeMap::new();
    let rows = series.filter(|one| !matches!(one.row.role, Role::Control | Role::Calibration));
    rows.map(|one| {
        let mut key = one.row.key.clone();
        key.version.clear();
        if let Some(runtime) = runtime {
            key.runtime = runtime.to_owned();
        }
        let places = seen.entry(key.clone()).or_default();
        let place = *places;
        *places += 1;
        Keyed { key, place, one }
    })
    .collect()
}

fn side<'a>(one: &'a RowSamples<'a>, time: Time) -> Side<'a> {
    let processes = one.processes();
    let values = one.values(time);
    let values = match processes.first() {
        // Rounds of a single process say nothing about others.
        Some(first) if processes.iter().all(|process| process == first) => {
            median(&values).into_iter().collect()
        }
        _ => independent(&processes, &values),
    };
    let settled = if one.is_ok() { warmup::settled(one) } else { None };
    let doubt = one.told.doubted(time);
    let told = match doubt.filter(|doubt| doubt.of.is_some() && doubt.times.is_finite()) {
        Some(doubt) => Some((doubt.times, true)),
        None => one.told.times(time).map(|times| (times, doubt.is_some())),
    };
    Side { row: one.row, state: &one.state, told, values, settled }
}
