//! Everything that can go wrong with a probe. Each fault says what failed and what to do; the row
//! that met it is shown as failed and the run goes on.

use taskscale_model::missing::Missing;

/// What went wrong. The probe is stopped with its process tree for all of these but
/// [`Fault::Refused`] and [`Fault::Unfit`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// No process could be started.
    #[error("could not start {command}: {why}")]
    Start {
        /// The command.
        command: String,
        /// The system's words.
        why: String,
    },
    /// The probe says that its runtime is not on this machine.
    #[error("{0}")]
    NotHere(Missing),
    /// No answer in time.
    #[error("no answer to {asked} within {seconds:.0} s; stopped with its process tree")]
    TimedOut {
        /// The request.
        asked: String,
        /// The limit.
        seconds: f64,
    },
    /// The process ended before it answered.
    #[error("ended ({how}) instead of answering {asked}{}", said(.how, .stderr))]
    Exited {
        /// The request.
        asked: String,
        /// `exit status 3`, `killed by signal 11`.
        how: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// More output than any answer needs.
    #[error("flooded its output instead of answering {asked}")]
    Flooded {
        /// The request.
        asked: String,
    },
    /// Not a message of the protocol.
    #[error("answered {asked} with something that is not protocol 1: {line} ({why})")]
    Junk {
        /// The request.
        asked: String,
        /// The beginning of the line.
        line: String,
        /// The parser's words.
        why: String,
    },
    /// Output before it was asked.
    #[error("spoke out of turn: there was output before {asked} was asked")]
    OutOfTurn {
        /// The request.
        asked: String,
    },
    /// The probe was rebuilt or edited under the tool.
    #[error("{file} changed while it was measured: the samples so far are of another program")]
    Changed {
        /// The file.
        file: String,
    },
    /// Another protocol.
    #[error("speaks protocol {theirs}, this build speaks {ours}")]
    Protocol {
        /// The probe's.
        theirs: u32,
        /// Ours.
        ours: u32,
    },
    /// What does not fit the probe's description is not sent.
    #[error("was not asked {asked}: {}", .why.reason)]
    Unfit {
        /// The request.
        asked: String,
        /// What does not fit, and what to do.
        why: Missing,
    },
    /// The probe answered with an error.
    #[error("refused {asked}: {message}")]
    Refused {
        /// The request.
        asked: String,
        /// The probe's words.
        message: String,
    },
    /// An answer to another question.
    #[error("answered request {got} when {asked} was asked")]
    OtherQuestion {
        /// The `id` it gave.
        got: u64,
        /// The `id` it was given.
        asked: u64,
    },
    /// A wrong answer.
    #[error("the answer is {got}, right is {right} (size {size}, {iterations} iterations, seed {seed})")]
    WrongAnswer {
        /// What it said.
        got: u64,
        /// What it should have said.
        right: u64,
        /// Of the request.
        size: u64,
        /// Of the request.
        iterations: u64,
        /// Of the request.
        seed: u64,
    },
    /// A time that cannot be.
    #[error("reports a time that cannot be: {0}")]
    ImpossibleTime(String),
}

fn said(how: &str, stderr: &str) -> String {
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    // By a shell's convention 126 and 127 mean that a command could not be run, and the first line
    // says which one; else the last line is where a traceback or a panic says what happened.
    let not_run = how == "exit status 126" || how == "exit status 127";
    match if not_run { lines.next() } else { lines.next_back() } {
        None => String::new(),
        Some(line) => format!("; it said: {}", line.trim()),
    }
}

impl Fault {
    /// A probe whose time does not grow with `iterations`.
    pub fn does_not_repeat(iterations: u64, wall_ns: u64) -> Self {
        Fault::ImpossibleTime(format!("{wall_ns} ns for {iterations} iterations: the work is not repeated"))
    }

    /// Whether the process can still be used.
    pub fn leaves_probe_alive(&self) -> bool {
        matches!(self, Fault::Refused { .. } | Fault::Unfit { .. })
    }

    /// The fault as a row shows it.
    pub fn to_missing(&self) -> Missing {
        let remedy = match self {
            Fault::NotHere(missing) => return missing.clone(),
            Fault::Unfit { why, .. } => &why.remedy,
            Fault::Start { .. } => "check that the command exists and may be executed",
            Fault::TimedOut { .. } => {
                "raise --timeout if the work is really that long, else look for a deadlock"
            }
            Fault::Changed { .. } => "run again, and build or edit the probe before or after a run",
            Fault::Exited { .. } => "run the probe by hand: probes/PROTOCOL.md shows what to type",
            Fault::Flooded { .. } | Fault::Junk { .. } | Fault::OutOfTurn { .. } => {
                "print nothing but replies to standard output; `taskscale probe check` shows which request it was"
            }
            Fault::Protocol { .. } => "use a probe and a taskscale of the same protocol",
            Fault::Refused { .. } => "see the probe's README for what it can do",
            Fault::OtherQuestion { .. } | Fault::WrongAnswer { .. } => {
                "the variant does not do the work it is asked for; `taskscale probe check` shows the smallest case"
            }
            Fault::ImpossibleTime(_) => {
                "report nanoseconds of a monotonic clock and of the process CPU clock"
            }
        };
        Missing::new(self.to_string(), remedy)
    }
}
