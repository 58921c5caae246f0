//! Lists of bounded length that come out the same in whatever order they are merged.

use std::cmp::Ordering;

use taskscale_model::partial::{Bag, Counted, NamePart, hash, short};

/// What has a text by which it is kept, and sums that add up.
pub trait Keyed: Clone {
    fn key(&self) -> &str;
    fn add(&mut self, other: &Self);
}

impl Keyed for Counted {
    fn key(&self) -> &str {
        &self.text
    }

    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
    }
}

impl Keyed for NamePart {
    fn key(&self) -> &str {
        &self.name
    }

    fn add(&mut self, other: &Self) {
        self.own_ns = self.own_ns.saturating_add(other.own_ns);
        self.tasks = self.tasks.saturating_add(other.tasks);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }
}

/// Merges two lists in the order of their texts, and keeps the `most` texts of the smallest hashes.
/// The result is whether it left any out. O(length), and once more for each list that is too long.
///
/// A text that is kept of all is among the `most` smallest of every part that has it, so nothing of
/// its sums is ever left out.
pub fn join<T: Keyed>(mine: &mut Vec<T>, theirs: &[T], most: usize) -> bool {
    let mut at = 0;
    for other in theirs {
        at += mine[at..].iter().take_while(|known| known.key() < other.key()).count();
        match mine.get_mut(at) {
            Some(known) if known.key() == other.key() => known.add(other),
            _ => mine.insert(at, other.clone()),
        }
    }
    let too_long = mine.len() > most;
    if too_long {
        let mut ranks: Vec<(u64, &str)> = mine.iter().map(|item| (hash(item.key()), item.key())).collect();
        ranks.sort_unstable();
        let (last, text) = (ranks[most - 1].0, ranks[most - 1].1.to_owned());
        mine.retain(|item| (hash(item.key()), item.key()) <= (last, &*text));
    }
    too_long
}

/// Merges two bags.
pub fn join_bags(mine: &mut Bag, theirs: &Bag, most: usize) {
    mine.cut |= join(&mut mine.kept, &theirs.kept, most) | theirs.cut;
}

/// A bag of texts, each cut to `bytes`.
pub fn bag<'t>(texts: impl IntoIterator<Item = (&'t str, u64)>, most: usize, bytes: usize) -> Bag {
    let mut bag = Bag::default();
    for (text, count) in texts {
        let one = Counted { text: short(text, bytes), count };
        bag.cut |= join(&mut bag.kept, &[one], most);
    }
    bag
}

/// Merges two lists that are sorted by `order`, and keeps the first `most`. Equal elements are kept
/// as often as they come.
pub fn first<T: Clone>(mine: &mut Vec<T>, theirs: &[T], most: usize, order: impl Fn(&T, &T) -> Ordering) {
    if theirs.is_empty() {
        return;
    }
    mine.extend_from_slice(theirs);
    mine.sort_by(order);
    mine.truncate(most);
}
