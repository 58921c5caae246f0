//! Flows: arrows from one slice to another, which tell when a task became ready.
//!
//! A flow begins (`s`) where a task is submitted and ends (`f`) in the slice that carries it out;
//! steps (`t`) are ends that are beginnings too. What a flow points to is the slice around its end,
//! or the next slice that begins on the thread, as `bp` says. The events of a flow share category,
//! name and id, in any process.
//!
//! Files have the events in any order: Kineto's kernels and the ends behind them come before or
//! behind what launched them. So ready times are handed on apart from spans. Both tables are
//! bounded, and what finds no place is counted.
//!
//! The slice of an end is looked for among those near it in the file. That is sure where the end
//! lies at the start of a slice. Elsewhere the file may have another slice that fits better, so
//! [`Counts::are_sure`] is false, and a [`Sorter`](crate::Sorter) finds the tasks.

use std::collections::{HashMap, HashSet};

/// Most flows of which one half is known: about 1 MB. The older half of them is forgotten for new
/// ones, which the sorter then pairs.
const MOST_OPEN: usize = 16_384;
/// Most ends whose slice has not come: on one track, and on all.
const MOST_ON_TRACK: usize = 16;
const MOST_PENDING: usize = 4_096;
/// Most tasks that are known to be told: about 0.5 MB.
const MOST_TOLD: usize = 16_384;

/// The beginning of the slice that a flow points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The hash of process and thread.
    pub track: u64,
    pub start_ns: i64,
}

/// The end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The hash of what identifies the flow.
    pub flow: u64,
    /// On the clock of the source.
    pub ts: i64,
    /// Whether the slice around it is meant, and not the next one.
    pub encloses: bool,
    /// When the arrow to this end begins, on the clock of the source; `None` if that event has not
    /// come.
    departure: Option<i64>,
}

impl End {
    /// Whether the end lies in a slice as it has to. `ts` is its time on the clock of the slice.
    pub fn is_in(&self, ts: i64, start_ns: i64, end_ns: i64) -> bool {
        if self.encloses { start_ns <= ts && ts <= end_ns } else { ts == start_ns }
    }
}

/// What is known of a flow.
#[derive(Debug, Clone, Copy, Default)]
struct Half {
    departure: Option<i64>,
    target: Option<Target>,
}

/// The flows of a file.
#[derive(Debug, Default)]
pub struct Flows {
    young: HashMap<u64, Half>,
    old: HashMap<u64, Half>,
    pending: HashMap<u64, Vec<End>>,
    waiting: usize,
    /// The task whose ready time was found last, and that time. Further flows may point to it, and
    /// the last of them counts.
    last: Option<(Target, i64)>,
    /// The tasks that were told before the last one, where flows of others may come in between.
    told: HashSet<(u64, i64)>,
    pub counts: Counts,
}

/// How many flows of a file told when a task became ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
    /// Ends.
    pub ends: u64,
    /// Ends of which both the task and the beginning are known.
    pub told: u64,
}

/// What was found while the file was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub told: Told,
    /// Ends for which a slice was found that may be the wrong one, or none.
    pub unsure: u64,
    /// Flows of which one half was forgotten.
    pub forgotten: u64,
    /// Ends that lie in what is no task, and need not be told.
    pub elsewhere: u64,
    /// Whether ends that tell nothing are no loss: they belong to what was not recorded.
    pub may_be_untold: bool,
}

impl Counts {
    /// Tells whether no other order of the same events would tell more or otherwise.
    pub fn are_sure(&self) -> bool {
        let Told { ends, told } = self.told;
        self.unsure == 0 && self.forgotten == 0 && told + self.elsewhere >= ends
    }

    /// How many flows are missing among the ready times, where so many were told.
    pub fn untold(&self, told: Told) -> u64 {
        if self.may_be_untold { 0 } else { told.ends - told.told }
    }

    /// Says what was told, where it is less than all.
    pub fn note(&self) -> Option<String> {
        let forgotten = match self.forgotten {
            0 => String::new(),
            n => format!("; {n} were forgotten: too many were open"),
        };
        self.told.note().map(|note| note + &forgotten)
    }
}

impl Told {
    /// Says it, where it is less than all.
    pub fn note(&self) -> Option<String> {
        let Told { ends, told } = self;
        (told < ends).then(|| {
            format!(
                "{told} of {ends} flows tell when a task became ready; the others have one end only, or end in no task"
            )
        })
    }
}

impl Flows {
    /// Whether ends wait for their slices.
    #[inline(always)]
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// Takes the beginning of a flow. Returns the target where it is known, and the flow is done.
    pub fn begin(&mut self, flow: u64, ts: i64) -> Option<Target> {
        let half = self.half(flow);
        match half.target.take() {
            Some(target) => {
                if half.departure.is_none() {
                    self.young.remove(&flow);
                }
                Some(target)
            }
            None => {
                half.departure = Some(ts);
                None
            }
        }
    }

    /// Takes an end, which is a beginning too if the flow goes `on`.
    pub fn end(&mut self, flow: u64, ts: i64, encloses: bool, on: bool) -> End {
        self.counts.told.ends += 1;
        let departure = if on {
            self.half(flow).departure.replace(ts)
        } else {
            let half = self.young.remove(&flow).or_else(|| self.old.remove(&flow));
            half.and_then(|half| half.departure)
        };
        End { flow, ts, encloses, departure }
    }

    /// Takes what an end points to. Returns when the arrow begins, where that is known.
    pub fn bind(&mut self, end: &End, target: Target) -> Option<i64> {
        if end.departure.is_none() {
            self.half(end.flow).target = Some(target);
        }
        end.departure
    }

    /// Keeps an end until its slice comes.
    pub fn wait(&mut self, track: u64, end: End) {
        if self.waiting >= MOST_PENDING && !self.pending.contains_key(&track) {
            return;
        }
        let on_track = self.pending.entry(track).or_default();
        if on_track.len() == MOST_ON_TRACK {
            on_track.remove(0);
            self.waiting -= 1;
        }
        on_track.push(end);
        self.waiting += 1;
    }

    /// Takes one of the ends on a track that point to a slice. `since` is the origin of the slice's
    /// clock.
    #[cold]
    pub fn pending(&mut self, track: u64, start_ns: i64, end_ns: i64, since: i64) -> Option<End> {
        let on_track = self.pending.get_mut(&track)?;
        let points_here = |end: &End| {
            let ts = end.ts.saturating_sub(since);
            end.is_in(ts, start_ns, end_ns) || (!end.encloses && ts <= start_ns)
        };
        let at = on_track.iter().position(points_here)?;
        let end = on_track.remove(at);
        self.waiting -= 1;
        if on_track.is_empty() {
            self.pending.remove(&track);
        }
        Some(end)
    }

    /// Takes the ready time of a task. Returns the one before if that was another task's.
    pub fn tell(&mut self, target: Target, ready_ns: i64, joins: bool) -> Option<(i64, i64)> {
        self.counts.told.told += 1;
        match &mut self.last {
            Some((last, ready)) if *last == target => {
                *ready = ready_ns.max(*ready);
                None
            }
            last => {
                let (last, ready) = last.replace((target, ready_ns))?;
                if !joins {
                } else if self.told.len() < MOST_TOLD {
                    self.told.insert((last.track, last.start_ns));
                    let again = self.told.contains(&(target.track, target.start_ns));
                    self.counts.unsure += u64::from(again);
                } else {
                    self.counts.unsure += 1;
                }
                Some((ready, last.start_ns))
            }
        }
    }

    /// Ends the file. Returns ready time and start of the last task.
    pub fn finish(&mut self) -> Option<(i64, i64)> {
        self.last.take().map(|(last, ready)| (ready, last.start_ns))
    }

    /// What is known of a flow, among the young ones.
    fn half(&mut self, flow: u64) -> &mut Half {
        if self.young.len() >= MOST_OPEN / 2 && !self.young.contains_key(&flow) {
            let forgotten = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            self.counts.forgotten += forgotten.len() as u64;
        }
        let old = self.old.remove(&flow);
        self.young.entry(flow).or_insert_with(|| old.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Target = Target { track: 1, start_ns: 100 };

    #[test]
    fn an_arrow_is_known_when_both_its_ends_are() {
        let mut flows = Flows::default();
        assert_eq!(flows.begin(7, 40), None);
        let end = flows.end(7, 100, true, false);
        assert_eq!(flows.bind(&end, HERE), Some(40));
        // The id is free again, and now the end comes first.
        let end = flows.end(7, 100, true, false);
        assert_eq!(flows.bind(&end, HERE), None);
        assert_eq!((flows.begin(7, 60), flows.begin(7, 70)), (Some(HERE), None));
    }

    #[test]
    fn a_step_is_an_end_and_a_beginning() {
        let mut flows = Flows::default();
        flows.begin(7, 40);
        let step = flows.end(7, 100, true, true);
        let end = flows.end(7, 300, true, false);
        assert_eq!((flows.bind(&step, HERE), flows.bind(&end, HERE)), (Some(40), Some(100)));
    }

    #[test]
    fn a_task_is_ready_when_the_last_arrow_to_it_begins() {
        let mut flows = Flows::default();
        let there = Target { track: 2, ..HERE };
        let told =
            [(HERE, 5), (HERE, 9), (HERE, 7), (there, 3)].map(|(target, at)| flows.tell(target, at, true));
        assert_eq!(told, [None, None, None, Some((9, 100))]);
        assert_eq!((flows.finish(), flows.finish()), (Some((3, 100)), None));
    }

    #[test]
    fn an_end_waits_for_the_slice_around_it_or_the_next_one() {
        let mut flows = Flows::default();
        for encloses in [true, false] {
            let end = flows.end(7, 1_150, encloses, false);
            flows.wait(1, end);
        }
        assert_eq!(flows.pending(2, 100, 200, 1_000), None);
        assert_eq!(flows.pending(1, 160, 170, 1_000).map(|end| end.encloses), Some(false));
        assert_eq!(flows.pending(1, 160, 170, 1_000), None);
        assert_eq!(flows.pending(1, 100, 150, 1_000).map(|end| end.encloses), Some(true));
        assert!(!flows.waits() && flows.pending.is_empty());
    }

    #[test]
    fn flows_without_end_take_no_more_memory_and_are_counted() {
        let mut flows = Flows::default();
        for flow in 0..3 * MOST_OPEN as u64 {
            flows.begin(flow, 0);
            let end = flows.end(flow + (1 << 40), 5, true, false);
            flows.wait(flow % 10_000, end);
            assert!(flows.young.len() + flows.old.len() <= MOST_OPEN);
            assert!(flows.pending.len() <= MOST_PENDING && flows.waiting <= MOST_PENDING * MOST_ON_TRACK);
        }
        assert!(flows.counts.forgotten >= 2 * MOST_OPEN as u64);
        // The youngest are still known.
        let end = flows.end(3 * MOST_OPEN as u64 - 1, 5, true, false);
        assert_eq!(flows.bind(&end, HERE), Some(0));
    }
}
