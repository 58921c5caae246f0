//! `parked`: `size` tasks that all wait, and are woken and collected.
//!
//! What is timed is the waking. What tasks hold while they wait is read where the request asks for
//! it. A task is counted when the future that it waits for has answered "pending", so a task that
//! is counted has suspended or is about to, and its waker is where it is to be.

mod smol;
mod threads;
mod tokio;

use std::{
    fs,
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use pin_project_lite::pin_project;
use serde_json::json;

use crate::sdk::{Param, Run, Timing, Workload};

/// How long a task sleeps that is to be woken before.
pub(super) const HOUR: Duration = Duration::from_secs(3600);

/// If for so long no further task began to wait, none will.
const STUCK: Duration = Duration::from_secs(5);

/// The workload `parked` with the variants of `runtime`; `None` where tasks cannot wait. The answer
/// of an iteration is the number of tasks that were woken.
pub fn workload(runtime: &str) -> Option<Workload> {
    let variants = match runtime {
        "tokio" => tokio::variants(),
        "smol" => smol::variants(),
        "threads" => threads::variants(),
        _ => return None,
    };
    let on = Param {
        name: "on",
        default: json!("event"),
        choices: &["event", "timer", "lock"],
        help: "what tasks wait for: an event; an hour to pass, which is cut short; a lock that is held",
    };
    let resident = Param {
        name: "resident",
        default: json!(false),
        choices: &[],
        help: "also reads the memory of the process: before the first task, and while all wait",
    };
    Some(Workload { name: "parked", params: vec![on, resident], variants })
}

/// Tasks that wait, in the present iteration. It is no field of a task, as that would be held too.
static WAITING: AtomicU64 = AtomicU64::new(0);

pin_project! {
    /// A future that counts itself when it is first found pending.
    pub(super) struct Counted<F> {
        #[pin]
        future: F,
        known: bool,
    }
}

/// Counts a task that waits for `future`.
pub(super) fn counted<F: Future>(future: F) -> Counted<F> {
    Counted { future, known: false }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.future.poll(context);
        if polled.is_pending() && !std::mem::replace(this.known, true) {
            WAITING.fetch_add(1, Ordering::Release);
        }
        polled
    }
}

/// No task waits yet.
pub(super) fn begin() {
    WAITING.store(0, Ordering::Release);
}

/// What happens around the timed part of an iteration.
struct Watch<'r> {
    run: &'r Run,
    /// The request for one iteration.
    once: Run,
    whole: Timing,
    waiting: u64,
}

impl<'r> Watch<'r> {
    fn new(run: &'r Run) -> Self {
        Watch { run, once: Run { iterations: 1, ..run.clone() }, whole: Timing::default(), waiting: u64::MAX }
    }

    /// To be called before the first task of an iteration.
    fn begin(&mut self) -> Result<(), String> {
        begin();
        // Later iterations find a heap that has held tasks before.
        if self.is_resident() && !self.whole.extra.contains_key("resident_before") {
            self.whole.extra.insert("resident_before", resident()?.into());
        }
        Ok(())
    }

    /// To be called when all tasks wait, with how many have ended already.
    fn all_wait(&mut self, ended: usize) -> Result<(), String> {
        if ended > 0 {
            return Err(format!("{ended} of {} tasks ended before they were woken", self.run.size));
        }
        self.waiting = self.waiting.min(WAITING.load(Ordering::Acquire));
        if self.is_resident() && !self.whole.extra.contains_key("resident_waiting") {
            self.whole.extra.insert("resident_waiting", resident()?.into());
        }
        Ok(())
    }

    /// To be called with what the waking took.
    fn add(&mut self, timing: Timing) {
        self.whole.add(timing);
    }

    /// The sample.
    fn report(mut self) -> Timing {
        if self.is_resident() || self.run.param("verify") {
            self.whole.extra.insert("waiting", self.waiting.into());
        }
        self.whole
    }

    fn is_resident(&self) -> bool {
        self.run.param("resident")
    }
}

/// Waits for all tasks to wait.
pub(super) struct Patience {
    size: u64,
    seen: u64,
    since: Instant,
}

impl Patience {
    pub(super) fn new(run: &Run) -> Self {
        Patience { size: run.size, seen: 0, since: Instant::now() }
    }

    /// Whether all wait. Fails where no further task has begun to wait for a while.
    pub(super) fn ends(&mut self) -> Result<bool, String> {
        let waiting = WAITING.load(Ordering::Acquire);
        if waiting > self.seen {
            (self.seen, self.since) = (waiting, Instant::now());
        } else if waiting < self.size && self.since.elapsed() > STUCK {
            return Err(format!("{waiting} of {} tasks wait, and no further one begins to", self.size));
        }
        Ok(waiting >= self.size)
    }

    /// Waits while other threads run the tasks.
    pub(super) fn sleep(mut self) -> Result<(), String> {
        while !self.ends()? {
            thread::sleep(Duration::from_millis(1));
        }
        // Whoever only yielded goes on meanwhile, and is then found to have ended.
        thread::sleep(Duration::from_millis(2));
        Ok(())
    }
}

/// Resident bytes of this process. `smaps_rollup` counts pages; the kernel's running totals, which
/// `statm` tells, lag behind by up to some hundred KiB a thread.
fn resident() -> Result<u64, String> {
    const ROLLUP: &str = "/proc/self/smaps_rollup";
    let text = fs::read_to_string(ROLLUP).map_err(|why| format!("{ROLLUP} cannot be read: {why}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| format!("{ROLLUP} has no line Rss"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard};

    /// Tasks that wait are counted for the whole process, so tests that park come one by one.
    pub fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[test]
    fn resident_memory_follows_what_is_touched() {
        let before = super::resident().unwrap();
        let held = std::hint::black_box(vec![1u8; 32 << 20]);
        let with = super::resident().unwrap();
        assert!(with - before > 31 << 20, "{before} {with}");
        drop(held);
    }
}
