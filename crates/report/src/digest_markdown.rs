//! Writes a digest for a pull request or a program.

use taskscale_model::{digest::Digest, figure::time, plain::clean_json};

use crate::{
    digest_facts as facts,
    digest_words::{percent, plain, reading},
    markdown::escape,
};

/// Writes `taskscale.digest/1` as indented JSON, with a newline at its end.
pub fn digest_json(digest: &Digest) -> String {
    // Writing to a string cannot fail, and a digest has no maps.
    serde_json::to_string_pretty(digest)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| clean_json(&text) + "\n")
}

/// The most rows that a page shows of any list. A digest of this build has fewer; the limit keeps a
/// page of any other digest small.
const ROWS: usize = 20;

/// Rows of name and value that both pages show.
fn figures(digest: &Digest) -> Vec<(&'static str, String)> {
    let [duration, gap, cost] = facts::times(digest).map(|(_, text)| text);
    let mut rows = vec![
        ("Timeline", facts::head(digest)),
        ("Duration", duration),
        ("Gap", gap),
        ("Scheduling cost", cost),
        ("Worthwhile task", reading(&digest.break_even_ns, |even| time(*even))),
        ("Running", facts::running(digest)),
        ("Share of time by workers running", facts::levels(digest)),
        ("Busy %", facts::balance(digest)),
    ];
    rows.extend(facts::queue(digest));
    rows.extend(facts::nesting(digest).map(|nesting| ("Nested", nesting)));
    rows.extend(facts::off_cpu(digest).map(|off_cpu| ("Off CPU", off_cpu)));
    rows
}

/// Notes, and what the source held that was not counted.
fn remarks(digest: &Digest) -> Vec<String> {
    let dropped = digest
        .dropped
        .dropped
        .iter()
        .map(|drop| format!("{} events not counted: {}", drop.events, drop.reason));
    let reasons = digest.confidence.reasons.iter().cloned();
    reasons
        .chain(dropped)
        .chain(digest.notes.iter().cloned())
        .take(ROWS)
        .map(|note| plain(&note, 200))
        .collect()
}

/// Writes the digest as Markdown tables.
pub fn digest_markdown(digest: &Digest) -> String {
    let cell = |text: &str| escape(&plain(text, 200));
    let mut text = String::new();
    if let Some(first) = digest.patterns.first() {
        text += &format!("**{}**: {}\n\n", first.name, cell(&first.evidence));
        if !first.remedy.is_empty() {
            text += &format!("Do: {}.\n\n", cell(&first.remedy));
        }
        if let Some(other) = facts::alternative(digest) {
            text += &format!("Or {}.\n\n", cell(&other));
        }
    }
    text += "| pattern | share | at most about | evidence | who | when |\n|---|---:|---:|---|---|---|\n";
    for pattern in digest.patterns.iter().take(ROWS / 2) {
        text += &format!(
            "| {} | {} | {:.2}x | {} | {} | {} |\n",
            pattern.name,
            percent(pattern.share),
            pattern.bound,
            cell(&pattern.evidence),
            cell(&facts::who(pattern).unwrap_or_default()),
            cell(&facts::when(pattern).unwrap_or_default())
        );
    }
    text += &format!("\nConfidence: {}\n", cell(&facts::confidence(digest, 0)));
    text += "\n| workers x window | share | |\n|---|---:|---|\n";
    for (name, share) in digest.losses.terms() {
        text += &format!("| {name} | {} | {} |\n", percent(share), facts::meaning(name));
    }
    text += "\n| | |\n|---|---|\n";
    for (name, value) in figures(digest) {
        text += &format!("| {name} | {} |\n", cell(&value));
    }
    if !digest.names.top.is_empty() {
        text += "\n| name | tasks | own time | share |\n|---|---:|---:|---:|\n";
        for name in digest.names.top.iter().take(ROWS) {
            let (own, share) = (time(name.own_ns as f64), percent(name.share));
            text += &format!("| {} | {} | {own} | {share} |\n", cell(&name.name), name.tasks);
        }
    }
    for remark in remarks(digest) {
        text += &format!("\n> {}\n", cell(&remark));
    }
    text
}
