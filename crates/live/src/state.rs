//! What a worker's buffer is emptied into.

use taskscale_digest::{Accumulator, Config, NUMBERS, Scale};
use taskscale_model::span::{Depth, Span};
use taskscale_sys::ticks::Rate;

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

/// The sums of one worker.
#[derive(Debug, Clone)]
pub struct State {
    pub accumulator: Accumulator,
    pub names: Names,
    rate: Rate,
    /// Spans that began before this are forgotten; also the origin of times.
    pub since: u64,
    /// Spans that were open when all was cleared, ends without a begin, spans below too many others.
    pub cut: u64,
    pub stray: u64,
    pub deep: u64,
}

impl State {
    pub fn new() -> Self {
        State {
            accumulator: Accumulator::new(Config::observer()),
            names: Names::default(),
            rate: Rate::of_machine(),
            since: 0,
            cut: 0,
            stray: 0,
            deep: 0,
        }
    }

    /// Counts spans: begin and end in ticks, number of the name, depth, whether it holds no other.
    pub fn spans(&mut self, worker: u32, entries: &mut impl Iterator<Item = (u64, u64, u32, u16, bool)>) {
        let (scale, since) = (self.scale(), self.since);
        let State { accumulator, names, cut, .. } = self;
        loop {
            // Outermost leaves, which nearly all are, go in one batch; the first other one ends it.
            let mut other = None;
            let leaves = std::iter::from_fn(|| {
                let (begin, end, number, depth, leaf) = entries.next()?;
                if begin < since || end < begin || depth > 0 || !leaf {
                    other = Some((begin, end, number, depth, leaf));
                    return None;
                }
                Some((begin, end, number))
            });
            accumulator.leaves(worker, leaves, scale, |number| names.name(number));
            let Some((begin, end, number, level, leaf)) = other else { return };
            if begin < since || end < begin {
                // What ended before the clearing was cleared; what was open then is cut.
                *cut += u64::from(end >= since);
                continue;
            }
            let (name, depth) = (names.name(number), Depth::Level(level));
            let (start_ns, end_ns) = (scale.ns(begin), scale.ns(end));
            accumulator.known(&Span { worker, start_ns, end_ns, name, depth }, level, leaf);
        }
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

    /// Forgets all.
    pub fn clear(&mut self, now: u64) {
        self.accumulator = Accumulator::new(Config::observer());
        self.since = now;
        (self.cut, self.stray, self.deep) = (0, 0, 0);
    }
}
