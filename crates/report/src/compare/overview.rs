//! The first screen of a comparison: the outcome, the rows that changed, and how many did not, in
//! at most [`LINES`] lines of [`COLUMNS`] columns.

use taskscale_model::{
    compare::{ComparedRow, Comparison, Verdict},
    figure::{count, percent, ratio, time},
    plain::columns,
    summary::Interval,
};

use super::{counts, words};
use crate::{
    overview::{COLUMNS, LINES, cut, ended, fitted, plural, whole_words},
    strip::draw_interval,
    style::{Ink, Style, clean, ink, render},
    wrap::hanging,
};

/// The most rows with a line of their own.
const ROWS: usize = 16;
/// The most columns of a name. A ratio of four decimals takes 24.
const NAME: usize = 24;
/// Columns of the strip. One in the middle is for 1.
const STRIP: usize = 15;
/// Columns of the word before a line, with the blank behind it.
const WORD: usize = 8;
/// The shortest axis: what differs by less than this share fills no strip.
const SPAN: f64 = 0.1;
/// The longest axis, so that its ends fit a strip. What differs by more than this factor stands at
/// an end.
const MOST: f64 = 100.0;

/// Writes the first screen. `command` is what repeats the comparison, for the line that says how to
/// see the rest. O(rows log rows).
pub fn overview(comparison: &Comparison, style: &Style, command: &str) -> String {
    let mut rows = changed(comparison);
    if rows.is_empty() {
        rows = unsure(comparison);
    }
    // Those that changed most, in the order of the tables.
    let mut shown: Vec<&ComparedRow> = rows.iter().copied().take(ROWS).collect();
    by_size(&mut shown, comparison);
    let colour = if comparison.regression { Ink::Red } else { Ink::Bold };
    let mut lines: Vec<String> =
        hanging(&clean(&comparison.summary), 0, COLUMNS).lines().map(|line| ink(colour, line)).collect();
    let metric = if comparison.metric.starts_with("wall") { "wall time" } else { "CPU time" };
    let threshold = percent(comparison.threshold);
    lines.push(ink(Ink::Dim, &format!("{metric} per task; up to {threshold} % counts as the same")));
    lines.push(String::new());
    let sides = [("OLD", &comparison.old), ("NEW", &comparison.new)];
    for (word, side) in sides {
        lines.push(format!("{word:WORD$}{}", cut(&clean(&side.name), COLUMNS - WORD)));
    }
    if !shown.is_empty() {
        lines.push(String::new());
        lines.extend(strip(&shown));
    }
    let mut below = Vec::new();
    if rows.len() > shown.len() {
        below.push(said(None, "", &format!("{} more like these", count((rows.len() - shown.len()) as u64))));
    }
    let changes = |verdict: Verdict, has_ratio: bool| {
        let rows = comparison.rows.iter().filter(move |row| row.verdict == verdict);
        words::reasons_of(rows.filter(move |row| row.ratio.is_some() == has_ratio))
    };
    for (verdict, colour, word) in
        [(Verdict::Worse, Ink::Red, "failed"), (Verdict::Better, Ink::Green, "mended")]
    {
        below.extend(changes(verdict, false).iter().map(|line| said(Some(colour), word, line)));
    }
    for verdict in [Verdict::Worse, Verdict::Better] {
        below.extend(changes(verdict, true).iter().map(|line| said(None, "note", line)));
    }
    below.extend(the_rest(comparison));
    for (verdict, colour, word) in
        [(Verdict::Worse, Ink::Red, "worse"), (Verdict::Better, Ink::Green, "better")]
    {
        let changes = counts::changed(comparison, verdict);
        below.extend(changes.iter().map(|line| said(Some(colour), word, line)));
    }
    below.extend(comparison.notes.iter().map(|note| said(None, "note", note)));
    let room = LINES.saturating_sub(lines.len() + 3);
    let (mut used, mut left_out) = (0, 0);
    let mut kept: Vec<String> = Vec::new();
    for text in below {
        // One line is kept for what is left out.
        if used + text.lines().count() < room {
            used += text.lines().count();
            kept.push(text);
        } else {
            left_out += 1;
        }
    }
    if !kept.is_empty() {
        lines.push(String::new());
        lines.extend(kept);
    }
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("{:WORD$}{}: --details", "", plural(left_out, "more line"))));
    }
    lines.push(String::new());
    let next = format!("all rows: {command} --details");
    let fits = next.chars().count() + WORD <= COLUMNS && clean(command) == command;
    let next = if fits { next } else { "all rows: the same with --details".to_owned() };
    lines.push(format!("{:WORD$}{next}", "next"));
    render(&lines.join("\n"), style.colour) + "\n"
}

/// The rows that changed: worse by how much, then better by how much. One that failed comes first.
fn changed(comparison: &Comparison) -> Vec<&ComparedRow> {
    let of = |verdict: Verdict| {
        let mut rows: Vec<&ComparedRow> =
            comparison.rows.iter().filter(|row| row.verdict == verdict).collect();
        let by = |row: &ComparedRow| row.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
        rows.sort_by(|a, b| by(b).total_cmp(&by(a)));
        rows
    };
    [of(Verdict::Worse), of(Verdict::Better)].concat()
}

/// Where nothing changed for certain: the rows that leave it open, the most different first.
fn unsure(comparison: &Comparison) -> Vec<&ComparedRow> {
    let open = |row: &&ComparedRow| row.verdict == Verdict::CannotTell && row.ratio.is_some();
    let mut rows: Vec<&ComparedRow> = comparison.rows.iter().filter(open).collect();
    let by = |row: &ComparedRow| row.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    rows.sort_by(|a, b| by(b).total_cmp(&by(a)));
    rows
}

/// Orders rows as their tables do: what is worse first and within that what failed, then by table
/// and size. Of one size those that changed most stay first.
fn by_size(rows: &mut [&ComparedRow], comparison: &Comparison) {
    let table = |row: &ComparedRow| {
        let is_of =
            |other: &ComparedRow| (&other.key.suite, &other.key.table) == (&row.key.suite, &row.key.table);
        comparison.rows.iter().position(is_of)
    };
    let order =
        |row: &&ComparedRow| (row.verdict == Verdict::Better, row.ratio.is_some(), table(row), row.key.size);
    rows.sort_by_cached_key(order);
}

/// An axis around 1, and a line for each row.
fn strip(rows: &[&ComparedRow]) -> Vec<String> {
    let ends = |row: &&ComparedRow| {
        let ends = row.ratio_ci.map(|Interval(low, high)| [low, high]);
        ends.into_iter().flatten().chain(row.ratio).filter(|end| end.is_finite() && *end > 0.0)
    };
    let longest = rows.iter().flat_map(ends).map(|end| end.ln().abs()).fold((1.0 + SPAN).ln(), f64::max);
    let span = longest.min(MOST.ln());
    let half = STRIP / 2;
    let column = |ratio: f64| {
        let part = (ratio.max(f64::MIN_POSITIVE).ln() / span).clamp(-1.0, 1.0);
        (half as f64 + part * half as f64).round() as usize
    };
    let label = |ratio: f64| format!("{ratio:.2}x");
    let (low, high) = (label((-span).exp()), label(span.exp()));
    let middle = STRIP - low.len() - high.len();
    let axis = format!("{low}{:^middle$}{high}", "1");
    let name = rows.iter().map(|row| columns(&name(row))).max().unwrap_or(0).min(NAME);
    let heading = format!("{:indent$}NEW {axis} NEW/OLD", "", indent = WORD + name + 6);
    let mut lines = vec![ink(Ink::Dim, &heading)];
    for row in rows {
        let mut cells = vec![' '; STRIP];
        cells[half] = '\u{b7}';
        if let Some(Interval(low, high)) = row.ratio_ci {
            draw_interval(&mut cells, [column(low), column(high)]);
        }
        if let Some(ratio) = row.ratio {
            cells[column(ratio)] = '\u{25cf}';
        }
        let (word, colour) = match row.verdict {
            Verdict::Worse => ("worse", Ink::Red),
            Verdict::CannotTell => ("unsure", Ink::Yellow),
            _ => ("better", Ink::Green),
        };
        let figure = row.new.as_ref().map_or(String::new(), |figure| match figure.estimate.value() {
            Some(estimate) => time(estimate.value),
            None => words::figure(Some(figure)),
        });
        let compared = row.ratio.map_or(String::new(), |value| ratio(value, row.ratio_ci));
        let line = format!(
            "{}{} {figure:>8} {} {compared}",
            ink(colour, &format!("{word:WORD$}")),
            fitted(&self::name(row), name),
            cells.into_iter().collect::<String>(),
        );
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// `asyncio TaskGroup 2,048`.
fn name(row: &ComparedRow) -> String {
    clean(&format!("{} {} {}", row.key.runtime, words::variant(row), count(row.key.size)))
}

/// The most reasons that a verdict has on the screen.
const REASONS: usize = 2;

/// How many rows have no other verdict, and the reasons that most of them share.
fn the_rest(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    let of = |verdict: Verdict| comparison.rows.iter().filter(move |row| row.verdict == verdict);
    let same = of(Verdict::Same).count();
    if same > 0 {
        lines.push(said(None, "same", &plural(same, "row")));
    }
    for verdict in [Verdict::CannotTell, Verdict::OtherMachine] {
        let all = of(verdict).count();
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for row in of(verdict) {
            let reason = words::reason(row);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, n)) => *n += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let word = if verdict == Verdict::CannotTell { "unsure" } else { "machine" };
        let mut left = all;
        // One reason more takes the line that would say so.
        let told = if reasons.len() == REASONS + 1 { REASONS + 1 } else { REASONS };
        for (at, (reason, n)) in reasons.iter().take(told).enumerate() {
            let of = if at == 0 && *n < all { format!(" of {}", count(all as u64)) } else { String::new() };
            let rows = format!("{}{of}", plural(*n, "row"));
            let text = if reason.is_empty() { rows } else { format!("{rows}: {reason}") };
            lines.push(said((at == 0).then_some(Ink::Yellow), if at == 0 { word } else { "" }, &text));
            left -= n;
        }
        if left > 0 {
            let others = reasons.len() - told;
            let text = format!("{}, for {others} other reasons: --details", plural(left, "row"));
            lines.push(said(None, "", &text));
        }
    }
    lines
}

/// The most characters of a text: four lines, which words that are not broken may end early.
const SAID: usize = 4 * (COLUMNS - WORD) - 32;

/// A word and a text behind it, in lines.
fn said(colour: Option<Ink>, word: &str, text: &str) -> String {
    let text = ended(&whole_words(&clean(text)), SAID);
    let word = format!("{word:WORD$}");
    let word = ink(colour.unwrap_or(Ink::Dim), &word);
    // A name without blanks is not broken into lines.
    let text = hanging(&text, WORD, COLUMNS);
    let mut lines = text.trim_end().lines();
    let first = cut(lines.next().unwrap_or_default(), COLUMNS - WORD);
    let rest: String = lines.map(|line| format!("\n{}", cut(line, COLUMNS))).collect();
    format!("{word}{first}{rest}")
}
