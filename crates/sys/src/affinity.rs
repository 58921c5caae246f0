//! On which CPUs a thread runs, and with it what it starts.

#![allow(unsafe_code)]

use crate::machine;

/// Lets the calling thread run on these CPUs only. Returns whether the system did so. CPUs beyond
/// 1,023 are left out.
pub fn pin(cpus: &[u32]) -> bool {
    #[cfg(target_os = "linux")]
    {
        let mut mask = [0u64; 16];
        for cpu in cpus {
            if let Some(word) = mask.get_mut(*cpu as usize / 64) {
                *word |= 1 << (cpu % 64);
            }
        }
        // SAFETY: `mask` is 128 bytes of plain bits, as a cpu_set_t; 0 is the calling thread.
        unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) == 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpus;
        false
    }
}

/// Returns the CPUs that the calling thread may use, ascending; none where the system does not say.
pub fn usable() -> Vec<u32> {
    machine::usable(&machine::ThisMachine).value().cloned().unwrap_or_default()
}

/// Keeps the calling thread, and what it starts, on some CPUs until this is dropped.
#[derive(Debug)]
pub struct Kept {
    before: Vec<u32>,
}

impl Kept {
    /// Keeps the calling thread on `cpu`; `None` where the system does not let it.
    pub fn on(cpu: u32) -> Option<Kept> {
        Kept::on_all(&[cpu])
    }

    /// Keeps the calling thread on `cpus`; `None` where the system does not let it.
    pub fn on_all(cpus: &[u32]) -> Option<Kept> {
        let before = usable();
        (!before.is_empty() && pin(cpus)).then_some(Kept { before })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        pin(&self.before);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{process::Command, thread};

    use taskscale_model::missing::Reading;

    use super::*;

    #[test]
    fn a_thread_is_put_on_a_cpu_and_the_others_are_not() {
        let before = machine::read().cpus_usable;
        let usable = usable();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(pin(&usable[..1]));
                assert_eq!(machine::read().cpus_usable, Reading::Value(1));
                assert!(pin(&usable));
                assert_eq!(machine::read().cpus_usable, before);
            });
        });
        assert!(!pin(&[]), "nowhere to run");
        assert_eq!(machine::read().cpus_usable, before);
    }

    #[test]
    fn what_is_started_stays_on_the_cpu_and_the_thread_does_not() {
        let all = usable();
        let cpu = *all.last().expect("a CPU");
        let list = || {
            let script = "grep Cpus_allowed_list: /proc/self/status";
            let output = Command::new("sh").args(["-c", script]).output().expect("a shell").stdout;
            String::from_utf8_lossy(&output).split_whitespace().last().map(str::to_owned)
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let kept = Kept::on(cpu).expect("a CPU that it may use");
                assert_eq!(list(), Some(cpu.to_string()));
                drop(kept);
                assert_eq!(usable(), all);
            });
        });
        assert_eq!(Kept::on(u32::MAX).map(|_| ()), None, "no such CPU");
    }
}
