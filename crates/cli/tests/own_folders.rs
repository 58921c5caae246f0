//! Nothing is executed from, or written to, a folder that is not the user's own.
#![allow(clippy::print_stdout, reason = "a case that this machine cannot show is named in the test output")]

mod common;

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use common::{Ran, Tool, honest_go, ran, script};
use sha2::{Digest, Sha256};

/// The user `nobody`, who owns nothing.
const NOBODY: u32 = 65_534;

/// A machine whose Go makes the honest probe of the tests. Its cache holds a planted probe that
/// records whoever starts it.
struct Planted {
    tool: Tool,
    cache: PathBuf,
    started: PathBuf,
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own");
}

impl Planted {
    fn new() -> Self {
        let tool = Tool::new();
        let (cache, started) = (tool.path("planted"), tool.path("started"));
        honest_go(&tool.path("bin/go"), "go9.9", "");
        let planted = Planted { tool, cache, started };
        let built = planted.check(&planted.cache, |_| {});
        assert_eq!(built.status, Some(0), "{built:?}");
        let probe = planted.probe();
        let honest = fs::read_to_string(&probe).expect("built");
        let tells = format!("#!/bin/sh\ntouch {}\n", planted.started.display());
        fs::write(&probe, honest.replacen("#!/bin/sh\n", &tells, 1)).expect("planted");
        // Whoever can write the probe can write its hash and its size too.
        let marker = probe.parent().and_then(Path::parent).expect("a folder").join("built");
        let of = |bytes: &[u8]| -> String {
            let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hash} x {} ", bytes.len())
        };
        let list = fs::read_to_string(&marker).expect("built");
        let forged = list.replace(&of(honest.as_bytes()), &of(&fs::read(&probe).expect("planted")));
        assert_ne!(forged, list, "the probe is in the list");
        fs::write(&marker, forged).expect("planted");
        planted
    }

    /// Returns the path of what was built.
    fn probe(&self) -> PathBuf {
        let mut below = fs::read_dir(self.cache.join("taskscale/probes")).expect("built").flatten();
        let folder = below.find(|entry| entry.path().is_dir()).expect("a folder").path();
        folder.join("out/probe")
    }

    fn command(&self, args: &[&str], cache: &Path) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.tool.command(args);
        command
            .env("PATH", format!("{}:{path}", self.tool.path("bin").display()))
            .env("XDG_CACHE_HOME", cache);
        command
    }

    fn check(&self, cache: &Path, change: impl Fn(&mut Command)) -> Ran {
        let mut command = self.command(&["probe", "check", "--runtime", "go"], cache);
        change(&mut command);
        ran(&mut command)
    }

    /// Asserts that nobody started what was planted, by either command, and that the second one
    /// says `words`.
    #[track_caller]
    fn is_refused(&self, words: &str, change: impl Fn(&mut Command)) {
        let mut list = self.command(&["list", "--runtime", "go"], &self.cache);
        change(&mut list);
        let listed = ran(&mut list);
        let checked = self.check(&self.cache, change);
        assert!(!self.started.exists(), "{words}: what was planted ran: {listed:?} {checked:?}");
        assert_eq!(checked.status, Some(2), "{words}: {checked:?}");
        assert!(checked.err.contains(words), "{words} not in {}", checked.err);
        assert!(checked.err.contains("set XDG_CACHE_HOME to a folder of your own"), "{}", checked.err);
    }
}

#[test]
fn what_was_planted_runs_in_a_folder_of_ones_own() {
    // Without this, the other tests here would show nothing.
    let planted = Planted::new();
    assert_eq!(planted.check(&planted.cache, |_| {}).status, Some(0));
    assert!(planted.started.exists());
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let planted = Planted::new();
    let leaf = planted.probe().parent().and_then(Path::parent).expect("a folder").to_owned();
    for folder in [planted.cache.join("taskscale"), planted.cache.join("taskscale/probes"), leaf] {
        for open in [0o777, 0o770, 0o707] {
            mode(&folder, open);
            planted.is_refused(&format!("{} can be written by others", folder.display()), |_| {});
        }
        mode(&folder, 0o700);
    }
    // The same holds for the folder above: whoever can write there can put another folder in its
    // place.
    mode(&planted.cache, 0o777);
    planted.is_refused("can be written by others", |_| {});
}

#[test]
fn a_cache_that_is_a_link_is_refused() {
    let planted = Planted::new();
    fs::rename(planted.cache.join("taskscale"), planted.tool.path("elsewhere")).expect("moved");
    symlink(planted.tool.path("elsewhere"), planted.cache.join("taskscale")).expect("linked");
    planted.is_refused("is a symbolic link", |_| {});
}

#[test]
fn another_users_cache_is_refused() {
    if !is_root("another_users_cache_is_refused") {
        return;
    }
    let planted = Planted::new();
    for path in [planted.probe(), planted.cache.join("taskscale"), planted.cache.clone()] {
        chown(&path, Some(NOBODY), Some(NOBODY)).expect("root may");
        if path.is_dir() {
            planted.is_refused(&format!("belongs to user {NOBODY}"), |_| {});
        }
    }
}

#[test]
fn the_temporary_folder_is_no_place_for_what_is_executed() {
    let planted = Planted::new();
    let temporary = planted.tool.path("tmp");
    fs::create_dir_all(&temporary).expect("a folder");
    // This is the name that could be guessed.
    fs::rename(planted.cache.join("taskscale"), temporary.join("taskscale-root")).expect("moved");
    let before = names(&temporary);
    let in_there = |command: &mut Command| {
        command.env("TMPDIR", &temporary).env("USER", "root");
    };
    planted.is_refused("/dev/null/cache", |command| {
        in_there(command);
        command.env("XDG_CACHE_HOME", "/dev/null/cache");
    });
    planted.is_refused("neither XDG_CACHE_HOME nor HOME names a folder", |command| {
        in_there(command);
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    });
    assert_eq!(names(&temporary), before, "and nothing is written there");
}

#[test]
fn nothing_is_made_below_a_home_that_is_refused() {
    let planted = Planted::new();
    let home = planted.tool.path("home");
    fs::create_dir_all(&home).expect("a folder");
    mode(&home, 0o777);
    planted.is_refused(&format!("chmod go-w {}", home.display()), |command| {
        command.env_remove("XDG_CACHE_HOME").env("HOME", &home);
    });
    assert_eq!(names(&home), Vec::<String>::new());
}

#[test]
fn a_path_that_means_another_one_in_a_list_is_refused() {
    let planted = Planted::new();
    for name in ["a:b", "a\"b", "a\nb"] {
        let odd = planted.tool.path(name);
        fs::rename(&planted.cache, &odd).expect("moved");
        planted.is_refused("cannot be used", |command| {
            command.env("XDG_CACHE_HOME", &odd);
        });
        fs::rename(&odd, &planted.cache).expect("moved");
    }
}

/// Writes a program that records whoever starts it.
fn trap(path: &Path, started: &Path) {
    script(path, &format!("echo $PWD >> {}\necho javac 25.0.1", started.display()));
}

#[test]
fn a_toolchain_is_searched_neither_in_the_current_folder_nor_where_others_write() {
    let tool = Tool::new();
    let (here, started) = (tool.path("here"), tool.path("started"));
    trap(&here.join("bin/javac"), &started);
    trap(&here.join(".sdkman/candidates/java/25/bin/javac"), &started);
    let list = |java_home: &str, home: &str| {
        let mut command = tool.command(&["list", "--runtime", "java"]);
        command.env("JAVA_HOME", java_home).env("HOME", home).current_dir(&here);
        let ran = ran(&mut command);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        fs::read_to_string(&started).ok()
    };
    for (java_home, home) in [("", ""), (".", "."), ("relative", "relative")] {
        assert_eq!(list(java_home, home), None, "{java_home:?} {home:?}");
    }
    let open = here.join(".sdkman/candidates/java/25/bin");
    mode(&open, 0o777);
    assert_eq!(list("", here.to_str().expect("UTF-8")), None, "where others can put one");
    mode(&open, 0o755);
    assert!(list("", here.to_str().expect("UTF-8")).is_some(), "or this would show nothing");
}

#[test]
fn a_toolchain_is_asked_in_the_root_folder() {
    // rustup takes programs from a rust-toolchain.toml in any folder above the current one.
    let tool = Tool::new();
    let (here, asked) = (tool.path("here"), tool.path("asked"));
    fs::create_dir_all(&here).expect("a folder");
    for (program, runtime) in [
        ("cargo", "tokio+futures-0.3.17"),
        ("go", "go"),
        ("javac", "java"),
        ("dotnet", "csharp"),
        ("ocamlfind", "ocaml"),
    ] {
        trap(&here.join(program), &asked);
        let path = format!("{}:/usr/bin:/bin", here.display());
        let mut command = tool.command(&["list", "--runtime", runtime]);
        command.env("PATH", path).env_remove("JAVA_HOME").current_dir(&here);
        assert_eq!(ran(&mut command).status, Some(0));
        let folders = fs::read_to_string(&asked).expect("it was asked");
        // The build itself happens in our own folder.
        let cache = tool.path("cache");
        let is_right = |folder: &str| folder == "/" || Path::new(folder).starts_with(&cache);
        assert!(folders.starts_with("/\n") && folders.lines().all(is_right), "{program}: {folders}");
        fs::remove_file(&asked).expect("there");
    }
}

#[test]
fn without_a_place_for_the_run_file_nothing_is_measured_and_the_variable_is_named() {
    let tool = Tool::new();
    let temporary = tool.path("tmp");
    fs::create_dir_all(&temporary).expect("a folder");
    let args = ["run", "fanout", "--runtime", "tokio", "--variant", "current_thread/spawn", "--size", "16"];
    let run = |more: &[&str], state: Option<&str>| {
        let mut command = tool.command(&[&args[..], &["--samples", "1"], more].concat());
        command.env("TMPDIR", &temporary).env_remove("HOME").env_remove("XDG_STATE_HOME");
        if let Some(state) = state {
            command.env("XDG_STATE_HOME", state);
        }
        ran(&mut command)
    };
    for (state, words) in
        [(None, "neither XDG_STATE_HOME nor HOME names a folder"), (Some("/dev/null/state"), "/dev/null")]
    {
        let ran = run(&[], state);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        for words in [words, "set XDG_STATE_HOME", "--output FILE"] {
            assert!(ran.err.contains(words), "{words} not in {}", ran.err);
        }
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
    assert_eq!(names(&temporary), Vec::<String>::new());
    let file = tool.path("mine.taskscale.jsonl");
    assert_eq!(run(&["--output", file.to_str().expect("UTF-8")], None).status, Some(0));
}

#[test]
fn a_relative_folder_is_ignored_and_said_to_be_once() {
    let tool = Tool::new();
    let home = tool.path("home");
    fs::create_dir_all(&home).expect("a folder");
    let listed = |state: &str| {
        let mut command = tool.command(&["list", "tokio"]);
        ran(command.env("HOME", &home).env("XDG_STATE_HOME", state).env_remove("XDG_CACHE_HOME"))
    };
    let relative = listed("state");
    let words = relative.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let used = home.join(".local/state/taskscale");
    let said =
        format!("XDG_STATE_HOME is ignored, \"state\" is no absolute path: {} is used", used.display());
    assert_eq!((relative.status, words.matches(&said).count()), (Some(0), 1), "{words}");
    for fine in ["", "/tmp"] {
        assert!(!listed(fine).err.contains("is ignored"), "{fine}");
    }
}

#[test]
fn nobody_measures_in_a_folder_of_their_own_and_in_no_other() {
    if !is_root("nobody_measures_in_a_folder_of_their_own_and_in_no_other") {
        return;
    }
    let tool = Tool::new();
    mode(&tool.path(""), 0o755);
    let (temporary, own) = (tool.path("tmp"), tool.path("own"));
    for (folder, permissions) in [(&temporary, 0o1777), (&own, 0o700)] {
        fs::create_dir_all(folder).expect("a folder");
        mode(folder, permissions);
    }
    chown(&own, Some(NOBODY), Some(NOBODY)).expect("root may");
    // The program is copied to where `nobody` can read it.
    let program = tool.path("taskscale");
    fs::copy(env!("CARGO_BIN_EXE_taskscale"), &program).expect("copied");
    mode(&program, 0o755);
    let run = |home: &Path| {
        let mut command = Command::new(&program);
        command
            .args(["run", "fanout", "--runtime", "tokio", "--variant", "current_thread/spawn"])
            .args(["--size", "16", "--samples", "1", "--sample-time", "200us"])
            .env_clear()
            .env("HOME", home)
            .env("TMPDIR", &temporary)
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY);
        ran(&mut command)
    };
    // The first home is as in /etc/passwd, the second is root's: neither may be written.
    for home in ["/nonexistent", "/root"] {
        let refused = run(Path::new(home));
        assert_eq!(refused.status, Some(2), "{home}: {refused:?}");
        assert!(refused.err.contains("set XDG_STATE_HOME"), "{home}: {}", refused.err);
    }
    let measured = run(&own);
    assert_eq!(measured.status, Some(0), "{measured:?}");
    // A lock that is closed to its owner is named, and not the folder that it stands beside.
    let check = || {
        let mut command = Command::new(&program);
        command
            .args(["probe", "check", "--runtime", "go"])
            .env_clear()
            .env("HOME", &own)
            .env("TMPDIR", &temporary);
        command
            .env("PATH", format!("{}:/usr/bin:/bin", tool.path("bin").display()))
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY);
        ran(&mut command)
    };
    honest_go(&tool.path("bin/go"), "go9.9", "");
    let built = check();
    assert_eq!(built.status, Some(0), "{built:?}");
    let probes = own.join(".cache/taskscale/probes");
    let lock = names(&probes).into_iter().find(|name| name.ends_with(".lock")).expect("a lock");
    fs::remove_dir_all(probes.join(lock.trim_end_matches(".lock"))).expect("removed");
    mode(&probes.join(&lock), 0o000);
    let refused = check();
    let words = format!("remove {}", probes.join(&lock).display());
    assert!(refused.status == Some(2) && refused.err.contains(&words), "{words}: {refused:?}");
    let kept = own.join(".local/state/taskscale/runs");
    assert_eq!((names(&kept).len(), kept.metadata().expect("there").mode() & 0o777), (1, 0o700));
    assert_eq!(names(&temporary), Vec::<String>::new());
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Tells whether files can be given away here, and prints that they cannot.
fn is_root(test: &str) -> bool {
    let root = Path::new("/proc/self").metadata().is_ok_and(|there| there.uid() == 0);
    if !root {
        println!("skipped: {test}: only root can be another user (sudo make test)");
    }
    root
}

#[test]
fn go_counts_its_use_nowhere() {
    let tool = Tool::new();
    let (home, bin) = (tool.path("home"), tool.path("bin/go"));
    fs::create_dir_all(&home).expect("a folder");
    // The Go of this machine, which writes below the home when it is only asked for its version.
    let shared = Tool::with_shared_cache();
    let mut command = shared.command(&["list", "go"]);
    let listed = ran(command.env("HOME", &home).env_remove("XDG_CONFIG_HOME"));
    assert_eq!(listed.status, Some(0), "{listed:?}");
    assert!(!home.join(".config/go").exists(), "{listed:?}");
    // And one that builds only where it is told so.
    honest_go(&bin, "go9.9", "[ \"$TEST_TELEMETRY_DIR\" = /dev/null ] || exit 1");
    let mut command = tool.command(&["probe", "check", "--runtime", "go"]);
    let path = std::env::var("PATH").unwrap_or_default();
    let checked = ran(command.env("PATH", format!("{}:{path}", tool.path("bin").display())));
    assert_eq!(checked.status, Some(0), "{checked:?}");
}
