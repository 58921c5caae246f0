//! C++: each runtime has its own binary, so that a missing library takes away only its own.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, absolute},
    toolchain::{Toolchain, ask_version, find_program, said},
};

pub static CPP: Language = Language {
    name: "cpp",
    extension: "cpp",
    runtimes: &["taskflow", "onetbb", "openmp", "cpp"],
    files: embedded::CPP_PROBE,
    find,
    recipe,
};

/// Each entry holds the runtime, the header that proves it is here, the flags to link with, and how
/// to get it.
const LIBRARIES: &[(&str, &str, &[&str], &str)] = &[
    (
        "taskflow",
        "taskflow/taskflow.hpp",
        &[],
        "get Taskflow's headers (a release of github.com/taskflow/taskflow) into /usr/local/include, or name their folder in CPLUS_INCLUDE_PATH",
    ),
    ("onetbb", "tbb/task_group.h", &["-ltbb"], "install oneTBB (Debian: apt install libtbb-dev)"),
    (
        "openmp",
        "omp.h",
        &["-fopenmp"],
        "install the compiler's OpenMP (it comes with g++; Debian, clang: apt install libomp-dev)",
    ),
];

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install g++ or clang++ with C++20, or name one: --runtime cpp@clang++";
    let program = find_program(asked, &["g++", "c++", "clang++"], remedy)?;
    let version = ask_version(&program, &["--version"])?;
    let compiler = Toolchain { program, version };
    let Source::Runtime(runtime) = source else { return Ok(compiler) };
    let Some((name, header, _, remedy)) = library(runtime) else { return Ok(compiler) };
    // Only the preprocessor runs: this tells a missing header from a probe that does not compile.
    let script = "echo \"#include <$0>\" | \"$1\" -std=c++20 -fopenmp -E -x c++ - >/dev/null";
    let words = ["-c", script, header, &compiler.program()].map(str::to_owned);
    said(&Command::new("/bin/sh", words)).map_err(|_| {
        Missing::new(format!("{name} is not here: {} finds no <{header}>", compiler.version), *remedy)
    })?;
    Ok(compiler)
}

fn library(
    runtime: &str,
) -> Option<&'static (&'static str, &'static str, &'static [&'static str], &'static str)> {
    LIBRARIES.iter().find(|(name, ..)| *name == runtime)
}

fn recipe(compiler: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let probe = site.out("probe");
    let sdk = site.src("sdk");
    let (file, flags, args) = match source {
        Source::Runtime(runtime) => {
            let flags = library(runtime).map_or(&[][..], |(_, _, flags, _)| *flags);
            (format!("{runtime}.cpp"), flags, vec![runtime.clone()])
        }
        Source::File(path) => (absolute(path), &[][..], Vec::new()),
    };
    let words = ["-std=c++20", "-O2", "-pthread", "-I", &sdk, &file, "-o", &probe];
    // CXXFLAGS and LDFLAGS are heeded as everywhere: a user's probe may need a library of theirs.
    let asked =
        |name: &str| std::env::var(name).ok().and_then(|flags| shlex::split(&flags)).unwrap_or_default();
    let words = words.into_iter().map(str::to_owned).chain(flags.iter().map(|flag| (*flag).to_owned()));
    let words: Vec<String> = words.chain(asked("CXXFLAGS")).chain(asked("LDFLAGS")).collect();
    Recipe {
        files: Vec::new(),
        steps: vec![Step::must(Command::new(compiler.program(), words))],
        run: Command::new(probe, args),
    }
}
