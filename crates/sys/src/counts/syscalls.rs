//! System calls, counted by the kernel: the tracepoint `raw_syscalls:sys_enter` through
//! perf_event_open(2).
//!
//! A process that is to be counted opens the event on itself between fork and exec, with
//! `enable_on_exec` and `inherit`, and sends us the descriptor. Counting begins with the program's
//! first instruction and takes in all its threads and children. (Opened on *our* thread before the
//! fork and inherited, the event counted nothing in 5 of 11 trials on Linux 6.18.)

#![cfg_attr(target_os = "linux", allow(unsafe_code))]

use std::io;

#[cfg(not(target_os = "linux"))]
use taskscale_model::missing::Missing;

#[cfg(target_os = "linux")]
pub(crate) use linux::Opener;

/// Counts the system calls of one process and of all that it starts.
#[derive(Debug)]
pub struct Counter {
    event: std::fs::File,
}

impl Counter {
    /// Returns the system calls so far, those of living threads included. Costs 4 to 6 us.
    ///
    /// # Errors
    /// Those of reading the event.
    pub fn read(&self) -> io::Result<u64> {
        use std::io::Read;
        let mut count = [0; 8];
        (&self.event).read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

/// Stands in on other systems, where nothing is counted.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Opener;

#[cfg(not(target_os = "linux"))]
impl Opener {
    pub fn prepare() -> Result<Self, Missing> {
        Err(Missing::new("system calls are counted on Linux only", ""))
    }

    pub fn hook(&self, _: &mut std::process::Command) {}

    pub fn receive(self) -> Result<Counter, Missing> {
        Opener::prepare().and_then(Opener::receive)
    }
}

#[cfg(target_os = "linux")]
mod linux;
