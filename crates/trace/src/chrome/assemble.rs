//! Makes spans of events: durations, pairs, filters, names, workers.

use taskscale_model::span::{Span, SpanSink};

use crate::{
    bytes::is_numbered,
    error::TraceError,
    json::{members, text, unescape_into, unescaped},
    number::Time,
    options::{Clock, Options, end_of},
    tally::{Reason, Tally},
    workers::{Id, WorkerTable, short_name},
};

use super::{
    collectives::Collectives,
    covered::{Covered, NEAR_NS},
    event::{Event, Text},
    flavour::Flavour,
    flows::Flows,
    keys::{async_key, thread_key},
    open::{Begin, Ended, Stacks, Table},
    pools::Pools,
    python_waits,
    singles::{Held, Singles},
    task_tracks::TaskTracks,
};

/// What a span is made of, beside its place.
#[derive(Clone, Copy)]
struct Made<'a> {
    name: Text<'a>,
    cpu_ns: Option<u64>,
    /// The number of events.
    events: u64,
}

/// Makes spans of the events of one file.
pub struct Assembler<'o> {
    pub options: &'o Options,
    pub workers: &'o mut WorkerTable,
    pub clock: &'o mut Clock,
    pub covered: Covered,
    pub tally: Tally,
    pub flavour: Flavour,
    pub flows: Flows,
    /// Worker, start and end of the last span of a track.
    pub last: (u32, i64, i64),
    /// Track and start of the last slice that is no task, where flows end at such.
    pub refused: (Id, Id, Time),
    pub stacks: Stacks,
    table: Table,
    pub singles: Singles,
    pub summaries: Vec<String>,
    asynchronous: Option<String>,
    scratch: Vec<u8>,
    open_name: Vec<u8>,
    filtered: bool,
    paired: u64,
    pub task_tracks: TaskTracks,
    pub pools: Pools,
    collectives: Collectives,
}

impl<'o> Assembler<'o> {
    pub fn new(
        options: &'o Options,
        workers: &'o mut WorkerTable,
        clock: &'o mut Clock,
        flavour: Flavour,
        pools: Pools,
    ) -> Self {
        let filtered = options.cat.is_some() || options.name.is_some();
        let (tally, stacks, table) = (Tally::default(), Stacks::default(), Table::default());
        Assembler {
            options,
            workers,
            clock,
            covered: Covered::default(),
            tally,
            flavour,
            flows: Flows::default(),
            last: (u32::MAX, 0, 0),
            refused: (Id::Absent, Id::Absent, Time::Missing),
            stacks,
            table,
            singles: Singles::default(),
            summaries: Vec::new(),
            asynchronous: None,
            scratch: Vec::new(),
            open_name: Vec::new(),
            filtered,
            paired: 0,
            task_tracks: TaskTracks::default(),
            pools,
            collectives: Collectives::default(),
        }
    }

    /// Takes one event.
    #[inline(always)]
    pub fn event(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        self.tally.seen += 1;
        match event.phase {
            b'X' => self.complete(event, sink),
            b'B' => self.begin(event, sink),
            b'E' => self.end(event, sink),
            b'b' => self.begin_async(event),
            b'e' => self.end_async(event, sink),
            b'M' => self.metadata(event),
            b's' | b't' | b'f' => self.flow(event, sink),
            b'i' | b'I' | b'R' | b'n' => self.tally.drop(Reason::Instant, 1),
            b'C' => self.tally.drop(Reason::Counter, 1),
            b'S' | b'T' | b'p' | b'F' => self.tally.drop(Reason::Asynchronous, 1),
            0 => self.tally.drop(Reason::Malformed, 1),
            _ => self.tally.drop(Reason::OtherPhase, 1),
        }
    }

    /// Reads a name of a thread or a process.
    #[inline(never)]
    fn metadata(&mut self, event: &Event<'_>) {
        self.tally.drop(Reason::Metadata, 1);
        let mut value = &b""[..];
        if event.args.first() == Some(&b'{') {
            members(event.args, |key, text| {
                if matches!(key, b"name" | b"labels") {
                    value = text;
                }
            });
        }
        if value.is_empty() {
            return;
        }
        let name = text(value);
        match event.name.raw {
            b"thread_name" if self.names_task(event, &name) => {}
            b"thread_name" => self.workers.name_thread(event.process, event.thread, &name),
            b"process_name" => self.workers.name_process(event.process, &name, false),
            b"process_labels" => self.workers.name_process(event.process, &name, true),
            _ => {}
        }
    }

    #[inline(always)]
    fn complete(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        if let Some(reason) = self.refuses(event) {
            if self.flavour.submits_to_starts() {
                self.refused = (event.process, event.thread, event.ts);
            }
            return self.tally.drop(reason, 1);
        }
        let (Time::Ns(ts), Time::Ns(dur)) = (event.ts, event.dur) else {
            return self.without_times(event);
        };
        let start = self.clock.since_origin(ts);
        let Some((start_ns, end_ns)) = start.and_then(|start| Some((start, end_of(start, dur)?))) else {
            return self.tally.drop(Reason::OutOfRange, 1);
        };
        if dur < 0 {
            return self.tally.drop(Reason::NegativeDuration, 1);
        }
        self.tally.learn_step(ts);
        self.tally.learn_step(dur);
        let made = Made { name: event.name, cpu_ns: self.flavour.cpu_ns(event), events: 1 };
        self.of_track((event.process, event.thread), (start_ns, end_ns), made, sink);
    }

    /// Takes the span of a track. The first of a track is held back where the track may be a
    /// summary.
    #[inline(always)]
    fn of_track(
        &mut self,
        track: (Id, Id),
        (start_ns, end_ns): (i64, i64),
        made: Made<'_>,
        sink: &mut impl SpanSink,
    ) {
        if self.flows.waits() {
            self.slice_of_flows(track, (start_ns, end_ns), sink);
        }
        let known = self.workers.known(track.0, track.1);
        if known.is_none() && self.holds_singles() && !self.second_of(track, (start_ns, end_ns), made, sink) {
            return;
        }
        if !self.covered.takes(start_ns, end_ns) {
            return self.other_clock(start_ns, made.events);
        }
        let worker = known.unwrap_or_else(|| self.new_track(track));
        self.last = (worker, start_ns, end_ns);
        self.emit(worker, (start_ns, end_ns), made, sink);
    }

    /// Takes the span of a track that is no worker yet. Returns `false` where it is held back.
    #[cold]
    fn second_of(
        &mut self,
        track: (Id, Id),
        times: (i64, i64),
        made: Made<'_>,
        sink: &mut impl SpanSink,
    ) -> bool {
        if let Some(held) = self.singles.take(track.0, track.1) {
            self.release(&held, sink);
            return true;
        }
        let Made { name, cpu_ns, events } = made;
        let room = self.singles.has_room(name.raw);
        if room {
            let ((process, thread), (start_ns, end_ns)) = (track, times);
            let (name, plain) = (name.raw.into(), name.plain);
            self.singles.hold(Held { process, thread, start_ns, end_ns, name, plain, cpu_ns, events });
        }
        !room
    }

    /// Hands on a span that was held back.
    fn release(&mut self, held: &Held, sink: &mut impl SpanSink) {
        if !self.covered.takes(held.start_ns, held.end_ns) {
            return self.other_clock(held.start_ns, held.events);
        }
        let worker = self.workers.index(held.process, held.thread);
        let numbered = is_numbered(&held.name, 0, held.name.len());
        let name = Text { raw: &held.name, plain: held.plain, numbered };
        let made = Made { name, cpu_ns: held.cpu_ns, events: held.events };
        self.emit(worker, (held.start_ns, held.end_ns), made, sink);
    }

    /// Tells whether the first span of a track is held back: no writer's rule and no user says
    /// which tracks are workers.
    #[inline(always)]
    pub fn holds_singles(&self) -> bool {
        !self.filtered && self.flavour == Flavour::Plain
    }

    /// Ends the file: what was held back is a worker's or a summary.
    pub fn settle(&mut self, sink: &mut impl SpanSink) {
        if let Some((ready_ns, start_ns)) = self.flows.finish() {
            sink.ready(ready_ns, start_ns);
        }
        let (spans, tracks) = (self.tally.counted, self.workers.seen_in_file());
        // Where a writer's rule came to be known, that rule has judged the summaries.
        let others = if self.holds_singles() { self.covered.stretch() } else { None };
        let (workers, summaries) = self.singles.settle(others, spans, tracks);
        for held in workers {
            self.release(&held, sink);
        }
        for held in summaries {
            self.tally.drop(Reason::Summary, held.events);
            let span = plain_name(&held.name);
            self.summaries.push(match self.workers.name_of(held.process, held.thread) {
                Some(track) => format!("\"{track}\" (\"{span}\")"),
                None => format!("\"{span}\""),
            });
        }
    }

    #[cold]
    fn other_clock(&mut self, ns: i64, events: u64) {
        self.covered.count_other(ns, events);
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
    fn refuses(&mut self, event: &Event<'_>) -> Option<Reason> {
        let reason = if self.filtered { self.filter(event) } else { self.judge(event) };
        if reason.is_some() && self.flavour == Flavour::Plain {
            self.learn_of_refused(event, reason);
        }
        if reason == Some(Reason::Annotation) {
            self.collectives.see(event.name.raw);
        }
        reason
    }

    /// Judges an event by who wrote it.
    #[inline(always)]
    fn judge(&mut self, event: &Event<'_>) -> Option<Reason> {
        let reason = self.flavour.refuses(event);
        if self.flavour == Flavour::PyTorch && reason.is_none() {
            return self.pools.refuses(event.cat.raw);
        }
        reason
    }

    /// Learns from an event that is no task: who wrote the file, and what to tell.
    #[cold]
    fn learn_of_refused(&mut self, event: &Event<'_>, reason: Option<Reason>) {
        match reason {
            Some(Reason::Summary) => self.flavour = Flavour::TimeTrace,
            Some(Reason::Asynchronous) => {
                self.asynchronous.get_or_insert_with(|| plain_name(event.name.raw));
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn filter(&mut self, event: &Event<'_>) -> Option<Reason> {
        if let Some(cat) = &self.options.cat {
            // A user who asks for a category knows which events they want, so the writer's own rule
            // is off.
            if !self.holds(event.cat, cat.as_bytes()) {
                return Some(Reason::FilteredCat);
            }
        } else if let Some(reason) = self.judge(event) {
            return Some(reason);
        }
        match &self.options.name {
            // A wait is no task. It takes time from the tasks that are chosen.
            Some(_) if self.flavour == Flavour::VizTracer && python_waits::cpu_ns(event).is_some() => None,
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
        (start_ns, end_ns): (i64, i64),
        made: Made<'_>,
        sink: &mut impl SpanSink,
    ) {
        let name = self.flavour.name(made.name);
        let cpu_ns = made.cpu_ns;
        let span = Span { worker, start_ns, end_ns, name: name.raw, cpu_ns, ..Span::default() };
        self.tally.counted += made.events;
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
        let mut refused = self.refuses(event);
        let mut start_ns = 0;
        match event.ts {
            // Only the times of tasks set the origin and the step.
            Time::Ns(_) if refused.is_some() => {}
            Time::Ns(ts) => match self.clock.since_origin(ts) {
                Some(start) => {
                    start_ns = start;
                    self.tally.learn_step(ts);
                }
                None => refused = Some(Reason::OutOfRange),
            },
            other => refused = refused.or(Some(Tally::time_reason(other, Reason::NoStart))),
        }
        Begin { start_ns, worker: 0, refused }
    }

    fn begin(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        let begin = self.begin_of(event);
        if self.flows.waits() && begin.refused.is_none() {
            // Ends that lie behind the begin come behind it.
            self.slice_of_flows((event.process, event.thread), (begin.start_ns, begin.start_ns), sink);
        }
        self.stacks.begin(thread_key(event.process, event.thread), begin, event.name.raw);
    }

    fn end(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        let mut name = std::mem::take(&mut self.open_name);
        name.clear();
        match self.stacks.end(thread_key(event.process, event.thread), &mut name) {
            Ended::Begin(begin) => {
                let plain = !name.iter().any(|&byte| byte == b'\\' || !(0x20..0x80).contains(&byte));
                if let Some(times) = self.close(begin, event.ts) {
                    let name = Text { raw: &name, plain, numbered: is_numbered(&name, 0, name.len()) };
                    let made = Made { name, cpu_ns: None, events: 2 };
                    self.of_track((event.process, event.thread), times, made, sink);
                }
            }
            Ended::Unplaced => self.tally.drop(Reason::Evicted, 2),
            Ended::Nothing => self.tally.drop(Reason::NoBegin, 1),
        }
        self.open_name = name;
    }

    fn begin_async(&mut self, event: &Event<'_>) {
        let mut begin = self.begin_of(event);
        match begin.refused {
            // It needs no place: its end is refused alike.
            Some(Reason::Asynchronous) => return self.tally.drop(Reason::Asynchronous, 1),
            // A thread that runs no task is no worker.
            Some(_) => {}
            None => begin.worker = self.workers.index(event.process, event.thread),
        }
        self.table.begin(async_key(event), begin);
    }

    fn end_async(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        if self.options.cat.is_none() && self.flavour.refuses_asynchronous() {
            return self.tally.drop(Reason::Asynchronous, 1);
        }
        match self.table.end(async_key(event)) {
            Some(begin) => {
                let Some((start_ns, end_ns)) = self.close(begin, event.ts) else { return };
                if self.covered.takes(start_ns, end_ns) {
                    let made = Made { name: event.name, cpu_ns: None, events: 2 };
                    self.emit(begin.worker, (start_ns, end_ns), made, sink);
                } else {
                    self.other_clock(start_ns, 2);
                }
            }
            None => self.tally.drop(Reason::NoBegin, 1),
        }
    }

    /// Returns the times of a pair, where they make a span.
    fn close(&mut self, begin: Begin, ts: Time) -> Option<(i64, i64)> {
        let reason = match (begin.refused, ts) {
            (Some(reason), _) => reason,
            (None, Time::Ns(ts)) => match self.clock.since_origin(ts) {
                None => Reason::OutOfRange,
                Some(end_ns) if end_ns < begin.start_ns => Reason::NegativeDuration,
                // The two ends are of two clocks.
                Some(end_ns) if end_ns.saturating_sub(begin.start_ns) > NEAR_NS => {
                    self.other_clock(end_ns, 2);
                    return None;
                }
                Some(end_ns) => {
                    self.tally.learn_step(ts);
                    self.paired += 1;
                    return Some((begin.start_ns, end_ns));
                }
            },
            (None, other) => Tally::time_reason(other, Reason::NoDuration),
        };
        self.tally.drop(reason, 2);
        None
    }

    /// Says which tracks are no workers.
    fn left_out(&mut self) {
        if !self.summaries.is_empty() {
            let n = self.summaries.len();
            let shown = self.summaries[..n.min(3)].join(", ");
            let more = if n > 3 { format!(" and {} more", n - 3) } else { String::new() };
            self.tally.note(format!(
                "{shown}{more}: one span as long as the run, a summary and no worker; not counted (--name '' counts it)"
            ));
        }
        if let Some(name) = &self.asynchronous {
            let n = self.tally.dropped(Reason::Asynchronous);
            let note = format!(
                "{n} asynchronous events such as \"{name}\" lie on no thread and overlap; not counted (--cat '' counts them)"
            );
            self.tally.note(note);
        }
    }

    /// Counts what is still open and adds the notes for the user.
    pub fn finish(&mut self) -> Result<(), TraceError> {
        if let Some((others, distance)) = self.covered.others() {
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
        if self.asynchronous.is_some() || !self.summaries.is_empty() {
            self.left_out();
        }
        self.finish_flows();
        if let Some(note) = self.flavour.note() {
            self.tally.note(note);
        }
        if let Some(note) = self.pools.note() {
            self.tally.note(note);
        }
        if let Some(note) = self.collectives.note() {
            self.tally.note(note);
        }
        if let Some(note) = self.task_tracks.note() {
            self.tally.note(note);
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

/// Returns a name for a note: at most 48 bytes, without control characters.
fn plain_name(raw: &[u8]) -> String {
    short_name(&unescaped(raw))
}
