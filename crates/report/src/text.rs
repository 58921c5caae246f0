//! The report for a terminal.

use std::fmt::Write;

use taskscale_model::summary::{RowStatus, Summary};

use crate::{
    asked, counts, drawn, granularity, growth,
    layout::{self, Table},
    reasons, shares,
    style::{Ink, Style, bounded, clean, ink, render, with_remedy},
    table, units,
    wrap::paragraphs,
};
use taskscale_analysis::machine_words;
use taskscale_model::figure::count;

/// The legend of a cell of a table.
const LEGEND: &str = "\
A cell: CPU ns per task, median ± the farther end of its 95 % interval (wall ns); below it the CPU ratio to the baseline, \
paired by round, with its 95 % interval; ~ where the interval contains 1, that is: no difference shown.";

/// Writes everything that a summary holds as tables and sentences. Only the percentiles need
/// [`Style::detailed`]. O(rows log rows).
pub fn text(summary: &Summary, style: &Style) -> String {
    let mut text = String::new();
    let tables = layout::tables(summary);
    for table in &tables {
        if table.lines.iter().any(|line| line.has_figures()) {
            section(&mut text, &table.heading(), &table::draw(table, style));
            if style.detailed {
                percentiles(&mut text, table, style);
            }
        }
    }
    if !text.is_empty() {
        let threads = tables.iter().any(Table::tells_threads).then(|| layout::THREADS_LEGEND.to_owned());
        let legend = units::of_run(LEGEND, summary);
        let legends: Vec<String> = std::iter::once(legend).chain(threads).collect();
        let _ = writeln!(text, "{}\n", ink_lines(paragraphs("", &legends, style.width).trim_end()));
    }
    text.push_str(&granularity(summary, style));
    for table in drawn::kinds(summary).iter().flatten() {
        let lines = table.lines(usize::MAX);
        section(&mut text, &lines[0], &lines[1..].join("\n"));
    }
    let claims = asked::judged(summary).flat_map(shares::claim);
    section(&mut text, "Claims", &claims.collect::<Vec<_>>().join("\n"));
    for (title, body) in counts(summary, style) {
        section(&mut text, &title, &body);
    }
    let control = paragraphs("", &[clean(&summary.control.verdict)], style.width);
    section(&mut text, "A/A control", &control);
    section(&mut text, "Failed", &reasons(summary, RowStatus::Failed, style.width));
    section(&mut text, "Skipped", &reasons(summary, RowStatus::Skipped, style.width));
    section(&mut text, "Not here", &missing(summary, style.width));
    section(&mut text, "Growth", &growth(summary, style.width));
    let notes: Vec<String> = summary.notes.iter().map(|note| clean(note)).collect();
    section(&mut text, "Notes", &paragraphs("- ", &notes, style.width));
    let command = shlex::try_join(summary.command.iter().map(String::as_str));
    let command = command.unwrap_or_else(|_| summary.command.join(" "));
    let run = format!("taskscale {}, seed {}: {command}", summary.tool, summary.seed);
    section(&mut text, "Run", &paragraphs("", &[clean(&run), machine_words(&summary.machine)], style.width));
    render(text.trim_end(), style.colour) + "\n"
}

/// Writes a heading with its body, or nothing where the body is empty.
fn section(text: &mut String, heading: &str, body: &str) {
    if !body.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\n{}\n", ink(Ink::Bold, heading), body.trim_end_matches('\n'));
    }
}

fn ink_lines(text: &str) -> String {
    text.lines().map(|line| ink(Ink::Dim, line)).collect::<Vec<_>>().join("\n")
}

fn percentiles(text: &mut String, table: &Table<'_>, style: &Style) {
    for size in table.sizes_with_figures() {
        let heading = format!("{}, size {}", table.heading(), count(size));
        section(text, &heading, &table::draw_percentiles(table, size, style));
    }
}

fn reasons(summary: &Summary, status: RowStatus, width: usize) -> String {
    let groups: Vec<String> = reasons::reasons(summary, status)
        .into_iter()
        .map(|group| with_remedy(&format!("{}: {}", group.who.join("; "), group.reason), &group.remedy))
        .collect();
    paragraphs("- ", &groups, width)
}

fn counts(summary: &Summary, style: &Style) -> Vec<(String, String)> {
    let width = style.width;
    let of = |section: &counts::Section| {
        let legend = ink_lines(paragraphs("", std::slice::from_ref(&section.legend), width).trim_end());
        (section.title.clone(), format!("{}\n{legend}", table::draw_counts(section, style)))
    };
    let mut sections: Vec<_> = counts::sections(summary).iter().map(of).collect();
    sections.push(("System calls by name".into(), paragraphs("- ", &counts::calls(summary), width)));
    sections.push(("Not counted".into(), paragraphs("- ", &counts::reasons(summary), width)));
    sections
}

fn missing(summary: &Summary, width: usize) -> String {
    let lines: Vec<String> = summary
        .runtimes
        .iter()
        .filter_map(|runtime| {
            let missing = runtime.facts.why()?;
            let what = clean(&format!("{}: {}", runtime.id, bounded(&missing.reason)));
            Some(with_remedy(&what, &bounded(&clean(&missing.remedy))))
        })
        .collect();
    paragraphs("- ", &lines, width)
}

fn granularity(summary: &Summary, style: &Style) -> String {
    let mut text = String::new();
    let tables = granularity::tables(summary);
    for table in &tables {
        section(&mut text, &table.heading, &granularity::draw(table, style.width));
        if style.detailed {
            section(
                &mut text,
                &format!("{}, point by point", table.heading),
                &granularity::draw_points(table, style.width),
            );
        }
    }
    if !tables.is_empty() {
        let legend = paragraphs("", &[granularity::LEGEND.to_owned()], style.width);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\n", ink_lines(legend.trim_end()));
    }
    section(&mut text, "No smallest task", &paragraphs("- ", &granularity::reasons(summary), style.width));
    text
}

fn growth(summary: &Summary, width: usize) -> String {
    let series = summary.growth.len();
    let lines: Vec<String> = growth::reasons(summary)
        .into_iter()
        .map(|(reason, names)| match names.len() {
            n if n == series && n > 1 => format!("no series is graded: {reason}"),
            _ => format!("{}: {reason}", names.join("; ")),
        })
        .collect();
    let lines: Vec<String> = growth::findings(summary).into_iter().chain(lines).collect();
    paragraphs("- ", &lines, width)
}
