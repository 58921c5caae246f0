//! Counters of the kernel since boot, and how far they moved between two looks.

use taskscale_model::doctor::facts::{Clock, Moved};

use super::bench::{Bench, ThisThread};
use crate::{
    disturbance::{moved, parse_busy, parse_pressure, parse_steal},
    machine::{Files, groups, topology},
};

/// Length of a tick of `/proc/stat`: USER_HZ is 100 on every architecture but Alpha and Itanium.
const TICK_NS: u64 = 10_000_000;

/// Counters at one time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    wall_ns: u64,
    own_cpu_ns: u64,
    busy_ticks: Option<u64>,
    steal_ticks: Option<u64>,
    cpu_pressure_us: Option<u64>,
    memory_pressure_us: Option<u64>,
    throttled_us: Option<u64>,
    heat_events: Option<u64>,
    swapped_pages: Option<u64>,
}

impl Counters {
    /// Reads the counters, with the clocks of this process.
    pub fn read(files: &dyn Files) -> Self {
        let mut bench = ThisThread::new();
        Self::at(files, bench.clock_ns(Clock::Wall), bench.clock_ns(Clock::ProcessCpu))
    }

    /// Reads the files for the given wall and CPU time.
    pub fn at(files: &dyn Files, wall_ns: u64, own_cpu_ns: u64) -> Self {
        let stat = files.text("/proc/stat").ok();
        let stat = stat.as_deref();
        let pressure = |path| files.text(path).ok().and_then(|text| parse_pressure(&text));
        Counters {
            wall_ns,
            own_cpu_ns,
            busy_ticks: stat.and_then(parse_busy),
            steal_ticks: stat.and_then(parse_steal),
            cpu_pressure_us: pressure("/proc/pressure/cpu"),
            memory_pressure_us: pressure("/proc/pressure/memory"),
            throttled_us: groups::throttling(files).value().map(|throttling| throttling.throttled_us),
            heat_events: topology::heat_events(files).value().copied(),
            swapped_pages: files.text("/proc/vmstat").ok().and_then(|text| swapped_pages(&text)),
        }
    }

    /// Returns how far the counters moved from here to `later`.
    pub fn moved(&self, later: &Counters) -> Moved {
        let ticks = |before, now| Some(moved(before, now)? * TICK_NS);
        Moved {
            elapsed_ns: later.wall_ns.saturating_sub(self.wall_ns),
            own_cpu_ns: later.own_cpu_ns.saturating_sub(self.own_cpu_ns),
            all_cpu_ns: ticks(self.busy_ticks, later.busy_ticks),
            steal_ns: ticks(self.steal_ticks, later.steal_ticks),
            cpu_pressure_us: moved(self.cpu_pressure_us, later.cpu_pressure_us),
            memory_pressure_us: moved(self.memory_pressure_us, later.memory_pressure_us),
            throttled_us: moved(self.throttled_us, later.throttled_us),
            heat_events: moved(self.heat_events, later.heat_events),
            swapped_pages: moved(self.swapped_pages, later.swapped_pages),
        }
    }
}

/// Sums the pages that went to swap or came from it.
fn swapped_pages(vmstat: &str) -> Option<u64> {
    let value = |name| vmstat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(value("pswpin ")? + value("pswpout ")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Captured;

    fn machine(stat: &str, pressure: u64, throttled: u64, swapped: u64) -> Captured {
        Captured::parse(&format!(
            "== /proc/stat\n{stat}\n\
             == /proc/pressure/cpu\nsome avg10=0.00 avg60=0.00 avg300=0.00 total={pressure}\n\
             == /proc/pressure/memory\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=5\n\
             == /proc/vmstat\nnr_free_pages 7\npswpin {swapped}\npswpout 2\n\
             == /proc/self/cgroup\n0::/\n\
             == /proc/self/mountinfo\n25 1 0:22 / /g rw - cgroup2 cgroup2 rw\n\
             == /g/cpu.max\n100000 100000\n\
             == /g/cpu.stat\nnr_periods 9\nnr_throttled 1\nthrottled_usec {throttled}\n"
        ))
    }

    #[test]
    fn what_moved_between_two_looks() {
        let before = Counters::at(&machine("cpu  10 0 5 100 0 0 0 3 0 0", 100, 50, 0), 1_000, 10);
        let later = Counters::at(&machine("cpu  60 0 15 200 0 0 0 7 0 0", 900, 450, 6), 1_001_000, 500_010);
        assert_eq!(
            before.moved(&later),
            Moved {
                elapsed_ns: 1_000_000,
                own_cpu_ns: 500_000,
                all_cpu_ns: Some(600_000_000),
                steal_ns: Some(40_000_000),
                cpu_pressure_us: Some(800),
                memory_pressure_us: Some(0),
                throttled_us: Some(400),
                heat_events: None,
                swapped_pages: Some(6),
            }
        );
    }

    #[test]
    fn what_is_not_there_does_not_move() {
        let nothing = Counters::at(&Captured::default(), 0, 0);
        assert_eq!(nothing.moved(&nothing), Moved::default());
    }
}
