//! Tables of what one thing costs under several settings: a line for each variant, two figures for
//! each setting, and below them the least and the most in words.

use taskscale_model::{
    figure::time,
    summary::{Across, AcrossCell, AcrossRow, Interval},
};

use crate::{
    overview::{COLUMNS, cut, factor, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
    wrap::hanging,
};

/// The most columns of a runtime's and of a variant's name where all settings have theirs.
const NAMES: (usize, usize) = (8, 19);
/// The most columns of a runtime's name where there is room: `asyncio@python3.13`.
const LONG_NAME: usize = 18;
/// Columns of one figure: microseconds in at most five characters.
const FIGURE: usize = 5;
/// Columns of a setting: two figures, with a blank before each.
const SETTING: usize = 2 * FIGURE + 3;
/// Settings that have room beside the names.
const SETTINGS: usize = (COLUMNS - NAMES.0 - NAMES.1 - 1) / SETTING;

/// A table in at most `room` rows, with its heading and what it says in words. A whole one has all
/// settings, in parts where there are many; another one the first, the last and some between.
pub fn lines(table: &Across, room: usize) -> Vec<String> {
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let parts: Vec<Vec<usize>> = match room {
        usize::MAX => all.chunks(SETTINGS).map(<[usize]>::to_vec).collect(),
        _ => vec![spread(all.len())],
    };
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS))];
    for part in parts {
        lines.extend(of_settings(table, &part, room));
    }
    lines.extend(said(table).iter().map(|line| ink(Ink::Dim, line)));
    lines
}

/// The places of at most [`SETTINGS`] of so many columns, the first and the last among them.
fn spread(columns: usize) -> Vec<usize> {
    if columns <= SETTINGS {
        return (0..columns).collect();
    }
    (0..SETTINGS).map(|at| at * (columns - 1) / (SETTINGS - 1)).collect()
}

fn of_settings(table: &Across, settings: &[usize], room: usize) -> Vec<String> {
    let shown = &table.rows[..table.rows.len().min(room)];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let variant = width(shown, |row| clean(&row.variant), NAMES.1);
    let most = (COLUMNS - 1 - SETTING * settings.len() - variant).clamp(NAMES.0, LONG_NAME);
    let runtime_of = |row: &AcrossRow| toolchain::short(&row.runtime, &ids, most);
    let runtime = width(shown, runtime_of, most);
    let blank = " ".repeat(runtime + 1 + variant);
    let mut head = blank.clone();
    let mut units = blank;
    for at in settings {
        head.push_str(&format!(" {:>1$}", cut(&clean(&table.columns[*at]), SETTING - 1), SETTING - 1));
        let [first, second] = if is_of_core(table) { ["core", "each"] } else { ["CPU", "wall"] };
        units.push_str(&format!("  {first:>FIGURE$} {second:>FIGURE$}"));
    }
    let mut lines = vec![ink(Ink::Dim, head.trim_end()), ink(Ink::Dim, &units)];
    for row in shown {
        let names =
            format!("{} {}", fitted(&runtime_of(row), runtime), fitted(&clean(&row.variant), variant));
        let cells = settings.iter().map(|at| match row.cells.get(*at).copied().flatten() {
            Some(cell) => {
                let [first, second] = match each_ns(table, *at, &cell) {
                    Some(each_ns) => [short_percent(cell.cpu_ns), short(each_ns)],
                    None => [short(cell.cpu_ns), short(cell.wall_ns)],
                };
                format!("  {first:>FIGURE$} {second:>FIGURE$}")
            }
            None => format!("  {:>FIGURE$} {:>FIGURE$}", "-", "-"),
        });
        lines.push(format!("{names}{}", cells.collect::<String>()));
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Across, columns: usize) -> String {
    let unit = one(table);
    let what = if is_of_core(table) { format!("% of a core, us {unit}: ") } else { format!("us {unit}: ") };
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// What it says in words: what the first setting costs, and what the others cost beside it.
pub fn sentences(table: &Across) -> impl Iterator<Item = String> + '_ {
    (0..table.columns.len()).filter_map(|at| match at {
        _ if is_of_core(table) => burns(table, at),
        0 => costs(table),
        _ => beside(table, at),
    })
}

/// What a figure is of, with its article: `a wake-up`, `an arrival`.
pub fn one(table: &Across) -> String {
    let unit = clean(&table.unit);
    let article = if unit.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {unit}")
}

/// Whether figures are of milliseconds that are watched, and read as percent of a core.
pub fn is_of_core(table: &Across) -> bool {
    !table.rates.is_empty()
}

/// What one that arrives costs, where tasks arrive at the rate of that column.
pub fn each_ns(table: &Across, at: usize, cell: &AcrossCell) -> Option<f64> {
    let rate = *table.rates.get(at)?;
    Some(cell.cpu_ns * 1e3 / rate as f64)
}

/// The least and the most of a core that a setting costs, and what one that arrives does.
fn burns(table: &Across, at: usize) -> Option<String> {
    let cells = cells(table, at, |cell| Some(cell.cpu_ns));
    let ((least, cheapest), (most, dearest)) = ends(&cells)?;
    let rate = *table.rates.get(at)? as f64;
    let (setting, unit) = (clean(&table.columns[at]), one(table));
    let end = |ns: f64, name: &str| format!("{} ({}, {name})", percent(ns), time(ns * 1e3 / rate));
    Some(match cells.len() {
        1 => format!(
            "{setting}: {} of a core, {} {unit} ({cheapest})",
            percent(least),
            time(least * 1e3 / rate)
        ),
        _ => format!("{setting}: {} to {} of a core", end(least, &cheapest), end(most, &dearest)),
    })
}

/// CPU time of a millisecond in percent of a core: `0.41 %`.
fn percent(ns: f64) -> String {
    format!("{} %", short_percent(ns))
}

/// The same with its interval, for a whole table: `0.41 % [0.40, 0.43]`.
pub fn of_core(cell: &AcrossCell) -> String {
    match cell.cpu_ci {
        Some(Interval(low, high)) => {
            format!("{} [{}, {}]", percent(cell.cpu_ns), short_percent(low), short_percent(high))
        }
        None => format!("{}, no interval", percent(cell.cpu_ns)),
    }
}

/// These sentences in lines of a screen.
pub fn said(table: &Across) -> Vec<String> {
    let lines = |line: String| hanging(&line, 2, COLUMNS).lines().map(str::to_owned).collect::<Vec<_>>();
    sentences(table).flat_map(lines).collect()
}

/// The least and the most that the first setting costs.
fn costs(table: &Across) -> Option<String> {
    let cells = cells(table, 0, |cell| Some(cell.cpu_ns));
    let ((least, cheapest), (most, dearest)) = ends(&cells)?;
    let setting = clean(&table.columns[0]);
    Some(match cells.len() {
        1 => format!("{setting}: {} of CPU ({cheapest})", time(least)),
        _ => format!("{setting}: {} of CPU ({cheapest}) to {} ({dearest})", time(least), time(most)),
    })
}

/// The least and the most that a setting costs in multiples of the first, of variants that have
/// both, with how many of them differ for certain.
fn beside(table: &Across, at: usize) -> Option<String> {
    let has_first = |row: &&AcrossRow| row.cells.first().is_some_and(Option::is_some);
    let base = table.rows.iter().any(|row| has_first(&row) && row.cells[at].is_some());
    if !base {
        return None;
    }
    let of_first = Across { rows: table.rows.iter().filter(has_first).cloned().collect(), ..table.clone() };
    let cells = cells(&of_first, at, |cell| cell.times);
    let ((least, low), (most, high)) = ends(&cells)?;
    let [first, setting] = [0, at].map(|at| clean(&table.columns[at]));
    let dearer =
        of_first.rows.iter().filter(|row| row.cells[at].is_some_and(|cell| is_dearer(&cell))).count();
    let range = match cells.len() {
        1 => format!("{}x the CPU ({low})", factor(least)),
        _ => format!("{}x the CPU ({low}) to {}x ({high})", factor(least), factor(most)),
    };
    Some(format!("{setting} beside {first}: {range}; for certain dearer: {dearer} of {}", cells.len()))
}

/// Whether a setting is dearer than the first for certain.
fn is_dearer(cell: &AcrossCell) -> bool {
    cell.times_ci.is_some_and(|Interval(low, _)| low > 1.0)
}

/// A column's figures with the names of their rows.
fn cells(table: &Across, at: usize, of: impl Fn(&AcrossCell) -> Option<f64>) -> Vec<(f64, String)> {
    let named = |row: &AcrossRow| {
        let figure = of(row.cells.get(at)?.as_ref()?)?;
        Some((figure, format!("{} {}", clean(&row.runtime), clean(&row.variant))))
    };
    table.rows.iter().filter_map(named).collect()
}

type Named = (f64, String);

fn ends(cells: &[Named]) -> Option<(Named, Named)> {
    let least = cells.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = cells.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((least.clone(), most.clone()))
}

/// The CPU time of a cell with its multiple: `2.31 us, 1.92x [1.88, 1.95]`.
pub fn cpu(cell: &AcrossCell) -> String {
    match (cell.times, cell.times_ci) {
        (None, _) => time(cell.cpu_ns),
        (Some(times), None) => format!("{}, {}x no interval", time(cell.cpu_ns), factor(times)),
        (Some(times), Some(Interval(low, high))) => {
            format!("{}, {}x [{}, {}]", time(cell.cpu_ns), factor(times), factor(low), factor(high))
        }
    }
}

/// CPU time of a millisecond in percent of a core, in at most five characters: `0.004`, `0.41`,
/// `180`.
fn short_percent(ns: f64) -> String {
    match ns / 1e4 {
        share if share < 0.0995 => format!("{share:.3}"),
        share if share < 9.995 => format!("{share:.2}"),
        share if share < 99.95 => format!("{share:.1}"),
        share => format!("{share:.0}"),
    }
}

/// Microseconds in at most five characters: `0.31`, `12.3`, `1234`, `123k`.
fn short(ns: f64) -> String {
    match ns / 1e3 {
        us if us < 9.995 => format!("{us:.2}"),
        us if us < 99.95 => format!("{us:.1}"),
        us if us < 99_999.5 => format!("{us:.0}"),
        us if us < 9_999_500.0 => format!("{:.0}k", us / 1e3),
        us => format!("{:.0}M", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_short() {
        let figures = [4.0, 9_994.0, 9_996.0, 99_960.0, 99_999_400.0, 123e6, 12e9];
        assert_eq!(figures.map(short), ["0.00", "9.99", "10.0", "100", "99999", "123k", "12M"]);
    }

    #[test]
    fn percent_are_short() {
        let figures = [4.0, 44.0, 994.0, 996.0, 41_234.0, 123_000.0, 1_999_000.0];
        assert_eq!(figures.map(short_percent), ["0.000", "0.004", "0.099", "0.10", "4.12", "12.3", "200"]);
    }

    #[test]
    fn of_many_settings_the_ends_are_shown() {
        assert_eq!(spread(3), [0, 1, 2]);
        assert_eq!(spread(7), [0, 2, 4, 6]);
    }
}
