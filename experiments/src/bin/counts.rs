//! Programs of seven languages that make a known number of allocations and system calls, and what
//! is counted of them: 2k turns less k, over k, three times in one process.
//! `cargo run --release -p taskscale-experiments --bin counts`, as root for the tracepoint.

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::{path::Path, process::Command as Builder};

use anyhow::Context;
use taskscale_experiments::known::{compile, is_absent, must};
use taskscale_sys::{
    clock::monotonic_ns,
    counts::{
        Wanted,
        allocations::{Page, SOURCE, VARIABLE},
        simulated::Simulated,
        traced::Calls,
        usage,
    },
    process::{Child, Command},
};

/// Turns of a request.
const K: u64 = 10_000;
const PATIENCE_NS: u64 = 120_000_000_000;

const CALLS: Wanted = Wanted { syscalls: true, traced: false, instructions: false };

/// A language, and its program once it is built.
type Language = (&'static str, fn(&Path, &Path) -> anyhow::Result<Command>);

const LANGUAGES: [Language; 7] = [
    ("C", |here, out| {
        let program = compile(&here.join("known.c"), &out.join("c"), &["-O2"])?;
        Ok(Command::new(program.to_string_lossy(), [""; 0]))
    }),
    ("Rust", |here, out| {
        must(Builder::new("rustc").arg("-O").arg(here.join("known.rs")).arg("-o").arg(out.join("rust")))?;
        Ok(Command::new(out.join("rust").to_string_lossy(), [""; 0]))
    }),
    ("Python", |here, _| {
        let mut command = Command::new("python3", [here.join("known.py").to_string_lossy()]);
        command.env.push(("PYTHONMALLOC".into(), "malloc".into()));
        command.env.push(("PYTHONHASHSEED".into(), "0".into()));
        Ok(command)
    }),
    ("Go", |here, out| {
        must(Builder::new("go").args(["build", "-o"]).arg(out.join("go")).arg(here.join("known.go")))?;
        Ok(Command::new(out.join("go").to_string_lossy(), [""; 0]))
    }),
    ("Java", |here, out| {
        must(Builder::new("javac").arg("-d").arg(out).arg(here.join("Known.java")))?;
        Ok(Command::new("java", ["-cp".into(), out.to_string_lossy(), "Known".into()]))
    }),
    ("Node", |here, _| Ok(Command::new("node", [here.join("known.js").to_string_lossy()]))),
    (".NET", |here, out| {
        // Its build writes beside the project.
        let folder = out.join("net");
        std::fs::create_dir(&folder)?;
        for name in ["Known.cs", "known.csproj"] {
            std::fs::copy(here.join(name), folder.join(name))?;
        }
        let words =
            ["build", "-c", "Release", "-o", "built", "-nodeReuse:false", "-p:UseSharedCompilation=false"];
        must(Builder::new("dotnet").args(words).current_dir(&folder))?;
        Ok(Command::new("dotnet", [folder.join("built/known.dll").to_string_lossy()]))
    }),
];

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts/known");
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("allocations.c");
    std::fs::write(&source, SOURCE)?;
    let flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"];
    let library = compile(&source, &folder.path().join("allocations.so"), &flags)?;
    for (name, build) in LANGUAGES {
        let command = match build(&here, folder.path()) {
            Err(error) if is_absent(&error) => {
                println!("{name}: not installed: {error}");
                continue;
            }
            command => command.with_context(|| format!("the program in {name}"))?,
        };
        let with = |mode: &str| {
            let mut command = command.clone();
            command.args.push(mode.into());
            command
        };
        by_tracepoint(name, &with("calls"))?;
        by_tracer(name, &with("calls"))?;
        if name == "C" {
            cost(&with("calls"))?;
        }
        if ["C", "Rust", "Python"].contains(&name) {
            by_library(name, with("allocations"), &library)?;
        }
        by_stop(name, &with("calls"))?;
        // Java, Node and .NET compile their programs as they run.
        if ["C", "Rust", "Python", "Go"].contains(&name) {
            by_valgrind(name, &with("calls"))?;
        }
    }
    Ok(())
}

fn ask(child: &mut Child, turns: u64) -> anyhow::Result<()> {
    let deadline_ns = monotonic_ns() + PATIENCE_NS;
    child.send_line(turns.to_string().as_bytes(), deadline_ns)?;
    let line = child.read_line(deadline_ns).with_context(|| child.stderr_tail())?;
    anyhow::ensure!(line == b"done", "{}", String::from_utf8_lossy(&line));
    Ok(())
}

/// What 2k turns count more than k, a turn, three times.
fn by_turn(
    child: &mut Child,
    mut count: impl FnMut(&Child) -> anyhow::Result<u64>,
) -> anyhow::Result<String> {
    ask(child, 2 * K)?;
    let mut asked = |turns: u64| -> anyhow::Result<f64> {
        let before = count(child)?;
        ask(child, turns)?;
        Ok((count(child)? - before) as f64)
    };
    let mut told = Vec::new();
    for _ in 0..3 {
        let once = asked(K)?;
        told.push(format!("{:.4}", (asked(2 * K)? - once) / K as f64));
    }
    Ok(told.join(" "))
}

fn by_tracepoint(name: &str, command: &Command) -> anyhow::Result<()> {
    let (mut child, counters) = Child::spawn_wanted(command, CALLS)?;
    match counters.syscalls.context("they were wanted")? {
        Ok(counter) => {
            println!("{name}: calls by tracepoint: {}", by_turn(&mut child, |_| Ok(counter.read()?))?);
        }
        Err(missing) => println!("{name}: calls by tracepoint: not counted: {missing}"),
    }
    Ok(())
}

fn by_tracer(name: &str, command: &Command) -> anyhow::Result<()> {
    let wanted = Wanted { traced: true, ..Wanted::default() };
    let (mut child, counters) = Child::spawn_wanted(command, wanted)?;
    match counters.traced.context("it was wanted")? {
        Ok(counter) => {
            let told = by_turn(&mut child, |_| Ok(counter.read().total()))?;
            let before = counter.read();
            ask(&mut child, K)?;
            println!("{name}: calls by tracer:     {told}; {}", words(&counter.read().since(&before)));
            let exit = child.end(PATIENCE_NS).map(|exit| exit.to_string());
            println!("{name}: ended with {}", exit.as_deref().unwrap_or("force"));
        }
        Err(missing) => println!("{name}: calls by tracer: not counted: {missing}"),
    }
    Ok(())
}

/// The most frequent of a request of k turns.
fn words(calls: &Calls) -> String {
    let top = calls.top(5).into_iter().map(|(name, count)| format!("{count} {name}"));
    format!("{K} turns: {}", top.collect::<Vec<_>>().join(", "))
}

/// What a system call takes by the wall clock: the median of 11 requests each, in turns.
fn cost(command: &Command) -> anyhow::Result<()> {
    let mut plain = Child::spawn(command)?;
    let (mut counted, _counters) = Child::spawn_wanted(command, CALLS)?;
    let wanted = Wanted { traced: true, ..Wanted::default() };
    let (mut traced, _counters) = Child::spawn_wanted(command, wanted)?;
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..11 {
        for (child, times) in [&mut plain, &mut counted, &mut traced].into_iter().zip(&mut times) {
            let begin = monotonic_ns();
            ask(child, K)?;
            times.push((monotonic_ns() - begin) / K);
        }
    }
    let [plain, counted, traced] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!("C: a call takes {plain} ns, {counted} with the tracepoint, {traced} with the tracer");
    Ok(())
}

fn by_library(name: &str, mut command: Command, library: &Path) -> anyhow::Result<()> {
    let page = Page::create()?;
    command.env.push(("LD_PRELOAD".into(), library.to_string_lossy().into_owned()));
    command.env.push((VARIABLE.into(), page.path().to_string_lossy().into_owned()));
    let mut child = Child::spawn(&command)?;
    let told = by_turn(&mut child, |_| Ok(page.read()?.context("the library was not loaded")?.calls()))?;
    println!("{name}: allocations:         {told}");
    Ok(())
}

fn by_valgrind(name: &str, command: &Command) -> anyhow::Result<()> {
    let mut command = command.clone();
    // Callgrind does not bear the signals by which Go preempts.
    command.env.push(("GODEBUG".into(), "asyncpreemptoff=1".into()));
    match Simulated::prepare(&command, &std::env::temp_dir()) {
        Ok(simulated) => {
            let mut child = Child::spawn(simulated.command())?;
            let count = |child: &Child| simulated.read(child).map_err(|missing| anyhow::anyhow!("{missing}"));
            println!("{name}: instructions:        {}", by_turn(&mut child, count)?);
        }
        Err(missing) => println!("{name}: instructions: not counted: {missing}"),
    }
    Ok(())
}

/// A runtime must bear to be stopped between two requests.
fn by_stop(name: &str, command: &Command) -> anyhow::Result<()> {
    let mut child = Child::spawn(command)?;
    ask(&mut child, K)?;
    let before = usage::read(&child)?;
    for _ in 0..20 {
        ask(&mut child, K)?;
        usage::read(&child)?;
    }
    println!("{name}: 20 requests and stops: {:?}", usage::read(&child)?.since(&before));
    Ok(())
}
