//! Writes a digest for a terminal, a log or a language model: at most 2,048 bytes, whatever was
//! digested.

use taskscale_model::{
    digest::{ConfidenceGrade, Digest, Pattern},
    figure::time,
};

use crate::digest_words::{count, percent, plain, quantiles, queue_delay, queue_shares, reading, sparkline};

/// The most bytes that [`digest_text`] returns.
pub const MAX_BYTES: usize = 2_048;

/// One paragraph, and the rank by which it gets room.
struct Section {
    rank: u8,
    text: String,
}

/// Writes the digest as text of at most [`MAX_BYTES`] bytes, valid UTF-8, ending with a newline. It
/// leaves out paragraphs that do not fit, the least important first, and says how many.
pub fn digest_text(digest: &Digest) -> String {
    let sections = [
        Section { rank: 0, text: head(digest) },
        Section { rank: 1, text: diagnosis(digest) },
        Section { rank: 4, text: runner_up(digest) },
        Section { rank: 3, text: confidence(digest) },
        Section { rank: 2, text: losses(digest) },
        Section { rank: 6, text: parallelism(digest) },
        Section { rank: 5, text: times(digest) },
        Section { rank: 7, text: queue(digest) },
        Section { rank: 8, text: workers(digest) },
        Section { rank: 11, text: nesting(digest) },
        Section { rank: 10, text: outliers(digest) },
        Section { rank: 12, text: names(digest) },
        Section { rank: 9, text: dropped(digest) },
    ];
    let mut by_rank: Vec<usize> = (0..sections.len()).collect();
    by_rank.sort_by_key(|at| sections[*at].rank);
    // 48 bytes are kept for the last line below.
    let mut room = MAX_BYTES - 48;
    let mut kept = vec![false; sections.len()];
    for at in by_rank {
        let length = sections[at].text.len();
        if length <= room {
            kept[at] = true;
            room -= length;
        }
    }
    let left_out =
        sections.iter().zip(&kept).filter(|(section, kept)| !**kept && !section.text.is_empty()).count();
    let mut text: String = sections
        .iter()
        .zip(&kept)
        .filter(|(_, kept)| **kept)
        .map(|(section, _)| section.text.as_str())
        .collect();
    if left_out > 0 {
        text += &format!("({left_out} parts do not fit here; see json)\n");
    }
    text
}

fn head(digest: &Digest) -> String {
    format!(
        "{} on {}, {}; clock step {}\n",
        count(digest.tasks, "task"),
        count(digest.workers, "worker"),
        time(digest.window_ns as f64),
        if digest.clock_resolution_ns == 0 {
            "not known".into()
        } else {
            time(digest.clock_resolution_ns as f64)
        }
    )
}

fn gain(pattern: &Pattern) -> String {
    if pattern.bound > 1.005 { format!(", fixing it: {}", pattern.gain()) } else { String::new() }
}

fn diagnosis(digest: &Digest) -> String {
    let Some(first) = digest.patterns.first() else { return String::new() };
    let mut text = format!("\n{} ({}{})\n", first.name, percent(first.share), gain(first));
    text += &format!("  why: {}\n", plain(&first.evidence, 160));
    if !first.remedy.is_empty() {
        text += &format!("  do:  {}\n", plain(&first.remedy, 160));
    }
    if let Some(other) = &digest.alternative {
        text += &format!("  or:  {}: {}\n", other.name, plain(&other.tell, 160));
    }
    text
}

fn runner_up(digest: &Digest) -> String {
    let Some(second) = digest.patterns.get(1) else { return String::new() };
    format!("next: {} ({}{})\n", second.name, percent(second.share), gain(second))
}

fn confidence(digest: &Digest) -> String {
    let grade = match digest.confidence.grade {
        ConfidenceGrade::High => "high",
        ConfidenceGrade::Medium => "medium",
        ConfidenceGrade::Low => "low",
    };
    let reasons: Vec<String> =
        digest.confidence.reasons.iter().take(2).map(|reason| plain(reason, 90)).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    format!("confidence: {grade}{colon}{}\n", reasons.join("; "))
}

fn losses(digest: &Digest) -> String {
    let terms: Vec<String> = digest
        .losses
        .terms()
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| format!("{name} {}", percent(*share)))
        .collect();
    format!("\nworkers x window: {}\n", terms.join(", "))
}

fn parallelism(digest: &Digest) -> String {
    let parallelism = &digest.parallelism;
    let steps: Vec<f64> = parallelism.timeline.iter().take(60).copied().collect();
    let levels: Vec<String> = parallelism
        .histogram
        .iter()
        .take(20)
        .filter(|level| level.share >= 0.01)
        .map(|level| {
            let range = if level.from == level.to {
                level.to.to_string()
            } else {
                format!("{}-{}", level.from, level.to)
            };
            format!("{range}: {:.0} %", level.share * 100.0)
        })
        .collect();
    format!(
        "running: mean {:.2}, peak {:.2}\n|{}|\n{}\n",
        parallelism.mean,
        parallelism.peak,
        sparkline(&steps, digest.workers as f64),
        levels.join(", ")
    )
}

fn times(digest: &Digest) -> String {
    let clip = |text: String| plain(&text, 130);
    let mut text = format!("duration: {}\n", clip(reading(&digest.duration, quantiles)));
    text += &format!("gap: {}\n", clip(reading(&digest.gap, quantiles)));
    let cost = match (digest.scheduling_cost_ns.value(), digest.break_even_ns.value()) {
        (Some(cost), Some(even)) => {
            format!("{} per task; tasks of {} pay for it", time(*cost), time(*even))
        }
        _ => reading(&digest.scheduling_cost_ns, |cost| time(*cost)),
    };
    text + &format!("scheduling cost: {}\n", clip(cost))
}

/// Nothing where the source has no ready times, which is so for most.
fn queue(digest: &Digest) -> String {
    let Some(queue) = digest.queue.value() else { return String::new() };
    let mut text = format!("queue delay: {}\n", queue_delay(queue));
    if let Some(shares) = queue.shares.value() {
        text += &format!("{}\n", queue_shares(shares));
    }
    text
}

fn workers(digest: &Digest) -> String {
    let detail = &digest.workers_detail;
    if digest.workers < 2 {
        return String::new();
    }
    let mut busy: Vec<String> =
        detail.workers.iter().take(16).map(|worker| format!("{:.0}", worker.busy * 100.0)).collect();
    if detail.folded > 0 {
        busy.push(format!("({} more between)", detail.folded));
    }
    format!(
        "busy %: {}; max/mean {:.2}, {} of {} ran\n",
        busy.join(" "),
        detail.busy_max_over_mean,
        detail.active,
        digest.workers
    )
}

fn nesting(digest: &Digest) -> String {
    let nesting = &digest.nesting;
    if nesting.nested == 0 {
        return String::new();
    }
    let own = reading(&nesting.parent_self, |share| percent(*share));
    plain(
        &format!(
            "nested: {}, depth {}, parents' own time {own}; durations add up to {:.2} of workers x window",
            count(nesting.nested, "task"),
            nesting.depth,
            nesting.naive_utilisation
        ),
        200,
    ) + "\n"
}

fn outliers(digest: &Digest) -> String {
    let rows: Vec<String> = digest
        .outliers
        .iter()
        .take(3)
        .map(|outlier| {
            let name = if outlier.name.is_empty() { "(no name)".into() } else { plain(&outlier.name, 24) };
            format!(
                "{name} {} ({:.0}x, worker {}, at {})",
                time(outlier.duration_ns as f64),
                outlier.times_typical,
                outlier.worker,
                time(outlier.start_ns as f64)
            )
        })
        .collect();
    if rows.is_empty() { String::new() } else { format!("longest: {}\n", rows.join("; ")) }
}

fn names(digest: &Digest) -> String {
    let rows: Vec<String> = digest
        .names
        .top
        .iter()
        .take(5)
        .map(|name| format!("{} {} ({})", plain(&name.name, 24), percent(name.share), name.tasks))
        .collect();
    if rows.is_empty() { String::new() } else { format!("names: {}\n", rows.join(", ")) }
}

fn dropped(digest: &Digest) -> String {
    let mut parts: Vec<String> = digest
        .dropped
        .dropped
        .iter()
        .take(3)
        .map(|drop| format!("{} {}", drop.events, plain(&drop.reason, 40)))
        .collect();
    if digest.dropped.dropped.len() > 3 {
        parts.push(format!("{} more reasons", digest.dropped.dropped.len() - 3));
    }
    let mut text = String::new();
    if !parts.is_empty() {
        text = format!("not counted: {}\n", parts.join(", "));
    }
    for note in digest.notes.iter().take(2) {
        text += &format!("note: {}\n", plain(note, 100));
    }
    text
}
