//! The file in which a preloaded library counts: `slots.h` of `crates/sys/shim` has its layout.

use std::{
    fs::File,
    io::{self, Write},
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
};

use crate::ffi;

/// The text with which every such library begins.
macro_rules! source {
    ($name:literal) => {
        concat!(include_str!("../../shim/slots.h"), include_str!(concat!("../../shim/", $name)))
    };
}
pub(super) use source;

/// Slots for threads that live at the same time, of 64 bytes each. Further threads share a slot by
/// atomic adds.
pub const SLOTS: u32 = 1_022;

/// Size of `struct header` and `struct slot` of the library.
const UNIT: usize = 64;

/// The shared file of one process that is counted, with all that it starts. It lies in memory and
/// in no folder. It is gone with the last process that has it, however that one ends.
#[derive(Debug)]
pub(super) struct Page {
    file: File,
    path: PathBuf,
    slots: usize,
}

impl Page {
    /// Creates the file for the library that knows it by `magic`.
    pub fn create(label: &std::ffi::CStr, magic: u64, slots: u32) -> io::Result<Self> {
        let mut file = ffi::memory_file(label)?;
        file.set_len(((slots as usize + 2) * UNIT) as u64)?;
        file.write_all(&magic.to_ne_bytes())?;
        file.write_all(&slots.to_ne_bytes())?;
        // The path names this process by its id: a program that starts others closes its
        // descriptors, and its children count all the same.
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Ok(Page { file, path, slots: slots as usize })
    }

    /// Returns the path of the file, for the library's variable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sums so far; `None` while no process has loaded the library. Costs one read of
    /// 64 kB, about 10 us.
    pub fn sums(&self) -> io::Result<Option<[u64; 6]>> {
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
        Ok((attached > 0).then_some(sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: u64 = 7;

    #[test]
    fn nothing_is_counted_before_the_library_is_there() {
        let page = Page::create(c"test", MAGIC, 3).expect("a file");
        assert_eq!(page.sums().expect("read"), None);
        let by_name = File::open(page.path()).expect("others of this user open it by its path");
        assert_eq!(by_name.metadata().expect("there").len(), 5 * 64);
    }

    #[test]
    fn all_slots_are_added_up() {
        let page = Page::create(c"test", MAGIC, 2).expect("a file");
        let put = |at: u64, value: u64| page.file.write_all_at(&value.to_ne_bytes(), at).expect("written");
        page.file.write_all_at(&1u32.to_ne_bytes(), 12).expect("attached");
        // The test fills the common slot, then two more.
        for (slot, times) in [(1, 1), (2, 10), (3, 100)] {
            for field in 0..6 {
                put(slot * 64 + field * 8, times * (field + 1));
            }
            put(slot * 64 + 48, u64::MAX); // what follows the counts is no count
        }
        assert_eq!(page.sums().expect("read"), Some([111, 222, 333, 444, 555, 666]));
    }
}
