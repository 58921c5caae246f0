//! The JSON Schemas of `schemas/` are what the types give, and what the tool really writes fits
//! them.

mod common;

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Tool, repository, script};
use jsonschema::Validator;
use serde_json::{Value, json};
use taskscale_model::schema;
use taskscale_testkit::generated::holds_generated;

/// The kept schema in that file, and no other: a test of this file shows that it is the generated
/// one.
fn kept(name: &str) -> Validator {
    let path = repository().join(format!("schemas/{name}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let schema = serde_json::from_str(&text).expect("JSON");
    jsonschema::draft202012::new(&schema).expect("a schema of draft 2020-12")
}

fn fits(validator: &Validator, document: &Value, what: &str) {
    let problems: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{what}: {problems:#?}\n{document:#}");
}

/// Parses lines of JSON; none is no document at all.
fn lines(text: &str, what: &str) -> Vec<Value> {
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{what}: {line}")))
        .collect();
    assert!(!lines.is_empty(), "{what} is empty");
    lines
}

/// Parses the lines of all files of a folder, once each of `kinds` is among them.
fn all_lines(folder: &Path, kinds: &[&str]) -> Vec<Value> {
    // What passes is kept after it was passed on, so the last lines may come after the tool's end.
    let latest = Instant::now() + Duration::from_secs(30);
    loop {
        let files = fs::read_dir(folder).expect("readable").flatten().map(|file| file.path());
        let texts: Vec<(PathBuf, String)> =
            files.map(|path| (path.clone(), fs::read_to_string(path).expect("readable"))).collect();
        let whole = texts.iter().all(|(_, text)| text.is_empty() || text.ends_with('\n'));
        let there = |kind: &&str| {
            let is_it = |text: &str| text.replace(' ', "").contains(&format!("\"type\":\"{kind}\""));
            texts.iter().any(|(_, text)| is_it(text))
        };
        if (whole && kinds.iter().all(there)) || Instant::now() > latest {
            // A long line passes in pieces, and whoever keeps it may be killed between two.
            let kept = texts.iter().filter_map(|(path, text)| Some((path, &text[..=text.rfind('\n')?])));
            return kept.flat_map(|(path, text)| lines(text, &path.to_string_lossy())).collect();
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Holds a validator to refusing a document from which each of `required` is taken, and one with a
/// field more at each of `closed`.
fn refuses(validator: &Validator, document: &Value, required: &[&str], closed: &[&str]) {
    for pointer in required {
        let mut less = document.clone();
        let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
        let parent = less.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        parent.remove(field).unwrap_or_else(|| panic!("{pointer} is not there"));
        assert!(!validator.is_valid(&less), "fits without {pointer}");
    }
    for pointer in closed {
        let mut more = document.clone();
        let object = more.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object");
        object.insert("no_such_field".into(), json!(1));
        assert!(!validator.is_valid(&more), "fits with a field more in {pointer:?}");
    }
}

/// A short run of asyncio with counts, growth and a sweep of work, and its file.
fn small_run(tool: &Tool) -> (PathBuf, Value) {
    let file = tool.path("run.taskscale.jsonl");
    let ran = tool.run(&[
        "run",
        "fanout",
        "--runtime",
        "asyncio",
        "--variant",
        "gather",
        "--variant",
        "await_each",
        "--size",
        "64",
        "--size",
        "128",
        "--samples",
        "4",
        "--sample-time",
        "200us",
        "--max-time",
        "600s",
        "--timeout",
        "600s",
        // One count is enough; all of them take 60 s of CPU time.
        "--metrics",
        "allocs",
        "--format",
        "json",
        "-o",
        &file.to_string_lossy(),
    ]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    (file, ran.json())
}

#[test]
fn the_kept_schemas_are_those_of_the_types() {
    for contract in schema::all() {
        let text = serde_json::to_string_pretty(&contract.schema).expect("JSON") + "\n";
        holds_generated(&format!("schemas/{}", contract.file), &text);
    }
    let generated = schema::all().len();
    let files = fs::read_dir(repository().join("schemas")).expect("readable");
    let kept =
        files.flatten().filter(|file| file.path().extension().is_some_and(|end| end == "json")).count();
    assert_eq!(kept, generated, "a schema is kept that no type gives");
}

#[test]
fn a_run_its_summary_and_its_comparison_fit() {
    let tool = Tool::new();
    let (run, summary) = (kept("run"), kept("summary"));
    let (file, figures) = small_run(&tool);
    fits(&summary, &figures, "the summary");
    let records = lines(&fs::read_to_string(&file).expect("readable"), "the run file");
    records.iter().for_each(|record| fits(&run, record, "a record"));
    for kind in ["header", "runtime", "row", "sample", "round", "count", "row_end", "end"] {
        assert!(records.iter().any(|record| record["type"] == kind), "the run has no {kind}");
    }
    // One record of each form: a validator looks at a thousand samples for minutes.
    let form = |record: &Value| {
        let names: Vec<String> = record.as_object().expect("an object").keys().cloned().collect();
        (record["type"].to_string(), record["kind"].to_string(), names)
    };
    let mut forms = BTreeSet::new();
    for record in records.iter().filter(|record| forms.insert(form(record))) {
        refuses(&run, record, &["/type"], &[""]);
        // The wrong type of a value, under each name.
        for name in record.as_object().expect("an object").keys() {
            let mut wrong = record.clone();
            wrong[name] = json!([["no such value"]]);
            assert!(!run.is_valid(&wrong), "fits with {name} = {}", wrong[name]);
        }
    }
    let header = records.iter().find(|record| record["type"] == "header").expect("a header");
    refuses(&run, header, &["/machine/fingerprint", "/suites/0/workload"], &["/machine", "/suites/0"]);
    refuses(
        &summary,
        &figures,
        &["/schema", "/rows/0/metric", "/control/verdict"],
        &["", "/rows/0", "/growth/0", "/overview", "/machine"],
    );
    let mut other = figures.clone();
    other["schema"] = json!("taskscale.summary/2");
    assert!(!summary.is_valid(&other), "fits with another number");
    let (compare, file) = (kept("compare"), file.to_string_lossy());
    let same = tool.run(&["compare", "--format", "json", &file, &file]).json();
    fits(&compare, &same, "a run and itself");
    refuses(&compare, &same, &["/rows/0/counts/0/metric"], &["/rows/0/counts/0"]);
}

#[test]
fn kept_runs_of_all_kinds_fit() {
    let data = repository().join("crates/analysis/tests/data");
    let (run, summary) = (kept("run"), kept("summary"));
    for name in ["quick", "granularity", "jit", "threads", "compare/old", "compare/new"] {
        let path = data.join(format!("{name}.jsonl"));
        let text = fs::read_to_string(&path).expect("readable");
        // Their headers are made by hand and leave out what has a default.
        let records = lines(&text, name).into_iter().filter(|record| record["type"] != "header");
        records.for_each(|record| fits(&run, &record, name));
        let figures = Tool::new().run(&["report", "--format", "json", &path.to_string_lossy()]);
        fits(&summary, &figures.json(), name);
    }
}

#[test]
fn comparisons_fit() {
    let compare = kept("compare");
    let data = repository().join("crates/analysis/tests/data/compare");
    let (old, new) = (data.join("old.jsonl"), data.join("new.jsonl"));
    let tool = Tool::new();
    let ran = tool.run(&["compare", "--format", "json", &old.to_string_lossy(), &new.to_string_lossy()]);
    fits(&compare, &ran.json(), "two runs");
    refuses(&compare, &ran.json(), &["/rows/0/verdict", "/old/name"], &["", "/rows/0", "/counts", "/old"]);
}

#[test]
fn digests_of_all_kept_traces_fit() {
    let digest = kept("digest");
    let traces = fs::read_dir(repository().join("crates/cli/tests/traces")).expect("readable");
    let traces: Vec<PathBuf> = (traces.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    assert!(traces.len() > 3, "{traces:?}");
    for trace in traces {
        let path = trace.to_string_lossy();
        let ran = Tool::new().run(&["digest", "--format", "json", &path]);
        fits(&digest, &ran.json(), &path);
        refuses(
            &digest,
            &ran.json(),
            &["/losses/work", "/confidence/grade", "/dropped/format"],
            &["", "/losses", "/dropped", "/confidence", "/parallelism", "/names"],
        );
    }
}

#[test]
fn partials_of_kept_traces_and_digests_of_groups_fit() {
    let (partial, digests, tool) = (kept("partial"), kept("digests"), Tool::new());
    let folder = repository().join("crates/cli/tests/traces");
    let traces = ["ray.json", "taskflow-straggler.chrome.json"].map(|name| folder.join(name));
    let [ray, straggler] = traces.each_ref().map(|trace| trace.to_string_lossy());
    let out = tool.path("all.partial");
    let args = ["digest", "--by", "host", "--format", "json", &ray, &straggler, "--partial"];
    let groups = tool.run(&[&args[..], &[&out.to_string_lossy()]].concat()).json();
    fits(&digests, &groups, "groups");
    refuses(&digests, &groups, &["/by", "/groups/0/name", "/whole/tasks"], &["", "/groups/0", "/whole"]);
    let sums: Value = serde_json::from_str(&fs::read_to_string(out).expect("written")).expect("JSON");
    fits(&partial, &sums, "a partial");
    refuses(
        &partial,
        &sums,
        &["/labels", "/time/workers", "/names/kept/0/name", "/causes/0/saved_ns"],
        &["", "/time", "/losses", "/workers", "/names/kept/0", "/causes/0", "/account"],
    );
}

#[test]
fn a_checkup_fits() {
    let doctor = kept("doctor");
    let checkup = Tool::new().run(&["doctor", "--format", "json"]).json();
    fits(&doctor, &checkup, "the checkup");
    refuses(&doctor, &checkup, &["/findings/0/severity", "/machine/cpus"], &["", "/findings/0", "/machine"]);
}

/// Keeps each line that two of the tool's own probes get and give in a run that verifies answers
/// and times phases. A request for an unknown workload gives the error.
#[test]
fn what_the_tool_and_its_probes_say_to_each_other_fits() {
    let (request, reply) = (kept("probe-request"), kept("probe-reply"));
    let tool = Tool::new();
    let python = format!("python3 {}/probes/python/taskscale_probe asyncio", repository().display());
    let rust = format!("{} probe serve tokio", env!("CARGO_BIN_EXE_taskscale"));
    for (name, command, variant) in [("asyncio", python, "gather"), ("tokio", rust, "multi_thread/spawn")] {
        let kept_of = |what: &str| tool.path(&format!("{name}-{what}"));
        let (asked, said) = (kept_of("asked"), kept_of("said"));
        fs::create_dir(&asked).and_then(|()| fs::create_dir(&said)).expect("made");
        let probe = tool.path(&format!("{name}.sh"));
        // The process that the tool watches becomes the probe; two others keep what passes, for
        // each process in a file of its own.
        let (keep_asked, keep_said) = (asked.display(), said.display());
        let relay = format!("exec {command} < <(exec tee {keep_asked}/$$) > >(exec tee {keep_said}/$$)");
        script(&probe, &format!("exec bash -c '{relay}'"));
        let probe = probe.to_string_lossy();
        let ran = tool.run(&[
            "run",
            "fanout",
            "--probe",
            &probe,
            "--runtime",
            "threads",
            "--variant",
            variant,
            "--size",
            "64",
            // Phases are asked for in the third of five rounds, of a dear row from the sixth on.
            "--samples",
            "8",
            "--precision",
            "0",
            "--sample-time",
            "200us",
            "--max-time",
            "600s",
            "--timeout",
            "600s",
        ]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let wrong = json!({"type": "run", "id": 1, "workload": "none", "variant": "none", "size": 1,
                           "iterations": 1, "params": {}, "seed": 1});
        let mut child = Command::new(&*probe);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the relay starts");
        writeln!(child.stdin.take().expect("its input"), "{wrong}").expect("written");
        child.wait_with_output().expect("it ends with its input");

        let asked = all_lines(&asked, &["describe", "run", "exit"]);
        asked.iter().for_each(|line| fits(&request, line, name));
        for (kind, required) in
            [("describe", vec!["/protocol"]), ("run", vec!["/seed", "/workload"]), ("exit", vec![])]
        {
            let line = asked.iter().find(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}"));
            refuses(&request, line, &[&required[..], &["/type"]].concat(), &[""]);
        }
        for key in ["verify", "phases"] {
            assert!(asked.iter().any(|line| line["params"][key] == true), "{name} is never asked for {key}");
        }
        let said = all_lines(&said, &["description", "sample", "error"]);
        said.iter().for_each(|line| fits(&reply, line, name));
        for (kind, required) in [
            (
                "description",
                vec!["/type", "/runtime/name", "/clock/wall_resolution_ns", "/workloads/0/variants"],
            ),
            ("sample", vec!["/wall_ns", "/cpu_ns", "/answer"]),
            ("error", vec!["/message"]),
        ] {
            let line = said.iter().find(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}"));
            refuses(&reply, line, &required, &[]);
        }
    }
}

#[test]
fn suites_fit() {
    let suite = kept("suite");
    for name in [
        "quick",
        "fanout",
        "nop",
        "cliffs",
        "granularity",
        "interp",
        "parked",
        "scale",
        "pingpong",
        "context",
        "spawn-remote",
        "idle",
        "cancel",
        "blocking",
        "bytes",
    ] {
        let text = fs::read_to_string(repository().join(format!("suites/{name}.toml"))).expect("readable");
        let read = taskscale_model::suite::Suite::parse(&text).expect("a suite");
        fits(&suite, &serde_json::to_value(read).expect("JSON"), name);
    }
}

#[test]
fn a_run_of_the_guide_and_its_verdicts_fit() {
    let tool = Tool::with_shared_cache();
    let file = tool.path("guide.taskscale.jsonl");
    let words = ["run", "guide", "--claim", "3", "--samples", "6", "--format", "json", "-o"];
    let ran = tool.run(&[&words[..], &[&*file.to_string_lossy()]].concat());
    if ran.err.contains("the guide needs Taskflow") {
        println!("skipped: schemas of the guide: {}", ran.err.trim());
        return;
    }
    fits(&kept("guide-verdicts"), &ran.json(), "verdicts");
    let text = fs::read_to_string(&file).expect("readable");
    let kinds = ["header", "said", "ended", "end"];
    assert!(kinds.iter().all(|kind| text.contains(&format!("{{\"type\":\"{kind}\""))), "{text}");
    lines(&text, "the guide").iter().for_each(|line| fits(&kept("guide"), line, "a line of the guide"));
}
