//! Tables of what ready tasks wait while others block: one line for each scheduler.

use taskscale_model::{
    blocking::{INLINE, WITHOUT},
    figure::time,
    summary::{Held, SchedulerWaits, Waits, WayWaits},
};

use crate::{
    overview::{COLUMNS, cut, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
};

/// The most columns of a runtime's and of a scheduler's name, and of a way out.
const NAMES: (usize, usize, usize) = (8, 14, 15);
/// Columns of a time, and of whom it holds up.
const TIME: usize = 7;
const HELD: usize = 6;

/// A table in at most `room` rows, with its heading; below it what its words mean.
pub fn lines(table: &Waits, room: usize) -> Vec<String> {
    let below = legend(table);
    let most = if room == usize::MAX { room } else { room.saturating_sub(below.len()) };
    let shown = &table.rows[..table.rows.len().min(most)];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &SchedulerWaits| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown, runtime_of, NAMES.0);
    let scheduler = width(shown, |row| clean(&row.scheduler), NAMES.1);
    let out = |row: &SchedulerWaits| way_out(row).map_or("-".to_owned(), |way| clean(&way.way));
    let way = width(shown, out, NAMES.2);
    let head = format!(
        "{:runtime$} {:scheduler$} {:>TIME$} {:>TIME$} {:>HELD$}  {:way$} {:>TIME$} {:>8}",
        "", "", "without", "inline", "holds", "way out", "p99", "CPU/call"
    );
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, head.trim_end())];
    for row in shown {
        let p99 = |way: Option<&WayWaits>| way.map_or("-".to_owned(), |way| time(way.p99));
        lines.push(format!(
            "{} {} {:>TIME$} {:>TIME$} {:>HELD$}  {} {:>TIME$} {:>8}",
            fitted(&runtime_of(row), runtime),
            fitted(&clean(&row.scheduler), scheduler),
            p99(named(row, WITHOUT)),
            p99(named(row, INLINE)),
            held(row),
            fitted(&out(row), way),
            p99(way_out(row)),
            way_out(row).map_or("-".to_owned(), call)
        ));
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(below.iter().map(|line| ink(Ink::Dim, line)));
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Waits, columns: usize) -> String {
    let what = "what ready tasks wait (p99): ";
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// Whom a task holds up that blocks where it runs.
pub fn held(row: &SchedulerWaits) -> &'static str {
    row.held.map_or("-", Held::word)
}

/// CPU time of one call that blocks.
pub fn call(way: &WayWaits) -> String {
    way.cpu_of_call.map_or("-".to_owned(), time)
}

/// The way of that name.
fn named<'r>(row: &'r SchedulerWaits, name: &str) -> Option<&'r WayWaits> {
    row.ways.iter().find(|way| way.way == name)
}

/// What a task that has to block is advised to do: the way that the runtime names first.
fn way_out(row: &SchedulerWaits) -> Option<&WayWaits> {
    row.ways.iter().find(|way| way.way != WITHOUT && way.way != INLINE)
}

/// How many schedulers are held up, and what the columns hold that their heads do not say.
fn legend(table: &Waits) -> Vec<String> {
    let count = |held| table.rows.iter().filter(|row| row.held == Some(held)).count();
    let said = [(Held::All, "all others"), (Held::Some, "some"), (Held::Nobody, "nobody")]
        .into_iter()
        .map(|(held, whom)| (count(held), whom))
        .filter(|(count, _)| *count > 0)
        .map(|(count, whom)| format!("{whom} in {count}"))
        .collect::<Vec<_>>();
    let finding = (!said.is_empty()).then(|| format!("blocking inline holds up {}", said.join(", ")));
    let columns = "CPU/call: more than without, by blocking call; all ways: --details";
    finding.into_iter().chain([columns.to_owned()]).collect()
}
