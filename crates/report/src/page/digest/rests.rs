//! What a digest rests on, and what it cannot see.

use taskscale_model::{digest::Digest, figure::time, missing::Reading};

use crate::{
    digest_facts as facts,
    digest_words::{count, percent, plain, reading},
};

/// The most lines of a list.
const LINES: usize = 20;

/// A name with its value.
pub struct Fact {
    pub name: &'static str,
    pub value: String,
}

/// What the source held and what else was read from it.
pub fn facts(digest: &Digest) -> Vec<Fact> {
    let account = &digest.dropped;
    let [_, _, (_, cost)] = facts::times(digest);
    let mut facts = vec![Fact { name: "Timeline", value: facts::head(digest) }];
    let mut fact = |name, value| facts.push(Fact { name, value });
    if !account.format.is_empty() {
        fact("Source", format!("{}, {} read", plain(&account.format, 80), count(account.bytes, "byte")));
        fact("Events", format!("{} seen, {} counted", account.seen, account.counted));
    }
    fact("Scheduling cost", cost);
    fact("Worthwhile task", plain(&reading(&digest.break_even_ns, |even| time(*even)), 130));
    for (name, value) in facts::queue(digest).into_iter().skip(1) {
        fact(name, value);
    }
    let others = [("Nested", facts::nesting(digest)), ("Off CPU", facts::off_cpu(digest))];
    for (name, value) in others {
        if let Some(value) = value {
            fact(name, value);
        }
    }
    facts
}

/// What was dropped, with its reasons.
pub fn dropped(digest: &Digest) -> Vec<String> {
    let dropped = digest.dropped.dropped.iter();
    let mut lines: Vec<String> = dropped
        .clone()
        .take(LINES)
        .map(|drop| format!("{}: {}", count(drop.events, "event"), plain(&drop.reason, 200)))
        .collect();
    let more = dropped.len().saturating_sub(LINES);
    if more > 0 {
        lines.push(format!("{more} more reasons"));
    }
    lines
}

/// What a reader must know.
pub fn notes(digest: &Digest) -> Vec<String> {
    digest.notes.iter().take(LINES).map(|note| plain(note, 400)).collect()
}

/// What the source does not tell, with what would.
pub fn unseen(digest: &Digest) -> Vec<Fact> {
    fn missing<T>(name: &'static str, of: &Reading<T>) -> Option<Fact> {
        match of {
            Reading::Value(_) => None,
            Reading::Missing(missing) => Some(Fact { name, value: plain(&missing.to_string(), 400) }),
        }
    }
    let shares =
        digest.queue.value().and_then(|queue| missing("What waits while workers idle", &queue.shares));
    let unknown = (digest.unknown > 0.0).then(|| Fact {
        name: "Tasks that were not timed",
        value: format!("they may hold {} of the workers' time", percent(digest.unknown)),
    });
    let known = digest.off_cpu.value().filter(|off| off.known < 0.95).map(|off| Fact {
        name: "Waiting inside tasks",
        value: format!("CPU time is known of {} of the time inside tasks", percent(off.known)),
    });
    [
        missing("Waiting for a worker", &digest.queue),
        shares,
        missing("Waiting inside tasks", &digest.off_cpu),
        known,
        missing("Scheduling cost", &digest.scheduling_cost_ns),
        missing("Own time of parents", &digest.nesting.parent_self),
        unknown,
    ]
    .into_iter()
    .flatten()
    .collect()
}
