//! Verdicts on the claims of Taskflow's guide, as a screen, in full, as Markdown and JSON.

mod map;
mod others;

use std::fmt::Write;

use taskscale_analysis::{guide::tally, machine_words};
use taskscale_model::plain::{clean_json, columns};
use taskscale_model::{
    figure::{count, grouped, percent, rounded, time},
    guide::{Figure, Judged, JudgedBound, Of, OfLibrary, Standing, Verdict, Verdicts},
    missing::Missing,
};

use crate::{
    markdown::escape,
    overview::{COLUMNS, factor, fitted},
    style::{Ink, Style, clean, ink, render, with_remedy},
    wrap::{hanging, paragraphs},
};

use others::Table;

/// Columns of a claim's number, of its verdict, and of its words on a screen. The rest has room for
/// a ratio with its interval and what is claimed of it.
const NUMBER: usize = 3;
const WORD: usize = 12;
const TEXT: usize = 32;
/// The most characters of what was measured in a cell of a table. More stands below it.
const CELL: usize = 300;

/// How long a claim that could not be told is measured anew: seven times its share of a whole run.
const MINUTES_OF_EACH: usize = 1;

const LEGEND: &str = "Shown is the figure that decides, with what is claimed of it in parentheses.";
const PARTS: &str = "Partly 1/5: one of five bounds holds.";
const QUESTIONS: &str = "Of what is answered the guide claims nothing: the figure is the answer.";

/// The verdict as it is printed.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::Refuted => "refuted",
        Verdict::Partly => "partly",
        Verdict::Answered => "answered",
        Verdict::CannotTell => "cannot tell",
        Verdict::NotTestable => "not testable",
        Verdict::Inapplicable => "inapplicable",
        Verdict::Failed => "failed",
        Verdict::NotMeasured => "not measured",
    }
}

fn inked(verdict: Verdict, text: &str) -> String {
    let colour = match verdict {
        Verdict::Confirmed | Verdict::Answered => Ink::Green,
        Verdict::Refuted | Verdict::Failed => Ink::Red,
        Verdict::Partly | Verdict::CannotTell => Ink::Yellow,
        Verdict::NotTestable | Verdict::Inapplicable | Verdict::NotMeasured => Ink::Dim,
    };
    ink(colour, text)
}

/// The answer on one screen: a line for each claim. `library` is one beside Taskflow, whose table
/// is shown then. `run` is what names the file to `taskscale report`.
pub fn guide_overview(verdicts: &Verdicts, library: Option<&str>, style: &Style, run: &str) -> String {
    let table = others::table(verdicts, library);
    let marks = if table.library.is_none() { verdicts.others.as_slice() } else { &[] };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", ink(Ink::Bold, "Taskflow's performance guide, put to the test"));
    let _ = writeln!(text, "{}", begin(&clean(&ran_on(verdicts, &table)), COLUMNS));
    let _ = writeln!(text, "{}", tallied(&table));
    let _ = writeln!(text, "{}", others::heading(marks));
    for judged in &table.claims {
        let _ = writeln!(text, "{}", line(judged, &table, marks).trim_end());
    }
    let is_claimed = |judged: &&Judged| key_bound(judged).is_some_and(|bound| demand(bound).is_some());
    if !table.is_borrowed && table.claims.iter().any(is_claimed) {
        let _ = writeln!(text, "\n{}", ink(Ink::Dim, LEGEND));
    }
    if !table.is_borrowed && table.claims.iter().any(|judged| judged.verdict == Verdict::Partly) {
        let _ = writeln!(text, "{}", ink(Ink::Dim, PARTS));
    }
    if table.claims.iter().any(|judged| judged.verdict == Verdict::Answered) {
        let _ = writeln!(text, "{}", ink(Ink::Dim, QUESTIONS));
    }
    text.push_str(&others::legend(verdicts, marks));
    // What surprises most is looked at first.
    let refuted = table.claims.iter().find(|judged| judged.verdict == Verdict::Refuted);
    if let Some(judged) = refuted.or(table.claims.first()) {
        let next = format!(
            "next: taskscale report {}{} --claim {}: all that was measured",
            clean(run),
            of_library(&table),
            judged.claim
        );
        let _ = writeln!(text, "\n{}", hanging(&next, 6, COLUMNS).trim_end());
    }
    if let Some(again) = again(&table) {
        let _ = writeln!(text, "{}", hanging(&again, 6, COLUMNS).trim_end());
    }
    text.push_str(&notes(verdicts, COLUMNS));
    render(&text, style.colour)
}

/// The command that measures anew, and longer, what could not be told; `None` where all was.
fn again(table: &Table<'_>) -> Option<String> {
    let open = || table.claims.iter().filter(|judged| judged.verdict == Verdict::CannotTell);
    let claims: String = open().map(|judged| format!(" --claim {}", judged.claim)).collect();
    let minutes = MINUTES_OF_EACH * open().count();
    (minutes > 0).then(|| {
        let of = of_library(table);
        format!("again: taskscale run guide{of}{claims} --max-time {minutes}m: what could not be told")
    })
}

/// The words that ask for the library of a table; none for Taskflow.
fn of_library(table: &Table<'_>) -> String {
    table.library.map(|other| format!(" --library {}", clean(&other.name))).unwrap_or_default()
}

/// On what it ran, and for how long.
fn ran_on(verdicts: &Verdicts, table: &Table<'_>) -> String {
    let cpus = verdicts.machine.cpus_usable.value().copied().unwrap_or_default();
    let took = match verdicts.elapsed_s {
        Some(seconds) if verdicts.interrupted => format!("interrupted after {seconds:.0} s"),
        Some(seconds) => format!("{seconds:.0} s"),
        None => "cut short".into(),
    };
    let cpus = if cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", count(cpus)) };
    let (title, compiler) = match table.library {
        None => (
            format!("Taskflow {}", verdicts.taskflow.as_deref().unwrap_or("not seen")),
            verdicts.compiler.as_str(),
        ),
        Some(other) => (others::titled(other), other.toolchain.value().map_or("", String::as_str)),
    };
    // Wall time of several workers says little on a busy machine.
    let load = verdicts.machine.load_1m.value();
    let load = load.map_or(String::new(), |load| format!(", load {load:.1}"));
    format!("{title}, {cpus}{load}, {took}, {compiler}").trim_end_matches(", ").to_owned()
}

/// `14 confirmed, 5 refuted, 3 partly`.
fn tallied(table: &Table<'_>) -> String {
    let parts = tally(table.claims.iter().copied())
        .into_iter()
        .map(|(verdict, so_many)| inked(verdict, &format!("{so_many} {}", word(verdict))));
    parts.collect::<Vec<_>>().join(", ")
}

fn line(judged: &Judged, table: &Table<'_>, marks: &[OfLibrary]) -> String {
    let words = if judged.text.is_empty() { judged.program.clone() } else { judged.text.clone() };
    // Where Taskflow was not measured, its place is empty and only marks are shown.
    let (verdict, key) = match table.is_borrowed {
        true => (format!("{:WORD$}", ""), String::new()),
        false => (inked(judged.verdict, &format!("{:WORD$}", standing_of(judged))), key(judged)),
    };
    let room = COLUMNS - NUMBER - 1 - WORD - 1 - TEXT - 1;
    // A figure without what is claimed of it is better than half of both.
    let claimed = if table.is_borrowed { None } else { key_bound(judged).and_then(demand) };
    let key = match claimed.map(|claimed| format!("{key} ({claimed})")) {
        Some(both) if both.chars().count() <= room => both,
        _ => key,
    };
    let width = TEXT - 2 * marks.len().min(TEXT / 4);
    let words = begin(&clean(&words), width);
    let marks = others::marks(judged.claim, marks);
    format!("{:>NUMBER$} {verdict} {words:width$} {marks}{}", judged.claim, begin(&key, room))
}

/// The verdict; of one that is partly right how many of its bounds hold: `partly 1/5`.
fn standing_of(judged: &Judged) -> String {
    let of = |standing| judged.bounds.iter().filter(|bound| bound.standing == standing).count();
    let (hold, fail) = (of(Standing::Holds), of(Standing::Fails));
    match judged.verdict {
        Verdict::Partly => {
            format!("{} {hold}/{}", word(judged.verdict), hold + fail + of(Standing::CannotTell))
        }
        verdict => word(verdict).to_owned(),
    }
}

/// The bound that decides; `None` where none does. Where all have to hold, or to fail, it is the
/// one that does so least; where one that fails is enough, the one that fails most.
fn key_bound(judged: &Judged) -> Option<&JudgedBound> {
    let of = |standing| judged.bounds.iter().filter(move |bound| bound.standing == standing);
    let by_room = |a: &&JudgedBound, b: &&JudgedBound| room(a).total_cmp(&room(b));
    match judged.verdict {
        Verdict::Confirmed => of(Standing::Holds).min_by(by_room),
        Verdict::Refuted => of(Standing::Fails).min_by(by_room),
        // The figure that a program names first is the answer.
        Verdict::Answered => of(Standing::Shown).next(),
        // Of several that are as far away, the first.
        Verdict::Partly => of(Standing::Fails).rev().max_by(by_room),
        Verdict::CannotTell => {
            // What has no interval is why nothing can be told, else what straddles its bound.
            let has_none = |bound: &&JudgedBound| {
                bound.figure.value().is_some_and(|figure| !figure.has_interval && figure.value.is_some())
            };
            of(Standing::CannotTell)
                .find(has_none)
                .or_else(|| of(Standing::CannotTell).find(|bound| bound.figure.value().is_some()))
                .or_else(|| of(Standing::Shown).next())
        }
        Verdict::NotTestable | Verdict::Inapplicable | Verdict::Failed | Verdict::NotMeasured => None,
    }
}

/// How far the interval of a bound that holds or fails lies from the value that would change that,
/// as a share of that value.
fn room(bound: &JudgedBound) -> f64 {
    let Some(figure) = bound.figure.value() else { return f64::INFINITY };
    let (low, high) = (figure.low.unwrap_or(f64::NEG_INFINITY), figure.high.unwrap_or(f64::INFINITY));
    let share = |distance: f64, of: f64| if of == 0.0 { f64::MAX } else { distance / of.abs() };
    let over = |least: Option<f64>| least.map_or(f64::INFINITY, |least| share(low - least, least));
    let under = |most: Option<f64>| most.map_or(f64::INFINITY, |most| share(most - high, most));
    let (below, above) =
        (Some(1.0 - high).filter(|room| *room > 0.0), Some(low - 1.0).filter(|room| *room > 0.0));
    match (&bound.of, bound.standing) {
        (Of::Effect { .. }, Standing::Holds) => above.or(below).unwrap_or(0.0),
        (_, Standing::Holds) => over(bound.above).min(under(bound.below)),
        // Outside is beyond one of two ends.
        (_, Standing::Fails) => {
            let short = bound.above.map_or(f64::NEG_INFINITY, |least| share(least - high, least));
            let beyond = bound.below.map_or(f64::NEG_INFINITY, |most| share(low - most, most));
            short.max(beyond)
        }
        _ => f64::INFINITY,
    }
}

/// What a bound demands in a few characters: `>1x`, `150-250 ns`.
fn demand(bound: &JudgedBound) -> Option<String> {
    let show = |value: f64| shown(bound, value).replace(".00", "");
    bound.figure.value()?;
    match (bound.above, bound.below, &bound.of) {
        (_, _, Of::Report { .. }) | (None, None, _) => None,
        (Some(least), Some(most), _) => {
            let (least, most) = (show(least), show(most));
            let unit = most.trim_start_matches(|letter: char| !letter.is_alphabetic() && letter != '%');
            let least = least.strip_suffix(unit).map_or(least.as_str(), str::trim_end);
            let between = if least.starts_with('-') { " to " } else { "-" };
            Some(format!("{least}{between}{most}"))
        }
        (Some(least), None, _) => Some(format!(">{}", show(least))),
        (None, Some(most), _) => Some(format!("<{}", show(most))),
    }
}

/// What a verdict rests on in a few words: the figure that decides it, or why there is none.
fn key(judged: &Judged) -> String {
    match (key_bound(judged).and_then(figure), &judged.why) {
        (Some(figure), _) => figure,
        (None, Some(why)) => clean(&why.reason),
        (None, None) => String::new(),
    }
}

/// A figure with its interval; `None` where it is missing.
fn figure(bound: &JudgedBound) -> Option<String> {
    let figure = bound.figure.value()?;
    let show = |value: f64| shown(bound, value);
    let text = match *figure {
        Figure { value: None, low: None, high: None, .. } => "beyond what was measured".to_owned(),
        Figure { value: None, low: Some(low), .. } => format!("from {} on", show(low)),
        Figure { value: None, high: Some(high), .. } => format!("up to {}", show(high)),
        Figure { value: Some(value), low: Some(low), high: Some(high), .. } => {
            let ends = [low, high].map(show);
            let unit = show(value);
            let unit = unit.trim_start_matches(|letter: char| !letter.is_alphabetic() && letter != '%');
            if ends.iter().all(|end| *end == show(value)) {
                let always = if low == value && high == value { "always " } else { "" };
                return Some(format!("{always}{}", show(value)));
            }
            // A unit that all three share stands once.
            let bare = |end: &String| end.strip_suffix(unit).map(|end| end.trim_end().to_owned());
            match (bare(&ends[0]), bare(&ends[1])) {
                (Some(low), Some(high)) => format!("{} [{low}, {high}]", show(value)),
                _ => format!("{} [{}, {}]", show(value), ends[0], ends[1]),
            }
        }
        Figure { value: Some(value), low: None, high: None, has_interval: false, .. } => match bound.of {
            Of::Report { .. } => format!("{} at most", show(value)),
            _ => format!("{}, no interval", show(value)),
        },
        Figure { value: Some(value), low, .. } => match low {
            Some(low) => format!("{} [from {}]", show(value), show(low)),
            None => format!("{} [open]", show(value)),
        },
    };
    Some(text)
}

/// A value in the unit of its bound.
fn shown(bound: &JudgedBound, value: f64) -> String {
    match (&bound.of, bound.metric.as_str()) {
        (Of::Ratio { .. } | Of::Effect { .. }, _) if value < 0.001 => "<0.001x".to_owned(),
        (Of::Ratio { .. } | Of::Effect { .. }, _) => format!("{}x", factor(value)),
        (Of::Spread { .. }, _) | (Of::Value { .. }, "hit") => format!("{} %", percent(value)),
        // The axis of all crossovers is the length of a task or of the work.
        (Of::Crossover { .. }, _) => time(value),
        (_, metric) => of_metric(metric, value),
    }
}

fn of_metric(metric: &str, value: f64) -> String {
    match metric {
        // Bounds of less than a nanosecond are bounds too.
        metric if metric.ends_with("_ns") && (0.05..0.95).contains(&value.abs()) => format!("{value:.1} ns"),
        metric if metric.ends_with("_ns") => time(value),
        "allocations" if value == 1.0 => "1 allocation".to_owned(),
        "allocations" => format!("{} allocations", rounded(value, None)),
        metric if metric.ends_with("bytes") => {
            if value.abs() < 1e6 {
                format!("{} B", rounded(value, None))
            } else {
                megabytes(value)
            }
        }
        _ => rounded(value, None),
    }
}

/// A text that is cut at its end, where it has more columns than there are: behind a word, so that
/// no number loses digits, and inside the only word alone.
fn begin(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let shown: String = text.chars().take(most.saturating_sub(1)).collect();
    let is_whole = text[shown.len()..].starts_with(char::is_whitespace);
    let whole = if is_whole { Some(shown.len()) } else { shown.trim_end().rfind(char::is_whitespace) };
    let shown = match whole {
        Some(end) if !shown[..end].trim().is_empty() => shown[..end].trim_end(),
        _ => shown.trim_end().trim_end_matches(|last: char| last.is_ascii_digit()),
    };
    format!("{}\u{2026}", shown.trim_end_matches([',', ';', ':']))
}

fn megabytes(bytes: f64) -> String {
    format!("{} MB", grouped(&format!("{:.0}", bytes / 1e6)))
}

/// What a bound demands: `150 ns to 250 ns`, `above 1.00x`.
fn demanded(bound: &JudgedBound) -> String {
    let show = |value: f64| shown(bound, value);
    match (bound.above, bound.below, &bound.of) {
        (_, _, Of::Effect { .. }) => "differs from 1".to_owned(),
        (Some(above), Some(below), _) => format!("{} to {}", show(above), show(below)),
        (Some(above), None, _) => format!("above {}", show(above)),
        (None, Some(below), _) => format!("below {}", show(below)),
        (None, None, _) => "shown".to_owned(),
    }
}

fn standing(bound: &JudgedBound) -> &'static str {
    match bound.standing {
        Standing::Holds => "holds",
        Standing::Fails => "fails",
        Standing::CannotTell => "cannot tell",
        Standing::Shown => "shown",
    }
}

/// Whether a claim was asked for; without numbers, all are.
fn is_asked(claims: &[u32], judged: &Judged) -> bool {
    claims.is_empty() || claims.contains(&judged.claim)
}

/// Claims with everything that was measured of them: those with these numbers, or all; by Taskflow,
/// or by `library`.
pub fn guide_text(verdicts: &Verdicts, claims: &[u32], library: Option<&str>, style: &Style) -> String {
    let (width, table) = (style.width, others::table(verdicts, library));
    let mut text = String::new();
    for judged in table.claims.iter().filter(|judged| is_asked(claims, judged)) {
        if table.is_borrowed {
            let title = format!("Claim {}: {}", judged.claim, clean(&judged.text));
            text.push_str(&paragraphs("", &[title], width));
        } else {
            whole(&mut text, judged, table.library, width);
        }
        if table.library.is_none() {
            text.push_str(&others::beside(verdicts, judged.claim, width));
        }
        text.push('\n');
    }
    text.push_str(&paragraphs(
        "",
        &[clean(&ran_on(verdicts, &table)), machine_words(&verdicts.machine)],
        width,
    ));
    text.push_str(&others::absent(verdicts, width));
    text.push_str(&notes(verdicts, width));
    render(&text, style.colour)
}

fn named(judged: &Judged) -> &'static str {
    if judged.question { "Question" } else { "Claim" }
}

fn whole(text: &mut String, judged: &Judged, library: Option<&OfLibrary>, width: usize) {
    let title = format!("{} {}: {}", named(judged), judged.claim, clean(&judged.text));
    // Writing to a string cannot fail.
    let title = paragraphs("", &[title], width);
    title.lines().for_each(|line| {
        let _ = writeln!(text, "{}", ink(Ink::Bold, line));
    });
    let verdict = inked(judged.verdict, word(judged.verdict));
    let why = judged.why.as_ref().map(|why| format!(": {}", reason(why))).unwrap_or_default();
    let _ = write!(text, "{verdict}{}", hanging(&why, word(judged.verdict).len(), width));
    if !judged.note.is_empty() {
        text.push_str(&paragraphs("", &[clean(&judged.note)], width));
    }
    // Where nothing was measured, each bound and each arm would say why again.
    if judged.why.is_none() || judged.arms.iter().any(|arm| arm.rounds > 0) {
        details(text, judged, width);
    }
    text.push_str("by hand, in a checkout (prints JSON lines, see probes/guide/README.md):\n");
    for command in others::by_hand(judged, library) {
        text.push_str(&shell_lines(&clean(&command), width));
    }
}

/// A command as a shell reads it, in lines that end with a backslash where it is longer than one.
fn shell_lines(command: &str, width: usize) -> String {
    let mut lines = vec!["  ".to_owned()];
    for word in command.split(' ') {
        let line = lines.last().map_or(0, |line| columns(line));
        // The blank before a word, and the backslash behind it.
        if line > 4 && line + columns(word) + 3 > width {
            lines.push("    ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join(" \\\n") + "\n"
}

/// The bounds, the map and the arms of a claim.
fn details(text: &mut String, judged: &Judged, width: usize) {
    for bound in &judged.bounds {
        let found = match (figure(bound), bound.figure.why()) {
            (Some(figure), _) => {
                let rounds = bound.figure.value().map_or(0, |figure| figure.rounds);
                let rounds = if rounds > 0 { format!(", {} rounds", count(rounds)) } else { String::new() };
                format!("{figure}{rounds}")
            }
            (None, Some(why)) => reason(why),
            (None, None) => String::new(),
        };
        let line = format!("{}: {found}; claimed: {}", clean(&bound.name), demanded(bound));
        let line = line.strip_suffix("; claimed: shown").unwrap_or(&line);
        let _ = write!(text, "  {:11} {}", standing(bound), hanging(line, 14, width));
    }
    if let Some(map) = &judged.map {
        text.push_str(&map::text(map, ""));
    }
    let measured = judged.arms.iter().filter(|arm| arm.rounds > 0);
    let arms: Vec<[String; 5]> = measured
        .map(|arm| {
            // What a claim about bytes or counts takes says nothing.
            let is_timed = judged.clock != "none";
            let cell = |ns: Option<f64>| ns.filter(|_| is_timed).map_or("-".to_owned(), time);
            [clean(&arm.name), count(arm.tasks), count(arm.rounds), cell(arm.cpu_ns), cell(arm.wall_ns)]
        })
        .collect();
    if !arms.is_empty() {
        let name = arms.iter().map(|arm| columns(&arm[0])).max().unwrap_or_default().min(30);
        let head = ["", "tasks", "rounds", "CPU a task", "wall a task"].map(str::to_owned);
        for (index, [arm, tasks, rounds, cpu, wall]) in std::iter::once(head).chain(arms).enumerate() {
            let line = format!("  {} {tasks:>10} {rounds:>7} {cpu:>11} {wall:>12}", fitted(&arm, name));
            let _ = writeln!(text, "{}", if index == 0 { ink(Ink::Dim, &line) } else { line });
        }
    }
    for arm in &judged.arms {
        if let Some(why) = &arm.why {
            let _ =
                write!(text, "  {}", hanging(&format!("{}: {}", clean(&arm.name), reason(why)), 4, width));
        }
    }
}

fn reason(why: &Missing) -> String {
    with_remedy(&clean(&why.reason), &clean(&why.remedy))
}

fn notes(verdicts: &Verdicts, width: usize) -> String {
    let notes: Vec<String> = verdicts.notes.iter().map(|note| clean(note)).collect();
    paragraphs("note: ", &notes, width)
}

/// The guide's table with this machine's verdicts: all claims, or those with these numbers.
pub fn guide_markdown(verdicts: &Verdicts, claims: &[u32], library: Option<&str>) -> String {
    let table = others::table(verdicts, library);
    let beside = if table.library.is_none() { verdicts.others.as_slice() } else { &[] };
    let cell = |text: &str| escape(&clean(text));
    let mut text = format!("{}\n\n", cell(&ran_on(verdicts, &table)));
    let mut below = String::new();
    let counted: Vec<String> = tally(table.claims.iter().copied())
        .into_iter()
        .map(|(verdict, so_many)| format!("{so_many} {}", word(verdict)))
        .collect();
    text.push_str(&format!("{}.\n\n", counted.join(", ")));
    let heads: String = beside.iter().map(|other| format!(" {} |", cell(&others::titled(other)))).collect();
    text.push_str(&format!("| # | Claim | Verdict here | What was measured |{heads}\n"));
    text.push_str(&format!("|---:|---|---|---|{}\n", "---|".repeat(beside.len())));
    let asked: Vec<&&Judged> = table.claims.iter().filter(|judged| is_asked(claims, judged)).collect();
    for judged in &asked {
        let (verdict, cells) = match table.is_borrowed {
            true => ("", String::new()),
            false => (word(judged.verdict), cell(&in_cell(judged, &mut below))),
        };
        let beside: String =
            others::cells(beside, judged.claim).iter().map(|of| format!(" {} |", cell(of))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} | {verdict} | {cells} |{beside}", judged.claim, cell(&judged.text));
    }
    text.push_str(&below);
    // The claims of one program have one map; it stands for the one that is about all profiles.
    if let Some(judged) = asked.iter().find(|judged| judged.claim == MAPPED) {
        text.push_str(&others::maps(verdicts, &table, judged));
    }
    text.push_str(&others::absent_markdown(verdicts));
    text
}

/// The claim whose heat map is shown in Markdown.
const MAPPED: u32 = 15;

/// What was measured of a claim, in a cell of at most some [`CELL`] characters. A longer one has
/// the bound that decides, and all of them stand below the table.
fn in_cell(judged: &Judged, below: &mut String) -> String {
    let cells = measured(judged);
    let whole = cells.join("; ");
    if whole.chars().count() <= CELL {
        return whole;
    }
    let escaped = |text: &str| escape(&clean(text));
    // Writing to a string cannot fail.
    let _ = writeln!(below, "\n{} {}, {}:\n", named(judged), judged.claim, escaped(&judged.text));
    for cell in &cells {
        let _ = writeln!(below, "- {}", escaped(cell));
    }
    let all = match judged.question {
        true => format!("all {} figures stand below the table", told(judged).count()),
        false => format!("all {} bounds stand below the table", told(judged).count()),
    };
    match key_bound(judged).and_then(measured_of) {
        Some(decides) => format!("{}; {all}", begin(&decides, CELL)),
        None => format!("{}; {all}", begin(&cells[0], CELL)),
    }
}

/// A bound with its figure, whether it holds, and what it demands.
fn measured_of(bound: &JudgedBound) -> Option<String> {
    Some(match bound.standing {
        Standing::Shown => format!("{}: {}", bound.name, figure(bound)?),
        _ => format!("{}: {} ({}: {})", bound.name, figure(bound)?, standing(bound), demanded(bound)),
    })
}

/// The bounds that a verdict rests on: of a question, all of its figures.
fn told(judged: &Judged) -> impl Iterator<Item = &JudgedBound> {
    judged.bounds.iter().filter(|bound| judged.question || bound.standing != Standing::Shown)
}

/// What was measured of a claim, bound by bound.
fn measured(judged: &Judged) -> Vec<String> {
    let mut cells: Vec<String> = told(judged).filter_map(measured_of).collect();
    if let Some(why) =
        judged.why.as_ref().filter(|_| cells.is_empty() || judged.verdict >= Verdict::NotTestable)
    {
        cells.insert(0, reason(why));
    }
    cells
}

/// `taskscale.guide-verdicts/1`, of all libraries or of one.
pub fn guide_json(verdicts: &Verdicts, claims: &[u32], library: Option<&str>) -> String {
    let mut verdicts = verdicts.clone();
    if let Some(name) = library {
        verdicts.claims.clear();
        verdicts.others.retain(|other| other.name == name);
    }
    verdicts.claims.retain(|judged| is_asked(claims, judged));
    verdicts.others.iter_mut().for_each(|other| other.claims.retain(|judged| is_asked(claims, judged)));
    // The types have no map with keys that are no words, so that this cannot fail.
    clean_json(&serde_json::to_string_pretty(&verdicts).unwrap_or_default()) + "\n"
}
