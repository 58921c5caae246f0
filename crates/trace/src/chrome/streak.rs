//! Streaks: complete events of one shape, one behind the other, read without an [`Event`].
//!
//! Where only a name, a worker, a start and a duration vary, the text of an event costs little; the
//! bookkeeping around it costs the rest. A streak finds the places of the four values in one pass.
//! It compares the text behind an event, the gap and the text before the next event's first value
//! in one step. Then it reads the four values. On the trace of the experiment `speed` this takes
//! 220 instructions an event, and by way of [`Event`] 700.
//!
//! [`Event`]: super::event::Event

use taskscale_model::span::{Span, SpanSink};

use crate::{
    json::gap_end,
    number::{digits_value, plain_micros},
    options::{end_of, is_near},
    workers::{Id, WorkerTable},
};

use super::{
    assemble::Assembler,
    covered::Bounds,
    event::id,
    layout::Kind,
    view::{Literal, View},
};

/// Reads events of one shape.
#[derive(Debug)]
pub struct Streak {
    /// The text before the first value, from the opening brace.
    first: Literal,
    /// The text behind the first three values.
    between: [Literal; 3],
    /// The text behind the last value, up to the closing brace.
    close: Literal,
    /// The text behind the last value, the gap, and the text before the next event's first value.
    /// `None` until it is known.
    bridge: Option<Literal>,
    /// The index of the name among the four values, in the order of the text. The next fields are
    /// the indices of the others.
    name: usize,
    thread: usize,
    ts: usize,
    dur: usize,
    high: High,
    /// The lengths of the last event's values.
    ///
    /// A value starts where the one before it ends, so a search for each of the four ends is a
    /// chain of some 15 cycles a link, through all events. Lengths mostly repeat. The text behind a
    /// value is therefore first compared where it stood in the last event, which the processor
    /// predicts, and only then searched.
    lengths: [usize; 4],
}

/// The first digits of a start of more than eight digits. Those of one event and of the next are
/// mostly the same.
#[derive(Debug, Clone, Copy, Default)]
struct High {
    /// Digits of the whole number.
    digits: usize,
    mask: u64,
    text: u64,
    /// The value of these digits times 10^8.
    value: u64,
}

/// The thread of the last event.
#[derive(Debug, Clone, Copy)]
struct LastThread {
    length: usize,
    text: u64,
    mask: u64,
    worker: u32,
}

impl Streak {
    /// Reads events whose values have these texts before them, and `close` behind the last one.
    /// Returns `None` where the values are not each of the four once.
    pub fn new<'a>(values: impl Iterator<Item = (&'a [u8], Kind)>, close: &[u8]) -> Option<Self> {
        let (texts, values): (Vec<_>, Vec<_>) = values.unzip();
        let place = |value| values.iter().position(|&other| other == value);
        let &[first, second, third, fourth] = texts.as_slice() else { return None };
        Some(Streak {
            first: Literal::new(first)?,
            between: [Literal::new(second)?, Literal::new(third)?, Literal::new(fourth)?],
            close: Literal::new(close)?,
            bridge: None,
            name: place(Kind::Name)?,
            thread: place(Kind::Thread)?,
            ts: place(Kind::Ts)?,
            dur: place(Kind::Dur)?,
            high: High::default(),
            lengths: [0; 4],
        })
    }

    /// Reads events from `start` on as long as each is of this shape. Returns the place behind the
    /// last of them and their number. With `COVER` the stretch that the spans cover is kept.
    ///
    /// It is a function of its own because the registers do not suffice for its loop and what is
    /// around it (18 % more time).
    #[inline(never)]
    pub fn read<const COVER: bool>(
        &mut self,
        data: &[u8],
        start: usize,
        process: Id,
        assembler: &mut Assembler<'_>,
        sink: &mut impl SpanSink,
    ) -> (usize, u64) {
        let (mut done, mut events) = (start, 0);
        let Some(origin) = assembler.clock.origin() else { return (done, events) };
        let Some(bounds) = assembler.covered.bounds(origin) else { return (done, events) };
        let unnumber = assembler.flavour.drops_numbers();
        // No thread is known at first: a mask without bits and a text with some never fit.
        let mut last = LastThread { length: 0, text: 1, mask: 0, worker: 0 };
        let mut behind = assembler.last;
        // The place of the first value of an event.
        let Some(mut from) = self.enter(data, start) else { return (done, events) };
        while let Some(view) = View::of(data, from) {
            let Some((starts, end, next)) = self.starts(view) else { break };
            let value = |which: usize| (starts[which & 3], self.lengths[which & 3]);

            let (at, length) = value(self.ts);
            let ts = if length > 8 {
                self.high.read(view, at, length, &bounds)
            } else if bounds.hold_zero {
                whole(view, at, length)
            } else {
                None
            };
            let near = |&(ns, _): &(i64, bool)| bounds.hold(ns);
            let ts = ts.or_else(|| fraction(data, from + at, length).filter(near));
            let Some((ts, whole_ts)) = ts else { break };
            let (at, length) = value(self.dur);
            let dur = whole(view, at, length);
            let Some((dur, whole_dur)) = dur.or_else(|| fraction(data, from + at, length)) else { break };
            let Some(start_ns) = ts.checked_sub(origin).filter(|&ns| is_near(ns)) else { break };
            let Some(end_ns) = end_of(start_ns, dur) else { break };
            let (at, length) = value(self.name);
            let numbered = unnumber && view.is_numbered(at, length);
            let name = if numbered { &[] } else { &data[from + at..from + at + length] };
            let plain = numbered || view.is_plain(at, length);
            if !plain && memchr::memchr2(b'\\', b'"', name).is_some() {
                // The slower reader finds where this value ends.
                break;
            }
            let (at, length) = value(self.thread);
            let word = view.word(at);
            let worker = if length == last.length && word & last.mask == last.text {
                last.worker
            } else {
                let Some((id, end)) = id(data, from + at) else { break };
                if length == 0 || end != from + at + length {
                    break;
                }
                // The slower reader takes the first spans of a track.
                let Some(worker) = assembler.workers.known(process, id) else { break };
                if length < 8 && !WorkerTable::is_shared(worker) {
                    let mask = u64::MAX >> (56 - 8 * length);
                    last = LastThread { length, text: word & mask, mask, worker };
                }
                worker
            };
            if COVER {
                assembler.covered.add(start_ns, end_ns);
            }
            // The event counts from here on. No slower reading of the same event may have to take
            // back what it changes.
            if !(whole_ts && whole_dur && assembler.tally.step_divides_micros()) {
                assembler.tally.learn_step(ts);
                assembler.tally.learn_step(dur);
            }
            let span = Span { worker, start_ns, end_ns, name, ..Span::default() };
            if plain {
                sink.span(&span)
            } else {
                assembler.emit_escaped(&span, sink)
            }
            behind = (worker, start_ns, end_ns);
            events += 1;
            done = from + end;
            from = match next {
                Some(next) => from + next,
                None => match self.cross(data, done) {
                    Some(next) => next,
                    None => break,
                },
            };
        }
        assembler.last = behind;
        assembler.tally.seen += events;
        assembler.tally.counted += events;
        (done, events)
    }

    /// Returns the place of the first value of the event at `start`, where the event begins like
    /// one of this shape.
    #[inline(always)]
    fn enter(&self, data: &[u8], start: usize) -> Option<usize> {
        self.first.matches(View::of(data, start)?, 0).then(|| start + self.first.len())
    }

    /// Returns where the four values start, the place behind the event, and the first value of the
    /// next event where the bridge leads to it. Leaves the values' lengths in `self.lengths`.
    #[inline(always)]
    fn starts(&mut self, view: View<'_>) -> Option<([usize; 4], usize, Option<usize>)> {
        let [first, second, third] = &self.between;
        let [a, b, c, d] = &mut self.lengths;
        let second_start = first.behind(view, 0, a)?;
        let third_start = second.behind(view, second_start, b)?;
        let fourth_start = third.behind(view, third_start, c)?;
        let starts = [0, second_start, third_start, fourth_start];
        let (next, end) = match self.bridge.as_ref().and_then(|bridge| bridge.behind(view, fourth_start, d)) {
            Some(next) => (Some(next), fourth_start + *d + self.close.len()),
            None => (None, self.close.behind(view, fourth_start, d)?),
        };
        view.holds(end).then_some((starts, end, next))
    }

    /// Goes from behind an event to the first value of the next, over a gap that differs from the
    /// last one. The next bridge is built over this gap.
    #[cold]
    fn cross(&mut self, data: &[u8], done: usize) -> Option<usize> {
        let from = self.enter(data, gap_end(data, done)?)?;
        self.bridge = Literal::new(&data[done - self.close.len()..from]);
        Some(from)
    }
}

impl High {
    /// Reads a whole number of microseconds of more than eight digits.
    #[inline(always)]
    fn read(&mut self, view: View<'_>, at: usize, length: usize, bounds: &Bounds) -> Option<(i64, bool)> {
        let word = view.word(at);
        if length != self.digits || word & self.mask != self.text {
            self.learn(word, length, bounds)?;
        }
        Some(((self.value + digits_value(view.word(at + length - 8), 8)?) as i64 * 1_000, true))
    }

    /// Learns the first digits. Returns `None` where the word does not begin with so many digits
    /// less eight, where their times are of another clock, or where they are too many: fifteen
    /// digits of microseconds are 31 years, and their nanoseconds fit into 64 bits.
    #[cold]
    fn learn(&mut self, word: u64, length: usize, bounds: &Bounds) -> Option<()> {
        *self = High::default();
        let high = length - 8;
        let value = if high < 8 { digits_value(word, high)? } else { return None };
        // Times with these digits are of one clock: they lie within 100 s.
        if !bounds.hold(value as i64 * 100_000_000_000) {
            return None;
        }
        let mask = u64::MAX >> (64 - 8 * high);
        *self = High { digits: length, mask, text: word & mask, value: value * 100_000_000 };
        Some(())
    }
}

/// Returns the nanoseconds of a whole number of microseconds of at most eight digits, and that it
/// is whole.
#[inline(always)]
fn whole(view: View<'_>, at: usize, length: usize) -> Option<(i64, bool)> {
    if !(1..=8).contains(&length) {
        return None;
    }
    Some((digits_value(view.word(at), length)? as i64 * 1_000, true))
}

/// Returns the nanoseconds of any number of microseconds of the common form, and that it may not be
/// whole.
#[inline]
fn fraction(data: &[u8], at: usize, length: usize) -> Option<(i64, bool)> {
    let (ns, end) = plain_micros(data, at)?;
    (end == at + length).then_some((ns, false))
}
