//! Go.

use taskscale_model::missing::Missing;
use taskscale_sys::{
    own::{self, Refusal},
    process::Command,
};

use super::Language;
use crate::folders::absolute;
use crate::probes::{
    embedded,
    recipe::{Recipe, Site, Source, Step, name_of},
    toolchain::{NO_COUNTERS, Toolchain, ask_version, find_program},
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
        // GOTOOLCHAIN=local uses the Go that was found, not one that a go.mod would have it fetch.
        // `-buildvcs=false` keeps git from being asked about the folders above.
        env: [("GOTOOLCHAIN", "local"), ("GOWORK", "off"), NO_COUNTERS]
            .iter()
            .chain(env)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .chain(build_cache(site))
            .collect(),
        ..Command::new(
            go.program(),
            ["build", "-trimpath", "-buildvcs=false", "-o", &probe].iter().chain(args).copied(),
        )
    };
    match source {
        Source::Runtime(runtime) => Recipe {
            files: Vec::new(),
            steps: vec![
                // errgroup is a package of its own; the probe goes without it where there is no
                // network.
                Step::must(build(&["."], &[]))
                    .or(build(&["-modfile=offline.mod", "-tags", "noerrgroup", "."], &[("GOPROXY", "off")])),
            ],
            run: Command::new(&probe, [runtime]),
        },
        Source::File(path) => {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            // A panic and the compiler name the file as the user does; `main.go` has no ending that
            // Go takes for a system or for a test.
            let text = format!("//line {}:1\n{text}", name_of(path));
            // The user's code is read in the language of the Go that was found: `go 1.21` has no
            // `for range n`.
            let language = minor(&go.version);
            let module = format!(
                "module probe\n\ngo {language}\n\nrequire taskscale v0.0.0\n\nreplace taskscale => ../\n"
            );
            let mut command = build(&["."], &[("GOPROXY", "off"), ("GOFLAGS", "-mod=mod")]);
            command.directory = Some(site.src.join("own"));
            Recipe {
                files: vec![("own/main.go".into(), text), ("own/go.mod".into(), module)],
                steps: vec![Step::must(command)],
                run: Command::new(&probe, [""; 0]),
            }
        }
    }
}

/// Names another build cache for Go where somebody else may have put something into the usual one.
/// Go keeps what it compiles in `go-build` beside our folder, and does not check whose that is.
fn build_cache(site: Site<'_>) -> Option<(String, String)> {
    let usual = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let is_own = usual.is_some_and(|usual| match own::find(&usual.join("go-build")) {
        Err(Refusal::Absent(_)) => matches!(own::find(&usual), Ok(_) | Err(Refusal::Absent(_))),
        found => found.is_ok(),
    });
    let asked = std::env::var_os("GOCACHE").is_some();
    (!asked && !is_own).then(|| ("GOCACHE".to_owned(), site.src("../../../go-build")))
}

/// Returns 1.26 for `go1.26.8` or `go1.26rc1`. Returns 1.21, the oldest that will do, for anything
/// else.
fn minor(version: &str) -> String {
    let mut numbers = version.trim_start_matches("go").split('.');
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    match (numbers.next().map(digits), numbers.next().map(digits)) {
        (Some(major), Some(minor)) if !major.is_empty() && !minor.is_empty() => format!("{major}.{minor}"),
        _ => "1.21".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_toolchain() {
        for (version, language) in [("go1.26.8", "1.26"), ("go1.27rc1", "1.27"), ("devel", "1.21")] {
            assert_eq!(minor(version), language, "{version}");
        }
    }
}
