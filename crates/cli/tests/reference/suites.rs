//! The page of the suites.

use std::fmt::Write;

use taskscale_model::{
    figure::{count, time},
    params,
    suite::{Block, Suite},
};

use super::super::{cell, common::repository};

/// All suites, a section each, by name.
pub fn page() -> String {
    let folder = std::fs::read_dir(repository().join("suites")).expect("readable");
    let mut files: Vec<_> = folder.flatten().map(|file| file.path()).collect();
    files.sort();
    let mut text =
        "`taskscale run NAME` measures the tables that have no `--all`; with `--all` it measures\n\
        all of them. Without a name it is `quick`. [Contributing](../../CONTRIBUTING.md) says how a\n\
        suite of your own is made. The suite `guide` has programs in place of tables: [its\n\
        page](../experiments/taskflow-guide.md).\n"
            .to_owned();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("readable");
        section(&mut text, &Suite::parse(&source).expect("a suite"));
    }
    text
}

fn section(text: &mut String, suite: &Suite) {
    write!(text, "\n## {}\n\n| | |\n|---|---|\n| asks | {} |\n", suite.name, cell(&suite.title))
        .expect("text");
    if !suite.source.is_empty() {
        writeln!(text, "| comes from | {} |", cell(&suite.source)).expect("text");
    }
    let limits = &suite.limits;
    let time = match (limits.budget_s, limits.max_time_s) {
        (Some(budget), _) => format!("{budget} s at most, builds not counted"),
        (None, Some(cell)) => format!("{cell} s at most for each size of each table"),
        (None, None) => "30 s at most for each size of each table".to_owned(),
    };
    writeln!(text, "| takes | {time} |").expect("text");
    if !suite.reference.is_empty() {
        writeln!(text, "| refers to | the first that is there of {} |", code(suite.reference.iter()))
            .expect("text");
    }
    text.push_str("\n| table | workload | sizes | runtimes | variants |\n|---|---|---|---|---|\n");
    for block in &suite.workloads {
        row(text, block);
    }
}

fn row(text: &mut String, block: &Block) {
    let extra = if block.extra { ", with `--all`" } else { "" };
    let sizes: Vec<String> = block.sizes.iter().map(|size| count(*size)).collect();
    let all = |list: &Option<Vec<String>>| list.as_ref().map_or("all".to_owned(), |list| code(list.iter()));
    let mut variants = all(&block.variants);
    for (listed, other) in &block.stand_ins {
        write!(variants, "; `{other}` where a toolchain lacks `{listed}`").expect("text");
    }
    let cases: Vec<String> = block.cases.iter().map(params::label).collect();
    if !cases.is_empty() {
        write!(variants, "; also with {}", code(cases.iter())).expect("text");
    }
    if !block.work_ns.is_empty() {
        let (least, most) = (block.work_ns[0], block.work_ns[block.work_ns.len() - 1]);
        write!(
            variants,
            "; {} sizes of work in a task, {} to {}",
            block.work_ns.len(),
            time(least as f64),
            time(most as f64)
        )
        .expect("text");
    }
    let params = params::label(&block.params);
    let workload = if params.is_empty() { block.name.clone() } else { format!("{} {params}", block.name) };
    writeln!(
        text,
        "| {}{extra} | `{}` | {} | {} | {} |",
        cell(&block.title()),
        cell(&workload),
        sizes.join("; "),
        all(&block.runtimes),
        cell(&variants)
    )
    .expect("text");
}

fn code<'a>(words: impl Iterator<Item = &'a String>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
