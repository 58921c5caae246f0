//! What more workers bring, in words: a sentence for each series, and its law where one is fitted.

use taskscale_model::{
    figure::count,
    missing::{Missing, Reading},
    summary::{Interval, Peaks, Scale, ScaleFit, ScaleLaw, Scales},
};

use super::{efficiency, what};
use crate::{
    overview::{COLUMNS, cut, factor, fitted, plural},
    rates,
    style::{Ink, clean, ink},
    toolchain,
    wrap::hanging,
};

/// The most columns of runtime and variant together.
const NAMES: usize = 25;
/// The columns of a runtime that is named in full.
const RUNTIME: usize = 12;
/// Columns of a share at the end of a line, and of a sentence before it.
const SHARE: usize = 6;
/// The most lines of all reasons why there is no law.
const REASONS: usize = 4;

/// A table in at most `room` rows: the sentences, those that do most first.
pub fn screen(table: &Scales, room: usize) -> Vec<String> {
    let mut series: Vec<(&ScaleLaw, &Scale)> =
        table.laws.iter().filter_map(|law| Some((law, most(table, law)?))).collect();
    series.sort_by(|a, b| b.1.times.total_cmp(&a.1.times));
    let names: Vec<String> = series.iter().map(|(_, row)| name(table, row)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().min(NAMES);
    let sentence = COLUMNS - width - SHARE - 2;
    let laws: Vec<Vec<String>> = series.iter().map(|(law, _)| law_lines(law)).collect();
    let is_roomy = laws.iter().map(|lines| lines.len() + 1).sum::<usize>() <= room;
    let head = format!("{:>COLUMNS$}", "efficiency");
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &head)];
    let left_out = series.len().saturating_sub(room);
    for (((law, row), name), below) in series.iter().zip(&names).zip(&laws).take(room) {
        let words = match law.fit.value() {
            Some(fit) if !is_roomy => format!("{}, {}", multiple(row, false), short_peak(fit)),
            _ => multiple(row, true),
        };
        let words = fitted(&words, sentence);
        lines.push(format!("{} {words} {:>SHARE$}", fitted(name, width), efficiency(row)));
        if is_roomy {
            lines.extend(below.iter().cloned());
        }
    }
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {} more: --details", count(left_out as u64))));
    }
    lines.extend(behind_lines(table).iter().map(|line| ink(Ink::Dim, line)));
    lines
}

/// The lines behind the whole table: the sentences of all laws, and why others have none.
pub fn whole(table: &Scales) -> Vec<String> {
    let fitted = table.laws.iter().filter(|law| law.fit.value().is_some());
    let lines = fitted.flat_map(|law| {
        let name = format!("{} {}:", clean(&law.runtime), clean(&law.variant));
        std::iter::once(name).chain(law_lines(law))
    });
    lines.chain(reasons(table)).collect()
}

/// How many lines stand behind the sentences of a table; `None` where it has none.
pub fn behind(table: &Scales) -> Option<usize> {
    (!table.laws.is_empty()).then(|| behind_lines(table).len())
}

fn behind_lines(table: &Scales) -> Vec<String> {
    let mut lines = Vec::new();
    let beyond = |row: &Scale| table.cpus.is_some_and(|cpus| row.workers > cpus);
    if table.rows.iter().any(beyond) {
        let cpus = table.cpus.map_or(0, |cpus| usize::try_from(cpus).unwrap_or(usize::MAX));
        lines.push(format!("more workers than the {} are in --details, and no scaling", plural(cpus, "CPU")));
    }
    lines.extend(reasons(table));
    lines
}

/// Why series have no law, each reason once.
fn reasons(table: &Scales) -> Vec<String> {
    let mut known: Vec<&Missing> = Vec::new();
    for why in table.laws.iter().filter_map(|law| law.fit.why()) {
        if !known.contains(&why) {
            known.push(why);
        }
    }
    let text = |why: &&Missing| match why.remedy.is_empty() {
        true => clean(&why.reason),
        false => format!("{}; {}", clean(&why.reason), clean(&why.remedy)),
    };
    let lines = known.iter().flat_map(|why| wrapped(&text(why), 0));
    lines.take(REASONS).collect()
}

/// The row of a series with the most workers that have a CPU each, else with the most.
fn most<'t>(table: &'t Scales, law: &ScaleLaw) -> Option<&'t Scale> {
    let rows = || {
        let of = |row: &&Scale| (&row.runtime, &row.variant) == (&law.runtime, &law.variant);
        table.rows.iter().filter(of)
    };
    let within = |row: &&Scale| table.cpus.is_none_or(|cpus| row.workers <= cpus);
    rows().filter(within).max_by_key(|row| row.workers).or(rows().max_by_key(|row| row.workers))
}

fn name(table: &Scales, row: &Scale) -> String {
    let ids: Vec<&str> = table.rows.iter().map(|row| &*row.runtime).collect();
    format!("{} {}", toolchain::short(&row.runtime, &ids, RUNTIME), clean(&row.variant))
}

/// `2 workers do 1.90x as much as one [1.85, 1.94]`.
fn multiple(row: &Scale, with_interval: bool) -> String {
    let workers = |n: u64| plural(usize::try_from(n).unwrap_or(usize::MAX), "worker");
    if row.workers == row.base {
        return match row.workers {
            1 => format!("one worker does {} a second", rates::per_s(row.per_s)),
            n => format!("{} do {} a second", workers(n), rates::per_s(row.per_s)),
        };
    }
    let base = if row.base == 1 { "one".to_owned() } else { count(row.base) };
    let text = format!("{} do {}x as much as {base}", workers(row.workers), factor(row.times));
    match row.ci {
        _ if !with_interval => text,
        Some(Interval(low, high)) => format!("{text} [{}, {}]", factor(low), factor(high)),
        None => format!("{text}, no interval"),
    }
}

/// The sentence of a fitted law, below its series.
fn law_lines(law: &ScaleLaw) -> Vec<String> {
    let Reading::Value(fit) = &law.fit else { return Vec::new() };
    let shares = [
        format!("contention {}", share(fit.contention, fit.contention_ci)),
        format!("coherency {}", share(fit.coherency, fit.coherency_ci)),
    ];
    wrapped(&format!("{}; {}", peak(fit), shares.join(", ")), 2)
}

fn wrapped(text: &str, indent: usize) -> Vec<String> {
    let text = hanging(text, indent, COLUMNS);
    let blanks = " ".repeat(indent);
    text.lines().map(|line| format!("{blanks}{}", cut(line.trim_start(), COLUMNS - indent))).collect()
}

/// Where a law ends: `peaks at about 11 workers [9, 14]`.
fn peak(fit: &ScaleFit) -> String {
    let interval = fit.peak_ci.map(|ci| format!(" {}", peaks(ci))).unwrap_or_default();
    match fit.peak {
        None => match fit.peak_ci.and_then(|ci| ci.low) {
            Some(low) => format!("no peak is seen: {} workers or more", whole_number(low)),
            None => "no peak: more workers always do more".to_owned(),
        },
        Some(at) if at < 1.5 => format!("one worker does most{interval}"),
        Some(at) if at > fit.measured as f64 => format!(
            "would peak at about {} workers{interval}, beyond the {} measured",
            whole_number(at),
            count(fit.measured)
        ),
        Some(at) => format!("peaks at about {} workers{interval}", whole_number(at)),
    }
}

fn short_peak(fit: &ScaleFit) -> String {
    match fit.peak {
        None => "no peak".to_owned(),
        Some(at) => {
            let interval = fit.peak_ci.map(|ci| format!(" {}", peaks(ci))).unwrap_or_default();
            format!("peak {}{interval}", whole_number(at))
        }
    }
}

/// `[9, 14]`, or `[9, none]` where more workers may always do more.
fn peaks(ci: Peaks) -> String {
    let end = |end: Option<f64>| end.map_or("none".to_owned(), whole_number);
    format!("[{}, {}]", end(ci.low), end(ci.high))
}

fn whole_number(workers: f64) -> String {
    match workers {
        n if n < 99_999.5 => count(n.round() as u64),
        n => format!("{n:.0e}"),
    }
}

/// A share in percent with its interval: `3.0 % [2.0, 4.1]`.
fn share(share: f64, ci: Option<Interval>) -> String {
    let digits = |share: f64| match 100.0 * share {
        percent if percent >= 9.95 => format!("{percent:.0}"),
        percent if percent >= 0.995 => format!("{percent:.1}"),
        percent if percent >= 0.005 => format!("{percent:.2}"),
        percent if percent >= 0.000_05 => format!("{percent:.4}"),
        _ => "0".to_owned(),
    };
    let interval = ci.map(|Interval(low, high)| format!(" [{}, {}]", digits(low), digits(high)));
    format!("{} %{}", digits(share), interval.unwrap_or_default())
}

/// The cells of a fitted law: contention, coherency, peak, one worker, processes.
pub fn cells(fit: &ScaleFit) -> [String; 5] {
    let peak = fit.peak.map_or("none".to_owned(), whole_number);
    let peak_ci = fit.peak_ci.map(|ci| format!(" {}", peaks(ci))).unwrap_or_default();
    let one =
        fit.per_s_ci.map(|Interval(low, high)| format!(" [{}, {}]", rates::per_s(low), rates::per_s(high)));
    [
        share(fit.contention, fit.contention_ci),
        share(fit.coherency, fit.coherency_ci),
        format!("{peak}{peak_ci}"),
        format!("{}{}", rates::per_s(fit.per_s), one.unwrap_or_default()),
        count(fit.processes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(peak: Option<f64>, low: Option<f64>, high: Option<f64>) -> ScaleFit {
        ScaleFit {
            per_s: 1e5,
            per_s_ci: None,
            contention: 0.03,
            contention_ci: Some(Interval(0.0204, 0.041)),
            coherency: 0.005,
            coherency_ci: None,
            peak,
            peak_ci: Some(Peaks { low, high }),
            measured: 16,
            processes: 9,
        }
    }

    #[test]
    fn a_law_is_a_sentence() {
        let law =
            |fit| ScaleLaw { runtime: "go".into(), variant: "WaitGroup".into(), fit: Reading::Value(fit) };
        let said = |fit| law_lines(&law(fit)).iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let behind = "; contention 3.0 % [2.0, 4.1], coherency 0.50 %";
        for (at, low, high, words) in [
            (Some(11.2), Some(9.1), Some(14.4), "peaks at about 11 workers [9, 14]"),
            (
                Some(40.0),
                Some(25.0),
                None,
                "would peak at about 40 workers [25, none], beyond the 16 measured",
            ),
            (Some(1.0), Some(1.0), Some(1.2), "one worker does most [1, 1]"),
            (None, Some(30.0), None, "no peak is seen: 30 workers or more"),
            (None, None, None, "no peak: more workers always do more"),
        ] {
            assert_eq!(said(fit(at, low, high)), format!("{words}{behind}"));
        }
        assert!(law_lines(&law(fit(Some(1e9), Some(1e8), None))).iter().all(|line| line.len() <= COLUMNS));
    }
}
