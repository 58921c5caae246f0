//! Instructions in user mode, counted by valgrind, which runs the program on a processor of its
//! own making: for machines whose processor shows no counters.
//!
//! The program runs under callgrind, and [`Simulated::read`] asks the idle process for its sums
//! (`vgdb`), so a request is counted alone. All threads are counted, the ended ones included, and
//! each descendant would have to be asked for itself.
//!
//! **Exact.** Every instruction of the program and its libraries counts as one, and nothing of the
//! kernel. A request of a deterministic program counts the same each time. Hash seeds, addresses
//! and the clock reach into programs: CPython differs by 0.1 % without `PYTHONHASHSEED`. Threads
//! run one at a time, so what a scheduler does is not what it does on the machine itself, and code
//! that asks what the processor can do (AVX-512) takes another path.
//!
//! **What it costs.** CPU time is 30 to 60 times as long, and the start of an interpreter takes
//! seconds.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use taskscale_model::missing::Missing;

use crate::process::{Child, Command, random_name};

/// Time for an answer in seconds. A busy machine may take some.
const PATIENCE_S: u32 = 60;
/// Time after which `vgdb` wakes a process that waits in a system call, as an idle one does.
const WAKE_MS: u32 = 2;

/// A program that is to run under valgrind, and the place where it is asked. The place goes with
/// this.
#[derive(Debug)]
pub struct Simulated {
    command: Command,
    vgdb: PathBuf,
    folder: PathBuf,
}

impl Simulated {
    /// Wraps a command.
    ///
    /// # Errors
    /// There is no valgrind, or no folder can be made for its pipes; with the remedy.
    pub fn prepare(command: &Command) -> Result<Self, Missing> {
        let [valgrind, vgdb] = [find("valgrind")?, find("vgdb")?];
        let folder = std::env::temp_dir().join(format!("taskscale-valgrind-{}", random_name()));
        // Whoever can write to its pipes can give orders to the process.
        DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
            let reason = format!("valgrind gets no folder for its pipes: {}: {error}", folder.display());
            Missing::new(reason, "set TMPDIR to a folder that you can write")
        })?;
        let mut words = vec![
            "--tool=callgrind".to_owned(),
            "--callgrind-out-file=/dev/null".to_owned(),
            format!("--log-file={}/log", folder.display()),
            format!("--vgdb-prefix={}/pipe", folder.display()),
            // A command is often a script that replaces itself by the program.
            "--trace-children=yes".to_owned(),
            "--".to_owned(),
            command.program.clone(),
        ];
        words.extend(command.args.iter().cloned());
        let program = valgrind.to_string_lossy().into_owned();
        let command = Command { program, args: words, ..command.clone() };
        Ok(Simulated { command, vgdb, folder })
    }

    /// The command to start.
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Returns the instructions so far of the process that was started by [`Simulated::command`],
    /// while it is idle and once it has answered a first line. Costs some 0.1 s.
    ///
    /// # Errors
    /// It does not answer; says why.
    pub fn read(&self, child: &Child) -> Result<u64, Missing> {
        let output = std::process::Command::new(&self.vgdb)
            .arg(format!("--vgdb-prefix={}/pipe", self.folder.display()))
            .args([format!("--pid={}", child.pid()), format!("--max-invoke-ms={WAKE_MS}")])
            .args([format!("--cmd-time-out={PATIENCE_S}"), "status".into(), "internal".into()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                Missing::new(format!("vgdb does not start: {error}"), "install valgrind anew")
            })?;
        total(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let words = [&*log, &*String::from_utf8_lossy(&output.stderr)].concat();
            // Where valgrind itself fails, its last line says why.
            let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no answer");
            let reason = format!("valgrind does not tell its count: {}", last.trim());
            Missing::new(reason, "run the command under `valgrind --tool=callgrind` by hand")
        })
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        // A folder that stays lies where the system cleans up.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Adds up the threads of `status internal`: lines such as `events-3: 136287`. Those of functions
/// have one number more.
fn total(status: &str) -> Option<u64> {
    let mut sum = None;
    for line in status.lines() {
        let Some((thread, count)) = line.strip_prefix("events-").and_then(|rest| rest.split_once(": "))
        else {
            continue;
        };
        if thread.parse::<u32>().is_ok() {
            sum = Some(sum.unwrap_or(0) + count.trim().parse::<u64>().ok()?);
        }
    }
    sum
}

/// Finds a program of valgrind's on the `PATH`.
fn find(name: &str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file));
    found.ok_or_else(|| {
        Missing::new(
            format!("there is no {name} on the PATH"),
            "install valgrind (Debian: apt install valgrind)",
        )
    })
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|is| is.is_file() && is.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_and_functions_are_not() {
        let status = "sending command\nevents: Ir\nevents-1: 141451\nframes-1: 13\nfunction-1-0: main\n\
                      events-1-0: 99\nevents-2: 5\n";
        assert_eq!(total(status), Some(141_456));
        assert_eq!(total("vgdb error: no FIFO found\n"), None);
        assert_eq!(total("events-1: many\n"), None);
    }

    #[test]
    fn what_is_not_there_says_what_to_install() {
        let missing = find("no-such-program-of-valgrind").expect_err("not there");
        assert!(missing.remedy.contains("apt install valgrind"), "{missing}");
    }
}
