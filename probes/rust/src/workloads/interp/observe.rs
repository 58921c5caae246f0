//! What an instrumented run counts. A timed run is compiled with [`Silent`], which is nothing.

use std::{
    collections::BTreeMap,
    fmt::Write,
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use serde_json::Value;
use tokio::task::yield_now;

/// Sees what an evaluator does.
pub trait Observe: Clone + Send + Sync + 'static {
    /// Held while a node is evaluated.
    type Visit: Send + 'static;
    /// Whether a visit has to be held at all.
    const COUNTS: bool;
    /// What a test breaks, one of [`flaws`].
    #[cfg(test)]
    const FLAW: u8 = flaws::NONE;

    /// A request begins.
    fn request(&self) {}
    fn visit(&self) -> Self::Visit;
    fn builtin(&self) {}
    fn extension(&self) {}
    fn begins(&self, _element: i64) {}
    fn has_value(&self, _element: i64) {}
    fn suspended(&self) {}
    /// A result that can be used once is there to be used.
    fn made(&self) {}
    /// It was used.
    fn taken(&self) {}
    /// It was used before.
    fn taken_again(&self) {}
    fn output(&self, _bytes: &[u8]) {}
    /// Suspends once.
    fn pause(&self) -> impl Future<Output = ()> + Send;
    /// Counts `future` as a result that can be used once.
    fn once<F: Future + Send>(self, future: F) -> impl Future<Output = F::Output> + Send;
}

/// What tests break.
#[cfg(test)]
pub mod flaws {
    pub const NONE: u8 = 0;
    /// `List::map` evaluates two elements at a time.
    pub const TWO_AT_A_TIME: u8 = 1;
    /// A pending value is dropped, and the value is computed without it.
    pub const SWALLOWED: u8 = 2;
    /// A pending value is asked for twice.
    pub const USED_TWICE: u8 = 3;
}

/// Sees nothing.
#[derive(Clone, Copy)]
pub struct Silent;

impl Observe for Silent {
    type Visit = ();
    const COUNTS: bool = false;

    #[inline]
    fn visit(&self) {}

    #[inline]
    fn pause(&self) -> impl Future<Output = ()> + Send {
        yield_now()
    }

    #[inline]
    fn once<F: Future + Send>(self, future: F) -> impl Future<Output = F::Output> + Send {
        future
    }
}

/// Counts. `FLAW` is 0 outside tests.
#[derive(Clone, Default)]
pub struct Counting<const FLAW: u8 = 0>(Arc<Counts>);

#[derive(Default)]
struct Counts {
    nodes: AtomicU64,
    live: AtomicU64,
    deepest: AtomicU64,
    builtins: AtomicU64,
    applications: AtomicU64,
    extensions: AtomicU64,
    suspended: AtomicU64,
    made: AtomicU64,
    taken: AtomicU64,
    again: AtomicU64,
    output: AtomicU64,
    log: Mutex<String>,
}

/// A node that is being evaluated.
pub struct Visit(Arc<Counts>);

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, SeqCst);
    }
}

impl<const FLAW: u8> Counting<FLAW> {
    /// The counts of all workers together, under the names of the protocol.
    pub fn report(workers: &[Self]) -> BTreeMap<&'static str, Value> {
        let counts = |of: fn(&Counts) -> &AtomicU64| workers.iter().map(move |one| of(&one.0).load(SeqCst));
        let sum = |of: fn(&Counts) -> &AtomicU64| counts(of).sum::<u64>();
        // Those that were never used, and uses beyond the first.
        let unused =
            counts(|all| &all.made).zip(counts(|all| &all.taken)).map(|(made, taken)| made.abs_diff(taken));
        // Of the last request of each worker that had any. Where two differ one is wrong, and 0 is
        // not right for either.
        let busy = || workers.iter().filter(|one| one.0.nodes.load(SeqCst) > 0);
        let same = |hashes: Vec<u64>| match hashes.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other == first) => *first,
            _ => 0,
        };
        let counted = [
            ("nodes", sum(|all| &all.nodes)),
            ("builtins", sum(|all| &all.builtins)),
            ("applications", sum(|all| &all.applications)),
            ("extensions", sum(|all| &all.extensions)),
            ("deepest", counts(|all| &all.deepest).max().unwrap_or_default()),
            ("order", same(busy().map(|one| fnv1a(one.log().as_bytes())).collect())),
            ("output", same(busy().map(|one| one.0.output.load(SeqCst)).collect())),
            ("suspended", sum(|all| &all.suspended)),
            ("consumed_twice", unused.sum::<u64>() + sum(|all| &all.again)),
        ];
        BTreeMap::from(counted.map(|(name, count)| (name, Value::from(count))))
    }

    fn log(&self) -> std::sync::MutexGuard<'_, String> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn logged(&self, what: char, element: i64) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.log(), "{what} {element}");
    }
}

impl<const BROKEN: u8> Observe for Counting<BROKEN> {
    type Visit = Visit;
    const COUNTS: bool = true;
    #[cfg(test)]
    const FLAW: u8 = BROKEN;

    fn request(&self) {
        self.log().clear();
    }

    fn visit(&self) -> Visit {
        self.0.nodes.fetch_add(1, SeqCst);
        let live = self.0.live.fetch_add(1, SeqCst) + 1;
        self.0.deepest.fetch_max(live, SeqCst);
        Visit(Arc::clone(&self.0))
    }

    fn builtin(&self) {
        self.0.builtins.fetch_add(1, SeqCst);
    }

    fn extension(&self) {
        self.0.extensions.fetch_add(1, SeqCst);
    }

    fn begins(&self, element: i64) {
        self.0.applications.fetch_add(1, SeqCst);
        self.logged('B', element);
    }

    fn has_value(&self, element: i64) {
        self.logged('E', element);
    }

    fn suspended(&self) {
        self.0.suspended.fetch_add(1, SeqCst);
    }

    fn made(&self) {
        self.0.made.fetch_add(1, SeqCst);
    }

    fn taken(&self) {
        self.0.taken.fetch_add(1, SeqCst);
    }

    fn taken_again(&self) {
        self.0.again.fetch_add(1, SeqCst);
    }

    fn output(&self, bytes: &[u8]) {
        self.0.output.store(fnv1a(bytes), SeqCst);
    }

    /// Counts a pause that the scheduler really saw: one that was not done when it was first asked.
    async fn pause(&self) {
        let (mut pause, mut waited) = (pin!(yield_now()), false);
        poll_fn(|context| {
            let poll = pause.as_mut().poll(context);
            waited |= poll.is_pending();
            poll
        })
        .await;
        if waited {
            self.suspended();
        }
    }

    fn once<F: Future + Send>(self, future: F) -> impl Future<Output = F::Output> + Send {
        self.made();
        async move {
            let result = future.await;
            self.taken();
            result
        }
    }
}

/// FNV-1a with 64 bits.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
