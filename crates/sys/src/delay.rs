//! Run delay: how long a thread could have run and waited while others used the processors.

use std::{cell::RefCell, fs::File, os::unix::fs::FileExt};

thread_local! {
    // The file is kept open: one positional read takes half a microsecond, opening it twenty times
    // that. The process that opened it is kept with it: after a fork the file would still be the
    // parent's.
    static SCHEDSTAT: RefCell<Option<(u32, File)>> = const { RefCell::new(None) };
}

/// What a thread has waited for a processor so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunDelay {
    /// Nanoseconds in which it could have run and did not.
    pub ns: u64,
    /// How often it got a processor.
    pub slices: u64,
}

/// Returns the nanoseconds that the calling thread has waited for a processor so far, as
/// [`run_delay`] does.
pub fn run_delay_ns() -> Option<u64> {
    run_delay().map(|delay| delay.ns)
}

/// Returns what the calling thread has waited for a processor so far; `None` where the kernel does
/// not say (outside Linux, or without scheduler statistics). Costs about 0.5 us. The first call of
/// a thread opens a descriptor.
pub fn run_delay() -> Option<RunDelay> {
    // A thread that is ending has no locals.
    SCHEDSTAT
        .try_with(|cell| {
            let mut file = cell.try_borrow_mut().ok()?;
            let process = std::process::id();
            if file.as_ref().is_none_or(|(opener, _)| *opener != process) {
                *file = File::open("/proc/thread-self/schedstat").ok().map(|file| (process, file));
            }
            let mut text = [0; 96];
            let (_, file) = file.as_ref()?;
            let length = file.read_at(&mut text, 0).ok()?;
            told(&text[..length])
        })
        .ok()
        .flatten()
}

/// Reads the last two of the three numbers of `schedstat`: time on a processor, time waited for
/// one, time slices.
fn told(text: &[u8]) -> Option<RunDelay> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_whitespace().skip(1);
    let mut number = || numbers.next()?.parse().ok();
    Some(RunDelay { ns: number()?, slices: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_delay_and_the_third_the_slices() {
        assert_eq!(told(b"123 45 6\n"), Some(RunDelay { ns: 45, slices: 6 }));
        assert_eq!(told(b"123 45\n"), None);
        assert_eq!(told(b""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_knows_its_own_delay_and_it_does_not_go_back() {
        let before = run_delay_ns().expect("scheduler statistics");
        assert!(run_delay_ns().expect("scheduler statistics") >= before);
    }
}
