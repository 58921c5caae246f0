//! Checks links, file names and commands in the documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::{File, Repository};

/// First parts of a back-quoted path that is meant as a path of the repository.
const ROOTS: [&str; 8] = ["crates", "probes", "suites", "docs", "tests", "examples", ".ci", "experiments"];
/// The commands of the README's first screen. CI runs both.
const COMMANDS: [&str; 2] = ["cargo run --release -- run", "make test"];
/// The text before the name of an experiment that is a binary.
const BINARY: &str = "-p taskscale-experiments --bin ";

/// A section of ARCHITECTURE, and how many files it may name.
const WALK: (&str, usize) = ("Follow one measurement", 15);

/// Finds relative links, their anchors, and back-quoted paths that lead nowhere.
pub fn links(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.with_extension("md") {
        for (line, text) in prose(&file.text) {
            let targets =
                link_targets(&text).into_iter().filter_map(|target| link_problem(repository, file, target));
            let paths = code_spans(&text).into_iter().filter_map(|path| path_problem(repository, file, path));
            problems.extend(targets.chain(paths).map(|problem| format!("{}:{line}: {problem}", file.path)));
        }
    }
    problems
}

/// Says what is wrong with the commands of the README's code blocks.
pub fn commands(repository: &Repository) -> Vec<String> {
    let Some(readme) = repository.file("README.md") else { return vec!["README.md: not there".into()] };
    let mut problems = Vec::new();
    let code = code_lines(&readme.text);
    for command in COMMANDS {
        let times = code.iter().filter(|line| **line == command).count();
        if times != 1 {
            problems.push(format!(
                "README.md: `{command}` stands in its code blocks {times} times instead of once"
            ));
        }
    }
    let makefile = repository.file("Makefile").map_or("", |file| &file.text);
    for target in COMMANDS.iter().filter_map(|command| command.strip_prefix("make ")) {
        if !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
            problems.push(format!("Makefile: has no target {target:?}, which README.md names"));
        }
    }
    problems
}

/// Finds experiments that `experiments/README.md` does not list, and names in any file of binaries
/// that do not exist.
pub fn experiments(repository: &Repository) -> Vec<String> {
    const LIST: &str = "experiments/README.md";
    let binaries: BTreeSet<&str> = (repository.paths.iter())
        .filter_map(|path| path.strip_prefix("experiments/src/bin/"))
        .filter_map(|path| path.strip_suffix("/main.rs").or(path.strip_suffix(".rs")))
        .filter(|name| !name.contains('/'))
        .collect();
    let scripts =
        repository.paths.iter().filter(|path| path.starts_with("experiments/") && path.ends_with("/run"));
    let list = repository.file(LIST).map_or("", |file| &file.text);
    let listed: BTreeSet<&str> = started(list).collect();
    let words: BTreeSet<&str> = list.lines().flat_map(code_spans).flat_map(str::split_whitespace).collect();
    let binaries_left_out = binaries.difference(&listed).map(|name| format!("{BINARY}{name}"));
    let scripts_left_out = scripts.filter(|path| !words.contains(path.as_str())).cloned();
    let mut problems: Vec<String> = binaries_left_out
        .chain(scripts_left_out)
        .map(|command| format!("{LIST}: has no line for `{command}`"))
        .collect();
    for file in &repository.files {
        for (index, line) in file.text.lines().enumerate() {
            let none = started(line).filter(|name| !name.is_empty() && !binaries.contains(name));
            problems.extend(
                none.map(|name| format!("{}:{}: there is no experiment {name:?}", file.path, index + 1)),
            );
        }
    }
    problems
}

/// Says what is wrong with ARCHITECTURE's walk of one measurement, which a newcomer reads file by
/// file.
pub fn walk(repository: &Repository) -> Vec<String> {
    let text = repository.file("ARCHITECTURE.md").map_or("", |file| &file.text);
    let section = text.split("\n## ").find(|section| section.starts_with(WALK.0)).unwrap_or("");
    let steps = section.split("\nWhat branches off").next().unwrap_or("");
    let files: Vec<&str> = steps.lines().flat_map(code_spans).filter(|span| span.contains('/')).collect();
    let again = files.iter().enumerate().filter(|(place, file)| files[..*place].contains(file));
    let mut problems: Vec<String> =
        again.map(|(_, file)| format!("ARCHITECTURE.md: the walk goes back to {file}")).collect();
    if !(1..=WALK.1).contains(&files.len()) {
        problems.push(format!("ARCHITECTURE.md: {} has {} files, not 1 to {}", WALK.0, files.len(), WALK.1));
    }
    problems
}

/// Returns the names of the experiments' binaries that a text starts.
fn started(text: &str) -> impl Iterator<Item = &str> {
    text.split(BINARY).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, String)> {
    split_fences(text)
        .into_iter()
        .filter(|(_, fenced, _)| !fenced)
        .map(|(line, _, text)| (line, text.into()))
        .collect()
}

/// Returns the commands in code blocks: lines without prompt and comment.
fn code_lines(text: &str) -> Vec<&str> {
    let fenced = split_fences(text).into_iter().filter(|(_, fenced, _)| *fenced);
    fenced
        .map(|(_, _, line)| line.split(" #").next().unwrap_or(line).trim().trim_start_matches("$ "))
        .collect()
}

fn split_fences(text: &str) -> Vec<(usize, bool, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => lines.push((index + 1, fence.is_some(), line)),
        }
    }
    lines
}

/// Returns the targets of `[text](target)`, code spans apart.
fn link_targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    // Odd parts stand between back-quotes. A link's target never does; its text may.
    for (at, _) in line.match_indices("](") {
        if line[..at].matches('`').count().is_multiple_of(2) {
            let rest = &line[at + 2..];
            targets.extend(rest.split([')', ' ']).next());
        }
    }
    targets
}

fn code_spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

fn link_problem(repository: &Repository, file: &File, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { Some(file.path.clone()) } else { resolve(&file.path, path) };
    let Some(path) = path.filter(|path| path.is_empty() || repository.paths.contains(path)) else {
        return Some(format!("link to {target:?}, which is not there"));
    };
    let anchor = anchor?;
    let document = repository.file(&path)?;
    let known =
        document.extension() != Some("md") || anchors(&document.text).iter().any(|known| known == anchor);
    (!known).then(|| format!("link to {target:?}, but there is no such heading"))
}

fn path_problem(repository: &Repository, file: &File, span: &str) -> Option<String> {
    // `crates/x/y.rs:12` and `docs/x.md#part` name a place in a file.
    let path = span.split([':', '#']).next().unwrap_or(span).trim_end_matches('/');
    let (root, rest) = path.split_once('/')?;
    // `probes/<language>` and commands with a path in them are not meant as files.
    if !ROOTS.contains(&root)
        || rest.contains(['<', '>', '{', '}', '$', ' ', '(', '|'])
        || rest.contains("..")
    {
        return None;
    }
    let exists = |pattern: &str| repository.paths.iter().any(|path| matches(pattern, path));
    let beside = resolve(&file.path, path);
    (!exists(path) && !beside.is_some_and(|path| exists(&path))).then(|| format!("`{span}` is not there"))
}

/// Tells whether `path` fits `pattern`. A `*` stands for anything within one part, and so does a
/// part in capitals: `probes/LANGUAGE/README.md`.
fn matches(pattern: &str, path: &str) -> bool {
    let (patterns, parts): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    patterns.len() == parts.len()
        && patterns.iter().zip(parts).all(|(pattern, part)| match pattern.split_once('*') {
            Some((start, end)) => {
                part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
            }
            None => *pattern == part || pattern.bytes().all(|byte| byte.is_ascii_uppercase()),
        })
}

/// Returns `target`, as seen from the file `from`, as a path from the root; `None` where it leads
/// out of the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the anchors of a document's headings, as forges make them: lower case, no punctuation,
/// `-` for blanks, and a number behind a repeated one.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).into_iter().filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (line.starts_with('#') && title.starts_with(' ')).then(|| title.trim().to_lowercase())
    });
    headings
        .map(|title| {
            let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        links(&Repository::of(&[
            ("docs/a.md", text),
            ("docs/b.md", "# The `one`, and 2\n## Same\n## Same\n```\n# no heading\n```\n"),
            ("crates/x/src/lib.rs", ""),
            ("suites/quick.toml", ""),
        ]))
    }

    #[test]
    fn a_walk_that_is_long_or_goes_back_is_named() {
        let walk = |files: &[&str]| {
            let steps: String = files.iter().map(|file| format!("1. `{file}`\n")).collect();
            let text = format!(
                "# A\n\n## {}\n\n{steps}\nWhat branches off: `a/more.rs`\n\n## B\n`a/x.rs`\n",
                WALK.0
            );
            walk(&Repository::of(&[("ARCHITECTURE.md", &text)]))
        };
        assert_eq!(walk(&["a/b.rs", "a/c.rs"]), [""; 0]);
        assert_eq!(walk(&["a/b.rs", "a/c.rs", "a/b.rs"]), ["ARCHITECTURE.md: the walk goes back to a/b.rs"]);
        let long: Vec<String> = (0..16).map(|n| format!("a/{n}.rs")).collect();
        assert_eq!(walk(&long.iter().map(String::as_str).collect::<Vec<_>>()).len(), 1);
        assert_eq!(walk(&[]).len(), 1, "a section that is gone");
    }

    #[test]
    fn what_is_there_is_found() {
        for text in [
            "[b](b.md) [b](./b.md) [up](../crates/x/src/lib.rs) [d](../crates/x) [root](..) [w](https://a.b/c)",
            "[`b`](b.md#the-one-and-2) [s](b.md#same) [s](b.md#same-1)",
            "# Here\n[here](#here)",
            "`crates/x/src/lib.rs` `crates/x/` `crates/x/src/lib.rs:3` `suites/*.toml` `probes/<language>/`",
            "`crates/NAME/src/lib.rs`",
            "`src/elsewhere.rs` `a/b` `crates`",
            "```\n[b](nowhere.md) `crates/none`\n```",
            "`[b](nowhere.md)`",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_named_with_its_line() {
        for text in [
            "[b](c.md)",
            "[b](../b.md)",
            "[b](../../b.md)",
            "[b](b.md#other)",
            "[b](b.md#no-heading)",
            "[b](b.md#same-2)",
            "[b](#b)",
            "`crates/y`",
            "`crates/x/src/main.rs`",
            "`suites/*.json`",
            "`crates/NAME/src/main.rs`",
            "`docs/c.md#x`",
        ] {
            let problems = found(&format!("first\n{text}"));
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert!(problems[0].starts_with("docs/a.md:2: "), "{problems:?}");
        }
    }

    #[test]
    fn experiments_stand_in_their_list() {
        let problems = |list: &str| {
            let command = |name: &str| format!("`cargo run --release {BINARY}{name} -- 3`");
            experiments(&Repository::of(&[
                ("experiments/README.md", list),
                ("experiments/src/bin/aa.rs", &format!("//! {}", command("aa"))),
                ("experiments/src/bin/growth/main.rs", "mod curves;"),
                ("experiments/src/bin/growth/curves.rs", ""),
                ("experiments/harnesses/go/run", ""),
            ]))
            .join("\n")
        };
        let run = "`experiments/harnesses/go/run --output FILE`";
        let (aa, growth) = (format!("`{BINARY}aa`"), format!("`{BINARY}growth -- 3`"));
        assert_eq!(problems(&format!("{aa}\n{growth} {run}")), "");
        assert!(
            problems(&format!("{growth} {run}"))
                .ends_with("has no line for `-p taskscale-experiments --bin aa`")
        );
        assert!(
            problems(&format!("{BINARY}aab {growth} {run}"))
                .contains("README.md:1: there is no experiment \"aab\"")
        );
        assert!(
            problems(&format!("{aa} {growth}")).ends_with("has no line for `experiments/harnesses/go/run`")
        );
    }

    #[test]
    fn the_commands_stand_once_and_are_there() {
        let problems = |readme: &str, makefile: &str| {
            commands(&Repository::of(&[("README.md", readme), ("Makefile", makefile)])).join("\n")
        };
        let good = "```sh\ncargo run --release -- run\nmake test   # all of them\n```\nprose: `make test`\n";
        assert_eq!(problems(good, "test: lint\n"), "");
        assert!(problems(&good.repeat(2), "test:\n").contains("2 times"));
        assert!(problems("make test", "test:\n").contains("`make test` stands in its code blocks 0 times"));
        assert!(problems(good, "tests:\n").contains("no target \"test\""));
        assert_eq!(commands(&Repository::of(&[])), ["README.md: not there"]);
    }
}
