//! `taskscale compare` as a process: tests how it ends, and where its words go.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use common::{Ran, Tool};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/data/compare").join(name)
}

/// The committed run files, in a folder of the test's own.
struct Files {
    tool: Tool,
    old: String,
    new: String,
}

impl Files {
    fn new() -> Self {
        let tool = Tool::new();
        let place = |name: &str| {
            let path = tool.path(name);
            fs::copy(data(name), &path).expect("a copy");
            path.to_str().expect("UTF-8").to_owned()
        };
        let (old, new) = (place("old.jsonl"), place("new.jsonl"));
        Files { tool, old, new }
    }

    /// Writes the new file with its text changed.
    fn edited(&self, edit: impl Fn(&str) -> String) -> String {
        let path = self.tool.path("edited.jsonl");
        fs::write(&path, edit(&fs::read_to_string(&self.new).expect("the new file"))).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn compare(&self, args: &[&str]) -> Ran {
        self.tool.run(&[&["compare"], args].concat())
    }
}

#[test]
fn a_regression_ends_with_status_1_and_nothing_else_does() {
    let files = Files::new();
    for format in ["text", "md", "json", "junit"] {
        let ran = files.compare(&[&files.old, &files.new, "--format", format]);
        assert_eq!(ran.status, Some(1), "{format}: {}", ran.err);
        assert!(ran.out.contains("worse"), "{format}: {}", ran.out);
        // The files are those of an earlier version, which wrote no checks: all that is said of it.
        assert_eq!(ran.err.matches("taskscale:").count(), 2, "{format}: {}", ran.err);
        assert_eq!(ran.err.matches("has no check").count(), 2, "{format}: {}", ran.err);
        let ran = files.compare(&[&files.old, &files.old, "--format", format]);
        assert_eq!(ran.status, Some(0), "{format}: {}", ran.err);
    }
    // errgroup costs 10 % more; a row that failed stays a regression at any threshold.
    let mended = files.edited(|new| new.replace("\"status\":\"failed\"", "\"status\":\"skipped\""));
    assert_eq!(files.compare(&[&files.old, &mended]).status, Some(1));
    let ran = files.compare(&[&files.old, &mended, "--threshold", "20%"]);
    assert_eq!(ran.status, Some(0), "{}", ran.out);
    assert_eq!(files.compare(&[&files.old, &files.new, "--threshold", "20%"]).status, Some(1));
}

#[test]
fn with_strict_what_cannot_be_told_ends_with_status_3_and_a_regression_with_1_all_the_same() {
    let files = Files::new();
    assert_eq!(files.compare(&[&files.old, &files.new, "--strict"]).status, Some(1));
    for format in ["text", "md", "json", "junit"] {
        let ran = files.compare(&[&files.old, &files.old, "--strict", "--format", format]);
        assert_eq!(ran.status, Some(3), "a run beside itself tells nothing: {format}: {}", ran.err);
    }
    let elsewhere = files.edited(|new| new.replace("\"f00d\"", "\"beef\""));
    assert_eq!(files.compare(&[&files.old, &elsewhere, "--strict"]).status, Some(3), "nor do two machines");
    let mended = files.edited(|new| new.replace("\"status\":\"failed\"", "\"status\":\"skipped\""));
    let ran = files.compare(&[&files.old, &mended, "--threshold", "20%", "--strict"]);
    assert_eq!(ran.status, Some(3), "a row was skipped: {}", ran.out);
}

#[test]
fn another_machine_ends_with_status_0_and_says_why() {
    let files = Files::new();
    let elsewhere = files.edited(|new| new.replace("\"f00d\"", "\"beef\""));
    let ran = files.compare(&[&files.old, &elsewhere]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("Another machine") && ran.out.contains("are not divided"), "{}", ran.out);
    assert!(!ran.out.contains("1.10x"));
}

#[test]
fn a_row_that_is_missing_is_told() {
    let files = Files::new();
    let ran = files.compare(&[&files.old, &files.new, "--format", "json"]);
    let json = ran.json();
    assert_eq!(json["schema"], "taskscale.compare/1");
    let rows = json["rows"].as_array().expect("rows");
    let gone = rows.iter().find(|row| row["variant"] == "gone").expect("told");
    assert_eq!((&gone["verdict"], &gone["reason"]), (&"cannot_tell".into(), &"not in NEW".into()));
}

#[test]
fn wall_time_can_be_asked_for() {
    let files = Files::new();
    let ran = files.compare(&[&files.old, &files.new, "--metric", "wall", "--format", "json"]);
    let json = ran.json();
    assert_eq!(json["metric"], "wall_per_task");
    assert!(json["notes"].to_string().contains("gate on CPU time"));
}

#[test]
fn a_file_beside_itself_gives_no_verdict_and_says_why() {
    let files = Files::new();
    let ran = files.compare(&[&files.old, &files.old, "--format", "json"]);
    let words = "one and the same run, which tells nothing";
    for row in ran.json()["rows"].as_array().expect("rows") {
        assert!(row["reason"].as_str().is_some_and(|reason| reason.contains(words)), "{row}");
    }
}

#[test]
fn a_side_that_is_a_first_look_is_named() {
    let files = Files::new();
    let words = "NEW is a first look (--quick)";
    assert!(!files.compare(&[&files.old, &files.new]).out.contains("first look"));
    let edited = files.edited(|new| new.replacen(r#""run","gate"]"#, r#""run","gate","--quick"]"#, 1));
    let ran = files.compare(&[&files.old, &edited]);
    assert!(ran.out.contains(words) && !ran.out.contains("OLD is a first look"), "{}", ran.out);
}

#[test]
fn a_torn_file_is_compared_as_far_as_it_goes() {
    let files = Files::new();
    let torn = files.edited(|new| new[..new.len() / 8].to_owned());
    let ran = files.compare(&[&files.old, &torn]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("NEW was cut short"), "{}", ran.out);
}

#[test]
fn what_is_no_run_file_ends_with_status_2() {
    let files = Files::new();
    let broken: [(&str, Vec<u8>); 6] = [
        ("empty", Vec::new()),
        ("garbage", vec![0xff; 4096]),
        ("deep", "[".repeat(200_000).into_bytes()),
        ("a long line", vec![b'x'; 3 << 20]),
        ("another schema", b"{\"type\":\"header\",\"schema\":\"taskscale.run/9\"}\n".to_vec()),
        (
            "a broken line",
            [&fs::read(&files.new).expect("the new file"), &b"{\"type\":\"sample\"}\n"[..]].concat(),
        ),
    ];
    for (name, bytes) in broken {
        let path = files.tool.path("broken.jsonl");
        fs::write(&path, bytes).expect("written");
        let path = path.to_str().expect("UTF-8");
        for runs in [[files.old.as_str(), path], [path, files.new.as_str()]] {
            let ran = files.compare(&runs);
            assert_eq!(ran.status, Some(2), "{name}: {}", ran.out);
            assert!(ran.out.is_empty() && ran.err.contains("broken.jsonl"), "{name}: {}", ran.err);
        }
    }
}

#[test]
fn wrong_usage_ends_with_status_2_and_says_what_to_do() {
    let files = Files::new();
    let (old, new) = (files.old.as_str(), files.new.as_str());
    for (args, words) in [
        (vec![old], "--baseline NAME"),
        (vec!["-", "-"], "only one of the two"),
        (vec![old, "nowhere.jsonl"], "nowhere.jsonl"),
        (vec![old, new, "--threshold", "much"], "percentage"),
        (vec![old, new, "--baseline", "main"], "name one run file"),
        (vec![new, "--baseline", "../main"], "letters, digits"),
        (vec![new, "--baseline", "main"], "--save-baseline main"),
        (vec![old, new, "--format", "xml"], "junit"),
    ] {
        let ran = files.compare(&args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.out);
        assert!(ran.out.is_empty() && ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_baseline_is_kept_in_the_current_folder_and_found_there() {
    let tool = Tool::new();
    let folder = tool.path("repository");
    fs::create_dir(&folder).expect("a folder");
    let here = |args: &[&str]| {
        let output = tool.command(args).current_dir(&folder).output().expect("the binary starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let run: Vec<&str> = "run fanout --runtime tokio --variant current_thread/spawn --size 64 --samples 4 --sample-time 200us \
        --max-time 600s --timeout 600s --precision 0 --save-baseline main"
        .split_whitespace()
        .collect();
    let ran = here(&run);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("Baseline main: .taskscale/main.taskscale.jsonl\n"), "{}", ran.err);
    assert!(here(&run).err.contains("main.taskscale.jsonl, over the one of before"));
    let kept = ".taskscale/main.taskscale.jsonl";
    let ran = here(&["compare", "--baseline", "main", kept]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("one and the same run"), "{}", ran.out);
    let entries = fs::read_dir(folder.join(".taskscale")).expect("the folder").count();
    assert_eq!(entries, 1, "nothing but the baseline is left there");
    let ran = here(&["compare", "--baseline", "mian", kept]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("in this folder: main"), "{}", ran.err);
}
