//! A span, a ready time or an event of a flow as a record of fixed size.

use std::cmp::Ordering;

use taskscale_model::span::{Depth, FlowEvent, FlowPart, Span};

/// Bytes of a record in a file.
pub const BYTES: usize = 32;

/// The level of a span whose source says none.
const UNKNOWN: u16 = u16::MAX;

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The ready time of a span with the same worker, start, end and level, whose record comes
    /// next.
    Ready,
    /// The CPU time of a span, as `Ready`.
    Cpu,
    /// An arrow that ends before the next span of its worker: it comes before those that start
    /// where it ends.
    Before,
    /// A span.
    Span,
    /// An arrow that ends in a span of its worker: it comes behind those that start where it ends.
    In,
    /// When a task became ready that starts at this time; its span is another record.
    Apart,
    /// An event of a flow.
    Flow,
}

const KINDS: [Kind; 7] =
    [Kind::Ready, Kind::Cpu, Kind::Before, Kind::Span, Kind::In, Kind::Apart, Kind::Flow];

/// A span whose name is elsewhere, or a ready time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    start: i64,
    end: i64,
    /// The name's place, as [`super::names`] gives it; the ready or CPU time of a record that says
    /// one.
    pub name: u64,
    worker: u32,
    level: u16,
    pub kind: Kind,
}

impl Record {
    #[inline]
    pub fn of(span: &Span<'_>, name: u64) -> Self {
        let level = match span.depth {
            Depth::Unknown => UNKNOWN,
            Depth::Level(level) => level.min(UNKNOWN - 1),
        };
        let (start, end, worker) = (span.start_ns, span.end_ns, span.worker);
        Record { start, end, name, worker, level, kind: Kind::Span }
    }

    /// The ready time of the span that another record holds.
    pub fn ready_of(span: &Span<'_>, ready_ns: i64) -> Self {
        Record { kind: Kind::Ready, ..Record::of(span, ready_ns as u64) }
    }

    /// The CPU time of the span that another record holds.
    pub fn cpu_of(span: &Span<'_>, cpu_ns: u64) -> Self {
        Record { kind: Kind::Cpu, ..Record::of(span, cpu_ns) }
    }

    /// A ready time apart from its span.
    pub fn apart(ready_ns: i64, start: i64) -> Self {
        Record { start, end: start, name: ready_ns as u64, worker: u32::MAX, level: 0, kind: Kind::Apart }
    }

    /// An arrow to a worker, from one time to another, with this end.
    pub fn arrow(worker: u32, (departure, ts): (i64, i64), part: FlowPart) -> Self {
        // Of equal starts and workers the latest end comes first.
        let (end, kind) =
            if part == FlowPart::Before { (i64::MAX, Kind::Before) } else { (i64::MIN, Kind::In) };
        Record { start: ts, end, name: departure as u64, worker, level: part as u16, kind }
    }

    /// An event of a flow, ordered by flow, then by time.
    pub fn flow(event: &FlowEvent) -> Self {
        // Of equal starts the latest end comes first.
        let (start, end) = (event.flow as i64, !event.ts);
        Record { start, end, name: event.track, worker: 0, level: event.part as u16, kind: Kind::Flow }
    }

    /// The event of a flow, of a record that says one.
    pub fn event(&self) -> FlowEvent {
        FlowEvent { flow: self.start as u64, track: self.name, ts: !self.end, part: self.part() }
    }

    /// What an event of a flow is, or the end of an arrow.
    pub fn part(&self) -> FlowPart {
        use FlowPart::{At, Before, Begin, In, Step};
        [Begin, Step, In, At, Before][usize::from(self.level) % 5]
    }

    pub fn worker(&self) -> u32 {
        self.worker
    }

    /// Start and end.
    pub fn times(&self) -> (i64, i64) {
        (self.start, self.end)
    }

    /// Ready time and start, of a record that says them.
    pub fn ready(&self) -> (i64, i64) {
        (self.name as i64, self.start)
    }

    #[inline]
    pub fn span<'n>(&self, name: &'n [u8]) -> Span<'n> {
        let depth = if self.level == UNKNOWN { Depth::Unknown } else { Depth::Level(self.level) };
        Span { worker: self.worker, start_ns: self.start, end_ns: self.end, name, depth, ..Span::default() }
    }

    /// The start as a number without sign. Sorting by one number takes half the time of comparing
    /// fields.
    #[inline]
    pub fn key(&self) -> u64 {
        self.start as u64 ^ (1 << 63)
    }

    /// Orders records of equal keys: by worker, then longest first, then by level. Ready and CPU
    /// times of equal spans come before them.
    #[inline]
    fn within_key(&self, other: &Record) -> Ordering {
        self.worker
            .cmp(&other.worker)
            .then_with(|| other.end.cmp(&self.end))
            .then_with(|| self.level.cmp(&other.level))
            .then_with(|| self.kind.cmp(&other.kind))
    }

    /// Orders by start, then by worker, then longest first, then by level.
    #[inline]
    pub fn order(&self, other: &Record) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| self.within_key(other))
    }

    /// Sorts records as [`Record::order`] orders them.
    pub fn sort(records: &mut [Record]) {
        records.sort_unstable_by_key(Record::key);
        for equal in records.chunk_by_mut(|a, b| a.key() == b.key()).filter(|equal| equal.len() > 1) {
            equal.sort_unstable_by(Record::within_key);
        }
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.start.to_le_bytes());
        bytes.extend_from_slice(&self.end.to_le_bytes());
        bytes.extend_from_slice(&self.name.to_le_bytes());
        bytes.extend_from_slice(&self.worker.to_le_bytes());
        bytes.extend_from_slice(&(u32::from(self.level) | (self.kind as u32) << 16).to_le_bytes());
    }

    pub fn read(bytes: &[u8; BYTES]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let last = word(24);
        Record {
            start: word(0) as i64,
            end: word(8) as i64,
            name: word(16),
            worker: last as u32,
            level: (last >> 32) as u16,
            kind: KINDS[(last >> 48) as usize % KINDS.len()],
        }
    }
}
