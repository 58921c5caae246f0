//! Ready times from flows, as far as the order of the file tells them.

use taskscale_model::span::{FlowEvent, FlowPart, SpanSink};

use crate::{number::Time, tally::Reason, workers::Id};

use super::{
    assemble::Assembler,
    covered::NEAR_NS,
    event::Event,
    flavour::Flavour,
    flows::{End, Target},
    keys::{flow_key, thread_key},
};

impl Assembler<'_> {
    /// Takes the beginning, a step or the end of a flow.
    #[inline(never)]
    pub fn flow(&mut self, event: &Event<'_>, sink: &mut impl SpanSink) {
        self.tally.drop(Reason::Flow, 1);
        let Time::Ns(ts) = event.ts else { return };
        if !self.flavour.submits(event) {
            return;
        }
        let (flow, track) = (flow_key(event), thread_key(event.process, event.thread));
        let on = event.phase == b't';
        let part = match event.phase {
            b's' => FlowPart::Begin,
            _ if self.flavour.submits_to_starts() => FlowPart::At,
            b't' => FlowPart::Step,
            _ if event.encloses => FlowPart::In,
            _ => FlowPart::Before,
        };
        sink.flow(&FlowEvent { flow, track, ts, part });
        if part == FlowPart::Begin {
            if let Some(target) = self.flows.begin(flow, ts) {
                self.tell(target, ts, sink);
            }
            return;
        }
        let end = self.flows.end(flow, ts, event.encloses || on, on);
        match self.slice_of(&end, event) {
            Some(start_ns) => self.bind(&end, Target { track, start_ns }, sink),
            None if self.flavour.submits_to_starts() => {
                let refused = self.refused == (event.process, event.thread, event.ts);
                self.flows.counts.elsewhere += u64::from(refused);
            }
            None => self.flows.wait(track, end),
        }
    }

    /// Returns the begin of the slice that a flow's end points to, of those that have come.
    fn slice_of(&mut self, end: &End, event: &Event<'_>) -> Option<i64> {
        let ts = end.ts.checked_sub(self.clock.origin()?)?;
        let open = self.stacks.top(thread_key(event.process, event.thread));
        if let Some(open) = open.filter(|open| open.refused.is_none() && end.is_in(ts, open.start_ns, ts)) {
            return Some(open.start_ns);
        }
        let (worker, start, stop) = self.last;
        let is_last = self.workers.known(event.process, event.thread) == Some(worker);
        let held = || self.singles.times(event.process, event.thread);
        let (start, stop) = if is_last { (start, stop) } else { held()? };
        let fits = end.is_in(ts, start, stop) && (ts == start || !self.flavour.submits_to_starts());
        fits.then_some(start)
    }

    /// Hands on when a task became ready to which flows point that came before it.
    #[cold]
    pub fn slice_of_flows(&mut self, track: (Id, Id), times: (i64, i64), sink: &mut impl SpanSink) {
        let Some(origin) = self.clock.origin() else { return };
        let (track, (start_ns, end_ns)) = (thread_key(track.0, track.1), times);
        while let Some(end) = self.flows.pending(track, start_ns, end_ns, origin) {
            self.bind(&end, Target { track, start_ns }, sink);
        }
    }

    fn bind(&mut self, end: &End, target: Target, sink: &mut impl SpanSink) {
        let starts = self.clock.origin().and_then(|origin| target.start_ns.checked_add(origin));
        self.flows.counts.unsure += u64::from(starts != Some(end.ts));
        if let Some(departure) = self.flows.bind(end, target) {
            self.tell(target, departure, sink);
        }
    }

    /// Hands on when a task became ready. `ts` is on the clock of the source.
    fn tell(&mut self, target: Target, ts: i64, sink: &mut impl SpanSink) {
        let ready_ns = self.clock.origin().and_then(|origin| ts.checked_sub(origin));
        let Some(ready_ns) = ready_ns.filter(|ready| ready.abs_diff(target.start_ns) <= NEAR_NS as u64)
        else {
            return;
        };
        self.flows.counts.unsure += u64::from(ready_ns > target.start_ns);
        // A kernel is launched once.
        let joins = self.flavour != Flavour::PyTorch;
        if let Some((ready_ns, start_ns)) = self.flows.tell(target, ready_ns, joins) {
            sink.ready(ready_ns, start_ns);
        }
    }

    /// Ends the file: tells how many flows gave no ready time.
    pub fn finish_flows(&mut self) {
        // Flows were told to end in begins that have become no spans, or on tracks that are no
        // workers.
        let (open, unplaced) = self.stacks.open();
        let gone = open + unplaced + self.tally.dropped(Reason::NegativeDuration) > 0
            || !self.summaries.is_empty()
            || self.covered.others().is_some();
        let counts = &mut self.flows.counts;
        counts.unsure += u64::from(gone && counts.told.told > 0);
        // PyTorch's launches are told by their times, in any order; others are of kernels that were
        // not recorded.
        counts.may_be_untold = self.flavour == Flavour::PyTorch;
        self.tally.untold = counts.untold(counts.told);
        if let Some(note) = counts.note() {
            self.tally.note(note);
        }
    }
}
