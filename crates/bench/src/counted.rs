//! The real counted process: a probe with the counting library preloaded and its system calls
//! counted by the kernel.

use std::path::{Path, PathBuf};

use taskscale_model::{
    missing::Missing,
    protocol::{Description, RunRequest, Runtime},
};
use taskscale_sys::{
    counts::{
        allocations::{Page, VARIABLE},
        syscalls::Counter,
    },
    process::{Child, Command},
};

use crate::{
    fault::Fault,
    link::{Counted, Counts, Link, Observed},
    probe::{Probe, start_fault},
};

/// Languages whose objects do not come from malloc. The library would see only what their runtime
/// itself asks for.
const OWN_HEAPS: [&str; 6] = ["go", "java", "javascript", "csharp", "fsharp", "ocaml"];

/// A counted probe.
#[derive(Debug)]
pub struct CountedProbe {
    probe: Probe,
    page: Result<Page, Missing>,
    syscalls: Result<Counter, Missing>,
    /// Why the library sees nothing of this runtime.
    unseen: Option<Missing>,
}

impl CountedProbe {
    /// Starts the process with `library` preloaded, or without it where there is none.
    ///
    /// # Errors
    /// Those of starting a probe.
    pub fn start(command: &Command, library: &Result<PathBuf, Missing>) -> Result<Self, Fault> {
        let mut command = command.clone();
        let page = library.as_ref().map_err(Clone::clone).and_then(|library| {
            let page = Page::create().map_err(|error| {
                Missing::new(
                    format!("no file can be made for the counts: {error}"),
                    "raise the limits of this process on open files and memory (ulimit -a)",
                )
            })?;
            preload(&mut command, library, &page)?;
            Ok(page)
        });
        // Small objects of CPython come from arenas that malloc hardly sees, and the order of a set
        // follows the hash seed.
        command.env.push(("PYTHONMALLOC".into(), "malloc".into()));
        command.env.push(("PYTHONHASHSEED".into(), "0".into()));
        let (child, syscalls) =
            Child::spawn_counted(&command).map_err(|error| start_fault(&command, error))?;
        Ok(CountedProbe { probe: Probe::of(child), page, syscalls, unseen: None })
    }
}

/// Puts the library before what the user preloads, so that the user's library allocates.
fn preload(command: &mut Command, library: &Path, page: &Page) -> Result<(), Missing> {
    let ours = library.to_string_lossy();
    // The loader's list cannot hold such a path, and what the loader found in its place could be
    // anybody's.
    if ours.contains([' ', ':']) {
        return Err(Missing::new(
            format!("the loader cannot take a path with a blank or a colon: {ours}"),
            "set XDG_CACHE_HOME to a path without",
        ));
    }
    let theirs = std::env::var("LD_PRELOAD").ok().filter(|theirs| !theirs.is_empty());
    let libraries = std::iter::once(ours.into_owned()).chain(theirs);
    command.env.push(("LD_PRELOAD".into(), libraries.collect::<Vec<_>>().join(":")));
    command.env.push((VARIABLE.into(), page.path().to_string_lossy().into_owned()));
    Ok(())
}

/// Why malloc does not see the allocations of a runtime.
fn unseen(runtime: &Runtime) -> Option<Missing> {
    let name = if OWN_HEAPS.contains(&&*runtime.language) {
        &runtime.language
    } else if runtime.toolchain.contains("PyPy") {
        "PyPy"
    } else {
        return None;
    };
    let reason = format!("the heap of {name} is not malloc's, whose calls are what is counted");
    Some(Missing::new(reason, ""))
}

impl Link for CountedProbe {
    fn shake_hands(&mut self, timeout_ns: u64) -> Result<Description, Fault> {
        let description = self.probe.shake_hands(timeout_ns)?;
        self.unseen = unseen(&description.runtime);
        Ok(description)
    }

    fn run(&mut self, request: &RunRequest, timeout_ns: u64) -> Result<Observed, Fault> {
        self.probe.run(request, timeout_ns)
    }

    fn dismiss(&mut self) {
        self.probe.dismiss();
    }

    fn end(&mut self) {
        self.probe.end();
    }
}

impl Counted for CountedProbe {
    fn counts(&mut self) -> Counts {
        let unreadable = |what: &str, error: std::io::Error| {
            Missing::new(format!("the count of {what} cannot be read: {error}"), "")
        };
        let allocations = match (&self.unseen, &self.page) {
            (Some(missing), _) | (None, Err(missing)) => Err(missing.clone()),
            (None, Ok(page)) => match page.read() {
                Ok(Some(allocations)) => Ok(allocations),
                Ok(None) => Err(Missing::new(
                    "the program did not load the counting library: it is linked statically, or against another C library",
                    "link it dynamically",
                )),
                Err(error) => Err(unreadable("allocations", error)),
            },
        };
        let syscalls = match &self.syscalls {
            Ok(counter) => counter.read().map_err(|error| unreadable("system calls", error)),
            Err(missing) => Err(missing.clone()),
        };
        Counts { allocations, syscalls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_that_malloc_does_not_see_are_named() {
        let runtime = |language: &str, toolchain: &str| Runtime {
            name: "r".into(),
            language: language.into(),
            version: "1".into(),
            toolchain: toolchain.into(),
        };
        for (language, toolchain, named) in [
            ("go", "go1.26", Some("the heap of go")),
            ("java", "", Some("the heap of java")),
            ("python", "PyPy 7.3", Some("the heap of PyPy")),
            ("python", "CPython 3.13", None),
            ("rust", "", None),
            ("swift", "", None),
        ] {
            let said = unseen(&runtime(language, toolchain)).map(|missing| missing.reason);
            assert_eq!(said.is_some(), named.is_some(), "{language}");
            assert!(said.unwrap_or_default().contains(named.unwrap_or_default()), "{language}");
        }
    }
}
