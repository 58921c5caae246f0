//! Writes a digest for a pull request, a program or a browser.

use taskscale_model::{digest::Digest, figure::time};

use crate::digest_words::{percent, plain, quantiles, queue_delay, queue_shares, reading};

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
fn facts(digest: &Digest) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Tasks", digest.tasks.to_string()),
        ("Workers", format!("{} ({} ran)", digest.workers, digest.workers_detail.active)),
        ("Window", time(digest.window_ns as f64)),
        ("Duration", reading(&digest.duration, quantiles)),
        ("Gap", reading(&digest.gap, quantiles)),
        ("Scheduling cost", reading(&digest.scheduling_cost_ns, |cost| time(*cost))),
        ("Worthwhile task", reading(&digest.break_even_ns, |even| time(*even))),
        ("Running", format!("mean {:.2}, peak {:.2}", digest.parallelism.mean, digest.parallelism.peak)),
        ("Busiest worker", format!("{:.2} of the mean", digest.workers_detail.busy_max_over_mean)),
        ("Nested tasks", digest.nesting.nested.to_string()),
    ];
    if let Some(queue) = digest.queue.value() {
        facts.push(("Queue delay", queue_delay(queue)));
        facts.push(("Queue", reading(&queue.shares, queue_shares)));
    }
    facts
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
        if let Some(other) = &digest.alternative {
            text += &format!("Or {}: {}.\n\n", other.name, cell(&other.tell));
        }
    }
    text += "| pattern | share | at most | evidence |\n|---|---:|---:|---|\n";
    for pattern in digest.patterns.iter().take(ROWS / 2) {
        text += &format!(
            "| {} | {} | {:.2}x | {} |\n",
            pattern.name,
            percent(pattern.share),
            pattern.bound,
            cell(&pattern.evidence)
        );
    }
    text += "\n| workers x window | share |\n|---|---:|\n";
    for (name, share) in digest.losses.terms() {
        text += &format!("| {name} | {} |\n", percent(share));
    }
    text += "\n| | |\n|---|---|\n";
    for (name, value) in facts(digest) {
        text += &format!("| {name} | {} |\n", cell(&value));
    }
    if !digest.names.top.is_empty() {
        text += "\n| name | tasks | time | share |\n|---|---:|---:|---:|\n";
        for name in digest.names.top.iter().take(ROWS) {
            let (total, share) = (time(name.total_ns as f64), percent(name.share));
            text += &format!("| {} | {} | {total} | {share} |\n", cell(&name.name), name.tasks);
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
    if let Some(first) = digest.patterns.first() {
        body += &format!("<h1>{}</h1>\n<p>{}</p>\n", first.name, safe(&first.evidence));
        if !first.remedy.is_empty() {
            body += &format!("<p><b>Do:</b> {}</p>\n", safe(&first.remedy));
        }
        if let Some(other) = &digest.alternative {
            body += &format!("<p><b>Or {}:</b> {}</p>\n", other.name, safe(&other.tell));
        }
    }
    body += "<h2>Where workers x window went</h2>\n<table>\n";
    for (name, share) in digest.losses.terms() {
        body += &format!(
            "<tr><td>{name}<td class=n>{}<td><i style=\"width:{:.1}em\"></i>\n",
            percent(share),
            share * 24.0
        );
    }
    body += "</table>\n<h2>Workers running</h2>\n";
    body += &chart(&digest.parallelism.timeline, digest.workers as f64);
    body += "<h2>Patterns</h2>\n<table>\n";
    for pattern in digest.patterns.iter().take(ROWS / 2) {
        body += &format!(
            "<tr><td>{}<td class=n>{}<td class=n>{:.2}x<td>{}<br>{}\n",
            pattern.name,
            percent(pattern.share),
            pattern.bound,
            safe(&pattern.evidence),
            safe(&pattern.remedy)
        );
    }
    body += "</table>\n<h2>Figures</h2>\n<table>\n";
    for (name, value) in facts(digest) {
        body += &format!("<tr><td>{name}<td>{}\n", safe(&value));
    }
    body += "</table>\n<h2>Names</h2>\n<table>\n";
    for name in digest.names.top.iter().take(ROWS) {
        body += &format!(
            "<tr><td>{}<td class=n>{}<td class=n>{}<td class=n>{}\n",
            safe(&name.name),
            name.tasks,
            time(name.total_ns as f64),
            percent(name.share)
        );
    }
    body += "</table>\n";
    for remark in remarks(digest) {
        body += &format!("<p>{}</p>\n", safe(&remark));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>taskscale digest</title>\n<style>body{{font:15px \
         sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}td{{padding:.1em .8em .1em 0;vertical-align:top}}\
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
