//! Opens an event of the kernel's: perf_event_open(2).
#![allow(unsafe_code)]

use std::{
    io,
    mem::size_of,
    os::fd::{FromRawFd, OwnedFd},
};

/// `perf_event_attr` as of its first version (PERF_ATTR_SIZE_VER0), which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// What to count, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub kind: u32,
    pub config: u64,
    pub flags: u64,
    pub read_format: u64,
}

impl Event {
    pub const HARDWARE: u32 = 0;
    pub const TRACEPOINT: u32 = 2;
    /// The number of [`Event::HARDWARE`] for instructions.
    pub const INSTRUCTIONS: u64 = 1;

    pub const DISABLED: u64 = 1 << 0;
    const INHERIT: u64 = 1 << 1;
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const ENABLE_ON_EXEC: u64 = 1 << 12;

    /// An event that counts nothing before the program of the thread is replaced, and then all
    /// threads and children of it.
    pub fn of_a_program(kind: u32, config: u64) -> Self {
        let flags = Event::DISABLED | Event::INHERIT | Event::ENABLE_ON_EXEC;
        Event { kind, config, flags, read_format: 0 }
    }
}

/// Opens an event on the calling thread, on any CPU and in no group; it is closed on exec. Makes
/// one system call and nothing else, so that it may run between fork and exec.
///
/// # Errors
/// Those of the system call.
pub(crate) fn open(event: Event) -> io::Result<OwnedFd> {
    const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
    let Event { kind, config, flags, read_format } = event;
    let size = size_of::<Attributes>() as u32;
    let attributes = Attributes { kind, size, config, flags, read_format, ..Attributes::default() };
    // SAFETY: the kernel reads `size` bytes of initialised plain data; 0 is this thread, -1 any CPU
    // and no group. It returns a new descriptor that nobody else owns.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0 as libc::pid_t,
            -1 as libc::c_int,
            -1 as libc::c_int,
            PERF_FLAG_FD_CLOEXEC,
        );
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // A descriptor always fits an i32.
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_that_of_the_first_version() {
        assert_eq!(size_of::<Attributes>(), 64);
    }
}
