//! The runtimes that this tool knows by name, and how each is found on this machine.

use anyhow::bail;
use taskscale_bench::{
    fault::Fault,
    plan::Found,
    probe::{HANDSHAKE_NS, Probe},
};
use taskscale_model::{
    missing::Missing,
    run_file::{RuntimeRecord, RuntimeState},
};
use taskscale_sys::process::Command;

use crate::embedded;

/// How a runtime's probe comes to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// Linked into this binary.
    BuiltIn,
    /// Run by a Python interpreter.
    Python,
}

/// Every runtime by name, in the order of the tables.
const KNOWN: &[(&str, Home)] = &[
    ("tokio", Home::BuiltIn),
    ("rayon", Home::BuiltIn),
    ("smol", Home::BuiltIn),
    ("threads", Home::BuiltIn),
    ("asyncio", Home::Python),
    ("uvloop", Home::Python),
    ("trio", Home::Python),
    ("anyio", Home::Python),
];

/// A runtime that was looked for.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// As the user names it.
    pub id: String,
    /// Whether the user named it.
    pub asked: bool,
    /// How its probe is started, or why it cannot be.
    pub command: Result<Command, Missing>,
}

/// The runtimes asked for, all known ones where none is; then the user's own probes.
pub fn candidates(asked: &[String], probes: &[String]) -> anyhow::Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    if asked.is_empty() {
        for (name, home) in KNOWN {
            candidates.push(Candidate {
                id: (*name).into(),
                asked: false,
                command: command(name, *home, None),
            });
        }
    }
    for id in asked {
        candidates.push(named(id)?);
    }
    for command in probes {
        candidates.push(Candidate { id: command.clone(), asked: true, command: Ok(split(command)?) });
    }
    candidates.dedup_by(|a, b| a.id == b.id);
    Ok(candidates)
}

/// The runtime that `id` (`NAME` or `NAME@TOOLCHAIN`) names.
pub fn named(id: &str) -> anyhow::Result<Candidate> {
    let (name, toolchain) = match id.split_once('@') {
        Some((name, toolchain)) => (name, Some(toolchain)),
        None => (id, None),
    };
    let Some((_, home)) = KNOWN.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        bail!("no runtime is named {name:?}; there are {}; your own goes with --probe CMD", known.join(", "));
    };
    if *home == Home::BuiltIn && toolchain.is_some() {
        bail!("{name} is built into taskscale and has no toolchain to choose; say --runtime {name}");
    }
    Ok(Candidate { id: id.into(), asked: true, command: command(name, *home, toolchain) })
}

/// Splits a command as a shell would.
pub fn split(command: &str) -> anyhow::Result<Command> {
    match shlex::split(command).as_deref() {
        Some([program, args @ ..]) => Ok(Command::new(program.clone(), args.to_vec())),
        _ => bail!("not a command: {command:?}; quote it as for a shell: --probe 'python3 my_probe.py'"),
    }
}

fn command(name: &str, home: Home, toolchain: Option<&str>) -> Result<Command, Missing> {
    match home {
        Home::BuiltIn => {
            let binary = std::env::current_exe()
                .map_err(|error| Missing::new(format!("cannot find this program's own file: {error}"), ""))?;
            Ok(Command::new(binary.to_string_lossy(), ["probe", "serve", name]))
        }
        Home::Python => {
            let folder = embedded::python_probe().map_err(|error| Missing::new(format!("{error:#}"), ""))?;
            let folder = folder.to_string_lossy();
            Ok(Command::new(python(toolchain)?, [folder.as_ref(), name]))
        }
    }
}

/// The interpreter: the one asked for, else `python3` or `python` on the PATH.
fn python(toolchain: Option<&str>) -> Result<String, Missing> {
    let remedy = "install Python 3.8 or newer, or name one: --runtime asyncio@/path/to/python3";
    match toolchain {
        Some(asked) if on_path(asked) => Ok(asked.into()),
        Some(asked) => Err(Missing::new(format!("{asked} is not a program on this machine"), remedy)),
        None => ["python3", "python"]
            .into_iter()
            .find(|name| on_path(name))
            .map(str::to_owned)
            .ok_or_else(|| Missing::new("no python3 is on the PATH", remedy)),
    }
}

fn on_path(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A runtime after the handshake.
#[derive(Debug, Clone)]
pub struct Shaken {
    /// For the plan.
    pub found: Found,
    /// For the run file.
    pub record: RuntimeRecord,
    /// For the launcher; absent where it cannot be started.
    pub command: Option<Command>,
}

/// Starts each candidate's probe once and asks what it is. Names that meet are told apart.
pub fn shake_hands(candidates: Vec<Candidate>) -> Vec<Shaken> {
    let mut shaken: Vec<Shaken> = Vec::new();
    for candidate in candidates {
        let mut one = shake_hand(candidate);
        let taken = |id: &str| shaken.iter().any(|other| other.found.id == id);
        if let Some(number) = (2..).find(|number| !taken(&numbered(&one.found.id, *number - 1))) {
            one.found.id = numbered(&one.found.id, number - 1);
            one.record.id = one.found.id.clone();
        }
        shaken.push(one);
    }
    shaken
}

fn numbered(id: &str, number: u64) -> String {
    if number == 1 { id.to_owned() } else { format!("{id}#{number}") }
}

fn shake_hand(candidate: Candidate) -> Shaken {
    let Candidate { id, asked, command } = candidate;
    let line = |command: &Command| std::iter::once(&command.program).chain(&command.args).cloned().collect();
    let described = command.clone().and_then(|command| {
        let described = Probe::start(&command).and_then(|mut probe| probe.describe(HANDSHAKE_NS));
        described.map_err(|fault: Fault| fault.to_missing())
    });
    let is_own = !KNOWN.iter().any(|(name, _)| id.split('@').next() == Some(name));
    // A probe of the user's goes by the name that it gives itself.
    let id = match &described {
        Ok(description) if is_own => description.runtime.name.clone(),
        _ => id,
    };
    let state = match &described {
        Ok(description) => RuntimeState::Ready {
            runtime: description.runtime.clone(),
            clock: description.clock,
            workers: description.workers,
        },
        Err(missing) => RuntimeState::Missing(missing.clone()),
    };
    Shaken {
        record: RuntimeRecord {
            id: id.clone(),
            command: command.as_ref().map(line).unwrap_or_default(),
            state,
        },
        found: Found { id, asked, description: described },
        command: command.ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_say_what_there_is() {
        let error = named("toki").expect_err("unknown").to_string();
        assert!(error.contains("there are tokio, rayon") && error.contains("--probe CMD"), "{error}");
        let error = named("tokio@1.2").expect_err("no toolchain").to_string();
        assert!(error.contains("built into taskscale"), "{error}");
        let missing = named("asyncio@/no/such/python").expect("known").command.expect_err("not there");
        assert_eq!(missing.reason, "/no/such/python is not a program on this machine");
        assert!(split("'open").is_err() && split("").is_err());
    }
}
