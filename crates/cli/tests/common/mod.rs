//! Runs the binary as a user does, with a home of its own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Samples are few and short: these tests look at what is said, never at how long it took. Times
/// bound nothing here, as a machine may stand still for a minute.
#[allow(dead_code, reason = "not every test file needs all of it")]
pub const SHORT: &[&str] = &[
    "--samples",
    "6",
    "--sample-time",
    "200us",
    "--max-time",
    "600s",
    "--timeout",
    "600s",
    "--precision",
    "0",
    "--seed",
    "5",
];

/// The binary, in an environment that touches nothing of the user's.
pub struct Tool {
    home: tempfile::TempDir,
    cache: PathBuf,
    env: &'static [(&'static str, &'static str)],
}

/// What is built is as right without optimisation, and is built in half the time: all probes take
/// 50 s of CPU less.
const UNOPTIMISED: &[(&str, &str)] =
    &[("CXXFLAGS", "-O0"), ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"), ("CARGO_PROFILE_RELEASE_DEBUG", "0")];

/// Variables that change how interpreters, compilers and pools behave.
const OF_THE_USER: [&str; 13] = [
    "CXXFLAGS",
    "GOFLAGS",
    "GOMAXPROCS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LDFLAGS",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "OMP_NUM_THREADS",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
];

#[allow(dead_code, reason = "not every test file needs all of it")]
impl Tool {
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        Tool { cache: home.path().join("cache"), home, env: &[] }
    }

    /// Uses a cache that all tests share, so that each probe is built once.
    pub fn with_shared_cache() -> Self {
        let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
        Tool { cache, home: tempfile::tempdir().expect("a temporary folder"), env: UNOPTIMISED }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taskscale"));
        command
            .args(args)
            .env("XDG_CACHE_HOME", &self.cache)
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        OF_THE_USER.iter().for_each(|name| _ = command.env_remove(name));
        command.envs(self.env.iter().copied());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }

    /// Sets up a runtime whose packages are fetched where the user asks for it; no other. What was
    /// built without all that it would like to have is built anew by `setup`: F#'s probe takes 80 s
    /// of CPU time where there is no package Ply.
    pub fn fetched(&self, runtime: &str) -> Option<Ran> {
        ["uvloop", "trio", "anyio"].contains(&runtime).then(|| self.run(&["setup", runtime]))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output: Output = command.output().expect("the binary starts");
    Ran {
        status: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: unfolded(&String::from_utf8(output.stderr).expect("UTF-8")),
    }
}

/// Puts lines together again that were broken at the width of a terminal: what follows is indented.
fn unfolded(text: &str) -> String {
    text.replace("\n  ", " ")
}

/// What a command printed, its words as if a terminal had no end, and its exit status.
#[derive(Debug)]
#[allow(dead_code, reason = "some test files show it and read a part")]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

#[allow(dead_code, reason = "not every test file reads JSON")]
impl Ran {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Returns the command of a probe that breaks one rule.
#[allow(dead_code, reason = "not every test file breaks something")]
pub fn broken(mode: &str) -> String {
    format!("python3 {}/tests/probes/broken.py {mode}", env!("CARGO_MANIFEST_DIR"))
}

/// Writes a shell script and makes it executable.
#[allow(dead_code, reason = "not every test file needs a script")]
pub fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own");
}

/// Writes a script that acts as a Go of that version. It builds the honest probe of the tests.
/// `before` is what it does first.
#[allow(dead_code, reason = "not every test file builds something")]
pub fn honest_go(path: &Path, version: &str, before: &str) {
    let probe = broken("honest");
    script(
        path,
        &format!(
            "if [ \"$1\" = version ]; then echo go version {version} linux/amd64; exit; fi\n\
             {before}\n\
             while [ \"$1\" != -o ]; do shift; done\n\
             printf '#!/bin/sh\\nexec {probe}\\n' > \"$2\"; chmod +x \"$2\""
        ),
    );
}

/// The root of the repository.
#[allow(dead_code, reason = "few test files read it")]
pub fn repository() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}
