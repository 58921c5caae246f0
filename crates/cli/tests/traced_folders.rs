//! Every file that the tool and its probes write, and every program that they start, as the kernel
//! sees it (strace): nothing outside the user's own folders but the output that was asked for.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a case that this machine cannot show is named in the test output")]

mod common;

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use common::{Tool, repository};
use taskscale_sys::own;

/// The user `nobody`, who owns nothing.
const NOBODY: u32 = 65_534;

/// Calls by which a file comes, goes or changes, and a program is started.
const CALLS: &str = "trace=execve,execveat,open,openat,openat2,creat,truncate,mkdir,mkdirat,mknod,mknodat,rename,\
                     renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,chmod,fchmodat,chown,\
                     lchown,fchownat,bind";

/// Whose folders they are, and what is executed.
struct Place {
    tool: Tool,
    program: PathBuf,
    /// The user's own folder.
    home: PathBuf,
    /// Where all may write. Nobody's own.
    temporary: PathBuf,
    user: Option<u32>,
    variables: Vec<(&'static str, String)>,
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own");
}

impl Place {
    fn new(user: Option<u32>) -> Self {
        let tool = Tool::new();
        mode(&tool.path(""), 0o755);
        let (home, temporary) = (tool.path("home"), tool.path("tmp"));
        for (folder, permissions) in [(&home, 0o700), (&temporary, 0o1777)] {
            fs::create_dir(folder).expect("made");
            mode(folder, permissions);
        }
        if let Some(user) = user {
            chown(&home, Some(user), Some(user)).expect("root may");
        }
        let program = tool.path("taskscale");
        fs::copy(env!("CARGO_BIN_EXE_taskscale"), &program).expect("copied");
        mode(&program, 0o755);
        let trace = tool.path("trace.json");
        let events = (0..100).map(|i| {
            format!("{{\"ph\":\"X\",\"name\":\"t\",\"ts\":{},\"dur\":5,\"pid\":1,\"tid\":{}}}", i * 10, i % 2)
        });
        fs::write(&trace, format!("[{}]", events.collect::<Vec<_>>().join(","))).expect("written");
        Place { tool, program, home, temporary, user, variables: Vec::new() }
    }

    fn with(mut self, variables: &[(&'static str, &Path)]) -> Self {
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        self.variables.extend(variables.iter().map(|(name, path)| (*name, text(path))));
        self
    }

    /// Runs the tool under strace. Asserts that it succeeds and that all it did was allowed.
    fn holds(&self, words: &str, own: &[&Path]) {
        let log = self.home.join("strace");
        let mut command = Command::new("strace");
        command.args([
            "-f",
            "-qq",
            "-y",
            "--seccomp-bpf",
            "-s",
            "4096",
            "-e",
            CALLS,
            "-e",
            "signal=none",
            "-o",
        ]);
        command.arg(&log).arg(&self.program).args(words.split_whitespace());
        command.env_clear().env("TMPDIR", &self.temporary).current_dir("/").stdin(Stdio::null());
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        if let Some(user) = self.user {
            command.uid(user).gid(user).env("PATH", "/usr/bin:/bin");
        }
        let output = command.output().expect("strace");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {:?}: {said}", output.status);
        let text = fs::read(&log).expect("traced");
        let calls: Vec<Call> = String::from_utf8_lossy(&text).lines().filter_map(Call::parse).collect();
        assert!(calls.iter().any(|call| call.name == "execve"), "{words}: nothing was traced");
        let own: Vec<&Path> = own.iter().copied().chain([self.home.as_path()]).collect();
        let wrong: Vec<String> = calls.iter().filter_map(|call| call.wrong(&own)).collect();
        assert!(wrong.is_empty(), "{words}:\n{}", wrong.join("\n"));
        let left: Vec<_> =
            fs::read_dir(&self.temporary).expect("there").flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{words}: left behind: {left:?}");
    }
}

/// One line of strace.
struct Call {
    name: String,
    line: String,
    paths: Vec<PathBuf>,
}

impl Call {
    /// Reads `42 openat(AT_FDCWD</>, "tmp/a", O_RDONLY) = 3</tmp/a>`, and its first half where
    /// another thread came between. `None` for the second half, and for a call that failed.
    fn parse(line: &str) -> Option<Call> {
        let (_, call) = line.split_once(' ')?;
        let (name, rest) = call.trim_start().split_once('(')?;
        if line.contains(" = -1 E") || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let mut paths = Vec::new();
        // The folder of a descriptor stands in angle brackets before the path that begins there.
        let mut folder = PathBuf::from("/");
        let mut rest = rest;
        while let Some(at) = rest.find(['<', '"']) {
            let end = if rest[at..].starts_with('<') { '>' } else { '"' };
            let inner = &rest[at + 1..];
            let length = inner.find(end)?;
            match end {
                '>' => folder = PathBuf::from(&inner[..length]),
                _ => paths.push(plain(&folder.join(&inner[..length]))),
            }
            rest = &inner[length + 1..];
            // Of a program the arguments follow, and of each call what it returned.
            if name.starts_with("exec") || rest.trim_start_matches(')').trim_start().starts_with("= ") {
                break;
            }
        }
        // An abstract socket has no place.
        (!paths.is_empty()).then(|| Call { name: name.into(), line: line.into(), paths })
    }

    /// Says what is wrong with it.
    fn wrong(&self, own: &[&Path]) -> Option<String> {
        if self.name.starts_with("exec") {
            let unsafe_one = self.paths.iter().find(|path| !is_device(path) && !own::is_safe_program(path));
            return unsafe_one
                .filter(|path| !own.iter().any(|own| path.starts_with(own)))
                .map(|_| self.line.clone());
        }
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| self.line.contains(flag));
        let opens = ["open", "openat", "openat2"].contains(&self.name.as_str());
        // A file without a name is in no folder.
        if opens && (!writes || self.line.contains("O_TMPFILE")) {
            return None;
        }
        let allowed = |path: &PathBuf| is_device(path) || own.iter().any(|own| path.starts_with(own));
        // The target of a link is text.
        let paths = if self.name.starts_with("symlink") { &self.paths[1..] } else { &self.paths[..] };
        (!paths.iter().all(allowed)).then(|| self.line.clone())
    }
}

/// What holds no content of a file: devices, and the kernel's own names for processes.
fn is_device(path: &Path) -> bool {
    path.starts_with("/proc")
        || ["/dev/null", "/dev/tty", "/dev/ptmx"].iter().any(|device| path == Path::new(device))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => (),
            part => plain.push(part),
        }
    }
    plain
}

/// Tells whether the test can be made here, and prints why not.
fn can(test: &str, root: bool) -> bool {
    let is_root = Path::new("/proc/self").metadata().is_ok_and(|there| there.uid() == 0);
    if root && !is_root {
        println!("skipped: {test}: only root can be another user (sudo make test)");
        return false;
    }
    let traces = Command::new("strace").args(["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]).output();
    let works = traces.is_ok_and(|output| output.status.success());
    if !works {
        println!("skipped: {test}: strace is not here or may not trace (apt install strace)");
    }
    works
}

const RUN: &str = "run fanout --size 64 --samples 2 --sample-time 200us --max-time 20s";

fn all_commands(place: &Place, runtimes: &str, own: &[&Path]) {
    let trace = place.tool.path("trace.json");
    place.holds(&format!("{RUN} {runtimes}"), own);
    place.holds("report last", own);
    place.holds(&format!("report last -o {}/r.html", place.home.display()), own);
    place.holds(&format!("digest {}", trace.display()), own);
}

#[test]
fn nobody_writes_and_starts_nothing_outside_their_own_folders() {
    if !can("nobody_writes_and_starts_nothing_outside_their_own_folders", true) {
        return;
    }
    let place = Place::new(Some(NOBODY));
    let home = place.home.clone();
    all_commands(&place.with(&[("HOME", &home)]), "--runtime tokio --runtime threads --runtime asyncio", &[]);
}

#[test]
fn a_user_writes_and_starts_nothing_outside_their_own_folders() {
    if !can("a_user_writes_and_starts_nothing_outside_their_own_folders", false) {
        return;
    }
    let place = Place::new(None);
    let home = place.home.clone();
    all_commands(&place.with(&[("HOME", &home)]), "--runtime tokio --runtime asyncio", &[]);
}

#[test]
fn without_a_home_nothing_is_written_but_what_was_asked_for() {
    if !can("without_a_home_nothing_is_written_but_what_was_asked_for", false) {
        return;
    }
    let place = Place::new(None);
    let (file, trace) = (place.home.join("r.taskscale.jsonl"), place.tool.path("trace.json"));
    place.holds(&format!("{RUN} --runtime tokio --output {}", file.display()), &[]);
    place.holds(&format!("report {}", file.display()), &[]);
    place.holds(&format!("digest {}", trace.display()), &[]);
}

/// Virtual machines leave files in `/tmp` when they are killed, as each probe is that has said what
/// it is, unless they are told not to; so do compilers.
#[test]
fn virtual_machines_and_compilers_leave_nothing_in_the_temporary_folder() {
    let test = "virtual_machines_and_compilers_leave_nothing_in_the_temporary_folder";
    if !can(test, false) {
        return;
    }
    // Java is built under the eyes of strace. .NET takes too long for that, and is built once for
    // all tests.
    let shared = Tool::with_shared_cache();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    for runtime in ["java", "csharp"] {
        let place = Place::new(None);
        let home = place.home.clone();
        let own = if runtime == "java" { home.join("cache") } else { cache.clone() };
        let listed = match runtime {
            "java" => place.tool.run(&["list", runtime]),
            _ => shared.run(&["list", runtime]),
        };
        if !listed.out.contains("ready ") {
            println!(
                "skipped: {test}: {runtime} is not here (taskscale list {runtime} says what to install)"
            );
            continue;
        }
        let place = place.with(&[("HOME", &home), ("XDG_CACHE_HOME", &own)]);
        place.holds(&format!("list {runtime}"), &[&cache]);
    }
}

#[test]
fn a_line_of_strace_is_read() {
    let of = |line: &str| Call::parse(line).map(|call| (call.name, call.paths));
    let one = |name: &str, path: &str| Some((name.to_owned(), vec![PathBuf::from(path)]));
    assert_eq!(of("7 openat(AT_FDCWD</own/a>, \"b/../c\", O_RDWR) = 3</own/a/c>"), one("openat", "/own/a/c"));
    assert_eq!(of("7 unlinkat(5</tmp/x>, \"y\", 0 <unfinished ...>"), one("unlinkat", "/tmp/x/y"));
    assert_eq!(
        of("7 execve(\"/bin/sh\", [\"sh\", \"/tmp/a\"], 0x7 /* 3 vars */) = 0"),
        one("execve", "/bin/sh")
    );
    assert_eq!(of("7 openat(AT_FDCWD</>, \"/tmp/a\", O_RDWR) = -1 ENOENT (No such file)"), None);
    assert_eq!(of("7 <... openat resumed>) = 3</tmp/a>"), None);
    let wrong = |line: &str| Call::parse(line).and_then(|call| call.wrong(&[Path::new("/own/a")])).is_some();
    assert!(wrong("7 openat(AT_FDCWD</>, \"/tmp/a\", O_WRONLY|O_CREAT, 0666) = 3</tmp/a>"));
    assert!(wrong("7 rename(\"/own/a/b\", \"/tmp/c\") = 0"));
    assert!(wrong("7 bind(3<socket:[1]>, {sa_family=AF_UNIX, sun_path=\"/tmp/s\"}, 110) = 0"));
    assert!(!wrong("7 openat(AT_FDCWD</>, \"/tmp/a\", O_RDONLY) = 3</tmp/a>"));
    assert!(!wrong("7 openat(AT_FDCWD</>, \"/tmp\", O_RDWR|O_TMPFILE, 0600) = 3</tmp/#1>"));
    assert!(!wrong("7 rename(\"/own/a/b\", \"/own/a/c\") = 0"));
    assert!(repository().join("SECURITY.md").is_file(), "which says what is held here");
}
