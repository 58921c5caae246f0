//! The page of all subcommands and options, `docs/reference/cli.md`, from the one definition of
//! the command line.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};
use taskscale_testkit::generated::holds_generated;

use crate::args::Cli;

const HEAD: &str = "# Command line

Every subcommand and option, as `taskscale --help` and the manual pages have them. This page is
generated from `crates/cli/src/args.rs`; `GENERATED=overwrite cargo test -p taskscale-cli` writes it
anew.

";

#[test]
fn the_page_is_that_of_the_definition() {
    let mut command = Cli::command();
    command.build();
    let mut text = HEAD.to_owned();
    let all = subcommands(&command);
    text.push_str("| command | does |\n|---|---|\n");
    for (name, one) in &all {
        writeln!(text, "| [`{name}`](#{}) | {} |", name.replace(' ', "-"), about(one)).expect("text");
    }
    for (name, one) in all {
        section(&mut text, &name, one);
    }
    holds_generated("docs/reference/cli.md", &text);
}

/// What can be typed, in the order of the help; `probe` stands for what it has.
fn subcommands(command: &Command) -> Vec<(String, &Command)> {
    let listed = |of: &&Command| of.get_name() != "help" && !of.is_hide_set();
    let mut all = Vec::new();
    for one in command.get_subcommands().filter(listed) {
        if one.has_subcommands() {
            let inner = one.get_subcommands().filter(listed);
            all.extend(
                inner.map(|inner| (format!("taskscale {} {}", one.get_name(), inner.get_name()), inner)),
            );
        } else {
            all.push((format!("taskscale {}", one.get_name()), one));
        }
    }
    all
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn section(text: &mut String, name: &str, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    write!(text, "\n## {name}\n\n{}.\n\n```text\n{usage}\n```\n", about(command)).expect("text");
    let shown = |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let args: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if !args.is_empty() {
        text.push_str("\n| option | says | without it |\n|---|---|---|\n");
    }
    for arg in args {
        writeln!(text, "| {} | {} | {} |", words(arg), says(arg), default(arg)).expect("text");
    }
    if let Some(after) = command.get_after_help() {
        let after = after.to_string();
        let lines: Vec<String> = after.trim_end().lines().map(within).collect();
        write!(text, "\n```text\n{}\n```\n", lines.join("\n")).expect("text");
    }
}

/// A line of prose within the columns of a page. Commands, which are indented, stay in one line.
fn within(line: &str) -> String {
    if line.starts_with(' ') { line.to_owned() } else { textwrap::fill(line, 100) }
}

/// What is typed: `-o`, `--output FILE`, or the name of what stands alone.
fn words(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().join(" ").replace('|', "\\|");
    let values = if arg.get_action().takes_values() { values } else { String::new() };
    let long = arg.get_long().map(|long| format!("`{}`", format!("--{long} {values}").trim_end()));
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let words: Vec<String> = short.into_iter().chain(long).collect();
    if words.is_empty() { format!("`{values}`") } else { words.join(", ") }
}

/// The long help, in one line, and the values that are possible.
fn says(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let values: Vec<String> = if arg.get_action().takes_values() {
        let possible = arg.get_possible_values();
        possible.iter().filter(|one| !one.is_hide_set()).map(|one| format!("`{}`", one.get_name())).collect()
    } else {
        Vec::new()
    };
    if values.is_empty() { help } else { format!("{help}: {}", values.join(", ")) }
}

fn default(arg: &Arg) -> String {
    let takes_value = arg.get_action().takes_values();
    let values: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_value && !values.is_empty() {
        format!("`{}`", values.join(" "))
    } else if arg.is_required_set() {
        "it must be there".to_owned()
    } else {
        String::new()
    }
}
