//! Takes spans in and keeps sums of fixed size.

use std::cmp::Ordering;

use taskscale_model::span::{Depth, FARTHEST_NS, Span, SpanSink, WAITS};

use crate::{
    edges::{ENDLESS, Edge, Edges},
    grid::{Grid, Who},
    histogram::Histogram,
    names::{Names, mark},
    observed::Observed,
    top::{Candidates, Long, ShortName, Top},
    waits::Waits,
    worker::{Facts, NOT_TOLD, NOTHING, PRESENT, Settled, Worker},
};

/// The number of workers that are told apart. The spans of all others count as one more worker's.
pub const MAX_WORKERS: usize = 65_536;

/// The size of an accumulator, and what the user knows and spans do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The number of workers, whether they ran or not. `None` means as many as were seen.
    pub workers: Option<u32>,
    /// The number of points of time at which parallelism is counted, rounded up to a power of two.
    /// A point takes 48 bytes, and 16 more once a task's ready time is known.
    pub points: usize,
    /// The number of names that are kept. A name takes about 180 bytes.
    pub names: usize,
    /// The number of longest spans that are kept. A span takes 72 bytes.
    pub longest: usize,
    /// The number of begins and ends that are kept of slots of each of four lengths. One takes 24
    /// bytes.
    pub edges: usize,
}

impl Default for Config {
    /// For a reader of a file, which has one accumulator for all workers: about 150 KB, and 700
    /// bytes per worker.
    fn default() -> Self {
        Config { workers: None, points: 2_048, names: 256, longest: 32, edges: 4_096 }
    }
}

impl Config {
    /// For a live observer, which has one accumulator per worker: less than 16 KB.
    pub fn observer() -> Self {
        Config { workers: None, points: 128, names: 13, longest: 8, edges: 0 }
    }
}

/// The bounded, mergeable sums that a digest is made of.
///
/// A span costs O(1): two histogram steps, the bins that it touches, one comparison with the
/// longest spans, one lookup of its name. Nothing is allocated per span. The first span of a worker
/// takes 300 bytes, the fifth 400 more.
///
/// ```
/// use taskscale_digest::{Accumulator, Config};
/// use taskscale_model::span::{Account, Depth, Span, SpanSink};
/// let mut accumulator = Accumulator::new(Config::default());
/// for i in 0..1_000 {
///     let (start_ns, end_ns) = (i * 1_100, i * 1_100 + 1_000);
///     accumulator.span(&Span { worker: 0, start_ns, end_ns, name: b"step", ..Span::default() });
/// }
/// let digest = accumulator.finish(&Account::default());
/// assert_eq!(digest.tasks, 1_000);
/// assert_eq!(digest.scheduling_cost_ns.value(), Some(&100.0));
/// ```
#[derive(Debug, Clone)]
pub struct Accumulator {
    pub(crate) config: Config,
    /// The workers in the order of their indexes, from `base` on. No span of a lower index was
    /// seen.
    pub(crate) workers: Vec<Worker>,
    /// The index of the first of `workers`.
    base: usize,
    pub(crate) sums: Sums,
    pub(crate) names: Names,
    /// Spans of workers beyond [`MAX_WORKERS`].
    pub(crate) folded: u64,
    /// Spans whose end is before their start. They count nowhere else.
    pub(crate) reversed: u64,
    /// Time in which a worker could run and did not: inside tasks, and between them.
    pub(crate) preempted_in_tasks: u64,
    pub(crate) preempted_in_gaps: u64,
    /// Time in gaps that may have been a task's.
    pub(crate) unknown: u64,
    /// What an observer says beside the spans. The accumulators of its workers have none: a worker
    /// is to hold less than 16 KiB.
    observed: Option<Box<Observed>>,
    /// Lengths of the gaps in which the worker waited, as the runtime told. `None` if it does not
    /// tell.
    pub(crate) told_waits: Option<Box<Histogram>>,
    /// When tasks were ready and not started. `None` until a ready time comes.
    pub(crate) waits: Option<Box<Waits>>,
    /// Whether the source asks for run delay. If so, a sum of 0 means that there was none.
    pub(crate) delay_known: bool,
}

/// The sums of the settled spans of all workers.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    pub durations: Histogram,
    pub gaps: Histogram,
    pub grid: Grid,
    pub edges: Edges,
    pub top: Top,
    pub late: u64,
    candidates: Candidates,
    /// Open spans that lie deep in others.
    deep: usize,
}

/// The most open spans that lie deep in others, over all workers: 40 bytes each.
const MOST_DEEP: usize = 100_000;

/// Receives what one worker settles and adds it to the sums.
struct Of<'a> {
    sums: &'a mut Sums,
    names: &'a mut Names,
    worker: u32,
    /// The name of the span that is being taken in, for which [`PRESENT`] stands.
    name: &'a [u8],
}

impl Of<'_> {
    /// Who runs a span. A name is not hashed before it is wanted.
    fn who(worker: u32, name: &[u8], known: u32) -> Who {
        Who::new(if known == PRESENT { mark(name) } else { known }, worker)
    }
}

impl Settled for Of<'_> {
    #[inline(always)]
    fn outermost(&mut self, start: i64, end: i64, piece: Option<u64>, mark: u32) {
        let Of { sums, worker, name, .. } = self;
        sums.grid.busy(start, end, piece.unwrap_or(0), || Of::who(*worker, name, mark));
    }

    fn piece(&mut self, start: i64, end: i64, mark: u32) {
        let Of { sums, worker, name, .. } = self;
        sums.grid.piece(start, end, || Of::who(*worker, name, mark));
    }

    fn first(&mut self, start: i64) {
        let worker = self.worker;
        self.sums.edges.add(Edge { at: start, pause: ENDLESS, worker, begins: true });
    }

    #[inline]
    fn gap(&mut self, start: i64, end: i64) {
        self.sums.gaps.add((end - start) as u64);
        self.sums.grid.gap(start, end);
        self.sums.edges.pause(start, end, self.worker);
    }

    #[inline]
    fn known(&mut self, kept: u16, leaf: bool) {
        if kept == NOTHING {
            return;
        }
        let long = self.sums.candidates.take(kept);
        if leaf {
            self.sums.top.admit(long);
        }
    }

    fn divide(&mut self, mark: u32, inside: u64, off_cpu: u64) {
        if mark != 0 && inside | off_cpu > 0 {
            self.names.divide(mark, inside, off_cpu);
        }
    }

    #[cold]
    fn late(&mut self) {
        self.sums.late += 1;
    }

    fn order(&self, kept: u16, other: u16) -> Ordering {
        let name = |kept: u16| self.sums.candidates.get(kept).map(|long| long.name);
        name(kept).cmp(&name(other))
    }

    fn deeper(&mut self, opened: bool) -> bool {
        let deep = &mut self.sums.deep;
        let room = *deep < MOST_DEEP;
        *deep = if opened { *deep + usize::from(room) } else { *deep - 1 };
        room
    }
}

/// Times beyond this are moved to it. Readers of files leave them out.
const FAR: i64 = FARTHEST_NS;

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
        let cpu = span.cpu_ns.unwrap_or(NOT_TOLD);
        if cpu.wrapping_add(1) > WAITS {
            return self.wait(index, (start, end), cpu, span.name);
        }
        self.sums.durations.add(duration);
        let mark = self.names.add(span.name, duration);
        let may_be_long = self.sums.top.may_admit(start, duration);
        let kept = if may_be_long { self.keep(span, start, duration) } else { NOTHING };
        let (slot, worker) = (self.slot(index), index as u32);
        let out = &mut Of { sums: &mut self.sums, names: &mut self.names, worker, name: b"" };
        self.workers[slot].span(start, end, level, Facts { kept, mark, cpu }, out);
        if let Some(ready) = span.ready_ns {
            self.ready(ready, start);
        }
    }

    #[inline(never)]
    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        let points = self.config.points;
        let waits = self.waits.get_or_insert_with(|| Box::new(Waits::new(points)));
        waits.add(ready_ns.clamp(-FAR, FAR), start_ns.clamp(-FAR, FAR));
    }
}

impl Accumulator {
    pub fn new(config: Config) -> Self {
        Accumulator {
            config,
            workers: Vec::new(),
            base: 0,
            sums: Sums {
                durations: Histogram::default(),
                gaps: Histogram::default(),
                grid: Grid::new(config.points),
                edges: Edges::new(config.edges),
                top: Top::new(config.longest),
                late: 0,
                candidates: Candidates::default(),
                deep: 0,
            },
            names: Names::new(config.names),
            folded: 0,
            reversed: 0,
            preempted_in_tasks: 0,
            preempted_in_gaps: 0,
            unknown: 0,
            observed: None,
            told_waits: None,
            waits: None,
            delay_known: false,
        }
    }

    /// Takes in a span that contains no others, lies in none, and is behind all spans of its worker
    /// so far. A live observer knows this without waiting for what comes. It costs a third of
    /// [`SpanSink::span`]. A span that is not behind the others counts like any span of level 0.
    #[inline]
    pub fn leaf(&mut self, worker: u32, start_ns: i64, end_ns: i64, name: &[u8]) {
        let slot = self.slot((worker as usize).min(MAX_WORKERS));
        let out = &mut Of { sums: &mut self.sums, names: &mut self.names, worker, name };
        if (worker as usize) < MAX_WORKERS
            && -FAR < start_ns
            && start_ns <= end_ns
            && end_ns < FAR
            && self.workers[slot].outermost(start_ns, end_ns, true, out)
        {
            let duration = (end_ns - start_ns) as u64;
            self.sums.durations.add(duration);
            self.names.add(name, duration);
            self.sums.top.add(worker, start_ns, duration, name);
            return;
        }
        let depth = Depth::Level(0);
        self.span(&Span { worker, start_ns, end_ns, name, depth, ..Span::default() });
    }

    /// Takes in the place of a span, like [`Accumulator::leaf`], and does not count its duration
    /// and its name. The part before the worker's last end is cut off.
    pub(crate) fn place(&mut self, worker: u32, start_ns: i64, end_ns: i64, name: &[u8]) {
        let slot = self.slot((worker as usize).min(MAX_WORKERS));
        let state = &mut self.workers[slot];
        let start = start_ns.clamp(-FAR, FAR).max(state.settled().unwrap_or(-FAR));
        let end = end_ns.clamp(start, FAR.max(start));
        let out = &mut Of { sums: &mut self.sums, names: &mut self.names, worker, name };
        state.outermost(start, end, true, out);
    }

    /// Takes in a span whose place is known. `level` others hold it, all of which come later. If it
    /// is no `leaf` it holds others, all of which came before. No search for its parent is needed,
    /// at any depth and with any number of children.
    pub fn known(&mut self, span: &Span<'_>, level: u16, leaf: bool) {
        let (start, end) = (span.start_ns.clamp(-FAR, FAR), span.end_ns.clamp(-FAR, FAR));
        if let Some(ready) = span.ready_ns
            && start <= end
        {
            self.ready(ready, start);
        }
        if level == 0 && leaf {
            return self.leaf(span.worker, start, end, span.name);
        }
        if end < start {
            self.reversed += 1;
            return;
        }
        let index = (span.worker as usize).min(MAX_WORKERS);
        let (slot, worker) = (self.slot(index), index as u32);
        let duration = (end - start) as u64;
        let state = &mut self.workers[slot];
        let inside = if leaf { 0 } else { state.children(level) };
        let out = &mut Of { sums: &mut self.sums, names: &mut self.names, worker, name: span.name };
        if level > 0 {
            state.inner(start, end, level, leaf, out);
        } else if !state.outermost(start, end, leaf, out) {
            return self.span(&Span { depth: Depth::Level(0), ready_ns: None, ..*span });
        }
        self.sums.durations.add(duration);
        let mark = self.names.add(span.name, duration);
        if inside > 0 && mark != 0 {
            self.names.divide(mark, inside, 0);
        }
        if leaf {
            self.sums.top.add(span.worker, start, duration, span.name);
        }
    }

    /// Takes in a call that does nothing but wait. One for something to do is no task.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, index: usize, (start, end): (i64, i64), cpu: u64, name: &[u8]) {
        let mut mark = 0;
        if cpu == WAITS {
            self.sums.durations.add((end - start) as u64);
            mark = self.names.add(name, (end - start) as u64);
        }
        let slot = self.slot(index);
        let facts = Facts { kept: NOTHING, mark, cpu };
        let out = &mut Of { sums: &mut self.sums, names: &mut self.names, worker: index as u32, name: b"" };
        self.workers[slot].wait(start, end, facts, out);
    }

    /// The state of a worker, the sums and the names; `None` if the worker was never seen.
    #[inline]
    pub(crate) fn parts(&mut self, worker: u32) -> Option<(&mut Worker, &mut Sums, &mut Names)> {
        let state = self.workers.get_mut((worker as usize).wrapping_sub(self.base))?;
        Some((state, &mut self.sums, &mut self.names))
    }

    /// The position of a worker's state, which is made where there is none. An observer of worker
    /// 63 alone holds one state, not 64.
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

    /// Adds time in which a worker was runnable and the machine ran something else. A live observer
    /// reads it from the kernel. Such time belongs to a task that was counted (`in_task`) or to a
    /// gap between two. A call with 0 says that there was none.
    pub fn preempted(&mut self, in_task: bool, ns: u64) {
        self.delay_known = true;
        let sum = if in_task { &mut self.preempted_in_tasks } else { &mut self.preempted_in_gaps };
        *sum = sum.saturating_add(ns);
    }

    /// Adds what is known of the CPU time of a leaf that is counted otherwise: it took `length` ns,
    /// for `cpu` of which at most its thread ran. A live observer asks the kernel. O(1) expected.
    pub fn ran(&mut self, worker: u32, name: &[u8], length: u64, cpu: u64) {
        let slot = self.slot((worker as usize).min(MAX_WORKERS));
        let Some(worker) = self.workers.get_mut(slot) else { return };
        let off = worker.off_cpu[0].add(length, cpu);
        if off > 0 && !name.is_empty() {
            self.names.off_cpu(name, off);
        }
    }

    /// Says what observing costs the observed program: so many nanoseconds of each gap before a
    /// timed task, where all tasks but so many were timed, and `asked_ns` of all gaps together for
    /// what the kernel is asked. It is no scheduling cost.
    pub fn observed(&mut self, of_gap_ns: u64, untimed: u64, asked_ns: u64) {
        let observed = self.observed.get_or_insert_default();
        observed.of_gap_ns = of_gap_ns;
        observed.untimed = untimed;
        observed.asked_ns = asked_ns;
    }

    /// Says that some tasks lay too deep in others to be counted: what parents took outside of
    /// their children is not known.
    pub fn too_deep(&mut self) {
        self.observed.get_or_insert_default().too_deep = true;
    }

    /// Says which share of the CPUs that it may use the program uses, 0 to 1, and how many these
    /// are. Where there are more workers, what is left bounds what running more at once can gain.
    pub fn cpus_used(&mut self, share: f64, cpus: u64) {
        self.observed.get_or_insert_default().cpus_used = Some((share.clamp(0.0, 1.0), cpus));
    }

    /// What an observer said beside the spans.
    pub(crate) fn what_was_observed(&self) -> Observed {
        self.observed.as_deref().copied().unwrap_or_default()
    }

    /// Says that the runtime tells when workers wait, so that any other time between tasks is its
    /// own.
    pub fn all_waits_are_told(&mut self) {
        self.told_waits.get_or_insert_default();
    }

    /// Adds a gap of `ns` nanoseconds in which the runtime told that the worker waited.
    pub fn told_wait(&mut self, ns: u64) {
        self.told_waits.get_or_insert_default().add(ns);
    }

    /// Adds time that was counted as a gap and may have been a task's.
    pub fn unknown(&mut self, ns: u64) {
        self.unknown = self.unknown.saturating_add(ns);
    }

    /// Keeps who a span is until it is known whether it contains others.
    #[cold]
    fn keep(&mut self, span: &Span<'_>, start: i64, duration: u64) -> u16 {
        let name = ShortName::of(span.name);
        self.sums.candidates.keep(Long { duration, start, worker: span.worker, name }).unwrap_or(NOTHING)
    }

    /// The number of spans that came after their turn. Figures about gaps and nesting are wrong
    /// unless it is 0: sort the spans of each worker by start, parents first, and begin anew.
    pub fn late(&self) -> u64 {
        self.sums.late
    }

    /// The number of spans counted.
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| worker.tasks).sum()
    }

    /// The memory in bytes, with at least one worker. Only workers and open spans add to it.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.workers.capacity().max(1) * size_of::<Worker>()
            + self.workers.iter().map(Worker::bytes).sum::<usize>()
            + self.sums.candidates.bytes()
            + self.sums.grid.bytes()
            + self.sums.edges.bytes()
            + self.waits.as_ref().map_or(0, |waits| waits.bytes())
            + self.told_waits.as_ref().map_or(0, |told| size_of_val(&**told))
            + self.sums.top.bytes()
            + self.names.bytes()
    }

    /// Settles the spans that were kept back to see whether they are nested.
    pub(crate) fn settle(&mut self) {
        for (slot, worker) in self.workers.iter_mut().enumerate() {
            let index = (self.base + slot) as u32;
            let (sums, names) = (&mut self.sums, &mut self.names);
            worker.settle(&mut Of { sums, names, worker: index, name: b"" });
        }
    }

    /// Adds what another accumulator saw. The same index means the same worker, and both take their
    /// times from one clock.
    ///
    /// The operation is associative and commutative. For names this holds only while no more
    /// distinct ones came than fit; beyond that they keep their stated error. The gap between what
    /// a worker did in one and in the other is not known and counts as idle time.
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
        self.sums.late += other.sums.late;
        self.sums.durations.merge(&other.sums.durations);
        self.sums.gaps.merge(&other.sums.gaps);
        self.sums.grid.merge(&other.sums.grid);
        self.sums.edges.merge(&other.sums.edges);
        self.sums.top.merge(&other.sums.top);
        self.names.merge(&other.names);
        self.folded += other.folded;
        self.reversed += other.reversed;
        self.delay_known |= other.delay_known;
        self.preempted_in_tasks = self.preempted_in_tasks.saturating_add(other.preempted_in_tasks);
        self.preempted_in_gaps = self.preempted_in_gaps.saturating_add(other.preempted_in_gaps);
        self.unknown(other.unknown);
        if let Some(told) = &other.told_waits {
            self.told_waits.get_or_insert_default().merge(told);
        }
        if let Some(observed) = &other.observed {
            self.observed.get_or_insert_default().merge(observed);
        }
        if let Some(waits) = &other.waits {
            self.waits(waits);
        }
    }

    /// Adds waits that a source keeps apart from its spans, on the same clock.
    pub fn waits(&mut self, waits: &Waits) {
        match &mut self.waits {
            Some(mine) => mine.merge(waits),
            mine @ None => *mine = Some(Box::new(waits.clone())),
        }
    }

    /// Time inside outermost spans of all workers, in nanoseconds. An integer is the same in any
    /// order of workers.
    pub(crate) fn busy(&self) -> u128 {
        self.active().map(|(_, worker)| u128::from(worker.busy)).sum()
    }

    /// The workers that ran, with their indexes. A worker of which only spans inside another are
    /// known, since a clearing cut that one, has no time of its own and is left out.
    pub(crate) fn active(&self) -> impl Iterator<Item = (u32, &Worker)> {
        self.workers
            .iter()
            .enumerate()
            .filter(|(_, worker)| worker.tasks > 0 && worker.first <= worker.last)
            .map(|(slot, worker)| ((self.base + slot) as u32, worker))
    }
}
