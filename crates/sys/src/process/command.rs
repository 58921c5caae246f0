//! Says what to start, and starts it.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;

use crate::counts::Prepared;
use crate::ffi;
use crate::process::{COOKIE, watchdog};

/// Says what to start. The environment is ours plus `env`. Padding that shifts the stack is one
/// more entry of `env`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// A path, or a name to find on the `PATH`.
    pub program: String,
    /// Arguments, without the program's name.
    pub args: Vec<String>,
    /// Environment variables to set; they replace those of this process that have the same name.
    pub env: Vec<(String, String)>,
    /// Environment variables of this process that the program must not see.
    pub env_remove: Vec<String>,
    /// Working directory; ours where it is absent.
    pub directory: Option<PathBuf>,
}

impl Command {
    /// Makes a command with arguments, in our environment and directory.
    pub fn new<S: Into<String>>(program: impl Into<String>, args: impl IntoIterator<Item = S>) -> Self {
        Command {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            ..Command::default()
        }
    }
}

/// Says why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {program:?}: {source} ({remedy})")]
pub struct SpawnError {
    pub program: String,
    /// What the system said.
    pub source: io::Error,
    /// What the user can do.
    pub remedy: &'static str,
}

/// Describes why `command` failed to start.
pub fn failed(command: &Command, source: io::Error) -> SpawnError {
    let directory_missing = command.directory.as_ref().is_some_and(|directory| !directory.is_dir());
    let remedy = match source.kind() {
        _ if directory_missing => "its working directory does not exist",
        io::ErrorKind::NotFound => {
            "install it, or give the full path to it; a script's `#!` line may name what is missing"
        }
        io::ErrorKind::PermissionDenied => {
            "make it executable with chmod +x, or start its interpreter with it"
        }
        io::ErrorKind::ArgumentListTooLong => "shorten the arguments or the environment",
        io::ErrorKind::InvalidInput => "arguments and environment must not hold NUL bytes",
        _ if source.raw_os_error() == Some(libc::ENOEXEC) => {
            "it is no program for this machine, or a script without a `#!` line"
        }
        _ if matches!(
            source.raw_os_error(),
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE)
        ) =>
        {
            "the machine is out of processes, memory or descriptors: look at `ulimit -a`"
        }
        _ => "run it by hand to see more",
    };
    SpawnError { program: command.program.clone(), source, remedy }
}

/// Starts `command`, and returns the environment entry (`NAME=value`) that marks it and its
/// descendants. `counted` is what counts it from its program's first instruction on.
pub fn start(
    command: &Command,
    counted: Option<&Prepared>,
) -> Result<(std::process::Child, String), SpawnError> {
    ffi::adopt_orphans();
    watchdog::wake();
    let mark = watchdog::mark();
    let value = [&*mark.name, &random_name()[..16]].concat();
    let mut builder = std::process::Command::new(&command.program);
    builder.args(&command.args);
    for name in &command.env_remove {
        builder.env_remove(name);
    }
    builder.envs(command.env.iter().map(|(name, value)| (name, value)));
    builder.env(COOKIE, &value);
    if let Some(directory) = &command.directory {
        builder.current_dir(directory);
    }
    builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    ffi::isolate(&mut builder, mark.locks);
    if let Some(prepared) = counted {
        prepared.hook(&mut builder);
    }
    match builder.spawn() {
        Ok(process) => Ok((process, format!("{COOKIE}={value}"))),
        Err(source) => Err(failed(command, source)),
    }
}

/// Returns 32 hexadecimal digits that no other process has. The system seeds `RandomState` once per
/// thread, and it differs for each instance. The result is a name, not a secret.
pub(crate) fn random_name() -> String {
    let [high, low] = [RandomState::new().hash_one("high"), RandomState::new().hash_one("low")];
    format!("{high:016x}{low:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let names: std::collections::BTreeSet<String> = (0..1_000).map(|_| random_name()).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() == 32));
    }

    #[test]
    fn a_missing_program_is_named_with_a_remedy() {
        let error = start(&Command::new("no-such-program-of-ours", [""; 0]), None)
            .expect_err("not there")
            .to_string();
        assert!(error.starts_with("cannot start \"no-such-program-of-ours\": "), "{error}");
        assert!(error.contains("(install it"), "{error}");
    }

    #[test]
    fn a_missing_directory_is_not_blamed_on_the_program() {
        let mut command = Command::new("/bin/sh", [""; 0]);
        command.directory = Some("no/such/directory".into());
        let error = start(&command, None).expect_err("not there").to_string();
        assert!(error.contains("working directory"), "{error}");
    }
}
