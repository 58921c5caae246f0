//! The first screen of a report: the answer in at most [`LINES`] lines of [`COLUMNS`] columns.
//!
//! The rankings come first, the findings behind them. Everything else is in the tables of
//! [`text`](mod@crate::text), which [`Style::detailed`] asks for.

use taskscale_model::{
    figure::{count, half_width, percent, spread, time},
    plain::{columns, columns_of},
    run_file::{ANY, Time},
    suite::is_free,
    summary::{Finding, FindingKind, Interval, Quantity, Ranked, Ranking, RowStatus, Standing, Summary},
};

use crate::{
    asked, counts, drawn, graded, legend, shares,
    strip::Strip,
    style::{Ink, Style, clean, ink, render},
    toolchain,
    wrap::{broken, hanging},
};

/// The most lines of a first screen.
pub const LINES: usize = 40;
/// The most columns of a line.
pub const COLUMNS: usize = 80;

/// The most lines of all rankings together, without their headings.
const RANKED: usize = 20;
/// A ranking behind the first one keeps this many lines if there is room for no more.
const FEWEST: usize = 4;
/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (14, 22);
/// Columns of the names and the strip together: the rest is for the figure (8), the ratio (21) and
/// four blanks.
const DRAWN: usize = COLUMNS - 33;
/// The most columns of a strip.
const STRIP: usize = 24;
/// The most lines of claims, and lines that are kept for findings and what comes next.
const CLAIMS: usize = 8;
const FINDINGS: usize = 8;
/// The most characters of the title: a suite of somebody's own may have any.
const TITLE: usize = 3 * COLUMNS;
/// The most reasons why nothing was counted.
const REASONS: usize = 4;

/// The most counted rows of all sections together, and of them beside rankings, which then have so
/// many lines themselves.
const COUNTED: usize = 12;
const COUNTED_BESIDE: usize = 8;
/// The most series of all sections of growth together.
const GRADED: usize = 10;
/// A section of counts or of growth has at least so many rows.
const FEWEST_COUNTED: usize = 2;

/// The word before a finding, with the blank behind it.
const WORD: usize = 10;

/// Writes the first screen. `run` names the run file to `taskscale report`, as a shell reads it.
/// O(rows).
pub fn overview(summary: &Summary, style: &Style, run: &str) -> String {
    let mut lines = heading(summary);
    let rankings: Vec<&Ranking> = summary.overview.rankings.iter().collect();
    // What was asked for by name has its place, however long the screen gets.
    let sections = counts::sections(summary);
    let counted = if rankings.is_empty() { COUNTED } else { COUNTED_BESIDE };
    let counted = (counted / sections.len().max(1)).max(FEWEST_COUNTED);
    let graded = graded::sections(summary);
    let beside = if sections.is_empty() && graded.is_empty() { RANKED } else { COUNTED_BESIDE };
    let rooms = rooms(&rankings, beside);
    let mut shown: Vec<&Ranked> = Vec::new();
    for (index, (ranking, room)) in rankings.iter().zip(rooms).enumerate() {
        if room > 0 {
            lines.push(String::new());
            lines.extend(ranked(ranking, room, index == 0));
            lines.extend(legend::no_task(summary, ranking, COLUMNS).map(|line| ink(Ink::Dim, &line)));
            let rows = choose(&ranking.rows, room);
            lines.extend(legend::drift(&rows, COLUMNS).map(|line| ink(Ink::Yellow, &line)));
            shown.extend(rows);
        }
    }
    lines.extend(legend::marks(&shown).map(|line| ink(Ink::Dim, &line)));
    for section in &graded {
        lines.push(String::new());
        lines.extend(section.lines((GRADED / graded.len()).max(FEWEST_COUNTED)));
    }
    if rankings.is_empty() {
        let line = legend::no_task_at_all(summary).map(|line| ink(Ink::Dim, &line));
        lines.extend(line.into_iter().flat_map(|line| [String::new(), line]));
    }
    let without = without_a_figure(summary);
    if !without.is_empty() {
        lines.push(String::new());
        lines.extend(without);
    }
    lines.extend(shared(summary, &lines));
    for section in &sections {
        lines.push(String::new());
        lines.extend(counts::screen(section, counted));
    }
    if sections.is_empty() {
        for reason in counts::reasons(summary).iter().take(REASONS) {
            lines.push(String::new());
            lines.extend(hanging(&format!("not counted: {reason}"), 2, COLUMNS).lines().map(str::to_owned));
        }
    }
    let calls = counts::calls(summary);
    if !calls.is_empty() {
        lines.push(String::new());
        lines.push(ink(Ink::Bold, "System calls by name"));
        lines.extend(calls.iter().take(counted).map(|line| cut(line, COLUMNS)));
    }
    let next = next(summary, run);
    let room = LINES.saturating_sub(lines.len() + next.len() + 2);
    let findings = findings(&summary.overview.findings, room);
    if !findings.is_empty() {
        lines.push(String::new());
        lines.extend(findings);
    }
    lines.push(String::new());
    lines.extend(next);
    render(&lines.join("\n"), style.colour) + "\n"
}

/// The tables that answer another question, and the claims about them, as far as there is room: the
/// first table whole, with room for [`FINDINGS`] lines behind it.
fn shared(summary: &Summary, above: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let claims: Vec<Vec<String>> = asked::judged(summary).map(shares::claim).collect();
    let mut used = 0;
    // A claim is shown whole.
    let fitting = claims.iter().take_while(|claim| {
        used += claim.len();
        used <= CLAIMS
    });
    let fitting = fitting.count();
    let left_out = claims.len() - fitting;
    let claims: Vec<String> = claims.into_iter().take(fitting).flatten().collect();
    let most = LINES.saturating_sub(above.len() + FINDINGS + claims.len() + usize::from(left_out > 0));
    for kind in drawn::kinds(summary) {
        for table in kind {
            let room = most.saturating_sub(lines.len() + table.around);
            if room < FEWEST.min(table.rows) {
                break;
            }
            lines.push(String::new());
            lines.extend(table.lines(room.saturating_sub(table.behind)));
        }
    }
    if !claims.is_empty() {
        lines.push(String::new());
        lines.extend(claims);
        if left_out > 0 {
            lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more claim"))));
        }
    }
    lines
}

/// What was measured, and below it what that rests on.
fn heading(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> =
        broken(&cut(&title(summary), TITLE), COLUMNS).iter().map(|line| ink(Ink::Bold, line)).collect();
    let facts = facts(summary);
    if !facts.is_empty() {
        lines.push(ink(Ink::Dim, &facts.join(", ")));
    }
    lines.extend(damaged(summary).map(|line| ink(Ink::Yellow, &line)));
    lines
}

/// How many lines of the file no figure rests on.
fn damaged(summary: &Summary) -> Option<String> {
    let lines = usize::try_from(summary.damaged_lines).ok().filter(|lines| *lines > 0)?;
    Some(format!("{} of the file read around: --details says which", plural(lines, "damaged line")))
}

/// The suite of a run and what it is about; the names alone of several.
pub(crate) fn title(summary: &Summary) -> String {
    let mut suites: Vec<String> = summary.rows.iter().map(|row| clean(&row.key.suite)).collect();
    suites.dedup();
    if suites.len() > 1 {
        return format!("taskscale {}", suites.join(", "));
    }
    let ranked = summary.overview.rankings.first().map(|ranking| ranking.suite.as_str());
    let suite = ranked.or_else(|| drawn::kinds(summary).iter().flatten().next().map(|table| table.suite));
    let suite = suite.unwrap_or_default();
    let title = summary.overview.titles.first().map(|title| clean(title)).unwrap_or_default();
    match (suite, title.as_str()) {
        ("", title) => format!("taskscale: {title}"),
        (suite, "") => format!("taskscale {}", clean(suite)),
        (suite, title) => format!("taskscale {}: {title}", clean(suite)),
    }
}

/// That no row has a figure, with the reason of the first that went wrong, else of the first.
fn without_a_figure(summary: &Summary) -> Vec<String> {
    let rows = &summary.rows;
    if rows.iter().any(|row| row.figures().is_some()) {
        return Vec::new();
    }
    let first = rows.iter().find(|row| row.status() == RowStatus::Failed).or(rows.first());
    let Some((row, missing)) = first.and_then(|row| Some((row, row.missing()?))) else { return Vec::new() };
    let name = format!("{} {}", row.key.runtime, row.key.variant_and_case());
    let of = match (row.key.variant == ANY, rows.len()) {
        (_, 1) => String::new(),
        (true, _) => format!("{}: ", cut(&clean(&row.key.runtime), NAMES.1)),
        (false, _) => format!("{}: ", cut(&clean(&name), NAMES.0 + NAMES.1)),
    };
    let text = format!("no row has a figure. {of}{}", clean(&missing.reason));
    let remedy = match clean(&missing.remedy) {
        remedy if remedy.is_empty() => "measure again: taskscale run".to_owned(),
        remedy => remedy,
    };
    let lines = hanging(&with_remedy(&text, &remedy), 2, COLUMNS);
    lines.lines().map(|line| ink(Ink::Yellow, line)).collect()
}

/// CPUs, elapsed time and the smallest difference told, as far as they are known.
pub(crate) fn facts(summary: &Summary) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(summary.machine.cpus_usable.value().map(|cpus| match cpus {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    }));
    facts.extend(summary.overview.elapsed_s.map(|s| time(s * 1e9)));
    facts.extend(summary.control.smallest_difference.map(|share| match share < 1.0 {
        true => format!("differences under {} % not shown", percent(share)),
        // Two rows of the same code differ so much.
        false => "too noisy to tell one row from another".to_owned(),
    }));
    facts
}

/// How many rows each ranking shows, of so many lines for all. The first one takes what it needs;
/// the others share the rest.
fn rooms(rankings: &[&Ranking], all: usize) -> Vec<usize> {
    let mut left = all;
    let mut rooms = Vec::new();
    for (index, ranking) in rankings.iter().enumerate() {
        // A heading, the axis and a blank stand around each ranking behind the first.
        let around = if index == 0 { 0 } else { 2 };
        let behind = (rankings.len() - index - 1).min(2) * (FEWEST + 2);
        let most = if index == 0 { left.saturating_sub(behind) } else { left.saturating_sub(around) };
        let room = ranking.rows.len().min(most);
        let room = if index > 0 && room < FEWEST.min(ranking.rows.len()) { 0 } else { room };
        left = left.saturating_sub(room + if room > 0 { around } else { 0 });
        rooms.push(room);
    }
    rooms
}

/// A ranking: a heading, the axis, a line for each row.
fn ranked(ranking: &Ranking, room: usize, is_first: bool) -> Vec<String> {
    let shown = choose(&ranking.rows, room);
    let left_out = ranking.rows.len() - shown.len();
    let variant_of = |row: &Ranked| variant(ranking, row);
    let ids: Vec<&str> = shown.iter().map(|row| row.runtime.as_str()).collect();
    let runtime_of = |row: &Ranked| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown.iter().copied(), runtime_of, NAMES.0);
    let variant_width = width(shown.iter().copied(), variant_of, NAMES.1);
    let columns = (DRAWN - runtime - variant_width).min(STRIP);
    let strip = Strip::over(shown.iter().map(|row| (row.ns, row.ci)), columns);
    let indent = runtime + 1 + variant_width + 1 + 8 + 1;
    let mut lines = vec![ink(Ink::Bold, &what(ranking, COLUMNS))];
    let legend = if is_first && shown.iter().any(|row| row.ratio.is_some()) { "ratio [95 %]" } else { "" };
    let axis = format!("{}{:columns$}", " ".repeat(indent), strip.axis());
    let gap = if axis.chars().count() > indent + columns { 1 } else { 2 };
    lines.push(ink(Ink::Dim, format!("{axis}{:gap$}{legend}", "").trim_end()));
    for row in &shown {
        let name = format!(
            "{} {}",
            fitted(&clean(&runtime_of(row)), runtime),
            fitted(&variant_of(row), variant_width)
        );
        let line =
            format!("{name} {:>8} {} {}", time(row.ns), strip.draw(row.ns, row.ci), inked(beside(row)));
        lines.push(match row.standing {
            Standing::Reference => ink(Ink::Bold, line.trim_end()),
            _ => line.trim_end().to_owned(),
        });
    }
    if left_out > 0 {
        let text = format!("and {}: --details; ", plural(left_out, "more row"));
        let is_left_out = |row: &&Ranked| !shown.iter().any(|one| std::ptr::eq(*one, *row));
        let names = ranking.rows.iter().filter(is_left_out);
        let names = names.map(|row| clean(&format!("{} {}", row.runtime, variant_of(row))));
        lines.extend(legend::listed(&text, names.collect(), COLUMNS).map(|line| ink(Ink::Dim, &line)));
    }
    lines
}

/// What a ranking ranks, in one line. A long name of a table is cut.
pub(crate) fn what(ranking: &Ranking, columns: usize) -> String {
    if is_by_size(ranking) {
        let time = match ranking.quantity {
            Quantity::PerTask(Time::Wall) => "wall",
            _ => "CPU",
        };
        let what = match is_free(&ranking.suite) {
            true => format!("{time} time per unit of n, by n: "),
            false => format!("{time} time per task by number of tasks: "),
        };
        return format!("{what}{}", cut(&clean(&ranking.table), columns.saturating_sub(what.len())));
    }
    let size = count(ranking.size);
    let tasks = if ranking.size == 1 { "task" } else { "tasks" };
    // What a size means is known of suites alone.
    let (unit, at) = match is_free(&ranking.suite) {
        true => ("unit of n", format!(", n = {size}")),
        false => ("task", format!(", {size} {tasks} at a time")),
    };
    let (what, behind) = match ranking.quantity {
        Quantity::PerTask(Time::Cpu) => (format!("CPU time per {unit}: "), at),
        Quantity::PerTask(Time::Wall) => (format!("wall time per {unit}: "), at),
        Quantity::SmallestTask(share) => {
            (format!("smallest task that is {:.0} % work: ", share * 100.0), format!(", {size} {tasks}"))
        }
    };
    let room = columns.saturating_sub(what.chars().count() + behind.chars().count());
    format!("{what}{}{behind}", cut(&clean(&ranking.table), room))
}

/// The rows to show, the cheapest first: the reference, the cheapest of each runtime, and then the
/// cheapest of the rest.
fn choose(rows: &[Ranked], room: usize) -> Vec<&Ranked> {
    if rows.len() <= room {
        return rows.iter().collect();
    }
    let mut runtimes: Vec<&str> = Vec::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        if row.standing == Standing::Reference {
            // What the ratios of all others refer to is not cut.
            first.insert(0, index);
        } else if !runtimes.contains(&row.runtime.as_str()) {
            first.push(index);
        } else {
            rest.push(index);
        }
        runtimes.push(&row.runtime);
    }
    let mut shown: Vec<usize> = first.into_iter().chain(rest).take(room).collect();
    shown.sort_unstable();
    shown.into_iter().map(|index| &rows[index]).collect()
}

/// The ratio of a row in words, and what they mean.
pub(crate) fn beside(row: &Ranked) -> (Option<Ink>, String) {
    let interval = |ci: Interval| format!("[{}, {}]", factor(ci.0), factor(ci.1));
    match (row.standing, row.ratio, row.ratio_ci) {
        (Standing::Reference, ..) => (None, "reference".to_owned()),
        (Standing::Tie, _, Some(ci)) => (Some(Ink::Dim), format!("  tie  {}", interval(ci))),
        (Standing::Cheaper, Some(ratio), Some(ci)) => {
            (Some(Ink::Green), format!("{:>5}x {}", factor(ratio), interval(ci)))
        }
        (Standing::Dearer, Some(ratio), Some(ci)) => {
            (Some(Ink::Red), format!("{:>5}x {}", factor(ratio), interval(ci)))
        }
        (Standing::CannotTell, _, Some(ci)) => (Some(Ink::Yellow), format!("    ? {}", interval(ci))),
        (Standing::CannotTell, Some(ratio), None) => {
            (Some(Ink::Yellow), format!("{:>5}x no interval", factor(ratio)))
        }
        _ => (None, String::new()),
    }
}

fn inked((meaning, words): (Option<Ink>, String)) -> String {
    meaning.map_or(words.clone(), |meaning| ink(meaning, &words))
}

/// The figure of a row with the farther reach of its interval: `2.34 us ±3.5%`.
pub(crate) fn figure(row: &Ranked) -> String {
    let width = row.ci.filter(|_| row.ns > 0.0).map(|ci| half_width(row.ns, ci) / row.ns);
    width.map_or_else(|| time(row.ns), |width| format!("{} {}", time(row.ns), spread(width)))
}

/// The variant of a row, with its size where the ranking is by size.
pub(crate) fn variant(ranking: &Ranking, row: &Ranked) -> String {
    match is_by_size(ranking) {
        true => format!("{} {}", clean(&row.variant), count(row.size)),
        false => clean(&row.variant),
    }
}

/// A factor in at most five characters: `0.052`, `0.52`, `4.53`, `14.0`, `208`, `1e5`.
pub(crate) fn factor(factor: f64) -> String {
    match factor {
        x if x < 0.0995 => format!("{x:.3}"),
        x if x < 9.995 => format!("{x:.2}"),
        x if x < 99.95 => format!("{x:.1}"),
        x if x < 99_999.5 => format!("{x:.0}"),
        x => format!("{x:.0e}"),
    }
}

/// The findings in at most `room` lines, and how many are left out. Each kind has its first before
/// any has its second.
fn findings(findings: &[Finding], room: usize) -> Vec<String> {
    let place = |index: usize| {
        let kind = findings[index].kind;
        findings[..index].iter().filter(|other| other.kind == kind).count()
    };
    let mut by_place: Vec<usize> = (0..findings.len()).collect();
    by_place.sort_by_key(|index| place(*index));
    let drawn: Vec<Vec<String>> = findings.iter().map(finding).collect();
    let (mut kept, mut used) = (Vec::new(), 0);
    for index in by_place {
        // One line is kept for what is left out.
        if used + drawn[index].len() < room {
            used += drawn[index].len();
            kept.push(index);
        }
    }
    kept.sort_unstable();
    let mut lines: Vec<String> = kept.iter().flat_map(|index| drawn[*index].clone()).collect();
    let left_out = findings.len() - kept.len();
    if left_out > 0 && room > 0 {
        lines.push(ink(Ink::Dim, &format!("{:WORD$}{}: --details", "", plural(left_out, "more finding"))));
    }
    lines
}

/// A text of at most so many characters; one that goes on ends in dots, behind a whole word.
pub(crate) fn ended(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most.saturating_sub(3)) else { return text.to_owned() };
    if text.chars().count() <= most {
        return text.to_owned();
    }
    // A word that takes most of it is cut: what is left would say nothing.
    let is_cut = !text[end..].starts_with(' ');
    let word = text[..end].rfind(' ').filter(|at| is_cut && *at > end / 2).unwrap_or(end);
    format!("{}...", text[..word].trim_end_matches([' ', ',', ';', ':']))
}

/// A text and what to do about it, in lines of which each has a word before it: three, and more
/// where what to do takes them.
fn with_remedy(text: &str, remedy: &str) -> String {
    // Words are not broken, so that a line may end early.
    // What stands first says most, and a name in the middle of a list must not run into another.
    let most = 3 * (COLUMNS - WORD) - 24;
    let (text, remedy) = (whole_words(text), ended(&whole_words(remedy), most));
    match remedy.chars().count() {
        0 => ended(&text, most),
        // What to do about it is what a reader is here for: a long list gives way to it.
        needs => format!("{}; {remedy}", ended(&text, most.saturating_sub(needs + 2).max(most * 2 / 3))),
    }
}

/// A text without a word that no line has room for: such a one is cut in its middle.
pub(crate) fn whole_words(text: &str) -> String {
    text.split(' ').map(|word| cut(word, COLUMNS - WORD)).collect::<Vec<_>>().join(" ")
}

/// A finding in a few lines.
fn finding(finding: &Finding) -> Vec<String> {
    let text = with_remedy(&clean(&finding.text), &clean(&finding.remedy));
    let word = format!("{:WORD$}", finding.kind.word());
    let word = match finding.kind {
        FindingKind::Failed | FindingKind::Cliff => ink(Ink::Red, &word),
        FindingKind::Cut
        | FindingKind::Unsettled
        | FindingKind::Biased
        | FindingKind::Busy
        | FindingKind::Unsure => ink(Ink::Yellow, &word),
        FindingKind::Version
        | FindingKind::Dearer
        | FindingKind::Tie
        | FindingKind::Growth
        | FindingKind::Skipped => ink(Ink::Dim, &word),
    };
    let text = hanging(&text, WORD, COLUMNS);
    format!("{word}{text}").trim_end().lines().map(str::to_owned).collect()
}

/// What a reader may do next.
fn next(summary: &Summary, run: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let first = summary.overview.rankings.first();
    let of = |ranking: &Ranking| {
        let reference = ranking.rows.iter().find(|row| row.standing == Standing::Reference);
        let name = reference.or(ranking.rows.first()).map(|row| clean(&row.runtime))?;
        Some(shlex::try_quote(&name).ok()?.into_owned())
    };
    // Suite `quick` has one or two ways of each runtime; suite `fanout` has all of them.
    if let Some(runtime) = first.filter(|ranking| ranking.suite == "quick").and_then(of) {
        lines.push(format!(
            "{:WORD$}all ways of one runtime: taskscale run fanout --runtime {runtime}",
            "next"
        ));
    }
    // Ratios are to the reference; how far the cheapest leads is one more look at the same file.
    let is_command = |line: &String| line.chars().count() + WORD <= COLUMNS && clean(run) == run;
    let leads = |ranking: &Ranking| {
        let cheapest = ranking.rows.first().filter(|row| row.standing == Standing::Cheaper)?;
        let runtime = clean(&cheapest.runtime);
        let names = [format!("{runtime}:{}", clean(&cheapest.variant)), runtime];
        let names = names.iter().filter_map(|name| shlex::try_quote(name).ok());
        let mut lines =
            names.map(|name| format!("over the cheapest: taskscale report {run} --baseline {name}"));
        lines.find(is_command)
    };
    if let Some(line) = first.filter(|ranking| ranking.rows.len() > 2).and_then(leads) {
        let word = if lines.is_empty() { "next" } else { "" };
        lines.push(format!("{word:WORD$}{line}"));
    }
    let word = if lines.is_empty() { "next" } else { "" };
    let again = format!("all figures: taskscale report {run} --details");
    // A path that is cut, or that no terminal can show, is no command.
    lines.push(format!(
        "{word:WORD$}{}",
        if is_command(&again) { &again } else { "all figures: the same with --details" }
    ));
    lines
}

pub(crate) fn plural(n: usize, of: &str) -> String {
    format!("{} {of}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// The columns of the longest name, at most `most`.
pub(crate) fn width<'r, T: 'r>(
    rows: impl IntoIterator<Item = &'r T>,
    name: impl Fn(&T) -> String,
    most: usize,
) -> usize {
    rows.into_iter().map(|row| columns(&clean(&name(row)))).max().unwrap_or_default().min(most)
}

/// Whether a ranking is of sizes, and not of rows at one size.
pub(crate) fn is_by_size(ranking: &Ranking) -> bool {
    ranking.rows.iter().any(|row| row.size != ranking.size)
}

/// Cuts a text in its middle, where names differ least. An ellipsis stands there: `~` is for counts
/// and ratios.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let (head, tail) = (most.saturating_sub(1).div_ceil(2), most.saturating_sub(1) / 2);
    let within = |most: usize| {
        let mut used = 0;
        move |c: &char| {
            used += columns_of(*c);
            used <= most
        }
    };
    let begin: String = text.chars().take_while(within(head)).collect();
    let end: Vec<char> = text.chars().rev().take_while(within(tail)).collect();
    format!("{begin}\u{2026}{}", end.into_iter().rev().collect::<String>())
}

/// A text in so many columns: cut, or with blanks behind it. `{:width$}` counts characters.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let text = cut(text, width);
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(&text))))
}

#[cfg(test)]
mod tests {
    use super::{Finding, FindingKind, columns, finding, fitted};

    #[test]
    fn names_are_cut_and_padded_by_columns() {
        for (name, most, drawn) in [
            ("gather", 8, "gather  "),
            ("\u{666e}\u{901a}\u{8bdd}", 8, "\u{666e}\u{901a}\u{8bdd}  "),
            ("\u{666e}\u{901a}\u{8bdd}\u{8fd0}\u{884c}", 8, "\u{666e}\u{901a}\u{2026}\u{884c} "),
            ("e\u{301}t\u{e9}", 4, "e\u{301}t\u{e9} "),
        ] {
            assert_eq!(fitted(name, most), drawn);
            assert_eq!(columns(drawn), most, "{name}");
        }
    }

    #[test]
    fn a_long_list_gives_way_to_what_to_do_about_it() {
        let lines = |text: &str, remedy: &str| {
            let (text, remedy) = (text.to_owned(), remedy.to_owned());
            let what = Finding { kind: FindingKind::Skipped, text, remedy };
            finding(&what).join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let long = "tokio current_thread, ".repeat(20);
        let drawn = lines(&long, "raise --max-time");
        assert!(drawn.ends_with("...; raise --max-time"), "{drawn}");
        assert!(drawn.chars().count() <= 200, "{drawn}");
        assert!(lines("tokio sync", "raise --max-time").ends_with("tokio sync; raise --max-time"));
        // What to do is whole, and what it is about ends behind a word.
        let what_to_do = "give the same number for the same size and seed: draw random numbers from the seed, and begin \
                          each iteration afresh";
        let both = lines(&long, what_to_do);
        assert!(both.ends_with(&format!(" tokio...; {what_to_do}")), "{both}");
        let both = lines(&long, &"do this, ".repeat(40));
        assert!(both.ends_with("do...") && both.chars().count() <= 330, "{both}");
    }
}
