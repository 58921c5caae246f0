//! Completions, typed into real shells and asked for as those ask.
#![allow(clippy::print_stdout, reason = "a shell that this machine lacks is named in the test output")]

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use common::{Ran, Tool, broken, ran, script};

/// A folder with files of every kind, and a home in which one run was taken.
struct Place {
    tool: Tool,
}

impl Place {
    fn new() -> Self {
        let tool = Tool::new();
        let folder = tool.path("here");
        fs::create_dir_all(folder.join("below")).expect("made");
        for name in ["a.json", "b.json.gz", "notes.txt", "old.taskscale.jsonl", "mine.go"] {
            fs::write(folder.join(name), "").expect("written");
        }
        fs::write(folder.join("own.toml"), "schema = \"taskscale.suite/1\"").expect("written");
        fs::write(folder.join("other.toml"), "[package]").expect("written");
        Place { tool }
    }

    /// Answers as the script of bash asks. Toolchains are programs that leave a trace.
    fn ask(&self, words: &[&str]) -> Ran {
        let bin = self.tool.path("bin");
        for name in ["python3", "go", "node", "java", "g++", "swiftc", "cargo", "rustc"] {
            script(&bin.join(name), &format!("touch {}", self.tool.path("started").display()));
        }
        let mut command = self.tool.command(&[]);
        command.env("TASKSCALE_COMPLETE", "bash").env("_CLAP_IFS", " ").env("PATH", &bin);
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).current_dir(self.tool.path("here"));
        ran(command.args(["--", "taskscale"]).args(words))
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        let asked = self.ask(words);
        assert_eq!((asked.status, asked.err.as_str()), (Some(0), ""), "{words:?}");
        asked.out.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Runs a shell in which the command of this build is on the PATH.
    fn shell(&self, program: &str, args: &[&str]) -> Ran {
        let tool = Path::new(env!("CARGO_BIN_EXE_taskscale")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.tool.command(&[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = Command::new(program);
        command.args(args).envs(environment).stdin(Stdio::null()).current_dir(self.tool.path("here"));
        ran(command.env("PATH", format!("{}:{path}", tool.display())))
    }

    /// Types into a shell on a terminal.
    fn typed(&self, line: &str, shell: &[&str]) -> String {
        let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shells/type.py");
        let typed = self.shell("python3", &[&[keys, line], shell].concat());
        assert_eq!(typed.status, Some(0), "{typed:?}");
        typed.out
    }
}

/// Whether a shell is on this machine; says so where it is not.
fn has(shell: &str) -> bool {
    let has = Command::new(shell).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has {
        println!("skipped: completions in {shell}: it is not on this machine (apt install {shell})");
    }
    has
}

#[test]
fn a_word_is_completed_by_what_there_is() {
    let place = Place::new();
    assert_eq!(
        place.words(&["run", ""]),
        [
            "blocking",
            "bytes",
            "cancel",
            "cliffs",
            "context",
            "fanout",
            "granularity",
            "idle",
            "interp",
            "nop",
            "parked",
            "pingpong",
            "quick",
            "scale",
            "spawn-remote",
            "own.toml"
        ]
    );
    assert_eq!(place.words(&["run", "--runtime", "to"]), ["tokio", "tokio+futures-0.3.17"]);
    assert_eq!(
        place.words(&["run", "-r", "smol", "--variant", "e"]),
        [
            "executor/Timer",
            "executor/Timer::after",
            "executor/cancel",
            "executor/channel",
            "executor/inline",
            "executor/local",
            "executor/outside/spawn",
            "executor/spawn",
            "executor/unblock",
            "executor/without"
        ]
    );
    assert_eq!(place.words(&["run", "--probe", ""]), ["mine.go", "below/"]);
    assert_eq!(place.words(&["digest", ""]), ["a.json", "b.json.gz", "below/", "-"]);
    assert_eq!(place.words(&["report", ""]), ["last", "old.taskscale.jsonl", "below/"]);
    assert_eq!(place.words(&["setup", "py"]), ["python"]);
    assert!(place.words(&["list", ""]).contains(&"uvloop".into()));
    assert!(place.words(&["run", "--s"]).contains(&"--sample-time".into()));
    assert!(!place.tool.path("started").exists(), "a toolchain or a probe was started");
}

#[test]
fn probes_that_have_answered_are_known() {
    let place = Place::new();
    // Other runtimes have a variant of that name already, so the own probe is told by its name.
    let loops = |place: &Place| {
        let mut command = place.tool.command(&["--", "taskscale", "run", "--variant", "loop"]);
        ran(command.env("TASKSCALE_COMPLETE", "fish")).out
    };
    assert_eq!(loops(&place), "loop\trayon, smol, threads, tokio\n");
    let run = place.tool.path("r.taskscale.jsonl");
    let run = run.to_str().expect("UTF-8");
    let args = ["run", "fanout", "--quick", "--size", "64", "--samples", "2", "--runtime", "threads"];
    let ran = place.tool.run(&[&args[..], &["--probe", &broken("honest"), "-o", run]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let described = fs::read_dir(place.tool.path("cache/taskscale/described")).expect("kept");
    assert_eq!(described.count(), 2);
    assert_eq!(loops(&place), "loop\tbroken, rayon, smol, threads, tokio\n");
    assert!(place.words(&["report", run, "--runtime", ""]).contains(&"threads".into()));
    assert!(place.words(&["report", run, "--runtime", "threads", "--variant", ""]).contains(&"scope".into()));
}

#[test]
fn nonsense_is_answered_in_silence() {
    let place = Place::new();
    for words in
        [&["no-such-command", ""][..], &["run", "--no-such-flag", ""], &["run", "--size", "x", "\u{7f}"]]
    {
        let asked = place.ask(words);
        assert_eq!((asked.status, asked.err.as_str()), (Some(0), ""), "{words:?}");
    }
    for (index, words) in
        [("99", &["--", "taskscale"][..]), ("x", &["--"]), ("0", &[]), ("1", &["--", "", ""])]
    {
        let mut command = place.tool.command(words);
        let asked = ran(command.env("TASKSCALE_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", index));
        assert_eq!((asked.status, asked.err.as_str()), (Some(0), ""), "{index} {words:?}");
    }
    let asked = ran(place.tool.command(&["list"]).env("TASKSCALE_COMPLETE", "csh"));
    assert_eq!(asked.status, Some(2));
    assert!(asked.err.contains("it is one of bash, elvish, fish, powershell, zsh"), "{asked:?}");
}

/// 5 ms in an unoptimised build; 100 ms is what a typist does not notice.
#[test]
fn an_answer_takes_less_than_a_tenth_of_a_second_of_cpu() {
    let watch = "import os, sys\n\
        pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n\
        used = os.wait4(pid, 0)[2]\n\
        sys.exit(f'{used.ru_utime + used.ru_stime} s of CPU' if used.ru_utime + used.ru_stime > 0.1 else 0)";
    for words in [&["run", ""][..], &["run", "--variant", ""], &["run", "--runtime", ""], &["digest", ""]] {
        let mut command = Command::new("python3");
        command.args(["-c", watch, env!("CARGO_BIN_EXE_taskscale"), "--", "taskscale"]).args(words);
        command.env("TASKSCALE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        let asked = ran(&mut command);
        assert!(asked.status == Some(0) && !asked.out.is_empty(), "{words:?}: {asked:?}");
    }
}

#[test]
fn bash_completes_at_the_tab_key() {
    let place = Place::new();
    let rc = place.tool.path("rc");
    let quiet =
        "bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'";
    let text = format!("PS1='ready> '; {quiet}; eval \"$(taskscale completions bash)\"\n");
    fs::write(&rc, text).expect("written");
    let bash = ["bash", "--noprofile", "--rcfile", rc.to_str().expect("UTF-8"), "-i"];
    let once = place.typed("taskscale run gra^I", &bash);
    assert!(once.contains("run granularity "), "{once}");
    let all = place.typed("taskscale run --runtime ^I^I", &bash);
    assert!(all.contains("uvloop") && all.contains("taskflow") && !all.contains("a.json"), "{all}");
    let equals = place.typed("taskscale run --runtime=ray^I", &bash);
    assert!(equals.contains("--runtime=rayon"), "{equals}");
    let toolchain = place.typed("taskscale run x:y --against a@b --format=md --runtime ta^I", &bash);
    assert!(toolchain.contains("--runtime taskflow "), "{toolchain}");
    let gone = place.typed("PATH=/nowhere\rtaskscale run f^I", &bash);
    assert!(!gone.contains("not found"), "{gone}");
}

#[test]
fn zsh_completes_at_the_first_tab() {
    let place = Place::new();
    if !has("zsh") {
        return;
    }
    let folder = place.tool.path("site-functions");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("_taskscale"), place.tool.run(&["completions", "zsh"]).out).expect("written");
    let begin = |how: &str| {
        let text =
            format!("autoload -Uz compinit; {how}\nPROMPT='ready> '; unsetopt beep zle_bracketed_paste\n");
        fs::write(place.tool.path(".zshrc"), text).expect("written");
    };
    let zsh = format!("ZDOTDIR={}", place.tool.path("").display());
    let zsh = ["env", &zsh, "zsh", "-d", "-i"];
    begin(&format!("fpath=({} $fpath); compinit -u -D", folder.display()));
    let loaded = place.typed("taskscale run gra^I", &zsh);
    assert!(loaded.contains("granularity"), "{loaded}");
    begin("compinit -u -D; eval \"$(taskscale completions zsh)\"");
    let evaluated = place.typed("taskscale digest a^I", &zsh);
    assert!(evaluated.contains("a.json"), "{evaluated}");
}

#[test]
fn fish_completes() {
    let place = Place::new();
    if !has("fish") {
        return;
    }
    let ask = |line: &str| {
        let asked = format!("taskscale completions fish | source; complete -C {line:?}");
        place.shell("fish", &["--no-config", "-c", &asked]).out
    };
    assert!(ask("taskscale run gra").contains("granularity\t"), "{}", ask("taskscale run gra"));
    assert_eq!(ask("taskscale digest a"), "a.json\n");
}
