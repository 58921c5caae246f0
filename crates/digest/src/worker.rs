//! One worker: which of its spans are outermost, how long it was busy, and where its gaps are.
//!
//! Spans wait in a short window until they can be taken in the order of their starts, parents
//! before their children. In this order a stack of open spans tells all: a span inside the newest
//! open one is its child, and a span behind it closes it. The order in which spans come therefore
//! changes no figure, as long as the window restores it. A span that comes after its turn is
//! counted as [`late`](Settled::late). A reader then sorts the source and begins anew.

mod idle;
mod off_cpu;

use idle::is_wait;
pub use off_cpu::OffCpu;

/// The number of spans that wait for those that may have begun before them. A parent that is
/// written behind its children finds its place if it has fewer descendants than this.
const WAITING: usize = 16;
/// The room for these at first.
const FEW: usize = 4;
/// Open spans of this many levels are free. Each further one takes a place of
/// [`Settled::deeper`].
const SHALLOW: usize = 4;
/// Spans of one worker that overlap by no more than this do so by rounding. Chrome's unit of time
/// is the microsecond, and start and duration are rounded apart.
const ROUNDING_NS: i64 = 1_000;
/// The level of a span whose source says none.
const UNKNOWN: u16 = u16::MAX;
/// Says that nothing is kept of a span but its times.
pub const NOTHING: u16 = u16::MAX;
/// Stands for the mark of the span that is being taken in. Marks are odd or 0.
pub const PRESENT: u32 = 2;
/// The CPU time of a span whose source says none, or of which a part is not known.
pub const NOT_TOLD: u64 = u64::MAX;

/// A span whose turn has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Waiting {
    start: i64,
    end: i64,
    level: u16,
    /// What [`Settled::known`] is told of it.
    kept: u16,
    /// The mark of its name.
    mark: u32,
    /// Its CPU time, or [`NOT_TOLD`].
    cpu: u64,
}

/// A span that has begun and may hold further ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    start: i64,
    end: i64,
    /// Where its own time goes on: behind its last child.
    own_from: i64,
    level: u16,
    leaf: bool,
    kept: u16,
    mark: u32,
    /// Its CPU time without that of its children so far, or [`NOT_TOLD`].
    cpu: u64,
    /// Its CPU time, or [`NOT_TOLD`].
    all_cpu: u64,
    /// The time of its children so far.
    inside: u64,
}

impl Open {
    fn of(span: Waiting) -> Self {
        let Waiting { start, end, level, kept, mark, cpu } = span;
        let cpu = if cpu == NOT_TOLD { cpu } else { cpu.min((end - start) as u64) };
        Open { start, end, own_from: start, level, leaf: true, kept, mark, cpu, all_cpu: cpu, inside: 0 }
    }

    /// Takes in a child. Where its CPU time is not known, neither is the parent's own.
    fn holds(&mut self, duration: u64, cpu: u64) {
        self.inside = self.inside.saturating_add(duration);
        if self.cpu != NOT_TOLD {
            self.cpu = if cpu == NOT_TOLD { NOT_TOLD } else { self.cpu.saturating_sub(cpu) };
        }
    }
}

/// What is kept of a span beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What [`Settled::known`] is told of it.
    pub kept: u16,
    /// The mark of its name.
    pub mark: u32,
    /// Its CPU time, or [`NOT_TOLD`].
    pub cpu: u64,
}

/// Receives what a worker settles.
pub trait Settled {
    /// Takes an outermost span. `piece` is its duration if it contains no others, and `mark` that
    /// of its name.
    fn outermost(&mut self, start: i64, end: i64, piece: Option<u64>, mark: u32);
    /// Takes a piece of work inside an outermost span: a span without children, or what lies
    /// between two children. `mark` is that of the innermost span's name.
    fn piece(&mut self, start: i64, end: i64, mark: u32);
    /// Takes the start of a worker's first outermost span.
    fn first(&mut self, start: i64);
    /// Takes a gap between two consecutive outermost spans.
    fn gap(&mut self, start: i64, end: i64);
    /// Takes what was kept of a span, perhaps [`NOTHING`]. It contains others unless it is a
    /// `leaf`.
    fn known(&mut self, kept: u16, leaf: bool);
    /// Takes what the duration of a span with a name of this mark consists of: time in its
    /// children, and time of its own in which its thread did not run.
    fn divide(&mut self, mark: u32, inside: u64, off_cpu: u64);
    /// Counts a span that came after its turn.
    fn late(&mut self);
    /// Orders two spans of equal times by what was kept of them.
    fn order(&self, kept: u16, other: u16) -> std::cmp::Ordering;
    /// Gives (`true`) or takes back (`false`) a place for a deep span. The result is whether there
    /// was one.
    fn deeper(&mut self, opened: bool) -> bool;
}

/// The state of one worker: some 200 bytes, 500 for spans that wait, and 64 for each open one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The number of spans at any depth.
    pub tasks: u64,
    /// Time inside outermost spans, in nanoseconds.
    pub busy: u64,
    /// Time inside spans that contain no others, in nanoseconds.
    pub leaf: u64,
    /// The number of spans that contain no others.
    pub leaves: u64,
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
    /// Nested spans without a parent, and those deeper than there was room for.
    pub unplaced: u64,
    /// Whether a call came that does nothing but wait.
    waits: bool,
    /// What CPU times say of spans that contain no others, and of those that do.
    pub off_cpu: [OffCpu; 2],
    /// At most [`WAITING`]. A live observer's worker has none.
    waiting: Vec<Waiting>,
    open: Vec<Open>,
    /// The time of spans of [`Worker::inner`] by level, from 1 on, whose parent is yet to come.
    within: Vec<u64>,
    /// Start and end of the last span whose turn came.
    turn: (i64, i64),
    /// The end of the last outermost span that was settled in this stretch; `NEVER` if there was
    /// none.
    settled: i64,
    /// Where the outermost open span goes on behind the last wait for work in it.
    goes_on: i64,
    /// The end of the last wait that is no part of a task. What lies in it is none either.
    waited: i64,
    pub for_others: u64,
}

/// A time before those of all spans.
const NEVER: i64 = i64::MIN;

impl Default for Worker {
    fn default() -> Self {
        Worker {
            tasks: 0,
            busy: 0,
            leaf: 0,
            leaves: 0,
            nested: 0,
            gaps: 0,
            depth: 0,
            first: i64::MAX,
            last: i64::MIN,
            overlapping: 0,
            unplaced: 0,
            waits: false,
            off_cpu: [OffCpu::default(); 2],
            waiting: Vec::new(),
            open: Vec::new(),
            within: Vec::new(),
            turn: (NEVER, i64::MAX),
            settled: NEVER,
            goes_on: NEVER,
            waited: NEVER,
            for_others: 0,
        }
    }
}

impl Worker {
    /// Takes a span in. `level` is its depth if the source tells it. O(1) in order; O(16) if others
    /// of the window begin later.
    #[inline]
    pub fn span(&mut self, start: i64, end: i64, level: Option<u16>, facts: Facts, out: &mut impl Settled) {
        self.tasks += 1;
        let level = level.map_or(UNKNOWN, |level| level.min(UNKNOWN - 1));
        let Facts { kept, mark, cpu } = facts;
        let span = Waiting { start, end, level, kept, mark, cpu };
        if self.waiting.len() == self.waiting.capacity() {
            self.make_room(out);
        }
        // Nearly all spans begin behind the newest one.
        let newest = self.waiting.last().map_or(self.turn.0, |newest| newest.start);
        if newest < start { self.waiting.push(span) } else { self.insert(span, out) }
    }

    #[inline]
    fn make_room(&mut self, out: &mut impl Settled) {
        // A copy of a worker has no more room than spans. Of many thousands most have few spans.
        if self.waiting.len() < WAITING {
            let room = if self.waiting.is_empty() { FEW } else { WAITING };
            self.waiting.reserve_exact(room.max(self.waiting.len() + 1) - self.waiting.len());
        } else {
            self.take_turns(WAITING / 2, out);
        }
    }

    /// Puts a span among those that wait, by start and then by end, parents first. Of equal spans
    /// the name decides, so that none is the parent by its place in the source.
    fn insert(&mut self, span: Waiting, out: &mut impl Settled) {
        if self.is_late(&span) {
            return self.too_late(span, out);
        }
        let key = |span: &Waiting| (span.start, std::cmp::Reverse(span.end), span.level, span.mark);
        let after = |before: &Waiting| {
            key(before).cmp(&key(&span)).then_with(|| out.order(before.kept, span.kept)).is_gt()
        };
        let behind = self.waiting.iter().rev().take_while(|before| after(before)).count();
        self.waiting.insert(self.waiting.len() - behind, span);
    }

    /// Tells whether a span belongs before the last one whose turn came, or in it though it is
    /// closed. That one is closed early where the next begins behind its end. Of two that are equal
    /// the name decides which holds the other, so the second is late too, unless all that wait are
    /// equal as well: then they come in order.
    fn is_late(&self, span: &Waiting) -> bool {
        let (start, end) = self.turn;
        let order = (start, std::cmp::Reverse(end)).cmp(&(span.start, std::cmp::Reverse(span.end)));
        let lies_in_a_closed_one = |next: &Waiting| span.start < end && next.start >= end;
        let is_second = |next: &Waiting| order.is_eq() && (next.start, next.end) != self.turn;
        order.is_gt()
            || self.waiting.first().is_some_and(|next| lies_in_a_closed_one(next) || is_second(next))
    }

    /// Counts a span whose turn is over. Its time counts; where it lies is not known any more.
    fn too_late(&mut self, span: Waiting, out: &mut impl Settled) {
        out.late();
        if is_wait(&span) {
            return self.no_task(&span, out);
        }
        self.first = self.first.min(span.start);
        self.last = self.last.max(span.end);
        out.known(span.kept, true);
        if span.level == UNKNOWN || span.level == 0 {
            let duration = (span.end - span.start) as u64;
            self.busy = self.busy.saturating_add(duration);
            self.add_leaf(duration, span.cpu, span.mark, out);
            out.outermost(span.start, span.end, Some(duration), span.mark);
        } else {
            self.nested += 1;
        }
    }

    /// Opens the first `count` of the spans that wait.
    fn take_turns(&mut self, count: usize, out: &mut impl Settled) {
        for at in 0..count {
            if self.waits && self.takes_wait(at, out) {
                continue;
            }
            let span = self.waiting[at];
            let next = self.waiting.get(at + 1).map_or(NEVER, |next| next.start);
            if span.end > next || !self.begin_leaf(&span, out) {
                self.begin(span, out);
            }
        }
        if let Some(last) = self.waiting[..count].last() {
            self.turn = (last.start, last.end);
        }
        self.waiting.drain(..count);
    }

    /// Takes in a span that has ended before the next one begins, as [`Worker::begin`] and
    /// [`Worker::close`] do, if it overlaps nothing. Most spans are like this.
    #[inline]
    fn begin_leaf(&mut self, span: &Waiting, out: &mut impl Settled) -> bool {
        while let Some(top) = self.open.last()
            && top.end <= span.start
        {
            self.close(out);
        }
        let fits = match self.open.last() {
            None => span.start >= self.settled && (span.level == UNKNOWN || span.level == 0),
            Some(parent) => {
                parent.own_from <= span.start
                    && span.end <= parent.end
                    && (span.level == UNKNOWN || parent.level == UNKNOWN || parent.level < span.level)
            }
        };
        if !fits {
            return false;
        }
        out.known(span.kept, true);
        let duration = (span.end - span.start) as u64;
        self.add_leaf(duration, span.cpu, span.mark, out);
        let depth = self.open.len();
        let Some(parent) = self.open.last_mut() else {
            self.settle_outermost(span.start, span.end, true, span.mark, out);
            return true;
        };
        if duration == 0 {
            // A mark in a task is no task of its own and makes no parent of the other.
            return true;
        }
        parent.leaf = false;
        if parent.own_from < span.start {
            out.piece(parent.own_from, span.start, parent.mark);
        }
        parent.own_from = span.end;
        parent.holds(duration, span.cpu);
        self.nested += 1;
        self.depth = self.depth.max(depth as u16);
        out.piece(span.start, span.end, span.mark);
        true
    }

    /// Opens a span: closes what has ended before it, and makes it the child of what has not. An
    /// overlap is cut, so that each moment counts once.
    #[inline]
    fn begin(&mut self, mut span: Waiting, out: &mut impl Settled) {
        let has_no_length = span.start == span.end;
        while let Some(&top) = self.open.last() {
            let same_level = span.level != UNKNOWN && top.level != UNKNOWN && span.level <= top.level;
            if span.start < top.end && !same_level {
                let overrun = span.end - top.end;
                if overrun <= 0 || (overrun <= ROUNDING_NS && overrun <= top.end - span.start) {
                    span.end = span.end.min(top.end);
                    break;
                }
                if span.start - top.start <= ROUNDING_NS
                    && top.end - span.start > ROUNDING_NS
                    && self.begins_around(span, out)
                {
                    return;
                }
                self.overlapping += u64::from(top.end - span.start > ROUNDING_NS);
            }
            span.start = span.start.max(top.end);
            span.end = span.end.max(span.start);
            self.close(out);
        }
        let Some(parent) = self.open.last_mut() else {
            if span.level != UNKNOWN && span.level > 0 {
                return self.orphan(span, out);
            }
            let start = span.start.max(self.settled);
            self.push(Waiting { start, end: span.end.max(start), ..span });
            return;
        };
        if has_no_length {
            out.known(span.kept, true);
            return self.add_leaf(0, span.cpu, span.mark, out);
        }
        span.start = span.start.max(parent.own_from);
        span.end = span.end.max(span.start);
        parent.leaf = false;
        if parent.own_from < span.start {
            let from = std::mem::replace(&mut parent.own_from, span.start);
            out.piece(from, span.start, parent.mark);
        }
        self.nested += 1;
        let depth = self.open.len();
        self.depth = self.depth.max(depth as u16);
        if depth < SHALLOW || out.deeper(true) {
            self.push(span);
        } else {
            self.unplaced += 1;
            out.known(span.kept, true);
        }
    }

    /// Opens a span whose rounded start lies a little behind that of its first child, which is
    /// open. Does nothing and returns `false` if it ends behind its own parent.
    #[cold]
    fn begins_around(&mut self, mut span: Waiting, out: &mut impl Settled) -> bool {
        let begins_with = |open: &&Open| span.start - open.start <= ROUNDING_NS && open.end <= span.end;
        let at = self.open.len() - self.open.iter().rev().take_while(begins_with).count();
        let around = at.checked_sub(1).map_or(i64::MAX, |at| self.open[at].end);
        if span.end > around.saturating_add(ROUNDING_NS) {
            return false;
        }
        span.end = span.end.min(around);
        self.nested += 1;
        self.depth = self.depth.max(self.open.len() as u16);
        if self.open.len() >= SHALLOW && !out.deeper(true) {
            self.unplaced += 1;
            out.known(span.kept, true);
            return true;
        }
        let start = self.open[at].start;
        self.open.insert(at, Open { leaf: false, ..Open::of(Waiting { start, ..span }) });
        true
    }

    #[inline]
    fn add_leaf(&mut self, duration: u64, cpu: u64, mark: u32, out: &mut impl Settled) {
        self.leaf = self.leaf.saturating_add(duration);
        self.leaves += 1;
        if cpu != NOT_TOLD {
            out.divide(mark, 0, self.off_cpu[0].add(duration, cpu));
        }
    }

    fn push(&mut self, span: Waiting) {
        self.open.push(Open::of(span));
    }

    /// Counts a nested span of which no parent is known: a clearing cut it away.
    fn orphan(&mut self, span: Waiting, out: &mut impl Settled) {
        self.nested += 1;
        self.unplaced += 1;
        self.depth = self.depth.max(span.level);
        out.known(span.kept, true);
    }

    /// Closes the newest open span.
    fn close(&mut self, out: &mut impl Settled) {
        let Some(span) = self.open.pop() else { return };
        out.known(span.kept, span.leaf);
        let duration = (span.end - span.start) as u64;
        if span.leaf {
            self.add_leaf(duration, span.cpu, span.mark, out);
        } else {
            let own = duration.saturating_sub(span.inside);
            let off_cpu = if span.cpu == NOT_TOLD { 0 } else { self.off_cpu[1].add(own, span.cpu) };
            out.divide(span.mark, span.inside, off_cpu);
        }
        if let Some(parent) = self.open.last_mut() {
            parent.own_from = parent.own_from.max(span.end);
            parent.holds(duration, span.all_cpu);
            if self.open.len() >= SHALLOW {
                out.deeper(false);
            }
        }
        if (!self.open.is_empty() || !span.leaf) && span.own_from < span.end {
            out.piece(span.own_from, span.end, span.mark);
        }
        let start = self.goes_on.max(span.start);
        if self.open.is_empty() && (start < span.end || start == span.start) {
            self.settle_outermost(start, span.end, span.leaf, span.mark, out);
        }
    }

    #[inline]
    fn settle_outermost(&mut self, start: i64, end: i64, leaf: bool, mark: u32, out: &mut impl Settled) {
        if self.settled == NEVER {
            self.first = self.first.min(start);
            out.first(start);
        } else {
            self.gaps += 1;
            out.gap(self.settled, start);
        }
        let duration = (end - start) as u64;
        self.busy = self.busy.saturating_add(duration);
        out.outermost(start, end, leaf.then_some(duration), mark);
        self.last = self.last.max(end);
        self.settled = end;
    }

    /// Takes in a span that lies in no other and is behind all others that lie in none. A live
    /// observer knows this, and the span need not wait. If it is not behind the others, nothing is
    /// done and the result is `false`.
    #[inline]
    pub fn outermost(&mut self, start: i64, end: i64, leaf: bool, out: &mut impl Settled) -> bool {
        if !self.waiting.is_empty() || !self.open.is_empty() {
            self.close_all(out);
        }
        if start < self.settled {
            return false;
        }
        self.tasks += 1;
        if leaf {
            self.add_leaf((end - start) as u64, NOT_TOLD, PRESENT, out);
        }
        self.settle_outermost(start, end, leaf, PRESENT, out);
        self.turn = (end, end);
        true
    }

    /// Takes in a span that lies in others, which come later. `level` is at least 1.
    pub fn inner(&mut self, start: i64, end: i64, level: u16, leaf: bool, out: &mut impl Settled) {
        self.tasks += 1;
        self.nested += 1;
        self.depth = self.depth.max(level);
        let duration = (end - start) as u64;
        if leaf {
            self.add_leaf(duration, NOT_TOLD, PRESENT, out);
            out.piece(start, end, PRESENT);
        }
        let level = usize::from(level);
        if self.within.len() < level {
            self.within.reserve_exact(level - self.within.len());
            self.within.resize(level, 0);
        }
        self.within[level - 1] = self.within[level - 1].saturating_add(duration);
    }

    /// The time that spans of [`Worker::inner`] had in a span of this level that comes behind them.
    pub fn children(&mut self, level: u16) -> u64 {
        self.within.get_mut(usize::from(level)).map_or(0, std::mem::take)
    }

    /// The end of the last span if nothing is kept back. `None` if something is, or if there was no
    /// span.
    #[inline]
    pub fn settled(&self) -> Option<i64> {
        (self.waiting.is_empty() && self.open.is_empty() && self.settled != NEVER).then_some(self.settled)
    }

    /// Takes in `tasks` leaves at once, as [`Worker::outermost`] does one, without handing anything
    /// on. They took `busy` nanoseconds and each had a gap before it. The last one ended at
    /// `settled`.
    pub fn simple_leaves(&mut self, tasks: u64, busy: u64, settled: i64) {
        self.tasks += tasks;
        self.gaps += tasks;
        self.busy = self.busy.saturating_add(busy);
        self.leaf = self.leaf.saturating_add(busy);
        self.leaves += tasks;
        self.last = self.last.max(settled);
        self.settled = settled;
        self.turn = (settled, settled);
    }

    /// Settles everything. What comes next begins a new stretch, with no gap before it.
    pub fn settle(&mut self, out: &mut impl Settled) {
        self.close_all(out);
        self.settled = NEVER;
        self.turn = (NEVER, i64::MAX);
    }

    fn close_all(&mut self, out: &mut impl Settled) {
        self.take_turns(self.waiting.len(), out);
        while !self.open.is_empty() {
            self.close(out);
        }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Waiting>()
            + self.open.capacity() * size_of::<Open>()
            + self.within.capacity() * size_of::<u64>()
    }

    /// Adds what another settled worker did.
    pub fn merge(&mut self, other: &Worker) {
        self.tasks += other.tasks;
        self.busy = self.busy.saturating_add(other.busy);
        self.leaf = self.leaf.saturating_add(other.leaf);
        self.leaves += other.leaves;
        self.nested += other.nested;
        self.gaps += other.gaps;
        self.depth = self.depth.max(other.depth);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.overlapping += other.overlapping;
        self.unplaced += other.unplaced;
        self.for_others = self.for_others.saturating_add(other.for_others);
        for (mine, theirs) in self.off_cpu.iter_mut().zip(other.off_cpu) {
            mine.merge(theirs);
        }
    }
}
