//! The samples of each row, turned into the figures that statistics are made of.

use std::collections::BTreeMap;

use taskscale_model::{
    key::SeriesKey,
    missing::Missing,
    protocol::Clock,
    run_file::{Kind, Role, RowRecord, RuntimeState, SampleRecord, Status, Stop, Time},
    summary::Interval,
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    pooled::{Spread, spread},
    quantile::{median, sorted},
    rounds::{Rounds, Timed},
    sign::{self, sign_interval},
};

use crate::{
    read::Run,
    told::{Told, Wrong},
};

/// The fewest sizes of a series whose spread between processes is taken together.
const SIZES: usize = 3;

/// One row of the plan with its samples.
pub struct RowSamples<'a> {
    pub row: &'a RowRecord,
    pub state: State,
    /// Samples of kind [`Kind::Timed`].
    pub timed: Vec<&'a SampleRecord>,
    /// Samples of kind [`Kind::Phases`].
    pub phases: Vec<&'a SampleRecord>,
    /// How each of its processes began.
    pub starts: Vec<Start<'a>>,
    /// What its probe told of its times, beside what was seen from outside.
    pub told: Told,
    /// The spread between processes that all sizes of its series share, of CPU and wall time.
    spread: [Option<Spread>; 2],
}

/// The beginning of a process.
pub struct Start<'a> {
    /// The number of the process.
    pub process: u64,
    /// Its first sample of any kind.
    pub first: &'a SampleRecord,
    /// Pilot and warm-up samples, in the order of the file.
    pub unsettled: Vec<&'a SampleRecord>,
}

/// Whether a row has figures.
pub enum State {
    /// The row has figures. The value is what ended its rounds, where they ended.
    Ok(Option<Stop>),
    /// The row went wrong.
    Failed(Missing),
    /// The row was not tried, or it gave no sample.
    Skipped(Missing),
}

impl<'a> RowSamples<'a> {
    /// The rows of a run in the order of the plan, each with its samples in the order of the file.
    /// A calibration has no figures of its own; the work of other rows is its outcome.
    pub fn of_run(run: &'a Run) -> Vec<Self> {
        let mut samples: BTreeMap<u64, Vec<&SampleRecord>> = BTreeMap::new();
        let counts = |sample: &&SampleRecord| can_be_divided(sample) && sample.kind != Kind::SetAside;
        for sample in run.samples.iter().filter(counts) {
            samples.entry(sample.row).or_default().push(sample);
        }
        let clocks = clocks(run);
        let ends: BTreeMap<u64, &Status> = run.row_ends.iter().map(|end| (end.row, &end.status)).collect();
        let series = |row: &'a RowRecord| {
            let all = samples.remove(&row.row).unwrap_or_default();
            let of = |kind| all.iter().copied().filter(|sample| sample.kind == kind).collect::<Vec<_>>();
            let (timed, phases) = (of(Kind::Timed), of(Kind::Phases));
            // Where memory is read, a million tasks are made to wait and only their waking is
            // timed. Where next to nothing happens, a request is as dear as what is timed.
            let held = if row.key.is_resident() || row.key.is_watched() { &[][..] } else { &all[..] };
            let told = told(clocks.get(&*row.key.runtime).copied(), held);
            let state = state(ends.get(&row.row).copied(), timed.len(), run.ended.is_some());
            let state = disbelieved(state, &told);
            RowSamples { row, state, timed, phases, starts: starts(&all), told, spread: [None; 2] }
        };
        let rows = run.rows.iter().map(series);
        let mut rows: Vec<Self> =
            rows.filter(|one| one.row.role != Role::Calibration || !one.is_ok()).collect();
        share_spreads(&mut rows);
        rows
    }

    /// The 95 % interval of its median: over its own processes, or else by the spread that the
    /// sizes of its series share.
    pub fn interval(&self, time: Time) -> Option<Interval> {
        let own = sorted(&self.observations(time));
        let pooled = || {
            let spread = self.spread[place(time)]?;
            // Rounds of one process say nothing of others.
            let many = self.timed.iter().any(|sample| sample.process != self.timed[0].process);
            many.then(|| spread.interval(median(&sorted(&self.values(time)))?, own.len(), CONFIDENCE))?
        };
        sign_interval(&own, CONFIDENCE).or_else(pooled).map(|(low, high)| Interval(low, high))
    }

    /// Whether its interval rests on the sizes of its series, since its own processes are too few.
    pub fn is_pooled(&self, time: Time) -> bool {
        self.interval(time).is_some() && self.observations(time).len() < sign::FEWEST
    }

    /// One value for each process.
    fn observations(&self, time: Time) -> Vec<f64> {
        independent(&self.processes(), &self.values(time))
    }

    /// The timed samples that are the first answers of their processes.
    pub fn fresh(&self) -> Vec<&'a SampleRecord> {
        let is_first = |sample: &&&SampleRecord| {
            !sample.carried && self.starts.iter().any(|start| start.first.order == sample.order)
        };
        self.timed.iter().filter(is_first).copied().collect()
    }

    pub fn is_ok(&self) -> bool {
        matches!(self.state, State::Ok(_))
    }

    /// The time per task of each timed sample, in the order of the file.
    pub fn values(&self, time: Time) -> Vec<f64> {
        self.timed.iter().map(|sample| sample.per_task(time)).collect()
    }

    /// The process that each timed sample came from, in the order of the file.
    pub fn processes(&self) -> Vec<u64> {
        self.timed.iter().map(|sample| sample.process).collect()
    }

    /// Pairs this row with its baseline, round by round.
    pub fn against(&self, baseline: &RowSamples<'_>, time: Time) -> Rounds {
        Rounds::of(baseline.rounds(time), self.rounds(time))
    }

    /// The time per task of each timed sample, with its round.
    pub fn rounds(&self, time: Time) -> impl Iterator<Item = Timed> {
        self.timed.iter().map(move |sample| Timed {
            round: sample.round,
            process: sample.process,
            value: sample.per_task(time),
        })
    }
}

/// The rows by the numbers that others refer to them by.
pub fn by_number<'s, 'a>(series: &'s [RowSamples<'a>]) -> BTreeMap<u64, &'s RowSamples<'a>> {
    series.iter().map(|one| (one.row.row, one)).collect()
}

/// Gives the rows of each series over [`SIZES`] sizes or more the spread that these share.
fn share_spreads(rows: &mut [RowSamples<'_>]) {
    let mut series: BTreeMap<SeriesKey, Vec<usize>> = BTreeMap::new();
    for (index, one) in rows.iter().enumerate() {
        if one.is_ok() && one.row.role != Role::Control && one.row.sweep.is_none() {
            series.entry(one.row.key.series.clone()).or_default().push(index);
        }
    }
    for places in series.into_values().filter(|places| places.len() >= SIZES) {
        for time in [Time::Cpu, Time::Wall] {
            let groups: Vec<Vec<f64>> = places.iter().map(|&index| rows[index].observations(time)).collect();
            let shared = spread(groups.iter().map(Vec::as_slice));
            for &index in &places {
                rows[index].spread[place(time)] = shared;
            }
        }
    }
}

fn place(time: Time) -> usize {
    usize::from(time == Time::Wall)
}

fn starts<'a>(samples: &[&'a SampleRecord]) -> Vec<Start<'a>> {
    let mut starts: BTreeMap<u64, Start<'a>> = BTreeMap::new();
    for &sample in samples {
        let process = sample.process;
        let start =
            starts.entry(process).or_insert_with(|| Start { process, first: sample, unsettled: Vec::new() });
        if matches!(sample.kind, Kind::Pilot | Kind::Warmup) {
            start.unsettled.push(sample);
        }
    }
    starts.into_values().collect()
}

/// Writes a number of rows: `1 row`, `2 rows`.
pub fn rows_in_words(n: usize) -> String {
    if n == 1 { "1 row".into() } else { format!("{n} rows") }
}

/// Whether time per task can be computed at all.
pub fn can_be_divided(sample: &SampleRecord) -> bool {
    sample.iterations > 0 && sample.size > 0
}

/// The clocks of the runtimes that are here.
fn clocks(run: &Run) -> BTreeMap<&str, Clock> {
    let ready = run.runtimes.iter().filter_map(|record| match &record.state {
        RuntimeState::Ready { clock, .. } => Some((&*record.id, *clock)),
        RuntimeState::Missing(_) => None,
    });
    ready.collect()
}

fn told(clock: Option<Clock>, samples: &[&SampleRecord]) -> Told {
    let mut told = Told::new(clock.unwrap_or(Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 }));
    samples.iter().for_each(|sample| told.take(sample));
    told
}

/// Fails a row whose times cannot be, whatever the run thought of it.
fn disbelieved(state: State, told: &Told) -> State {
    match (&state, told.wrong()) {
        (State::Ok(_), Some(Wrong { what, remedy })) => {
            State::Failed(Missing::new(format!("reports a time that cannot be: {what}"), remedy))
        }
        _ => state,
    }
}

fn state(end: Option<&Status>, timed: usize, complete: bool) -> State {
    let nothing = |reason: &str, remedy: &str| State::Skipped(Missing::new(reason, remedy));
    match (end, timed) {
        (Some(Status::Failed(missing)), _) => State::Failed(missing.clone()),
        (Some(Status::Skipped(missing)), _) => State::Skipped(missing.clone()),
        (Some(Status::Ok { stop: Stop::Interrupted }), 0) => {
            nothing("interrupted before its first timed sample", "run it again")
        }
        (Some(Status::Ok { .. }), 0) => {
            nothing("the time was up before its first timed sample", "allow more with --max-time")
        }
        (Some(Status::Ok { stop }), _) => State::Ok(Some(*stop)),
        (None, 0) if complete => {
            nothing("the run file holds no sample and no end of this row", "run it again")
        }
        (None, 0) => nothing("the run ended before this row was measured", "run it again"),
        (None, _) => State::Ok(None),
    }
}
