//! The libraries that count in a program: its allocations (`taskscale_sys::counts::allocations`)
//! and its references to Swift's objects (`taskscale_sys::counts::references`). They are written in
//! C and built once by the C compiler of this machine.

use std::path::PathBuf;

use taskscale_model::missing::Missing;
use taskscale_sys::{
    counts::{allocations, references},
    process::Command,
};

use super::{
    build::{Job, Watch},
    languages::Language,
    recipe::{Recipe, Site, Source, Step},
    toolchain::{Toolchain, ask_version, find_program},
};

/// C is not among the languages: nobody writes a probe in it.
static SHIM: Language = Language {
    name: "allocations",
    extension: "c",
    runtimes: &[],
    files: &[("allocations.c", allocations::SOURCE)],
    find,
    recipe: |compiler, _, site| recipe(compiler, site, "liballocations.so", "allocations.c"),
};

static REFERENCES: Language = Language {
    name: "references",
    files: &[("references.c", references::SOURCE)],
    recipe: |compiler, _, site| recipe(compiler, site, "libreferences.so", "references.c"),
    ..SHIM
};

/// Returns the path of the library that counts allocations, and builds it unless it is there.
///
/// # Errors
/// There is no C compiler, or it fails, or the system is not Linux.
pub fn library(watch: &dyn Watch) -> Result<PathBuf, Missing> {
    build(&SHIM, watch)
}

/// Returns the path of the library that counts references, and builds it unless it is there.
///
/// # Errors
/// As [`library`].
pub fn references(watch: &dyn Watch) -> Result<PathBuf, Missing> {
    build(&REFERENCES, watch)
}

fn build(language: &'static Language, watch: &dyn Watch) -> Result<PathBuf, Missing> {
    if !cfg!(target_os = "linux") {
        return Err(Missing::new(format!("{} are counted on Linux only", language.name), ""));
    }
    let source = Source::Runtime(format!("the library that counts {}", language.name));
    let toolchain = (language.find)(None, &source)?;
    let job = Job { language, toolchain, source };
    Ok(PathBuf::from(job.build(watch)?.program))
}

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install a C compiler (Debian: apt install gcc libc6-dev)";
    let program = find_program(asked, &["cc", "gcc", "clang"], remedy).map_err(|missing| {
        let reason = format!("the library that counts cannot be built: {}", missing.reason);
        Missing::new(reason, missing.remedy)
    })?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version })
}

fn recipe(compiler: &Toolchain, site: Site<'_>, library: &str, source: &str) -> Recipe {
    let (library, source) = (site.out(library), site.src(source));
    // Without `-fno-builtin` the compiler may make a calloc of the library's own malloc and memset.
    // The libraries come last: older C libraries keep dlsym and threads in files of their own.
    let words = [
        "-std=c11",
        "-O2",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-fno-builtin",
        &source,
        "-o",
        &library,
    ];
    let libraries = ["-ldl", "-pthread"];
    Recipe {
        files: Vec::new(),
        steps: vec![Step::must(Command::new(compiler.program(), words.into_iter().chain(libraries)))],
        // The result is loaded, not started; only its path is used.
        run: Command::new(library, [""; 0]),
    }
}
