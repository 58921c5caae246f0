//! The file in which a preloaded library counts allocations, and the library's source.
//!
//! The library (`crates/sys/shim/allocations.c`) maps the file and counts in it. [`Page::read`]
//! reads the sums, without a system call in the process that is counted. This works on Linux for
//! ELF programs that are linked dynamically. A program that is linked statically (Go) loads no
//! library, and [`Page::read`] says that nothing was attached.

use std::{
    fs::File,
    io::{self, Write},
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
};

use taskscale_model::run_file::Allocations;

use crate::ffi;

/// C11 source of the library. It is built by `cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden
/// -fno-builtin` with `-ldl -pthread`.
pub const SOURCE: &str = include_str!("../../shim/allocations.c");

/// The environment variable that names the file to the library.
pub const VARIABLE: &str = "TASKSCALE_ALLOCATIONS";

/// Slots for threads that live at the same time, of 64 bytes each. Further threads share a slot by
/// atomic adds.
pub const SLOTS: u32 = 1_022;

/// Size of `struct header` and `struct slot` of the library.
const UNIT: usize = 64;
const MAGIC: u64 = u64::from_le_bytes(*b"TSALLOC1");

/// The shared file of one process that is counted, with all that it starts. It lies in memory and
/// in no folder. It is gone with the last process that has it, however that one ends.
#[derive(Debug)]
pub struct Page {
    file: File,
    path: PathBuf,
    slots: usize,
}

impl Page {
    /// Creates the file with [`SLOTS`] slots.
    ///
    /// # Errors
    /// The system has no files in memory (Linux has them).
    pub fn create() -> io::Result<Self> {
        Page::with_slots(SLOTS)
    }

    /// Creates the file with another number of slots.
    ///
    /// # Errors
    /// As [`Page::create`].
    pub fn with_slots(slots: u32) -> io::Result<Self> {
        let mut file = ffi::memory_file(c"taskscale-allocations")?;
        file.set_len(((slots as usize + 2) * UNIT) as u64)?;
        file.write_all(&MAGIC.to_ne_bytes())?;
        file.write_all(&slots.to_ne_bytes())?;
        // The path names this process by its id: a program that starts others closes its
        // descriptors, and its children count all the same.
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Ok(Page { file, path, slots: slots as usize })
    }

    /// Returns the path of the file, for [`VARIABLE`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sums so far; `None` while no process has loaded the library. Costs one read of
    /// 64 kB, about 10 us.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn read(&self) -> io::Result<Option<Allocations>> {
        let mut bytes = vec![0; (self.slots + 2) * UNIT];
        // The kernel's pages that are mapped are the ones that are read.
        self.file.read_exact_at(&mut bytes, 0)?;
        let attached = u32::from_ne_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        let mut sums = [0u64; 6];
        for slot in bytes[UNIT..].chunks_exact(UNIT) {
            for (sum, field) in sums.iter_mut().zip(slot.chunks_exact(8)) {
                // `chunks_exact(8)` gives eight bytes.
                *sum = sum.wrapping_add(field.try_into().map(u64::from_ne_bytes).unwrap_or_default());
            }
        }
        let [malloc, calloc, realloc, aligned, free, bytes] = sums;
        Ok((attached > 0).then_some(Allocations { malloc, calloc, realloc, aligned, free, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_counted_before_the_library_is_there() {
        let page = Page::with_slots(3).expect("a file");
        assert_eq!(page.read().expect("read"), None);
        let by_name = File::open(page.path()).expect("others of this user open it by its path");
        assert_eq!(by_name.metadata().expect("there").len(), 5 * 64);
    }

    #[test]
    fn all_slots_are_added_up() {
        let page = Page::with_slots(2).expect("a file");
        let put = |at: u64, value: u64| page.file.write_all_at(&value.to_ne_bytes(), at).expect("written");
        page.file.write_all_at(&1u32.to_ne_bytes(), 12).expect("attached");
        // The test fills the common slot, then two more; the fields are in the order of `struct
        // slot`.
        for (slot, times) in [(1, 1), (2, 10), (3, 100)] {
            for field in 0..6 {
                put(slot * 64 + field * 8, times * (field + 1));
            }
            put(slot * 64 + 48, u64::MAX); // what follows the counts is no count
        }
        assert_eq!(
            page.read().expect("read"),
            Some(Allocations { malloc: 111, calloc: 222, realloc: 333, aligned: 444, free: 555, bytes: 666 })
        );
    }
}
