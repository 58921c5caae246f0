//! The file in which a preloaded library counts allocations, and the library's source.
//!
//! The library (`crates/sys/shim/allocations.c`) maps the file and counts in it. [`Page::read`]
//! reads the sums, without a system call in the process that is counted. This works on Linux for
//! ELF programs that are linked dynamically. A program that is linked statically (Go) loads no
//! library, and [`Page::read`] says that nothing was attached.

use std::{io, path::Path};

use taskscale_model::run_file::Allocations;

use super::page;
pub use super::page::SLOTS;

/// C11 source of the library. It is built by `cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden
/// -fno-builtin` with `-ldl -pthread`.
pub const SOURCE: &str = page::source!("allocations.c");

/// The environment variable that names the file to the library.
pub const VARIABLE: &str = "TASKSCALE_ALLOCATIONS";

/// The shared file of one process that is counted, with all that it starts.
#[derive(Debug)]
pub struct Page(page::Page);

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
        page::Page::create(c"taskscale-allocations", u64::from_le_bytes(*b"TSALLOC1"), slots).map(Page)
    }

    /// Returns the path of the file, for [`VARIABLE`].
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the sums so far; `None` while no process has loaded the library. Costs about 10 us.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn read(&self) -> io::Result<Option<Allocations>> {
        // The fields are in the order of the library's.
        Ok(self.0.sums()?.map(|[malloc, calloc, realloc, aligned, free, bytes]| Allocations {
            malloc,
            calloc,
            realloc,
            aligned,
            free,
            bytes,
        }))
    }
}
