//! What timing a task costs the observed program.

use std::sync::OnceLock;

use taskscale_sys::ticks::{self, Rate};

use crate::{options::Options, worker::Worker};

/// Tasks of a batch: two buffers, so that emptying them is in the cost.
const TASKS: u64 = 150;
/// The least of so many batches counts, since anything else that runs makes one longer.
const BATCHES: usize = 16;

/// The nanoseconds of each gap before a timed task that observing takes: a reading of the clock,
/// the entry, and a share of emptying the buffer. Half a reading is in the task itself, and so is
/// half of the one before. It is measured once, on tasks that do nothing, in some 150 us.
pub fn of_gap_ns() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(|| {
        let worker = Worker::new(0, &Options { exact: true, ..Options::default() });
        let batch = |_| {
            let begin = ticks::now();
            for _ in 0..TASKS {
                worker.begin();
                worker.end(b"task");
            }
            ticks::now().saturating_sub(begin) / TASKS
        };
        let least = (0..BATCHES).map(batch).min().unwrap_or(0);
        Rate::of_machine().ns(least.saturating_sub(ticks::reading_ticks()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observing_costs_something_and_not_much() {
        // A build without optimisation takes 20 times as long.
        assert!((1..20_000).contains(&of_gap_ns()), "{}", of_gap_ns());
        assert_eq!(of_gap_ns(), of_gap_ns());
    }
}
