//! Instructions in user mode, counted by valgrind, which runs the program on a processor of its
//! own making: for machines whose processor shows no counters.
//!
//! | type | counts | by | where it fails |
//! |---|---|---|---|
//! | [`Simulated`] | a request alone, of an idle process that is asked (`vgdb`) | callgrind | descendants are not counted; signals that switch stacks end it (Go's preemption: set `GODEBUG=asyncpreemptoff=1`) |
//! | [`Whole`] | a process from start to end, with all programs that it starts | cachegrind | the start is in it: take a process of 2k iterations less one of k. A forked child begins with its parent's sum |
//!
//! **Exact.** Every instruction of the program and its libraries counts as one, in all threads, the
//! ended ones included, and nothing of the kernel. A deterministic program counts the same each
//! time. Hash seeds, addresses and the clock reach into programs: CPython differs by 0.1 % without
//! `PYTHONHASHSEED`. Threads run one at a time, so what a scheduler does is not what it does on the
//! machine itself, and code that asks what the processor can do (AVX-512) takes another path.
//!
//! **What it costs.** CPU time is 30 to 60 times as long, half of that for [`Whole`], and the start
//! of an interpreter takes seconds.

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
    folder: Folder,
}

impl Simulated {
    /// Wraps a command. Its pipes lie in a folder made in `place`, a folder of the user's own.
    ///
    /// # Errors
    /// There is no valgrind, or no folder can be made for its pipes; with the remedy.
    pub fn prepare(command: &Command, place: &Path) -> Result<Self, Missing> {
        let vgdb = find("vgdb")?;
        let folder = Folder::create(place)?;
        let pipe = format!("--vgdb-prefix={}/pipe", folder.0.display());
        let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", &pipe];
        Ok(Simulated { command: wrap(command, &options, &folder)?, vgdb, folder })
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
            .arg(format!("--vgdb-prefix={}/pipe", self.folder.0.display()))
            .args([format!("--pid={}", child.pid()), format!("--max-invoke-ms={WAKE_MS}")])
            .args([format!("--cmd-time-out={PATIENCE_S}"), "status".into(), "internal".into()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                Missing::new(format!("vgdb does not start: {error}"), "install valgrind anew")
            })?;
        total(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| self.folder.untold(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// A program that is to run under valgrind from its start to its end, and the place where its sums
/// are written. The place goes with this.
#[derive(Debug)]
pub struct Whole {
    command: Command,
    folder: Folder,
}

impl Whole {
    /// Wraps a command.
    ///
    /// # Errors
    /// As [`Simulated::prepare`].
    pub fn prepare(command: &Command, place: &Path) -> Result<Self, Missing> {
        let folder = Folder::create(place)?;
        let options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
        Ok(Whole { command: wrap(command, &options, &folder)?, folder })
    }

    /// The command to start.
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Returns the instructions of the process that was started by [`Whole::command`] and of all
    /// programs that it started, once they have ended by themselves ([`Child::end`]).
    ///
    /// # Errors
    /// Valgrind failed, or the process was killed; says why.
    pub fn read(&self) -> Result<u64, Missing> {
        let logs = self.folder.logs();
        let counts: Vec<u64> = logs.iter().filter_map(|log| references(log)).collect();
        if counts.is_empty() || counts.len() < logs.len() {
            return Err(self.folder.untold(""));
        }
        Ok(counts.iter().sum())
    }
}

/// The command under valgrind, with a log for each process.
fn wrap(command: &Command, options: &[&str], folder: &Folder) -> Result<Command, Missing> {
    let mut args: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    args.push(format!("--log-file={}/log-%p", folder.0.display()));
    // A command is often a script that replaces itself by the program.
    args.push("--trace-children=yes".to_owned());
    args.extend(["--".to_owned(), command.program.clone()]);
    args.extend(command.args.iter().cloned());
    let program = find("valgrind")?.to_string_lossy().into_owned();
    Ok(Command { program, args, ..command.clone() })
}

/// Holds pipes and logs; removed when dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn create(place: &Path) -> Result<Self, Missing> {
        let folder = place.join(format!("valgrind-{}", random_name()));
        // Whoever can write to the pipes can give orders to the process.
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Ok(Folder(folder)),
            Err(error) => {
                let reason = format!("valgrind gets no folder for its files: {}: {error}", folder.display());
                Err(Missing::new(reason, "look at that folder, and at the room on its disk"))
            }
        }
    }

    /// What each process logged.
    fn logs(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("log-"))
            .filter_map(|entry| fs::read_to_string(entry.path()).ok())
            .collect()
    }

    /// Why there is no count, by the last lines of what was said.
    fn untold(&self, words: &str) -> Missing {
        let said = [&*self.logs().concat(), words].concat();
        let failed = said.lines().find(|line| line.contains("Assertion") || line.contains("failed"));
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let reason = failed.or(last).unwrap_or("it wrote no log").trim();
        Missing::new(
            format!("valgrind does not tell its count: {reason}"),
            "run the command under `valgrind --tool=callgrind` by hand",
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays is removed with the place that it lies in.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The sum in a log of cachegrind: `==9== I   refs:      1,236,228`.
fn references(log: &str) -> Option<u64> {
    let line = log.lines().rev().find_map(|line| line.split_once("I   refs:"))?;
    line.1.trim().replace(',', "").parse().ok()
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
    fn the_sum_of_a_log_is_its_last() {
        let log = "==9== Cachegrind\n==9== \n==9== I   refs:      1,236,228\n";
        assert_eq!(references(log), Some(1_236_228));
        assert_eq!(references("==9== Cachegrind\n"), None);
    }

    #[test]
    fn what_is_not_there_says_what_to_install() {
        let missing = find("no-such-program-of-valgrind").expect_err("not there");
        assert!(missing.remedy.contains("apt install valgrind"), "{missing}");
    }
}
