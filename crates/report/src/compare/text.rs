//! Writes a comparison for a terminal.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Grid, presets};
use taskscale_model::compare::{ComparedRow, Comparison, Verdict};

use super::{counts, words};
use crate::{
    style::{Ink, Style, clean, ink, render},
    wrap::paragraphs,
};
use taskscale_model::figure::{count, percent};

/// Writes the outcome, the rows table by table, and the reasons. O(rows).
pub fn text(comparison: &Comparison, style: &Style) -> String {
    let mut text = String::new();
    let colour = if comparison.regression { Ink::Red } else { Ink::Bold };
    // Writing to a string cannot fail.
    let threshold = percent(comparison.threshold);
    let _ = writeln!(
        text,
        "{} (threshold {threshold} %, {})\n",
        ink(colour, &clean(&comparison.summary)),
        clean(&comparison.metric)
    );
    let mut head = vec![
        format!("OLD {}", words::side(comparison.design, &comparison.old)),
        format!("NEW {}", words::side(comparison.design, &comparison.new)),
    ];
    head.extend(words::changes(comparison));
    let _ = writeln!(text, "{}", paragraphs("", &head, style.width));
    let mut headings: Vec<String> = Vec::new();
    for row in &comparison.rows {
        let heading = words::heading(row);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in &headings {
        let rows: Vec<&ComparedRow> =
            comparison.rows.iter().filter(|row| words::heading(row) == *heading).collect();
        let _ = writeln!(text, "{}\n{}", ink(Ink::Bold, heading), grid(&rows));
    }
    let _ = writeln!(text, "{}", paragraphs("", &[words::legend(comparison)], style.width));
    for verdict in [Verdict::Worse, Verdict::Better, Verdict::CannotTell] {
        let lines = words::reasons(comparison, verdict);
        section(&mut text, words::word(verdict), &lines, style.width);
    }
    for (verdict, heading) in [(Verdict::Worse, "Counts: worse"), (Verdict::Better, "Counts: better")] {
        section(&mut text, heading, &counts::changed(comparison, verdict), style.width);
    }
    let notes: Vec<String> = comparison.notes.iter().map(|note| clean(note)).collect();
    section(&mut text, "Notes", &notes, style.width);
    render(text.trim_end(), style.colour) + "\n"
}

fn section(text: &mut String, heading: &str, lines: &[String], width: usize) {
    if !lines.is_empty() {
        let _ = writeln!(text, "{}\n{}", ink(Ink::Bold, heading), paragraphs("- ", lines, width));
    }
}

fn grid(rows: &[&ComparedRow]) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let left = |text: String| Cell::new(text).set_alignment(CellAlignment::Left);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let names = ["verdict", "runtime", "variant"].map(|name| left(name.to_owned()));
    let figures = ["size", "OLD", "NEW", "NEW/OLD"].map(|name| right(name.to_owned()));
    grid.set_header(names.into_iter().chain(figures));
    for row in rows {
        let word = words::word(row.verdict);
        grid.add_row([
            left(match row.verdict {
                Verdict::Worse => ink(Ink::Red, word),
                Verdict::Better => ink(Ink::Green, word),
                Verdict::Same => word.to_owned(),
                Verdict::CannotTell => ink(Ink::Yellow, word),
                Verdict::OtherMachine => ink(Ink::Dim, word),
            }),
            left(clean(&row.key.runtime)),
            left(words::variant(row)),
            right(count(row.key.size)),
            right(words::figure(row.old.as_ref())),
            right(words::figure(row.new.as_ref())),
            right(words::compared(row)),
        ]);
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
