//! What keeps samples and rows from being taken at their word, in sentences.

use taskscale_model::{
    figure,
    run_file::{Kind, RuntimeState, SampleRecord, Stopped, Time},
};
use taskscale_stats::quantile::{median, sorted};

use super::samples::RowSamples;
use crate::{
    read::Run,
    told::{Doubt, REMEDY_DOUBTED},
};

/// How many times what the readings of its clocks take an iteration has to last, where they are
/// read around each: they are 5 % of it then.
const READINGS: f64 = 20.0;

/// The most that both readings take. Through a hypervisor one of the process's clock took 0.5 us,
/// and a clock that moves in larger steps is coarse.
const DEAREST_READING_NS: u64 = 5_000;

/// Which runtimes tell half of what was seen of their times, or less, and what to do. Rows that
/// tell a tenth have failed.
pub fn of_times(series: &[RowSamples<'_>]) -> Vec<(String, &'static str)> {
    // A runtime, a clock, and its rows with how many times as much was seen.
    type Told<'a> = (&'a str, Time, Vec<(String, Doubt)>);
    let mut told: Vec<Told<'_>> = Vec::new();
    for one in series.iter().filter(|one| one.is_ok()) {
        let key = &one.row.key;
        for time in [Time::Cpu, Time::Wall] {
            let Some(doubt) = one.told.doubted(time) else { continue };
            let name = key.variant_and_case();
            let place = told.iter().position(|(runtime, of, _)| (*runtime, *of) == (&*key.runtime, time));
            let place = place.unwrap_or_else(|| {
                told.push((&key.runtime, time, Vec::new()));
                told.len() - 1
            });
            told[place].2.push((name, doubt));
        }
    }
    told.iter().map(|(runtime, time, rows)| (of_runtime(runtime, *time, rows), REMEDY_DOUBTED)).collect()
}

fn of_runtime(runtime: &str, time: Time, rows: &[(String, Doubt)]) -> String {
    let times =
        |pick: fn(f64, f64) -> f64| rows.iter().map(|(_, doubt)| doubt.times).reduce(pick).unwrap_or(0.0);
    let (least, most) = (format!("{:.1}", times(f64::min)), format!("{:.1}", times(f64::max)));
    let times = if least == most { least } else { format!("{least} to {most}") };
    let names = of_rows(runtime, rows.iter().map(|(name, _)| name.as_str()));
    let samples = match rows {
        [(_, Doubt { of: Some((some, all)), .. })] => format!(" in {some} of {all} samples"),
        _ if rows.iter().any(|(_, doubt)| doubt.of.is_some()) => " in a part of the samples".to_owned(),
        _ => String::new(),
    };
    match time {
        Time::Cpu => {
            format!("{names}: the kernel counted {times} times the CPU time that the probe tells{samples}")
        }
        Time::Wall => {
            format!("{names}: {times} times the wall time that the probe tells passed outside{samples}")
        }
    }
}

/// The rows of a runtime by the first of their names.
fn of_rows<'a>(runtime: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [one] => format!("{runtime} {one}"),
        [first, others @ ..] => format!("{runtime} {first} and {} more", others.len()),
        [] => runtime.to_owned(),
    }
}

/// Of each runtime the row that is worst, with by how much, and the names of all that were given.
fn worst_of<'a, 'r: 'a>(
    rows: impl Iterator<Item = (&'a RowSamples<'r>, f64)>,
) -> Vec<(&'a RowSamples<'r>, f64, String)> {
    let mut all: Vec<(&RowSamples<'_>, f64, Vec<String>)> = Vec::new();
    for (one, by) in rows {
        let name = one.row.key.variant_and_case();
        match all.iter_mut().find(|(other, ..)| other.row.key.runtime == one.row.key.runtime) {
            Some((worst, most, names)) => {
                names.push(name);
                if by > *most {
                    (*worst, *most) = (one, by);
                }
            }
            None => all.push((one, by, vec![name])),
        }
    }
    let named = |(worst, by, names): (&'a RowSamples<'r>, f64, Vec<String>)| {
        (worst, by, of_rows(&worst.row.key.runtime, names.iter().map(String::as_str)))
    };
    all.into_iter().map(named).collect()
}

/// Which rows read their clocks around each iteration, and have iterations so short that the
/// readings are much of their figures.
pub fn of_readings(run: &Run, series: &[RowSamples<'_>]) -> Vec<(String, &'static str)> {
    let in_parts = series.iter().filter(|one| one.is_ok() && one.timed.iter().any(|s| is_in_parts(s)));
    let short = in_parts.filter_map(|one| {
        let each: Vec<f64> = one.timed.iter().map(|sample| sample.per_iteration(Time::Cpu)).collect();
        let share = reading_ns(run, &one.row.key.runtime)? / median(&sorted(&each))?;
        Some((one, share)).filter(|_| share > 1.0 / READINGS)
    });
    let told = worst_of(short).into_iter().map(|(worst, share, names)| {
        let reading_ns = reading_ns(run, &worst.row.key.runtime).unwrap_or(0.0);
        let text = format!(
            "{names}: one iteration at n = {} took {}, and the clocks that are read around it take some {} of that",
            figure::count(worst.row.key.size),
            figure::time(reading_ns / share),
            figure::time(reading_ns)
        );
        (text, "repeat the work in a loop inside the timed function, or take a larger --size")
    });
    told.collect()
}

/// Which rows of one thread have more CPU time than wall time, by [`READINGS`]: their samples are
/// so short that reading the clock of CPU time is much of them. Rows have as few iterations as the
/// dearest beside them: 1 of a linear loop of 3.4 us beside a square one, which read 4.6 us.
pub fn of_short(series: &[RowSamples<'_>]) -> Vec<(String, &'static str)> {
    let alone = series.iter().filter(|one| one.is_ok() && one.timed.iter().all(|sample| is_alone(sample)));
    let short = alone.filter_map(|one| {
        let times: Vec<f64> =
            one.timed.iter().map(|sample| sample.cpu_ns as f64 / sample.wall_ns.max(1) as f64).collect();
        Some((one, median(&sorted(&times))?)).filter(|(_, times)| *times > 1.0 + 1.0 / READINGS)
    });
    let told = worst_of(short).into_iter().map(|(worst, times, names)| {
        let text = format!(
            "{names}: at n = {} CPU time is {} % more than wall time, on one thread: samples are so short that \
             reading the clocks is that much of them",
            figure::count(worst.row.key.size),
            figure::percent(times - 1.0)
        );
        (text, "believe its wall time; weigh it without dearer rows (--variant), or at a larger --size")
    });
    told.collect()
}

/// How many steps of its clock a sample must last. A shorter time says nothing.
pub const STEPS_AT_LEAST: f64 = 50.0;

/// Which rows have samples of fewer steps of the clock of CPU time than say anything, with what to
/// do: that of a JDK before 22 moves by 10 ms.
pub fn of_coarse(run: &Run, series: &[RowSamples<'_>]) -> Vec<(String, String)> {
    let step_ns = |one: &RowSamples<'_>| {
        let record = run.runtimes.iter().find(|record| record.id == one.row.key.runtime)?;
        let RuntimeState::Ready { clock, .. } = &record.state else { return None };
        Some(clock.cpu_resolution_ns as f64)
    };
    let short = series.iter().filter(|one| one.is_ok()).filter_map(|one| {
        let totals: Vec<f64> = one.timed.iter().map(|sample| sample.total(Time::Cpu)).collect();
        let short_by = STEPS_AT_LEAST * step_ns(one)? / median(&sorted(&totals))?;
        Some((one, short_by)).filter(|_| short_by > 1.0)
    });
    let told = worst_of(short).into_iter().map(|(worst, short_by, names)| {
        let step_ns = step_ns(worst).unwrap_or(0.0);
        let text = format!(
            "{names}: the clock of CPU time moves by {}, and a sample is {:.0} of these steps: its CPU time says nothing",
            figure::time(step_ns),
            STEPS_AT_LEAST / short_by
        );
        let sample_ms = (STEPS_AT_LEAST * step_ns / 1e6).ceil();
        (text, format!("take longer samples (--sample-time {sample_ms:.0}ms), or a newer toolchain"))
    });
    told.collect()
}

/// Whether one thread did the work of a sample, which was timed as a whole.
fn is_alone(sample: &SampleRecord) -> bool {
    let ran = sample.threads.as_ref().and_then(|threads| threads.value()).map(|threads| threads.ran);
    ran == Some(1) && !is_in_parts(sample)
}

/// Whether a probe timed each iteration by itself, and told what it did between them.
fn is_in_parts(sample: &SampleRecord) -> bool {
    sample.extra.contains_key("setup_cpu_ns") || sample.extra.contains_key("setup_wall_ns")
}

/// What the readings of both clocks around an iteration take within it: of each about one. `None`
/// where steps are those of a clock that is coarse, and not what a reading takes.
fn reading_ns(run: &Run, runtime: &str) -> Option<f64> {
    let record = run.runtimes.iter().find(|record| record.id == runtime)?;
    let RuntimeState::Ready { clock, .. } = &record.state else { return None };
    let reading_ns = clock.cpu_resolution_ns + clock.wall_resolution_ns;
    (reading_ns <= DEAREST_READING_NS).then_some(reading_ns as f64)
}

/// How many samples were set aside, and what had stopped.
pub fn set_aside(run: &Run) -> Option<String> {
    let aside: Vec<Option<Stopped>> =
        run.samples.iter().filter(|one| one.kind == Kind::SetAside).map(|one| one.stopped).collect();
    let of = |what: Stopped, words: &str| {
        let count = aside.iter().filter(|one| **one == Some(what)).count();
        (count > 0).then(|| format!("{words} ({count})"))
    };
    let what: Vec<String> = [
        of(Stopped::Probe, "the probe was stopped"),
        of(Stopped::Tool, "taskscale was stopped"),
        of(Stopped::Machine, "the machine slept"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let were =
        if aside.len() == 1 { "1 sample was".to_owned() } else { format!("{} samples were", aside.len()) };
    let why = if what.is_empty() { String::new() } else { format!(": {} meanwhile", what.join(", ")) };
    (!aside.is_empty()).then(|| {
        format!(
            "{were} set aside and {} in no figure{why}",
            if aside.len() == 1 { "counts" } else { "count" }
        )
    })
}
