//! Checks the shape of the repository: probes, suites, the length of files, and what no file may
//! name.

use taskscale_model::suite::Suite;

use crate::repository::Repository;

/// Most lines of a source file.
const LINES: usize = 600;
/// Folders beside the probes that are none: programs that each stand alone.
const NOT_PROBES: [&str; 1] = ["guide"];
/// Endings of the files that people write.
const SOURCES: [&str; 17] = [
    "rs", "py", "go", "java", "js", "mjs", "ts", "c", "cc", "cpp", "h", "hpp", "swift", "cs", "fs", "fsx",
    "ml",
];
/// Files that a command writes. They may have any length.
const GENERATED: [&str; 0] = [];

/// Hosts of package registries, since a mirror must do as well. They are written in parts, or this
/// file would name them.
const REGISTRIES: [&str; 7] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("proxy.", "golang.org"),
    concat!("maven", ".org"),
];
/// Beginnings of the paths of a particular machine.
const MACHINE_PATHS: [&str; 4] = [concat!("/wo", "rk/"), HOMES[0], HOMES[1], HOMES[2]];
/// Those of them that are home folders.
const HOMES: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// Files about home folders that are left out of run files: their examples are such folders.
const ABOUT_HOMES: [&str; 3] =
    ["crates/bench/tests/journal.rs", "crates/cli/tests/run_files.rs", "crates/model/src/run_file/redact.rs"];

/// Targets to which no comment or document may lead: nobody finds them in this repository. They are
/// written in parts, as above.
const NOWHERE: [&str; 5] = [
    concat!("experiments", ".md"),
    concat!("DES", "IGN"),
    concat!("../sh", "ared/research"),
    concat!("(res", "earch"),
    concat!("(iss", "ue "),
];

/// The widest line of prose.
const COLUMNS: usize = 100;

/// Finds source files that are too long.
pub fn long_files(repository: &Repository) -> Vec<String> {
    let sources = repository.files.iter().filter(|file| {
        file.extension().is_some_and(|extension| SOURCES.contains(&extension))
            && !GENERATED.contains(&&*file.path)
    });
    sources
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LINES)
                .then(|| format!("{}: {lines} lines; past {LINES} a module wants splitting", file.path))
        })
        .collect()
}

/// Finds lines of prose, in documents and in the comments of Rust, that are wider than 100 columns.
/// Tables, code and what has no blank to break at may be wider.
pub fn wide_prose(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in &repository.files {
        let is_rust = file.extension() == Some("rs");
        if !is_rust && file.extension() != Some("md") {
            continue;
        }
        let mut is_code = false;
        for (index, line) in file.text.lines().enumerate() {
            let comment =
                line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']));
            let Some(text) = (if is_rust { comment } else { Some(line) }) else {
                is_code = false;
                continue;
            };
            is_code ^= text.trim_start().starts_with("```");
            let text = text.strip_prefix(' ').filter(|_| is_rust).unwrap_or(text);
            let stands_as_it_is = is_code
                || ["|", "#", "    ", "["].iter().any(|start| text.starts_with(start))
                || !text.trim().contains(' ')
                || is_one_span(text.trim().trim_end_matches('.'));
            let columns = line.chars().count();
            if columns > COLUMNS && !stands_as_it_is {
                problems.push(format!("{}:{}: {columns} columns, not {COLUMNS}", file.path, index + 1));
            }
        }
    }
    problems
}

/// Whether nothing but a command stands in the line.
fn is_one_span(text: &str) -> bool {
    text.starts_with('`') && text.ends_with('`') && text.matches('`').count() == 2
}

/// Finds lines that name the host of a registry or a path of one machine. Lock files are left out,
/// since they name registries by themselves, and files that keep home folders from being told.
pub fn machine_names(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|file| file.extension() != Some("lock")) {
        let is_about_homes = ABOUT_HOMES.contains(&file.path.as_str());
        for (index, line) in file.text.lines().enumerate() {
            let registry = REGISTRIES.iter().find(|host| line.contains(**host));
            let is_allowed = |path: &str| is_about_homes && HOMES.contains(&path);
            let path = MACHINE_PATHS.iter().find(|path| !is_allowed(path) && begins_a_path(line, path));
            for name in registry.into_iter().chain(path) {
                problems.push(format!(
                    "{}:{}: names {name:?}, which other machines lack",
                    file.path,
                    index + 1
                ));
            }
        }
    }
    problems
}

/// Finds lines that lead to what a reader of the repository cannot open.
pub fn nowhere(repository: &Repository) -> Vec<String> {
    let lines = repository.files.iter().flat_map(|file| {
        file.text.lines().enumerate().map(move |(index, line)| (format!("{}:{}", file.path, index + 1), line))
    });
    lines
        .filter_map(|(place, line)| {
            let word = NOWHERE.iter().find(|word| line.contains(**word))?;
            Some(format!("{place}: leads to {word:?}, which no reader can open: say what it says"))
        })
        .collect()
}

/// Finds modules of the workspace that lie elsewhere than their names say. Tests may take in the
/// checks of fuzz targets: the fuzz crate is a workspace of its own.
pub fn paths_of_modules(repository: &Repository) -> Vec<String> {
    let ours = |path: &str| path.starts_with("crates/") || path.starts_with("experiments/");
    let mut problems = Vec::new();
    for file in repository.with_extension("rs").filter(|file| ours(&file.path)) {
        for (index, line) in file.text.lines().enumerate() {
            let is_of_fuzz = file.path.contains("/tests/") && line.contains("\"../../../fuzz/src/");
            if line.trim_start().starts_with("#[path") && !is_of_fuzz {
                problems.push(format!("{}:{}: a module lies where its name says", file.path, index + 1));
            }
        }
    }
    problems
}

/// Tells whether `start` begins a path in `line`, and is not in a path's middle.
fn begins_a_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}>)/*".contains(c))
    })
}

/// Finds probes that lack a part of the common shape: `README.md`, `sdk`, `workloads`. A folder of
/// JSON alone is no probe: it holds what all of them share (`probes/interp/program.json`).
pub fn probe_shapes(repository: &Repository) -> Vec<String> {
    let probes: Vec<&str> = repository
        .paths
        .iter()
        .filter_map(|path| path.strip_prefix("probes/"))
        .filter(|name| !name.contains('/') && !name.contains('.') && !NOT_PROBES.contains(name))
        .collect();
    let mut problems = Vec::new();
    for probe in probes {
        let inside = format!("probes/{probe}/");
        let mut files = repository.paths.iter().filter(|path| path.starts_with(&inside));
        if files.all(|path| path.ends_with(".json")) {
            continue;
        }
        // The part may lie at any depth: `sdk.py`, `sdk/src/`, `src/main/taskscale/sdk/` as Java's
        // packages want it.
        let has = |part: &str| {
            repository.paths.iter().filter_map(|path| path.strip_prefix(&inside)).any(|path| {
                let mut names = path.split('/').map(|name| name.split('.').next().unwrap_or(name));
                names.any(|name| name == part)
            })
        };
        for part in ["README", "sdk", "workloads"] {
            if !has(part) {
                problems.push(format!("probes/{probe}: has no {part}; see CONTRIBUTING.md, \"Add a probe\""));
            }
        }
    }
    problems
}

/// Finds suite files that cannot be read or are not named like their suite.
pub fn suites(repository: &Repository) -> Vec<String> {
    let mut problems = Vec::new();
    for file in repository.with_extension("toml") {
        let name = file.path.strip_prefix("suites/").and_then(|name| name.strip_suffix(".toml"));
        let Some(name) = name else { continue };
        match Suite::parse(&file.text) {
            Ok(suite) if suite.name == name => {}
            Ok(suite) => problems.push(format!("{}: the suite in it is named {:?}", file.path, suite.name)),
            Err(error) => problems.push(format!("{}: {error}", file.path)),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_600_lines() {
        let text = "x\n".repeat(LINES + 1);
        let files = [("a.rs", &text[2..]), ("b.rs", &*text), ("c.py", &*text), ("d.json", &*text)];
        let problems = long_files(&Repository::of(&files));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("b.rs: 601 lines"));
    }

    #[test]
    fn prose_has_100_columns_and_tables_as_many_as_they_need() {
        let wide = |name: &str, line: &str| {
            wide_prose(&Repository::of(&[(name, &format!("{line} {}", "word ".repeat(20)))]))
        };
        for (name, line) in [("a.md", "A"), ("a.md", "* A"), ("a.rs", "/// A"), ("a.rs", "    // A")] {
            assert_eq!(wide(name, line).len(), 1, "{name}: {line}");
        }
        for (name, line) in [("a.md", "| a |"), ("a.rs", "//! | a |"), ("a.rs", "let a ="), ("a.py", "# A")] {
            assert_eq!(wide(name, line), [""; 0], "{name}: {line}");
        }
        let code = format!("```\n{}\n```\n{0}", "word ".repeat(21));
        assert_eq!(wide_prose(&Repository::of(&[("a.md", &code)])).len(), 1, "behind the code");
    }

    #[test]
    fn registries_and_machines_are_not_named() {
        let lines = |text: &str| machine_names(&Repository::of(&[("a.md", text)])).len();
        for host in REGISTRIES {
            assert_eq!(lines(&format!("from https://{host}/x\n")), 1, "{host}");
        }
        for start in MACHINE_PATHS {
            assert_eq!(lines(&format!("fine\nsee {start}x\n")), 1, "{start}");
            assert_eq!(lines(&format!("{start}x")), 1, "{start}");
            assert_eq!(lines(&format!("open(\"{start}x\")")), 1, "{start}");
            assert_eq!(lines(&format!("probes{start}x and https://a.b{start}x")), 0, "{start}");
        }
        let about_homes =
            |start: &str| machine_names(&Repository::of(&[(ABOUT_HOMES[0], &format!("{start}x"))])).len();
        assert_eq!(HOMES.map(about_homes), [0; 3]);
        assert_eq!(about_homes(MACHINE_PATHS[0]), 1);
        let lock = Repository::of(&[("Cargo.lock", REGISTRIES[0])]);
        assert_eq!(machine_names(&lock), [""; 0]);
    }

    #[test]
    fn probes_are_of_one_shape() {
        let rust = [
            ("probes/rust/README.md", ""),
            ("probes/rust/sdk/src/a.rs", ""),
            ("probes/rust/src/workloads/b.rs", ""),
        ];
        assert_eq!(probe_shapes(&Repository::of(&rust)), [""; 0]);
        let python = [
            ("probes/python/README.md", ""),
            ("probes/python/sdk.py", ""),
            ("probes/python/workloads/b.py", ""),
        ];
        assert_eq!(probe_shapes(&Repository::of(&python)), [""; 0]);
        for missing in 0..3 {
            let mut less = python.to_vec();
            less.remove(missing);
            assert_eq!(probe_shapes(&Repository::of(&less)).len(), 1);
        }
        assert_eq!(probe_shapes(&Repository::of(&[("probes/PROTOCOL.md", "")])), [""; 0]);
        assert_eq!(probe_shapes(&Repository::of(&[("probes/go/main.go", "")])).len(), 3);
        assert_eq!(probe_shapes(&Repository::of(&[("probes/guide/01_a.cpp", "")])), [""; 0]);
        assert_eq!(probe_shapes(&Repository::of(&[("probes/guided/01_a.cpp", "")])).len(), 3);
        let shared = ("probes/interp/program.json", "");
        assert_eq!(probe_shapes(&Repository::of(&[shared])), [""; 0]);
        assert_eq!(probe_shapes(&Repository::of(&[shared, ("probes/interp/a.go", "")])).len(), 3);
    }

    #[test]
    fn modules_are_found_by_their_names() {
        let found = |path: &str, text: &str| paths_of_modules(&Repository::of(&[(path, text)])).len();
        let elsewhere = "mod a;\n    #[path = \"../b.rs\"]\n    mod b;\n";
        assert_eq!(found("crates/a/src/lib.rs", elsewhere), 1);
        assert_eq!(found("experiments/src/bin/a.rs", elsewhere), 1);
        let of_fuzz = "#[path = \"../../../fuzz/src/b.rs\"]\nmod b;\n";
        assert_eq!(found("crates/a/tests/fuzzed.rs", of_fuzz), 0);
        assert_eq!(found("crates/a/src/lib.rs", of_fuzz), 1);
        assert_eq!(found("probes/rust/futures-0.3.17/src/main.rs", elsewhere), 0);
        assert_eq!(found("crates/a/src/lib.rs", "mod a; // by no #[path]\n"), 0);
    }

    #[test]
    fn suites_are_named_like_their_files() {
        let suite = "schema = \"taskscale.suite/1\"\nname = \"a\"\ntitle = \"t\"\nworkload = []\n";
        let problems = |path: &str, text: &str| suites(&Repository::of(&[(path, text)])).join("\n");
        assert_eq!(problems("suites/a.toml", suite), "");
        assert_eq!(problems("suites/b.toml", suite), "suites/b.toml: the suite in it is named \"a\"");
        assert!(problems("suites/a.toml", "name = 1").starts_with("suites/a.toml: not a suite file"));
    }

    #[test]
    fn what_nobody_can_open_is_found() {
        let line = |text: &str| nowhere(&Repository::of(&[("crates/a/src/lib.rs", text)])).len();
        assert_eq!(line(concat!("// experiments", ".md 2.5\n")), 1);
        assert_eq!(line(concat!("// as (iss", "ue 5) asks\n")), 1);
        assert_eq!(line("// docs/evidence/digest.md\n"), 0);
    }
}
