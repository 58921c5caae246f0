//! OCaml, by findlib. A script of the probe builds it, and a user's file against its SDK.

use std::path::Path;

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, absolute},
    toolchain::{Toolchain, find_program, said_once},
};

pub static OCAML: Language = Language {
    name: "ocaml",
    extension: "ml",
    runtimes: &["ocaml"],
    files: embedded::OCAML_PROBE,
    find,
    recipe,
};

/// The oldest that the probe was built with.
const OLDEST: (u32, u32) = (4, 13);

fn find(asked: Option<&str>, source: &Source) -> Result<Toolchain, Missing> {
    let name = match source {
        Source::Runtime(runtime) => format!("--runtime {runtime}@$(opam var bin)"),
        Source::File(path) => format!("--probe {}@$(opam var bin)", path.display()),
    };
    let remedy = format!(
        "install OCaml 4.13 or newer with Lwt (apt install ocaml-nox ocaml-findlib liblwt-ocaml-dev \
         libyojson-ocaml-dev, or opam install ocamlfind lwt yojson), or name a switch: {name}"
    );
    let program = find_program(asked, &["ocamlfind"], &remedy)?;
    let compiler = ask(&program, &["ocamlopt", "-version"], &remedy)?;
    if number(&compiler).is_none_or(|number| number < OLDEST) {
        return Err(Missing::new(format!("OCaml {compiler} ({}) is too old", program.display()), remedy));
    }
    // Asked for all at once: a package that is not there is named by what is said.
    ask(&program, &["query", "-format", "%p", "lwt.unix", "yojson", "threads.posix"], &remedy)?;
    let lwt = ask(&program, &["query", "-format", "%v", "lwt"], &remedy)?;
    // With it the probe is a server too. One that was built without is built again when it comes.
    let cohttp = ask(&program, &["query", "-format", "%v", "cohttp-lwt-unix"], &remedy);
    let cohttp = cohttp.map(|version| format!(", cohttp {version}")).unwrap_or_default();
    Ok(Toolchain { program, version: format!("OCaml {compiler}, Lwt {lwt}{cohttp}") })
}

/// Returns the first line that `ocamlfind` prints. It finds the compiler that lies beside it, as in
/// a switch of opam, before any other.
fn ask(ocamlfind: &Path, args: &[&str], remedy: &str) -> Result<String, Missing> {
    let program = std::path::absolute(ocamlfind).unwrap_or_else(|_| ocamlfind.to_owned());
    let folders = program.parent().map(Path::to_owned).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap_or(path);
    let command = Command {
        env: vec![("PATH".into(), path.to_string_lossy().into_owned())],
        directory: Some("/".into()),
        ..Command::new(program.to_string_lossy(), args.iter().copied())
    };
    let failed =
        |why: String| Missing::new(format!("{} {}: {why}", ocamlfind.display(), args.join(" ")), remedy);
    let said = said_once(&command).map_err(failed)?;
    let line = said.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| failed("says nothing".into()))
}

/// Returns `(4, 13)` for `4.13.1` or `4.13.1+flambda`.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

fn recipe(ocaml: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let (own, args) = match source {
        Source::Runtime(runtime) => (None, vec![runtime.clone()]),
        Source::File(path) => (Some(absolute(path)), Vec::new()),
    };
    let out = site.out.to_string_lossy().into_owned();
    let build = Command {
        // The script puts the compiler that lies beside it before all others.
        env: vec![("OCAMLFIND".into(), absolute(&ocaml.program))],
        ..Command::new("/bin/sh", ["build.sh".to_owned(), out].into_iter().chain(own))
    };
    Recipe { files: Vec::new(), steps: vec![Step::must(build)], run: Command::new(site.out("probe"), args) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_compiler() {
        for (text, expected) in [
            ("4.13.1", Some((4, 13))),
            ("5.2.0+options", Some((5, 2))),
            ("5.3", Some((5, 3))),
            ("OCaml", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
        assert!(number("4.9.1") < Some(OLDEST) && number("5.0.0") > Some(OLDEST));
    }
}
