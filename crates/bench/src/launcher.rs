//! The real launcher: starts the probes of a run, to be timed or to be counted.

use std::{collections::HashMap, path::PathBuf};

use taskscale_model::{load::Pinned, metric::Metric, missing::Missing};
use taskscale_sys::{affinity::Kept, process::Command};

use crate::{
    bytes,
    counted::CountedProbe,
    fault::Fault,
    link::{Counted, Launcher, Link},
    pass::Pass,
    probe::Probe,
    served,
    stamp::Stamp,
};

/// Padding of the environment in bytes. It moves the stack by up to a page, so that no row keeps a
/// lucky alignment.
const PADDING: u64 = 4096;

/// What is counted, and with what.
#[derive(Debug, Default)]
pub struct Counting {
    /// No times: these are always taken.
    pub metrics: Vec<Metric>,
    /// Whether they are counted for growth alone, and not of every row.
    pub is_for_growth: bool,
    /// The library that counts allocations, or why there is none; absent where none is asked for.
    pub allocations: Option<Result<PathBuf, Missing>>,
    /// The library that counts references to Swift's objects.
    pub references: Option<Result<PathBuf, Missing>>,
    /// A folder of the user's own for what valgrind writes, or why there is none; absent where it
    /// is not asked for.
    pub scratch: Option<Result<PathBuf, Missing>>,
}

/// Starts probes by the commands that were found for the runtimes.
#[derive(Debug, Default)]
pub struct ProbeLauncher {
    commands: HashMap<String, (Command, Stamp)>,
    counting: Counting,
    /// Variables that every probe sees.
    environment: Vec<(String, String)>,
    /// The process that serves what probes read over HTTP.
    serving: Option<u32>,
    /// The CPUs of servers and of the generator, where they can have one each.
    cpus: Option<Pinned>,
}

impl ProbeLauncher {
    /// A launcher for these runtimes, by the names that rows use.
    pub fn new(commands: impl IntoIterator<Item = (String, Command)>) -> Self {
        let stamped = |(id, command): (String, Command)| {
            let stamp = Stamp::of(&command);
            (id, (command, stamp))
        };
        ProbeLauncher {
            commands: commands.into_iter().map(stamped).collect(),
            counting: Counting::default(),
            environment: Vec::new(),
            serving: None,
            cpus: served::cpus(),
        }
    }

    /// Also counts, in processes of their own.
    #[must_use]
    pub fn counting(mut self, counting: Counting) -> Self {
        self.counting = counting;
        self
    }

    /// Whether rows are counted after they were timed.
    pub fn counts_anything(&self) -> bool {
        !self.counts().is_empty()
    }

    /// Whether rows are counted for their growth alone.
    pub fn counts_growth(&self) -> bool {
        self.counting.is_for_growth
    }

    /// Roughly the seconds that counting a row takes, in processes of its own: with an allocator
    /// beside it 2.7 s, under a tracer of system calls or a simulator 14 s (rows of tokio, Node,
    /// asyncio and Java at 2,048 tasks).
    pub fn counting_row_s(&self) -> u64 {
        let is_traced =
            |metric: &Metric| matches!(metric, Metric::Syscalls | Metric::Instructions | Metric::Callgrind);
        let (traced, beside): (Vec<&Metric>, _) =
            self.counting.metrics.iter().partition(|metric| is_traced(metric));
        14 * traced.len() as u64 + if beside.is_empty() { 0 } else { 3 }
    }

    /// Also sets these variables for every probe.
    #[must_use]
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Also reads the CPU time of the process that serves what probes read over HTTP.
    #[must_use]
    pub fn serving(mut self, pid: Option<u32>) -> Self {
        self.serving = pid;
        self
    }

    /// The command of a runtime, if its files are as they were when the run began.
    fn command(&self, runtime: &str) -> Result<Command, Fault> {
        let Some((command, stamp)) = self.commands.get(runtime) else {
            return Err(Fault::Start { command: runtime.into(), why: "no such runtime".into() });
        };
        match stamp.changed() {
            Some(path) => Err(Fault::Changed { file: path.display().to_string() }),
            None => {
                let mut command = command.clone();
                command.env.extend(self.environment.iter().cloned());
                Ok(command)
            }
        }
    }

    /// Starts a probe to be timed.
    fn start(&self, runtime: &str, layout: u64) -> Result<Probe, Fault> {
        let mut command = self.command(runtime)?;
        // Only CPython reads `PYTHONHASHSEED`. Its range is 32 bits.
        command.env.push(("PYTHONHASHSEED".into(), (layout >> 32).to_string()));
        let padding = usize::try_from(layout % PADDING).unwrap_or_default();
        command.env.push(("TASKSCALE_PADDING".into(), "x".repeat(padding)));
        Probe::start(&command)
    }
}

impl Launcher for ProbeLauncher {
    fn launch(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        Ok(Box::new(self.start(runtime, layout)?))
    }

    fn launch_server(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        // What this thread starts inherits its CPU: every thread of the server, from its first
        // instruction on, and what it takes for the number of CPUs.
        let kept = self.cpus.and_then(|cpus| Kept::on(cpus.server));
        let mut probe = self.start(runtime, layout)?;
        probe.pinned = self.cpus.filter(|_| kept.is_some());
        Ok(Box::new(probe))
    }

    fn launch_client(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        let kept = bytes::clients().and_then(|cpus| Kept::on_all(&cpus));
        let mut probe = self.start(runtime, layout)?;
        drop(kept);
        probe.serving = self.serving;
        Ok(Box::new(probe))
    }

    fn counts(&self) -> &[Metric] {
        if self.counting.is_for_growth { &[] } else { &self.counting.metrics }
    }

    fn launch_counted(&mut self, runtime: &str, pass: Pass) -> Result<Box<dyn Counted>, Fault> {
        Ok(Box::new(CountedProbe::start(&self.command(runtime)?, pass, &self.counting)?))
    }
}
