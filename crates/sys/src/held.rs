//! Tells which of several items a thread holds, where each is held by one thread. The item is found
//! behind a pointer of the thread's own.
//!
//! It is made for lookups that happen twice around something that takes 100 ns. The way by an index
//! into the owner's list is some ten instructions longer.

#![allow(unsafe_code)]

use std::{
    cell::Cell,
    fmt,
    ptr::NonNull,
    sync::{
        OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
};

#[derive(Clone, Copy)]
struct Hand {
    /// The owner's turn when the item was last seen to be this thread's. 0 means none.
    turn: u64,
    /// Number of the owner.
    owner: u64,
    /// Number of the taking, which is valid while it stands in the item.
    taking: u64,
    /// Points to an `Item<T>` of the owner's.
    item: NonNull<()>,
}

const EMPTY: Hand = Hand { turn: 0, owner: 0, taking: 0, item: NonNull::dangling() };

thread_local! {
    // The thread has one variable, without a destructor: finding it may cost a call, and reading it
    // is one load.
    static HAND: Cell<Hand> = const { Cell::new(EMPTY) };
}

/// Gives numbers to owners, their turns and takings. No number is given twice, and 0 is never
/// given.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

fn number() -> u64 {
    NUMBERS.fetch_add(1, Relaxed)
}

/// An item and who holds it.
#[derive(Debug)]
struct Item<T> {
    /// Number of the taking that is valid.
    taking: AtomicU64,
    value: T,
}

/// Items that stay where they are for as long as this lives. Each is held by at most one thread,
/// the one that took it last. A thread holds at most one item of all owners.
pub struct Items<T> {
    owner: u64,
    /// Changes whenever an item is taken, so that a thread need not check its own item.
    turn: AtomicU64,
    items: OnceLock<Box<[Item<T>]>>,
}

impl<T> Default for Items<T> {
    /// Makes an owner without items.
    fn default() -> Self {
        Items { owner: number(), turn: AtomicU64::new(number()), items: OnceLock::new() }
    }
}

impl<T> Items<T> {
    /// Sets the items. Only the first call counts.
    pub fn set(&self, values: impl IntoIterator<Item = T>) {
        let item = |value| Item { taking: AtomicU64::new(0), value };
        self.items.get_or_init(|| values.into_iter().map(item).collect());
    }

    /// Returns the memory of the items, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.items())
    }

    /// Returns all items, whoever holds them.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items().iter().map(|item| &item.value)
    }

    /// Gives this thread the item of this index, and takes it from whichever thread held it. The
    /// thread gives up what it held before.
    pub fn take(&self, index: usize) -> Option<&T> {
        let item = self.items().get(index)?;
        let (taking, turn) = (number(), number());
        item.taking.store(taking, Relaxed);
        // A thread that sees this turn, or one of a later taking, sees the taking too.
        self.turn.swap(turn, AcqRel);
        HAND.set(Hand { turn, owner: self.owner, taking, item: NonNull::from(item).cast() });
        Some(&item.value)
    }

    /// Returns the item that this thread holds, where it is one of these. Costs some ten
    /// instructions more after any of them was taken.
    #[inline(always)]
    pub fn held(&self) -> Option<&T> {
        let hand = HAND.get();
        if hand.turn != self.turn.load(Relaxed) {
            return self.still_held();
        }
        // SAFETY: see `item`; turns are not given twice either, so that this one is of `self`.
        Some(unsafe { &self.item(hand).value })
    }

    /// Does the same where an item has been taken since this thread last checked, or where it never
    /// held one.
    #[cold]
    #[inline(never)]
    fn still_held(&self) -> Option<&T> {
        let hand = HAND.get();
        if hand.owner != self.owner {
            return None;
        }
        // The turn is read before the taking: a taking that comes in between changes the turn
        // again.
        let turn = self.turn.load(Acquire);
        // SAFETY: `hand` is of `self`.
        let item = unsafe { self.item(hand) };
        if item.taking.load(Relaxed) != hand.taking {
            return None;
        }
        HAND.set(Hand { turn, ..hand });
        Some(&item.value)
    }

    /// Returns the item in a hand.
    ///
    /// # Safety
    ///
    /// `hand` was made by `take` of `self`. Then the pointer came from a `&Item<T>` into the box,
    /// which is never replaced and lives as long as `self`.
    #[inline(always)]
    unsafe fn item(&self, hand: Hand) -> &Item<T> {
        // SAFETY: the caller's promise.
        unsafe { hand.item.cast::<Item<T>>().as_ref() }
    }

    fn items(&self) -> &[Item<T>] {
        self.items.get().map_or(&[], |items| items)
    }
}

impl<T: fmt::Debug> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("items", &self.items()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_holds_what_it_took_last_of_one_owner() {
        let (numbers, words) = (Items::default(), Items::default());
        assert_eq!((numbers.take(0), numbers.bytes()), (None, 0), "there are none yet");
        numbers.set([10, 11, 12]);
        numbers.set([1]);
        words.set(["a".to_owned()]);
        assert_eq!(numbers.held(), None);
        assert_eq!((numbers.take(1), numbers.held()), (Some(&11), Some(&11)));
        assert_eq!((words.take(7), numbers.held()), (None, Some(&11)), "no such item");
        assert_eq!((words.take(0).map(String::as_str), numbers.held()), (Some("a"), None));
        assert_eq!((numbers.take(2), words.held()), (Some(&12), None));
    }

    #[test]
    fn an_item_is_held_by_the_thread_that_took_it_last() {
        let items = Items::default();
        items.set(["a", "b"]);
        assert_eq!(items.take(0), Some(&"a"));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!((items.held(), items.take(1), items.held()), (None, Some(&"b"), Some(&"b")))
            });
        });
        assert_eq!(items.held(), Some(&"a"), "another item was taken");
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(items.take(0), Some(&"a")));
        });
        assert_eq!(items.held(), None);
        assert_eq!((items.take(0), items.held()), (Some(&"a"), Some(&"a")), "it can be taken back");
    }

    #[test]
    fn what_was_held_of_an_owner_that_is_gone_is_nobodys() {
        let items = Items::default();
        items.set([String::from("first")]);
        assert!(items.take(0).is_some());
        drop(items);
        // The second owner may well lie at the same address.
        let items = Items::default();
        items.set([String::from("second")]);
        assert_eq!(items.held(), None);
    }
}
