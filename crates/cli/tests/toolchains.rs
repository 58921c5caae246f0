//! Probes that are built on this machine, as users meet them: first use, second use, and everything
//! that goes wrong. The toolchains here are scripts, so that each of these happens on every machine
//! and at once.

mod common;

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Ran, Tool, honest_go, ran, script};

/// A machine with the toolchains that a test puts there, python3 and the usual small programs.
struct Machine {
    tool: Tool,
    path: String,
}

impl Machine {
    fn new() -> Self {
        let tool = Tool::new();
        let folder = tool.path("bin");
        let python = std::env::split_paths(&std::env::var_os("PATH").expect("PATH"))
            .map(|folder| folder.join("python3"))
            .find(|path| path.is_file())
            .expect("python3");
        let machine = Machine { tool, path: format!("{}:/usr/bin:/bin", folder.display()) };
        machine.program("python3", &format!("exec {} \"$@\"", python.display()));
        machine
    }

    /// Puts a script on the PATH.
    fn program(&self, name: &str, text: &str) {
        script(&self.tool.path("bin").join(name), text);
    }

    /// Writes a Go of that version, which counts its builds. `before` is what it does first in
    /// each.
    fn go(&self, version: &str, before: &str) {
        let builds = self.tool.path("builds").display().to_string();
        honest_go(&self.tool.path("bin/go"), version, &format!("echo build >> {builds}\n{before}"));
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.tool.path("builds")).unwrap_or_default().lines().count()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.tool.command(args);
        command.env("PATH", &self.path).env_remove("JAVA_HOME");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }
}

const CHECK: &[&str] = &["probe", "check", "--runtime", "go"];
const RUN: &[&str] = &[
    "run",
    "fanout",
    "--runtime",
    "go",
    "--size",
    "64",
    "--samples",
    "2",
    "--sample-time",
    "200us",
    "--format",
    "json",
];

#[test]
fn a_probe_is_built_at_first_use_and_kept() {
    let machine = Machine::new();
    machine.go("go9.9", "");
    let of_go = || {
        let listed = machine.run(&["list"]).out;
        let line = listed.lines().find(|line| line.starts_with("  go ")).expect("a line of go");
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(of_go().starts_with("go not built go9.9"), "{}", of_go());
    assert_eq!(machine.builds(), 0, "list builds nothing");
    let first = machine.run(CHECK);
    assert_eq!(first.status, Some(0), "{first:?}");
    assert!(first.err.contains("building the probe of go with go9.9, once"), "{}", first.err);
    let second = machine.run(CHECK);
    assert_eq!((second.status, second.err.as_str()), (Some(0), ""));
    assert_eq!(machine.builds(), 1);
    assert!(of_go().starts_with("go ready"), "{}", of_go());
}

#[test]
fn builds_say_which_of_how_many_they_are() {
    let machine = Machine::new();
    machine.go("go9.9", "");
    let other = machine.tool.path("other/go");
    honest_go(&other, "go9.8", "");
    let id = format!("go@{}", other.display());
    let ran = machine.run(&[&["run", "fanout", "--runtime", "go", "--runtime", &id], &RUN[4..]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for words in ["probe of go with go9.9, once (1 of 2)", "probe of go with go9.8, once (2 of 2)"] {
        assert!(ran.err.contains(words), "{words} not in {}", ran.err);
    }
}

#[test]
fn another_version_of_the_toolchain_builds_anew() {
    let machine = Machine::new();
    for (version, builds) in [("go9.9", 1), ("go9.10", 2), ("go9.9", 2)] {
        machine.go(version, "");
        assert_eq!(machine.run(CHECK).status, Some(0));
        assert_eq!(machine.builds(), builds, "{version}");
    }
}

#[test]
fn a_failed_build_shows_the_compilers_words_and_becomes_skipped_rows() {
    let machine = Machine::new();
    machine.go("go9.9", "echo './main.go:3:5: error: undefined: x' >&2; echo ' | x()' >&2; exit 1");
    let run = machine.run(RUN);
    assert_eq!(run.status, Some(2), "nothing was measured: {run:?}");
    assert!(run.err.contains("undefined: x") && run.err.contains(" | x()"), "{}", run.err);
    let summary = run.json();
    let runtime = &summary["runtimes"][0];
    let missing = runtime.to_string();
    assert!(missing.contains("the probe of go does not build with go9.9: ./main.go:3:5"), "{runtime}");
    assert!(missing.contains("build.log"), "{runtime}");
    // The build is tried again, and succeeds with a toolchain that works.
    machine.go("go9.9", "");
    assert_eq!(machine.run(CHECK).status, Some(0));
}

#[test]
fn without_a_network_the_probe_goes_without_a_package_until_it_is_set_up_again() {
    let machine = Machine::new();
    let no_network =
        "case \"$*\" in *noerrgroup*) ;; *) echo 'dial tcp: error: no such host' >&2; exit 1;; esac";
    machine.go("go9.9", no_network);
    assert_eq!(machine.run(CHECK).status, Some(0));
    assert_eq!((machine.run(CHECK).status, machine.builds()), (Some(0), 2), "kept as it is");
    machine.go("go9.9", "");
    let setup = machine.run(&["setup", "go"]);
    assert_eq!(setup.status, Some(0), "{setup:?}");
    assert_eq!(machine.builds(), 3, "setup completes what is partly there");
    machine.run(&["setup", "go"]);
    assert_eq!(machine.builds(), 3, "and leaves what is whole");
}

#[test]
fn an_old_library_that_cannot_be_fetched_is_skipped_rows_and_asks_for_a_network() {
    let machine = Machine::new();
    let builds = machine.tool.path("builds").display().to_string();
    machine.program(
        "cargo",
        &format!(
            "if [ \"$1\" = --version ]; then echo cargo 9.9.9; exit; fi\n\
             echo \"$PWD $*\" >> {builds}; echo 'error: failed to download futures-util v0.3.17' >&2; exit 101"
        ),
    );
    let mut args = vec!["run", "cliffs", "--runtime", "tokio+futures-0.3.17"];
    args.extend(&RUN[4..]);
    let run = machine.run(&args);
    assert_eq!(run.status, Some(2), "nothing was measured: {run:?}");
    let summary = run.json();
    let missing = &summary["runtimes"][0];
    let (reason, remedy) = (missing["reason"].to_string(), missing["remedy"].to_string());
    assert!(reason.contains("does not build with cargo 9.9.9: error: failed to download"), "{summary}");
    assert!(
        remedy.contains("build.log; cargo fetches") && remedy.contains("is there a network?"),
        "{remedy}"
    );
    let tables: Vec<&str> =
        summary["rows"].as_array().expect("rows").iter().filter_map(|row| row["table"].as_str()).collect();
    assert!(!tables.is_empty() && tables.iter().all(|table| table.starts_with("tokio: ")), "{tables:?}");
    let tried = fs::read_to_string(&builds).expect("builds");
    let tried: Vec<&str> = tried.lines().collect();
    assert_eq!(tried.len(), 2, "with a network, and with what was fetched before: {tried:?}");
    assert!(
        tried.iter().all(|line| {
            line.starts_with("/ build ")
                && line.contains("futures-0.3.17/Cargo.toml")
                && line.contains("--locked")
        }),
        "{tried:?}"
    );
}

#[test]
fn a_missing_or_too_old_toolchain_says_how_to_get_one() {
    let machine = Machine::new();
    machine.program("javac", "echo javac 16.0.2");
    for (runtime, reason, remedy) in [
        ("go@/opt/go1.22", "/opt/go1.22 is not a program on this machine", "install Go"),
        ("swift@/", "/ holds no swiftc", "install Swift"),
        ("csharp@/", "/ holds no dotnet", "install the .NET SDK 10"),
        ("ocaml@/dev", "/dev holds no ocamlfind", "apt install ocaml-nox ocaml-findlib liblwt-ocaml-dev"),
    ] {
        let ran = machine.run(&["probe", "check", "--runtime", runtime]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.err.contains(reason) && ran.err.contains(remedy), "{}", ran.err);
    }
    machine.program("dotnet", "echo 8.0.404");
    let ran = machine.run(&["probe", "check", "--runtime", "fsharp"]);
    assert!(ran.err.contains(".NET SDK 8.0.404") && ran.err.contains("is too old"), "{}", ran.err);
    // The compiler is there and Lwt is not.
    let no_lwt = "if [ \"$1\" = ocamlopt ]; then echo 4.14.1; exit; fi; \
        echo 'ocamlfind: Package `lwt.unix'\\'' not found' >&2; exit 2";
    machine.program("ocamlfind", no_lwt);
    let ran = machine.run(&["probe", "check", "--runtime", "ocaml"]);
    assert!(
        ran.err.contains("Package `lwt.unix' not found") && ran.err.contains("opam install"),
        "{}",
        ran.err
    );
    machine.program("ocamlfind", "echo 4.08.1");
    let ran = machine.run(&["probe", "check", "--runtime", "ocaml"]);
    assert!(ran.err.contains("OCaml 4.08.1") && ran.err.contains("is too old"), "{}", ran.err);
    let old = machine.tool.path("bin/javac").display().to_string();
    let ran = machine.run(&["probe", "check", "--runtime", &format!("java@{old}")]);
    assert!(ran.err.contains("javac 16.0.2") && ran.err.contains("is too old"), "{}", ran.err);
    assert!(ran.err.contains("17 is the oldest") && ran.err.contains("install a JDK of 17"), "{}", ran.err);
}

/// The version is part of what a build is kept under.
#[test]
fn a_probe_of_ocaml_that_was_built_without_a_server_is_built_again_when_cohttp_comes() {
    let machine = Machine::new();
    let findlib = |cohttp: &str| {
        format!(
            "case \"$*\" in 'ocamlopt -version') echo 4.14.1 ;; *cohttp*) {cohttp} ;; *%p*) echo /p ;; *) echo 5.7 ;; esac"
        )
    };
    for (cohttp, version) in
        [("exit 2", "OCaml 4.14.1, Lwt 5.7"), ("echo 6.0", "OCaml 4.14.1, Lwt 5.7, cohttp 6.0")]
    {
        machine.program("ocamlfind", &findlib(cohttp));
        let ran = machine.run(&["list", "ocaml"]);
        let builds = format!("building the probe of ocaml with {version}, once");
        assert!(ran.err.contains(&builds), "{ran:?}");
    }
}

#[test]
fn a_probe_of_cpp_that_was_built_without_a_server_is_built_again_when_boost_comes() {
    let machine = Machine::new();
    for (boost, version) in [("", "g++ 12"), ("echo 107400", "g++ 12, Boost 1.74.0")] {
        let compiler = format!(
            "case \"$*\" in --version) echo g++ 12 ;; *-E*) cat >/dev/null; {boost} ;; *) exit 1 ;; esac"
        );
        machine.program("g++", &compiler);
        let ran = machine.run(&["list", "cpp"]);
        let builds = format!("building the probe of cpp with {version}, once");
        assert!(ran.err.contains(&builds), "{ran:?}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error_that_names_the_variable() {
    let machine = Machine::new();
    machine.go("go9.9", "");
    let ran = ran(machine.command(CHECK).env("XDG_CACHE_HOME", "/dev/null/cache"));
    assert_eq!((ran.status, machine.builds()), (Some(2), 0), "{ran:?}");
    for words in ["/dev/null/cache", "set XDG_CACHE_HOME"] {
        assert!(ran.err.contains(words), "{words} not in {}", ran.err);
    }
}

#[test]
fn an_interrupted_build_leaves_nothing_that_looks_built() {
    let machine = Machine::new();
    let begun = machine.tool.path("begun");
    machine.go("go9.9", &format!("touch {}; sleep 600", begun.display()));
    let mut child =
        machine.command(RUN).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let patience = Instant::now() + Duration::from_secs(600);
    while !begun.exists() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    assert!(said.contains("nothing was measured yet, and there is no run file"), "{said}");
    machine.go("go9.9", "");
    let again = machine.run(CHECK);
    assert_eq!(again.status, Some(0), "{again:?}");
    assert!(again.err.contains("building the probe of go"), "{}", again.err);
}

#[test]
fn two_that_want_the_same_probe_build_it_once() {
    let machine = Machine::new();
    machine.go("go9.9", "sleep 1");
    let mut both: Vec<_> = (0..2)
        .map(|_| machine.command(CHECK).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts"))
        .collect();
    for child in &mut both {
        assert_eq!(child.wait().expect("ended").code(), Some(0));
    }
    assert_eq!(machine.builds(), 1);
}

#[test]
fn a_file_of_the_users_is_built_again_when_it_was_changed() {
    let machine = Machine::new();
    machine.go("go9.9", "");
    let file = machine.tool.path("mine.go").display().to_string();
    fs::write(&file, "package main\n").expect("written");
    let check = ["probe", "check", &*file];
    assert_eq!((machine.run(&check).status, machine.builds()), (Some(0), 1));
    assert_eq!((machine.run(&check).status, machine.builds()), (Some(0), 1));
    fs::write(&file, "package main // changed\n").expect("written");
    assert_eq!((machine.run(&check).status, machine.builds()), (Some(0), 2));
}

#[test]
fn the_smallest_probe_is_never_written_over_a_file() {
    let machine = Machine::new();
    let file = machine.tool.path("mine.py").display().to_string();
    assert_eq!(machine.run(&["new-probe", "python", &file]).status, Some(0));
    assert!(fs::read_to_string(&file).expect("written").contains("taskscale_probe.sdk"));
    let again = machine.run(&["new-probe", "python", &file]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("exists; choose another name"), "{}", again.err);
    let unknown = machine.run(&["new-probe", "cobol"]);
    assert!(unknown.err.contains("there are rust, python, go"), "{}", unknown.err);
    assert!(Path::new(&file).exists());
}

#[test]
fn what_could_not_be_installed_is_not_called_ready() {
    let tool = common::Tool::new();
    let mut setup = tool.command(&["setup", "python"]);
    // Nothing answers at this port, as if there were no network.
    let without = [("PIP_INDEX_URL", "http://127.0.0.1:9/"), ("PIP_RETRIES", "0"), ("PIP_NO_CACHE_DIR", "1")];
    let ran = common::ran(setup.envs(without));
    for package in ["uvloop", "trio", "anyio"] {
        let here = Command::new("python3").args(["-c", &format!("import {package}")]).output();
        let here = here.is_ok_and(|output| output.status.success());
        let line = ran.out.lines().find(|line| line.starts_with(package)).unwrap_or_default();
        assert_eq!(line.contains("ready"), here, "{package}: {ran:?}");
    }
}
