//! What is kept in the cache and damaged, or does not work any more, is built anew, once; and a
//! wait for another process that builds is told and can be ended.

mod common;

use std::{
    fs,
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Ran, Tool, broken, honest_go, ran, script};

/// Time for what a busy machine may take long for.
const PLENTY: Duration = Duration::from_secs(120);

/// A machine with a Go that notes each build and makes the honest probe of the tests.
struct Machine {
    tool: Tool,
}

impl Machine {
    /// With a probe that is built already.
    fn new() -> Self {
        let machine = Machine { tool: Tool::new() };
        let builds = machine.tool.path("builds");
        honest_go(&machine.tool.path("bin/go"), "go9.9", &format!("echo >> {}", builds.display()));
        machine.is_ready();
        assert_eq!(machine.builds(), 1);
        machine
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.tool.command(args);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.tool.path("bin").display()));
        command
    }

    fn list(&self) -> Ran {
        let ran = ran(&mut self.command(&["list", "--runtime", "go"]));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        ran
    }

    #[track_caller]
    fn is_ready(&self) -> Ran {
        let ran = self.list();
        assert!(ran.out.contains("ready "), "{ran:?}");
        ran
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.tool.path("builds")).unwrap_or_default().lines().count()
    }

    /// The folder of the probe.
    fn folder(&self) -> PathBuf {
        let below = fs::read_dir(self.tool.path("cache/taskscale/probes")).expect("built").flatten();
        below.map(|entry| entry.path()).find(|path| path.is_dir()).expect("a folder")
    }

    /// Asserts that the next command says `words` and builds once, and that the one behind it does
    /// neither.
    #[track_caller]
    fn heals(&self, words: &str) {
        let before = self.builds();
        let healed = self.is_ready();
        assert!(healed.err.contains(words), "{words} not in {}", healed.err);
        assert!(healed.err.contains("it is made anew"), "{}", healed.err);
        assert_eq!(self.builds(), before + 1, "{words}");
        let after = self.is_ready();
        assert!(!after.err.contains("anew"), "{}", after.err);
        assert_eq!(self.builds(), before + 1, "{words}: built once");
    }
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_flipped_byte_is_found() {
    let machine = Machine::new();
    flip(&machine.folder().join("out/probe"));
    machine.heals("the probe of go in the cache is damaged: out/probe is not what was built");
    flip(&machine.folder().join("src/sdk/serve.go"));
    machine.heals("src/sdk/serve.go is not what was built");
}

#[test]
fn a_deleted_file_and_a_deleted_folder_are_found() {
    let machine = Machine::new();
    fs::remove_file(machine.folder().join("out/probe")).expect("removed");
    machine.heals("out/probe is not there");
    fs::remove_dir_all(machine.folder().join("src")).expect("removed");
    machine.heals("a folder of it is not there");
    fs::remove_dir_all(machine.folder().join("out")).expect("removed");
    fs::write(machine.folder().join("out"), "no folder").expect("written");
    machine.heals("a folder of it is not there");
}

#[test]
fn what_stands_in_the_place_of_the_folder_is_removed_and_not_what_it_leads_to() {
    let machine = Machine::new();
    let folder = machine.folder();
    let elsewhere = machine.tool.path("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    fs::write(elsewhere.join("kept"), "mine").expect("written");
    for (target, words) in
        [(Some(&*elsewhere), "symbolic link"), (Some(Path::new("nowhere")), "link"), (None, "not a folder")]
    {
        fs::remove_dir_all(&folder).expect("removed");
        match target {
            Some(target) => symlink(target, &folder).expect("linked"),
            None => fs::write(&folder, "no folder").expect("written"),
        }
        machine.heals(words);
        assert!(folder.symlink_metadata().expect("there").is_dir());
        assert_eq!(fs::read_dir(&elsewhere).expect("there").count(), 1, "nothing is built elsewhere");
    }
    assert_eq!(fs::read_to_string(elsewhere.join("kept")).expect("there"), "mine");
}

#[test]
fn a_marker_that_is_cut_is_found() {
    let machine = Machine::new();
    let marker = machine.folder().join("built");
    let whole = fs::read(&marker).expect("there");
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&marker, &whole[..length]).expect("cut");
        machine.heals("its list of files is cut");
        assert_eq!(fs::read(&marker).expect("there"), whole, "cut at {length}");
    }
}

#[test]
fn what_stands_in_the_place_of_a_file_is_never_opened_and_is_replaced() {
    let machine = Machine::new();
    for name in ["built", "build.log", "out"] {
        let path = machine.folder().join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("removed");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo starts");
        assert!(made.success());
        match name {
            // Nobody looks at an old log.
            "build.log" => _ = machine.is_ready(),
            "built" => machine.heals("its list of files cannot be read (it is not a file)"),
            _ => machine.heals("a folder of it is not there"),
        }
    }
    let marker = machine.folder().join("built");
    fs::remove_file(&marker).expect("removed");
    fs::create_dir_all(marker.join("below")).expect("made");
    machine.heals("its list of files cannot be read (it is not a file)");
    assert!(marker.is_file());
}

#[test]
fn files_for_an_interpreter_are_laid_anew() {
    let tool = Tool::new();
    let list = || {
        let ran = tool.run(&["list", "--runtime", "asyncio"]);
        assert!(ran.out.contains("ready "), "{ran:?}");
        ran.err
    };
    list();
    let below = fs::read_dir(tool.path("cache/taskscale/probes")).expect("laid").flatten();
    let folder = below.map(|entry| entry.path()).find(|path| path.is_dir()).expect("a folder");
    let file = folder.join("src/taskscale_probe/__main__.py");
    let before = fs::read(&file).expect("there");
    flip(&file);
    let said = list();
    assert!(said.contains("src/taskscale_probe/__main__.py is not what was built"), "{said}");
    assert_eq!(fs::read(&file).expect("there"), before);
    assert!(!list().contains("anew"));
    let planted = folder.join("src/taskscale_probe/json.py");
    fs::write(&planted, "raise SystemExit").expect("written");
    let said = list();
    assert!(said.contains("src/taskscale_probe/json.py was not built"), "{said}");
    assert!(!planted.exists() && !list().contains("anew"));
}

/// A Go that builds a probe which breaks the rule that the file `mode` names, or does so later
/// where `late` is set.
fn go_of_mode(machine: &Machine, late: bool) {
    let (probe, mode) = (broken(""), machine.tool.path("mode"));
    let read = if late { "\\$(cat MODE)" } else { "$(cat MODE)" };
    let words = format!("{probe}{read}").replace("MODE", &mode.display().to_string());
    let builds = machine.tool.path("builds");
    script(
        &machine.tool.path("bin/go"),
        &format!(
            "if [ \"$1\" = version ]; then echo go version go9.9 linux/amd64; exit; fi\n\
             echo >> {}\n\
             while [ \"$1\" != -o ]; do shift; done\n\
             echo \"#!/bin/sh\nexec {words}\" > \"$2\"; chmod +x \"$2\"",
            builds.display()
        ),
    );
}

#[test]
fn a_kept_probe_that_answers_wrongly_is_built_anew_once() {
    let machine = Machine::new();
    // The probe of the first build speaks another protocol, as one that was built against what
    // is another by now.
    go_of_mode(&machine, false);
    fs::write(machine.tool.path("mode"), "protocol-2").expect("written");
    fs::remove_dir_all(machine.folder()).expect("removed");
    let ran = machine.list();
    assert!(ran.out.contains("speaks protocol 2") && !ran.err.contains("anew"), "just built: {ran:?}");
    assert_eq!(machine.builds(), 2);
    fs::write(machine.tool.path("mode"), "honest").expect("written");
    machine.heals("the probe of go in the cache does not work: speaks protocol 2");
}

#[test]
fn a_probe_that_no_build_mends_is_not_built_again_and_again() {
    let machine = Machine::new();
    go_of_mode(&machine, true);
    let mode = |mode: &str| fs::write(machine.tool.path("mode"), mode).expect("written");
    mode("honest");
    fs::remove_dir_all(machine.folder()).expect("removed");
    machine.is_ready();
    assert_eq!(machine.builds(), 2);
    mode("protocol-2");
    for builds in [3, 3, 3] {
        let ran = machine.list();
        assert!(ran.out.contains("speaks protocol 2"), "{ran:?}");
        assert_eq!(machine.builds(), builds);
    }
    // Once it has worked, it is mended again.
    mode("honest");
    machine.is_ready();
    mode("protocol-2");
    assert!(machine.list().err.contains("it is made anew"));
    assert_eq!(machine.builds(), 4);
}

/// Starts a run that has to wait for this process, and returns it with what it said by then.
fn waiting(machine: &Machine, lock: &fs::File) -> (std::process::Child, String) {
    lock.set_len(0).expect("ours");
    (&*lock).write_all(std::process::id().to_string().as_bytes()).expect("ours");
    let args = ["run", "fanout", "--runtime", "go", "--size", "64", "--samples", "1"];
    let path = machine.tool.path("said");
    let words = fs::File::create(&path).expect("a file");
    let mut child = machine.command(&args).stdout(Stdio::piped()).stderr(words).spawn().expect("starts");
    let began = Instant::now();
    loop {
        let said = fs::read_to_string(&path).expect("there");
        if said.contains("Ctrl-C") {
            return (child, said.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if began.elapsed() >= PLENTY || child.try_wait().expect("a child").is_some() {
            child.kill().expect("ours");
            child.wait().expect("ended");
            panic!("it does not wait: {said}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_wait_for_another_build_is_told_and_ctrl_c_ends_it() {
    let machine = Machine::new();
    fs::remove_dir_all(machine.folder().join("out")).expect("removed");
    let mut beside = machine.folder().into_os_string();
    beside.push(".lock");
    let lock = fs::File::options().append(true).open(beside).expect("there");
    lock.lock().expect("ours");
    let (mut child, said) = waiting(&machine, &lock);
    let words =
        format!("waiting for another taskscale that builds the probe of go (pid {})", std::process::id());
    assert!(said.contains(&words), "{said}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        assert!(began.elapsed() < PLENTY, "it goes on waiting");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    assert_eq!(machine.builds(), 1);

    // The other is done: it goes on by itself.
    let (child, _) = waiting(&machine, &lock);
    drop(lock);
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.builds(), 2);
}

#[test]
fn a_lock_that_is_no_file_is_named_with_what_to_do() {
    let machine = Machine::new();
    let folder = machine.folder();
    let lock = folder.with_file_name(format!("{}.lock", folder.file_name().expect("a name").display()));
    for make in ["mkdir", "mkfifo"] {
        fs::remove_dir_all(&folder).ok();
        let gone = if lock.is_dir() { fs::remove_dir(&lock) } else { fs::remove_file(&lock) };
        gone.expect("there");
        assert!(Command::new(make).arg(&lock).status().expect("starts").success());
        let ran = ran(&mut machine.command(&["probe", "check", "--runtime", "go"]));
        let words = format!("remove {}", lock.display());
        assert!(ran.status == Some(2) && ran.err.contains(&words), "{make}: {words}: {ran:?}");
    }
}
