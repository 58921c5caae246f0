//! What stands below the rankings of a screen: what the marks mean, which times drifted, and which
//! rows are not ranked.

use taskscale_model::{
    figure::{count, time},
    run_file::{Role, Time},
    summary::{Interval, Quantity, Ranked, Ranking, Row, Standing, Summary},
};

use crate::{
    drawn,
    overview::{COLUMNS, beside, cut},
    style::clean,
};

/// How far beyond an interval the quotient of two printed times may lie: they have three digits.
const ROUNDING: f64 = 0.01;

/// The marks of the strips and ratios that are shown, in one line.
pub fn marks(shown: &[&Ranked]) -> Option<String> {
    let has = |is: &dyn Fn(&Ranked) -> bool| shown.iter().any(|row| is(row));
    let marks = [
        (has(&|row| row.ci.is_some()), "\u{25cf} median \u{251c}\u{2500}\u{2524} 95 % interval"),
        (has(&|row| row.ci.is_none()), "\u{25cb} no interval"),
        (has(&|row| beside(row).1.trim_start().starts_with('?')), "? cannot tell which is dearer"),
    ];
    let words: Vec<&str> = marks.iter().filter(|(has, _)| *has).map(|(_, words)| *words).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The rows whose time, divided by the reference's, is no value that their ratio allows. Ratios
/// compare samples of the same round; medians are of all rounds, and drift with the machine.
pub fn drifted<'r>(shown: &[&'r Ranked]) -> Vec<&'r Ranked> {
    let Some(reference) = shown.iter().find(|row| row.standing == Standing::Reference) else {
        return Vec::new();
    };
    let is_off = |row: &&&Ranked| {
        let quotient = row.ns / reference.ns;
        row.ratio_ci.is_some_and(|Interval(low, high)| {
            quotient < low * (1.0 - ROUNDING) || quotient > high * (1.0 + ROUNDING)
        })
    };
    shown.iter().filter(is_off).copied().collect()
}

/// The same in one line of so many columns.
pub fn drift(shown: &[&Ranked], columns: usize) -> Option<String> {
    let names: Vec<String> = drifted(shown).iter().map(|row| clean(&row.runtime)).collect();
    listed("times drifted, so trust the ratio and do not divide the times: ", names, columns)
}

/// The rows of a ranking's table and size that make no task, and so are no answer to what one
/// costs, in one line of so many columns.
pub fn no_task(summary: &Summary, ranking: &Ranking, columns: usize) -> Option<String> {
    let Quantity::PerTask(of) = ranking.quantity else { return None };
    let is_one = |row: &&Row| {
        row.creates_task == Some(false)
            && row.role != Role::Control
            && row.sweep.is_none()
            && (&row.key.suite, &row.key.table, row.key.size)
                == (&ranking.suite, &ranking.table, ranking.size)
    };
    let name = |row: &Row| {
        let figures = row.figures()?;
        let ns = if of == Time::Cpu { figures.cpu.of.p50 } else { figures.wall.of.p50 };
        Some(clean(&format!("{} {} {}", row.key.runtime, row.key.variant_and_case(), time(ns))))
    };
    let names = summary.rows.iter().filter(is_one).filter_map(name).collect();
    listed("not ranked, no task: ", names, columns)
}

/// The most columns of a line that is wrapped: some thirty names.
const WRAPPED: usize = 1_000;

/// What stands below a whole ranking where lines are wrapped: rows that are not ranked, and times
/// that drifted.
pub fn below(summary: &Summary, ranking: &Ranking) -> Vec<String> {
    let rows: Vec<&Ranked> = ranking.rows.iter().collect();
    [no_task(summary, ranking, WRAPPED), drift(&rows, WRAPPED)].into_iter().flatten().collect()
}

/// CPU time of a task.
fn row_time(row: &Row) -> Option<f64> {
    Some(row.figures()?.cpu.of.p50)
}

/// The rows that make no task, the cheapest first, where no row makes one. What has a table of its
/// own is not told again.
pub fn no_task_at_all(summary: &Summary) -> Option<String> {
    let is_one =
        |row: &&Row| row.creates_task == Some(false) && row.role != Role::Control && row.sweep.is_none();
    if !drawn::kinds(summary).iter().all(Vec::is_empty) {
        return None;
    }
    let with_time = |row| Some((row_time(row)?, row));
    let mut rows: Vec<(f64, &Row)> = summary.rows.iter().filter(is_one).filter_map(with_time).collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    let name = |(ns, row): (f64, &Row)| {
        let key = &row.key;
        let (ns, size) = (time(ns), count(key.size));
        clean(&format!("{} {} {ns} at {size}", key.runtime, key.variant_and_case()))
    };
    listed("not ranked, no task: ", rows.into_iter().map(name).collect(), COLUMNS)
}

/// The names that fit on a line behind `what`, and how many do not; `None` where there are none.
pub(crate) fn listed(what: &str, mut names: Vec<String>, columns: usize) -> Option<String> {
    let mut kept: Vec<String> = Vec::new();
    names.iter().for_each(|name| {
        if !kept.contains(name) {
            kept.push(name.clone());
        }
    });
    names = kept;
    let line = |shown: usize| {
        let more = names.len() - shown;
        let more = if more == 0 { String::new() } else { format!(", {more} more") };
        format!("{what}{}{more}", names[..shown].join(", "))
    };
    let fits = |shown: &usize| line(*shown).chars().count() <= columns;
    match names.len() {
        0 => None,
        all => Some(cut(&line((1..=all).rev().find(fits).unwrap_or(1)), columns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(runtime: &str, ns: f64, standing: Standing, ratio: Option<[f64; 3]>) -> Ranked {
        Ranked {
            runtime: runtime.into(),
            variant: "v".into(),
            size: 1,
            ns,
            ci: ratio.map(|_| Interval(ns * 0.9, ns * 1.1)),
            pooled: false,
            standing,
            ratio: ratio.map(|ratio| ratio[0]),
            ratio_ci: ratio.map(|ratio| Interval(ratio[1], ratio[2])),
        }
    }

    #[test]
    fn times_that_do_not_divide_as_the_ratio_says_are_named() {
        let reference = row("a", 4_600.0, Standing::Reference, None);
        let off = row("b", 4_280.0, Standing::Cheaper, Some([0.97, 0.96, 0.98]));
        let fits = row("c", 9_200.0, Standing::Dearer, Some([2.0, 1.9, 2.1]));
        let shown = [&reference, &off, &fits];
        assert_eq!(drifted(&shown).iter().map(|row| &*row.runtime).collect::<Vec<_>>(), ["b"]);
        assert!(drift(&shown, COLUMNS).is_some_and(|line| line.ends_with("do not divide the times: b")));
        assert_eq!(drift(&[&reference, &fits], COLUMNS), None);
        assert_eq!(drift(&[&off, &fits], COLUMNS), None, "nothing to divide by");
    }

    #[test]
    fn only_marks_that_are_there_are_explained() {
        let with = row("b", 1.0, Standing::Cheaper, Some([0.5, 0.4, 0.6]));
        let unsure = row("c", 1.0, Standing::CannotTell, Some([0.9, 0.4, 2.0]));
        let without = row("d", 1.0, Standing::CannotTell, None);
        let marks = |rows: &[&Ranked]| marks(rows).unwrap_or_default();
        assert!(!marks(&[&with]).contains(['\u{25cb}', '?']));
        assert!(marks(&[&unsure]).ends_with("? cannot tell which is dearer"));
        assert!(marks(&[&without]).starts_with('\u{25cb}'));
        assert!(marks(&[&with, &unsure, &without]).chars().count() <= COLUMNS);
        assert_eq!(marks(&[]), "");
    }

    #[test]
    fn a_list_stays_on_its_line_and_counts_what_it_leaves_out() {
        let names: Vec<String> = (0..30).map(|n| format!("runtime{n}")).collect();
        let line = listed("what: ", names, COLUMNS).expect("a line");
        assert!(line.chars().count() <= COLUMNS && line.ends_with(" more"), "{line}");
        assert_eq!(listed("what: ", vec!["a".into(), "a".into()], COLUMNS).as_deref(), Some("what: a"));
    }
}
