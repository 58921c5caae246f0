//! Reads what else used the machine while a round was taken.
//!
//! A disturbed round is kept and marked, never dropped: the notes of the report say when to doubt
//! wall times (METHODOLOGY.md, "Which time"). One reading takes two or three small files of
//! `/proc`, about 30 us. Readings belong between rounds, never within one.

use std::fs;

use taskscale_model::machine::Disturbance;

/// Reads how far the counters moved since the reading before.
///
/// ```
/// let mut meter = taskscale_sys::disturbance::Meter::new();
/// let disturbance = meter.read();
/// // Where the kernel has no such counter (macOS; PSI switched off) a field is absent, not zero.
/// assert!(disturbance.load_1m.is_none_or(|load| load >= 0.0));
/// ```
#[derive(Debug)]
pub struct Meter {
    before: Counters,
}

/// Counters since boot.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    pressure_us: Option<u64>,
    steal_ticks: Option<u64>,
}

impl Meter {
    /// Starts counting.
    #[allow(clippy::new_without_default, reason = "it reads the system; a default value would hide that")]
    pub fn new() -> Self {
        Meter { before: Counters::read() }
    }

    /// Returns what happened since the last call, or since [`Meter::new`].
    pub fn read(&mut self) -> Disturbance {
        let now = Counters::read();
        let before = std::mem::replace(&mut self.before, now);
        Disturbance {
            cpu_pressure_us: moved(before.pressure_us, now.pressure_us),
            steal_ticks: moved(before.steal_ticks, now.steal_ticks),
            load_1m: text("/proc/loadavg").and_then(|text| parse_load(&text)),
        }
    }
}

impl Counters {
    fn read() -> Self {
        Counters {
            pressure_us: text("/proc/pressure/cpu").and_then(|text| parse_pressure(&text)),
            steal_ticks: text("/proc/stat").and_then(|text| parse_steal(&text)),
        }
    }
}

/// Returns the difference; `None` where the counter went back, as a hypervisor may set it (live
/// migration). A difference of nothing or of 2^64 would be wrong.
pub(crate) fn moved(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Reads `total` of the line `some` in a file of `/proc/pressure`, in microseconds.
pub(crate) fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// Reads the eighth number of the line `cpu` in `/proc/stat` (proc(5)): time stolen, in ticks over
/// all CPUs.
pub(crate) fn parse_steal(text: &str) -> Option<u64> {
    cpu_line(text)?.nth(8)?.parse().ok()
}

/// Sums the ticks in which CPUs ran anything at all, over all CPUs, from `/proc/stat`: user, nice,
/// system, irq, softirq.
pub(crate) fn parse_busy(text: &str) -> Option<u64> {
    let mut fields = cpu_line(text)?.skip(1);
    let mut tick = || fields.next()?.parse::<u64>().ok();
    let (user, nice, system, _idle, _iowait, irq, softirq) =
        (tick()?, tick()?, tick()?, tick()?, tick()?, tick()?, tick()?);
    Some(user + nice + system + irq + softirq)
}

fn cpu_line(text: &str) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    Some(text.lines().find(|line| line.starts_with("cpu "))?.split_ascii_whitespace())
}

/// Reads the first number of `/proc/loadavg`: the average over one minute.
pub(crate) fn parse_load(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_the_kernel_are_read() {
        let pressure =
            "some avg10=0.81 avg60=0.68 avg300=0.76 total=6242951\nfull avg10=0.00 avg60=0.00 total=7\n";
        assert_eq!(parse_pressure(pressure), Some(6_242_951));
        assert_eq!(parse_pressure("full avg10=0.00 total=7\n"), None);
        assert_eq!(
            parse_steal("cpu  5037 1 2222 135267 372 3 45 9 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"),
            Some(9)
        );
        assert_eq!(parse_steal("cpu  5037 1 2222 135267\n"), None, "kernels before 2.6.11 had no steal");
        assert_eq!(parse_busy("cpu  5037 1 2222 135267 372 3 45 9 0 0\n"), Some(5037 + 1 + 2222 + 3 + 45));
        assert_eq!(parse_busy("cpu  5037 1 2222\n"), None);
        assert_eq!(parse_load("1.52 0.70 0.30 2/181 4021\n"), Some(1.52));
        assert_eq!(parse_load(""), None);
    }

    #[test]
    fn a_counter_that_went_back_is_not_known() {
        assert_eq!(moved(Some(5), Some(7)), Some(2));
        assert_eq!(moved(Some(7), Some(5)), None);
        assert_eq!(moved(None, Some(5)), None);
        assert_eq!(moved(Some(5), None), None);
    }

    #[test]
    fn each_reading_starts_where_the_last_one_ended() {
        let total = |counters: Counters| (counters.pressure_us, counters.steal_ticks);
        let first = Counters::read();
        let mut meter = Meter { before: first };
        let sums = (0..3).map(|_| meter.read()).fold((0, 0), |sums, read| {
            (sums.0 + read.cpu_pressure_us.unwrap_or(0), sums.1 + read.steal_ticks.unwrap_or(0))
        });
        let (pressure, steal) = total(meter.before);
        assert_eq!(sums.0, moved(first.pressure_us, pressure).unwrap_or(0));
        assert_eq!(sums.1, moved(first.steal_ticks, steal).unwrap_or(0));
    }
}
