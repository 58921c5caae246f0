//! System calls, counted by the kernel: the tracepoint `raw_syscalls:sys_enter` through
//! perf_event_open(2).
//!
//! The process opens the event on itself before its program begins (`opened.rs`). Ordinary users
//! may not open it as a rule; [`super::traced`] counts for them.

use std::io;

#[cfg(not(target_os = "linux"))]
use taskscale_model::missing::Missing;

#[cfg(target_os = "linux")]
pub(crate) use linux::prepare;

/// Counts the system calls of one process and of all that it starts.
#[derive(Debug)]
pub struct Counter {
    pub(super) event: std::fs::File,
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
pub(crate) fn prepare() -> Result<super::opened::Opener, Missing> {
    Err(Missing::new("system calls are counted on Linux only", ""))
}

#[cfg(target_os = "linux")]
mod linux;
