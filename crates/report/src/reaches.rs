//! Tables of how far variants come as a parameter grows: one line for each.

use taskscale_model::{
    figure::count,
    summary::{Reach, Reaches},
};

use crate::{
    overview::{COLUMNS, cut, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (9, 22);
/// Columns of a value.
const VALUE: usize = 9;

/// A table in at most `room` rows, with its heading. A whole one has whole reasons; otherwise a
/// line has what says most within the columns of a screen.
pub fn lines(table: &Reaches, room: usize) -> Vec<String> {
    let tried: Vec<String> = table.values.iter().map(|value| count(*value)).collect();
    let tried = format!("tried with {}: {}", clean(&table.param), tried.join(", "));
    let mut lines = vec![ink(Ink::Bold, &what(table, COLUMNS)), ink(Ink::Dim, &tried)];
    let shown = &table.rows[..table.rows.len().min(room)];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &Reach| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown, runtime_of, NAMES.0);
    let variant = width(shown, |row| clean(&row.variant), NAMES.1);
    for row in shown {
        let line = format!(
            "{} {} {:>VALUE$}  {}",
            fitted(&runtime_of(row), runtime),
            fitted(&clean(&row.variant), variant),
            passes(row),
            if room == usize::MAX { end(row) } else { short_end(row) }
        );
        lines.push(match room {
            usize::MAX => line,
            _ => line.chars().take(COLUMNS).collect(),
        });
    }
    let left_out = table.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines
}

/// What a table shows, in one line.
pub fn what(table: &Reaches, columns: usize) -> String {
    let what = format!("largest {} that is answered: ", clean(&table.param));
    format!("{what}{}", cut(&clean(&table.table), columns.saturating_sub(what.chars().count())))
}

/// The largest value that was answered.
pub fn passes(row: &Reach) -> String {
    row.passes.map_or("none".to_owned(), count)
}

/// Where it ends, and the part of the reason that tells one from another: what the probe said, else
/// how it ended.
fn short_end(row: &Reach) -> String {
    let (Some(why), Some(value)) = (&row.reason, row.ends) else { return end(row) };
    let reason = clean(&why.reason);
    let told = reason.split_once("it said: ").map(|(_, said)| said);
    let refused = || Some(reason.split_once(" at size ")?.1.split_once(": ")?.1);
    // `killed by signal 11 (SIGSEGV)` is the name of the signal.
    let how = || Some(reason.strip_prefix("ended (")?.split_once(") instead of ")?.0);
    let ended = || how().map(|how| how.rsplit_once('(').map_or(how, |(_, name)| name.trim_end_matches(')')));
    let short = told.or_else(refused).or_else(ended).unwrap_or(&reason);
    format!("at {}: {short}", count(value))
}

/// Where it ends, and why.
pub fn end(row: &Reach) -> String {
    match (&row.reason, row.ends) {
        (Some(why), Some(value)) => format!("at {}: {}", count(value), clean(&why.reason)),
        _ => "all that were tried".to_owned(),
    }
}
