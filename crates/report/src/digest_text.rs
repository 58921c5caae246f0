//! Writes a digest for a terminal, a log or a language model: at most 2,048 bytes, whatever was
//! digested.

use taskscale_model::digest::{Digest, Pattern, PatternName};

use crate::{
    digest_facts as facts,
    digest_words::{count, name as short, percent, plain, sparkline, tied},
    wrap::hanging,
};

/// The width of a line.
const WIDTH: usize = 80;

/// The most bytes that [`digest_text`] returns.
pub const MAX_BYTES: usize = 2_048;

/// The culprits of a runner-up of a smaller share are left out.
const SMALL: f64 = 0.01;
/// The advice on a runner-up that wins less is left out.
const WORTH_DOING: f64 = 1.1;

/// One paragraph, and the rank by which it gets room.
struct Section {
    rank: u8,
    text: String,
}

/// Writes the digest as text of at most [`MAX_BYTES`] bytes, valid UTF-8, ending with a newline. It
/// leaves out paragraphs that do not fit, the least important first, and says how many.
pub fn digest_text(digest: &Digest) -> String {
    let first = digest.patterns.first();
    let mut sections = vec![
        Section { rank: 0, text: facts::head(digest) + "\n" },
        Section { rank: 1, text: diagnosis(digest) },
        Section { rank: 3, text: first.map(culprits).unwrap_or_default() },
    ];
    if first.is_some_and(|first| first.name == PatternName::Mixed) {
        for one in digest.patterns.iter().skip(1).take(2) {
            // The causes are the diagnosis, so who and when of each come with it.
            sections.push(Section { rank: 2, text: part(digest, one) });
            sections.push(Section { rank: 3, text: culprits(one) });
        }
    } else if let Some(second) = digest.patterns.get(1).filter(|second| second.share >= SMALL) {
        sections.push(Section { rank: 2, text: runner_up(second) });
        sections.push(Section { rank: 7, text: why(digest, second) });
        let remedy = facts::remedy(second).filter(|_| facts::may_gain(second) && second.bound >= WORTH_DOING);
        let remedy = remedy.map(|remedy| labelled("  do:   ", &remedy)).unwrap_or_default();
        sections.push(Section { rank: 6, text: remedy });
        sections.push(Section { rank: 9, text: culprits(second) });
    }
    sections.extend([
        Section { rank: 5, text: labelled("confidence: ", &facts::confidence(digest, 2)) },
        Section { rank: 4, text: losses(digest) },
        Section { rank: 7, text: parallelism(digest) },
        Section { rank: 8, text: times(digest) },
        Section { rank: 10, text: queue(digest) },
        Section { rank: 11, text: workers(digest) },
        Section { rank: 13, text: nesting(digest) },
        Section {
            rank: 15,
            text: facts::off_cpu(digest).map(|text| labelled("off CPU: ", &text)).unwrap_or_default(),
        },
        Section { rank: 14, text: outliers(digest) },
        Section { rank: 6, text: names(digest) },
        Section { rank: 12, text: dropped(digest) },
    ]);
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
        text += &format!("({} not shown here: --format md has all)\n", count(left_out as u64, "part"));
    }
    text
}

/// Writes a label and a text in lines, each behind the end of the label. A figure stays with its
/// unit.
fn labelled(label: &str, text: &str) -> String {
    // A character for private use, as wide as a blank. In a name it becomes one.
    const TIE: &str = "\u{e000}";
    let lines = hanging(&tied(text, TIE), label.chars().count(), WIDTH).replace(TIE, " ");
    format!("{label}{lines}")
}

fn diagnosis(digest: &Digest) -> String {
    let Some(first) = digest.patterns.first() else { return String::new() };
    let mut text = format!("\n{}", labelled("", &facts::pattern(first)));
    text += &why(digest, first);
    text += &facts::remedy(first).map(|remedy| labelled("  do:   ", &remedy)).unwrap_or_default();
    text += &facts::alternative(digest).map(|other| labelled("  or:   ", &other)).unwrap_or_default();
    text
}

fn runner_up(second: &Pattern) -> String {
    labelled("next: ", &facts::pattern(second))
}

fn why(digest: &Digest, pattern: &Pattern) -> String {
    labelled("  why:  ", &facts::why(digest, pattern))
}

/// One of the causes that a mixed loss has.
fn part(digest: &Digest, pattern: &Pattern) -> String {
    let remedy = facts::remedy(pattern).map(|remedy| labelled("  do:   ", &remedy)).unwrap_or_default();
    runner_up(pattern) + &why(digest, pattern) + &remedy
}

fn culprits(pattern: &Pattern) -> String {
    let who = facts::who(pattern).map(|who| labelled("  who:  ", &who));
    let when = facts::when(pattern).map(|when| labelled("  when: ", &when));
    who.into_iter().chain(when).collect()
}

/// Each term with what it means.
fn losses(digest: &Digest) -> String {
    let terms = digest.losses.terms().into_iter().filter(|(_, share)| *share > 0.0);
    terms.fold("\nworkers x window:\n".to_owned(), |text, (term, share)| {
        text + &format!("  {term:10} {:>6}  {}\n", percent(share), facts::meaning(term))
    })
}

fn parallelism(digest: &Digest) -> String {
    let steps: Vec<f64> = digest.parallelism.timeline.iter().take(60).copied().collect();
    if steps.is_empty() {
        // Sums of several clocks have no time that runs on.
        return format!("running: {}\n", facts::running(digest));
    }
    let line = sparkline(&steps, digest.workers as f64);
    let levels = labelled("", &facts::levels(digest));
    format!("running: {}\n|{line}|\n{levels}", facts::running(digest))
}

fn times(digest: &Digest) -> String {
    facts::times(digest).iter().map(|(label, text)| labelled(&format!("{label}: "), text)).collect()
}

/// Nothing where the source has no ready times, which is so for most.
fn queue(digest: &Digest) -> String {
    let lines = facts::queue(digest);
    lines.iter().map(|(label, text)| labelled(&format!("{}: ", label.to_lowercase()), text)).collect()
}

fn workers(digest: &Digest) -> String {
    if digest.workers < 2 { String::new() } else { labelled("busy %: ", &facts::balance(digest)) }
}

fn nesting(digest: &Digest) -> String {
    facts::nesting(digest).map(|text| labelled("nested: ", &text)).unwrap_or_default()
}

fn outliers(digest: &Digest) -> String {
    let rows: Vec<String> = digest.outliers.iter().take(3).map(facts::outlier).collect();
    if rows.is_empty() { String::new() } else { labelled("longest: ", &rows.join("; ")) }
}

fn names(digest: &Digest) -> String {
    let rows: Vec<String> = digest
        .names
        .top
        .iter()
        .take(5)
        .map(|name| format!("{} {} ({})", short(&name.name, 32), percent(name.share), name.tasks))
        .collect();
    if rows.is_empty() { String::new() } else { labelled("names: ", &rows.join(", ")) }
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
        parts.push(count(digest.dropped.dropped.len() as u64 - 3, "more reason"));
    }
    let mut text = String::new();
    if !parts.is_empty() {
        text = labelled("not counted: ", &parts.join(", "));
    }
    for note in digest.notes.iter().take(2) {
        text += &labelled("note: ", &plain(note, 140));
    }
    text
}
