//! Counts per task of each row, and whether they are exact: whether the counted processes agree.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    metric::Count,
    missing::Missing,
    run_file::{CountRecord, RowRecord},
    summary::{self, CountPerTask},
};
use taskscale_stats::quantile::{median, sorted};

use crate::read::Run;

/// How many tolerances below zero a count cannot be. What the protocol adds is within one.
const FALLS: f64 = 5.0;

/// The most system calls that are named.
const CALLS: usize = 5;

/// The share up to which a difference counts as none. In a repeat of the same Python program one
/// call in 413,646 came and went.
const SHARE: f64 = 0.001;

/// The difference up to which two values per task are the same: 0.1 % of the larger, but at least
/// what the protocol may add, which is one call or 100 bytes in a thousand tasks. A pass of `units`
/// bytes is as much as one task.
pub fn tolerance(count: Count, units: f64, a: f64, b: f64) -> f64 {
    let floor = match count {
        // Thousands of tasks share a collection.
        Count::Collections => 1e-7,
        Count::Bytes | Count::Instructions | Count::Simulated | Count::PauseNs | Count::PeakResident => 0.1,
        _ => 0.001,
    };
    (a.abs().max(b.abs()) * SHARE).max(floor / units)
}

/// A count as one record has it; `None` where its pass does not take it. What the runtime itself
/// counts stands before what malloc sees.
fn of(count: Count, record: &CountRecord) -> Option<Result<f64, &Missing>> {
    if let Some(reading) = record.others.get(&count) {
        return Some(reading.as_result().map(|value| *value as f64));
    }
    let allocations = || Some(record.allocations.as_ref()?.as_result());
    match count {
        Count::Allocations => Some(allocations()?.map(|counted| counted.calls() as f64)),
        Count::Bytes => Some(allocations()?.map(|counted| counted.bytes as f64)),
        Count::Syscalls => Some(record.syscalls.as_ref()?.as_result().map(|calls| *calls as f64)),
        _ => None,
    }
}

/// A count of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// One value per task for each process: the median of its differences.
    pub of_processes: Vec<f64>,
    /// The median of `of_processes`.
    pub value: f64,
    /// Whether at least two processes were counted and all agree within [`tolerance`]. For
    /// system calls all differences must agree too.
    pub exact: bool,
    /// The most by which the differences of one process differ. A collector's rhythm does that to
    /// the same code, in every process alike. A smaller change may come from the rhythm.
    pub spread: f64,
    /// The bytes of a pass in a row that reads a stream, else 1.
    pub units: f64,
}

/// The records of all rows that were counted.
pub struct Counts<'a> {
    by_row: BTreeMap<u64, Vec<&'a CountRecord>>,
    /// Rows that read a stream. A thousandth of a call is nothing beside a task, and everything
    /// beside a byte.
    streams: BTreeSet<u64>,
}

impl<'a> Counts<'a> {
    /// The counts of a run that were asked for.
    pub fn of_run(run: &'a Run) -> Self {
        Self::of(run, |record| !record.for_growth)
    }

    /// All of them, with what was counted to tell how it grows.
    pub fn with_growth(run: &'a Run) -> Self {
        Self::of(run, |_| true)
    }

    fn of(run: &'a Run, wanted: impl Fn(&CountRecord) -> bool) -> Self {
        let mut rows: BTreeMap<u64, Vec<&CountRecord>> = BTreeMap::new();
        for record in run.counts.iter().filter(|record| record.size > 0 && wanted(record)) {
            rows.entry(record.row).or_default().push(record);
        }
        let suites = run.header.suites.iter();
        let blocks = suites.flat_map(|suite| suite.workloads.iter().map(move |block| (suite, block)));
        let of_streams: BTreeSet<(&str, String)> = blocks
            .filter(|(_, block)| block.stream.is_some())
            .map(|(suite, block)| (suite.name.as_str(), block.title()))
            .collect();
        let reads = |row: &&RowRecord| {
            of_streams.contains(&(row.key.series.suite.as_str(), row.key.series.table.clone()))
        };
        let streams = run.rows.iter().filter(reads).map(|row| row.row).collect();
        Counts { by_row: rows, streams }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.by_row.is_empty()
    }

    /// A count of one iteration of a row on the average of all that were counted; `None` where it
    /// is not known. A collector that comes now and then comes by chance in one request or the
    /// other, and their differences may be none or below.
    pub fn on_average(&self, row: u64, count: Count) -> Option<f64> {
        let records = self.by_row.get(&row)?.iter();
        let known = records.filter_map(|record| Some((record.iterations, of(count, record)?.ok()?)));
        let (iterations, total) = known.fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (iterations > 0).then(|| total / iterations as f64)
    }

    /// A count of a row, or why it is not known. It is `None` for a row that was not counted.
    pub fn get(&self, row: u64, count: Count) -> Option<Result<Counted, Missing>> {
        let records = self.by_row.get(&row)?;
        let mut processes: BTreeMap<u64, Vec<(u64, f64)>> = BTreeMap::new();
        for record in records {
            match of(count, record) {
                Some(Ok(total)) => {
                    processes.entry(record.process).or_default().push((record.iterations, total));
                }
                Some(Err(missing)) => return Some(Err(missing.clone())),
                None => {}
            }
        }
        if processes.is_empty() {
            return None;
        }
        let size = records.first()?.size as f64;
        let of_one = |requests: &Vec<(u64, f64)>| match count.is_of_process() {
            true => requests.iter().map(|request| request.1).collect(),
            false => differences(requests, size),
        };
        let differences: Vec<Vec<f64>> = processes.values().map(of_one).collect();
        let of_processes: Vec<f64> = differences.iter().filter_map(|values| median(values)).collect();
        let range = |values: &Vec<f64>| {
            let sorted = sorted(values);
            Some(sorted.last()? - sorted.first()?)
        };
        let spread = differences.iter().filter_map(range).fold(0.0, f64::max);
        let sorted = sorted(&of_processes);
        let (Some(&least), Some(&most), Some(value)) = (sorted.first(), sorted.last(), median(&sorted))
        else {
            return Some(Err(Missing::new("the run ended before it was counted", "run it again")));
        };
        let units = if self.streams.contains(&row) { size } else { 1.0 };
        let tolerance = tolerance(count, units, least, most);
        // What a scheduler or a collector does may be less in a longer request.
        if (count.decides() || count == Count::Collections) && value < -FALLS * tolerance {
            let reason = "there is less of it the more is done, which cannot be";
            return Some(Err(Missing::new(reason, "check the probe: taskscale probe check")));
        }
        // Of a pause of 2 ms in every tenth request one of two may have more of it with less to do:
        // that is near nothing, and not below it.
        let (value, of_processes) =
            (value.max(0.0), of_processes.iter().map(|value| value.max(0.0)).collect());
        // No collector makes system calls in a rhythm. Where requests differ, workers park and
        // wake, and three processes can agree on that by chance.
        let steady = count.is_steady() || spread <= tolerance;
        let exact = sorted.len() > 1 && most - least <= tolerance && steady;
        Some(Ok(Counted { of_processes, value, exact, spread, units }))
    }

    /// The system calls that a row makes most often, per task, by name: the median of the
    /// differences of all its processes. Of a stream, one call in a pass is told.
    pub fn calls(&self, row: u64) -> Vec<(String, f64)> {
        let records =
            || self.by_row.get(&row).into_iter().flatten().filter(|record| !record.by_name.is_empty());
        let mut names: Vec<&String> = records().flat_map(|record| record.by_name.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let per_task = |name: &String| {
            let requests: Vec<(u64, f64)> = records()
                .map(|record| {
                    let calls = record.by_name.get(name).copied().unwrap_or_default();
                    (record.iterations, calls as f64)
                })
                .collect();
            median(&differences(&requests, records().next()?.size as f64))
        };
        let mut calls: Vec<(String, f64)> =
            names.into_iter().filter_map(|name| Some((name.clone(), per_task(name)?))).collect();
        let pass = records().next().filter(|_| self.streams.contains(&row)).map(|record| record.size as f64);
        let fewest = pass.map_or(SHARE, |bytes| 0.5 / bytes);
        calls.retain(|(_, calls)| *calls >= fewest);
        calls.sort_by(|a, b| b.1.total_cmp(&a.1));
        calls.truncate(CALLS);
        calls
    }

    /// All counts of a row, as a summary has them.
    pub fn of_row(&self, row: u64) -> summary::Counts {
        let of = |count| Some((count, self.get(row, count)?.map(|counted| counted.per_task()).into()));
        Count::ALL.into_iter().filter_map(of).collect()
    }
}

impl Counted {
    /// The count as a summary has it.
    pub fn per_task(&self) -> CountPerTask {
        let sorted = sorted(&self.of_processes);
        CountPerTask {
            processes: sorted.len() as u64,
            least: sorted.first().copied().unwrap_or(self.value),
            median: self.value,
            most: sorted.last().copied().unwrap_or(self.value),
            exact: self.exact,
        }
    }
}

/// The count per task by each pair of requests: each request for more iterations minus the one
/// before it. What both cost once cancels out.
fn differences(requests: &[(u64, f64)], size: f64) -> Vec<f64> {
    let pairs = requests.chunks_exact(2).filter(|pair| pair[1].0 > pair[0].0);
    pairs.map(|pair| (pair[1].1 - pair[0].1) / ((pair[1].0 - pair[0].0) as f64 * size)).collect()
}
