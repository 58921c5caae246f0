//! What a reader must know before trusting a figure of this run.

use taskscale_model::{
    figure::{count, percent},
    load::LoadRecord,
    run_file::{Kind, Role, RowRecord, RuntimeState, Stop, Time},
    summary::{Growth, Row},
};

use super::{
    doubts,
    samples::{RowSamples, State, can_be_divided, rows_in_words},
    threads, warmup,
};
use crate::read::Run;

/// How many times the resolution of its clock a sample should last. In shorter samples the clock's
/// steps show in the figures.
const RESOLUTIONS: f64 = 1000.0;
/// Share of the measured time in which some task waited for a CPU, from which wall times are
/// doubtful. An idle machine stays below 1 %; one worker too many per core reaches 50 %.
const PRESSURE: f64 = 0.10;
/// Share of one CPU that steal may take, over the measured time, before wall times are doubtful.
const STEAL: f64 = 0.01;
/// Load per CPU at the start of the run from which the machine was not idle.
const LOAD: f64 = 0.5;
/// The share of its CPU from which a generator may hold its server up.
const GENERATOR: f64 = 0.95;
/// Seconds in a tick of steal time.
const TICK_S: f64 = 0.01;

/// All notes: on the file, the run, the machine and the figures.
pub fn all(run: &Run, series: &[RowSamples<'_>], rows: &[Row], growth: &[Growth]) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(incomplete(run, series));
    notes.extend(run.notes.iter().cloned());
    notes.extend(left_out(run));
    notes.extend(doubts::set_aside(run));
    let doubted = doubts::of_times(series)
        .into_iter()
        .chain(doubts::of_readings(run, series))
        .chain(doubts::of_short(series));
    notes.extend(doubted.map(|(text, remedy)| format!("{text}. Remedy: {remedy}")));
    notes.extend(of_musl(run).map(|(text, remedy)| format!("{text}. Remedy: {remedy}")));
    notes.extend(loads(run));
    notes.extend(disturbed(run, growth));
    notes.extend(warmup::note(rows));
    notes.extend(threads::notes(series));
    notes.extend(coarse(run, series));
    notes.extend(few_samples(rows));
    notes.extend(one_process(series));
    notes.extend(family(rows));
    notes
}

/// Whether the run came to its end, in words.
pub fn incomplete(run: &Run, series: &[RowSamples<'_>]) -> Option<String> {
    let cut: Vec<&RowSamples<'_>> =
        series.iter().filter(|one| matches!(one.state, State::Ok(None))).collect();
    // An interrupt while rows are counted leaves their times whole.
    let in_counts = run.ended.as_ref().is_some_and(|end| end.interrupted);
    let in_times = series.iter().any(|one| matches!(one.state, State::Ok(Some(Stop::Interrupted))));
    match (run.ended.is_some(), cut.len()) {
        (false, 0) => Some("the run was cut short; figures rest on what it had measured".into()),
        (false, n) => Some(format!(
            "the run was cut short; {} had not come to an end, and figures rest on the rounds there were",
            rows_in_words(n)
        )),
        (true, _) if in_times => {
            Some("the run was interrupted; figures rest on the rounds there were".into())
        }
        (true, _) if in_counts => Some("the run was interrupted before its end".into()),
        (true, 0) => None,
        (true, n) => Some(format!("the run file holds no end of {}", rows_in_words(n))),
    }
}

/// Where the servers of a run ran, and whether their load held them up.
fn loads(run: &Run) -> Vec<String> {
    let loads = || {
        let timed = run.samples.iter().filter(|sample| sample.kind == Kind::Timed);
        timed.filter_map(|sample| sample.load.as_ref())
    };
    let mut notes = Vec::new();
    if loads().next().is_none() {
        return notes;
    }
    if loads().any(|load| load.pinned.is_none()) {
        notes.push(
            "servers and the generator of their load shared the CPUs, of which they could not have one each: \
             requests a second and latencies are those of both together"
                .into(),
        );
    }
    let used = |load: &LoadRecord| load.generator_cpu_ns as f64 / load.wall_ns.max(1) as f64;
    let most = loads().map(used).fold(0.0, f64::max);
    let busy = loads().filter(|load| used(load) > GENERATOR).count();
    let all = loads().count();
    notes.push(match busy {
        0 => format!("the generator of the load used at most {} % of its CPU", percent(most)),
        busy => format!(
            "in {busy} of {all} samples of servers the generator used more than {} % of its CPU: requests a second \
             are then its own, and the server's CPU time stands",
            percent(GENERATOR)
        ),
    });
    notes
}

fn left_out(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    let divided_by_zero = run.samples.iter().filter(|sample| !can_be_divided(sample)).count();
    if divided_by_zero > 0 {
        notes.push(format!("left out {divided_by_zero} samples of no iterations or of size 0"));
    }
    let planned: std::collections::BTreeSet<u64> = run.rows.iter().map(|row| row.row).collect();
    let strangers = run.samples.iter().filter(|sample| !planned.contains(&sample.row)).count();
    if strangers > 0 {
        notes.push(format!("left out {strangers} samples of rows that the file does not declare"));
    }
    notes
}

/// Which runtimes were measured with musl, and what to do. One task of tokio or rayon took 1.31 to
/// 1.36 times as much CPU time with it (docs/guides/install.md).
pub fn of_musl(run: &Run) -> Option<(String, &'static str)> {
    let has_rows = |id: &str| run.rows.iter().any(|row| row.key.runtime == id);
    let named = run.runtimes.iter().filter_map(|record| match &record.state {
        RuntimeState::Ready { runtime, .. } if runtime.version.ends_with(", musl") => Some(&*record.id),
        _ => None,
    });
    let named: Vec<&str> = named.filter(|id| has_rows(id)).collect();
    let are = if named.len() == 1 { "is" } else { "are" };
    let text = format!(
        "{} {are} linked with musl: tasks that are allocated cost up to a third more than with glibc",
        named.join(", ")
    );
    (!named.is_empty()).then_some((text, "weigh Rust with cargo install, the wheel or the Debian package"))
}

/// Whether rows of a table of workers have more of them than there are CPUs: then some wait,
/// however idle the machine is.
fn is_crowded(run: &Run, cpus: Option<f64>) -> bool {
    let workers = |row: &RowRecord| run.block(&row.key)?.scale.as_ref()?.workers(&row.key.params);
    let most = run.rows.iter().filter_map(workers).max();
    most.zip(cpus).is_some_and(|(workers, cpus)| workers as f64 > cpus)
}

/// What else the machine did meanwhile. Wall time that is graded in `growth` is what waits, whoever
/// uses the machine.
pub fn disturbed(run: &Run, growth: &[Growth]) -> Vec<String> {
    let mut notes = Vec::new();
    let cpus = run.header.machine.cpus_usable.value().map(|&cpus| cpus as f64);
    if let (Some(&load), Some(cpus)) = (run.header.machine.load_1m.value(), cpus)
        && load > LOAD * cpus
    {
        let but = match growth.iter().any(|growth| growth.time == Time::Wall) {
            true => ", but where code waits",
            false => "",
        };
        notes.push(format!(
            "the machine was busy when the run began (load {load:.1} on {cpus:.0} CPUs): trust CPU time, not wall time{but}"
        ));
    }
    // The kernel counts between rounds, and rounds hold restarts and warm-up beside their samples.
    let of_rounds: Option<f64> = run.rounds.iter().map(|round| Some(round.wall_ns? as f64)).sum();
    let of_samples: f64 = run.samples.iter().map(|sample| sample.outside_wall_ns as f64).sum();
    let measured_s = of_rounds.filter(|ns| *ns > 0.0).unwrap_or(of_samples) / 1e9;
    if measured_s <= 0.0 {
        return notes;
    }
    let pressure_s = run
        .rounds
        .iter()
        .filter_map(|round| round.disturbance.cpu_pressure_us)
        .map(|us| us as f64)
        .sum::<f64>()
        / 1e6;
    // The kernel adds up at its own pace, so that some of the time before may be in it.
    let pressure_s = pressure_s.min(measured_s);
    if pressure_s / measured_s > PRESSURE && !is_crowded(run, cpus) {
        notes.push(format!(
            "tasks waited for a CPU during {pressure_s:.1} s of {measured_s:.1} s measured (PSI): wall times hold waiting"
        ));
    }
    let steal_s = run
        .rounds
        .iter()
        .filter_map(|round| round.disturbance.steal_ticks)
        .map(|ticks| ticks as f64)
        .sum::<f64>()
        * TICK_S;
    if steal_s / measured_s > STEAL {
        notes.push(format!(
            "the hypervisor took {steal_s:.1} s of CPU time during {measured_s:.1} s measured (steal): wall times hold it"
        ));
    }
    notes
}

fn coarse(run: &Run, series: &[RowSamples<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (time, clock) in [(Time::Cpu, "CPU"), (Time::Wall, "wall")] {
        let resolution = |runtime: &str| {
            run.runtimes.iter().filter(|record| record.id == runtime).find_map(|record| match &record.state {
                RuntimeState::Ready { clock, .. } => Some(match time {
                    Time::Cpu => clock.cpu_resolution_ns as f64,
                    Time::Wall => clock.wall_resolution_ns as f64,
                }),
                RuntimeState::Missing(_) => None,
            })
        };
        let resolutions = |one: &RowSamples<'_>| {
            let shortest = one.timed.iter().map(|sample| sample.total(time)).reduce(f64::min)?;
            Some(shortest / resolution(&one.row.key.runtime)?.max(1.0))
        };
        let mut short: Vec<(&RowSamples<'_>, f64)> = series
            .iter()
            .filter(|one| one.is_ok())
            .filter_map(|one| Some((one, resolutions(one)?)))
            .filter(|(_, resolutions)| *resolutions < RESOLUTIONS)
            .collect();
        short.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((worst, resolutions)) = short.first() else { continue };
        let row = worst.row;
        let verdict =
            if *resolutions < doubts::STEPS_AT_LEAST { "its time says nothing" } else { "its steps show" };
        notes.push(format!(
            "the {clock} clock is coarse for {} (samples below {RESOLUTIONS:.0} times its resolution); worst: {} {} at {}, \
             {resolutions:.0} times, {verdict}: take longer samples",
            rows_in_words(short.len()),
            row.key.runtime,
            row.key.variant,
            count(row.key.size)
        ));
    }
    notes
}

fn few_samples(rows: &[Row]) -> Option<String> {
    let counts = || rows.iter().filter_map(|row| Some(row.figures()?.cpu.of.n));
    let (least, most) = (counts().min()?, counts().max()?);
    if least >= 100 {
        return None;
    }
    let n = match (least, most) {
        (1, 1) => "1 sample".to_owned(),
        _ if least == most => format!("{least} samples"),
        _ => format!("{least} to {most} samples"),
    };
    Some(format!("rows have {n}; below 100, p99 is only the largest of them"))
}

/// Notes that rows of one process each cannot show by how much processes of the same code differ.
fn one_process(series: &[RowSamples<'_>]) -> Option<String> {
    let alone = |one: &&RowSamples<'_>| {
        one.timed.len() > 1 && one.timed.iter().all(|sample| sample.process == one.timed[0].process)
    };
    let rows = series.iter().filter(|one| one.is_ok()).filter(alone).count();
    (rows > 0).then(|| {
        format!(
            "{} measured in one process each: their intervals do not hold what another process would differ by, \
             which can be 1 to 2 %",
            match rows {
                1 => "1 row was".to_owned(),
                _ => format!("{rows} rows were"),
            }
        )
    })
}

/// Notes that intervals are not corrected for the number of comparisons. A reader of many must know
/// it.
fn family(rows: &[Row]) -> Option<String> {
    let is_compared = |row: &&Row| {
        row.figures().and_then(|figures| figures.cpu.ratio).is_some_and(|ratio| ratio.ci.is_some())
    };
    let compared = rows.iter().filter(|row| row.role == Role::Row).filter(is_compared).count();
    (compared > 0).then(|| {
        let chance = compared as f64 * 0.05;
        let expected = if chance < 1.0 {
            format!(
                "one would show a difference by chance with odds of {} %",
                percent(1.0 - 0.95_f64.powf(compared as f64))
            )
        } else {
            format!("about {chance:.0} would show a difference by chance alone")
        };
        let comparisons =
            if compared == 1 { "1 comparison".into() } else { format!("{compared} comparisons") };
        format!("every interval is 95 % for itself, uncorrected: of {comparisons} of equal code, {expected}")
    })
}
