//! What a worker's buffer is emptied into.

use taskscale_digest::{Accumulator, Config, Estimate, NUMBERS, Sample, Scale};
use taskscale_model::span::{Depth, Span};
use taskscale_sys::ticks::Rate;

use crate::{clock::Clock, regime::Regime, worker::ENTRIES};

/// Names that a buffer can hold; number 0 is none.
const NAMES: usize = NUMBERS - 1;

/// Names by their numbers from 1 on; 0 is no name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Lengths and bytes, one name behind the other.
    known: Vec<(u8, [u8; 48])>,
}

impl Names {
    /// The number of a name, given where it has none; `None` where there is no place.
    pub fn number(&mut self, name: &[u8]) -> Option<u32> {
        let name = &name[..name.len().min(48)];
        if let Some(at) = self.known.iter().position(|(length, bytes)| bytes[..usize::from(*length)] == *name)
        {
            return Some(at as u32 + 1);
        }
        if self.known.len() == NAMES {
            return None;
        }
        let mut bytes = [0; 48];
        bytes[..name.len()].copy_from_slice(name);
        self.known.push((name.len() as u8, bytes));
        Some(self.known.len() as u32)
    }

    /// Memory on the heap.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<(u8, [u8; 48])>()
    }

    fn name(&self, number: u32) -> &[u8] {
        let known = (number as usize).checked_sub(1).and_then(|at| self.known.get(at));
        known.map_or(&[], |(length, bytes)| &bytes[..usize::from(*length)])
    }
}

/// The name of a task that was long and not timed; that of the one timed behind it would be a guess.
const LONG: &[u8] = b"(long, not timed: see exact)";
/// CPU time in a window from which it was a task's. A worker of Taskflow that looks in vain for tasks spins for 20 us in all
/// before it is parked (measured, 1 to 4 workers).
const SPIN_NS: u64 = 100_000;

/// One entry of a worker's buffer, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Begin and end in ticks.
    pub begin: u64,
    pub end: u64,
    /// Number of its name; 0 is none.
    pub number: u32,
    /// Others that hold it.
    pub depth: u16,
    /// Whether it holds no other.
    pub leaf: bool,
    /// Outermost tasks before it that were not timed.
    pub untimed: u32,
    /// No task, but the end of those that were not timed.
    pub closes: bool,
}

impl Entry {
    fn is_simple(&self) -> bool {
        self.depth == 0 && self.leaf && !self.closes
    }
}

/// Tasks of the sampled regime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampled {
    /// That were timed, each behind some that were not.
    pub timed: u64,
    /// That were not.
    pub untimed: u64,
}

/// The CPU time of a worker's thread at a tick.
#[derive(Debug, Clone, Copy)]
struct Burnt {
    thread: u32,
    cpu_ns: u64,
    tick: u64,
}

/// The sums of one worker.
#[derive(Debug, Clone)]
pub struct State {
    pub accumulator: Accumulator,
    pub names: Names,
    clock: Clock,
    rate: Rate,
    /// Spans that began before this are forgotten; also the origin of times.
    pub since: u64,
    /// Spans that were open when all was cleared, ends without a begin, spans below too many others.
    pub cut: u64,
    pub stray: u64,
    pub deep: u64,
    pub regime: Regime,
    pub sampled: Sampled,
    /// End of the last outermost span counted.
    last: u64,
    /// Tasks without a time before the clearing, which the next one with a time brings along.
    forgotten: u32,
    /// What the last batch said of tasks without a time.
    pub estimate: Estimate,
    /// Name of the last outermost task with a time.
    latest: u32,
    /// Where the sampled regime began, or the last buffer in it.
    burnt: Option<Burnt>,
}

impl State {
    pub fn new(exact: bool, clock: Clock) -> Self {
        let rate = clock.rate();
        State {
            accumulator: Accumulator::new(Config::observer()),
            names: Names::default(),
            clock,
            rate,
            since: 0,
            cut: 0,
            stray: 0,
            deep: 0,
            regime: Regime::new(exact),
            sampled: Sampled::default(),
            last: 0,
            forgotten: 0,
            estimate: Estimate::default(),
            latest: 0,
            burnt: None,
        }
    }

    /// Counts the entries of a buffer.
    pub fn entries(&mut self, worker: u32, entries: impl Iterator<Item = Entry> + Clone) {
        if entries.clone().any(|entry| entry.untimed > 0) {
            self.sampled(worker, entries);
        } else {
            self.exact(worker, entries);
        }
    }

    /// Counts entries of which none stands for others.
    fn exact(&mut self, worker: u32, mut entries: impl Iterator<Item = Entry>) {
        let (scale, since) = (self.scale(), self.since);
        loop {
            // Outermost leaves, which nearly all are, go in one batch; the first other one ends it.
            let mut other = None;
            let State { accumulator, names, last, latest, .. } = self;
            let leaves = std::iter::from_fn(|| {
                let entry = entries.next()?;
                if entry.begin < since || entry.end < entry.begin || !entry.is_simple() {
                    other = Some(entry);
                    return None;
                }
                (*last, *latest) = (entry.end, entry.number);
                Some((entry.begin, entry.end, entry.number))
            });
            accumulator.leaves(worker, leaves, scale, |number| names.name(number));
            let Some(entry) = other else { return };
            self.one(worker, &entry);
        }
    }

    /// Counts entries of which some stand for others.
    fn sampled(&mut self, worker: u32, entries: impl Iterator<Item = Entry>) {
        let mut batch = [Sample::default(); ENTRIES];
        let mut length = 0;
        let mut last = self.last;
        for entry in entries {
            let Entry { begin, end, number, untimed, .. } = entry;
            if entry.is_simple()
                && begin >= self.since
                && end >= begin
                && last >= self.since
                && length < ENTRIES
            {
                batch[length] = Sample { begin, end, number, untimed };
                length += 1;
                last = end;
                continue;
            }
            self.samples(worker, &batch[..length]);
            self.one(worker, &entry);
            (length, last) = (0, self.last);
        }
        self.samples(worker, &batch[..length]);
    }

    /// Counts outermost leaves and what they stand for.
    fn samples(&mut self, worker: u32, samples: &[Sample]) {
        let Some(last) = samples.last() else { return };
        let odd = self.estimate.learn(samples, self.last);
        self.unknown(self.rate.ns(odd));
        let (scale, names) = (self.scale(), &self.names);
        self.accumulator
            .samples(worker, samples, self.last, &self.estimate, scale, |number| names.name(number));
        (self.last, self.latest) = (last.end, last.number);
        for sample in samples.iter().filter(|sample| sample.untimed > 0) {
            self.sampled.timed += 1;
            self.sampled.untimed += u64::from(sample.untimed);
        }
    }

    /// Counts any entry by itself.
    fn one(&mut self, worker: u32, entry: &Entry) {
        let Entry { begin, end, .. } = *entry;
        if entry.untimed > 0 {
            let (_, rest) = self.window(worker, begin, entry.untimed, 0);
            let odd = self.estimate.is_odd_rest(self.rate.ticks(rest));
            self.unknown(if odd { rest } else { 0 });
        }
        if entry.depth == 0 {
            self.last = end;
        }
        if entry.closes {
            return;
        }
        if begin < self.since || end < begin {
            // What ended before the clearing was cleared; what was open then is cut.
            self.cut += u64::from(end >= self.since);
            return;
        }
        let (name, depth) = (self.names.name(entry.number), Depth::Level(entry.depth));
        let (start_ns, end_ns) = (self.scale().ns(begin), self.scale().ns(end));
        self.accumulator.known(&Span { worker, start_ns, end_ns, name, depth }, entry.depth, entry.leaf);
    }

    /// Counts tasks without a time between the last outermost span and `until`: as long as the last ones known, one after the other
    /// from the begin on, with the usual gaps. Where `long` is not 0 the last one of them took so many nanoseconds. Returns
    /// the tick at which that one ended, and the nanoseconds that are left.
    pub fn window(&mut self, worker: u32, until: u64, tasks: u32, long: u64) -> (u64, u64) {
        // Of a window that was cut by a clearing, what came before it is forgotten.
        let tasks = match (until < self.since, self.last < self.since) {
            (true, _) => 0,
            (false, true) => tasks.saturating_sub(std::mem::take(&mut self.forgotten)),
            (false, false) => tasks,
        };
        let (scale, from) = (self.scale(), self.last.max(self.since));
        if tasks == 0 {
            return (from, 0);
        }
        let (from_ns, until_ns) = (scale.ns(from), scale.ns(until.max(from)));
        let (task, gap) = (scale.length(self.estimate.task), scale.length(self.estimate.gap));
        let (short, name) = (u64::from(tasks) - u64::from(long > 0), self.names.name(self.latest));
        let room = (until_ns - from_ns) as f64 - short as f64 * (task + gap);
        let long = long.min(room.max(0.0) as u64);
        let mut end =
            self.accumulator.lay_out(worker, from_ns, until_ns - long as i64, short, task, gap, name);
        if long > 0 {
            self.accumulator.leaf(worker, end, end + long as i64, LONG);
            end += long as i64;
        }
        self.sampled.untimed += u64::from(tasks);
        let rest = (until_ns - end).max(0) as u64;
        (self.since + self.rate.ticks(end.max(0) as u64), rest)
    }

    /// Counts tasks without a time, as [`State::window`], in a long time up to `now`, and all up to there.
    /// `waited_ns` of it the worker waited for a processor.
    pub fn long_window(&mut self, worker: u32, now: u64, tasks: u32, long: u64, waited_ns: u64) {
        let (_, rest) = self.window(worker, now, tasks, long);
        if long == 0 {
            self.unknown(rest.saturating_sub(waited_ns));
        }
        self.last = now;
    }

    /// So many nanoseconds of a gap were a task's, or a pause.
    fn unknown(&mut self, ns: u64) {
        if ns > 0 {
            self.accumulator.unknown(ns);
            self.regime.unknown(ns);
        }
    }

    /// Whether the clearing forgot more than the `untimed` tasks that have ended since the last one with a time: one that was open.
    pub fn forgets(&self, untimed: u32) -> bool {
        self.last < self.since && self.forgotten > untimed
    }

    /// The begin of an open task of which it is now known that it is timed, `untimed` behind the last one with a time: `now`, or before
    /// the clearing, where the clearing cut it; then its end will say so once more.
    pub fn begin_known(&mut self, now: u64, untimed: u32) -> u64 {
        if !self.forgets(untimed) {
            return now;
        }
        self.cut = self.cut.saturating_sub(1);
        self.since.saturating_sub(1)
    }

    /// The CPU time that the worker's thread has used since the last outermost span counted, where that is so much that a task
    /// must have used it; 0 otherwise. Until that span it is taken to have been on a processor all the time.
    pub fn burnt_since_last(&self) -> u64 {
        let Some(then) = self.burnt else { return 0 };
        let cpu = self.clock.cpu_ns(then.thread).unwrap_or(0).saturating_sub(then.cpu_ns);
        let burnt = cpu.saturating_sub(self.rate.ns(self.last.saturating_sub(then.tick)));
        if burnt < SPIN_NS { 0 } else { burnt }
    }

    /// Takes note of the CPU time that the calling thread, the worker's, has used until the last span counted.
    pub fn note_cpu(&mut self) {
        let tick = self.last;
        let of = |thread| Some(Burnt { thread, cpu_ns: self.clock.cpu_ns(thread)?, tick });
        self.burnt = self.clock.thread().and_then(of);
    }

    /// Another thread is the worker from now on.
    pub fn forget_cpu(&mut self) {
        self.burnt = None;
    }

    /// Gives all numbers of names anew.
    pub fn rename(&mut self) {
        self.names = Names::default();
        self.latest = 0;
    }

    /// From ticks to nanoseconds since the last clearing.
    pub fn scale(&self) -> Scale {
        Scale { origin: self.since, ns_per_4g: self.rate.ns_per_4g() }
    }

    /// Counts time for which the worker waited for a processor, up to `now`.
    pub fn preempted(&mut self, in_task: bool, ns: u64, now: u64) {
        if now >= self.since {
            self.accumulator.preempted(in_task, ns);
        }
    }

    /// Forgets all; also so many tasks that the next timed one will bring along.
    pub fn clear(&mut self, now: u64, untimed: u32) {
        self.accumulator = Accumulator::new(Config::observer());
        self.since = now;
        self.forgotten = untimed;
        self.sampled = Sampled::default();
        (self.cut, self.stray, self.deep) = (0, 0, 0);
    }
}
