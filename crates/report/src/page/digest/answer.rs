//! The answer: what it is, what it rests on, what to do and what that gives.

use taskscale_model::digest::{Confidence, ConfidenceGrade, Digest, Pattern, PatternName, SHORTER};

use crate::{
    digest_facts as facts,
    digest_words::{percent, plain},
};

/// The most patterns of a page.
const PATTERNS: usize = 10;

/// The share below which a cause behind the first is folded away.
const SMALL: f64 = 0.01;

/// A figure that stands large, with what it is.
pub struct Tile {
    pub figure: String,
    pub what: &'static str,
}

/// One explanation.
pub struct Words {
    pub name: &'static str,
    /// The name with its share and gain, as the text has it.
    pub sentence: String,
    /// What the name means.
    pub meaning: &'static str,
    /// Whether it accounts for enough to be read at once.
    pub is_large: bool,
    /// A label and what is said.
    pub lines: Vec<(&'static str, String)>,
}

/// The diagnosis, and behind it the others.
pub fn patterns(digest: &Digest) -> Vec<Words> {
    digest
        .patterns
        .iter()
        .take(PATTERNS)
        .enumerate()
        .map(|(rank, pattern)| words(digest, pattern, rank == 0))
        .collect()
}

fn words(digest: &Digest, pattern: &Pattern, is_first: bool) -> Words {
    let mut lines = vec![("Why", facts::why(digest, pattern))];
    let mut line = |label, text: Option<String>| lines.extend(text.map(|text| (label, text)));
    line("Do", facts::remedy(pattern));
    line("Gives", gain(pattern));
    if is_first {
        line("Or", facts::alternative(digest));
    }
    line("Who", facts::who(pattern));
    line("When", facts::when(pattern));
    if is_first {
        line("Confidence", Some(confidence(digest)));
    }
    Words {
        name: pattern.name.as_str(),
        sentence: facts::pattern(pattern),
        meaning: meaning(pattern.name),
        is_large: pattern.share >= SMALL,
        lines,
    }
}

/// What the advice gives, and what no fix exceeds.
fn gain(pattern: &Pattern) -> Option<String> {
    if !facts::may_gain(pattern) {
        return None;
    }
    let (from, to, bound) = (pattern.predicted.from, pattern.predicted.to, pattern.bound);
    Some(match pattern.change {
        None if pattern.shortens_tasks => {
            format!("without this loss about {bound:.2}x faster, {SHORTER}")
        }
        Some(_) if pattern.shortens_tasks => {
            format!("by the advice {from:.2}x to {to:.2}x faster, {SHORTER}")
        }
        Some(_) => format!(
            "by the advice {from:.2}x to {to:.2}x faster; a perfect fix, without this loss: about {bound:.2}x"
        ),
        None => {
            format!(
                "at most about {bound:.2}x faster, by a perfect fix; for less than that nothing is predicted"
            )
        }
    })
}

/// The grade, and what it rests on.
fn confidence(digest: &Digest) -> String {
    let confidence = &digest.confidence;
    let mut reasons: Vec<String> =
        confidence.reasons.iter().take(20).map(|reason| plain(reason, 200)).collect();
    if reasons.is_empty() {
        let rests_on = match (confidence.grade, &digest.alternative) {
            (ConfidenceGrade::High, _) => {
                "nothing weakens it, and the runner-up explains at most half as much"
            }
            (_, Some(_)) => "the spans allow another cause as well",
            (ConfidenceGrade::Medium, None) => "the runner-up explains nearly as much",
            (ConfidenceGrade::Low, None) => "a longer or another measurement may tell",
        };
        reasons.push(rests_on.to_owned());
    }
    format!("{}: {}", grade(confidence), reasons.join("; "))
}

fn grade(confidence: &Confidence) -> &'static str {
    match confidence.grade {
        ConfidenceGrade::High => "high",
        ConfidenceGrade::Medium => "medium",
        ConfidenceGrade::Low => "low",
    }
}

/// The answer in a few figures.
pub fn tiles(digest: &Digest) -> Vec<Tile> {
    let mut tiles = Vec::new();
    if let Some(first) = digest.patterns.first() {
        // Its share is the work itself, which has a tile of its own.
        if first.name != PatternName::Healthy {
            tiles.push(Tile { figure: percent(first.share), what: "of the workers' time lost" });
        }
        if facts::may_gain(first) {
            if first.change.is_some() {
                let (from, to) = (first.predicted.from, first.predicted.to);
                tiles.push(Tile { figure: format!("{from:.2}x to {to:.2}x"), what: "faster by the advice" });
            }
            tiles.push(Tile { figure: format!("{:.2}x", first.bound), what: "faster by a perfect fix" });
        }
    }
    tiles.push(Tile { figure: percent(digest.losses.work), what: "of the workers' time is work" });
    tiles.push(Tile { figure: grade(&digest.confidence).to_owned(), what: "confidence" });
    tiles
}

/// A pattern in plain words.
fn meaning(name: PatternName) -> &'static str {
    match name {
        PatternName::SchedulingOverhead => "Tasks are too small for what it takes to schedule them.",
        PatternName::SerialBottleneck => "One task at a time, while all others wait.",
        PatternName::LoadImbalance => "Some workers were given more than others.",
        PatternName::StragglerTasks => "A few tasks are much longer than the rest, and all wait for them.",
        PatternName::RecursiveOverlap => "Tasks contain tasks, and parents may only be waiting.",
        PatternName::UnderDecomposition => "Too few or too coarse tasks for this many workers.",
        PatternName::Healthy => "Nothing worth fixing between tasks; what happens inside them is not seen.",
        PatternName::EventLoopBlocked => "The only worker is held up by long steps.",
        PatternName::Preempted => "Workers were ready, and the machine ran something else.",
        PatternName::OutsideRun => "No worker was active: the time went outside of the tasks.",
        PatternName::TooLittleReady => {
            "Tasks come one by one: they are handed out too slowly, or arrive from outside."
        }
        PatternName::BlockedInTasks => "Tasks hold their workers and do not run: they wait inside.",
        PatternName::Mixed => "No cause explains half of the loss.",
        PatternName::Inconclusive => "The evidence is too thin to say.",
    }
}
