//! The file in which a preloaded library counts allocations, and the library's source.
//!
//! The library (`crates/sys/shim/allocations.c`) maps the file and counts in it; [`Page::read`] reads the sums, without a system call in
//! the process that is counted. Linux: an ELF program that is linked dynamically. One that is linked statically (Go) loads no
//! library, and [`Page::read`] says that nothing was attached.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use taskscale_model::run_file::Allocations;

/// C11 source of the library: `cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -fno-builtin`, with `-ldl -pthread`.
pub const SOURCE: &str = include_str!("../../shim/allocations.c");

/// The environment variable that names the file to the library.
pub const VARIABLE: &str = "TASKSCALE_ALLOCATIONS";

/// Slots for threads that live at the same time, of 64 bytes each; further ones share a slot by atomic adds.
pub const SLOTS: u32 = 1_022;

/// `struct header` and `struct slot` of the library.
const UNIT: usize = 64;
const MAGIC: u64 = u64::from_le_bytes(*b"TSALLOC1");

/// The shared file of one process that is counted, with all that it starts. Removed when dropped.
#[derive(Debug)]
pub struct Page {
    file: File,
    path: PathBuf,
    slots: usize,
}

impl Page {
    /// Lays out a file, in memory where the system has a folder for that.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn create() -> io::Result<Self> {
        Page::with_slots(SLOTS)
    }

    /// The same with another number of slots.
    ///
    /// # Errors
    /// As [`Page::create`].
    pub fn with_slots(slots: u32) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        // A name left behind by a process that had our id and was killed is stepped over.
        let (mut file, path) = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("taskscale-allocations-{}-{number}", std::process::id()));
            match fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let page = |file| Page { file, path: path.clone(), slots: slots as usize };
        let laid = file
            .set_len(((slots as usize + 2) * UNIT) as u64)
            .and_then(|()| file.write_all(&MAGIC.to_ne_bytes()))
            .and_then(|()| file.write_all(&slots.to_ne_bytes()));
        // From here on dropping it removes the file.
        let page = page(file);
        laid.map(|()| page)
    }

    /// Where it is, for [`VARIABLE`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sums so far; `None` while no process has loaded the library. One read of 64 kB, about 10 us.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn read(&self) -> io::Result<Option<Allocations>> {
        let mut bytes = vec![0; (self.slots + 2) * UNIT];
        // What is mapped and what is read are the same pages of the kernel.
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

impl Drop for Page {
    fn drop(&mut self) {
        // A file in the memory folder that cannot be removed is gone with the next start.
        fs::remove_file(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_counted_before_the_library_is_there() {
        let page = Page::with_slots(3).expect("a file");
        assert_eq!(page.read().expect("read"), None);
        let length = fs::metadata(page.path()).expect("there").len();
        assert_eq!(length, 5 * 64);
        let path = page.path().to_owned();
        drop(page);
        assert!(!path.exists(), "it is removed");
    }

    #[test]
    fn all_slots_are_added_up() {
        let page = Page::with_slots(2).expect("a file");
        let put = |at: u64, value: u64| page.file.write_all_at(&value.to_ne_bytes(), at).expect("written");
        page.file.write_all_at(&1u32.to_ne_bytes(), 12).expect("attached");
        // The common slot, then two more; fields in the order of `struct slot`.
        for (slot, times) in [(1, 1), (2, 10), (3, 100)] {
            for field in 0..6 {
                put(slot * 64 + field * 8, times * (field + 1));
            }
            put(slot * 64 + 48, u64::MAX); // what follows the counts is none
        }
        assert_eq!(
            page.read().expect("read"),
            Some(Allocations { malloc: 111, calloc: 222, realloc: 333, aligned: 444, free: 555, bytes: 666 })
        );
    }
}
