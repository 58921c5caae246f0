//! The learned shape. Most events of a trace differ from the one before only in a name, a worker
//! and two times.
//!
//! The text between the values is kept from an event that the generic scanner has read. The next
//! event is compared with that text in blocks of sixteen bytes, and only the values are parsed.
//! Category and process are part of the text until they are seen to vary. Several shapes are kept
//! (phases and categories alternate). Where shapes do not help, they are given up for longer and
//! longer stretches.

use taskscale_model::span::SpanSink;

use crate::{
    bytes::{Block, Nesting, string_end, word8},
    number::{Time, plain_micros},
    workers::Id,
};

use super::{
    assemble::Assembler,
    event::{Event, Text, id, set_nested, set_text, set_word},
    layout::{Field, Kind, Layout, Slot},
    streak::Streak,
};

/// Number of shapes kept: one for each phase and category that alternate in the traces seen so far.
const SHAPES: usize = 6;
/// The trust in the shapes, at first and at most, and what a miss takes from it. A miss costs eight
/// hits, since it takes a scan and a lesson.
const TRUST: i32 = 256;
const MISS: i32 = 8;
/// The number of events for which shapes are given up after the trust is used up. The first figure
/// is doubled each time, up to the last.
const NAPS: (u32, u32) = (64, 16_384);

/// A literal text and the value behind it.
#[derive(Debug)]
struct Step {
    first: Block,
    /// Further blocks of sixteen.
    rest: Vec<Block>,
    length: usize,
    kind: Kind,
}

impl Step {
    fn new(literal: &[u8], field: Field, slot: Slot) -> Self {
        let kind = match (slot, field) {
            (Slot::Text, Field::Name) => Kind::Name,
            (Slot::Word, Field::Thread) => Kind::Thread,
            (Slot::Word, Field::Ts) => Kind::Ts,
            (Slot::Word, Field::Dur) => Kind::Dur,
            (slot, field) => Kind::Other(slot, field),
        };
        let mut blocks = literal.chunks(16).map(Block::new);
        let first = blocks.next().unwrap_or(Block::new(b""));
        Step { first, rest: blocks.collect(), length: literal.len(), kind }
    }

    #[inline(always)]
    fn matches(&self, data: &[u8], mut at: usize) -> bool {
        if !self.first.matches(data, at) {
            return false;
        }
        for block in &self.rest {
            at += 16;
            if !block.matches(data, at) {
                return false;
            }
        }
        true
    }
}

/// The thread of the last event, as it was written.
#[derive(Debug, Clone, Copy, Default)]
struct LastThread {
    /// Its text and the byte behind it, as a word.
    text: u64,
    /// Selects these bits of the word; none where no thread is kept.
    mask: u64,
    length: usize,
    id: Id,
}

/// What all events of a shape have in common.
#[derive(Debug)]
struct Shape {
    steps: Vec<Step>,
    /// The text behind the last value, up to the closing brace.
    close: Step,
    phase: u8,
    cat: Vec<u8>,
    /// The step whose text holds the category, the place in that text, and whether the category is
    /// plain. `None` where the category is a value.
    cat_place: Option<(usize, usize, bool)>,
    process: Id,
    thread: LastThread,
    /// Reads complete events of which only name, thread and times vary.
    streak: Option<Streak>,
}

impl Shape {
    /// Reads the event at `start` and returns the place behind it. Returns `None` where the event
    /// is of another shape, or where the generic scanner must read it.
    #[inline(always)]
    fn read<'a>(&mut self, data: &'a [u8], start: usize, event: &mut Event<'a>) -> Option<usize> {
        *event = Event { phase: self.phase, process: self.process, ..Event::default() };
        let mut at = start;
        let (cat_step, cat_at, cat_plain) = self.cat_place.unwrap_or((usize::MAX, 0, true));
        let cat = |at: usize| {
            let raw = data.get(at + cat_at..at + cat_at + self.cat.len())?;
            Some(Text { raw, plain: cat_plain, numbered: false })
        };
        for (i, step) in self.steps.iter().enumerate() {
            if i == cat_step {
                event.cat = cat(at)?;
            }
            at = step.value(data, at, event, &mut self.thread)?;
        }
        if !self.close.matches(data, at) {
            return None;
        }
        if cat_step == self.steps.len() {
            event.cat = cat(at)?;
        }
        let end = at + self.close.length;
        // Words past the end of the data read as zeros, which equal no brace. This check also
        // covers literals with zeros.
        (end <= data.len()).then_some(end)
    }
}

impl Step {
    /// Compares the text, reads the value behind it and returns the place behind that.
    #[inline(always)]
    fn value<'a>(
        &self,
        data: &'a [u8],
        at: usize,
        event: &mut Event<'a>,
        last: &mut LastThread,
    ) -> Option<usize> {
        if !self.matches(data, at) {
            return None;
        }
        let at = at + self.length;
        match self.kind {
            Kind::Ts => {
                let (ns, end) = plain_micros(data, at)?;
                event.ts = Time::Ns(ns);
                Some(end)
            }
            Kind::Dur => {
                let (ns, end) = plain_micros(data, at)?;
                event.dur = Time::Ns(ns);
                Some(end)
            }
            Kind::Name => {
                let end = string_end(data, at)?;
                event.name = Text::name(data, at, end);
                Some(end.quote)
            }
            Kind::Thread => {
                // Where workers come one by one, the next event is of the same worker as this. One
                // comparison then takes its text and the byte behind it. The processor predicts a
                // comparison, and does not predict a parse.
                let word = word8(data, at);
                if last.mask != 0 && word & last.mask == last.text {
                    event.thread = last.id;
                    return Some(at + last.length);
                }
                let (id, end) = id(data, at).filter(|&(_, end)| end > at)?;
                event.thread = id;
                let length = end - at;
                if length < 8 {
                    let mask = u64::MAX >> (64 - 8 * (length + 1));
                    *last = LastThread { text: word & mask, mask, length, id };
                }
                Some(end)
            }
            Kind::Other(slot, field) => other_value(data, at, slot, field, event),
        }
    }
}

#[inline]
fn other_value<'a>(
    data: &'a [u8],
    at: usize,
    slot: Slot,
    field: Field,
    event: &mut Event<'a>,
) -> Option<usize> {
    match slot {
        Slot::Text => {
            let end = string_end(data, at)?;
            set_text(event, field, Text { raw: &data[at..end.quote], plain: end.plain, numbered: false });
            Some(end.quote)
        }
        Slot::Word => {
            // A value that begins with one of these is no word.
            match data.get(at)? {
                b'"' | b'{' | b'[' => None,
                _ => set_word(event, field, data, at).filter(|&end| end > at),
            }
        }
        Slot::Nested => {
            let opening = matches!(data.get(at)?, b'{' | b'[');
            let end = if opening { Nesting::opened().end(data, at + 1)? } else { return None };
            set_nested(event, field, &data[at..end]);
            Some(end)
        }
    }
}

/// The shapes of a trace, learned while it is read.
#[derive(Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    last: usize,
    oldest: usize,
    cat_varies: bool,
    process_varies: bool,
    trust: i32,
    nap: u32,
    next_nap: u32,
    enabled: bool,
    /// Events that a shape has read.
    pub hits: u64,
    /// Events that the generic scanner read though shapes were tried.
    pub misses: u64,
}

impl Shapes {
    /// Begins without shapes. With `enabled` false it never learns one.
    pub fn new(enabled: bool) -> Self {
        Shapes {
            shapes: Vec::new(),
            last: 0,
            oldest: 0,
            cat_varies: false,
            process_varies: false,
            trust: TRUST,
            nap: 0,
            next_nap: NAPS.0,
            enabled,
            hits: 0,
            misses: 0,
        }
    }

    /// Tells whether shapes are worth a try on the next event.
    #[inline(always)]
    pub fn awake(&mut self) -> bool {
        if self.nap == 0 {
            return self.enabled;
        }
        self.nap -= 1;
        false
    }

    /// Reads complete events from `start` on as long as they are of the shape that was met last.
    /// Returns the place behind them; `start` where there is none.
    #[inline(always)]
    pub fn streak(
        &mut self,
        data: &[u8],
        start: usize,
        assembler: &mut Assembler<'_>,
        sink: &mut impl SpanSink,
    ) -> usize {
        let Some(shape) = self.shapes.get_mut(self.last) else { return start };
        let Some(streak) = &mut shape.streak else { return start };
        let (end, events) = if assembler.holds_singles() {
            streak.read::<true>(data, start, shape.process, assembler, sink)
        } else {
            streak.read::<false>(data, start, shape.process, assembler, sink)
        };
        if events > 0 {
            self.hits += events;
            self.trust = TRUST;
        }
        end
    }

    /// Reads the event at `start` by one of the shapes and returns the place behind it.
    #[inline(always)]
    pub fn read<'a>(&mut self, data: &'a [u8], start: usize, event: &mut Event<'a>) -> Option<usize> {
        let n = self.shapes.len();
        for i in 0..n {
            // The shape that read the event before is tried first, then the one that was learned
            // after it.
            let index = if self.last + i < n { self.last + i } else { self.last + i - n };
            if let Some(end) = self.shapes[index].read(data, start, event) {
                self.last = index;
                self.hits += 1;
                self.trust = (self.trust + 1).min(TRUST);
                return Some(end);
            }
        }
        None
    }

    /// Learns from an event that no shape could read.
    #[cold]
    pub fn learn(&mut self, data: &[u8], event: &Event<'_>, layout: &Layout) {
        self.misses += 1;
        self.trust -= MISS;
        if self.trust < 0 {
            self.nap = self.next_nap;
            self.next_nap = (2 * self.next_nap).min(NAPS.1);
            self.trust = 4 * MISS;
        }
        if layout.odd || layout.values.is_empty() {
            return;
        }
        let same = |shape: &&Shape| shape.phase == event.phase;
        if let Some(shape) = self.shapes.iter().find(same) {
            let cat_varies = self.cat_varies || shape.cat != event.cat.raw;
            let process_varies = self.process_varies || shape.process != event.process;
            if (cat_varies, process_varies) != (self.cat_varies, self.process_varies) {
                (self.cat_varies, self.process_varies) = (cat_varies, process_varies);
                self.shapes.clear();
                (self.last, self.oldest) = (0, 0);
            }
        }
        let shape = self.shape(data, event, layout);
        if self.shapes.len() < SHAPES {
            self.last = self.shapes.len();
            self.shapes.push(shape);
        } else {
            self.oldest = (self.oldest + 1) % SHAPES;
            self.last = self.oldest;
            self.shapes[self.oldest] = shape;
        }
    }

    fn shape(&self, data: &[u8], event: &Event<'_>, layout: &Layout) -> Shape {
        let (mut steps, mut texts) = (Vec::new(), Vec::new());
        let mut at = layout.start;
        let mut cat_place = None;
        for &(field, slot, start, end) in &layout.values {
            let constant = match field {
                Field::Phase => true,
                Field::Cat => !self.cat_varies && slot == Slot::Text,
                Field::Process => !self.process_varies,
                _ => false,
            };
            if !constant {
                let step = Step::new(&data[at..start], field, slot);
                texts.push((&data[at..start], step.kind));
                steps.push(step);
                at = end;
            } else if field == Field::Cat {
                cat_place = Some((steps.len(), start - at, event.cat.plain));
            }
        }
        let close = &data[at..layout.end];
        let streak = (event.phase == b'X').then(|| Streak::new(texts.into_iter(), close)).flatten();
        Shape {
            steps,
            close: Step::new(close, Field::Other, Slot::Word),
            phase: event.phase,
            cat: if self.cat_varies { Vec::new() } else { event.cat.raw.to_vec() },
            cat_place,
            process: if self.process_varies { Id::Absent } else { event.process },
            thread: LastThread::default(),
            streak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Scanned, scan};
    use super::*;

    /// Reads events as the reader does, and returns the shapes with what they have counted.
    fn read(events: &[String]) -> Shapes {
        let data = events.concat().into_bytes();
        let (mut shapes, mut layout) = (Shapes::new(true), Layout::default());
        let (mut at, mut naps) = (0, 0);
        while at < data.len() {
            let (mut event, mut generic) = (Event::default(), Event::default());
            let Scanned::Done(end) = scan::<true>(&data, at, &mut generic, &mut layout) else {
                panic!("whole events")
            };
            if !shapes.awake() {
                naps += 1;
            } else if let Some(read) = shapes.read(&data, at, &mut event) {
                assert_eq!((read, event), (end, generic));
            } else {
                shapes.learn(&data, &generic, &layout);
            }
            at = end;
        }
        assert_eq!(shapes.hits + shapes.misses + naps, events.len() as u64);
        shapes
    }

    #[test]
    fn events_of_one_shape_are_learned_once() {
        // Events come worker by worker, with names and times of many lengths. Without a hit nothing
        // would be wrong, only slow.
        let event = |i: u32| {
            format!(
                r#"{{"cat":"c","name":"{}_{i}","ph":"X","pid":1,"tid":{},"ts":{},"dur":{i}}}"#,
                i / 300,
                i / 300,
                i * i
            )
        };
        let shapes = read(&(0..3_000).map(event).collect::<Vec<_>>());
        // The last event ends with the data, where one word cannot show that the time is whole.
        assert!(shapes.misses <= 2, "{shapes:?}");
    }

    #[test]
    fn alternating_phases_and_processes_have_shapes_too() {
        let event = |i: u32| {
            let phase = ["X", "b", "e"][i as usize % 3];
            format!(
                r#"{{"ph":"{phase}","pid":{},"id":"0x{i}","tid":"w{}","ts":{i}.5,"args":{{"a":[{i}]}},"name":"n","cat":"k{}"}}"#,
                i % 7,
                i % 5,
                i % 4
            )
        };
        let shapes = read(&(0..3_000).map(event).collect::<Vec<_>>());
        assert!(shapes.misses <= 12, "{} misses", shapes.misses);
    }

    #[test]
    fn where_no_event_is_like_another_shapes_are_given_up() {
        let event = |i: u32| format!(r#"{{"ph":"X","k{i}":1,"ts":{i},"dur":1}}"#);
        let shapes = read(&(0..20_000).map(event).collect::<Vec<_>>());
        assert!(shapes.misses < 400, "{} misses", shapes.misses);
    }
}
