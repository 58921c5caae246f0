//! A sample of moments at which workers begin and end tasks, to see what lets those that wait go
//! on.
//!
//! A sum over one worker cannot tell a worker that waited for another's result from one that waited
//! for a request: what tells them apart lies between workers. So time is divided into slots, and of
//! some slots, chosen by a hash of their number, every begin and end is kept. A slot is kept or not
//! by its time alone, so the sample is the same in any order of spans and in any division among
//! accumulators.
//!
//! What fits a slot depends on how dense the run is, which is known at its end. So there are slots
//! of several lengths, each with as many edges. When those of one length become too many, the half
//! of its slots goes.

/// The lengths of slots, as powers of two of nanoseconds: 16 us, 262 us, 4.2 ms, 134 ms. The
/// shortest holds a wake-up, of some 5 us. The third holds the step of a clock of milliseconds, and
/// the longest four frames of a camera, eight of a screen.
const SLOTS: [u32; 4] = [14, 18, 22, 27];

/// A begin or an end of an outermost span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub at: i64,
    /// How long the worker paused, before a begin or behind an end. `ENDLESS` at either end of its
    /// spans.
    pub pause: u64,
    pub worker: u32,
    pub begins: bool,
}

/// The pause before the first span of a worker and behind its last one.
pub(crate) const ENDLESS: u64 = u64::MAX;

/// The kept edges of one length of slots, `2^shift`, in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    pub shift: u32,
    /// Whether all slots were kept.
    pub whole: bool,
    pub edges: Vec<Edge>,
}

/// The kept slots of one length.
#[derive(Debug, Clone)]
struct Slots {
    shift: u32,
    /// One slot of `2^halvings` is kept.
    halvings: u32,
    edges: Vec<Edge>,
}

/// The kept slots of all lengths.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    /// None where no edges are kept, as by a live observer.
    slots: Vec<Slots>,
    /// Most edges for each length.
    most: usize,
    /// A time in which no slot of any length is kept. Most edges come after one that lies there
    /// too, and cost two comparisons: with 6 hashes a span, reading took 1.3 times as long.
    quiet: (i64, i64),
}

/// No time, and all time.
const NONE: (i64, i64) = (0, 0);
const ALL: (i64, i64) = (i64::MIN, i64::MAX);

/// The time that lies in both.
fn both(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    (one.0.max(other.0), one.1.min(other.1))
}

/// Groups have 64 slots.
const GROUP: u32 = 6;

/// Fibonacci hashing (Knuth, volume 3, section 6.4): the upper bits of a product with the golden
/// ratio are spread evenly. The second round breaks its pattern over equal distances.
fn hash(number: i64) -> u64 {
    let hash = (number as u64 ^ 0x5851_F42D_4C95_7F2D).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

impl Slots {
    #[inline]
    fn holds(&self, at: i64) -> bool {
        self.holds_group(at >> self.shift >> GROUP) && self.holds_slot(at >> self.shift)
    }

    /// Of the halvings beyond the second, half choose groups of slots; all others choose slots of
    /// these groups. So one hash tells that a whole group is not kept, and a short run, which has
    /// few groups, loses none.
    fn of_groups(&self) -> u32 {
        self.halvings.saturating_sub(2) / 2
    }

    fn holds_group(&self, group: i64) -> bool {
        hash(!group).leading_zeros() >= self.of_groups()
    }

    fn holds_slot(&self, slot: i64) -> bool {
        hash(slot).leading_zeros() >= self.halvings - self.of_groups()
    }

    /// The time around `at` in which nothing is kept; empty if `at` is kept.
    fn quiet(&self, at: i64) -> (i64, i64) {
        let slot = at >> self.shift;
        let around = |number: i64, shift: u32| (number << shift, number.saturating_add(1) << shift);
        if !self.holds_group(slot >> GROUP) {
            around(slot >> GROUP, self.shift + GROUP)
        } else if !self.holds_slot(slot) {
            around(slot, self.shift)
        } else {
            (at, at)
        }
    }

    /// Drops slots until no more than `most` edges are left.
    fn shrink(&mut self, most: usize) {
        while self.edges.len() > most {
            self.halvings += 1;
            self.drop_others();
        }
    }

    /// Drops the edges of slots that are not kept.
    fn drop_others(&mut self) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.retain(|edge| self.holds(edge.at));
        self.edges = edges;
    }
}

impl Edges {
    /// Keeps at most this many edges of each length of slots. They take 24 bytes each.
    pub fn new(most: usize) -> Self {
        let lengths = if most > 0 { &SLOTS[..] } else { &[] };
        let slots = lengths.iter().map(|shift| Slots { shift: *shift, halvings: 0, edges: Vec::new() });
        let slots = slots.collect();
        Edges { slots, most, quiet: NONE }
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        let edges = |slots: &Slots| slots.edges.capacity() * size_of::<Edge>();
        self.slots.capacity() * size_of::<Slots>() + self.slots.iter().map(edges).sum::<usize>()
    }

    /// Takes in both edges of a pause. Amortised O(1).
    #[inline(always)]
    pub fn pause(&mut self, start: i64, end: i64, worker: u32) {
        if start < self.quiet.0 || end >= self.quiet.1 {
            self.pause_outside(start, end, worker);
        }
    }

    #[inline(never)]
    fn pause_outside(&mut self, start: i64, end: i64, worker: u32) {
        let pause = (end - start) as u64;
        self.add(Edge { at: start, pause, worker, begins: false });
        self.add(Edge { at: end, pause, worker, begins: true });
    }

    /// Takes an edge in. Amortised O(1).
    pub fn add(&mut self, edge: Edge) {
        if edge.at < self.quiet.0 || edge.at >= self.quiet.1 {
            self.add_outside(edge);
        }
    }

    #[inline(never)]
    fn add_outside(&mut self, edge: Edge) {
        let mut kept = false;
        for slots in &mut self.slots {
            if self.most > 0 && slots.holds(edge.at) {
                slots.edges.push(edge);
                slots.shrink(self.most);
                kept = true;
            }
        }
        self.quiet = match (self.most, kept) {
            (0, _) => ALL,
            (_, true) => NONE,
            (_, false) => self.slots.iter().map(|slots| slots.quiet(edge.at)).fold(ALL, both),
        };
    }

    /// Adds what another one kept. The result keeps as much as the smaller of the two.
    pub fn merge(&mut self, other: &Edges) {
        self.most = self.most.min(other.most);
        for (mine, theirs) in self.slots.iter_mut().zip(&other.slots) {
            mine.halvings = mine.halvings.max(theirs.halvings);
            mine.edges.extend(&theirs.edges);
            mine.drop_others();
            mine.shrink(self.most);
        }
        self.quiet = NONE;
    }

    /// The kept edges, for each length of slots.
    pub fn into_each_length(self) -> impl Iterator<Item = Kept> {
        self.slots.into_iter().map(|mut slots| {
            slots.edges.sort_unstable();
            Kept { shift: slots.shift, whole: slots.halvings == 0, edges: slots.edges }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(edges: &Edges) -> Vec<Kept> {
        edges.clone().into_each_length().collect()
    }

    fn of(edges: &[Edge], most: usize) -> Edges {
        let mut sample = Edges::new(most);
        edges.iter().for_each(|edge| sample.add(*edge));
        sample
    }

    fn any_edges() -> impl Strategy<Value = Vec<Edge>> {
        let edge = (0i64..50_000_000, 0u64..1_000_000, 0u32..4, any::<bool>());
        let edge = edge.prop_map(|(at, pause, worker, begins)| Edge { at, pause, worker, begins });
        proptest::collection::vec(edge, 0..400)
    }

    proptest! {
        #[test]
        fn neither_order_nor_division_changes_the_sample(edges in any_edges(), split in 0usize..400) {
            let whole = of(&edges, 64);
            let backwards: Vec<Edge> = edges.iter().rev().copied().collect();
            prop_assert_eq!(kept(&of(&backwards, 64)), kept(&whole));
            let (first, second) = edges.split_at(split.min(edges.len()));
            let mut merged = of(second, 64);
            merged.merge(&of(first, 64));
            prop_assert_eq!(kept(&merged), kept(&whole));
        }

        #[test]
        fn a_slot_is_kept_whole_or_not_at_all(edges in any_edges()) {
            for Kept { shift, edges: sample, .. } in kept(&of(&edges, 64)) {
                prop_assert!(sample.len() <= 64);
                for edge in &sample {
                    let slot = |edge: &&Edge| edge.at >> shift;
                    let all = edges.iter().filter(|other| slot(other) == slot(&edge)).count();
                    let kept = sample.iter().filter(|other| slot(other) == slot(&edge)).count();
                    prop_assert_eq!(kept, all);
                }
            }
        }
    }

    #[test]
    fn some_slots_are_left_of_many_edges() {
        let edge = |at| Edge { at, pause: 1, worker: 0, begins: true };
        let edges: Vec<Edge> = (0..100_000).map(|index| edge(index * 100_000)).collect();
        for Kept { edges: sample, .. } in kept(&of(&edges, 4_096)) {
            assert!((1_000..=4_096).contains(&sample.len()), "{}", sample.len());
        }
    }
}
