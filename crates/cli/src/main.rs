//! `taskscale`: weigh your tasks, see how they scale.
//!
//! This file turns words into calls: [`args`] says what can be typed, [`commands`] does it, and
//! [`complete`] answers a shell while it is typed. Data goes to standard output, everything else to
//! standard error. Exit status: 0 done; 1 a finding the caller asked to gate on; 2 wrong usage or
//! input, or nothing measured, or a runtime or probe that was named and cannot be had; 130
//! interrupted.

mod args;
mod baselines;
mod bytes;
mod commands;
mod complete;
mod described;
mod folders;
mod free;
mod grade;
mod guide;
mod interrupt;
mod names;
mod output;
mod probes;
mod progress;
#[cfg(test)]
mod reference;
mod run_file;
mod runtimes;
mod sides;
mod store;
mod suites;
mod tables;

use std::process::ExitCode;

use clap::{
    CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use taskscale_bench::meant;
use taskscale_model::plain::clean_lines;
use taskscale_sys::process::{self, watchdog};

use crate::args::{Cli, Command, ProbeCommand};

fn main() -> ExitCode {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    interrupt::outlive_full_files();
    // The file by its name may be another one by now, as after a build.
    watchdog::set(process::Command::new("/proc/self/exe", ["probe", "watch"]));
    if let Command::Run(_)
    | Command::List(_)
    | Command::Report(_)
    | Command::Compare(_)
    | Command::Setup(_)
    | Command::Probe(ProbeCommand::Check(_) | ProbeCommand::Bytes(_)) = cli.command
    {
        folders::tell_of_ignored();
    }
    let done = match cli.command {
        Command::Run(args) => commands::run::run(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Digest(args) => commands::digest::digest(&args),
        Command::Merge(args) => commands::merge::merge(&args),
        Command::Setup(args) => commands::setup::setup(&args),
        Command::NewProbe(args) => commands::new_probe::new_probe(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Config(args) => commands::config::config(&args),
        Command::Probe(ProbeCommand::Check(args)) => commands::probe::check(&args),
        Command::Probe(ProbeCommand::Bytes(args)) => commands::bytes::serve(&args),
        Command::Probe(ProbeCommand::Serve { runtime }) => return taskscale_probe_rust::main(&runtime),
        Command::Probe(ProbeCommand::Watch { mark }) => commands::probe::watch(&mark),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { folder: None } => commands::generate::man(),
        Command::Man { folder: Some(folder) } => commands::generate::man_pages(&folder),
    };
    let code = output::exit_code(done);
    watchdog::dismiss();
    code
}

/// What a misspelt command or value may mean: clap knows no two letters that are swapped, and no
/// beginnings.
fn tip(error: &clap::Error) -> Option<String> {
    let (asked, kind) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, "subcommand"),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, "value"),
        _ => return None,
    };
    let Some(ContextValue::String(typed)) = error.get(asked) else { return None };
    let command = Cli::command();
    let known: Vec<&str> = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.iter().map(String::as_str).collect(),
        _ => command.get_subcommands().map(clap::Command::get_name).collect(),
    };
    Some(format!("  tip: a similar {kind} exists: '{}'\n", meant::meant(typed, known)?))
}

/// Prints what is wrong with the words typed, in lines that fit.
fn refused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help is asked for, and goes to standard output.
        error.print().ok();
        return ExitCode::SUCCESS;
    }
    let mut said = error.render().to_string();
    if let Some(tip) = tip(error).filter(|_| !said.contains("tip:")) {
        said = said.replacen("\n\n", &format!("\n\n{tip}\n"), 1);
    }
    let is_plain = said == clean_lines(&said);
    match is_plain && output::fits(&said) && said == error.render().to_string() {
        // As it is, it may have colours.
        true => error.print().unwrap_or_default(),
        false => output::tell(said.trim_end()),
    }
    ExitCode::from(2)
}
