//! Writes a checkup as text, Markdown and JSON.

use std::fmt::Write;

use taskscale_model::{
    doctor::{Check, Checkup, Figures, Finding, Severity},
    plain::clean_json,
};

use crate::{
    markdown::escape,
    overview::{COLUMNS, LINES, cut, plural},
    style::{Ink, Style, clean, ink, render},
    wrap::hanging,
};

/// Columns of the word before a finding, with the blanks behind it.
const WORD: usize = 9;

/// Above the checklist.
const CHECKLIST: &str = "Before any conclusion from a benchmark";

const TITLE: &str = "What blurs or biases the figures on this machine";

/// The groups of findings in their order. What is not known stands apart from what may matter.
struct Groups<'a> {
    warnings: Vec<&'a Finding>,
    notes: Vec<&'a Finding>,
    fine: Vec<&'a Finding>,
    unknown: Vec<&'a Finding>,
}

impl<'a> Groups<'a> {
    fn of(checkup: &'a Checkup) -> Self {
        let all = |severity: Option<Severity>| {
            let wanted = |finding: &&Finding| finding.found.value().and(Some(finding.severity)) == severity;
            checkup.findings.iter().filter(wanted).collect()
        };
        Groups {
            warnings: all(Some(Severity::Warning)),
            notes: all(Some(Severity::Note)),
            fine: all(Some(Severity::Ok)),
            unknown: all(None),
        }
    }

    fn counts(&self) -> String {
        let of = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        format!(
            "{}, {}, {} as it should be, {} not known here",
            of(self.warnings.len(), "warning"),
            of(self.notes.len(), "note"),
            self.fine.len(),
            self.unknown.len()
        )
    }
}

/// Writes the first screen of a checkup: what to judge by, and what to do about each warning, in at
/// most [`LINES`] lines of [`COLUMNS`] columns. O(findings).
pub fn doctor_overview(checkup: &Checkup, style: &Style) -> String {
    let groups = Groups::of(checkup);
    let mut lines = vec![
        ink(Ink::Bold, TITLE),
        ink(Ink::Dim, &cut(&clean(&machine(checkup)), COLUMNS)),
        String::new(),
        advice(&groups),
    ];
    let mut below: Vec<String> = Vec::new();
    for finding in &groups.warnings {
        let heading = hanging(&format!("{}: {}", clean(&finding.subject), found(finding)), WORD, COLUMNS);
        let mut text = format!("{}{heading}", ink(Ink::Red, &format!("{:WORD$}", "WARNING")));
        if let Some(line) = remedy(finding) {
            text.push_str(&format!("{:WORD$}{}", "", hanging(&line, WORD, COLUMNS)));
        }
        below.push(format!("\n{}", text.trim_end()));
    }
    let notes: Vec<String> = groups
        .notes
        .iter()
        .map(|finding| {
            let text = format!("{}: {}", clean(&finding.subject), found(finding));
            let text = hanging(&text, WORD, COLUMNS - 4);
            let mut of_text = text.trim_end().lines();
            let first = of_text.next().unwrap_or_default();
            let goes_on = if of_text.next().is_some() { " ..." } else { "" };
            format!("{}{first}{goes_on}", ink(Ink::Yellow, &format!("{:WORD$}", "note")))
        })
        .collect();
    if !notes.is_empty() {
        below.push(format!("\n{}", notes.join("\n")));
    }
    let checklist: Vec<String> = checkup
        .checklist
        .iter()
        .map(|check| format!("{}{}", marked(check), cut(&asked(check), COLUMNS - WORD)))
        .collect();
    // A blank, what is left out and what is fine; the checklist with a blank and its title.
    let room = LINES.saturating_sub(lines.len() + 3 + checklist.len() + 2);
    let (mut used, mut left_out) = (0, 0);
    for text in below {
        if used + text.lines().count() <= room {
            used += text.lines().count();
            lines.push(text);
        } else {
            left_out += 1;
        }
    }
    if !checklist.is_empty() {
        lines.push(format!("\n{}", ink(Ink::Bold, CHECKLIST)));
        lines.extend(checklist);
    }
    lines.push(String::new());
    let more = if left_out > 0 { format!("{} more; ", plural(left_out, "finding")) } else { String::new() };
    lines.push(format!(
        "{:WORD$}{more}{} as it should be, {} not known here: --details",
        "also",
        groups.fine.len(),
        groups.unknown.len()
    ));
    render(&lines.join("\n"), style.colour) + "\n"
}

/// The answer to a question of the checklist.
fn answer(check: &Check) -> &'static str {
    match check.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    }
}

/// The same before a line, in colour.
fn marked(check: &Check) -> String {
    let colour = match check.holds {
        Some(true) => Ink::Green,
        Some(false) => Ink::Red,
        None => Ink::Yellow,
    };
    ink(colour, &format!("{:WORD$}", answer(check)))
}

/// The question, and the figures that answer it.
fn asked(check: &Check) -> String {
    format!("{} {}", clean(&check.question), answered(check))
}

fn answered(check: &Check) -> String {
    clean(check.found.as_result().map_or_else(|why| why.reason.as_str(), String::as_str))
}

/// Whether the machine is fit for figures of CPU time and of wall time, and why not, in a line.
fn advice(groups: &Groups<'_>) -> String {
    let against = |figures: Figures| -> Vec<String> {
        let of = |one: &&&Finding| one.affects.contains(&figures);
        groups.warnings.iter().filter(of).map(|one| clean(&one.subject)).collect()
    };
    let (cpu, wall) = (against(Figures::Cpu), against(Figures::Wall));
    let colour = match (cpu.is_empty(), wall.is_empty()) {
        (false, _) => Ink::Red,
        (true, false) => Ink::Yellow,
        (true, true) => Ink::Green,
    };
    // The first of many stand for all, since each has its warning below. CPU time goes first.
    let said = |(of_cpu, of_wall): (usize, usize)| {
        format!("fit for CPU time: {}; for wall time: {}", fit(&cpu, of_cpu), fit(&wall, of_wall))
    };
    let mut named =
        (0..=cpu.len()).rev().flat_map(|of_cpu| (0..=wall.len()).rev().map(move |of| (of_cpu, of)));
    let line = named.find_map(|named| Some(said(named)).filter(|line| line.chars().count() <= COLUMNS));
    ink(colour, &line.unwrap_or_else(|| said((0, 0))))
}

/// `yes`, or `no` with what speaks against it: so many by name.
fn fit(against: &[String], named: usize) -> String {
    let (named, more) = against.split_at(named.min(against.len()));
    match (named, more.len()) {
        ([], 0) => "yes".to_owned(),
        ([], 1) => "no (1 warning)".to_owned(),
        ([], n) => format!("no ({n} warnings)"),
        (_, 0) => format!("no ({})", named.join(", ")),
        (_, n) => format!("no ({} and {n} more)", named.join(", ")),
    }
}

/// Writes a checkup in full for a terminal, within the width of the style. O(findings).
pub fn doctor_text(checkup: &Checkup, style: &Style) -> String {
    let groups = Groups::of(checkup);
    let width = style.width;
    let machine = hanging(&clean(&machine(checkup)), 0, width);
    let mut text = format!("{}\n{machine}{}\n{}\n", ink(Ink::Bold, TITLE), advice(&groups), groups.counts());
    // Writing to a string cannot fail.
    for (findings, word, colour) in
        [(&groups.warnings, "WARNING", Ink::Red), (&groups.notes, "note   ", Ink::Yellow)]
    {
        for finding in findings {
            let _ = write!(text, "\n{}  ", ink(colour, word));
            let heading = format!("{}: {}", clean(&finding.subject), found(finding));
            text.push_str(&hanging(&heading, 9, width));
            for line in [effect(finding), remedy(finding)].into_iter().flatten() {
                text.push_str("         ");
                text.push_str(&hanging(&line, 9, width));
            }
        }
    }
    for (findings, title) in [(&groups.fine, "As it should be"), (&groups.unknown, "Not known here")] {
        if findings.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", ink(Ink::Bold, title));
        let subjects: Vec<String> = findings.iter().map(|finding| clean(&finding.subject)).collect();
        let column = subjects.iter().map(|subject| subject.chars().count()).max().unwrap_or(0) + 4;
        for (finding, subject) in findings.iter().zip(subjects) {
            let remedy = remedy(finding).map_or(String::new(), |remedy| format!(". {remedy}"));
            let _ = write!(text, "  {subject:width$}", width = column - 2);
            text.push_str(&hanging(&(found(finding) + &remedy), column, width));
        }
    }
    if !checkup.checklist.is_empty() {
        let _ = writeln!(text, "\n{}", ink(Ink::Bold, CHECKLIST));
    }
    for check in &checkup.checklist {
        let _ = write!(text, "{}{}", marked(check), hanging(&asked(check), WORD, width));
        if !check.remedy.is_empty() {
            let _ = write!(text, "{:WORD$}{}", "", hanging(&to_do(&check.remedy), WORD, width));
        }
    }
    render(&text, style.colour)
}

/// Writes a checkup as GitHub-flavoured Markdown. O(findings).
pub fn doctor_markdown(checkup: &Checkup) -> String {
    let groups = Groups::of(checkup);
    let cell = |text: &str| escape(&clean(text));
    let fit = render(&advice(&groups), false);
    let mut text = format!("### {TITLE}\n\n{}; {}; {}\n\n", cell(&machine(checkup)), fit, groups.counts());
    text.push_str("| | subject | found | effect | touches | to do |\n|---|---|---|---|---|---|\n");
    // Writing to a string cannot fail.
    let all = [
        (&groups.warnings, "**warning**"),
        (&groups.notes, "note"),
        (&groups.fine, "ok"),
        (&groups.unknown, "?"),
    ];
    for (findings, word) in all {
        for finding in findings {
            let effect = finding.effect.as_ref().map_or(String::new(), |effect| {
                format!("{}{}", effect.says, if effect.measured { " (measured)" } else { "" })
            });
            let touches = touches(&finding.affects).unwrap_or_default();
            let cells = [&finding.subject, &found(finding), &effect, &touches, &finding.remedy]
                .map(|text| cell(text));
            let _ = writeln!(text, "| {word} | {} |", cells.join(" | "));
        }
    }
    if !checkup.checklist.is_empty() {
        let _ = writeln!(text, "\n{CHECKLIST}:\n\n| question | | found | to do |\n|---|---|---|---|");
    }
    for check in &checkup.checklist {
        let cells = [&check.question, &answered(check), &check.remedy].map(|text| cell(text));
        let _ = writeln!(text, "| {} | {} | {} | {} |", cells[0], answer(check), cells[1], cells[2]);
    }
    text
}

/// Writes a checkup as one indented JSON object of schema `taskscale.doctor/1`, with a newline at
/// its end. O(findings).
pub fn doctor_json(checkup: &Checkup) -> String {
    // The data is plain, and its maps have no keys other than strings.
    serde_json::to_string_pretty(checkup)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| clean_json(&text) + "\n")
}

fn machine(checkup: &Checkup) -> String {
    let machine = &checkup.machine;
    let mut parts = vec![machine.cpu_model.value().cloned().unwrap_or_else(|| "CPU model unknown".into())];
    parts.extend(machine.cpus.value().map(|cpus| format!("{cpus} CPU{}", if *cpus == 1 { "" } else { "s" })));
    parts.extend(
        machine.memory_bytes.value().map(|&bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))),
    );
    parts.extend(machine.kernel.value().cloned());
    parts.push(format!("fingerprint {}", machine.fingerprint));
    parts.join(", ")
}

fn found(finding: &Finding) -> String {
    use taskscale_model::missing::Reading;
    clean(match &finding.found {
        Reading::Value(found) => found,
        Reading::Missing(missing) => &missing.reason,
    })
}

/// Writes what a finding does: `On wall time (measured): +92 % ...`.
fn effect(finding: &Finding) -> Option<String> {
    let touches = touches(&finding.affects)?;
    let Some(effect) = &finding.effect else { return Some(format!("Touches {touches}.")) };
    let measured = if effect.measured { " (measured)" } else { "" };
    Some(clean(&format!("On {touches}{measured}: {}.", effect.says)))
}

fn remedy(finding: &Finding) -> Option<String> {
    (!finding.remedy.is_empty()).then(|| to_do(&finding.remedy))
}

fn to_do(remedy: &str) -> String {
    clean(&format!("To do: {remedy}."))
}

fn touches(figures: &[Figures]) -> Option<String> {
    let word = |figures: &Figures| match figures {
        Figures::Wall => "wall time",
        Figures::Cpu => "CPU time",
        Figures::Counts => "counts",
        Figures::Memory => "memory per task",
        Figures::Scaling => "scaling over workers",
        Figures::Rows => "which rows can run",
    };
    let words: Vec<&str> = figures.iter().map(word).collect();
    let (last, first) = words.split_last()?;
    Some(if first.is_empty() { (*last).to_owned() } else { format!("{} and {last}", first.join(", ")) })
}
