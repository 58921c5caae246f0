//! One worker: which of its spans are outermost, how long it was busy, and where its gaps are.
//!
//! One short stack serves spans sorted by start and spans sorted by end. It holds the latest
//! outermost spans, and the spans that are still open inside the newest. A span that contains the
//! newest ones absorbs them (sorted by end). A span inside the newest becomes its child (sorted by
//! start). An outermost span is settled when it leaves the stack.

/// The number of spans that are kept back until it is known whether another one contains them.
const FRAMES: usize = 16;

/// A span that is kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame {
    pub start: i64,
    pub end: i64,
    /// Whether no span was found inside it.
    leaf: bool,
    /// Whether it is known to lie inside another span.
    nested: bool,
    /// The number of levels below it.
    height: u16,
}

/// Receives what a worker settles.
pub trait Settled {
    /// Takes an outermost span. A `leaf` contains no others.
    fn outermost(&mut self, start: i64, end: i64, leaf: bool);
    /// Takes a gap between two consecutive outermost spans.
    fn gap(&mut self, start: i64, end: i64);
    /// Takes a span that was thought a leaf and contains others after all.
    fn parent(&mut self, start: i64, end: i64);
}

/// The state of one worker: about 500 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The number of spans at any depth.
    pub tasks: u64,
    /// Time inside outermost spans, in nanoseconds.
    pub busy: u64,
    /// Time inside spans that contain no others, in nanoseconds.
    pub leaf: u64,
    /// The number of spans inside others.
    pub nested: u64,
    /// The number of gaps between consecutive outermost spans.
    pub gaps: u64,
    /// The deepest level.
    pub depth: u16,
    /// The first start.
    pub first: i64,
    /// The last end.
    pub last: i64,
    /// Spans that overlap another without containing it or lying in it.
    pub overlapping: u64,
    /// Spans that came long after their time: sorted neither by start nor by end.
    pub late: u64,
    /// Spans that contain more than could be kept back, or nested ones whose parent was not near.
    pub unplaced: u64,
    frames: [Frame; FRAMES],
    length: u8,
    /// The end of the last outermost span that was settled in this stretch; `NEVER` if there was
    /// none.
    settled: i64,
}

/// A time before those of all spans.
const NEVER: i64 = i64::MIN;

impl Default for Worker {
    fn default() -> Self {
        Worker {
            tasks: 0,
            busy: 0,
            leaf: 0,
            nested: 0,
            gaps: 0,
            depth: 0,
            first: i64::MAX,
            last: i64::MIN,
            overlapping: 0,
            late: 0,
            unplaced: 0,
            frames: [Frame::default(); FRAMES],
            length: 0,
            settled: NEVER,
        }
    }
}

impl Worker {
    fn top(&mut self) -> Option<&mut Frame> {
        self.length.checked_sub(1).map(|top| &mut self.frames[usize::from(top)])
    }

    /// Takes a span in. `level` is its depth if the source tells it. Returns whether it contains
    /// none of the spans that came before. O(spans that it absorbs), amortised O(1).
    #[inline]
    pub fn span(&mut self, start: i64, end: i64, level: Option<u16>, out: &mut impl Settled) -> bool {
        let length = usize::from(self.length);
        // Nearly all spans are behind the newest one. Nothing contains such a span yet, and it
        // contains nothing, so it waits its turn.
        if (1..FRAMES).contains(&length)
            && level.is_none_or(|level| level == 0)
            && let newest = &self.frames[length - 1]
            && !newest.nested
            && newest.end <= start
            && newest.start < start
            && newest.end < end
            && self.settled <= start
        {
            self.frames[length] = Frame { start, end, leaf: true, nested: false, height: 0 };
            self.length += 1;
            self.tasks += 1;
            self.last = self.last.max(end);
            self.leaf = self.leaf.saturating_add((end - start) as u64);
            return true;
        }
        self.any_span(start, end, level, out)
    }

    /// Takes in a span that lies in no other and is behind all others that lie in none. A live
    /// observer knows this, and the span need not wait in the stack. If it is not behind the
    /// others, nothing is done and the result is `false`.
    #[inline]
    pub fn outermost(&mut self, start: i64, end: i64, leaf: bool, out: &mut impl Settled) -> bool {
        if self.length > 0 {
            self.settle_stack(out);
        }
        if start < self.settled {
            return false;
        }
        self.tasks += 1;
        if leaf {
            self.leaf = self.leaf.saturating_add((end - start) as u64);
        }
        if self.settled == NEVER {
            self.first = self.first.min(start);
        } else {
            self.gaps += 1;
            out.gap(self.settled, start);
        }
        self.busy = self.busy.saturating_add((end - start) as u64);
        out.outermost(start, end, leaf);
        self.last = self.last.max(end);
        self.settled = end;
        true
    }

    /// Takes in a span that lies in others, which come later. `level` is at least 1.
    pub fn inner(&mut self, duration: u64, level: u16, leaf: bool) {
        self.tasks += 1;
        self.nested += 1;
        self.depth = self.depth.max(level);
        if leaf {
            self.leaf = self.leaf.saturating_add(duration);
        }
    }

    /// The end of the last span if nothing is kept back. `None` if something is, or if there was no
    /// span.
    #[inline]
    pub fn settled(&self) -> Option<i64> {
        (self.length == 0 && self.settled != NEVER).then_some(self.settled)
    }

    /// Takes in `tasks` leaves at once, as [`Worker::outermost`] does one, without handing anything
    /// on. They took `busy` nanoseconds and each had a gap before it. The last one ended at
    /// `settled`.
    pub fn simple_leaves(&mut self, tasks: u64, busy: u64, settled: i64) {
        self.tasks += tasks;
        self.gaps += tasks;
        self.busy = self.busy.saturating_add(busy);
        self.leaf = self.leaf.saturating_add(busy);
        self.last = self.last.max(settled);
        self.settled = settled;
    }

    /// Takes a span in as [`Worker::span`] does, wherever it lies.
    fn any_span(&mut self, start: i64, end: i64, level: Option<u16>, out: &mut impl Settled) -> bool {
        self.tasks += 1;
        self.first = self.first.min(start);
        self.last = self.last.max(end);
        let duration = (end - start) as u64;
        let mut frame =
            Frame { start, end, leaf: true, nested: level.is_some_and(|level| level > 0), height: 0 };
        // Children that have ended can have no more children. Their parent is below them on the
        // stack.
        while let Some(top) = self.top()
            && top.nested
            && top.end <= start
            && self.length > 1
        {
            self.drop_nested_top();
        }
        if frame.nested {
            self.nested += 1;
            self.depth = self.depth.max(level.unwrap_or(1));
        }
        // Sorted by start: the span lies inside the newest.
        if let Some(top) = self.top()
            && top.start <= start
            && end <= top.end
            && level != Some(0)
        {
            if top.leaf {
                top.leaf = false;
                let (start, end) = (top.start, top.end);
                self.leaf = self.leaf.saturating_sub((end - start) as u64);
                out.parent(start, end);
            }
            self.leaf = self.leaf.saturating_add(duration);
            if !frame.nested {
                frame.nested = true;
                self.nested += 1;
            }
            let depth =
                self.frames[..usize::from(self.length)].iter().rev().take_while(|frame| frame.nested).count();
            self.depth = self.depth.max(depth as u16 + 1);
            if usize::from(self.length) < FRAMES {
                self.frames[usize::from(self.length)] = frame;
                self.length += 1;
            }
            return true;
        }
        // Sorted by end: the span lies around the newest ones.
        while let Some(top) = self.top()
            && start <= top.start
            && top.end <= end
            && (level != Some(0) || top.nested)
        {
            let child = *top;
            self.length -= 1;
            if !child.nested {
                self.nested += 1;
            }
            frame.leaf = false;
            frame.height = frame.height.max(child.height + 1);
            self.depth = self.depth.max(frame.height);
        }
        if frame.leaf {
            self.leaf = self.leaf.saturating_add(duration);
        }
        self.insert(frame, out);
        frame.leaf
    }

    /// Takes the nested span on top off the stack, because it has ended. Its parent is on the
    /// stack.
    fn drop_nested_top(&mut self) {
        let top = self.frames[usize::from(self.length) - 1];
        let parent = self.frames[usize::from(self.length) - 2];
        if !(parent.start <= top.start && top.end <= parent.end) {
            self.unplaced += 1;
        }
        self.length -= 1;
    }

    fn insert(&mut self, mut frame: Frame, out: &mut impl Settled) {
        let settled = self.settled;
        if frame.start < settled {
            if frame.nested {
                self.unplaced += 1;
                return;
            }
            if frame.end <= settled || frame.leaf {
                // Out of order: its place among the settled spans is lost.
                self.late += 1;
                self.busy = self.busy.saturating_add((frame.end - frame.start) as u64);
                out.outermost(frame.start, frame.end, frame.leaf);
                self.settled = settled.max(frame.end);
                return;
            }
            // It contains more spans than were kept back. Those count already, so only its rest is
            // new.
            self.unplaced += 1;
            frame.start = settled;
        }
        let mut at = usize::from(self.length);
        while at > 0 && self.frames[at - 1].start > frame.start {
            at -= 1;
        }
        let overlaps = (at > 0 && self.frames[at - 1].end > frame.start)
            || (at < usize::from(self.length) && frame.end > self.frames[at].start);
        if overlaps {
            self.overlapping += 1;
        }
        if usize::from(self.length) == FRAMES {
            // Half of the stack is settled at once, because moving the rest down costs more than
            // settling.
            let count = at.clamp(1, FRAMES / 2);
            self.settle_first(count, out);
            at = at.saturating_sub(count);
        }
        self.frames.copy_within(at..usize::from(self.length), at + 1);
        self.frames[at] = frame;
        self.length += 1;
    }

    fn settle_first(&mut self, count: usize, out: &mut impl Settled) {
        for at in 0..count {
            self.settle_frame(self.frames[at], out);
        }
        self.frames.copy_within(count..usize::from(self.length), 0);
        self.length -= count as u8;
    }

    fn settle_frame(&mut self, frame: Frame, out: &mut impl Settled) {
        if frame.nested {
            // It is known to be nested, and no parent came.
            self.unplaced += 1;
            return;
        }
        if self.settled != NEVER && self.settled <= frame.start {
            self.gaps += 1;
            out.gap(self.settled, frame.start);
        }
        let start = self.settled.max(frame.start);
        if start < frame.end {
            self.busy = self.busy.saturating_add((frame.end - start) as u64);
            out.outermost(start, frame.end, frame.leaf);
        }
        self.settled = self.settled.max(frame.end);
    }

    /// Settles everything. What comes next begins a new stretch, with no gap before it. Open
    /// children are settled first.
    pub fn settle(&mut self, out: &mut impl Settled) {
        self.settle_stack(out);
        self.settled = NEVER;
    }

    fn settle_stack(&mut self, out: &mut impl Settled) {
        while self.length > 1 && self.frames[usize::from(self.length) - 1].nested {
            self.drop_nested_top();
        }
        self.settle_first(usize::from(self.length), out);
    }

    /// Adds what another settled worker did.
    pub fn merge(&mut self, other: &Worker) {
        self.tasks += other.tasks;
        self.busy = self.busy.saturating_add(other.busy);
        self.leaf = self.leaf.saturating_add(other.leaf);
        self.nested += other.nested;
        self.gaps += other.gaps;
        self.depth = self.depth.max(other.depth);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.overlapping += other.overlapping;
        self.late += other.late;
        self.unplaced += other.unplaced;
    }
}
