//! The library that counts allocations (`taskscale_sys::counts::allocations`). It is written in C
//! and built once by the C compiler of this machine.

use std::path::PathBuf;

use taskscale_model::missing::Missing;
use taskscale_sys::{counts::allocations::SOURCE, process::Command};

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
    files: &[("allocations.c", SOURCE)],
    find,
    recipe,
};

const LIBRARY: &str = "liballocations.so";

/// Returns the path of the library, and builds it unless it is there.
///
/// # Errors
/// There is no C compiler, or it fails, or the system is not Linux.
pub fn library(watch: &dyn Watch) -> Result<PathBuf, Missing> {
    if !cfg!(target_os = "linux") {
        return Err(Missing::new("allocations are counted on Linux only", ""));
    }
    let source = Source::Runtime("the library that counts allocations".into());
    let toolchain = (SHIM.find)(None, &source)?;
    let job = Job { language: &SHIM, toolchain, source };
    Ok(PathBuf::from(job.build(watch)?.program))
}

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install a C compiler (Debian: apt install gcc libc6-dev)";
    let program = find_program(asked, &["cc", "gcc", "clang"], remedy).map_err(|missing| {
        let reason = format!("the library that counts allocations cannot be built: {}", missing.reason);
        Missing::new(reason, missing.remedy)
    })?;
    let version = ask_version(&program, &["--version"])?;
    Ok(Toolchain { program, version })
}

fn recipe(compiler: &Toolchain, _: &Source, site: Site<'_>) -> Recipe {
    let (library, source) = (site.out(LIBRARY), site.src("allocations.c"));
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
