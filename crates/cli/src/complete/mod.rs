//! Completes command lines. The script of a shell asks this program at each TAB, so that it offers
//! what is there now: suites, runtimes, variants, baselines and files.
//!
//! Nothing here starts a process, and nothing is printed that the shell has not asked for.

mod files;
mod words;

use std::{ffi::OsString, process::ExitCode};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::{CompleteEnv, env::Shells};

pub use files::{partials, probes, reports, run_files, runs, sides, suites, traces};
pub use words::{
    baselines, built_in, languages, measured_runtimes, measured_variants, names, runtimes, setups, variants,
};

use crate::{args::Cli, output};

/// The variable by which a shell's script says that it wants candidates, and for which shell.
const VARIABLE: &str = "TASKSCALE_COMPLETE";

/// What bash needs beside the script of clap_complete.
const WHOLE_WORDS: &str = include_str!("bash.sh");

/// Answers a shell that completes a line; `None` where this is no such call.
pub fn answer() -> Option<ExitCode> {
    let shell = std::env::var(VARIABLE).ok().filter(|shell| !shell.is_empty() && shell != "0")?;
    if Shells::builtins().completer(&shell).is_none() {
        let known: Vec<&str> = Shells::builtins().names().collect();
        output::tell(&format!("taskscale: {VARIABLE} is {shell:?}; it is one of {}", known.join(", ")));
        return Some(ExitCode::from(2));
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    // A line without words has no candidates; the engine would print a script of its own.
    if args.iter().position(|arg| arg == "--").is_none_or(|at| at + 1 == args.len()) {
        return Some(ExitCode::SUCCESS);
    }
    let here = std::env::current_dir().ok();
    let completed = CompleteEnv::with_factory(command).var(VARIABLE).try_complete(args, here.as_deref());
    // Whoever presses TAB sees no candidates; a message would stand within the line that is typed.
    completed.ok();
    Some(ExitCode::SUCCESS)
}

/// The command line's definition. Flags are offered to who has typed a dash, and where there is
/// nothing else.
fn command() -> clap::Command {
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    // fish and PowerShell end the line at the word that is completed.
    let words = words::of_line();
    let current = index.map_or(words.last(), |index: usize| words.get(index));
    let typed_a_dash = current.is_some_and(|word| word.starts_with('-'));
    if typed_a_dash { Cli::command() } else { without_flags(Cli::command()) }
}

fn without_flags(command: clap::Command) -> clap::Command {
    let hide = |arg: clap::Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    let command = command.disable_help_flag(true).disable_version_flag(true).mut_args(hide);
    command.mut_subcommands(without_flags)
}

/// The script that has a shell ask this program, as it is found on the PATH.
pub fn script(shell: clap_complete::Shell) -> anyhow::Result<String> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).context("no completions for this shell")?;
    completer.write_registration(VARIABLE, "taskscale", "taskscale", "taskscale", &mut text)?;
    let text = String::from_utf8(text)?;
    Ok(match shell {
        // Where the command was removed meanwhile, TAB is silent.
        clap_complete::Shell::Bash => {
            let silent = text.replace(r#"-- "${words[@]}" \"#, r#"-- "${words[@]}" 2>/dev/null \"#);
            format!("{}\n{WHOLE_WORDS}", silent.trim_end())
        }
        // As a file of the function path it is loaded by the first TAB, which wants an answer too.
        clap_complete::Shell::Zsh => {
            let first = "if [[ $funcstack[1] == _taskscale ]]; then _clap_dynamic_completer_taskscale; fi";
            format!("{}\n{first}\n", text.trim_end())
        }
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_hold_what_is_added_to_them() {
        let script = |shell| script(shell).expect("written");
        assert!(script(clap_complete::Shell::Bash).contains("2>/dev/null \\\n    ) )"));
        assert!(script(clap_complete::Shell::Zsh).contains("_clap_dynamic_completer_taskscale; fi"));
        assert!(script(clap_complete::Shell::Fish).contains(VARIABLE));
    }
}
