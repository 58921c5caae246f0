//! Checks the SDKs of probes: each is short enough to be read in one sitting. All have one shape,
//! so that a reader of one finds the way in all.

use std::collections::BTreeMap;

use crate::repository::{File, Repository};

/// Most lines of code of an SDK.
const LINES: usize = 270;
/// Files that are not counted: the JSON of languages that bring none, and four things that a probe
/// need not have: what reads the runtime's own counters, what finds the line that failed, what
/// brings the clock of a process with several running threads up to date, and what takes functions
/// that were written for a benchmark harness.
const APART: [&str; 6] = ["json", "counters", "place", "threads", "harness", "criterion"];
/// The parts. Each has the names that its file may have: a public class of Java has the file's
/// name.
const PARTS: [&[&str]; 5] =
    [&["clock"], &["describe", "probe"], &["request", "run"], &["timing"], &["serve"]];
/// Endings of the files that an SDK is made of.
const SOURCES: [&str; 9] = ["rs", "go", "java", "mjs", "hpp", "swift", "py", "cs", "ml"];

/// Finds SDKs that are too long or lack a part.
pub fn problems(repository: &Repository) -> Vec<String> {
    let mut sdks: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in &repository.files {
        if let Some(probe) = probe_of(file) {
            sdks.entry(probe).or_default().push(file);
        }
    }
    let mut problems = Vec::new();
    for (probe, files) in sdks {
        let counted = files.iter().filter(|file| !APART.contains(&&*stem(file)));
        let lines: usize = counted.map(|file| code_lines(file)).sum();
        if lines > LINES {
            problems
                .push(format!("probes/{probe}: its SDK has {lines} lines of code; {LINES} are to be enough"));
        }
        for names in PARTS {
            if !files.iter().any(|file| names.contains(&stem(file).as_str())) {
                problems.push(format!("probes/{probe}: its SDK has no file {}", names.join(" or ")));
            }
        }
    }
    problems
}

/// Returns the probe to whose SDK a source file belongs. Tests belong to none.
fn probe_of(file: &File) -> Option<&str> {
    let mut parts = file.path.strip_prefix("probes/")?.split('/');
    let probe = parts.next()?;
    let is_source = file.extension().is_some_and(|extension| SOURCES.contains(&extension));
    (is_source && !file.path.ends_with("_test.go") && parts.any(|part| part == "sdk")).then_some(probe)
}

/// Returns `describe` for `sdk/Describe.swift`.
fn stem(file: &File) -> String {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default().to_lowercase()
}

/// Counts the lines that hold more than blanks and comments. In Rust only those before the tests
/// count.
fn code_lines(file: &File) -> usize {
    let text = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let (mark, open, close) = match file.extension() {
        Some("py") => ("#", "\"\"\"", "\"\"\""),
        // It has no comment that ends with its line.
        Some("ml") => ("(*", "(*", "*)"),
        _ => ("//", "/*", "*/"),
    };
    let mut commented = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        if commented {
            commented = !line.ends_with(close);
            return false;
        }
        if let Some(rest) = line.strip_prefix(open) {
            commented = !rest.ends_with(close);
            return false;
        }
        !line.is_empty() && !line.starts_with(mark)
    };
    text.lines().filter(is_code).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sdk(probe: &str, extension: &str, describe: &str) -> Vec<(String, String)> {
        ["clock", "describe", "request", "timing", "serve"]
            .map(|name| {
                let text = if name == "describe" { describe.to_owned() } else { "x\n".to_owned() };
                (format!("probes/{probe}/src/sdk/{name}.{extension}"), text)
            })
            .into()
    }

    fn problems_of(files: &[(String, String)]) -> Vec<String> {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        problems(&Repository::of(&files))
    }

    #[test]
    fn an_sdk_may_have_270_lines_of_code() {
        let most = "x\n".repeat(LINES - 4);
        assert_eq!(problems_of(&sdk("go", "go", &most)), [""; 0]);
        let said = problems_of(&sdk("go", "go", &format!("{most}x\n")));
        assert_eq!(said, ["probes/go: its SDK has 271 lines of code; 270 are to be enough"]);
    }

    #[test]
    fn blanks_comments_tests_and_json_are_apart() {
        let most = "x\n".repeat(LINES - 4);
        for (extension, comments) in [
            ("go", "\n  \n// a\n\t// b\n/* c\n d\n */\n/** e */\n"),
            ("py", "\n# a\n    \"\"\"b\n\n    c\n    d.\"\"\"\n\"\"\"e\"\"\"\n"),
            ("ml", "\n(** a *)\n  (* b\n\n      c *)\n"),
            ("rs", "//! a\n/// b\n#[cfg(test)]\nmod tests {\n}\n"),
        ] {
            let text =
                if extension == "rs" { format!("{most}{comments}") } else { format!("{comments}{most}") };
            assert_eq!(problems_of(&sdk("a", extension, &text)), [""; 0], "{extension}");
        }
        let mut files = sdk("go", "go", &most);
        for name in ["sdk/Json.go", "sdk/harness.go", "sdk/serve_test.go", "sdk/notes.md", "workloads/nop.go"]
        {
            files.push((format!("probes/go/{name}"), "x\n".repeat(9)));
        }
        assert_eq!(problems_of(&files), [""; 0]);
    }

    #[test]
    fn every_part_is_there() {
        for missing in 0..5 {
            let mut files = sdk("go", "go", "x\n");
            files.remove(missing);
            assert_eq!(problems_of(&files).len(), 1, "{missing}");
        }
        let java = ["Clock", "Probe", "Run", "Timing", "Serve"]
            .map(|name| (format!("probes/java/src/main/taskscale/sdk/{name}.java"), "x\n".to_owned()));
        assert_eq!(problems_of(&java), [""; 0]);
    }
}
