//! What lets workers that wait go on: another's end, an event that lets several go, or nothing that
//! is seen.

use std::collections::BTreeMap;

use crate::edges::{ENDLESS, Edge, Kept};

/// How far behind an end a begin may lie that it lets go: what waking a thread takes, from one that
/// spins to one on a busy machine.
const NEAR_NS: [i64; 5] = [2_000, 10_000, 50_000, 250_000, 1_000_000];
/// Wake-ups take at most this share of a task. Tasks and arrivals that are all alike keep the same
/// distance too, and it is longer.
const OF_A_TASK: f64 = 0.25;
/// A longer distance is preferred if it explains so much more.
const MORE: f64 = 0.05;
/// The fewest ends of waits that show anything.
const ENOUGH: f64 = 8.0;
/// Where begins lie behind ends so often by chance, nothing can be told.
const DENSE: f64 = 0.7;

/// What was seen at the ends of waits. Shares are of the time that was waited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Releases {
    /// The number of waits that were seen to end.
    pub waits: f64,
    /// The share that ended just behind an end on another worker.
    pub by_end: f64,
    /// What that share is where begins and ends have nothing to do with each other.
    pub by_chance: f64,
    /// How many waits end at one moment, on average over waits.
    pub group: f64,
    /// Of the waits that an end let go, the share that ends of one worker let go.
    pub by_one: f64,
}

/// When waits end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Released {
    /// When another worker ends a task.
    ByEnds,
    /// When no other worker ends a task.
    ByNothingSeen,
    /// Now and then behind an end, or too little was seen.
    Unclear,
}

/// The window, and what counts as a wait in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Pauses longer than this are waits.
    pub longer_than: i64,
    pub start: i64,
    pub end: i64,
}

impl Window {
    fn is_wait(&self, edge: &Edge) -> bool {
        self.length(edge) > self.longer_than
    }

    fn length(&self, edge: &Edge) -> i64 {
        match (edge.pause, edge.begins) {
            (ENDLESS, true) => edge.at - self.start,
            (ENDLESS, false) => self.end - edge.at,
            (pause, _) => pause as i64,
        }
    }
}

impl Releases {
    /// Reads what was kept. Begins are compared with ends at several distances of at least `least`
    /// nanoseconds; the shortest counts that explains about as much as the best. `task_ns` is the
    /// mean of a task.
    /// O(edges log edges).
    pub fn of(kept: &[Kept], window: &Window, least: i64, task_ns: f64) -> Self {
        let most = (OF_A_TASK * task_ns) as i64;
        let mut best = Releases::default();
        for Kept { shift, edges, .. } in kept {
            let mut of_length: Option<Releases> = None;
            for near in [least]
                .into_iter()
                .chain(NEAR_NS.into_iter().filter(|near| (least + 1..=most).contains(near)))
            {
                let seen = of_slots(*shift, edges, window, near);
                let is_better = |best: Releases| {
                    seen.waits >= 0.5 * best.waits
                        && seen.by_end - seen.by_chance > best.by_end - best.by_chance + MORE
                };
                if of_length.is_none_or(is_better) {
                    of_length = Some(seen);
                }
            }
            best = of_length.filter(|seen| seen.waits > best.waits).unwrap_or(best);
        }
        best
    }

    /// The share that ended behind an end beyond what chance makes.
    pub fn beyond_chance(&self) -> f64 {
        (self.by_end - self.by_chance) / (1.0 - self.by_chance).max(0.05)
    }

    /// What they show. The share behind an end is taken beyond chance: from 0.6 on ends let workers
    /// go, below 0.25 they do not.
    pub fn released(&self) -> Released {
        let beyond_chance = self.beyond_chance();
        if self.waits < ENOUGH || self.by_chance >= DENSE {
            Released::Unclear
        } else if beyond_chance >= 0.6 {
            Released::ByEnds
        } else if beyond_chance < 0.25 {
            Released::ByNothingSeen
        } else {
            Released::Unclear
        }
    }

    /// How many others go on with one that waited, as a share of all other workers: 1 at a barrier.
    pub fn together(&self, workers: u64) -> f64 {
        (self.group - 1.0).max(0.0) / (workers as f64 - 1.0).max(1.0)
    }
}

fn of_slots(shift: u32, edges: &[Edge], window: &Window, near: i64) -> Releases {
    let slot_ns = 1i64 << shift;
    if near * 2 >= slot_ns {
        return Releases::default();
    }
    let (mut count, mut time, mut by_end, mut group) = (0.0, 0.0, 0.0, 0.0);
    let (mut ends, mut slots) = (0.0, 0.0);
    let mut by_worker: BTreeMap<u32, f64> = BTreeMap::new();
    for slot in edges.chunk_by(|a, b| a.at >> shift == b.at >> shift) {
        slots += 1.0;
        ends += slot.iter().filter(|edge| !edge.begins).count() as f64;
        let from = slot[0].at >> shift << shift;
        // What lies at a rim of the slot has neighbours that were not kept.
        let inner = from + near..from + slot_ns - near;
        for edge in slot.iter().filter(|edge| edge.begins && inner.contains(&edge.at) && window.is_wait(edge))
        {
            let others = || slot.iter().filter(|other| other.worker != edge.worker);
            let length = window.length(edge) as f64;
            count += 1.0;
            time += length;
            let behind =
                || others().filter(|other| !other.begins && (0..=near).contains(&(edge.at - other.at)));
            if let Some(latest) = behind().map(|end| end.at).max() {
                by_end += length;
                // Several that end at one moment share it, whatever their numbers are.
                let ends: Vec<u32> = behind().filter(|end| end.at == latest).map(|end| end.worker).collect();
                for worker in &ends {
                    *by_worker.entry(*worker).or_default() += 1.0 / ends.len() as f64;
                }
            }
            let with = others()
                .filter(|other| other.begins && (other.at - edge.at).abs() <= near && window.is_wait(other));
            group += 1.0 + with.count() as f64;
        }
    }
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    let rate = share(ends, slots * slot_ns as f64);
    Releases {
        waits: count,
        by_end: share(by_end, time),
        by_chance: 1.0 - (-rate * near as f64).exp(),
        group: share(group, count),
        by_one: share(by_worker.values().copied().fold(0.0, f64::max), by_worker.values().sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;

    const TASK: i64 = 100_000;

    /// What is seen of spans `(worker, start, end)`.
    fn seen(spans: &[(u32, i64, i64)]) -> Releases {
        let mut spans = spans.to_vec();
        spans.sort_unstable();
        let mut edges = Edges::new(8_192);
        for spans in spans.chunk_by(|a, b| a.0 == b.0) {
            let mut add = |worker, at, pause, begins| edges.add(Edge { at, pause, worker, begins });
            for pair in spans.windows(2) {
                let pause = (pair[1].1 - pair[0].2) as u64;
                add(pair[0].0, pair[0].2, pause, false);
                add(pair[0].0, pair[1].1, pause, true);
            }
            add(spans[0].0, spans[0].1, ENDLESS, true);
            add(spans[0].0, spans[spans.len() - 1].2, ENDLESS, false);
        }
        let end = spans.iter().map(|span| span.2).max().unwrap_or(0);
        let kept: Vec<Kept> = edges.into_each_length().collect();
        Releases::of(&kept, &Window { longer_than: 5_000, start: 0, end }, 2_000, 1e6)
    }

    #[test]
    fn who_hands_over_lets_the_other_go() {
        let turns = (0..200i64).map(|turn| {
            let start = turn * (TASK + 1_000);
            ((turn % 2) as u32, start, start + TASK)
        });
        let seen = seen(&turns.collect::<Vec<_>>());
        assert_eq!(seen.released(), Released::ByEnds, "{seen:?}");
        assert_eq!(seen.together(2), 0.0);
    }

    #[test]
    fn a_wake_up_takes_longer_on_some_machines() {
        let turns = (0..400i64).map(|turn| {
            let start = turn * (TASK + 40_000);
            ((turn % 2) as u32, start, start + TASK)
        });
        assert_eq!(seen(&turns.collect::<Vec<_>>()).released(), Released::ByEnds);
    }

    #[test]
    fn nobody_lets_arrivals_go() {
        // The distances are multiples of an odd number of nanoseconds, and no two tasks meet.
        let arrivals = (0..300i64).map(|index| {
            let start = index * 333_331;
            ((index % 3) as u32, start, start + 70_001 + index * 97 % 50_000)
        });
        let seen = seen(&arrivals.collect::<Vec<_>>());
        assert_eq!(seen.released(), Released::ByNothingSeen, "{seen:?}");
    }

    #[test]
    fn all_go_on_together_at_a_barrier() {
        let rounds = (0..100i64).flat_map(|round| {
            let start = round * (4 * TASK + 1_000);
            (0..4u32).map(move |worker| (worker, start, start + TASK * (i64::from(worker) + 1)))
        });
        let seen = seen(&rounds.collect::<Vec<_>>());
        assert_eq!(seen.released(), Released::ByEnds, "{seen:?}");
        // The slowest one of the four never waits.
        assert!((0.6..0.7).contains(&seen.together(4)), "{seen:?}");
    }

    #[test]
    fn few_waits_show_nothing() {
        assert_eq!(seen(&[(0, 0, TASK), (1, TASK + 500, 2 * TASK)]).released(), Released::Unclear);
    }
}
