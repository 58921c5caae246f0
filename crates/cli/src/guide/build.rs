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

use crate::{
    interrupt::Interrupt,
    probes::{
        build::{Job, Watch},
        embedded,
        languages::{self, Language},
        recipe::{Recipe, Site, Source, Step},
        toolchain::Toolchain,
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
    let Some(cpp) = languages::ALL.iter().find(|language| language.runtimes.contains(&TASKFLOW)) else {
        return Err(Missing::new("this build has no C++", ""));
    };
    (cpp.find)(asked, &of)
}

/// The source is the name of a program, and behind it flags of its own.
fn recipe(compiler: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let asked = match source {
        Source::Runtime(asked) => asked.clone(),
        Source::File(path) => path.display().to_string(),
    };
    let (name, flags) = asked.split_once(' ').unwrap_or((&asked, ""));
    let program = site.out(name);
    let words = ["-std=c++20", "-O2", "-pthread"].map(str::to_owned).into_iter();
    let words = words.chain(shlex::split(flags).unwrap_or_default());
    let words = words.chain([format!("{name}.cpp"), "-o".to_owned(), program.clone()]);
    let step = Step::must(Command::new(compiler.program(), words));
    Recipe { files: Vec::new(), steps: vec![step], run: Command::new::<String>(program, []) }
}

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

/// How many of these are not yet compiled.
pub fn missing(compiler: &Toolchain, names: &[&str]) -> usize {
    let is_missing = |name: &&&str| job(compiler, name, "").kept() == crate::probes::build::Kept::Nothing;
    names.iter().filter(is_missing).count()
}

/// Compiles these programs and tells how many are done after each.
pub fn all(
    compiler: &Toolchain,
    names: &[&str],
    interrupt: &Interrupt,
    done: &(dyn Fn(usize) + Sync),
) -> BTreeMap<String, Result<Command, Missing>> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let built = Mutex::new(BTreeMap::new());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let made = one(compiler, name, "", interrupt);
            built.lock().unwrap_or_else(PoisonError::into_inner).insert((*name).to_owned(), made);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cpus.min(names.len()) {
            scope.spawn(work);
        }
    });
    built.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Says nothing of a build; it can be stopped.
struct Quiet<'a>(&'a Interrupt);

impl Watch for Quiet<'_> {
    fn begins(&self, _: &str) {}
    fn ticks(&self) {}
    fn ends(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        self.0.came()
    }
}
