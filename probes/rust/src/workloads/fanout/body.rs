//! What a task does. A task carries a copy of its body: nothing for [`Plain`], two words for
//! [`Spun`].

use std::{hint::black_box, sync::Arc};

use crate::workloads::{count::Count, spin::spin};

/// What task `i` does, and what is done around it.
pub trait Body: Clone + Send + Sync + 'static {
    /// The result of task `i`.
    fn result(&self, i: usize) -> u64;

    /// Called by the creator before it creates a task.
    #[inline]
    fn created(&self) {}

    /// Task `i` where nobody wants its result.
    #[inline]
    fn discard(&self, i: usize) {
        black_box(self.result(i));
    }

    /// The answer of results in the order of their tasks.
    #[inline]
    fn ordered(&self, results: &[u64]) -> u64 {
        results.iter().fold(0, |sum, result| sum.wrapping_add(*result))
    }

    /// The answer of tasks without results.
    #[inline]
    fn discarded(&self, size: usize) -> u64 {
        size as u64
    }
}

/// Gives `31 * i`.
#[derive(Clone)]
pub struct Plain;

/// Gives `spin(seed + i, work)`.
#[derive(Clone)]
pub struct Spun {
    pub seed: u64,
    pub work: u64,
}

/// Either of the two, counted.
#[derive(Clone)]
pub struct Counted {
    pub count: Arc<Count>,
    /// [`Plain`] where its work is 0.
    pub spun: Spun,
}

/// Never inlined, or the task would be empty.
#[inline(never)]
fn product(i: usize) -> u64 {
    31u64.wrapping_mul(i as u64)
}

impl Body for Plain {
    #[inline]
    fn result(&self, i: usize) -> u64 {
        product(i)
    }
}

impl Body for Spun {
    #[inline]
    fn result(&self, i: usize) -> u64 {
        spin(self.seed.wrapping_add(i as u64), self.work)
    }
}

impl Counted {
    fn expected(&self, i: usize) -> u64 {
        if self.spun.work == 0 { product(i) } else { self.spun.result(i) }
    }
}

impl Body for Counted {
    fn result(&self, i: usize) -> u64 {
        let result = self.expected(i);
        self.count.executed(result);
        result
    }

    fn created(&self) {
        self.count.created();
    }

    fn ordered(&self, results: &[u64]) -> u64 {
        // A sum alone would not show that results lie in the wrong places.
        if let Some(i) = (0..results.len()).find(|i| results[*i] != self.expected(*i)) {
            panic!("result {i} is {}, not {}", results[i], self.expected(i));
        }
        results.iter().fold(0, |sum, result| sum.wrapping_add(*result))
    }

    fn discarded(&self, _size: usize) -> u64 {
        self.count.take_sum()
    }
}
