//! Names as people type them: other words for runtimes and languages, and what a misspelt one
//! means.

use taskscale_bench::meant;

use crate::{probes::embedded, runtimes};

/// What else runtimes and languages are called.
const ALIASES: [(&str, &str); 8] = [
    ("c#", "csharp"),
    ("f#", "fsharp"),
    ("c++", "cpp"),
    (".net", "csharp"),
    ("dotnet", "csharp"),
    ("golang", "go"),
    ("nodejs", "node"),
    ("node.js", "node"),
];

/// The name that `id` (`NAME` or `NAME@TOOLCHAIN`) stands for: `csharp` for `C#`. Any other stays
/// as it was typed, since it may be a file or a command.
pub fn canonical(id: &str) -> Result<String, std::convert::Infallible> {
    let (name, toolchain) = id.split_at(id.find('@').unwrap_or(id.len()));
    let lower = name.to_lowercase();
    let meant = ALIASES.iter().find(|(alias, _)| *alias == lower).map(|(_, name)| *name);
    let meant = meant.or_else(|| runtimes::known().find(|known| *known == lower));
    Ok(meant.map_or_else(|| id.to_owned(), |name| format!("{name}{toolchain}")))
}

/// The names of the suites that are built in.
pub fn suites() -> impl Iterator<Item = &'static str> {
    embedded::SUITES.iter().filter_map(|(name, _)| name.strip_suffix(".toml"))
}

/// Says that there is no suite of this name, and what there is.
pub fn no_suite(name: &str) -> String {
    let known: Vec<&str> = suites().collect();
    let rest = format!("there are {}, or give the path of a .toml file", known.join(", "));
    let what = format!("no suite is named {name:?}");
    match canonical(name).is_ok_and(|name| is_runtime(&name)) {
        true => format!("{what}, but a runtime is: taskscale run --runtime {name}; {rest}"),
        false => format!("{what}; {}", meant::or_else(name, known, &rest)),
    }
}

/// Says that there is no runtime of this name, and what there is.
pub fn no_runtime(name: &str) -> String {
    let known: Vec<&str> = runtimes::known().collect();
    let rest = format!("there are {}; your own goes with --probe CMD", known.join(", "));
    let what = format!("no runtime is named {name:?}");
    match suites().any(|suite| suite == name) {
        true => format!("{what}, but a suite is: taskscale run {name}; {rest}"),
        false => format!("{what}; {}", meant::or_else(name, known, &rest)),
    }
}

/// Says that there is neither suite nor runtime of this name, and what there is.
pub fn no_suite_or_runtime(name: &str) -> String {
    let (suites, known): (Vec<&str>, Vec<&str>) = (suites().collect(), runtimes::known().collect());
    let rest = format!("there are the suites {} and the runtimes {}", suites.join(", "), known.join(", "));
    format!(
        "no suite or runtime is named {name:?}; {}",
        meant::or_else(name, suites.into_iter().chain(known), &rest)
    )
}

/// Whether `id` is a runtime that the tool knows, with a toolchain or without.
pub fn is_runtime(id: &str) -> bool {
    runtimes::known().any(|known| known == runtimes::split_id(id).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_for_a_runtime_are_known_and_what_is_none_stays() {
        for (typed, name) in [
            ("C#", "csharp"),
            ("F#@/opt/dotnet", "fsharp@/opt/dotnet"),
            ("Tokio", "tokio"),
            ("golang", "go"),
            ("asyncio@python3.13", "asyncio@python3.13"),
            ("Bench/Mine.py", "Bench/Mine.py"),
        ] {
            assert_eq!(canonical(typed).as_deref(), Ok(name), "{typed}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_with_what_was_meant() {
        for (said, words) in [
            (no_suite("fanot"), "no suite is named \"fanot\"; did you mean fanout? There are bytes, cliffs"),
            (no_suite("C#"), "but a runtime is: taskscale run --runtime C#; there are bytes, cliffs"),
            (no_runtime("asynco"), "no runtime is named \"asynco\"; did you mean asyncio? There are tokio"),
            (no_runtime("fanout"), "but a suite is: taskscale run fanout; there are tokio"),
            (
                no_suite_or_runtime("fanot"),
                "no suite or runtime is named \"fanot\"; did you mean fanout? There",
            ),
            (no_suite_or_runtime("lunch"), "\"lunch\"; there are the suites bytes, cliffs"),
        ] {
            assert!(said.contains(words), "{said}");
        }
    }
}
