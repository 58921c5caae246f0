//! A toolchain: a language's programs on this machine, and the version they state.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use taskscale_model::missing::Missing;
use taskscale_sys::{
    clock,
    process::{Child, Command, Exit},
};

use crate::{folders, output};

/// Go 1.23 and newer count their own use in files below `~/.config/go`, which this variable moves.
/// Nothing can be written there.
pub const NO_COUNTERS: (&str, &str) = ("TEST_TELEMETRY_DIR", "/dev/null");

/// A compiler or interpreter on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    pub program: PathBuf,
    /// The line it prints when asked for its version.
    pub version: String,
}

impl Toolchain {
    /// Returns the program as an argument.
    pub fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Returns another program of the same toolchain: `java` beside `javac`.
    pub fn beside(&self, name: &str) -> String {
        self.program.with_file_name(name).to_string_lossy().into_owned()
    }
}

/// Time limit of a version command: one that takes longer hangs. A compiler in a container of its
/// own took 0.6 s here.
const VERSION_NS: u64 = 20_000_000_000;

/// Finds a program. `asked` is a path to it, to the folder of its toolchain (`/opt/go1.22`), or its
/// name on the `PATH`. Without `asked`, finds the first of `names` on the `PATH`.
///
/// # Errors
/// The program is not there; the error carries `remedy`.
pub fn find_program(asked: Option<&str>, names: &[&str], remedy: &str) -> Result<PathBuf, Missing> {
    let Some(asked) = asked else {
        return names
            .iter()
            .find_map(|name| on_path(name))
            .ok_or_else(|| Missing::new(format!("no {} on the PATH", names.join(" or ")), remedy));
    };
    let inside = |name: &&str| ["bin", "usr/bin", ""].map(|folder| Path::new(asked).join(folder).join(name));
    let found = match Path::new(asked).is_dir() {
        true => names.iter().flat_map(inside).find(|path| path.is_file()),
        false => on_path(asked),
    };
    found.ok_or_else(|| {
        let why = match Path::new(asked).is_dir() {
            true => format!("{asked} holds no {}", names.join(" or ")),
            false => format!("{asked} is not a program on this machine"),
        };
        Missing::new(why, remedy)
    })
}

/// Returns the path of `program`, searched on the `PATH` where it has no slash.
pub fn on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Names on standard error a program that neither the user nor the PATH names, once.
pub fn tell_found(what: &str, program: &Path) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(program.to_owned()) {
        output::tell(&format!(
            "taskscale: takes for {what} what was found beside the PATH: {}",
            program.display()
        ));
    }
}

/// Asks a program for its version. Returns the first line that is not blank of what it prints,
/// standard output before standard error.
///
/// # Errors
/// The program cannot be started, hangs, fails, or says nothing.
pub fn ask_version(program: &Path, args: &[&str]) -> Result<String, Missing> {
    ask(program, args, Some("/".into()), &[])
}

/// Asks a program that leaves files in the folder for temporary ones, which goes with the answer.
///
/// # Errors
/// As [`ask_version`].
pub fn ask_untidy(program: &Path, args: &[&str]) -> Result<String, Missing> {
    // Where none can be made nothing can be built either: the answer is shown all the same.
    let Ok(scratch) = folders::scratch() else { return ask_version(program, args) };
    ask(program, args, Some("/".into()), &[("TMPDIR", &scratch.path().to_string_lossy())])
}

/// Asks in the current folder: pyenv's `python3` is the one that this folder asks for. All others
/// are asked in `/`, since rustup and Go take settings, among them programs to start, from all
/// folders above.
///
/// # Errors
/// As [`ask_version`].
pub fn ask_here(program: &Path, args: &[&str]) -> Result<String, Missing> {
    ask(program, args, None, &[])
}

fn ask(
    program: &Path,
    args: &[&str],
    directory: Option<PathBuf>,
    env: &[(&str, &str)],
) -> Result<String, Missing> {
    let name = program.display();
    // The path is made absolute: a path given relative to this folder leads nowhere from another.
    let absolute = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    let command = Command {
        directory,
        env: [("GOTOOLCHAIN", "local"), NO_COUNTERS]
            .iter()
            .chain(env)
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        ..Command::new(absolute.to_string_lossy(), args.iter().copied())
    };
    let said = said_once(&command).map_err(|why| {
        Missing::new(format!("{name} {}: {why}", args.join(" ")), "run it by hand to see more")
    })?;
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned).ok_or_else(|| {
        Missing::new(format!("{name} {} says nothing", args.join(" ")), "run it by hand to see more")
    })
}

/// What commands said that ended well, each behind the lock of whoever asks. Five runtimes of .NET
/// rest on one SDK, and four of Python on one interpreter.
type Said = BTreeMap<String, Arc<Mutex<Option<String>>>>;
static SAID: Mutex<Said> = Mutex::new(BTreeMap::new());

/// As [`said`], asked once: a program says the same as long as this one runs. What failed is asked
/// again.
pub fn said_once(command: &Command) -> Result<String, String> {
    let mut all = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    // A folder for temporary files is another each time.
    let mut key = command.clone();
    key.env.retain(|(name, _)| name != "TMPDIR");
    let one = all.entry(format!("{key:?}")).or_default().clone();
    drop(all);
    let mut known = one.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*known {
        return Ok(known.clone());
    }
    let now = said(command)?;
    Ok(known.insert(now).clone())
}

/// Returns what a short command prints (both streams, bounded); `Err` where it does not end with
/// status 0.
pub fn said(command: &Command) -> Result<String, String> {
    let mut child = Child::spawn(command).map_err(|error| error.to_string())?;
    let deadline_ns = clock::monotonic_ns().saturating_add(VERSION_NS);
    let mut lines = Vec::new();
    let problem = loop {
        match child.read_line(deadline_ns) {
            Ok(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
            Err(problem) => break problem,
        }
        if lines.len() > 1_000 {
            return Err("it prints without end".into());
        }
    };
    let exit = child.end(1_000_000_000);
    let errors = child.stderr_tail();
    match exit {
        Some(Exit::Code(0)) => {
            lines.push(errors);
            Ok(lines.join("\n"))
        }
        Some(exit) => Err(format!("{exit}: {}", errors.lines().next().unwrap_or_default())),
        None => Err(problem.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_path_by_name_and_in_its_folder() {
        let by_name = find_program(None, &["no-such-shell", "sh"], "").expect("sh is everywhere");
        assert!(by_name.ends_with("sh"));
        let folder =
            by_name.parent().and_then(Path::parent).expect("below bin").to_string_lossy().into_owned();
        assert!(find_program(Some(&folder), &["sh"], "").is_ok(), "in {folder}/bin");
        assert!(find_program(Some(&by_name.to_string_lossy()), &[], "").is_ok());
        for (asked, words) in [
            (Some("/no/such/go"), "/no/such/go is not a program on this machine"),
            (Some("/"), "/ holds no no-such-shell"),
            (None, "no no-such-shell on the PATH"),
        ] {
            let missing = find_program(asked, &["no-such-shell"], "get it").expect_err(words);
            assert_eq!((missing.reason.as_str(), missing.remedy.as_str()), (words, "get it"));
        }
    }

    #[test]
    fn a_version_is_the_first_line_that_is_said() {
        let sh = find_program(None, &["sh"], "").expect("sh");
        let version = |script: &str| ask_version(&sh, &["-c", script]);
        assert_eq!(version("echo; echo one; echo two").expect("said"), "one");
        assert_eq!(version("echo only here >&2").expect("said"), "only here");
        assert!(version("echo broken >&2; exit 3").expect_err("failed").reason.contains("broken"));
        assert!(version("true").expect_err("silent").reason.contains("says nothing"));
    }
}
