//! A file in memory. Rust has no safe interface to it, since others may write the file meanwhile:
//! that of the tool is written once and replaced as a whole.

#![allow(unsafe_code)]

use std::{
    fs::File,
    io,
    ptr::{null_mut, slice_from_raw_parts},
};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Calls `look` with the bytes of a file.
pub fn mapped<T>(file: &File, look: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if length == 0 {
        // There is no map of nothing.
        return Ok(look(&[]));
    }
    // SAFETY: a fresh place of the kernel's choice, which nobody else has.
    let at = unsafe { mmap(null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0) }?;
    // SAFETY: `length` bytes at `at` are readable until `munmap` below, and nobody writes the file.
    let looked = look(unsafe { &*slice_from_raw_parts(at.cast_const().cast::<u8>(), length) });
    // SAFETY: the same place, to which no reference is left.
    unsafe { munmap(at, length) }?;
    Ok(looked)
}
