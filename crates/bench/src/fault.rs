//! Everything that can go wrong with a probe. Each fault says what failed and what to do. The row
//! that met it is shown as failed, and the run goes on.

use taskscale_analysis::told::Wrong;
use taskscale_load::Problem;
use taskscale_model::missing::{LONG_OR_STUCK, Missing};

/// What went wrong. The probe is stopped with its process tree for all of these but
/// [`Fault::Refused`] and [`Fault::Unfit`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// No process could be started.
    #[error("could not start {command}: {why}")]
    Start {
        command: String,
        /// The system's message.
        why: String,
    },
    /// The probe says that its runtime is not on this machine.
    #[error("{0}")]
    NotHere(Missing),
    /// The probe did not answer in time.
    #[error("no answer to {asked} within {seconds:.0} s; stopped with its process tree")]
    TimedOut {
        /// The request.
        asked: String,
        /// The limit that it exceeded.
        seconds: f64,
    },
    /// The process ended before it answered.
    #[error("{}", ended(.asked, .how, .stderr, .own.as_deref()))]
    Exited {
        /// The request.
        asked: String,
        /// For example `exit status 3` or `killed by signal 11`.
        how: String,
        /// The end of its standard error.
        stderr: String,
        /// The name of the user's own file.
        own: Option<String>,
    },
    /// The probe wrote more than any answer needs.
    #[error("flooded its output instead of answering {asked}")]
    Flooded {
        /// The request.
        asked: String,
    },
    /// The answer is no message of the protocol.
    #[error("answered {asked} with something that is not protocol 1: {line} ({why})")]
    Junk {
        /// The request.
        asked: String,
        /// The beginning of the line.
        line: String,
        /// The parser's message.
        why: String,
    },
    /// The probe says more than anything needs.
    #[error("says too much: {count} {what}, and {most} are the most")]
    Excess { what: String, count: usize, most: usize },
    /// The probe gives two things the same name.
    #[error("describes {what} {name:?} twice")]
    Twice { what: &'static str, name: String },
    /// The probe wrote something before it was asked.
    #[error("spoke out of turn: there was output before {asked} was asked")]
    OutOfTurn {
        /// The request.
        asked: String,
    },
    /// The probe was rebuilt or edited during the run.
    #[error("{file} changed while it was measured: the samples so far are of another program")]
    Changed {
        /// The path of the file.
        file: String,
    },
    /// The probe speaks another protocol.
    #[error("speaks protocol {theirs}, this build speaks {ours}")]
    Protocol {
        /// The probe's protocol.
        theirs: u32,
        /// The protocol of this build.
        ours: u32,
    },
    /// The request does not fit the probe's description and was not sent.
    #[error("was not asked {asked}: {}", .why.reason)]
    Unfit {
        /// The request.
        asked: String,
        /// What does not fit, and what to do.
        why: Missing,
    },
    /// The probe serves, and its server does not do what it is asked for.
    #[error("the server of {asked}: {problem}")]
    Load {
        /// The request.
        asked: String,
        problem: Problem,
    },
    /// The probe answered with an error.
    #[error("{}", refused(.asked, .message, .own.as_deref()))]
    Refused {
        /// The request.
        asked: String,
        /// The probe's message.
        message: String,
        /// The name of the user's own file.
        own: Option<String>,
    },
    /// The probe answered another request.
    #[error("answered request {got} when {asked} was asked")]
    OtherQuestion {
        /// The `id` that the probe gave.
        got: u64,
        /// The `id` of the request.
        asked: u64,
    },
    /// The answer is wrong.
    #[error("the answer is {got}, right is {right} (size {size}, {iterations} iterations, seed {seed})")]
    WrongAnswer {
        /// The probe's answer.
        got: u64,
        /// The right answer.
        right: u64,
        /// The size of the request.
        size: u64,
        /// The iterations of the request.
        iterations: u64,
        /// The seed of the request.
        seed: u64,
    },
    /// The answer is another than one that was given to the same question.
    #[error(
        "the answer is {got} in {}, {} {first} in {} (size {size}, seed {seed})",
        times(*.iterations), gave(.first_of), times(*.first_iterations)
    )]
    Disagrees {
        /// The probe's answer.
        got: u64,
        /// The iterations of the request.
        iterations: u64,
        /// The answer that was given first.
        first: u64,
        /// The iterations of that request.
        first_iterations: u64,
        /// The row that gave it, where it is another one.
        first_of: Option<String>,
        /// The size of both requests.
        size: u64,
        /// The seed of both requests.
        seed: u64,
    },
    /// The answer is 0, and no rule says that it should be.
    #[error("the answer is 0 at size {size}, which code that does nothing gives too")]
    NoAnswer {
        /// The size of the request.
        size: u64,
    },
    /// An instrumented run counted something else than the work that was asked for.
    #[error("an instrumented run counted {name} {got}, right is {right} (requests: {requests}): {means}")]
    WrongCount {
        /// The name in `extra`.
        name: &'static str,
        /// The probe's count.
        got: String,
        /// The right count.
        right: u64,
        /// The requests of the run, over all iterations.
        requests: u64,
        /// What a wrong count means.
        means: &'static str,
    },
    /// A run that asks for memory was told none.
    #[error(
        "told no resident_before and resident_waiting, or no byte that waits, in a run that asks for memory"
    )]
    NoMemory,
    /// A run of tasks of which some block does not tell what tasks waited.
    #[error("told no wait_p50_ns, wait_p99_ns and wait_max_ns that ascend")]
    NoWaits,
    /// The description has a counter of the runtime, and a sample that was asked for it has none.
    #[error("counts {name:?} by its description, and gave no number of it and no reason")]
    NoCounter {
        /// As the description has it.
        name: &'static str,
    },
    /// Samples of the row were stopped, again and again.
    #[error("was stopped while {times} of its samples were under way")]
    Stopped { times: u64 },
    /// The probe reports a time that is impossible.
    #[error("reports a time that cannot be: {}", .0.what)]
    ImpossibleTime(Wrong),
}

/// What to do about a server.
fn served(problem: &Problem) -> &'static str {
    match problem {
        Problem::Connect { .. } => "say `serving` once it listens, with the port of 127.0.0.1",
        Problem::Closed { .. } | Problem::Io(_) => "keep connections open until `stop`",
        Problem::Status { .. } | Problem::Body { .. } => {
            "the variant does not do the work it is asked for; `taskscale probe check` shows the smallest case"
        }
        Problem::NotHttp(_) | Problem::TooLong(_) | Problem::Unasked => {
            "answer each GET with one response of HTTP/1.1 that has a Content-Length"
        }
        Problem::TimedOut { .. } => LONG_OR_STUCK,
    }
}

fn times(iterations: u64) -> String {
    format!("{iterations} iteration{}", if iterations == 1 { "" } else { "s" })
}

fn gave(first_of: &Option<String>) -> String {
    first_of.as_ref().map_or("before it was".to_owned(), |who| format!("{who} gave"))
}

/// What to do about what failed on a line of the user's own code.
const MEND: &str = "mend that line; `taskscale probe check` asks for the smallest case";

/// What to do about a user's own code that fails and gives no line.
const MEND_FILE: &str = "mend what fails there; `taskscale probe check` asks for the smallest case";

/// What to do about a user's own code that ends its process.
const END_NOTHING: &str =
    "let nothing in it end the process; `taskscale probe check` asks for the smallest case";

/// The same where a signal ended it.
const FIND_LINE: &str =
    "find the line with a debugger or a sanitizer; `taskscale probe check` asks for the smallest case";

/// What a user's own code says comes first, with its place, or else its file: a long text is cut at
/// its end.
fn refused(asked: &str, message: &str, own: Option<&str>) -> String {
    match (has_place(message), own) {
        (true, _) => format!("{message}, when asked for {asked}"),
        (false, Some(own)) => format!("{own}: {message}, when asked for {asked}"),
        (false, None) => format!("refused {asked}: {message}"),
    }
}

/// That a process ended, with the line that says why, and the first place in the user's own file.
fn ended(asked: &str, how: &str, stderr: &str, own: Option<&str>) -> String {
    let ended = format!("ended ({how}) instead of answering {asked}");
    let place = own.and_then(|own| place(stderr, own));
    match (said(how, stderr), place) {
        (Some(line), Some(place)) if line.contains(&place) => format!("{line}; it {ended}"),
        (Some(line), Some(place)) => format!("{place}: {line}; it {ended}"),
        (line, _) => {
            let who = own.map(|own| format!("{own} ")).unwrap_or_default();
            let line = line.map(|line| format!("; it said: {line}")).unwrap_or_default();
            format!("{who}{ended}{line}")
        }
    }
}

/// The line of what a process said at its end that tells what happened.
fn said<'a>(how: &str, stderr: &'a str) -> Option<&'a str> {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // By a shell's convention 126 and 127 mean that a command could not be run, and the first line
    // names it.
    if how == "exit status 126" || how == "exit status 127" {
        return lines.next();
    }
    let told = lines.clone().find(|line| tells_failure(line));
    // What comes behind the word `panicked` and its place stands on a line of its own.
    let panic = told.filter(|line| line.ends_with(':')).and_then(|told| {
        let mut behind = lines.clone().skip_while(|line| *line != told);
        behind.nth(1)
    });
    // Node points at the column, says what was thrown, and ends with its version.
    let is_pointer = |line: &&str| line.bytes().all(|byte| byte == b'^');
    let thrown = lines.clone().skip_while(|line| !is_pointer(line)).find(|line| !is_pointer(line));
    // As a rule the last line is where a traceback says what happened.
    panic.or(told).or(thrown).or_else(|| lines.next_back())
}

/// How runtimes begin the line that says why they end a process: Go, Rust, Swift, C++, .NET, OCaml
/// and Java. Others name the kind of an error first.
const FAILURES: [&str; 9] = [
    "panic: ",
    "fatal error: ",
    "Fatal error: ",
    "what():",
    "Unhandled exception",
    "Exception in thread",
    "SUMMARY: ",
    "Uncaught ",
    "terminate called",
];

fn tells_failure(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_kind = ["Error:", "Exception:"].iter().any(|end| first.ends_with(end)) && first.len() > 6;
    is_kind || line.contains(" panicked at ") || FAILURES.iter().any(|begin| line.contains(begin))
}

/// The innermost place in a file that a text names, as `FILE:LINE`: the first, but in Python's
/// tracebacks, where the most recent call is last.
fn place(text: &str, file: &str) -> Option<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut places = text.match_indices(file).filter_map(|(at, _)| {
        if text[..at].ends_with(is_name) {
            return None;
        }
        let behind = &text[at + file.len()..];
        let line = behind.strip_prefix(':').or_else(|| behind.strip_prefix("\", line "));
        let line = line.or_else(|| behind.strip_prefix(":line "))?;
        let digits = &line[..line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len())];
        (!digits.is_empty()).then(|| format!("{file}:{digits}"))
    });
    if text.contains("(most recent call last)") { places.last() } else { places.next() }
}

/// Whether a message begins with a place, `my_probe.py:12: `, as those of SDKs do that know it.
fn has_place(message: &str) -> bool {
    let place = message.split(": ").next().unwrap_or_default();
    let is_line = |(file, line): (&str, &str)| {
        file.contains('.') && !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
    };
    message.len() > place.len() && !place.contains(' ') && place.rsplit_once(':').is_some_and(is_line)
}

impl Fault {
    /// The fault of a probe whose time does not grow with `iterations`.
    pub fn does_not_repeat(iterations: u64, wall_ns: u64) -> Self {
        let what = format!("{wall_ns} ns for {iterations} iterations: the work is not repeated");
        Fault::ImpossibleTime(Wrong::clock(what))
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
            Fault::TimedOut { .. } => LONG_OR_STUCK,
            Fault::Changed { .. } => "run again, and build or edit the probe before or after a run",
            Fault::Exited { own: Some(own), stderr, .. } if place(stderr, own).is_some() => MEND,
            Fault::Exited { own: Some(_), how, .. } if how.contains("signal") => FIND_LINE,
            Fault::Exited { own: Some(_), .. } => END_NOTHING,
            Fault::Exited { .. } => "run the probe by hand: probes/PROTOCOL.md shows what to type",
            Fault::Flooded { .. } | Fault::Junk { .. } | Fault::OutOfTurn { .. } => {
                "print nothing but replies to standard output; `taskscale probe check` shows which request it was"
            }
            Fault::Load { problem, .. } => served(problem),
            Fault::Protocol { .. } => "use a probe and a taskscale of the same protocol",
            Fault::Refused { message, .. } if has_place(message) => MEND,
            Fault::Refused { own: Some(_), .. } => MEND_FILE,
            Fault::Refused { .. } => "see the probe's README for what it can do",
            Fault::WrongAnswer { .. } => {
                "the variant does not do the work it is asked for; a task that calls your own code still gives its share of the right answer"
            }
            Fault::Disagrees { first_of: Some(_), .. } => {
                "make both give the same number for the same size and seed, or register what does other work under a workload's name of its own"
            }
            Fault::Disagrees { first_of: None, .. } => {
                "give the same number for the same size and seed: draw random numbers from the seed, and begin each iteration afresh"
            }
            Fault::NoAnswer { .. } => {
                "return a number above 0 that follows from the work: how many units were done, or a sum of what they gave"
            }
            Fault::OtherQuestion { .. } | Fault::WrongCount { .. } | Fault::NoMemory | Fault::NoWaits => {
                "the variant does not do the work it is asked for; `taskscale probe check` shows the smallest case"
            }
            Fault::NoCounter { .. } => {
                "put into `extra.counters` what the counter rose by, a whole number, or leave it out of the description"
            }
            Fault::Excess { .. } => "offer less: several probes may share what one cannot say",
            Fault::Twice { .. } => "give each a name of its own",
            Fault::ImpossibleTime(wrong) => wrong.remedy,
            Fault::Stopped { .. } => {
                "let nothing stop the probe while it is measured: a signal (SIGSTOP), a debugger, a freezer"
            }
        };
        Missing::new(self.to_string(), remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_told_by_its_reason_and_the_place_in_the_users_file() {
        let go = "panic: runtime error: index out of range [5]\n\ngoroutine 6 [running]:\nmain.task(...)\n\tprobe/my_probe.go:12\ncreated by main.main\n\tprobe/my_probe.go:29 +0x65";
        let rust = "thread 'main' (7) panicked at src/my_probe.rs:11:9:\nown trouble\nnote: run with `RUST_BACKTRACE=1`";
        let python = "Traceback (most recent call last):\n  File \"/x/my_probe.py\", line 9\n    f()\n  File \"/x/my_probe.py\", line 3\n    def (\n        ^\nSyntaxError: invalid syntax";
        let node = "file:///x/my_probe.mjs:5\n  throw new TypeError('x');\n  ^\n\nTypeError: own trouble\n    at file:///x/my_probe.mjs:5:9\n\nNode.js v20.20.2";
        let timer = node.replace("TypeError: own", "Error: own");
        let string = "file:///x/my_probe.mjs:5\n  throw 'x';\n  ^\nown trouble\n(Use `node --trace-uncaught ...`)\n\nNode.js v20.20.2";
        let swift = "my_probe/my_probe.swift:6: Fatal error: own trouble\n*** Signal 4\nBacktrace failed ***";
        for (stderr, own, expected) in [
            (go, "my_probe.go", "my_probe.go:12: panic: runtime error: index out of range [5]"),
            (rust, "my_probe.rs", "my_probe.rs:11: own trouble"),
            (python, "my_probe.py", "my_probe.py:3: SyntaxError: invalid syntax"),
            (node, "my_probe.mjs", "my_probe.mjs:5: TypeError: own trouble"),
            (&timer, "my_probe.mjs", "my_probe.mjs:5: Error: own trouble"),
            (string, "my_probe.mjs", "my_probe.mjs:5: own trouble"),
            (swift, "my_probe.swift", "my_probe/my_probe.swift:6: Fatal error: own trouble"),
        ] {
            let whole = format!("{expected}; it ended (exit status 2) instead of answering describe");
            assert_eq!(ended("describe", "exit status 2", stderr, Some(own)), whole);
        }
        let of = |how: &str, stderr: &str| ended("describe", how, stderr, Some("probe.py"));
        assert!(of("exit status 1", "one\ntwo\n").ends_with("answering describe; it said: two"));
        assert!(of("exit status 127", "sh: x: not found\ntwo").ends_with("; it said: sh: x: not found"));
        assert!(of("exit status 1", "not_probe.py:7").ends_with("; it said: not_probe.py:7"));
        assert!(of("exit status 1", "").ends_with("answering describe"));
    }

    #[test]
    fn a_message_with_a_place_is_the_users_to_mend() {
        let remedy = |message: &str| {
            Fault::Refused { asked: "w v at size 1".into(), message: message.into(), own: None }
                .to_missing()
                .remedy
        };
        assert!(remedy("my_probe.py:12: KeyError: 'x'").contains("mend that line"));
        for message in ["no parameter \"a:1\": x", "KeyError: 'x'", "12:30: late", "a.b: c", "a.b:12"] {
            assert!(remedy(message).contains("README"), "{message}");
        }
    }

    #[test]
    fn what_fails_without_a_line_names_the_users_file_and_what_was_asked() {
        let own = || Some("mine.mjs".to_owned());
        let asked = || "fanout mine at size 16".to_owned();
        let exited =
            |how: &str| Fault::Exited { asked: asked(), how: how.into(), stderr: "".into(), own: own() };
        for (fault, reason, remedy) in [
            (
                Fault::Refused { asked: asked(), message: "own trouble".into(), own: own() },
                "mine.mjs: own trouble, when asked for fanout mine at size 16",
                "mend what fails there",
            ),
            (
                exited("exit status 3"),
                "mine.mjs ended (exit status 3) instead of answering fanout mine at size 16",
                "let nothing in it end the process",
            ),
            (
                exited("killed by signal 11 (SIGSEGV)"),
                "mine.mjs ended (killed by signal 11 (SIGSEGV)) instead of answering fanout mine at size 16",
                "a debugger or a sanitizer",
            ),
        ] {
            let missing = fault.to_missing();
            assert_eq!(missing.reason, reason);
            assert!(missing.remedy.contains(remedy), "{}", missing.remedy);
        }
    }
}
