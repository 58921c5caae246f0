//! The file in which a preloaded library counts the retains and releases of a Swift program, and
//! the library's source.
//!
//! The library (`crates/sys/shim/references.c`) takes the place of what the runtime of Swift calls
//! for a retain and a release, by pointers that libswiftCore exports. [`Page::read`] reads the
//! sums, without a system call in the process that is counted. A program that has no runtime of
//! Swift, or has it linked statically (`-static-stdlib`), is told from one that retains nothing.
//!
//! **Exact.** Each call of the compiled program and of the runtime's own code counts, with the
//! number that it carries (`swift_retain_n`), where it has to do with an object: those with null do
//! not count. Retains that the optimiser left out are not there. Those that Swift does without
//! atomics (`-assume-single-threaded`) and those of unowned and weak references have functions of
//! their own and are not counted. A release that ends an object counts; what its end then releases
//! counts for itself.

use std::{io, path::Path};

use super::page;

/// C11 source of the library. It is built as [`super::allocations::SOURCE`].
pub const SOURCE: &str = page::source!("references.c");

/// The environment variable that names the file to the library.
pub const VARIABLE: &str = "TASKSCALE_REFERENCES";

/// How often references to objects were counted up and down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct References {
    pub retains: u64,
    pub releases: u64,
}

impl References {
    /// What was counted after `before`.
    #[must_use]
    pub fn since(&self, before: &References) -> References {
        References {
            retains: self.retains.wrapping_sub(before.retains),
            releases: self.releases.wrapping_sub(before.releases),
        }
    }
}

/// The shared file of one process that is counted, with all that it starts.
#[derive(Debug)]
pub struct Page(page::Page);

impl Page {
    /// Creates the file.
    ///
    /// # Errors
    /// The system has no files in memory (Linux has them).
    pub fn create() -> io::Result<Self> {
        page::Page::create(c"taskscale-references", u64::from_le_bytes(*b"TSREFS1\0"), page::SLOTS).map(Page)
    }

    /// Returns the path of the file, for [`VARIABLE`].
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the sums so far; `None` while no process with a runtime of Swift has loaded the
    /// library. Costs about 10 us.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn read(&self) -> io::Result<Option<References>> {
        Ok(self.0.sums()?.map(|[retains, releases, ..]| References { retains, releases }))
    }
}
