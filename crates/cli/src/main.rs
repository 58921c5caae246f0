//! `taskscale`: weigh your tasks, see how they scale.
//!
//! This file turns words into calls: [`args`] says what can be typed, [`commands`] does it, and
//! [`complete`] answers a shell while it is typed. Data goes to standard output, everything else to standard error. Exit status: 0 done; 1 a finding the
//! caller asked to gate on; 2 wrong usage or input, or nothing measured, or a runtime or probe that
//! was named and cannot be had; 130 interrupted.

mod args;
mod baselines;
mod bytes;
mod commands;
mod complete;
mod described;
mod folders;
mod interrupt;
mod names;
mod output;
mod probes;
mod progress;
#[cfg(test)]
mod reference;
mod runtimes;
mod sides;
mod store;
mod suites;
mod tables;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command, ProbeCommand};

fn main() -> ExitCode {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    let done = match Cli::parse().command {
        Command::Run(args) => commands::run::run(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Digest(args) => commands::digest::digest(&args),
        Command::Setup(args) => commands::setup::setup(&args),
        Command::NewProbe(args) => commands::new_probe::new_probe(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Config(args) => commands::config::config(&args),
        Command::Probe(ProbeCommand::Check(args)) => commands::probe::check(&args),
        Command::Probe(ProbeCommand::Bytes(args)) => commands::bytes::serve(&args),
        Command::Probe(ProbeCommand::Serve { runtime }) => return taskscale_probe_rust::main(&runtime),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { folder: None } => commands::generate::man(),
        Command::Man { folder: Some(folder) } => commands::generate::man_pages(&folder),
    };
    output::exit_code(done)
}
