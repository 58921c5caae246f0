//! Writes a comparison as a comment on a pull request: the outcome, what changed, and the rest
//! folded away.

use std::fmt::Write;

use taskscale_model::compare::{ComparedRow, Comparison, Verdict};

use super::{counts, words};
use crate::{markdown::escape, style::clean};
use taskscale_model::figure::{count, percent};

/// Writes GitHub-flavoured Markdown. O(rows).
pub fn markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "**{}** (threshold {} %, {})\n",
        escape(&clean(&comparison.summary)),
        percent(comparison.threshold),
        escape(&clean(&comparison.metric))
    );
    let changed: Vec<&ComparedRow> = [Verdict::Worse, Verdict::Better]
        .into_iter()
        .flat_map(|verdict| comparison.rows.iter().filter(move |row| row.verdict == verdict))
        .collect();
    if !changed.is_empty() {
        let _ = writeln!(text, "{}", grid(&changed));
    }
    for verdict in [Verdict::Worse, Verdict::Better] {
        list(&mut text, &grouped(comparison, verdict));
    }
    for (verdict, word) in [(Verdict::Worse, "**worse**"), (Verdict::Better, "better")] {
        let lines = counts::changed(comparison, verdict);
        list(&mut text, &lines.iter().map(|line| format!("{word}: {}", escape(line))).collect::<Vec<_>>());
    }
    if !comparison.same_machine {
        list(&mut text, &comparison.notes.iter().map(|note| escape(&clean(note))).collect::<Vec<_>>());
    }
    let _ = writeln!(text, "<details><summary>All rows, and what limits the verdicts</summary>\n");
    let rest: Vec<&ComparedRow> = comparison.rows.iter().filter(|row| !changed.contains(row)).collect();
    if !rest.is_empty() {
        let _ = writeln!(text, "{}", grid(&rest));
    }
    list(&mut text, &grouped(comparison, Verdict::CannotTell));
    let mut notes = vec![
        format!("OLD {}", words::side(comparison.design, &comparison.old)),
        format!("NEW {}", words::side(comparison.design, &comparison.new)),
    ];
    notes.extend(words::changes(comparison));
    if comparison.same_machine {
        notes.extend(comparison.notes.iter().map(|note| clean(note)));
    }
    notes.push(words::legend(comparison));
    list(&mut text, &notes.iter().map(|note| escape(note)).collect::<Vec<_>>());
    text.push_str("</details>\n");
    text
}

fn grouped(comparison: &Comparison, verdict: Verdict) -> Vec<String> {
    words::reasons(comparison, verdict).iter().map(|line| escape(line)).collect()
}

fn list(text: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(
            text,
            "{}\n",
            lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
        );
    }
}

fn grid(rows: &[&ComparedRow]) -> String {
    let mut text = String::from(
        "| verdict | table | runtime | variant | size | OLD | NEW | NEW/OLD |\n|---|---|---|---|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let word = words::word(row.verdict);
        let word = if row.verdict == Verdict::Worse { format!("**{word}**") } else { word.to_owned() };
        let cells = [
            words::heading(row),
            clean(&row.key.runtime),
            words::variant(row),
            count(row.key.size),
            words::figure(row.old.as_ref()),
            words::figure(row.new.as_ref()),
            words::compared(row),
        ]
        .map(|cell| escape(&cell));
        let _ = writeln!(text, "| {word} | {} |", cells.join(" | "));
    }
    text
}
