//! The tasks that arrows of flows point to, whatever order the events of a file have.
//!
//! Two walks through sorted records do it. The first goes through the events of one flow after the
//! other, by time, and makes arrows ([`Departures`]). The second goes through spans and the ends of
//! arrows by time, and keeps the spans of each worker that are open ([`Targets`]).

use std::collections::HashMap;

use taskscale_model::span::{FlowEvent, FlowPart, SpanSink};

use super::record::{Kind, Record};
use crate::chrome::{NEAR_NS, Told};

/// Most spans that are open at once, on all workers, and most workers of which something is known:
/// about 8 MB in all. What has ended makes room for what begins.
const MOST_OPEN: usize = 1 << 16;
const MOST_WORKERS: usize = 1 << 14;

/// Pairs the ends of a flow with what began before them.
///
/// An end that comes before any beginning takes the one behind it, where nothing else does: clocks
/// of devices are off by a little.
#[derive(Debug, Default)]
pub struct Departures {
    flow: u64,
    /// The last beginning that no end has taken.
    departure: Option<i64>,
    /// The last end that has found no beginning.
    orphan: Option<FlowEvent>,
}

impl Departures {
    /// Takes the next event, by flow and time. Gives what is known of arrows: when they begin, and
    /// their ends.
    pub fn take(&mut self, event: &FlowEvent, arrow: &mut impl FnMut(i64, &FlowEvent)) {
        if event.flow != self.flow {
            self.finish(arrow);
            self.flow = event.flow;
        }
        let taken = match event.part {
            FlowPart::Begin => {
                self.departure = Some(event.ts);
                return;
            }
            FlowPart::Step => self.departure.replace(event.ts),
            FlowPart::In | FlowPart::At | FlowPart::Before => self.departure.take(),
        };
        match taken {
            Some(departure) => arrow(departure, event),
            None => self.orphan = Some(*event),
        }
    }

    /// Ends a flow.
    pub fn finish(&mut self, arrow: &mut impl FnMut(i64, &FlowEvent)) {
        if let (Some(departure), Some(orphan)) = (self.departure.take(), self.orphan.take())
            && departure > orphan.ts
        {
            arrow(departure, &orphan);
        }
        self.orphan = None;
    }
}

/// A span that is open, and when it became ready.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: i64,
    end: i64,
    ready: Option<i64>,
}

/// What is known of a worker.
#[derive(Debug, Default)]
struct Worker {
    /// Spans that hold the last time, outermost first: both starts rise and ends fall.
    open: Vec<Open>,
    /// Arrows that end before the next span: how many, and the last beginning of them.
    before: Option<(u64, i64)>,
}

/// Finds the tasks of arrows, given spans and ends of arrows by time.
#[derive(Debug, Default)]
pub struct Targets {
    workers: HashMap<u32, Worker>,
    open: usize,
    pub told: Told,
}

impl Targets {
    /// Takes the next span.
    pub fn span(&mut self, record: &Record, sink: &mut impl SpanSink) {
        let (start, end) = record.times();
        if self.open >= MOST_OPEN {
            self.make_room(start, sink);
        }
        let Some(worker) = self.worker(record, sink) else { return };
        let mut new = Open { start, end, ready: None };
        let (mut told, mut closed) = (0, 0);
        if let Some((arrows, departure)) = worker.before.take()
            && near(departure, start)
        {
            new.ready = Some(departure);
            told = arrows;
        }
        // What ends no later than this one is innermost nowhere any more.
        while let Some(inner) = worker.open.pop_if(|inner| inner.end <= end) {
            closed += 1;
            if inner.start == start {
                // Its start is all that names a task.
                new.ready = new.ready.max(inner.ready);
            } else {
                worker.leave(inner, sink);
            }
        }
        worker.open.push(new);
        self.open = self.open + 1 - closed;
        self.told.told += told;
    }

    /// Takes the next end of an arrow.
    pub fn arrow(&mut self, record: &Record, sink: &mut impl SpanSink) {
        let (departure, ts) = record.ready();
        let Some(worker) = self.worker(record, sink) else { return };
        if record.kind == Kind::Before {
            let (arrows, last) = worker.before.unwrap_or((0, departure));
            worker.before = Some((arrows + 1, last.max(departure)));
            return;
        }
        // Ends fall from outer to inner ones.
        let around = worker.open.iter_mut().rev().find(|open| open.end >= ts);
        let starts_here = record.part() == FlowPart::At;
        let fits = |open: &&mut Open| near(departure, open.start) && (!starts_here || open.start == ts);
        if let Some(open) = around.filter(fits) {
            open.ready = open.ready.max(Some(departure));
            self.told.told += 1;
        }
    }

    /// The worker of a record; `None` where too many others are busy.
    fn worker(&mut self, record: &Record, sink: &mut impl SpanSink) -> Option<&mut Worker> {
        let index = record.worker();
        if self.workers.len() >= MOST_WORKERS && !self.workers.contains_key(&index) {
            self.make_room(record.times().0, sink);
            if self.workers.len() >= MOST_WORKERS {
                return None;
            }
        }
        Some(self.workers.entry(index).or_default())
    }

    /// Forgets what has ended before `now`. Where that is too little to make room for long, it
    /// forgets the rest: no program has so much open at once.
    #[cold]
    fn make_room(&mut self, now: i64, sink: &mut impl SpanSink) {
        self.close(now, sink);
        if self.open > MOST_OPEN / 2 || self.workers.len() > MOST_WORKERS / 2 {
            self.close(i64::MAX, sink);
            self.workers.clear();
            self.open = 0;
        }
    }

    /// Lets go of what has ended before `now`, and of workers of which nothing is left.
    fn close(&mut self, now: i64, sink: &mut impl SpanSink) {
        self.open = 0;
        self.workers.retain(|_, worker| {
            while let Some(inner) = worker.open.pop_if(|inner| inner.end < now || now == i64::MAX) {
                worker.leave(inner, sink);
            }
            self.open += worker.open.len();
            !worker.open.is_empty() || worker.before.is_some()
        });
    }

    /// Ends the file. Returns how many arrows told when a task became ready.
    pub fn finish(mut self, sink: &mut impl SpanSink) -> Told {
        self.close(i64::MAX, sink);
        self.told
    }
}

impl Worker {
    /// Lets go of the innermost span. One around it with the same start is the same task to whoever
    /// hears of it.
    fn leave(&mut self, inner: Open, sink: &mut impl SpanSink) {
        match self.open.last_mut() {
            Some(outer) if outer.start == inner.start => outer.ready = outer.ready.max(inner.ready),
            _ => {
                if let Some(ready_ns) = inner.ready {
                    sink.ready(ready_ns, inner.start);
                }
            }
        }
    }
}

/// Tells whether a ready time is on the clock of a start.
fn near(ready_ns: i64, start_ns: i64) -> bool {
    ready_ns.abs_diff(start_ns) <= NEAR_NS as u64
}
