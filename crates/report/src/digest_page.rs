//! Writes a digest for a pull request, a program or a browser.

use taskscale_model::{digest::Digest, figure::time};

use crate::{
    digest_facts as facts,
    digest_words::{percent, plain, reading},
};

/// Writes `taskscale.digest/1` as indented JSON, with a newline at its end.
pub fn digest_json(digest: &Digest) -> String {
    // Writing to a string cannot fail, and a digest has no maps.
    serde_json::to_string_pretty(digest)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| text + "\n")
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
    let cell = |text: &str| {
        plain(text, 200).chars().fold(String::new(), |mut out, c| {
            if "|`*_<>[]\\".contains(c) {
                out.push('\\');
            }
            out.push(c);
            out
        })
    };
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
    text += "| pattern | share | at most | evidence | who | when |\n|---|---:|---:|---|---|---|\n";
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

/// Writes the digest as one page that needs nothing else: no script, no font, no link.
pub fn digest_html(digest: &Digest) -> String {
    let safe = |text: &str| {
        plain(text, 200)
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
    };
    let mut body = String::new();
    for (rank, pattern) in digest.patterns.iter().take(ROWS / 2).enumerate() {
        let (title, level) = (safe(&facts::pattern(pattern)), if rank == 0 { "h1" } else { "h2" });
        body += &format!("<{level}>{title}</{level}>\n<table>\n");
        let rows = [
            ("why", Some(facts::why(pattern))),
            ("do", facts::remedy(pattern)),
            ("who", facts::who(pattern)),
            ("when", facts::when(pattern)),
        ];
        for (label, text) in rows {
            body += &text.map(|text| format!("<tr><th>{label}<td>{}\n", safe(&text))).unwrap_or_default();
        }
        if rank == 0
            && let Some(other) = facts::alternative(digest)
        {
            body += &format!("<tr><th>or<td>{}\n", safe(&other));
        }
        body += "</table>\n";
    }
    body += &format!("<p>Confidence: {}</p>\n", safe(&facts::confidence(digest, 0)));
    body += "<h2>Where workers x window went</h2>\n<table>\n";
    for (name, share) in digest.losses.terms() {
        body += &format!(
            "<tr><td>{name}<td class=n>{}<td>{}<td><i style=\"width:{:.1}em\"></i>\n",
            safe(&percent(share)),
            facts::meaning(name),
            share * 24.0
        );
    }
    body += "</table>\n<h2>Workers running</h2>\n";
    body += &chart(&digest.parallelism.timeline, digest.workers as f64);
    body += "<h2>Figures</h2>\n<table>\n";
    for (name, value) in figures(digest) {
        body += &format!("<tr><td>{name}<td>{}\n", safe(&value));
    }
    body += "</table>\n<h2>Workers</h2>\n<table>\n<tr><th>worker<th>tasks<th>busy<th>from<th>to\n";
    for worker in digest.workers_detail.workers.iter().take(ROWS) {
        body += &format!(
            "<tr><td>{}<td class=n>{}<td class=n>{:.0} %<td class=n>{}<td class=n>{}\n",
            safe(&facts::worker(worker.worker, worker.thread.as_deref())),
            worker.tasks,
            worker.busy * 100.0,
            time(worker.first_ns as f64),
            time(worker.last_ns as f64)
        );
    }
    body += "</table>\n";
    if !digest.outliers.is_empty() {
        body += "<h2>Longest</h2>\n";
        for outlier in digest.outliers.iter().take(ROWS) {
            body += &format!("<p>{}</p>\n", safe(&facts::outlier(outlier)));
        }
    }
    body += "<h2>Names</h2>\n<table>\n<tr><th>name<th>tasks<th>own time<th>share\n";
    for name in digest.names.top.iter().take(ROWS) {
        body += &format!(
            "<tr><td>{}<td class=n>{}<td class=n>{}<td class=n>{}\n",
            safe(&name.name),
            name.tasks,
            time(name.own_ns as f64),
            percent(name.share)
        );
    }
    body += "</table>\n";
    for remark in remarks(digest) {
        body += &format!("<p>{}</p>\n", safe(&remark));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>taskscale digest</title>\n<style>body{{font:15px \
         sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}td,th{{padding:.1em .8em .1em 0;vertical-align:top;text-align:left;font-weight:normal}}th{{color:#666}}\
         .n{{text-align:right;white-space:nowrap}}i{{display:inline-block;height:.8em;background:#47a}}</style>\n{body}</html>\n"
    )
}

/// Draws steps as bars in an SVG of 600 by 80.
fn chart(steps: &[f64], most: f64) -> String {
    let steps = &steps[..steps.len().min(60)];
    let width = 600.0 / steps.len().max(1) as f64;
    let bars: String = steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let height = if most > 0.0 { (step / most).clamp(0.0, 1.0) * 80.0 } else { 0.0 };
            format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
                at as f64 * width,
                80.0 - height
            )
        })
        .collect();
    format!("<svg viewBox=\"0 0 600 80\" width=\"600\" height=\"80\" fill=\"#47a\">{bars}</svg>\n")
}
