//! Counts the entries of a buffer into a worker's sums.

use taskscale_digest::TimedSpan;
use taskscale_model::span::{Depth, Span};

use crate::{entry::Entry, shared::ENTRIES, state::State};

impl State {
    /// Counts the entries of a buffer.
    pub fn entries(&mut self, entries: impl Iterator<Item = Entry> + Clone) {
        if entries.clone().any(|entry| entry.untimed > 0) {
            self.sampled(entries);
        } else {
            self.exact(entries);
        }
    }

    /// Counts entries none of which stands for others.
    fn exact(&mut self, mut entries: impl Iterator<Item = Entry>) {
        let (worker, scale, since) = (self.worker, self.scale(), self.since);
        loop {
            // Outermost leaves go in one batch: nearly all entries are such. The first other entry
            // ends the batch.
            let mut other = None;
            let State { accumulator, names, last, latest, .. } = self;
            let leaves = std::iter::from_fn(|| {
                let entry = entries.next()?;
                if entry.begin < since || entry.end < entry.begin || !entry.is_simple() {
                    other = Some(entry);
                    return None;
                }
                (*last, *latest) = (entry.end, entry.number);
                Some((entry.begin, entry.end, entry.number))
            });
            accumulator.leaves(worker, leaves, scale, |number| names.name(number));
            let Some(entry) = other else { return };
            self.one(&entry);
        }
    }

    /// Counts entries some of which stand for others.
    fn sampled(&mut self, entries: impl Iterator<Item = Entry>) {
        let mut batch = [TimedSpan::default(); ENTRIES];
        let mut length = 0;
        let mut last = self.last;
        for entry in entries {
            let known = last >= self.since && entry.begin >= self.since && entry.end >= entry.begin;
            if known && entry.is_simple() && length < ENTRIES {
                let Entry { begin, end, number, untimed, .. } = entry;
                batch[length] = TimedSpan { begin, end, number, untimed };
                length += 1;
                last = end;
                continue;
            }
            self.samples(&batch[..length]);
            self.one(&entry);
            (length, last) = (0, self.last);
        }
        self.samples(&batch[..length]);
    }

    /// Counts outermost leaves and the untimed tasks that they stand for.
    fn samples(&mut self, samples: &[TimedSpan]) {
        let Some(last) = samples.last() else { return };
        let odd = self.estimate.learn(samples, self.last);
        self.unknown(self.rate.ns(odd));
        let (scale, names) = (self.scale(), &self.names);
        self.accumulator
            .samples(self.worker, samples, self.last, &self.estimate, scale, |number| names.name(number));
        (self.last, self.latest) = (last.end, last.number);
        for sample in samples.iter().filter(|sample| sample.untimed > 0) {
            self.sampled.timed += 1;
            self.sampled.untimed += u64::from(sample.untimed);
        }
    }

    /// Counts any entry alone.
    fn one(&mut self, entry: &Entry) {
        let Entry { begin, end, .. } = *entry;
        if self.last < self.since && begin >= self.since {
            // The first timed task behind a clearing: those before it that were not timed are taken
            // to be like it, as everywhere.
            self.latest = entry.number;
        }
        if entry.untimed > 0 {
            let rest = self.window(begin, entry.untimed, 0).rest_ns;
            let odd = self.estimate.is_odd_rest(self.rate.ticks(rest));
            self.unknown(if odd { rest } else { 0 });
        }
        if entry.depth == 0 {
            self.last = end;
        }
        if entry.closes {
            return;
        }
        if begin < self.since || end < begin {
            // A task that ended before the clearing is forgotten. A task that was open then is cut.
            self.cut.open += u64::from(end >= self.since);
            return;
        }
        let (name, depth) = (self.names.name(entry.number), Depth::Level(entry.depth));
        let (start_ns, end_ns) = (self.scale().ns(begin), self.scale().ns(end));
        let span = Span { worker: self.worker, start_ns, end_ns, name, depth, ..Span::default() };
        self.accumulator.known(&span, entry.depth, entry.leaf);
    }
}
