//! Makes spans of events: durations, pairs, filters, names, workers.

use taskscale_model::{
    answer::splitmix,
    span::{Depth, Span, SpanSink},
};

use crate::{
    bytes::{hash, is_numbered},
    error::TraceError,
    json::unescape_into,
    number::Time,
    options::{Clock, Options},
    tally::{Reason, Tally},
    workers::WorkerTable,
};

use super::{
    clocks::Clocks,
    event::{Event, Text},
    flavour::Flavour,
    open::{Begin, Ended, Stacks, Table},
};

/// Makes spans of the events of one file.
pub struct Assembler<'o> {
    pub options: &'o Options,
    pub workers: &'o mut WorkerTable,
    pub clock: &'o mut Clock,
    pub clocks: Clocks,
    pub tally: Tally,
    pub flavour: Flavour,
    stacks: Stacks,
    table: Table,
    scratch: Vec<u8>,
    open_name: Vec<u8>,
    filtered: bool,
    paired: u64,
    task_threads: u64,
}

impl<'o> Assembler<'o> {
    pub fn new(
        options: &'o Options,
        workers: &'o mut WorkerTable,
        clock: &'o mut Clock,
        flavour: Flavour,
    ) -> Self {
        let filtered = options.cat.is_some() || options.name.is_some();
        let (tally, stacks, table) = (Tally::default(), Stacks::default(), Table::default());
        Assembler {
            options,
            workers,
            clock,
            clocks: Clocks::default(),
            tally,
            flavour,
            stacks,
            table,
            scratch: Vec::new(),
            open_name: Vec::new(),
            filtered,
            paired: 0,
            task_threads: 0,
        }
    }

    /// Takes one event.
    #[inline(always)]
    pub fn event(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        self.tally.seen += 1;
        match event.phase {
            b'X' => self.complete(event, sink),
            b'B' => self.begin(event),
            b'E' => self.end(event, sink),
            b'b' => self.begin_async(event),
            b'e' => self.end_async(event, sink),
            b'M' => self.metadata(event),
            b'i' | b'I' | b'R' | b'n' => self.tally.drop(Reason::Instant, 1),
            b'C' => self.tally.drop(Reason::Counter, 1),
            0 => self.tally.drop(Reason::Malformed, 1),
            _ => self.tally.drop(Reason::OtherPhase, 1),
        }
    }

    /// Reads a name of a thread. With `log_async` VizTracer gives each asyncio task a thread of its
    /// own and names it behind all events.
    #[inline(never)]
    fn metadata(&mut self, event: &Event<'_>) {
        self.tally.drop(Reason::Metadata, 1);
        let names_task =
            event.name.raw == b"thread_name" && memchr::memmem::find(event.args, b"\"Task-").is_some();
        self.task_threads += u64::from(names_task && self.flavour == Flavour::VizTracer);
    }

    #[inline(always)]
    fn complete(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        if let Some(reason) = self.refused(event) {
            return self.tally.drop(reason, 1);
        }
        let (Time::Ns(ts), Time::Ns(dur)) = (event.ts, event.dur) else {
            return self.without_times(event);
        };
        let start = self.clock.since_origin(ts);
        let Some((start_ns, end_ns)) = start.and_then(|start| Some((start, start.checked_add(dur)?))) else {
            return self.tally.drop(Reason::OutOfRange, 1);
        };
        if !self.clocks.takes(ts) {
            return self.other_clock(ts, 1);
        }
        if dur < 0 {
            return self.tally.drop(Reason::NegativeDuration, 1);
        }
        let worker = self.workers.index(event.process, event.thread);
        self.tally.learn_step(ts);
        self.tally.learn_step(dur);
        self.emit(worker, start_ns, end_ns, event.name, 1, sink);
    }

    #[cold]
    fn other_clock(&mut self, ts: i64, events: u64) {
        self.clocks.count_other(ts, events);
        self.tally.drop(Reason::OtherClock, events);
    }

    #[cold]
    fn without_times(&mut self, event: &Event<'_>) {
        let reason = match (event.ts, event.dur) {
            (Time::Ns(_), dur) => Tally::time_reason(dur, Reason::NoDuration),
            (ts, _) => Tally::time_reason(ts, Reason::NoStart),
        };
        self.tally.drop(reason, 1);
    }

    /// Says why the event is not counted, by who wrote it and by the filters.
    #[inline(always)]
    fn refused(&mut self, event: &Event<'_>) -> Option<Reason> {
        if self.filtered { self.filter(event) } else { self.flavour.refuses(event) }
    }

    #[inline(never)]
    fn filter(&mut self, event: &Event<'_>) -> Option<Reason> {
        if let Some(cat) = &self.options.cat {
            // A user who asks for a category knows which events they want, so the writer's own rule
            // is off.
            if !self.holds(event.cat, cat.as_bytes()) {
                return Some(Reason::FilteredCat);
            }
        } else if let Some(reason) = self.flavour.refuses(event) {
            return Some(reason);
        }
        match &self.options.name {
            Some(name) if !self.holds(event.name, name.as_bytes()) => Some(Reason::FilteredName),
            _ => None,
        }
    }

    fn holds(&mut self, text: Text<'_>, part: &[u8]) -> bool {
        if text.plain {
            return memchr::memmem::find(text.raw, part).is_some();
        }
        self.scratch.clear();
        unescape_into(text.raw, &mut self.scratch);
        memchr::memmem::find(&self.scratch, part).is_some()
    }

    #[inline(always)]
    fn emit(
        &mut self,
        worker: u32,
        start_ns: i64,
        end_ns: i64,
        name: Text<'_>,
        events: u64,
        sink: &mut impl SpanSink,
    ) {
        let name = self.flavour.name(name);
        let span = Span { worker, start_ns, end_ns, name: name.raw, depth: Depth::Unknown };
        self.tally.counted += events;
        if name.plain { sink.span(&span) } else { self.emit_escaped(&span, sink) }
    }

    /// Hands on a span whose name holds escapes or bytes that are not plain ASCII.
    #[inline(never)]
    pub fn emit_escaped(&mut self, span: &Span<'_>, sink: &mut impl SpanSink) {
        self.tally.odd_name(span.name);
        self.scratch.clear();
        unescape_into(span.name, &mut self.scratch);
        sink.span(&Span { name: &self.scratch, ..*span });
    }

    /// Tells whether every complete event whose times can be read becomes a span.
    #[inline]
    pub fn takes_all(&self) -> bool {
        !self.filtered && self.flavour.refuses_nothing()
    }

    /// Makes a begin of an event, with what is known about its time. A begin whose time cannot be
    /// used still takes its place in the pairing.
    fn begin_of(&mut self, event: &Event<'_>) -> Begin {
        let mut refused = self.refused(event);
        let mut start_ns = 0;
        match event.ts {
            // Only the times of tasks set the origin and the step.
            Time::Ns(_) if refused.is_some() => {}
            Time::Ns(ts) => match self.clock.since_origin(ts) {
                Some(start) if self.clocks.takes(ts) => {
                    start_ns = start;
                    self.tally.learn_step(ts);
                }
                Some(_) => {
                    self.clocks.count_other(ts, 2);
                    refused = Some(Reason::OtherClock);
                }
                None => refused = Some(Reason::OutOfRange),
            },
            other => refused = refused.or(Some(Tally::time_reason(other, Reason::NoStart))),
        }
        // A thread that runs no task is no worker.
        let worker = if refused.is_none() { self.workers.index(event.process, event.thread) } else { 0 };
        Begin { start_ns, worker, refused }
    }

    fn begin(&mut self, event: &Event<'_>) {
        let begin = self.begin_of(event);
        self.stacks.begin(thread_key(event), begin, event.name.raw);
    }

    fn end(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        let mut name = std::mem::take(&mut self.open_name);
        name.clear();
        match self.stacks.end(thread_key(event), &mut name) {
            Ended::Begin(begin) => {
                let plain = !name.iter().any(|&byte| byte == b'\\' || !(0x20..0x80).contains(&byte));
                self.close(
                    begin,
                    event.ts,
                    Text { raw: &name, plain, numbered: is_numbered(&name, 0, name.len()) },
                    sink,
                );
            }
            Ended::Unplaced => self.tally.drop(Reason::Evicted, 2),
            Ended::Nothing => self.tally.drop(Reason::NoBegin, 1),
        }
        self.open_name = name;
    }

    fn begin_async(&mut self, event: &Event<'_>) {
        let begin = self.begin_of(event);
        self.table.begin(async_key(event), begin);
    }

    fn end_async(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        match self.table.end(async_key(event)) {
            Some(begin) => self.close(begin, event.ts, event.name, sink),
            None => self.tally.drop(Reason::NoBegin, 1),
        }
    }

    /// Makes a span of a begin and the time of its end.
    fn close(&mut self, begin: Begin, ts: Time, name: Text<'_>, sink: &mut impl SpanSink) {
        if let Some(reason) = begin.refused {
            return self.tally.drop(reason, 2);
        }
        let Time::Ns(ts) = ts else {
            return self.tally.drop(Tally::time_reason(ts, Reason::NoDuration), 2);
        };
        match self.clock.since_origin(ts) {
            None => self.tally.drop(Reason::OutOfRange, 2),
            Some(_) if !self.clocks.takes(ts) => self.other_clock(ts, 2),
            Some(end_ns) if end_ns < begin.start_ns => self.tally.drop(Reason::NegativeDuration, 2),
            Some(end_ns) => {
                self.tally.learn_step(ts);
                self.paired += 1;
                self.emit(begin.worker, begin.start_ns, end_ns, name, 2, sink);
            }
        }
    }

    /// Counts what is still open and adds the notes for the user.
    pub fn finish(&mut self) -> Result<(), TraceError> {
        if let Some((others, distance)) = self.clocks.others() {
            if others > self.tally.counted {
                return Err(TraceError::TwoClocks { counted: self.tally.counted, others, distance });
            }
            self.tally.note(format!(
                "{others} events are on another clock, {distance} off (time since a start beside time since 1970?); they \
                 are not counted"
            ));
        }
        let (open, unplaced) = self.stacks.open();
        self.tally.drop(Reason::NoEnd, open + self.table.open());
        self.tally.drop(Reason::Evicted, unplaced + self.table.evicted);
        if self.task_threads > 0 {
            let n = self.task_threads;
            self.tally.note(format!(
                "VizTracer's log_async: {n} of the threads are asyncio tasks and no workers; say --workers 1 for one event loop"
            ));
        }
        if self.flavour == Flavour::TracingChrome && self.tally.dropped(Reason::Lifetime) > 0 {
            self.tally.note(
                "tracing-chrome's asynchronous style says when tasks were alive, not when they ran: record with \
                 TraceStyle::Threaded",
            );
        }
        if self.flavour == Flavour::TracingChrome && self.paired > 0 {
            self.tally.note(
                "tracing-chrome: a span is one enter and exit of a task's future; the drop of a finished future shows as \
                 a further, short one, so there are more spans than tasks",
            );
        }
        Ok(())
    }
}

/// Identifies the stack that a `B` or `E` belongs to.
fn thread_key(event: &Event<'_>) -> u64 {
    splitmix(splitmix(event.process.bits()) ^ event.thread.bits())
}

/// Hashes what identifies an asynchronous event: category, id, name and process.
fn async_key(event: &Event<'_>) -> u64 {
    let seed = event.process.bits() ^ event.id.bits().rotate_left(32);
    hash(event.cat.raw, hash(event.name.raw, splitmix(seed)))
}
