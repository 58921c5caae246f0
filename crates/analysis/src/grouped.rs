//! Groups by an index: a run may have thousands of rows, and looking through all groups for each
//! would take the square of that.

use std::collections::BTreeMap;

/// The items in groups of equal keys, the groups in the order of their first items.
/// O(items log groups).
pub fn grouped<T, K: Ord>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for item in items {
        let place = *places.entry(key(&item)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn groups_keep_the_order_of_their_first_items() {
        assert_eq!(grouped([3, 1, 13, 2, 11, 23], |n| n % 10), [vec![3, 13, 23], vec![1, 11], vec![2]]);
        assert_eq!(grouped([0; 0], |n| *n), Vec::<Vec<i32>>::new());
    }

    /// A key that counts how often it is compared.
    struct Counted<'a>(u32, &'a Cell<u64>);

    impl Ord for Counted<'_> {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.1.set(self.1.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted<'_> {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted<'_> {}

    #[test]
    fn many_groups_are_found_without_looking_at_all_of_them() {
        let comparisons = Cell::new(0);
        let groups = grouped(0..15_000_u32, |n| Counted(n % 7_500, &comparisons));
        assert_eq!(groups.len(), 7_500);
        assert!(comparisons.get() < 15_000 * 40, "{} comparisons", comparisons.get());
    }
}
