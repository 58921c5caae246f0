//! Pipes with a name, opened without waiting for ever for someone who writes.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::ffi::{self, Interest};

/// Tells whether a file is a pipe.
pub fn is(about: &Metadata) -> bool {
    about.file_type().is_fifo()
}

/// Opens a pipe to read from it; `None` where nothing was written to it for `patience_ms`.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path, patience_ms: i32) -> io::Result<Option<File>> {
    // Without this flag the call itself waits until someone opens the pipe to write.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let deadline_ns = crate::clock::monotonic_ns() + patience_ms.max(0) as u64 * 1_000_000;
    loop {
        let left_ns = deadline_ns.saturating_sub(crate::clock::monotonic_ns());
        let left_ms = i32::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX);
        ffi::poll([Interest { fd: Some(file.as_fd()), events: libc::POLLIN }], left_ms)?;
        if ffi::bytes_waiting(file.as_fd())? > 0 {
            ffi::set_blocking(file.as_fd())?;
            return Ok(Some(file));
        }
        if left_ns == 0 {
            return Ok(None);
        }
        // A writer that went without a word leaves the pipe ready and empty.
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
