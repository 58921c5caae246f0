//! What keeps samples and rows from being taken at their word, in sentences.

use taskscale_model::run_file::{Kind, Stopped, Time};

use super::samples::RowSamples;
use crate::{
    read::Run,
    told::{Doubt, REMEDY_DOUBTED},
};

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
    let mut names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names = match names.as_slice() {
        [one] => format!("{runtime} {one}"),
        [first, others @ ..] => format!("{runtime} {first} and {} more", others.len()),
        [] => runtime.to_owned(),
    };
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
