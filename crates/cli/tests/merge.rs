//! `taskscale merge` and `taskscale digest --partial` as processes: any tree of merges gives the
//! same bytes, a killed one changes none, and what is no partial is named and left out.

mod common;

use std::{fs, process::Stdio, time::Duration};

use common::{Ran, Tool, repository};
use serde_json::{Value, json};

trait Succeeded {
    fn succeeded(self) -> Self;
}

impl Succeeded for Ran {
    fn succeeded(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:?}");
        self
    }
}

/// The trace of a host: its tasks, the time between them and the beginning of its clock are its
/// own.
fn trace(host: u64) -> String {
    let (task_us, gap_us) = (20 + 37 * (host % 11), 1 + host % 5);
    let of_worker = |worker: u64| {
        (0..40 + host % 3).map(move |task| {
            let length = if host % 7 == 3 && worker == 0 { 4 * task_us } else { task_us };
            json!({"name": format!("step {}", (task + host) % 9), "cat": "task", "ph": "X", "pid": 1, "tid": worker,
                   "ts": host * 1_000_000_007 + task * (length + gap_us), "dur": length})
        })
    };
    Value::from((0..1 + host % 4).flat_map(of_worker).collect::<Vec<_>>()).to_string()
}

/// A folder of so many traces, and their names.
fn traces(tool: &Tool, count: u64) -> Vec<String> {
    let write = |host: u64| {
        let path = tool.path(&format!("host{host}.json"));
        fs::write(&path, trace(host)).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    (0..count).map(write).collect()
}

fn path(tool: &Tool, name: &str) -> String {
    tool.path(name).to_str().expect("UTF-8").to_owned()
}

/// The command with words before and files behind.
fn with<'w>(words: &[&'w str], files: &'w [String]) -> Vec<&'w str> {
    words.iter().copied().chain(files.iter().map(String::as_str)).collect()
}

/// The partial of each trace, by a process of its own.
fn partials(tool: &Tool, traces: &[String]) -> Vec<String> {
    let of = |trace: &String| {
        let out = trace.replace(".json", ".partial");
        tool.run(&["digest", trace, "--partial", &out]).succeeded();
        out
    };
    traces.iter().map(of).collect()
}

#[test]
fn one_process_and_any_tree_of_merges_give_the_same_bytes() {
    let tool = Tool::new();
    let traces = traces(&tool, 64);
    let all = path(&tool, "all.partial");
    let one = tool.run(&with(&["digest", "--partial", &all], &traces)).succeeded().out;
    let whole = fs::read(&all).expect("written");
    let mut parts = partials(&tool, &traces);
    let merged = path(&tool, "merged.partial");
    let at_once = tool.run(&with(&["merge", "-o", &merged], &parts)).succeeded().out;
    assert_eq!((at_once, fs::read(&merged).expect("written")), (one.clone(), whole.clone()));
    // Five at a time, from the end, until one is left.
    let mut number = 0;
    while parts.len() > 1 {
        let some = parts.split_off(parts.len().saturating_sub(5));
        let out = path(&tool, &format!("node{number}.partial"));
        tool.run(&with(&["merge", "-o", &out], &some)).succeeded();
        parts.insert(0, out);
        number += 1;
    }
    assert_eq!(fs::read(&parts[0]).expect("written"), whole);
    assert_eq!(tool.run(&["merge", &parts[0]]).succeeded().out, one);
}

#[test]
fn a_merge_that_is_killed_and_done_again_changes_no_byte() {
    let tool = Tool::new();
    let parts = partials(&tool, &traces(&tool, 8));
    let (whole, killed) = (path(&tool, "whole.partial"), path(&tool, "killed.partial"));
    // Long enough to be killed within.
    let many: Vec<String> = std::iter::repeat_n(&parts, 40).flatten().cloned().collect();
    tool.run(&with(&["merge", "-o", &whole], &many)).succeeded();
    let whole = fs::read(&whole).expect("written");
    for ms in [0, 2, 5, 10, 20, 40] {
        let mut merge = tool.command(&with(&["merge", "-o", &killed], &many));
        let mut merge = merge.stdout(Stdio::null()).spawn().expect("started");
        std::thread::sleep(Duration::from_millis(ms));
        merge.kill().expect("killed");
        merge.wait().expect("ended");
        if let Ok(there) = fs::read(&killed) {
            assert!(there == whole, "a part of a file is there after {ms} ms");
        }
    }
    tool.run(&with(&["merge", "-o", &killed], &many)).succeeded();
    assert!(fs::read(&killed).expect("written") == whole);
}

#[test]
fn hosts_come_the_worst_first_and_the_whole_last() {
    let tool = Tool::new();
    let traces = traces(&tool, 12);
    let parts = partials(&tool, &traces);
    let merged = tool.run(&with(&["merge", "--by", "host", "--format", "json"], &parts)).json();
    assert_eq!((&merged["schema"], &merged["by"]), (&json!("taskscale.digests/1"), &json!("host")));
    let groups = merged["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 12);
    let work: Vec<f64> =
        groups.iter().map(|group| group["digest"]["losses"]["work"].as_f64().expect("a share")).collect();
    assert!(work.is_sorted(), "{work:?}");
    let tasks = |digest: &Value| digest["tasks"].as_u64().expect("tasks");
    assert_eq!(tasks(&merged["whole"]), groups.iter().map(|group| tasks(&group["digest"])).sum::<u64>());
    // Traces are grouped as their partials are.
    let direct = tool.run(&with(&["digest", "--by", "host", "--format", "json"], &traces)).json();
    assert_eq!(direct, merged);
    let text = tool.run(&with(&["merge", "--by", "host"], &parts)).succeeded().out;
    let worst = groups[0]["name"].as_str().expect("a name");
    assert!(text.starts_with(&format!("== host {worst}: 1 source\n")), "{text}");
    assert!(text.contains("\n== the whole\n"), "{text}");
}

#[test]
fn labels_group_and_a_merge_of_several_is_not_parted() {
    let tool = Tool::new();
    let traces = traces(&tool, 3);
    let labelled = |trace: &String, rank: &str| {
        let out = path(&tool, &format!("rank{rank}.partial"));
        tool.run(&["digest", trace, "--partial", &out, "--host", "a", "--stage", "fit", "--rank", rank])
            .succeeded();
        out
    };
    let parts: Vec<String> =
        traces.iter().zip(["0", "1", "2"]).map(|(trace, rank)| labelled(trace, rank)).collect();
    let names = |by: &str| -> Vec<String> {
        let groups = tool.run(&with(&["merge", "--format", "json", "--by", by], &parts)).json();
        let groups = groups["groups"].as_array().expect("groups").iter();
        let mut names: Vec<String> =
            groups.map(|group| group["name"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(
        (names("host"), names("stage"), names("rank")),
        (vec!["a".into()], vec!["fit".into()], ["0", "1", "2"].map(String::from).to_vec())
    );
    let both = path(&tool, "both.partial");
    tool.run(&with(&["merge", "-o", &both], &parts[..2])).succeeded();
    let refused = tool.run(&["merge", "--by", "rank", &both, &parts[2]]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("cannot be parted again"), "{}", refused.err);
    assert!(refused.out.contains("== rank 2: 1 source"), "{}", refused.out);
    tool.run(&["merge", "--by", "stage", &both, &parts[2]]).succeeded();
}

#[test]
fn no_output_takes_the_place_of_a_trace() {
    let tool = Tool::new();
    let traces = traces(&tool, 2);
    let (text, link) = (fs::read(&traces[1]).expect("written"), path(&tool, "link.json"));
    std::os::unix::fs::symlink(&traces[1], &link).expect("linked");
    for out in [&traces[1], &link] {
        let refused = tool.run(&["digest", &traces[0], &traces[1], "--partial", out]);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.err.contains("would replace a trace"), "{}", refused.err);
        assert_eq!(fs::read(&traces[1]).expect("still there"), text);
    }
}

#[test]
fn what_is_no_partial_is_named_and_the_others_are_merged() {
    let tool = Tool::new();
    let traces = traces(&tool, 2);
    let parts = partials(&tool, &traces);
    let good = fs::read_to_string(&parts[0]).expect("written");
    let folder = path(&tool, "folder");
    fs::create_dir(&folder).expect("made");
    let cases = [
        ("empty", String::new(), "it is empty"),
        ("cut", good[..good.len() / 2].to_owned(), "cut off"),
        ("damaged", good.replacen("\"sources\":1", "\"sources\":9", 1), "crc32 differs"),
        ("newer", good.replacen("partial/1", "partial/2", 1), "crc32 differs"),
        ("run", "{\"type\":\"header\"}\n".to_owned(), "it is no partial"),
        ("trace", fs::read_to_string(&traces[0]).expect("read"), "it is no partial"),
    ];
    let (alone, out) = (tool.run(&["merge", &parts[1]]).succeeded().out, path(&tool, "out.partial"));
    for (name, text, why) in cases {
        let bad = path(&tool, name);
        fs::write(&bad, text).expect("written");
        let merged = tool.run(&["merge", &bad, &parts[1], "-o", &out]);
        assert_eq!(merged.status, Some(2), "{name}");
        assert!(merged.err.contains(why) && merged.err.contains(name), "{name}: {}", merged.err);
        assert_eq!(merged.out, alone, "{name}");
        assert!(!tool.path("out.partial").exists(), "{name}");
    }
    for (path, why) in [(folder.as_str(), "it is a folder"), ("/nowhere/a.partial", "No such file")] {
        let merged = tool.run(&["merge", path, &parts[1]]);
        assert!(merged.err.contains(why), "{}", merged.err);
        assert_eq!((merged.status, merged.out == alone), (Some(2), true));
    }
    let nothing = tool.run(&["merge", &folder]);
    assert_eq!((nothing.status, nothing.out.as_str()), (Some(2), ""));
    assert!(nothing.err.contains("nothing to merge"), "{}", nothing.err);
    // Several partials may stand in one file, and one of them may be damaged.
    let several = path(&tool, "several");
    let second = fs::read_to_string(&parts[1]).expect("written");
    fs::write(&several, format!("{good}{second}")).expect("written");
    let both = tool.run(&["merge", &parts[0], &parts[1]]).succeeded().out;
    assert_eq!(tool.run(&["merge", &several]).succeeded().out, both);
    fs::write(&several, format!("{}{second}", good.replacen("\"sources\":1", "\"sources\":9", 1)))
        .expect("written");
    let one = tool.run(&["merge", &several]);
    assert_eq!((one.status, one.out == alone), (Some(2), true), "{}", one.err);
}

#[test]
fn labels_without_a_partial_and_a_page_of_groups_are_refused() {
    let tool = Tool::new();
    let traces = traces(&tool, 1);
    let refused = tool.run(&["digest", &traces[0], "--host", "a"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("--partial"), "{}", refused.err);
    let refused = tool.run(&["digest", &traces[0], "--by", "host", "--format", "html"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("--by prints text, md or json"), "{}", refused.err);
}

#[test]
fn kept_traces_have_the_same_diagnosis_by_way_of_a_partial() {
    let tool = Tool::new();
    let folder = repository().join("crates/cli/tests/traces");
    for name in [
        "taskflow-balanced.chrome.json",
        "taskflow-chain.chrome.json",
        "taskflow-straggler.chrome.json",
        "ray.json",
    ] {
        let trace = folder.join(name);
        let trace = trace.to_str().expect("UTF-8");
        let direct = tool.run(&["digest", "--format", "json", trace]).json();
        let partial = path(&tool, "one.partial");
        let summed = tool.run(&["digest", "--format", "json", trace, "--partial", &partial]).json();
        for field in
            ["tasks", "workers", "window_ns", "duration", "gap", "histograms", "outliers", "alternative"]
        {
            assert_eq!(summed[field], direct[field], "{name}: {field}");
        }
        let causes = |digest: &Value| -> Vec<Value> {
            let patterns = digest["patterns"].as_array().expect("patterns").iter();
            patterns.flat_map(|pattern| [pattern["name"].clone(), pattern["evidence"].clone()]).collect()
        };
        assert_eq!(causes(&summed), causes(&direct), "{name}");
        assert_eq!(tool.run(&["merge", "--format", "json", &partial]).json(), summed, "{name}");
    }
}
