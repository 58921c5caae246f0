//! Locks: one writer or many readers, first come first served.

use std::collections::VecDeque;

/// A worker that waits for a lock, or that gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub worker: u32,
    pub ns: u64,
    pub reads: bool,
}

#[derive(Debug, Default)]
pub struct Lock {
    written: bool,
    readers: u32,
    waiting: VecDeque<Claim>,
}

impl Lock {
    fn admits(&self, claim: Claim) -> bool {
        !self.written && (claim.reads || self.readers == 0)
    }

    fn enter(&mut self, claim: Claim) {
        if claim.reads {
            self.readers += 1;
        } else {
            self.written = true;
        }
    }

    /// Gives the lock, or has the worker wait.
    pub fn ask(&mut self, claim: Claim) -> bool {
        let given = self.waiting.is_empty() && self.admits(claim);
        if given {
            self.enter(claim);
        } else {
            self.waiting.push_back(claim);
        }
        given
    }

    /// Gives the lock back, and returns who gets it.
    pub fn give_back(&mut self, reads: bool) -> Vec<Claim> {
        if reads {
            self.readers -= 1;
        } else {
            self.written = false;
        }
        let mut next = Vec::new();
        while let Some(claim) = self.waiting.front().copied().filter(|claim| self.admits(*claim)) {
            self.waiting.pop_front();
            self.enter(claim);
            next.push(claim);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_a_writer_does_not() {
        let claim = |worker, reads| Claim { worker, ns: 1, reads };
        let mut lock = Lock::default();
        assert!(lock.ask(claim(0, true)));
        assert!(lock.ask(claim(1, true)));
        assert!(!lock.ask(claim(2, false)));
        assert!(!lock.ask(claim(3, true)), "it came after the writer");
        assert_eq!(lock.give_back(true), []);
        assert_eq!(lock.give_back(true), [claim(2, false)]);
        assert_eq!(lock.give_back(false), [claim(3, true)]);
    }
}
