//! Tables of what tasks hold while they wait: one line for each variant.

use taskscale_model::{
    figure::{count, time},
    summary::{HeldPerTask, ResidentRow, Residents},
};

use crate::{
    overview::{COLUMNS, cut, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (8, 18);
/// Columns of bytes, of their range, of the process, of the tasks, of waking.
const BYTES: usize = 7;
const RANGE: usize = 16;
const MIB: usize = 7;
const TASKS: usize = 9;

/// The most rows with the same end whose names stand on a screen.
const NAMED: usize = 1;

/// A table in at most `room` rows, with its heading; below it where rows end, and why. A whole one
/// has whole reasons.
pub fn lines(table: &Residents, room: usize) -> Vec<String> {
    // A row without any figure is among those that end.
    let held: Vec<&ResidentRow> = table.rows.iter().filter(|row| row.held.is_some()).collect();
    let reasons = ends(table, if room == usize::MAX { usize::MAX } else { NAMED });
    let below = reasons.len().min(2) + legend(&held).len();
    let most = if room == usize::MAX { room } else { room.saturating_sub(below) };
    let shown = &held[..held.len().min(most)];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &ResidentRow| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown.iter().copied(), runtime_of, NAMES.0);
    let variant = width(shown.iter().copied(), |row| clean(&row.variant), NAMES.1);
    let head = format!(
        "{:runtime$} {:variant$} {:>BYTES$} {:>RANGE$} {:>MIB$} {:>TASKS$} {:>8}",
        "", "", "bytes", "least to most", "process", "tasks", "CPU/wake"
    );
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, head.trim_end())];
    for row in shown {
        let Some(held) = &row.held else { continue };
        lines.push(format!(
            "{} {} {:>BYTES$} {:>RANGE$} {:>MIB$} {:>TASKS$} {:>8}",
            fitted(&runtime_of(row), runtime),
            fitted(&clean(&row.variant), variant),
            of_task(held, "*"),
            range(held),
            mib(held.resident),
            count(held.size),
            time(held.wake_ns)
        ));
    }
    let left_out = held.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(legend(shown).iter().map(|line| ink(Ink::Dim, line)));
    let reasons_shown = if room == usize::MAX { reasons.len() } else { reasons.len().min(2) };
    for reason in &reasons[..reasons_shown] {
        let reason = if room == usize::MAX { reason.clone() } else { short(reason) };
        lines.push(ink(Ink::Dim, &reason));
    }
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Residents, columns: usize) -> String {
    let what = "resident bytes of a task that waits: ";
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// What the columns hold that their heads do not say.
fn legend(rows: &[&ResidentRow]) -> Vec<String> {
    let process = (!rows.is_empty())
        .then(|| "bytes: of a task; process: MiB of the whole process while all tasks wait".to_owned());
    let single = rows.iter().filter_map(|row| row.held.as_ref()).any(|held| held.from.is_none());
    let single =
        single.then(|| "*: from one size alone, so it holds what the first task brings once".to_owned());
    process.into_iter().chain(single).collect()
}

/// Bytes a task with a mark where they are no slope between two sizes.
pub fn of_task(held: &HeldPerTask, mark: &str) -> String {
    let mark = if held.from.is_none() { mark } else { "" };
    format!("{}{mark}", bytes(held.bytes))
}

/// Bytes a task: whole ones from ten on.
pub fn bytes(bytes: f64) -> String {
    if bytes < 9.95 { format!("{bytes:.1}") } else { count(bytes.round() as u64) }
}

/// The least and the most of the processes, and how many there were.
pub fn range(held: &HeldPerTask) -> String {
    match held.processes {
        1 => "one process".to_owned(),
        _ => format!("{} to {}", bytes(held.range.0), bytes(held.range.1)),
    }
}

/// Mebibytes.
pub fn mib(bytes: f64) -> String {
    count((bytes / f64::from(1 << 20)).round() as u64)
}

/// Where a row ends, and why.
pub fn end(row: &ResidentRow) -> String {
    match (&row.reason, row.ends) {
        (Some(why), Some(size)) => format!("at {}: {}", count(size), clean(&why.reason)),
        (None, Some(size)) => format!("at {}", count(size)),
        _ => String::new(),
    }
}

/// Where rows end, those with the same reason together. At most `named` of them have their names.
fn ends(table: &Residents, named: usize) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in table.rows.iter().filter(|row| row.ends.is_some()) {
        let name = format!("{} {}", clean(&row.runtime), clean(&row.variant));
        let end = end(row);
        match groups.iter_mut().find(|(known, _)| *known == end) {
            Some((_, names)) => names.push(name),
            None => groups.push((end, vec![name])),
        }
    }
    let words = |(end, names): (String, Vec<String>)| match names.len() {
        1 => format!("{} ends {end}", names[0]),
        n if n > named => format!("{n} rows end {end}"),
        _ => format!("{} end {end}", names.join(", ")),
    };
    groups.into_iter().map(words).collect()
}

/// The beginning of a line, within the columns of a screen.
fn short(line: &str) -> String {
    match line.chars().count() > COLUMNS {
        true => line.chars().take(COLUMNS - 1).chain(['\u{2026}']).collect(),
        false => line.to_owned(),
    }
}
