//! `taskscale run guide` as a process: programs are compiled and run, what they print is judged.

#![allow(clippy::print_stdout, reason = "a skipped check is named in the test output")]

mod common;

use std::fs;

use common::Tool;
use serde_json::Value;

/// What is said where the programs cannot be compiled. Such a test is skipped by name.
fn lacks_taskflow(err: &str) -> bool {
    let lacks = err.contains("the guide needs Taskflow");
    if lacks {
        println!("skipped: the guide: no Taskflow here");
    }
    lacks
}

#[test]
fn a_claim_is_measured_and_shown_again() {
    let tool = Tool::with_shared_cache();
    let file = tool.path("g.taskscale.jsonl");
    let file = file.to_string_lossy();
    let ran = tool.run(&["run", "guide", "--claim", "3", "--samples", "8", "-o", &file, "--format", "json"]);
    if lacks_taskflow(&ran.err) {
        return;
    }
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let verdicts: Value = ran.json();
    assert_eq!(verdicts["schema"], "taskscale.guide-verdicts/1");
    let claim = &verdicts["claims"][0];
    assert_eq!((&claim["claim"], &claim["program"]), (&3.into(), &"03_node_size".into()));
    // Nodes of 3.9 have 232 bytes, those of 4.1 have 216: either is beyond 160 and a tenth.
    assert_eq!(claim["verdict"], "refuted", "{claim:#}");
    assert_eq!(claim["bounds"][0]["figure"]["rounds"], 8);
    let again = tool.run(&["report", &file]);
    assert_eq!(again.status, Some(0), "{again:?}");
    assert!(again.out.contains("\n  3 refuted      A graph node has about 160 bytes"), "{}", again.out);
    let whole = tool.run(&["report", &file, "--claim", "3"]);
    assert!(
        whole.out.contains("fails       the type: always 2")
            && whole.out.contains("by hand, in a checkout (prints JSON lines"),
        "{whole:?}"
    );
    let table = tool.run(&["report", &file, "--format", "md"]);
    assert!(table.out.contains("| 3 | A graph node has about 160 bytes | refuted |"), "{}", table.out);
    let absent = tool.run(&["report", &file, "--claim", "4"]);
    assert_eq!((absent.status, absent.err.contains("has no claim 4")), (Some(2), true), "{absent:?}");
    let said = "it has 3; to measure it: taskscale run guide --claim 4";
    assert!(absent.err.contains(said), "{absent:?}");
    let page = tool.path("r.html");
    let page = tool.run(&["report", &file, "-o", &page.to_string_lossy()]);
    assert_eq!((page.status, page.err.contains(".txt, .md or .json")), (Some(2), true), "{page:?}");
    for command in [vec!["compare", &file, &file], vec!["digest", &file]] {
        let other = tool.run(&command);
        assert_eq!(other.status, Some(2), "{other:?}");
    }
    // A kill leaves part of a line.
    let text = fs::read(&*file).expect("readable");
    let cut = tool.path("cut.taskscale.jsonl");
    fs::write(&cut, &text[..text.len() * 2 / 3]).expect("written");
    let cut = tool.run(&["report", &cut.to_string_lossy()]);
    assert_eq!(cut.status, Some(0), "{cut:?}");
    assert!(
        cut.out.contains("cut short") && cut.out.contains("was cut short, and is left out"),
        "{}",
        cut.out
    );
}

#[test]
fn what_claims_say_is_listed_before_they_are_measured() {
    let listed = Tool::new().run(&["list", "guide"]);
    assert_eq!((listed.status, &*listed.err), (Some(0), ""), "{listed:?}");
    for line in [
        "Suite guide: Taskflow's performance guide, claim by claim",
        "   1  One emplace() costs about 150 to 250 ns",
        "  28  One barrier beats many",
        "  40  What does a task of a subflow cost?",
    ] {
        assert!(listed.out.lines().any(|one| one == line), "{line}\n{}", listed.out);
    }
    assert!(listed.out.contains("33 programs, 5 minutes"), "{}", listed.out);
    let numbers = listed.out.lines().filter_map(|line| line.get(..4)?.trim().parse::<u32>().ok());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=42).collect::<Vec<_>>());
    assert!(listed.out.lines().all(|line| line.len() <= 80), "{}", listed.out);
}

#[test]
fn what_means_nothing_to_the_guide_is_refused() {
    let tool = Tool::new();
    for (words, said) in [
        (
            vec!["run", "guide", "--claim", "99"],
            "there is no claim 99; claims and questions are numbered 1 to 42",
        ),
        (vec!["run", "guide", "--runtime", "go"], "--runtime means nothing to the guide"),
        (vec!["run", "guide", "fanout"], "guide runs by itself"),
        (vec!["run", "fanout", "--claim", "3"], "--claim is for the guide"),
        (
            vec!["run", "guide", "--library", "java", "--claim", "3"],
            "no library but Taskflow has an experiment for claim 3",
        ),
        (vec!["run", "guide", "--library", "jaba"], "forkjoin"),
        (vec!["run", "fanout", "--library", "dotnet"], "run guide --library tpl"),
        (vec!["run", "fanout", "--library", "tpl"], "--library is for the guide"),
        (
            vec!["run", "guide", "--library", "tpl", "--claim", "3"],
            "no library but Taskflow has an experiment for claim 3",
        ),
        (vec!["run", "gide"], "guide"),
    ] {
        let ran = tool.run(&words);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
    }
}
