//! Reads Chrome trace events: a bare array, or an object with `traceEvents` among other members.
//! The file may be whole, cut or malformed.

mod assemble;
mod collectives;
mod covered;
mod event;
mod flavour;
mod flows;
mod keys;
mod layout;
mod open;
mod pools;
mod python_waits;
mod ready;
mod shape;
mod singles;
mod streak;
mod task_tracks;
mod view;

use taskscale_model::span::{Account, SpanSink};

use crate::{
    bytes::string_end,
    error::TraceError,
    format::is_lines,
    json::{is_gap, is_space, members, unescaped},
    options::{Clock, Options, Unit},
    stream::{skip_to_next_event, skip_value},
    tally::Reason,
    window::{More, Window},
    workers::WorkerTable,
};

use assemble::Assembler;
use event::{Event, Scanned, scan};
use flavour::Flavour;
use layout::Layout;
use shape::Shapes;

pub use covered::NEAR_NS;
pub use flavour::without_number;
pub use flows::{Counts, Told};
pub use keys::thread_key;
pub use pools::Pools;

/// Members of the outer object up to this many bytes are read. Longer ones are skipped.
const SMALL_MEMBER: usize = 4 << 10;

/// The reader's place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first bracket or brace.
    Start,
    /// Among the events.
    Events,
    /// Among the members of the outer object.
    Members,
    /// Behind the last bracket or brace.
    After,
}

/// Why the walk through the events of a window stopped, and after how many bytes.
enum Pause {
    /// The data end, perhaps inside an event.
    Data(usize),
    /// The closing bracket was consumed.
    Closed(usize),
    /// Something that is no event stands here.
    Odd(usize),
    /// An event is malformed from here on.
    Malformed(usize),
}

/// Reads a whole stream. `found` is what an earlier reading has found of its pools. Returns what
/// its flows told and its pools, too.
pub fn read(
    window: &mut Window<'_>,
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    found: Option<Pools>,
    sink: &mut impl SpanSink,
) -> Result<(Account, Counts, Pools), TraceError> {
    let flavour = Flavour::of(window.data());
    // Shapes are learned for microseconds alone.
    let shapes = Shapes::new(options.learn_shapes && options.unit.unwrap_or_default() == Unit::Us);
    let pools = Pools::new(found, window.data());
    let assembler = Assembler::new(options, workers, clock, flavour, pools);
    let layout = Layout { places: options.unit.unwrap_or_default().places(), ..Layout::default() };
    // Nothing closes lines.
    let lines = is_lines(window.data());
    let mut reader = Reader { assembler, shapes, layout, lines, wrapped: false, closed: lines, lost: false };
    reader.run(window, sink)?;
    reader.assembler.settle(sink);
    reader.account(window.bytes())
}

struct Reader<'o> {
    assembler: Assembler<'o>,
    shapes: Shapes,
    layout: Layout,
    /// Whether each event is a line of its own, with no list around them.
    lines: bool,
    /// Whether the events stand in an object.
    wrapped: bool,
    /// Whether the events' closing bracket was seen.
    closed: bool,
    /// Whether VizTracer says that its buffer has overwritten the oldest events.
    lost: bool,
}

impl Reader<'_> {
    fn run(&mut self, window: &mut Window<'_>, sink: &mut impl SpanSink) -> Result<(), TraceError> {
        let mut place = if self.lines { Place::Events } else { Place::Start };
        loop {
            let Some(byte) = window.skip_while(is_gap)? else { return Ok(()) };
            place = match (place, byte) {
                (Place::Start | Place::After, b'[') => {
                    window.consume(1);
                    Place::Events
                }
                (Place::Start, b'{') => {
                    window.consume(1);
                    self.wrapped = true;
                    Place::Members
                }
                (Place::Events, _) => self.events(window, sink)?,
                (Place::Members, b'"') => self.member(window)?,
                (Place::Members, b'}') => {
                    window.consume(1);
                    Place::After
                }
                // These events stand behind the bracket: a malformed event has closed the list too
                // early.
                (Place::Members | Place::After, b'{') => Place::Events,
                // The byte belongs to a byte order mark before the first bracket, or follows the
                // last one.
                _ => {
                    window.consume(1);
                    place
                }
            };
        }
    }

    /// Reads events until their list ends.
    fn events(&mut self, window: &mut Window<'_>, sink: &mut impl SpanSink) -> Result<Place, TraceError> {
        loop {
            match self.scan_window(window.data(), window.place(), sink) {
                Pause::Data(used) => {
                    window.consume(used);
                    match window.more()? {
                        More::Read => {}
                        More::End => {
                            self.cut(window.data());
                            window.consume(window.data().len());
                            return Ok(Place::After);
                        }
                        More::Full => self.long_event(window)?,
                    }
                }
                Pause::Closed(used) => {
                    window.consume(used);
                    self.closed = true;
                    return Ok(if self.wrapped { Place::Members } else { Place::After });
                }
                Pause::Odd(used) => {
                    window.consume(used);
                    self.assembler.tally.seen += 1;
                    self.assembler.tally.malformed(window.place(), window.data());
                    skip_value(window)?;
                }
                Pause::Malformed(used) => {
                    window.consume(used);
                    self.assembler.tally.seen += 1;
                    self.assembler.tally.malformed(window.place(), window.data());
                    skip_to_next_event(window)?;
                }
            }
        }
    }

    /// Reads all events that lie in the window whole. This is the hot loop. `place` is that of the
    /// window's first byte.
    fn scan_window(&mut self, data: &[u8], place: u64, sink: &mut impl SpanSink) -> Pause {
        let mut at = 0;
        let mut event = Event::default();
        let takes_all = self.assembler.takes_all();
        loop {
            while at < data.len() && is_gap(data[at]) {
                at += 1;
            }
            match data.get(at) {
                Some(b'{') => {}
                Some(b']') => return Pause::Closed(at + 1),
                None => return Pause::Data(at),
                Some(_) => return Pause::Odd(at),
            }
            let scanned = if self.shapes.awake() {
                if takes_all && !self.assembler.flows.waits() {
                    let end = self.shapes.streak(data, at, &mut self.assembler, sink);
                    if end > at {
                        at = end;
                        continue;
                    }
                }
                match self.shapes.read(data, at, &mut event) {
                    Some(end) => Scanned::Done(end),
                    None => {
                        let scanned = scan::<true>(data, at, &mut event, &mut self.layout);
                        if let Scanned::Done(_) = scanned {
                            self.shapes.learn(data, &event, &self.layout);
                        }
                        scanned
                    }
                }
            } else {
                scan::<false>(data, at, &mut event, &mut self.layout)
            };
            match scanned {
                Scanned::Done(end) => {
                    if event.phase == 0 {
                        self.assembler.tally.malformed_at(place + at as u64, &data[at..end]);
                    }
                    self.assembler.event(&event, sink);
                    at = end;
                }
                Scanned::Incomplete => return Pause::Data(at),
                Scanned::Malformed(end) => return Pause::Malformed(end),
            }
        }
    }

    /// Counts what is left when the file ends among the events.
    fn cut(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.assembler.tally.seen += 1;
            self.assembler.tally.drop(Reason::Cut, 1);
        }
    }

    /// Skips an event that does not fit into the largest window.
    fn long_event(&mut self, window: &mut Window<'_>) -> Result<(), TraceError> {
        self.assembler.tally.seen += 1;
        self.assembler.tally.drop(Reason::TooLong, 1);
        skip_value(window)
    }

    /// Reads a member of the outer object. The window starts with its key's quote.
    fn member(&mut self, window: &mut Window<'_>) -> Result<Place, TraceError> {
        window.ensure(SMALL_MEMBER)?;
        let data = window.data();
        let Some(key) = string_end(data, 1).filter(|end| end.quote < SMALL_MEMBER) else {
            skip_value(window)?;
            return Ok(Place::Members);
        };
        let name = unescaped(&data[1..key.quote]);
        let (is_events, is_viztracer) = (&*name == b"traceEvents", &*name == b"viztracer_metadata");
        drop(name);
        window.consume(key.quote + 1);
        window.skip_while(|byte| is_space(byte) || byte == b':')?;
        window.ensure(SMALL_MEMBER)?;
        if is_events && window.data().first() == Some(&b'[') {
            window.consume(1);
            return Ok(Place::Events);
        }
        if is_viztracer {
            let mut lost = false;
            members(window.data(), |key, value| lost |= key == b"overflow" && value == b"true");
            self.lost |= lost;
        }
        skip_value(window)?;
        Ok(Place::Members)
    }

    fn account(mut self, bytes: u64) -> Result<(Account, Counts, Pools), TraceError> {
        self.assembler.finish()?;
        let Assembler { mut tally, flavour, workers, clock, flows, pools, .. } = self.assembler;
        if flavour == Flavour::Ray {
            tally.doubles(clock.first_ns(), 1_000);
        }
        if !self.closed {
            tally.note("the closing bracket is missing: the file was cut off, or its writer was stopped; all whole events were read");
        }
        if self.lost {
            tally.note_first(
                "VizTracer's buffer overflowed: the oldest events are lost, and the window is only the end of the run (raise \
                 --tracer_entries)",
            );
        }
        let (format, workers) = (flavour.format(), workers.seen_in_file());
        Ok((tally.account(format, bytes, workers)?, flows.counts, pools))
    }
}
