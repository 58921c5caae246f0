//! Memory: limits, swap, huge pages, and the layout of address spaces.

use taskscale_model::{
    doctor::{
        Figures::{Cpu, Memory, Rows, Wall},
        Finding, Severity,
        facts::Facts,
    },
    missing::Reading,
};

use super::finding::{Draft, grade, unknown};
use taskscale_model::figure::count;

/// Approximate memory of one waiting asyncio task: 10,000 alive take some 10 MB
/// (docs/evidence/live-asyncio.md).
const TASK_BYTES: u64 = 1_000;
/// Bytes left below which the largest sizes have no room: a million tasks (note), and a hundred
/// thousand (warning).
const LEFT: (u64, u64) = (1_000_000 * TASK_BYTES, 100_000 * TASK_BYTES);

/// Findings on memory, swap, huge pages and address randomisation.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    vec![memory(facts), swap(facts), huge_pages(facts), randomisation(facts)]
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn memory(facts: &Facts) -> Finding {
    const SUBJECT: &str = "memory";
    let available = match &facts.memory.available {
        Reading::Value(available) => *available,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Rows]),
    };
    let (left, found) = match (facts.group.memory_limit.value(), facts.group.memory_used.value()) {
        (Some(limit), used) => {
            let left = limit.saturating_sub(used.copied().unwrap_or(0)).min(available);
            (left, format!("the control group may use {}; {} are left", gib(*limit), gib(left)))
        }
        (None, _) => (available, format!("{} available, no limit", gib(available))),
    };
    let severity = grade(-(left as f64), -(LEFT.0 as f64), -(LEFT.1 as f64));
    let tasks = left / TASK_BYTES;
    let says =
        format!("room for some {} waiting tasks of 1 kB; a row with more is killed and fails", count(tasks));
    Draft::new(SUBJECT, severity, found)
        .affects(&[Rows])
        .stated(tasks as f64, "tasks", says)
        .remedy("raise the limit, or leave out the largest sizes (--size)")
        .done()
}

fn swap(facts: &Facts) -> Finding {
    const SUBJECT: &str = "swap";
    let used = match &facts.memory.swap_used {
        Reading::Value(used) => *used,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Wall]),
    };
    let moved = facts.measured.moved.swapped_pages;
    let (severity, found) = match (moved, used) {
        (Some(1..), _) => (Severity::Warning, format!("{} in use, and pages are being moved", gib(used))),
        (_, 0) => (Severity::Ok, "not in use".to_owned()),
        _ => (Severity::Note, format!("{} in use, at rest", gib(used))),
    };
    let mut draft = Draft::new(SUBJECT, severity, found).affects(&[Wall]);
    if let Some(pages) = moved.filter(|pages| *pages > 0) {
        let says = format!("{} pages went to or came from disk during the probe", count(pages));
        draft = draft.measured(pages as f64, "pages", says);
    }
    draft.remedy("end what uses the memory; sudo swapoff -a while measuring").done()
}

fn huge_pages(facts: &Facts) -> Finding {
    const SUBJECT: &str = "transparent huge pages";
    let mode = match &facts.memory.huge_pages {
        Reading::Value(mode) => mode.as_str(),
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Memory]),
    };
    let (severity, found) = match mode {
        "always" => {
            (Severity::Note, "always: heaps grow in pages of 2 MB, some of them later, in the background")
        }
        "madvise" => (Severity::Ok, "only for who asks (madvise)"),
        "never" => (Severity::Ok, "never"),
        other => (Severity::Note, other),
    };
    Draft::new(SUBJECT, severity, found)
        .affects(&[Memory, Cpu, Wall])
        .stated(
            2_097_152.0,
            "bytes",
            "memory of a process can be 2 MB more or less a time; large heaps become faster",
        )
        .remedy("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled, for memory per task")
        .done()
}

fn randomisation(facts: &Facts) -> Finding {
    const SUBJECT: &str = "address randomisation";
    let level = match &facts.kernel.randomised {
        Reading::Value(level) => *level,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall]),
    };
    let (severity, found) = match level {
        2.. => {
            (Severity::Ok, "on: each fresh process has a layout of its own, and intervals are over processes")
        }
        1 => (Severity::Note, "on, but not for the heap"),
        0 => (Severity::Warning, "off: every process has the same layout"),
    };
    // Identical code differed by 1 to 2 % between processes (docs/evidence/processes.md).
    let says = "the luck of one layout, 1 to 2 % of CPU time, counts as a property of the code";
    Draft::new(SUBJECT, severity, found)
        .affects(&[Cpu, Wall])
        .stated(2.0, "%", says)
        .remedy("sudo sysctl kernel.randomize_va_space=2")
        .done()
}
