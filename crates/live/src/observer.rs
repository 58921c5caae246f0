//! The workers of one runtime, and their digest.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use taskscale_digest::{Accumulator, Config, Scale};
use taskscale_model::{
    digest::Digest,
    missing::Reading,
    span::{Account, Depth, Dropped, Span},
};
use taskscale_sys::ticks::{self, Anchor, Rate};

use crate::{
    cost, cpus,
    look::Open,
    options::Options,
    ready::{Ready, Wait},
    state::{Cut, Sampled},
    worker::Worker,
};

/// The name under which a digest shows tasks that had not ended when it was taken.
const OPEN: &[u8] = b"(still running)";

/// An observer of one runtime. It makes the workers and takes the digest of what they did.
#[derive(Debug)]
pub struct Observer {
    options: Options,
    begin: Anchor,
    /// Ticks at the last clearing. Times start there.
    since: AtomicU64,
    /// The CPU time of the process then, in nanoseconds.
    cpu_since: AtomicU64,
    workers: Mutex<Vec<Option<Arc<Worker>>>>,
    ready: Ready,
}

/// The number of workers that an observer has places for.
pub const MAX_WORKERS: u32 = 65_536;

impl Observer {
    /// Makes an observer without workers. The first one in a process measures the clock's rate for
    /// 2 ms.
    pub fn new(options: Options) -> Arc<Self> {
        ticks::source();
        options.clock.rate();
        options.clock.reading_ticks();
        let begin = options.clock.anchor();
        Arc::new(Observer {
            options,
            begin,
            since: AtomicU64::new(begin.ticks),
            cpu_since: AtomicU64::new(cpus::process_ns()),
            workers: Mutex::new(Vec::new()),
            ready: Ready::default(),
        })
    }

    /// The worker of this index. A new one is made where there is none and takes about 15.5 KB.
    /// Indexes beyond the last place share the last place.
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

    /// Counts when tasks became ready and when they started. The workers are told of the tasks
    /// besides. It takes a lock, and some 10 ns for each task: bring several at once.
    pub fn ready(&self, waits: impl IntoIterator<Item = Wait>) {
        let (origin, rate) = (self.since.load(Relaxed), self.options.clock.rate());
        self.ready.add(waits, Scale { origin, ns_per_4g: rate.ns_per_4g() });
    }

    /// The digest of what the workers have done since the beginning or the last
    /// [`clear`](Observer::clear). The workers go on meanwhile. An open task counts up to now.
    pub fn digest(&self) -> Digest {
        self.digest_of(self.options.workers)
    }

    /// As [`digest`](Observer::digest), of at least so many workers, whether they ran or not.
    pub fn digest_of(&self, workers: Option<u32>) -> Digest {
        let now = self.options.clock.anchor();
        let config = Config { workers, names: 64, longest: 8, ..Config::observer() };
        let mut seen = Seen {
            all: Accumulator::new(config),
            open: 0,
            cut: Cut::default(),
            sampled: Sampled::default(),
            asked: 0,
        };
        let workers: Vec<Arc<Worker>> = self.workers().iter().flatten().cloned().collect();
        for worker in &workers {
            seen.add(worker, now.ticks);
        }
        let mut account = Account {
            format: format!("live {}", self.options.source).trim_end().into(),
            workers: workers.len() as u64,
            clock_resolution_ns: self.options.clock.resolution_ns(),
            ..seen.account()
        };
        account.notes.extend(self.clock_note(now, self.options.clock.rate()));
        if self.options.waits_are_told {
            seen.all.all_waits_are_told();
        }
        if seen.cut.deep > 0 {
            seen.all.too_deep();
        }
        if self.options.clock.is_machine() {
            seen.all.observed(
                cost::of_gap_ns(),
                seen.sampled.untimed,
                self.options.clock.rate().ns(seen.asked),
            );
            let elapsed = self.options.clock.rate().ns(now.ticks.saturating_sub(self.since.load(Relaxed)));
            if let Some((share, cpus)) = cpus::used(self.cpu_since.load(Relaxed), elapsed) {
                seen.all.cpus_used(share, cpus);
            }
        }
        let ready = self.ready.sums();
        if let Some(sums) = &ready {
            seen.all.waits(sums);
        }
        let mut digest = seen.all.finish(&account);
        if let Some((reason, remedy)) = self.options.no_ready_times.filter(|_| ready.is_none()) {
            digest.queue = Reading::missing(reason, remedy);
        }
        digest
    }

    /// Forgets everything so far. Tasks that are open now are left out when they end.
    pub fn clear(&self) {
        let now = self.options.clock.ticks();
        self.since.store(now, Relaxed);
        self.cpu_since.store(cpus::process_ns(), Relaxed);
        self.ready.clear();
        for worker in self.workers().iter().flatten() {
            worker.clear(now);
        }
    }

    /// The memory that the observer and its workers hold, in bytes.
    pub fn bytes(&self) -> usize {
        let workers = self.workers().iter().flatten().map(|worker| worker.bytes()).sum::<usize>();
        workers + self.ready.bytes() + size_of::<Self>()
    }

    fn workers(&self) -> MutexGuard<'_, Vec<Option<Arc<Worker>>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a reader of the digest must know of the clock, if anything.
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

/// The sum over the workers seen so far.
#[derive(Debug)]
struct Seen {
    all: Accumulator,
    open: u64,
    cut: Cut,
    sampled: Sampled,
    /// Ticks of gaps that questions to the kernel took.
    asked: u64,
}

impl Seen {
    /// Adds a worker in its present state.
    fn add(&mut self, worker: &Worker, now: u64) {
        let (mut state, open) = worker.snapshot(now);
        if let Some(Open { begin, leaf }) = open {
            self.open += 1;
            let (start_ns, end_ns) = (state.ns(begin), state.ns(now));
            let (worker, depth) = (worker.index(), Depth::Level(0));
            let span = Span { worker, start_ns, end_ns, name: OPEN, depth, ..Span::default() };
            state.accumulator.known(&span, 0, leaf);
        }
        self.cut.open += state.cut.open;
        self.cut.stray += state.cut.stray;
        self.cut.deep += state.cut.deep;
        self.sampled.timed += state.sampled.timed;
        self.sampled.untimed += state.sampled.untimed;
        self.asked += state.asked.ticks;
        self.all.merge(&state.accumulator);
    }

    /// The account: what was counted, and what was dropped for which reason.
    fn account(&self) -> Account {
        let counted = self.all.tasks();
        let reasons = [
            ("open when the observer was cleared", self.cut.open),
            ("end without a begin", self.cut.stray),
            ("inside 16 others", self.cut.deep),
        ];
        let mut dropped: Vec<Dropped> = reasons
            .into_iter()
            .filter(|(_, events)| *events > 0)
            .map(|(reason, events)| Dropped { reason: reason.into(), events })
            .collect();
        dropped.sort_by_key(|dropped| std::cmp::Reverse(dropped.events));
        let seen = counted + self.cut.open + self.cut.stray + self.cut.deep;
        let notes = [self.open_note(), self.sampled_note()].into_iter().flatten().collect();
        Account { seen, counted, dropped, notes, ..Account::default() }
    }

    fn open_note(&self) -> Option<String> {
        (self.open > 0).then(|| format!("{} tasks were still running and count up to now", self.open))
    }

    /// The note that says which part of the figures is estimated.
    fn sampled_note(&self) -> Option<String> {
        let Sampled { timed, untimed } = self.sampled;
        let one_of = (timed + untimed) as f64 / timed.max(1) as f64;
        (untimed > 0).then(|| {
            format!(
                "timed 1 of {one_of:.1} tasks while they took under 0.5 us each; the {untimed} between are counted, and taken to last as long"
            )
        })
    }
}
