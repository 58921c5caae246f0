//! Spans in, fixed-size sums out.

use taskscale_model::span::{Depth, Span, SpanSink};

use crate::{
    grid::Grid,
    histogram::Histogram,
    names::Names,
    top::Top,
    worker::{Settled, Worker},
};

/// Workers that are told apart; spans of all others are one worker more.
pub const MAX_WORKERS: usize = 65_536;

/// How large an accumulator is, and what the user knows that spans do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Workers that there were, whether they ran or not; as many as were seen where it is `None`.
    pub workers: Option<u32>,
    /// Points of time at which parallelism is counted; rounded up to a power of two. 40 bytes each.
    pub points: usize,
    /// Names that are kept; about 160 bytes each.
    pub names: usize,
    /// Longest spans that are kept; 72 bytes each.
    pub longest: usize,
}

impl Default for Config {
    /// One accumulator for all workers, as a reader of a file uses it: about 150 KB, and 500 bytes
    /// per worker.
    fn default() -> Self {
        Config { workers: None, points: 2_048, names: 256, longest: 32 }
    }
}

impl Config {
    /// One accumulator per worker, as a live observer uses it: less than 16 KB.
    pub fn observer() -> Self {
        Config { workers: None, points: 128, names: 16, longest: 8 }
    }
}

/// The bounded, mergeable sums that a digest is made of.
///
/// A span costs O(1): two histogram steps, the bins that it touches, one compare against the
/// longest, one lookup of its name. Nothing is allocated per span; a worker that is seen for the
/// first time takes 500 bytes.
///
/// ```
/// use taskscale_digest::{Accumulator, Config};
/// use taskscale_model::span::{Account, Depth, Span, SpanSink};
/// let mut accumulator = Accumulator::new(Config::default());
/// for i in 0..1_000 {
///     let (start_ns, end_ns) = (i * 1_100, i * 1_100 + 1_000);
///     accumulator.span(&Span { worker: 0, start_ns, end_ns, name: b"step", depth: Depth::Unknown });
/// }
/// let digest = accumulator.finish(&Account::default());
/// assert_eq!(digest.tasks, 1_000);
/// assert_eq!(digest.scheduling_cost_ns.value(), Some(&100.0));
/// ```
#[derive(Debug, Clone)]
pub struct Accumulator {
    pub(crate) config: Config,
    /// By index; those below `base` were never seen here.
    pub(crate) workers: Vec<Worker>,
    /// Index of the first of `workers`.
    base: usize,
    pub(crate) sums: Sums,
    pub(crate) names: Names,
    /// Spans of workers beyond [`MAX_WORKERS`].
    pub(crate) folded: u64,
    /// Spans whose end is before their start; not counted otherwise.
    pub(crate) reversed: u64,
    /// Time in which a worker could run and did not, inside tasks and between them.
    pub(crate) preempted_in_tasks: u64,
    pub(crate) preempted_in_gaps: u64,
    /// Time in gaps of which it is not known whether a task took it.
    pub(crate) unknown: u64,
    /// Whether the source asks for run delay at all: none of it is then known to be none.
    pub(crate) delay_known: bool,
}

/// What settled spans of all workers go into.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    pub durations: Histogram,
    pub gaps: Histogram,
    pub grid: Grid,
    pub top: Top,
}

/// The sums, on behalf of one worker.
struct Of<'a> {
    worker: u32,
    sums: &'a mut Sums,
}

impl Settled for Of<'_> {
    fn outermost(&mut self, start: i64, end: i64, leaf: bool) {
        // A parent's length says nothing about how coarse tasks are.
        let task = if leaf { (end - start) as u64 } else { 0 };
        self.sums.grid.busy(start, end, task);
    }

    fn gap(&mut self, start: i64, end: i64) {
        self.sums.gaps.add((end - start) as u64);
        self.sums.grid.gap(start, end);
    }

    fn parent(&mut self, start: i64, end: i64) {
        self.sums.top.remove(self.worker, start, (end - start) as u64);
    }
}

/// Times beyond this are drawn in to it, so that no difference of two overflows: 146 years on
/// either side of the origin.
const FAR: i64 = i64::MAX / 2;

impl SpanSink for Accumulator {
    #[inline]
    fn span(&mut self, span: &Span<'_>) {
        let (start, end) = (span.start_ns.clamp(-FAR, FAR), span.end_ns.clamp(-FAR, FAR));
        if end < start {
            self.reversed += 1;
            return;
        }
        let index = (span.worker as usize).min(MAX_WORKERS);
        if index == MAX_WORKERS {
            self.folded += 1;
        }
        let duration = (end - start) as u64;
        let level = match span.depth {
            Depth::Unknown => None,
            Depth::Level(level) => Some(level),
        };
        self.sums.durations.add(duration);
        self.names.add(span.name, duration);
        let slot = self.slot(index);
        if self.workers[slot].span(start, end, level, &mut Of { worker: span.worker, sums: &mut self.sums }) {
            self.sums.top.add(span.worker, start, duration, span.name);
        }
    }
}

impl Accumulator {
    /// An empty one.
    pub fn new(config: Config) -> Self {
        Accumulator {
            config,
            workers: Vec::new(),
            base: 0,
            sums: Sums {
                durations: Histogram::default(),
                gaps: Histogram::default(),
                grid: Grid::new(config.points),
                top: Top::new(config.longest),
            },
            names: Names::new(config.names),
            folded: 0,
            reversed: 0,
            preempted_in_tasks: 0,
            preempted_in_gaps: 0,
            unknown: 0,
            delay_known: false,
        }
    }

    /// Takes in a span that contains no others, lies in none, and is behind all of its worker so
    /// far, as a live observer knows without waiting for what comes; a third of the cost of
    /// [`SpanSink::span`]. One that is not behind the others counts like any span of level 0.
    #[inline]
    pub fn leaf(&mut self, worker: u32, start_ns: i64, end_ns: i64, name: &[u8]) {
        let slot = (worker as usize).wrapping_sub(self.base);
        if let Some(state) = self.workers.get_mut(slot)
            && -FAR < start_ns
            && start_ns <= end_ns
            && end_ns < FAR
            && state.outermost(start_ns, end_ns, true, &mut Of { worker, sums: &mut self.sums })
        {
            let duration = (end_ns - start_ns) as u64;
            self.sums.durations.add(duration);
            self.names.add(name, duration);
            self.sums.top.add(worker, start_ns, duration, name);
            return;
        }
        self.span(&Span { worker, start_ns, end_ns, name, depth: Depth::Level(0) });
    }

    /// The place of a span, which [`Accumulator::leaf`] would take in, and nothing else of it. What
    /// lies before the worker's last end is cut off.
    pub(crate) fn place(&mut self, worker: u32, start_ns: i64, end_ns: i64) {
        let slot = self.slot((worker as usize).min(MAX_WORKERS));
        let state = &mut self.workers[slot];
        let start = start_ns.clamp(-FAR, FAR).max(state.settled().unwrap_or(-FAR));
        let end = end_ns.clamp(start, FAR.max(start));
        state.outermost(start, end, true, &mut Of { worker, sums: &mut self.sums });
    }

    /// Takes in a span whose place is known: `level` others hold it, all of which come later, and
    /// whether it holds others, all of which came before. Needs no search for its parent, at any
    /// depth and with any number of children.
    pub fn known(&mut self, span: &Span<'_>, level: u16, leaf: bool) {
        let (start, end) = (span.start_ns.clamp(-FAR, FAR), span.end_ns.clamp(-FAR, FAR));
        if level == 0 && leaf {
            return self.leaf(span.worker, start, end, span.name);
        }
        if end < start {
            self.reversed += 1;
            return;
        }
        let slot = self.slot((span.worker as usize).min(MAX_WORKERS));
        let duration = (end - start) as u64;
        let state = &mut self.workers[slot];
        if level > 0 {
            state.inner(duration, level, leaf);
        } else if !state.outermost(start, end, leaf, &mut Of { worker: span.worker, sums: &mut self.sums }) {
            return self.span(&Span { depth: Depth::Level(0), ..*span });
        }
        self.sums.durations.add(duration);
        self.names.add(span.name, duration);
        if leaf {
            self.sums.top.add(span.worker, start, duration, span.name);
        }
    }

    /// The state of a worker that was seen, the sums and the names.
    #[inline]
    pub(crate) fn parts(&mut self, worker: u32) -> Option<(&mut Worker, &mut Sums, &mut Names)> {
        let state = self.workers.get_mut((worker as usize).wrapping_sub(self.base))?;
        Some((state, &mut self.sums, &mut self.names))
    }

    /// Where a worker's state is; made where there is none. An observer of worker 63 alone holds
    /// one state, not 64.
    #[inline]
    fn slot(&mut self, index: usize) -> usize {
        let slot = index.wrapping_sub(self.base);
        if slot < self.workers.len() { slot } else { self.new_slot(index) }
    }

    #[cold]
    fn new_slot(&mut self, index: usize) -> usize {
        if self.workers.is_empty() {
            self.base = index;
        }
        if index < self.base {
            let before = self.base - index;
            self.workers.splice(0..0, std::iter::repeat_with(Worker::default).take(before));
            self.base = index;
        }
        let slot = index - self.base;
        if slot >= self.workers.len() {
            self.workers.resize_with(slot + 1, Worker::default);
        }
        slot
    }

    /// Adds time in which a worker was runnable and the machine ran something else; a live observer
    /// reads it from the kernel. Such time belongs to a task that was counted (`in_task`) or to a
    /// gap between two. A call with 0 says that there was none.
    pub fn preempted(&mut self, in_task: bool, ns: u64) {
        self.delay_known = true;
        let sum = if in_task { &mut self.preempted_in_tasks } else { &mut self.preempted_in_gaps };
        *sum = sum.saturating_add(ns);
    }

    /// Adds time that was counted as a gap and of which it is not known whether a task took it.
    pub fn unknown(&mut self, ns: u64) {
        self.unknown = self.unknown.saturating_add(ns);
    }

    /// Spans counted.
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| worker.tasks).sum()
    }

    /// Memory that it holds, in bytes, with at least one worker: fixed but for the workers.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.workers.capacity().max(1) * size_of::<Worker>()
            + self.sums.grid.bytes()
            + self.sums.top.bytes()
            + self.names.bytes()
    }

    /// Settles what was kept back to see whether it is nested.
    pub(crate) fn settle(&mut self) {
        for (slot, worker) in self.workers.iter_mut().enumerate() {
            worker.settle(&mut Of { worker: (self.base + slot) as u32, sums: &mut self.sums });
        }
    }

    /// Adds what another one saw. The same index is the same worker, and the times share one clock.
    ///
    /// Associative and commutative; names are so only as long as no more distinct ones came than
    /// fit, and keep their stated error beyond. The gap between what a worker did here and there is
    /// not known, and is idle time.
    pub fn merge(&mut self, other: &Accumulator) {
        let mut other = other.clone();
        self.settle();
        other.settle();
        let declared = self.config.workers.into_iter().chain(other.config.workers).max();
        self.config.workers = declared;
        for (slot, worker) in other.workers.iter().enumerate() {
            if worker.tasks > 0 {
                let mine = self.slot(other.base + slot);
                self.workers[mine].merge(worker);
            }
        }
        self.sums.durations.merge(&other.sums.durations);
        self.sums.gaps.merge(&other.sums.gaps);
        self.sums.grid.merge(&other.sums.grid);
        self.sums.top.merge(&other.sums.top);
        self.names.merge(&other.names);
        self.folded += other.folded;
        self.reversed += other.reversed;
        self.delay_known |= other.delay_known;
        self.preempted_in_tasks = self.preempted_in_tasks.saturating_add(other.preempted_in_tasks);
        self.preempted_in_gaps = self.preempted_in_gaps.saturating_add(other.preempted_in_gaps);
        self.unknown(other.unknown);
    }

    /// Workers that ran, with their index. One of which only spans inside another are known, since
    /// a clearing cut that one, has no time of its own.
    pub(crate) fn active(&self) -> impl Iterator<Item = (u32, &Worker)> {
        self.workers
            .iter()
            .enumerate()
            .filter(|(_, worker)| worker.tasks > 0 && worker.first <= worker.last)
            .map(|(slot, worker)| ((self.base + slot) as u32, worker))
    }
}
