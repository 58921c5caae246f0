//! A thread on another CPU that is busy or asleep, as it is told.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    thread,
};

use taskscale_model::doctor::facts::{Cpu, Neighbour};

use super::{
    bench::{Bench, spin},
    measure,
};
use crate::affinity;

/// Pairs of passes, of 5 ms each: enough for an interval of the median that leaves 3 % out (sign
/// test).
const PAIRS: usize = 16;
/// Slices in one pass.
const PASS: u64 = 3;
/// Wall time for one neighbour at most.
const WALL_NS: u64 = 900_000_000;
/// Steps between two checks of the order, which take some microseconds.
const LOOK: u64 = 1_024;

/// Two CPUs, and whether the kernel says that they are one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    cpu: u32,
    other: u32,
    siblings: bool,
}

/// Chooses the neighbours to try: the sibling on the same core, where there is one that may be
/// used, and a CPU of another core. Each pair is the first usable CPU and such a neighbour.
pub fn pairs(usable: &[u32], cpus: &[Cpu]) -> Vec<Pair> {
    let Some((&cpu, others)) = usable.split_first() else { return Vec::new() };
    let siblings = cpus.iter().find(|one| one.id == cpu).map_or(&[][..], |one| &one.siblings);
    let first = |siblings_wanted: bool| {
        let other = others.iter().copied().find(|other| siblings.contains(other) == siblings_wanted)?;
        Some(Pair { cpu, other, siblings: siblings_wanted })
    };
    [first(true), first(false)].into_iter().flatten().collect()
}

/// Works on one CPU while the other is in turns busy and left alone. Returns `None` where threads
/// cannot be put on CPUs.
pub fn measure(bench: &mut impl Bench, pair: Pair, steps: u64) -> Option<Neighbour> {
    const REST: u8 = 0;
    const BUSY: u8 = 1;
    const END: u8 = 2;
    let usable = crate::machine::usable(&crate::machine::ThisMachine).value().cloned()?;
    if !affinity::pin(&[pair.cpu]) {
        return None;
    }
    let order = AtomicU8::new(REST);
    let pairs = thread::scope(|scope| {
        let other = thread::Builder::new().name("neighbour".into()).spawn_scoped(scope, || {
            // A thread inherits the CPU of the thread that starts it.
            let pinned = affinity::pin(&[pair.other]);
            loop {
                match order.load(Relaxed) {
                    BUSY if pinned => spin(LOOK),
                    END => return pinned,
                    // An order that came since it was loaded lets the next line return at once.
                    _ => thread::park(),
                }
            }
        });
        let other = other.ok()?;
        let give = |value| {
            order.store(value, Relaxed);
            other.thread().unpark();
        };
        let pairs = measure::neighbour(bench, PASS * steps, PAIRS, WALL_NS, |busy| {
            give(if busy { BUSY } else { REST });
        });
        give(END);
        // The thread cannot panic; if it did, there is nothing to report.
        other.join().unwrap_or(false).then_some(pairs)
    });
    // The thread had these CPUs before, so the system accepts them.
    affinity::pin(&usable);
    Some(Neighbour { cpu: pair.cpu, other: pair.other, siblings: pair.siblings, pairs: pairs? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(id: u32, siblings: &[u32]) -> Cpu {
        Cpu { id, siblings: siblings.to_vec(), ..Cpu::default() }
    }

    #[test]
    fn a_sibling_and_another_core_are_tried() {
        let smt = [cpu(0, &[0, 2]), cpu(1, &[1, 3]), cpu(2, &[0, 2]), cpu(3, &[1, 3])];
        let pair = |other, siblings| Pair { cpu: 0, other, siblings };
        assert_eq!(pairs(&[0, 1, 2, 3], &smt), [pair(2, true), pair(1, false)]);
        assert_eq!(pairs(&[0, 2], &smt), [pair(2, true)]);
        assert_eq!(pairs(&[0, 1], &smt), [pair(1, false)]);
        assert_eq!(pairs(&[1, 2], &smt), [Pair { cpu: 1, other: 2, siblings: false }]);
        assert_eq!(pairs(&[0, 1], &[]), [pair(1, false)]);
        assert_eq!(pairs(&[3], &smt), []);
        assert_eq!(pairs(&[], &smt), []);
    }
}
