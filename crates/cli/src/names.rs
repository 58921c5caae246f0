//! Names as people type them: what a language or a misspelt name means.

use taskscale_bench::meant;

use crate::{
    guide,
    probes::{embedded, languages},
    runtimes,
};

/// What languages and platforms are called that are no runtimes, the name to print, and the
/// languages of this tool that are meant. Which runtime is wanted only the user knows, so that a
/// word from here is never taken for one.
const WORDS: [(&[&str], &str, &[&str]); 11] = [
    (&["python", "py", "python3", "cpython"], "Python", &["python"]),
    (&["javascript", "js", "typescript", "ts", "nodejs", "node.js"], "JavaScript", &["node"]),
    (&["rust", "rs"], "Rust", &["rust"]),
    (&["c++", "cxx", "cplusplus"], "C++", &["cpp"]),
    (&["c#", "cs"], "C#", &["csharp"]),
    (&["f#", "fs"], "F#", &["fsharp"]),
    (&[".net", "dotnet"], ".NET", &["csharp", "fsharp"]),
    (&["golang"], "Go", &["go"]),
    (&["jvm", "jdk", "openjdk"], "Java", &["java"]),
    (&["lwt"], "OCaml with Lwt", &["ocaml"]),
    (&["tbb"], "oneTBB", &["onetbb"]),
];

/// A language as it is printed, and its runtimes.
fn language(word: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let lower = word.to_lowercase();
    let (_, title, names) = WORDS.iter().find(|(words, ..)| words.contains(&lower.as_str()))?;
    let of = |name: &&'static str| -> Vec<&'static str> {
        let built = languages::named(name).map_or(&[][..], |language| language.runtimes).to_vec();
        match *name {
            "rust" => runtimes::known().filter(|known| runtimes::is_built_in(known)).chain(built).collect(),
            // It is a runtime itself.
            name if built.is_empty() => vec![name],
            _ => built,
        }
    };
    Some((*title, names.iter().flat_map(of).collect()))
}

/// The languages of this tool that a word stands for.
pub fn languages_of(word: &str) -> Option<&'static [&'static str]> {
    let lower = word.to_lowercase();
    WORDS.iter().find(|(words, ..)| words.contains(&lower.as_str())).map(|(_, _, names)| *names)
}

/// `the runtimes of Python are asyncio, uvloop, trio, anyio`.
fn runtimes_of(word: &str) -> Option<String> {
    let (title, runtimes) = language(word)?;
    Some(match runtimes.as_slice() {
        [one] => format!("the runtime of {title} is {one}"),
        many => format!("the runtimes of {title} are {}", many.join(", ")),
    })
}

/// The name that `id` (`NAME` or `NAME@TOOLCHAIN`) stands for: `tokio` for `Tokio`. Any other stays
/// as it was typed, since it may be a file or a command.
pub fn canonical(id: &str) -> Result<String, std::convert::Infallible> {
    let (name, toolchain) = id.split_at(id.find('@').unwrap_or(id.len()));
    let lower = name.to_lowercase();
    let meant = runtimes::known().find(|known| *known == lower);
    Ok(meant.map_or_else(|| id.to_owned(), |name| format!("{name}{toolchain}")))
}

/// The names of the suites that are built in.
pub fn suites() -> impl Iterator<Item = &'static str> {
    let described = embedded::SUITES.iter().filter_map(|(name, _)| name.strip_suffix(".toml"));
    described.chain([guide::NAME])
}

/// Says that there is no suite of this name, and what there is.
pub fn no_suite(name: &str) -> String {
    let known: Vec<&str> = suites().collect();
    let rest = format!("there are {}, or give the path of a .toml file", known.join(", "));
    let what = format!("no suite is named {name:?}");
    if let Some(runtimes) = runtimes_of(name) {
        return format!("{what}; {runtimes}: taskscale run --runtime NAME; {rest}");
    }
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
    if let Some(runtimes) = runtimes_of(name) {
        return format!("{what}; {runtimes}");
    }
    match suites().any(|suite| suite == name) {
        true => format!("{what}, but a suite is: taskscale run {name}; {rest}"),
        false => format!("{what}; {}", meant::or_else(name, known, &rest)),
    }
}

/// Says that there is neither runtime nor language of this name, and what there is.
pub fn no_runtime_or_language(name: &str) -> String {
    if let Some(runtimes) = runtimes_of(name) {
        return format!("no runtime or language is named {name:?}; {runtimes}");
    }
    let known: Vec<&str> = runtimes::known().collect();
    let others: Vec<&str> =
        languages::ALL.iter().map(|language| language.name).filter(|name| !known.contains(name)).collect();
    let rest = format!("there are the runtimes {} and the languages {}", known.join(", "), others.join(", "));
    format!(
        "no runtime or language is named {name:?}; {}",
        meant::or_else(name, known.into_iter().chain(others), &rest)
    )
}

/// Says that there is neither suite nor runtime of this name, and what there is.
pub fn no_suite_or_runtime(name: &str) -> String {
    if let Some(runtimes) = runtimes_of(name) {
        return format!("no suite or runtime is named {name:?}; {runtimes}");
    }
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
    fn case_does_not_matter_and_what_is_no_runtime_stays() {
        for (typed, name) in [
            ("C#", "C#"),
            ("CSharp@/opt/dotnet", "csharp@/opt/dotnet"),
            ("Tokio", "tokio"),
            ("golang", "golang"),
            ("asyncio@python3.13", "asyncio@python3.13"),
            ("Bench/Mine.py", "Bench/Mine.py"),
        ] {
            assert_eq!(canonical(typed).as_deref(), Ok(name), "{typed}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_with_what_was_meant() {
        for (said, words) in [
            (
                no_suite("fanot"),
                "no suite is named \"fanot\"; did you mean fanout? There are blocking, bytes, cancel, cliffs",
            ),
            (
                no_suite("C#"),
                "the runtimes of C# are csharp, csharp+server-gc, csharp+runtime-async: taskscale",
            ),
            (
                no_suite("Go"),
                "but a runtime is: taskscale run --runtime Go; there are blocking, bytes, cancel, cliffs",
            ),
            (no_runtime("python"), "\"python\"; the runtimes of Python are asyncio, uvloop, trio, anyio"),
            (no_runtime("JavaScript"), "the runtimes of JavaScript are node, node+large-semi-space"),
            (
                no_runtime("rust"),
                "the runtimes of Rust are tokio, rayon, smol, threads, tokio+futures-0.3.17",
            ),
            (no_runtime("c++"), "the runtimes of C++ are taskflow, onetbb, openmp, cpp"),
            (
                no_runtime("dotnet"),
                "the runtimes of .NET are csharp, csharp+server-gc, csharp+runtime-async, fs",
            ),
            (
                no_runtime_or_language("pyhton"),
                "\"pyhton\"; did you mean python? There are the runtimes tokio",
            ),
            (no_runtime("asynco"), "no runtime is named \"asynco\"; did you mean asyncio? There are tokio"),
            (no_runtime("fanout"), "but a suite is: taskscale run fanout; there are tokio"),
            (
                no_suite_or_runtime("fanot"),
                "no suite or runtime is named \"fanot\"; did you mean fanout? There",
            ),
            (no_suite_or_runtime("lunch"), "\"lunch\"; there are the suites blocking, bytes, cancel, cliffs"),
        ] {
            assert!(said.contains(words), "{said}");
        }
    }
}
