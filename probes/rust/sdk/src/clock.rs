//! The two clocks.

use rustix::time::{ClockId, clock_gettime};

use crate::threads::count_running_threads;

// A reading of the wall clock, which is monotonic, costs about 25 ns. The CPU clock shows what all
// threads of this process have used, user and system. A reading is a system call and costs about
// 300 ns.
pub use rustix::time::ClockId::{Monotonic as WALL, ProcessCPUTime as CPU};

/// Nanoseconds that `clock` shows.
pub fn now_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time that all threads of this process have used, where a sample begins: exact, for some 5
/// us. The wall clock is read behind it.
pub fn cpu_begin_ns() -> u64 {
    count_running_threads();
    now_ns(CPU)
}

/// The same where it ends, without what this call takes. The wall clock is read before it.
pub fn cpu_end_ns() -> u64 {
    let begun = now_ns(ClockId::ThreadCPUTime);
    count_running_threads();
    let took = now_ns(ClockId::ThreadCPUTime) - begun;
    now_ns(CPU) - took
}

/// The smallest of 1,000 steps that `clock` was seen to make. This is what it can really show, the
/// cost of reading it included. `clock_getres` promises 1 ns, which it cannot show.
pub fn resolution_ns(clock: ClockId) -> u64 {
    let next_step = |start| std::iter::repeat_with(|| now_ns(clock) - start).find(|step| *step > 0);
    (0..1_000).filter_map(|_| next_step(now_ns(clock))).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_move_forward_and_show_their_steps() {
        for clock in [WALL, CPU] {
            let before = now_ns(clock);
            assert!(resolution_ns(clock) > 0);
            assert!(now_ns(clock) > before);
        }
    }
}
