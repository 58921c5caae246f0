//! The real counted process: a probe with the counting library preloaded and its system calls
//! counted by the kernel.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use taskscale_model::{
    metric::Metric,
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
    launcher::Counting,
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
    /// Each is absent where it is not asked for.
    page: Option<Result<Page, Missing>>,
    syscalls: Option<Result<Counter, Missing>>,
    /// Why the library sees nothing of this runtime.
    unseen: Option<Missing>,
}

impl CountedProbe {
    /// Starts the process so that `metrics` are counted.
    ///
    /// # Errors
    /// Those of starting a probe.
    pub fn start(command: &Command, metrics: &[Metric], counting: &Counting) -> Result<Self, Fault> {
        let mut command = command.clone();
        let of_memory = metrics.iter().any(|metric| matches!(metric, Metric::Allocs | Metric::Bytes));
        let library = counting.allocations.as_ref().filter(|_| of_memory);
        let page = library.map(|library| counts_of(&mut command, library));
        if of_memory {
            // Small objects of CPython come from arenas that malloc hardly sees.
            command.env.push(("PYTHONMALLOC".into(), "malloc".into()));
        }
        // The order of a set follows the hash seed.
        command.env.push(("PYTHONHASHSEED".into(), "0".into()));
        let start = |error| start_fault(&command, error);
        let (child, syscalls) = match metrics.contains(&Metric::Syscalls) {
            true => Child::spawn_counted(&command).map(|(child, counter)| (child, Some(counter))),
            false => Child::spawn(&command).map(|child| (child, None)),
        }
        .map_err(start)?;
        Ok(CountedProbe { probe: Probe::of(child), page, syscalls, unseen: None })
    }
}

/// The file in which `library` counts the allocations of `command`.
fn counts_of(command: &mut Command, library: &Result<PathBuf, Missing>) -> Result<Page, Missing> {
    let library = library.as_ref().map_err(Clone::clone)?;
    let page = Page::create().map_err(|error| {
        Missing::new(
            format!("no file can be made for the counts: {error}"),
            "raise the limits of this process on open files and memory (ulimit -a)",
        )
    })?;
    preload(command, library, &page)?;
    Ok(page)
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
        let allocations = self.page.as_ref().map(|page| match (&self.unseen, page) {
            (Some(missing), _) | (None, Err(missing)) => Err(missing.clone()),
            (None, Ok(page)) => match page.read() {
                Ok(Some(allocations)) => Ok(allocations),
                Ok(None) => Err(Missing::new(
                    "the program did not load the counting library: it is linked statically, or against another C library",
                    "link it dynamically",
                )),
                Err(error) => Err(unreadable("allocations", error)),
            },
        });
        let syscalls = self.syscalls.as_ref().map(|counter| match counter {
            Ok(counter) => counter.read().map_err(|error| unreadable("system calls", error)),
            Err(missing) => Err(missing.clone()),
        });
        Counts { allocations, syscalls, others: BTreeMap::new() }
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
