//! The workers of one runtime, and their digest.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::Digest,
    span::{Account, Depth, Dropped, Span},
};
use taskscale_sys::ticks::{self, Anchor, Rate};

use crate::{clock::Clock, state::Sampled, worker::Worker};

/// The name under which a digest shows tasks that had not ended when it was taken.
const OPEN: &[u8] = b"(still running)";

/// What an observer is told at its making.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Workers that the runtime has, whether they run or not; as many as were seen where it is `None`.
    pub workers: Option<u32>,
    /// Who is observed, in one word: `taskflow`, `tokio`, `asyncio`.
    pub source: String,
    /// Where times come from.
    pub clock: Clock,
    /// Times every task, also tiny ones ([`regime`](crate::regime)): some 20 ns for each, and nothing is estimated.
    pub exact: bool,
    /// Whether the thread of a worker does nothing but the worker's tasks: CPU time that it uses is then theirs, also where a
    /// task was not timed.
    pub own_threads: bool,
    /// Whether [`Worker::rests`] is called before each wait of a worker: a long time without that call is then a task's.
    pub waits_are_told: bool,
}

/// Observes a runtime.
#[derive(Debug)]
pub struct Observer {
    options: Options,
    begin: Anchor,
    /// Ticks at the last clearing; the origin of times.
    since: AtomicU64,
    workers: Mutex<Vec<Option<Arc<Worker>>>>,
}

/// Workers that an observer has a place for.
pub const MAX_WORKERS: u32 = 65_536;

impl Observer {
    /// One without workers. The first in a process measures the clock's rate for 2 ms.
    pub fn new(options: Options) -> Arc<Self> {
        ticks::source();
        options.clock.rate();
        options.clock.reading_ticks();
        let begin = options.clock.anchor();
        Arc::new(Observer {
            options,
            begin,
            since: AtomicU64::new(begin.ticks),
            workers: Mutex::new(Vec::new()),
        })
    }

    /// The worker of this index, made where there is none: about 15.5 KB. An index beyond the last place has the last one.
    pub fn worker(&self, index: u32) -> Arc<Worker> {
        let index = index.min(MAX_WORKERS - 1);
        let mut workers = self.workers();
        if workers.len() <= index as usize {
            workers.resize_with(index as usize + 1, || None);
        }
        let since = self.since.load(Relaxed);
        let place = &mut workers[index as usize];
        place
            .get_or_insert_with(|| {
                let worker = Worker::new(index, &self.options);
                worker.clear(since);
                Arc::new(worker)
            })
            .clone()
    }

    /// What the workers have done since the beginning or the last [`clear`](Observer::clear). Workers go on meanwhile; a
    /// task that is open counts up to now.
    pub fn digest(&self) -> Digest {
        let config = Config { workers: self.options.workers, ..Config::observer() };
        let mut all = Accumulator::new(Config { names: 64, longest: 8, ..config });
        let (mut open, mut cut, mut stray, mut deep) = (0, 0, 0, 0);
        let mut sampled = Sampled::default();
        let now = self.options.clock.anchor();
        let rate = self.options.clock.rate();
        let workers: Vec<Arc<Worker>> = self.workers().iter().flatten().cloned().collect();
        for worker in &workers {
            let (mut state, frame) = worker.snapshot(now.ticks);
            if let Some((begin, leaf)) = frame.filter(|(begin, _)| *begin <= now.ticks) {
                open += 1;
                let (start_ns, end_ns) =
                    (rate.ns(begin - state.since) as i64, rate.ns(now.ticks - state.since) as i64);
                let depth = Depth::Level(0);
                let span = Span { worker: worker.index(), start_ns, end_ns, name: OPEN, depth };
                state.accumulator.known(&span, 0, leaf);
            }
            (cut, stray, deep) = (cut + state.cut, stray + state.stray, deep + state.deep);
            sampled.timed += state.sampled.timed;
            sampled.untimed += state.sampled.untimed;
            all.merge(&state.accumulator);
        }
        let counted = all.tasks();
        let mut account = Account {
            format: if self.options.source.is_empty() {
                "live".into()
            } else {
                format!("live {}", self.options.source)
            },
            seen: counted + cut + stray + deep,
            counted,
            workers: workers.len() as u64,
            clock_resolution_ns: self.options.clock.resolution_ns(),
            ..Account::default()
        };
        for (reason, events) in [
            ("open when the observer was cleared", cut),
            ("end without a begin", stray),
            ("inside 16 others", deep),
        ] {
            if events > 0 {
                account.dropped.push(Dropped { reason: reason.into(), events });
            }
        }
        account.dropped.sort_by_key(|dropped| std::cmp::Reverse(dropped.events));
        if open > 0 {
            account.notes.push(format!("{open} tasks were still running and count up to now"));
        }
        account.notes.extend(sampled_note(sampled));
        account.notes.extend(self.clock_note(now, rate));
        all.finish(&account)
    }

    /// Forgets what was; tasks that are open now are left out when they end.
    pub fn clear(&self) {
        let now = self.options.clock.ticks();
        self.since.store(now, Relaxed);
        for worker in self.workers().iter().flatten() {
            worker.clear(now);
        }
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        self.workers().iter().flatten().map(|worker| worker.bytes()).sum::<usize>() + size_of::<Self>()
    }

    fn workers(&self) -> MutexGuard<'_, Vec<Option<Arc<Worker>>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What must be known of the clock.
    fn clock_note(&self, now: Anchor, rate: Rate) -> Option<String> {
        if self.options.clock.is_slow() {
            return Some(
                "no invariant time-stamp counter here: each reading of the clock takes some 20 ns more"
                    .into(),
            );
        }
        let long = now.ns.saturating_sub(self.begin.ns) > 100_000_000;
        let differs = Rate::between(self.begin, now).filter(|_| long)?.differs(rate);
        (differs > 0.001).then(|| {
            format!("the time-stamp counter ran {:.2} % off the rate measured at the start", differs * 100.0)
        })
    }
}

/// What is estimated.
fn sampled_note(sampled: Sampled) -> Option<String> {
    let Sampled { timed, untimed } = sampled;
    let one_of = (timed + untimed) as f64 / timed.max(1) as f64;
    (untimed > 0).then(|| {
        format!("timed 1 of {one_of:.1} tasks while they took under 0.5 us each: {untimed} durations are estimates")
    })
}
