//! The page of the runtimes.

use std::{collections::BTreeMap, fmt::Write, fs};

use super::super::{
    cell,
    common::{Tool, repository, script},
};

/// The runtimes that are in the command.
const BUILT_IN: [&str; 4] = ["tokio", "rayon", "smol", "threads"];

pub fn page() -> String {
    let tool = Tool::with_shared_cache();
    let kept = fs::read_to_string(repository().join("docs/reference/runtimes.md")).unwrap_or_default();
    let mut text =
        "`taskscale list` says which of them are on this machine, `taskscale list NAME` what one can do.\n\
        A toolchain is named behind `@`: `--runtime asyncio@python3.8`, `--runtime go@/opt/go1.25`.\n\n\
        | runtime | needs |\n|---|---|\n"
            .to_owned();
    let names = listed(&tool);
    for name in &names {
        writeln!(text, "| [`{name}`](#{}) | {} |", anchor(name), cell(&needs(&tool, name))).expect("text");
    }
    let mut params = BTreeMap::new();
    let mut sections = String::new();
    for name in &names {
        sections.push_str(&section(&tool, name, &kept, &mut params));
    }
    text.push_str(
        "\n## Parameters\n\n`--param NAME=VALUE`; a variant that knows some values only says so below.\n\n",
    );
    text.push_str("| workload | parameter | says | of |\n|---|---|---|---|\n");
    for ((workload, param), (says, of)) in params {
        writeln!(text, "| `{workload}` | `{param}` | {} | {} |", cell(&says), of).expect("text");
    }
    text + &sections
}

/// All runtimes that the tool knows, whether they are here or not, in its order.
fn listed(tool: &Tool) -> Vec<String> {
    let ran = tool.run(&["list"]);
    let runtimes = ran.out.lines().skip_while(|line| !line.starts_with("Runtimes ")).skip(1);
    let lines = runtimes.take_while(|line| line.starts_with("  "));
    // What follows a broken line stands further in.
    let names = lines.filter(|line| !line.starts_with("   "));
    let names: Vec<String> =
        names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.starts_with(&BUILT_IN.map(str::to_owned)), "{ran:?}");
    names
}

/// The anchor of a heading.
fn anchor(name: &str) -> String {
    name.replace(['+', '.'], "")
}

/// The remedy that the tool gives where the toolchain, or its library, is not there.
fn needs(tool: &Tool, name: &str) -> String {
    if BUILT_IN.contains(&name) {
        return "nothing: it is in the command".to_owned();
    }
    // A compiler that finds no header.
    let blind = tool.path("blind-compiler");
    script(&blind, "[ \"$1\" = --version ] && echo g++ 12");
    let of_library = remedy(tool, &format!("{name}@{}", blind.display()));
    let of_toolchain = remedy(tool, &format!("{name}@/nowhere"));
    match name {
        "uvloop" | "trio" | "anyio" => format!("{of_toolchain}; and `taskscale setup {name}`"),
        "taskflow" | "onetbb" | "openmp" => format!("{of_toolchain}; {of_library}"),
        _ => of_toolchain,
    }
}

fn remedy(tool: &Tool, runtime: &str) -> String {
    let ran = tool.run(&["list", runtime]);
    let line = unbroken(&ran.out).into_iter().find(|line| line.contains(" missing "));
    let line = line.unwrap_or_else(|| panic!("{runtime}: {ran:?}"));
    // The remedy is in the last brackets, and may have some of its own.
    let inner = line.strip_suffix(')').unwrap_or_else(|| panic!("{line}"));
    let mut open = 1;
    let begin = inner.char_indices().rev().find(|(_, letter)| {
        open += match letter {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        open == 0
    });
    let (at, _) = begin.unwrap_or_else(|| panic!("{line}"));
    inner[at + 1..].to_owned()
}

/// The lines of a list that is broken to the width of a terminal: what follows stands four columns
/// further in, and nothing else does.
fn unbroken(list: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines: Vec<String> = Vec::new();
    for line in list.lines() {
        match lines.last_mut().filter(|last| indent(line) == indent(last) + 4) {
            Some(last) => *last = format!("{last} {}", line.trim()),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// The workloads and variants that a probe names, or what is kept of a runtime that is not here.
fn section(
    tool: &Tool,
    name: &str,
    kept: &str,
    params: &mut BTreeMap<(String, String), (String, String)>,
) -> String {
    let set_up = tool.fetched(name).map(|ran| ran.err);
    let ran = tool.run(&["list", name]);
    let mut variants = unbroken(&ran.out);
    variants.retain(|line| line.starts_with("    "));
    if variants.is_empty() {
        println!("skipped: {name}: {}", format!("{}{}", ran.out, set_up.unwrap_or_default()).trim());
        let begin = kept.find(&format!("\n## {name}\n")).unwrap_or(kept.len());
        let end = kept[begin..]
            .get(1..)
            .and_then(|rest| rest.find("\n## "))
            .map_or(kept.len(), |at| begin + 1 + at);
        return kept[begin..end].to_owned();
    }
    let mut text = format!("\n## {name}\n\n| workload | variant | knows |\n|---|---|---|\n");
    let mut workload = String::new();
    for line in &variants {
        // Whether it is available is a matter of the toolchain found here.
        let said = line.split(" -- ").next().unwrap_or_default().trim().replace(" [unavailable]", "");
        if !line.starts_with("      ") {
            workload = said;
        } else if let Some(param) = said.strip_prefix("--param ") {
            let (param, says) = param.split_once(": ").expect("a help");
            // asyncio and tokio are on every machine that can run this; others have the same.
            if ["asyncio", "tokio"].contains(&name) {
                let known = params.entry((workload.clone(), param.to_owned()));
                let (_, of) = known.or_insert_with(|| (says.to_owned(), String::new()));
                of.push_str(if of.is_empty() { "" } else { ", " });
                of.push_str(name);
            }
        } else {
            let (variant, knows) = said.split_once(' ').unwrap_or((&said, ""));
            let knows = knows.trim().replace("[no task]", "no task for each unit;");
            let knows = knows.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(text, "| `{workload}` | `{variant}` | {} |", cell(knows.trim_end_matches(';')))
                .expect("text");
        }
    }
    text
}
