//! Compiles the programs, as many at once as there are CPUs.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::libraries;
use crate::{
    interrupt::Interrupt,
    probes::{
        build::{Job, Watch},
        embedded,
        languages::{self, Language},
        recipe::{Recipe, Site, Source, Step},
        toolchain::{Toolchain, said},
    },
};

/// No language of its own: C++ with Taskflow's headers.
static GUIDE: Language = Language {
    name: "guide",
    extension: "cpp",
    runtimes: &[],
    files: embedded::GUIDE,
    find: |asked, _| taskflow(asked),
    recipe,
};

/// The runtime whose compiler and headers the programs need.
const TASKFLOW: &str = "taskflow";

/// The compiler that finds Taskflow's headers.
///
/// # Errors
/// There is no compiler, or it finds no Taskflow; the remedy says where to get them.
pub fn compiler() -> Result<Toolchain, Missing> {
    taskflow(None)
}

fn taskflow(asked: Option<&str>) -> Result<Toolchain, Missing> {
    let of = Source::Runtime(TASKFLOW.to_owned());
    let Some(cpp) = languages::of_runtime(TASKFLOW) else {
        return Err(Missing::new("this build has no C++", ""));
    };
    let mut compiler = (cpp.find)(asked, &of)?;
    // Programs are compiled anew where another version of Taskflow lies in the same place.
    if let Some(version) = version(&compiler) {
        compiler.version = format!("{}{HEADERS}{version}", compiler.version);
    }
    Ok(compiler)
}

/// What stands in the version of the compiler before `TF_VERSION`.
const HEADERS: &str = ", Taskflow ";
/// The folders of headers that the compiler searches before its own.
const INCLUDES: &str = "CPLUS_INCLUDE_PATH";

/// `TF_VERSION` of the headers that the compiler finds: `300900` for 3.9.0.
fn version(compiler: &Toolchain) -> Option<String> {
    let script = "printf '#include <taskflow/taskflow.hpp>\nguide TF_VERSION\n' | \"$0\" \"$@\" -std=c++20 -E -P -x c++ -";
    let words = ["-c".to_owned(), script.to_owned(), compiler.program()].into_iter().chain(flags("CXXFLAGS"));
    let said = said(&Command::new("/bin/sh", words)).ok()?;
    said.lines().find_map(|line| line.strip_prefix("guide ")).map(str::to_owned)
}

/// The compiler as it calls itself.
pub fn compilers_word(compiler: &Toolchain) -> &str {
    compiler.version.split(HEADERS).next().unwrap_or_default()
}

/// Further flags of the compiler, by the variables of the environment that are heeded everywhere.
pub(super) fn flags(name: &str) -> Vec<String> {
    std::env::var(name).ok().and_then(|flags| shlex::split(&flags)).unwrap_or_default()
}

/// The source is the name of a library, or that of a program and behind it flags of its own.
fn recipe(compiler: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let asked = match source {
        Source::Runtime(asked) => asked.clone(),
        Source::File(path) => path.display().to_string(),
    };
    if let Some(library) = libraries::named(&asked) {
        return library.recipe(compiler, site);
    }
    let (name, own) = asked.split_once(' ').unwrap_or((&asked, ""));
    let program = site.out(name);
    let words = ["-std=c++20", "-O2", "-pthread"].map(str::to_owned).into_iter();
    let words = words.chain(flags("CXXFLAGS")).chain(shlex::split(own).unwrap_or_default());
    let words = words.chain([format!("{name}.cpp"), "-o".to_owned(), program.clone()]);
    let mut step = Command::new(compiler.program(), words);
    // Named, so that another folder is another build: the compiler has it from the environment.
    step.env.extend(std::env::var(INCLUDES).ok().map(|folders| (INCLUDES.to_owned(), folders)));
    let run = Command::new::<String>(program, []);
    Recipe { files: Vec::new(), steps: vec![Step::must(step)], run }
}

/// What is to be compiled: the name of a program or of a library, and its toolchain.
pub type Wanted<'a> = (&'a str, &'a Toolchain);

/// A program to compile: its name, and flags of its own.
fn job(compiler: &Toolchain, name: &str, flags: &str) -> Job {
    let source = if flags.is_empty() { name.to_owned() } else { format!("{name} {flags}") };
    Job { language: &GUIDE, toolchain: compiler.clone(), source: Source::Runtime(source) }
}

/// Compiles one program with flags of its own, unless that was done before.
///
/// # Errors
/// The compiler's first complaint, and where all of them are.
pub fn one(compiler: &Toolchain, name: &str, flags: &str, interrupt: &Interrupt) -> Result<Command, Missing> {
    job(compiler, name, flags).build(&Quiet(interrupt))
}

/// Whether a program with flags of its own is compiled.
pub fn is_there(compiler: &Toolchain, name: &str, flags: &str) -> bool {
    job(compiler, name, flags).kept() != crate::probes::build::Kept::Nothing
}

/// The names of those that are not yet compiled.
pub fn missing<'a>(wanted: &[Wanted<'a>]) -> Vec<&'a str> {
    let is_missing = |(name, toolchain): &&Wanted<'_>| !is_there(toolchain, name, "");
    wanted.iter().filter(is_missing).map(|(name, _)| *name).collect()
}

/// Compiles these programs; tells the name of each before, and how many are done after it.
pub fn all(
    wanted: &[Wanted<'_>],
    interrupt: &Interrupt,
    begins: &(dyn Fn(&str) + Sync),
    done: &(dyn Fn(usize) + Sync),
) -> BTreeMap<String, Result<Command, Missing>> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let built = Mutex::new(BTreeMap::new());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some((name, toolchain)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            begins(name);
            let made = one(toolchain, name, "", interrupt);
            built.lock().unwrap_or_else(PoisonError::into_inner).insert((*name).to_owned(), made);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cpus.min(wanted.len()) {
            scope.spawn(work);
        }
    });
    built.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Says nothing of a build; it can be stopped.
struct Quiet<'a>(&'a Interrupt);

impl Watch for Quiet<'_> {
    fn begins(&self, _: &str) {}
    fn ticks(&self, _: &str) {}
    fn ends(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        self.0.came()
    }
}
