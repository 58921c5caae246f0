//! What is said of a digest, in sentences that its text and its page share.

use taskscale_model::{
    digest::{ConfidenceGrade, Digest, Outlier, Pattern, PatternName, WorkerDetail},
    figure::time,
};

use crate::digest_words::{count, name, percent, plain, quantiles, queue_delay, queue_shares, reading};

/// The most characters of a name in a sentence.
const NAME: usize = 32;

/// Tasks, workers, window and clock.
pub(crate) fn head(digest: &Digest) -> String {
    format!(
        "{} on {}, {}; clock step {}",
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

/// A pattern with its share and what may be won by it.
pub(crate) fn pattern(pattern: &Pattern) -> String {
    let gain = match (may_gain(pattern), pattern.change.is_some()) {
        (false, _) => String::new(),
        (true, true) => format!(", fixing it: {}", pattern.gain()),
        (true, false) if pattern.shortens_tasks => format!(", without it: {}", pattern.gain()),
        (true, false) => format!(", bound: {}", pattern.gain()),
    };
    format!("{} ({}{gain})", pattern.name, percent(pattern.share))
}

/// Whether there is something to win. What waits for input or for a timer loses nothing by it,
/// however much of the time that is; and of several causes each has a bound of its own.
pub(crate) fn may_gain(pattern: &Pattern) -> bool {
    use PatternName::{BlockedInTasks, Mixed, OutsideRun};
    pattern.bound > 1.005 && !matches!(pattern.name, OutsideRun | BlockedInTasks | Mixed)
}

/// The evidence for a pattern. Of time in which no task ran it says whether one waited, where that
/// is known.
pub(crate) fn why(digest: &Digest, pattern: &Pattern) -> String {
    let evidence = plain(&pattern.evidence, 160);
    let shares = digest.queue.value().and_then(|queue| queue.shares.value());
    match shares.filter(|_| pattern.name == PatternName::OutsideRun) {
        Some(shares) => format!(
            "{evidence}; workers were idle for {} of their time while a task waited, for {} while none did",
            percent(shares.dispatch),
            percent(shares.starved)
        ),
        None => evidence,
    }
}

/// What to do about a pattern, if there is anything.
pub(crate) fn remedy(pattern: &Pattern) -> Option<String> {
    (!pattern.remedy.is_empty()).then(|| plain(&pattern.remedy, 160))
}

/// What the diagnosis may be as well, if the spans do not tell.
pub(crate) fn alternative(digest: &Digest) -> Option<String> {
    digest.alternative.as_ref().map(|other| format!("{}: {}", other.name, plain(&other.tell, 160)))
}

/// How long tasks waited, and what idle workers did meanwhile, where ready times are known.
pub(crate) fn queue(digest: &Digest) -> Vec<(&'static str, String)> {
    let Some(queue) = digest.queue.value() else { return Vec::new() };
    let mut lines = vec![("Queue delay", queue_delay(queue))];
    lines.extend(queue.shares.value().map(|shares| ("Queue", queue_shares(shares))));
    lines
}

/// The tasks and threads of a pattern, if they are known.
pub(crate) fn who(pattern: &Pattern) -> Option<String> {
    let role = match pattern.name {
        PatternName::SerialBottleneck => "held up others",
        PatternName::SchedulingOverhead => "most tasks",
        PatternName::OutsideRun => "ran before",
        PatternName::EventLoopBlocked => "slow steps",
        PatternName::RecursiveOverlap | PatternName::BlockedInTasks => "did not run",
        _ => "awaited",
    };
    let whole = |share: f64| format!("{:.0} %", share * 100.0);
    let tasks: Vec<String> = pattern
        .tasks
        .iter()
        .take(3)
        .map(|task| format!("\"{}\" ({})", name(&task.name, NAME), whole(task.share)))
        .collect();
    let threads: Vec<String> = pattern
        .threads
        .iter()
        .take(3)
        .map(|part| format!("{} ({})", worker(part.worker, part.thread.as_deref()), whole(part.share)))
        .collect();
    let mut parts = Vec::new();
    if !tasks.is_empty() {
        parts.push(format!("{role}: {}", tasks.join(", ")));
    }
    if !threads.is_empty() {
        parts.push(format!("on {}", threads.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// When the loss of a pattern was, if that is known.
pub(crate) fn when(pattern: &Pattern) -> Option<String> {
    if pattern.all_along {
        return Some("all along".into());
    }
    let ranges: Vec<String> = pattern
        .when
        .iter()
        .take(3)
        .map(|range| {
            let (from, to) = (time(range.from_ns as f64), time(range.to_ns as f64));
            format!("{from} to {to} ({:.0} %)", range.share * 100.0)
        })
        .collect();
    (!ranges.is_empty()).then(|| ranges.join(", "))
}

/// A worker, with the name of its thread where the source gives one.
pub(crate) fn worker(index: u32, thread: Option<&str>) -> String {
    match thread {
        Some(thread) => format!("worker {index} \"{}\"", name(thread, NAME)),
        None => format!("worker {index}"),
    }
}

/// How far the diagnosis can be trusted, with at most `most` reasons.
pub(crate) fn confidence(digest: &Digest, most: usize) -> String {
    let grade = match digest.confidence.grade {
        ConfidenceGrade::High => "high",
        ConfidenceGrade::Medium => "medium",
        ConfidenceGrade::Low => "low",
    };
    let reasons: Vec<String> =
        digest.confidence.reasons.iter().take(most).map(|reason| plain(reason, 90)).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    format!("{grade}{colon}{}", reasons.join("; "))
}

/// What a term of the losses means.
pub(crate) fn meaning(term: &str) -> &'static str {
    match term {
        "work" => "inside a task",
        "dispatch" => "between two tasks of a busy worker",
        "serial" => "idle while exactly one worker is active",
        "tail" => "idle after its last task, others busy",
        "starvation" => "idle, others busy, nothing ready",
        "preempted" => "ready, but the machine ran something else",
        "outside" => "no worker is active",
        _ => "",
    }
}

/// The mean of parallelism, and the most that an observable moment had.
pub(crate) fn running(digest: &Digest) -> String {
    format!("mean {:.2}, peak {:.0}", digest.parallelism.mean, digest.parallelism.peak)
}

/// The share of the window at each level of parallelism.
pub(crate) fn levels(digest: &Digest) -> String {
    let levels: Vec<String> = digest
        .parallelism
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
    levels.join(", ")
}

/// Durations, gaps and what scheduling costs, each with its label.
pub(crate) fn times(digest: &Digest) -> [(&'static str, String); 3] {
    let cost = match (digest.scheduling_cost_ns.value(), digest.break_even_ns.value()) {
        (Some(cost), Some(even)) => {
            format!("{} per task: a tenth of the time for tasks of {}", time(*cost), time(*even))
        }
        _ => reading(&digest.scheduling_cost_ns, |cost| time(*cost)),
    };
    let clip = |text: String| plain(&text, 130);
    [
        ("duration", clip(reading(&digest.duration, quantiles))),
        ("gap", clip(reading(&digest.gap, quantiles))),
        ("scheduling cost", clip(cost)),
    ]
}

/// How busy each worker was, in per cent, and who is at either end where threads have names.
pub(crate) fn balance(digest: &Digest) -> String {
    let detail = &digest.workers_detail;
    let shown = &detail.workers[..detail.workers.len().min(16)];
    let mut busy: Vec<String> = shown.iter().map(|worker| format!("{:.0}", worker.busy * 100.0)).collect();
    if detail.folded > 0 {
        busy.push(format!("({} more between)", detail.folded));
    }
    let mut text = format!(
        "{}; max/mean {:.2}, {} of {} ran",
        busy.join(" "),
        detail.busy_max_over_mean,
        detail.active,
        digest.workers
    );
    let by_busy = |a: &&WorkerDetail, b: &&WorkerDetail| a.busy.total_cmp(&b.busy);
    let (least, most) = (shown.iter().min_by(by_busy), shown.iter().max_by(by_busy));
    if let (Some(least), Some(most)) = (least, most)
        && (least.thread.is_some() || most.thread.is_some())
        && least.busy < most.busy
    {
        let name = |one: &WorkerDetail| worker(one.worker, one.thread.as_deref());
        text += &format!("; most: {}; least: {}", name(most), name(least));
    }
    text
}

/// Spans within spans, if there are any.
pub(crate) fn nesting(digest: &Digest) -> Option<String> {
    let nesting = &digest.nesting;
    let own = reading(&nesting.parent_self, |share| percent(*share));
    let text = format!(
        "{}, depth {}, parents' own time {own}; durations add up to {:.2} of workers x window",
        count(nesting.nested, "task"),
        nesting.depth,
        nesting.naive_utilisation
    );
    (nesting.nested > 0).then(|| plain(&text, 200))
}

/// What is known of waiting inside tasks.
pub(crate) fn off_cpu(digest: &Digest) -> Option<String> {
    let off = digest.off_cpu.value()?;
    let parents =
        if off.parents > 0.0 { format!(", {} in parents", percent(off.parents)) } else { String::new() };
    let least =
        if off.known < 0.95 { format!(" (CPU time known of {})", percent(off.known)) } else { String::new() };
    Some(format!("{} inside tasks{parents}{least}", percent(off.share)))
}

/// A span that stands out.
pub(crate) fn outlier(outlier: &Outlier) -> String {
    let shown = if outlier.name.is_empty() { "(no name)".into() } else { name(&outlier.name, NAME) };
    format!(
        "{shown} {} ({:.0}x, {}, at {})",
        time(outlier.duration_ns as f64),
        outlier.times_typical,
        worker(outlier.worker, outlier.thread.as_deref()),
        time(outlier.start_ns as f64)
    )
}
