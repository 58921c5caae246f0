//! The real launcher: starts the probes of a run, to be timed or to be counted.

use std::{collections::HashMap, path::PathBuf};

use taskscale_model::missing::Missing;
use taskscale_sys::process::Command;

use crate::{
    counted::CountedProbe,
    fault::Fault,
    link::{Counted, Launcher, Link},
    probe::Probe,
    stamp::Stamp,
};

/// Padding of the environment in bytes. It moves the stack by up to a page, so that no row keeps a
/// lucky alignment.
const PADDING: u64 = 4096;

/// Starts probes by the commands that were found for the runtimes.
#[derive(Debug, Default)]
pub struct ProbeLauncher {
    commands: HashMap<String, (Command, Stamp)>,
    /// The library that counts allocations, or why there is none; absent where nothing is counted.
    counting: Option<Result<PathBuf, Missing>>,
}

impl ProbeLauncher {
    /// A launcher for these runtimes, by the names that rows use.
    pub fn new(commands: impl IntoIterator<Item = (String, Command)>) -> Self {
        let stamped = |(id, command): (String, Command)| {
            let stamp = Stamp::of(&command);
            (id, (command, stamp))
        };
        ProbeLauncher { commands: commands.into_iter().map(stamped).collect(), counting: None }
    }

    /// Also counts: allocations by this library, and system calls with it or without it.
    #[must_use]
    pub fn counting(mut self, library: Result<PathBuf, Missing>) -> Self {
        self.counting = Some(library);
        self
    }

    /// The command of a runtime, if its files are as they were when the run began.
    fn command(&self, runtime: &str) -> Result<&Command, Fault> {
        let Some((command, stamp)) = self.commands.get(runtime) else {
            return Err(Fault::Start { command: runtime.into(), why: "no such runtime".into() });
        };
        match stamp.changed() {
            Some(path) => Err(Fault::Changed { file: path.display().to_string() }),
            None => Ok(command),
        }
    }
}

impl Launcher for ProbeLauncher {
    fn launch(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        let mut command = self.command(runtime)?.clone();
        // Only CPython reads `PYTHONHASHSEED`. Its range is 32 bits.
        command.env.push(("PYTHONHASHSEED".into(), (layout >> 32).to_string()));
        let padding = usize::try_from(layout % PADDING).unwrap_or_default();
        command.env.push(("TASKSCALE_PADDING".into(), "x".repeat(padding)));
        Ok(Box::new(Probe::start(&command)?))
    }

    fn launch_counted(&mut self, runtime: &str) -> Option<Result<Box<dyn Counted>, Fault>> {
        let library = self.counting.as_ref()?;
        let probe = self.command(runtime).and_then(|command| CountedProbe::start(command, library));
        Some(probe.map(|probe| Box::new(probe) as Box<dyn Counted>))
    }
}
