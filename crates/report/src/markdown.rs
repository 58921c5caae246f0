//! Writes the report for a pull request: short GitHub tables.

use std::fmt::Write;

use taskscale_model::{
    run_file::Role,
    summary::{FindingKind, Growth, Ratio, RowState, RowStatus, Summary},
};

use crate::{
    asked, counts, granularity, growth,
    layout::{self, Line, Table},
    legend, overview, reasons,
    style::clean,
    table::times,
    units,
};
use taskscale_analysis::machine_words;
use taskscale_model::figure::{count, ratio};

/// Writes the answer, and folded below it the tables, the control's verdict, and what failed, as
/// GitHub-flavoured Markdown. O(rows log rows).
pub fn markdown(summary: &Summary) -> String {
    let answer = answer(summary);
    let figures = all_figures(summary);
    match answer.is_empty() {
        true => figures,
        false => {
            format!(
                "{answer}<details><summary>All figures</summary>\n\n{}\n\n</details>\n",
                figures.trim_end()
            )
        }
    }
}

/// The rankings and the findings.
fn answer(summary: &Summary) -> String {
    let mut text = String::new();
    for ranking in &summary.overview.rankings {
        let _ = writeln!(text, "### {}\n", escape(&overview::what(ranking, usize::MAX)));
        text.push_str("| runtime | variant | time | ratio \\[95 %\\] |\n| --- | --- | --: | --: |\n");
        for row in &ranking.rows {
            let cells = [
                clean(&row.runtime),
                overview::variant(ranking, row),
                overview::figure(row),
                overview::beside(row).1.trim().to_owned(),
            ];
            let _ = writeln!(text, "| {} |", cells.map(|cell| escape(&cell)).join(" | "));
        }
        text.push('\n');
        for line in legend::below(summary, ranking) {
            let _ = writeln!(text, "{}\n", escape(&line));
        }
    }
    text.push_str(&shared(summary));
    let findings: Vec<String> = summary
        .overview
        .findings
        .iter()
        .map(|finding| bullet(&format!("{}: {}", finding.kind.word(), finding.text), &finding.remedy))
        .collect();
    list(&mut text, "Findings", &findings);
    text
}

/// The tables that are no rankings, and the claims.
fn shared(summary: &Summary) -> String {
    let mut text = String::new();
    for table in asked::tables(summary) {
        let _ = writeln!(text, "### {}\n", escape(&table.heading));
        let names: Vec<String> = table.head.iter().map(|(name, _)| escape(name)).collect();
        let rules: Vec<&str> =
            table.head.iter().map(|(_, figures)| if *figures { "--:" } else { "---" }).collect();
        let _ = writeln!(text, "| runtime | variant | {} |", names.join(" | "));
        let _ = writeln!(text, "| --- | --- | {} |", rules.join(" | "));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
    }
    let claims: Vec<String> = asked::claims(summary).iter().map(|claim| bullet(claim, "")).collect();
    list(&mut text, "Claims", &claims);
    text
}

fn all_figures(summary: &Summary) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let tables = layout::tables(summary);
    for table in &tables {
        if table.lines.iter().any(Line::has_figures) {
            let _ = writeln!(text, "### {}\n\n{}", escape(&table.heading()), grid(table));
        }
    }
    if !text.is_empty() {
        text.push_str(&units::of_run(
            "CPU ns per task: median ± the farther end of its 95 % interval (wall ns); below it the ratio to the baseline, paired \
             by round; ~ where its interval contains 1.",
            summary,
        ));
        if tables.iter().any(Table::tells_threads) {
            let _ = write!(text, " {}", layout::THREADS_LEGEND);
        }
        text.push_str("\n\n");
    }
    granularity_tables(&mut text, summary);
    text.push_str(&counts_per_task(summary));
    let _ = writeln!(text, "**A/A control.** {}\n", escape(&clean(&summary.control.verdict)));
    for (title, status) in [("Failed", RowStatus::Failed), ("Skipped", RowStatus::Skipped)] {
        let lines: Vec<String> = reasons::reasons(summary, status)
            .into_iter()
            .map(|group| bullet(&format!("{}: {}", group.who.join("; "), group.reason), &group.remedy))
            .collect();
        list(&mut text, title, &lines);
    }
    // What the findings above say is not said again.
    let is_said = |id: &str| {
        let about = format!("{id}: ");
        let findings = summary.overview.findings.iter();
        findings
            .filter(|finding| finding.kind == FindingKind::Skipped)
            .any(|finding| finding.text.starts_with(&about))
    };
    let missing: Vec<String> = summary
        .runtimes
        .iter()
        .filter(|runtime| !is_said(&runtime.id))
        .filter_map(|runtime| Some((runtime, runtime.facts.why()?)))
        .map(|(runtime, missing)| bullet(&format!("{}: {}", runtime.id, missing.reason), &missing.remedy))
        .collect();
    list(&mut text, "Not here", &missing);
    let growth: Vec<String> = growth::reasons(summary)
        .into_iter()
        .map(|(reason, names)| bullet(&format!("{}: {reason}", names.join("; ")), ""))
        .collect();
    let findings = growth::findings(summary);
    let growth: Vec<String> = findings.iter().map(|finding| bullet(finding, "")).chain(growth).collect();
    list(&mut text, "Growth", &growth);
    list(&mut text, "Notes", &summary.notes.iter().map(|note| bullet(note, "")).collect::<Vec<_>>());
    let run = clean(&format!("taskscale {}, seed {}", summary.tool, summary.seed));
    let _ = writeln!(text, "<sub>{}; {}</sub>", escape(&run), escape(&machine_words(&summary.machine)));
    text
}

fn granularity_tables(text: &mut String, summary: &Summary) {
    let tables = granularity::tables(summary);
    for table in &tables {
        let header = granularity::header(table);
        let rule = vec!["--:"; header.len()].join(" | ");
        let _ = writeln!(text, "### {}\n", escape(&table.heading));
        let _ = writeln!(text, "| runtime | variant | {} |\n| --- | --- | {rule} |", header.join(" | "));
        for one in &table.lines {
            let names = [format!("{} {}", one.key.runtime, one.key.version), granularity::variant(one)];
            let broken =
                |cell: String| cell.lines().map(|line| escape(&clean(line))).collect::<Vec<_>>().join("<br>");
            let cells = names.into_iter().chain(granularity::cells(table, one)).map(broken);
            let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text.push('\n');
    }
    if !tables.is_empty() {
        let _ = writeln!(text, "{}\n", escape(granularity::LEGEND));
    }
    let reasons: Vec<String> =
        granularity::reasons(summary).iter().map(|reason| bullet(reason, "")).collect();
    list(text, "No smallest task", &reasons);
}

fn counts_per_task(summary: &Summary) -> String {
    let mut text = String::new();
    for section in counts::sections(summary) {
        let columns = section.columns.join(" | ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "### {}\n\n| table | runtime | variant | size | {columns} |\n|---|---|---|--:|{}",
            section.title,
            "--:|".repeat(section.columns.len())
        );
        for line in &section.lines {
            let cells: Vec<String> = line.name.iter().chain(&line.cells).map(|cell| escape(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        let _ = writeln!(text, "\n{}\n", section.legend);
    }
    let calls: Vec<String> = counts::calls(summary).iter().map(|line| bullet(line, "")).collect();
    list(&mut text, "System calls by name", &calls);
    let reasons: Vec<String> = counts::reasons(summary).iter().map(|reason| bullet(reason, "")).collect();
    list(&mut text, "Not counted", &reasons);
    text
}

fn bullet(what: &str, remedy: &str) -> String {
    let remedy =
        if remedy.is_empty() { String::new() } else { format!(". Remedy: {}", escape(&clean(remedy))) };
    format!("- {}{remedy}", escape(&clean(what)))
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(text, "**{title}**\n\n{}\n", lines.join("\n"));
    }
}

fn grid(table: &Table<'_>) -> String {
    let sizes = table.sizes_with_figures();
    let with_growth = table.lines.iter().any(|line| line.growth.is_some());
    let mut header = vec!["runtime".to_owned(), "variant".to_owned()];
    header.extend(sizes.iter().map(|&size| count(size)));
    header.extend(with_growth.then(|| "growth".to_owned()));
    let mut rule = vec!["---"; 2];
    rule.extend(vec!["--:"; sizes.len()]);
    rule.extend(with_growth.then_some("---"));
    let mut text = format!("| {} |\n| {} |\n", header.join(" | "), rule.join(" | "));
    for line in table.lines.iter().filter(|line| line.has_figures()) {
        let mut cells =
            vec![escape(&format!("{} {}", line.runtime(), line.version())), escape(&line.variant())];
        let remarks = line.remarks();
        if !remarks.is_empty() {
            let _ = write!(cells[1], "<br>{}", escape(&remarks.join(", ")));
        }
        cells.extend(sizes.iter().map(|&size| figures(line, size)));
        if with_growth {
            cells.push(line.growth.map(growth_cell).unwrap_or_default());
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn figures(line: &Line<'_>, size: u64) -> String {
    let Some(row) = line.at(size) else { return String::new() };
    let figures = match &row.state {
        RowState::Failed(_) => return "failed".into(),
        RowState::Skipped(_) => return "skipped".into(),
        RowState::Ok(figures) => figures,
    };
    let compared = match (figures.cpu.ratio, row.role) {
        (Some(Ratio { value, ci }), _) => format!("<br>{}", escape(&ratio(value, ci))),
        (None, Role::Baseline) => "<br>baseline".into(),
        (None, _) => String::new(),
    };
    let threads = line.threads_at(size).map(|threads| "<br>".to_owned() + &threads).unwrap_or_default();
    times(figures) + &compared + &threads
}

fn growth_cell(growth: &Growth) -> String {
    let below = [growth::exponent(growth), growth::bytes(growth)];
    let below = below.into_iter().flatten().map(|line| format!("<br>{}", escape(&line)));
    growth::grade(growth).to_owned() + &below.collect::<String>()
}

/// Makes text safe inside a table cell and a list, so that it has no markup of its own. Where such
/// a text is posted, names behind an `@` would be told of it and addresses be links: an empty
/// comment and an entity keep them apart (GitHub Flavored Markdown, 6.9).
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let behind = &text[at + character.len_utf8()..];
        match character {
            '@' if behind.starts_with(char::is_alphanumeric) => escaped.push_str("@<!-- -->"),
            ':' if behind.starts_with("//") => escaped.push_str("&#58;"),
            '.' if is_www(&text.as_bytes()[..at]) => escaped.push_str("&#46;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn is_www(text: &[u8]) -> bool {
    text.last_chunk::<3>().is_some_and(|end| end.eq_ignore_ascii_case(b"www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_others_call_nobody() {
        for (text, escaped) in [
            ("@torvalds a@b.cc x@abcdef1", "@<!-- -->torvalds a@<!-- -->b.cc x@<!-- -->abcdef1"),
            ("https://x.y FTP://x", "https&#58;//x.y FTP&#58;//x"),
            ("www.x.y WWW.x", "www&#46;x.y WWW&#46;x"),
            ("go@/opt/go a: b 1.5x @", "go@/opt/go a: b 1.5x @"),
            ("|<b>*#1`", "\\|&lt;b&gt;\\*\\#1\\`"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }
}
