//! The program of `known.c`, which does a known number of things.
#![allow(dead_code, reason = "no test uses all of it")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use taskscale_sys::{
    clock::monotonic_ns,
    process::{Child, Command},
};

pub const PATIENCE_NS: u64 = 60_000_000_000;

/// Where a test that runs as another user finds what it must not build.
const BUILT: &str = "TASKSCALE_TEST_BUILT";

/// Builds `source` with `flags` to a file of this name, once. Returns `None` without a C compiler,
/// and prints that nothing was tested.
pub fn compiled(source: &Path, name: &str, flags: &[&str]) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(BUILT) {
        return Some(Path::new(&folder).join(name));
    }
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Two runs of the tests may do this at the same time: each writes a file of its own, which
    // takes its name once it is whole.
    let own = to.with_extension(std::process::id().to_string());
    let mut command = std::process::Command::new("cc");
    let command = command.args(flags).arg(source).arg("-o").arg(&own).args(["-ldl", "-pthread"]);
    match command.output() {
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && words.is_empty(), "{words}");
            std::fs::rename(own, &to).expect("renamed");
            Some(to)
        }
        Err(error) => {
            eprintln!("no C compiler, so nothing is tested: {error}");
            None
        }
    }
}

/// The program.
pub fn known() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known/known.c");
    BUILT.get_or_init(|| compiled(&source, "known", &["-O2", "-Wall", "-Wextra"])).as_deref()
}

/// The command `known WORDS`.
pub fn command(words: &[&str]) -> Option<Command> {
    Some(Command::new(known()?.to_string_lossy(), words.iter().copied()))
}

/// Sends a line and returns the numbers behind `done`.
pub fn ask(child: &mut Child, line: &str) -> Vec<u64> {
    let deadline_ns = monotonic_ns() + PATIENCE_NS;
    child.send_line(line.as_bytes(), deadline_ns).expect("sent");
    let answer = child.read_line(deadline_ns).expect("an answer");
    let answer = String::from_utf8(answer).expect("text");
    let mut words = answer.split(' ');
    assert_eq!(words.next(), Some("done"), "{answer}");
    words.map(|word| word.parse().expect("a number")).collect()
}

/// Reads until two readings agree, some milliseconds apart: an idle process has then come to wait
/// for its next line.
pub fn settled<T: PartialEq>(read: impl Fn() -> T) -> T {
    let mut last = read();
    for _ in 0..1_000 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let next = read();
        if next == last {
            return next;
        }
        last = next;
    }
    panic!("the process does not come to rest");
}

/// Runs one test of this program once more as the user `nobody`, and holds it to have passed. Says
/// why where that cannot be.
pub fn as_nobody(test: &str) {
    use std::os::unix::process::CommandExt;
    if !std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t0")))
    {
        eprintln!("skipped: {test} as another user, since this is an ordinary user already");
        return;
    }
    let Some(program) = known() else { return };
    // The folder of this repository may be closed to others.
    let folder = tempfile::tempdir().expect("a folder");
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("opened");
    };
    open(folder.path());
    let itself = std::env::current_exe().expect("a path");
    for (from, name) in [(program, "known"), (&itself, "tests")] {
        std::fs::copy(from, folder.path().join(name)).expect("copied");
        open(&folder.path().join(name));
    }
    let mut command = std::process::Command::new(folder.path().join("tests"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(BUILT, folder.path());
    command.current_dir("/").uid(65_534).gid(65_534);
    let output = loop {
        match command.output() {
            // A process that another test has just forked still holds the file open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.expect("it starts"),
        }
    };
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    assert!(!told.contains("nothing is tested"), "{told}");
}
