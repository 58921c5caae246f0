//! What a task does. Each task carries a copy of its body, which is nothing for [`Plain`] and two
//! words for [`Spun`].

use std::{hint::black_box, sync::Arc};

use crate::workloads::{count::Count, spin::spin};

/// The work of a task, and what is done around it.
pub trait Body: Clone + Send + Sync + 'static {
    /// The result of task `i`.
    fn result(&self, i: usize) -> u64;

    /// Called by the creator before it creates a task.
    #[inline]
    fn created(&self) {}

    /// Does task `i` when nobody wants its result.
    #[inline]
    fn discard(&self, i: usize) {
        black_box(self.result(i));
    }

    /// The answer of results that lie in the order of their tasks.
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

/// The body that gives `31 * i`.
#[derive(Clone)]
pub struct Plain;

/// The body that gives `spin(seed + i, work)`.
#[derive(Clone)]
pub struct Spun {
    pub seed: u64,
    pub work: u64,
}

/// Either of the two bodies, counted.
#[derive(Clone)]
pub struct Counted {
    pub count: Arc<Count>,
    /// The work; if it is 0 the body is [`Plain`].
    pub spun: Spun,
}

/// The product of a task. It is never inlined, because the task would then be empty.
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
