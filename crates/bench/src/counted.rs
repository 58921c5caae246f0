//! The real counted process: a probe with the counting library preloaded and its system calls
//! counted by the kernel.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use taskscale_model::{
    metric::{Count, Metric},
    missing::Missing,
    protocol::{Description, RunRequest, Runtime},
};
use taskscale_sys::{
    counts::{
        Counters, Wanted, allocations, peak,
        references::{self, References},
        simulated::Simulated,
        usage,
    },
    process::{Child, Command},
};

use crate::{
    fault::Fault,
    launcher::Counting,
    link::{Counted, Counts, Link, Observed},
    pass::Pass,
    probe::{Probe, start_fault},
};

const PRELOAD: &str = "LD_PRELOAD";
const GODEBUG: &str = "GODEBUG";
const NO_PREEMPTION: &str = "asyncpreemptoff=1";

/// Languages whose objects do not come from malloc. The library would see only what their runtime
/// itself asks for.
const OWN_HEAPS: [&str; 6] = ["go", "java", "javascript", "csharp", "fsharp", "ocaml"];

/// Languages whose virtual machine compiles the program on threads of its own. Under valgrind 3.19
/// a start of them took 25 to 60 s, and 64 iterations of .NET's and the JVM's counted between 0.9
/// and 2.2 times what 32 did.
const COMPILED_BESIDE: [&str; 3] = ["java", "csharp", "fsharp"];

/// Why valgrind tells nothing of a program in this language.
pub(crate) fn unsimulated(language: &str) -> Option<Missing> {
    COMPILED_BESIDE.contains(&language).then(|| {
        Missing::new(
            format!(
                "{language} compiles on threads beside the program while it runs, and valgrind counts them with it: \
                 twice the iterations count fewer instructions at times"
            ),
            "compare CPU time, or bytes, which its runtime counts itself (--metrics bytes)",
        )
    })
}

/// A counted probe.
#[derive(Debug)]
pub struct CountedProbe {
    probe: Probe,
    pass: Pass,
    /// Each of these is absent where it is not asked for.
    page: Option<Result<allocations::Page, Missing>>,
    references: Option<Result<references::Page, Missing>>,
    counters: Counters,
    simulated: Option<Result<Simulated, Missing>>,
    /// Why the library sees nothing of this runtime.
    unseen: Option<Missing>,
}

impl CountedProbe {
    /// Starts the process so that what belongs to `pass` is counted.
    ///
    /// # Errors
    /// Those of starting a probe.
    pub fn start(command: &Command, pass: Pass, counting: &Counting) -> Result<Self, Fault> {
        let mut command = command.clone();
        // The order of a set follows the hash seed.
        command.env.push(("PYTHONHASHSEED".into(), "0".into()));
        let (mut page, mut references, mut simulated) = (None, None, None);
        let mut wanted = Wanted::default();
        match pass {
            Pass::Memory => {
                // Small objects of CPython come from arenas that malloc hardly sees.
                command.env.push(("PYTHONMALLOC".into(), "malloc".into()));
                let of = (allocations::VARIABLE, allocations::Page::path as fn(&_) -> &_);
                page = counting
                    .allocations
                    .as_ref()
                    .map(|library| counted_in(allocations::Page::create, of, &mut command, library));
                let of = (references::VARIABLE, references::Page::path as fn(&_) -> &_);
                references = counting
                    .references
                    .as_ref()
                    .map(|library| counted_in(references::Page::create, of, &mut command, library));
            }
            Pass::Calls => {
                wanted.syscalls = counting.metrics.contains(&Metric::Syscalls);
                wanted.instructions = counting.metrics.contains(&Metric::Instructions);
            }
            Pass::Traced => wanted.traced = true,
            Pass::Simulated => {
                // Go interrupts its threads by a signal whose handler switches stacks, which ends
                // valgrind. They still yield where they call, allocate or wait.
                let others = command.env.iter().rev().find(|(name, _)| name == GODEBUG);
                let others = others.map(|(_, value)| value.clone()).or_else(|| std::env::var(GODEBUG).ok());
                let others = others.filter(|others| !others.is_empty());
                let settings = others.into_iter().chain([NO_PREEMPTION.to_owned()]);
                let settings = settings.collect::<Vec<_>>().join(",");
                command.env.push((GODEBUG.into(), settings));
                simulated = counting
                    .scratch
                    .as_ref()
                    .map(|place| Simulated::prepare(&command, place.as_ref().map_err(Clone::clone)?));
            }
            Pass::Usage | Pass::Peak => {}
        }
        let started =
            simulated.as_ref().and_then(|one| one.as_ref().ok()).map_or(&command, Simulated::command);
        let (child, counters) =
            Child::spawn_wanted(started, wanted).map_err(|error| start_fault(&command, error))?;
        let probe = Probe::of(child);
        Ok(CountedProbe { probe, pass, page, references, counters, simulated, unseen: None })
    }

    fn usage(&self) -> [(Count, Result<u64, Missing>); 4] {
        let read = usage::read(self.probe.child()).map_err(|error| unreadable("switches and faults", &error));
        let of = |of: fn(&usage::Usage) -> u64| read.as_ref().map(of).map_err(Clone::clone);
        [
            (Count::VoluntarySwitches, of(|usage| usage.voluntary_switches)),
            (Count::InvoluntarySwitches, of(|usage| usage.involuntary_switches)),
            (Count::MinorFaults, of(|usage| usage.minor_faults)),
            (Count::MajorFaults, of(|usage| usage.major_faults)),
        ]
    }

    fn references(&self) -> Option<[(Count, Result<u64, Missing>); 2]> {
        let read = match self.references.as_ref()? {
            Err(missing) => Err(missing.clone()),
            Ok(page) => match page.read() {
                Ok(Some(references)) => Ok(references),
                Ok(None) => Err(Missing::new("the program has no runtime of Swift", "")),
                Err(error) => Err(unreadable("references", &error)),
            },
        };
        let of = |of: fn(&References) -> u64| read.as_ref().map(of).map_err(Clone::clone);
        Some([
            (Count::Retains, of(|references| references.retains)),
            (Count::Releases, of(|references| references.releases)),
        ])
    }
}

fn unreadable(what: &str, error: &std::io::Error) -> Missing {
    Missing::new(format!("the count of {what} cannot be read: {error}"), "")
}

fn no_file(error: std::io::Error) -> Missing {
    Missing::new(
        format!("no file can be made for the counts: {error}"),
        "raise the limits of this process on open files and memory (ulimit -a)",
    )
}

/// The file in which `library` counts what `command` does.
fn counted_in<P>(
    create: fn() -> std::io::Result<P>,
    (variable, path): (&str, fn(&P) -> &Path),
    command: &mut Command,
    library: &Result<PathBuf, Missing>,
) -> Result<P, Missing> {
    let library = library.as_ref().map_err(Clone::clone)?;
    let page = create().map_err(no_file)?;
    preload(command, library, variable, path(&page))?;
    Ok(page)
}

/// Puts the library before what the user preloads, so that the user's library allocates.
fn preload(command: &mut Command, library: &Path, variable: &str, page: &Path) -> Result<(), Missing> {
    let ours = library.to_string_lossy();
    // The loader's list cannot hold such a path, and what the loader found in its place could be
    // anybody's.
    if ours.contains([' ', ':']) {
        return Err(Missing::new(
            format!("the loader cannot take a path with a blank or a colon: {ours}"),
            "set XDG_CACHE_HOME to a path without",
        ));
    }
    let before = command.env.iter().rev().find(|(name, _)| name == PRELOAD).map(|(_, value)| value.clone());
    let theirs = before.or_else(|| std::env::var(PRELOAD).ok()).filter(|theirs| !theirs.is_empty());
    let libraries = std::iter::once(ours.into_owned()).chain(theirs);
    command.env.push((PRELOAD.into(), libraries.collect::<Vec<_>>().join(":")));
    command.env.push((variable.into(), page.to_string_lossy().into_owned()));
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
        let allocations = self.page.as_ref().map(|page| match (&self.unseen, page) {
            (Some(missing), _) | (None, Err(missing)) => Err(missing.clone()),
            (None, Ok(page)) => match page.read() {
                Ok(Some(allocations)) => Ok(allocations),
                Ok(None) => Err(Missing::new(
                    "the program did not load the counting library: it is linked statically, or against another C library",
                    "link it dynamically",
                )),
                Err(error) => Err(unreadable("allocations", &error)),
            },
        });
        let read =
            |what: &str, counted: std::io::Result<u64>| counted.map_err(|error| unreadable(what, &error));
        let mut syscalls = self.counters.syscalls.as_ref().map(|counter| match counter {
            Ok(counter) => read("system calls", counter.read()),
            Err(missing) => Err(missing.clone()),
        });
        let mut by_name = BTreeMap::new();
        if let Some(traced) = &self.counters.traced {
            let calls = traced.as_ref().map(|counter| counter.read()).map_err(Clone::clone);
            by_name = calls.as_ref().map(|calls| calls.by_name().into_iter().collect()).unwrap_or_default();
            syscalls = Some(calls.map(|calls| calls.total()));
        }
        let mut others = BTreeMap::new();
        if let Some(instructions) = &self.counters.instructions {
            let counted = instructions.as_ref().map_err(Clone::clone);
            let counted = counted.and_then(|counter| read("instructions", counter.read()));
            others.insert(Count::Instructions, counted);
        }
        if let Some(simulated) = &self.simulated {
            let counted = simulated.as_ref().map_err(Clone::clone);
            let counted = counted.and_then(|simulated| simulated.read(self.probe.child()));
            others.insert(Count::Simulated, counted);
        }
        if self.pass == Pass::Usage {
            others.extend(self.usage());
        }
        others.extend(self.references().into_iter().flatten());
        Counts { allocations, syscalls, by_name, others }
    }

    fn reset_peak(&mut self) -> Result<(), Missing> {
        peak::reset(self.probe.child().pid())
    }

    fn peak(&mut self) -> Result<u64, Missing> {
        peak::read(self.probe.child().pid()).map(|peak| peak.total())
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
