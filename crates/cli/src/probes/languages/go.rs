//! Go.

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use super::Language;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step},
    toolchain::{Toolchain, ask_version, find_program},
};

pub static GO: Language =
    Language { name: "go", extension: "go", runtimes: &["go"], files: embedded::GO_PROBE, find, recipe };

fn find(asked: Option<&str>, _: &Source) -> Result<Toolchain, Missing> {
    let remedy = "install Go 1.21 or newer, or name one: --runtime go@/opt/go1.22";
    let program = find_program(asked, &["go"], remedy)?;
    let version = ask_version(&program, &["version"])?;
    let version = version.trim_start_matches("go version ").split(' ').next().unwrap_or_default().to_owned();
    Ok(Toolchain { program, version })
}

fn recipe(go: &Toolchain, source: &Source, site: Site<'_>) -> Recipe {
    let probe = site.out("probe");
    let build = |args: &[&str], env: &[(&str, &str)]| Command {
        // The Go that was found, not another that a go.mod would have it fetch.
        env: [("GOTOOLCHAIN", "local"), ("GOWORK", "off")]
            .iter()
            .chain(env)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Command::new(go.program(), ["build", "-trimpath", "-o", &probe].iter().chain(args).copied())
    };
    match source {
        Source::Runtime(runtime) => Recipe {
            files: Vec::new(),
            steps: vec![
                // errgroup is a package of its own; without a network the probe goes without it.
                Step::must(build(&["."], &[]))
                    .or(build(&["-modfile=offline.mod", "-tags", "noerrgroup", "."], &[("GOPROXY", "off")])),
            ],
            run: Command::new(&probe, [runtime]),
        },
        Source::File(path) => {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let module = "module probe\n\ngo 1.21\n\nrequire taskscale v0.0.0\n\nreplace taskscale => ../\n";
            let mut command = build(&["."], &[("GOPROXY", "off"), ("GOFLAGS", "-mod=mod")]);
            command.directory = Some(site.src.join("own"));
            Recipe {
                files: vec![("own/main.go".into(), text), ("own/go.mod".into(), module.into())],
                steps: vec![Step::must(command)],
                run: Command::new(&probe, [""; 0]),
            }
        }
    }
}
