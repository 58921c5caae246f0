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

/// The runtime whose probe serves by Boost.Beast, where Boost is here.
const SERVES: &str = "cpp";
/// What stands in the version of a toolchain before that of its Boost.
const BOOST: &str = ", Boost ";
/// Builds it without Boost.
const WITHOUT_BOOST: &str = "-DTASKSCALE_WITHOUT_BOOST";

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
    let mut compiler = Toolchain { program, version };
    let Source::Runtime(runtime) = source else { return Ok(compiler) };
    // A probe that was built without a server is built again when Boost comes.
    if runtime == SERVES
        && let Some(version) = boost(&compiler)
    {
        compiler.version = format!("{}{BOOST}{version}", compiler.version);
    }
    let Some((name, header, _, remedy)) = library(runtime) else { return Ok(compiler) };
    // Only the preprocessor runs: this tells a missing header from a probe that does not compile.
    let script = "echo \"#include <$0>\" | \"$1\" -std=c++20 -fopenmp -E -x c++ - >/dev/null";
    let words = ["-c", script, header, &compiler.program()].map(str::to_owned);
    said(&Command::new("/bin/sh", words)).map_err(|_| {
        Missing::new(format!("{name} is not here: {} finds no <{header}>", compiler.version), *remedy)
    })?;
    Ok(compiler)
}

/// The version of Boost, where the compiler finds Boost.Beast.
fn boost(compiler: &Toolchain) -> Option<String> {
    let script = r#"printf '#if __has_include(<boost/beast/http.hpp>)\n#include <boost/version.hpp>\nBOOST_VERSION\n#endif\n' |
        "$0" "$@" -std=c++20 -E -P -x c++ -"#;
    let words = ["-c".to_owned(), script.to_owned(), compiler.program()].into_iter().chain(flags("CXXFLAGS"));
    said(&Command::new("/bin/sh", words)).ok()?.lines().find_map(release)
}

/// Returns `1.74.0` for `107400`.
fn release(number: &str) -> Option<String> {
    let number: u32 = number.trim().parse().ok()?;
    Some(format!("{}.{}.{}", number / 100_000, number / 100 % 1_000, number % 100))
}

/// CXXFLAGS and LDFLAGS are heeded as everywhere: a user's probe may need a library of theirs.
fn flags(name: &str) -> Vec<String> {
    std::env::var(name).ok().and_then(|flags| shlex::split(&flags)).unwrap_or_default()
}

fn library(
    runtime: &str,
) -> Option<&'static (&'static str, &'static str, &'static [&'static str], &'static str)> {
    LIBRARIES.iter().find(|(name, ..)| *name == runtime)
}

fn recipe(compiler: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let probe = site.out("probe");
    let sdk = site.src("sdk");
    let (file, link, args) = match source {
        Source::Runtime(runtime) => {
            let link = library(runtime).map_or(&[][..], |(_, _, flags, _)| *flags);
            (format!("{runtime}.cpp"), link, vec![runtime.clone()])
        }
        Source::File(path) => (absolute(path), &["-g1", "-DTASKSCALE_PLACES"][..], Vec::new()),
    };
    let words = ["-std=c++20", "-O2", "-pthread", "-I", &sdk, &file, "-o", &probe];
    let words = words.iter().chain(link).map(|word| (*word).to_owned());
    let words: Vec<String> = words.chain(flags("CXXFLAGS")).chain(flags("LDFLAGS")).collect();
    let build = |more: Option<&str>| {
        Command::new(compiler.program(), words.iter().cloned().chain(more.map(str::to_owned)))
    };
    let mut step = Step::must(build(None));
    // A Boost that the source does not fit costs no more than the server.
    if compiler.version.contains(BOOST) {
        step = step.or(build(Some(WITHOUT_BOOST)));
    }
    Recipe { files: Vec::new(), steps: vec![step], run: Command::new(probe, args) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn versions_of_boost_are_read_as_its_headers_have_them() {
        for (number, expected) in
            [("107400", Some("1.74.0")), ("108300 ", Some("1.83.0")), ("107801", Some("1.78.1")), ("", None)]
        {
            assert_eq!(release(number).as_deref(), expected, "{number}");
        }
    }

    #[test]
    fn a_probe_that_does_not_build_with_boost_is_built_without() {
        let attempts = |version: &str| {
            let compiler = Toolchain { program: "g++".into(), version: version.to_owned() };
            let site = Site { src: Path::new("src"), out: Path::new("out") };
            let recipe = recipe(&compiler, &Source::Runtime(SERVES.to_owned()), site);
            let attempts = recipe.steps.into_iter().flat_map(|step| step.attempts);
            attempts.map(|one| one.args.iter().any(|arg| arg == WITHOUT_BOOST)).collect::<Vec<_>>()
        };
        assert_eq!(attempts("g++ 12"), [false]);
        assert_eq!(attempts("g++ 12, Boost 1.74.0"), [false, true]);
    }
}
