//! Holds back the first span of each track until a second one comes.
//!
//! A track with one span as long as all others together is a summary and no worker: `main`, a
//! profiler's own run, the whole build. Whether a track has a second span is known at the end only,
//! and a span that went into a digest cannot be taken back.

use std::collections::HashMap;

use crate::workers::Id;

/// Most spans that are held, with names of at most [`MOST_NAME`] bytes: about 1.5 MB. Further
/// tracks are workers, whatever they hold.
const MOST_HELD: usize = 4_096;
const MOST_NAME: usize = 256;

/// A summary covers at least this share of the time, in percent.
const SUMMARY: i128 = 95;
/// The other tracks cover at least this share of the time, in percent. A worker that had one long
/// task while the others ran out of work is no summary.
const OTHERS: i128 = 90;
/// The other tracks hold at least so many spans for each summary. Where few tasks are as long as
/// the run, each may be a worker's share of it.
const SPANS: u64 = 16;

/// The first span of a track, as it stands in the file.
#[derive(Debug)]
pub struct Held {
    pub process: Id,
    pub thread: Id,
    pub start_ns: i64,
    pub end_ns: i64,
    pub name: Box<[u8]>,
    pub plain: bool,
    pub cpu_ns: Option<u64>,
    /// The events that it was made from.
    pub events: u64,
}

/// The tracks of which one span was seen.
#[derive(Debug, Default)]
pub struct Singles {
    /// With the order in which they came.
    held: HashMap<(Id, Id), (u64, Held)>,
    next: u64,
}

impl Singles {
    /// Tells whether a span with this name can be held.
    pub fn has_room(&self, name: &[u8]) -> bool {
        self.held.len() < MOST_HELD && name.len() <= MOST_NAME
    }

    /// Holds the first span of a track.
    pub fn hold(&mut self, held: Held) {
        self.next += 1;
        self.held.insert((held.process, held.thread), (self.next, held));
    }

    /// The times of the span that is held for a track.
    pub fn times(&self, process: Id, thread: Id) -> Option<(i64, i64)> {
        self.held.get(&(process, thread)).map(|(_, held)| (held.start_ns, held.end_ns))
    }

    /// Takes the span of a track out.
    pub fn take(&mut self, process: Id, thread: Id) -> Option<Held> {
        self.held.remove(&(process, thread)).map(|(_, held)| held)
    }

    /// Ends the file. Returns what is held, in the order in which it came: the spans of workers,
    /// and those of summaries. `others` is the stretch that all other tracks cover; `spans` and
    /// `tracks` are how many there are.
    pub fn settle(&mut self, others: Option<(i64, i64)>, spans: u64, tracks: u64) -> (Vec<Held>, Vec<Held>) {
        let mut held: Vec<(u64, Held)> = self.held.drain().map(|(_, held)| held).collect();
        held.sort_by_key(|held| held.0);
        let held: Vec<Held> = held.into_iter().map(|(_, held)| held).collect();
        let Some((first, last)) = others else { return (held, Vec::new()) };
        let begin = held.iter().map(|held| held.start_ns).fold(first, i64::min);
        let end = held.iter().map(|held| held.end_ns).fold(last, i64::max);
        let length = |start: i64, end: i64| i128::from(end) - i128::from(start);
        let whole = length(begin, end);
        if whole == 0 || 100 * length(first, last) < OTHERS * whole {
            return (held, Vec::new());
        }
        let is_summary = |held: &Held| 100 * length(held.start_ns, held.end_ns) >= SUMMARY * whole;
        let summaries = held.iter().filter(|held| is_summary(held)).count() as u64;
        if summaries > tracks || spans < SPANS * summaries {
            return (held, Vec::new());
        }
        held.into_iter().partition(|held| !is_summary(held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(i: i64, (start_ns, end_ns): (i64, i64)) -> Held {
        let (process, thread) = (Id::Absent, Id::Integer(i));
        Held { process, thread, start_ns, end_ns, name: Box::default(), plain: true, cpu_ns: None, events: 1 }
    }

    fn place(held: &Held) -> i64 {
        if let Id::Integer(place) = held.thread { place } else { -1 }
    }

    fn settled(all: &[(i64, i64)], others: Option<(i64, i64)>, spans: u64, tracks: u64) -> Vec<i64> {
        let mut singles = Singles::default();
        for (i, times) in all.iter().enumerate() {
            singles.hold(held(i as i64, *times));
        }
        let (workers, summaries) = singles.settle(others, spans, tracks);
        assert_eq!(workers.len() + summaries.len(), all.len());
        assert!(workers.is_sorted_by_key(place));
        summaries.iter().map(place).collect()
    }

    #[test]
    fn a_span_around_all_others_is_a_summary() {
        assert_eq!(settled(&[(40, 50), (0, 1_000)], Some((10, 990)), 16, 1), [1]);
        assert_eq!(settled(&[(0, 1_000), (5, 995)], Some((10, 990)), 32, 2), [0, 1]);
    }

    #[test]
    fn what_may_be_a_workers_share_is_none() {
        // The others end early: a straggler.
        assert_eq!(settled(&[(0, 1_000)], Some((0, 800)), 1_000, 7), [] as [i64; 0]);
        // Each of four workers has one long task, or the others have few.
        assert_eq!(settled(&[(0, 1_000); 4], None, 0, 0), [] as [i64; 0]);
        assert_eq!(settled(&[(0, 1_000); 3], Some((0, 1_000)), 100, 1), [] as [i64; 0]);
        assert_eq!(settled(&[(0, 1_000)], Some((0, 1_000)), 15, 3), [] as [i64; 0]);
        // It is not as long as the window.
        assert_eq!(settled(&[(0, 940)], Some((0, 1_000)), 100, 3), [] as [i64; 0]);
        assert_eq!(settled(&[(5, 5)], Some((5, 5)), 100, 3), [] as [i64; 0]);
    }

    #[test]
    fn only_so_many_are_held() {
        let mut singles = Singles::default();
        assert!(!singles.has_room(&[b'x'; MOST_NAME + 1]));
        for i in 0..MOST_HELD as i64 {
            assert!(singles.has_room(b"x"));
            singles.hold(held(i, (0, 1)));
        }
        assert!(!singles.has_room(b"x"));
        assert!(singles.take(Id::Absent, Id::Integer(7)).is_some() && singles.has_room(b"x"));
    }
}
