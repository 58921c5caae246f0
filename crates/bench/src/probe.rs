//! The real probe: a process that speaks protocol 1 over pipes (`probes/PROTOCOL.md`).

use taskscale_model::{
    load::Pinned,
    missing::Missing,
    plain::clean,
    protocol::{Description, PROTOCOL, Reply, Request, RunRequest},
};
use taskscale_sys::{
    affinity, clock,
    process::{Child, Command, Exit, Family, IoProblem, SpawnError},
};

use crate::{
    bounds,
    fault::Fault,
    link::{Link, Observed},
    pause::Pause,
    served, threads,
    validate::validate,
};

/// The least time that is allowed for a handshake, which starts an interpreter or a virtual
/// machine. 30 s are ten times the slowest handshake seen on a loaded machine.
pub const HANDSHAKE_NS: u64 = 30_000_000_000;

/// The environment variable that tells a user's own probe the name of its file, so that what fails
/// in it is told by the line.
pub const OWN_FILE: &str = "TASKSCALE_PROBE_FILE";

/// How long a probe may take to end by itself before its tree is killed.
const GRACE_NS: u64 = 500_000_000;

/// Bytes that are shown of a line that is no reply.
const SHOWN: usize = 120;

/// Characters that are kept of what a probe says in an error. A line of 1 MiB may hold one, and
/// with the rest of its record it would be longer than a line of a run file may be.
const SAID: usize = 4_000;

/// Characters that are kept of why a line is no reply.
const WHY: usize = 300;

/// A probe's process, before or after the handshake.
#[derive(Debug)]
pub struct Probe {
    child: Child,
    /// What requests are validated against.
    description: Option<Description>,
    /// The name of the user's own file.
    own: Option<String>,
    /// Whose CPU time is counted: a script may have started what described itself.
    family: Option<Family>,
    /// The CPUs of its server and of the generator, where it was started for that.
    pub(crate) pinned: Option<Pinned>,
    /// The process that serves what it reads, where it reads over HTTP.
    pub(crate) serving: Option<u32>,
}

impl Probe {
    /// Starts the process and sends nothing yet.
    pub fn start(command: &Command) -> Result<Probe, Fault> {
        let child = Child::spawn(command).map_err(|error| start_fault(command, error))?;
        let own = command.env.iter().find(|(name, _)| name == OWN_FILE).map(|(_, file)| file.clone());
        Ok(Probe { own, ..Probe::of(child) })
    }

    /// Wraps a process that was started another way.
    pub(crate) fn of(child: Child) -> Probe {
        Probe { child, description: None, own: None, family: None, pinned: None, serving: None }
    }

    /// Asks the probe to describe itself.
    pub fn describe(&mut self, timeout_ns: u64) -> Result<Description, Fault> {
        let asked = "describe";
        let line = self.exchange(&Request::Describe { protocol: PROTOCOL }, asked, timeout_ns)?;
        match parse(&line, asked)? {
            Reply::Description(description) if description.protocol == PROTOCOL => {
                bounds::description(&description)?;
                self.family = Some(Family::of(&self.child));
                Ok(self.description.insert(description).clone())
            }
            Reply::Description(Description { protocol, .. })
            | Reply::Error { protocol: Some(protocol), .. }
                if protocol != PROTOCOL =>
            {
                Err(Fault::Protocol { theirs: protocol, ours: PROTOCOL })
            }
            Reply::Error { message, missing: true, remedy, .. } => {
                Err(Fault::NotHere(Missing::new(bounds::message(message), bounds::message(remedy))))
            }
            Reply::Error { message, .. } => Err(Fault::Refused {
                asked: asked.into(),
                message: bounds::message(message),
                own: self.own.clone(),
            }),
            _ => Err(junk(&line, asked, "a description was expected")),
        }
    }

    /// Sends one line as it is, and returns the line that comes back. Conformance tests need this.
    pub fn raw(&mut self, line: &[u8], asked: &str, timeout_ns: u64) -> Result<Vec<u8>, Fault> {
        let deadline_ns = clock::monotonic_ns().saturating_add(timeout_ns);
        let seconds = timeout_ns as f64 / 1e9;
        if self.child.pending_output().unwrap_or(false) {
            return Err(Fault::OutOfTurn { asked: asked.into() });
        }
        let answer = self.child.send_line(line, deadline_ns).and_then(|()| self.child.read_line(deadline_ns));
        answer.map_err(|problem| self.fault(problem, asked, seconds))
    }

    /// Its process.
    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// CPU time that the process and those which it started have used, by the kernel's account.
    fn cpu_ns(&mut self) -> Option<u64> {
        self.family.as_mut()?.cpu_ns()
    }

    /// The CPU time that was used since a reading, `wall_ns` ago. Where the known processes had a
    /// CPU for less than half of that, others may have worked for them: they are looked for.
    fn cpu_since(&mut self, before: Option<u64>, wall_ns: u64) -> Option<u64> {
        let used = self.cpu_ns()?.saturating_sub(before?);
        if used >= wall_ns / 2 {
            return Some(used);
        }
        self.cpu_after(before, Family::look)
    }

    /// The same where a probe tells `told_ns`. Where that is more than was `seen`, by 2 ms (a tick
    /// of the kernel is 4), others worked for it that are not known yet.
    fn cpu_beside(&mut self, before: Option<u64>, seen: Option<u64>, told_ns: u64) -> Option<u64> {
        if told_ns <= seen?.saturating_add(2_000_000) {
            return seen;
        }
        self.cpu_after(before, Family::look_closely)
    }

    /// The CPU time since a reading, after a look for others.
    fn cpu_after(&mut self, before: Option<u64>, look: fn(&mut Family)) -> Option<u64> {
        look(self.family.as_mut()?);
        Some(self.cpu_ns()?.saturating_sub(before?))
    }

    /// CPU time of each of their threads.
    fn threads(&self) -> threads::Look {
        threads::look(self.pids())
    }

    /// The process and those that it started.
    fn pids(&self) -> impl Iterator<Item = u32> {
        self.family.iter().flat_map(Family::pids)
    }

    /// CPU time that the server has used from which it reads.
    fn served_cpu_ns(&self) -> Option<u64> {
        self.serving.and_then(|pid| clock::process_cpu_ns(pid).ok())
    }

    /// Whether it ended by itself with status 0 when told to exit.
    pub fn exits_cleanly(&mut self, grace_ns: u64) -> bool {
        self.tell_exit();
        self.child.end(grace_ns) == Some(Exit::Code(0))
    }

    fn tell_exit(&mut self) {
        if let Ok(line) = serde_json::to_vec(&Request::Exit) {
            // A probe that is gone already needs no request to exit.
            self.child.send_line(&line, clock::monotonic_ns().saturating_add(GRACE_NS)).ok();
        }
    }

    /// How the process ended, if it does so within [`GRACE_NS`].
    pub(crate) fn last_words(&mut self, asked: &str) -> Option<Fault> {
        let deadline_ns = clock::monotonic_ns().saturating_add(GRACE_NS);
        match self.child.read_line(deadline_ns) {
            Err(problem @ IoProblem::Closed { .. }) => Some(self.fault(problem, asked, 0.0)),
            _ => None,
        }
    }

    pub(crate) fn exchange(
        &mut self,
        request: &Request,
        asked: &str,
        timeout_ns: u64,
    ) -> Result<Vec<u8>, Fault> {
        let line = serde_json::to_vec(request).map_err(|error| Fault::Refused {
            asked: asked.into(),
            message: error.to_string(),
            own: None,
        })?;
        self.raw(&line, asked, timeout_ns)
    }

    fn fault(&mut self, problem: IoProblem, asked: &str, seconds: f64) -> Fault {
        let asked = asked.to_owned();
        match problem {
            IoProblem::TimedOut => Fault::TimedOut { asked, seconds },
            IoProblem::Closed { exit } => Fault::Exited {
                asked,
                how: exit.map_or_else(|| "it closed its output".to_owned(), |exit| exit.to_string()),
                stderr: self.child.stderr_tail(),
                own: self.own.clone(),
            },
            IoProblem::TooLong | IoProblem::Flood { .. } => Fault::Flooded { asked },
            IoProblem::Io(why) => {
                Fault::Exited { asked, how: why, stderr: self.child.stderr_tail(), own: self.own.clone() }
            }
        }
    }
}

/// Why a probe could not be started.
pub(crate) fn start_fault(command: &Command, error: SpawnError) -> Fault {
    Fault::Start { command: command.program.clone(), why: format!("{} ({})", error.source, error.remedy) }
}

impl Link for Probe {
    fn shake_hands(&mut self, timeout_ns: u64) -> Result<Description, Fault> {
        self.describe(timeout_ns.max(HANDSHAKE_NS))
    }

    fn keep_on(&mut self, place: u64) -> Option<u32> {
        let cpus = affinity::usable();
        let cpu = *cpus.get(place.checked_rem(cpus.len() as u64)? as usize)?;
        affinity::keep(&self.pids().collect::<Vec<u32>>(), cpu).then_some(cpu)
    }

    fn run(&mut self, request: &RunRequest, timeout_ns: u64) -> Result<Observed, Fault> {
        let asked = format!("{} {} at size {}", request.workload, request.variant, request.size);
        let why = match &self.description {
            Some(description) => validate(description, request),
            None => Err(Missing::new("it has not described itself yet", "shake hands first")),
        };
        why.map_err(|why| Fault::Unfit { asked: asked.clone(), why })?;
        let message = serde_json::to_vec(&Request::Run(request.clone())).map_err(|error| Fault::Refused {
            asked: asked.clone(),
            message: error.to_string(),
            own: None,
        })?;
        // This reading is the outermost, so that its cost (7 us a thread, `taskscale_sys::threads`)
        // lies outside all other readings.
        let threads_before = self.threads();
        let pause = Pause::begin(&self.child);
        let served_before = self.served_cpu_ns();
        let cpu_before = self.cpu_ns();
        let wall_before = clock::monotonic_ns();
        let line = self.raw(&message, &asked, timeout_ns)?;
        let (line, load) = match served::mode(request) {
            None => (line, None),
            Some(mode) => {
                let (line, load) = served::load(self, mode, request, &line, &asked, timeout_ns)?;
                (line, Some(load))
            }
        };
        let outside_wall_ns = clock::monotonic_ns() - wall_before;
        let served_after = self.served_cpu_ns();
        let outside_cpu_ns = self.cpu_since(cpu_before, outside_wall_ns);
        let threads_after = self.threads();
        let stopped = pause.seen(&self.child);
        match parse(&line, &asked)? {
            Reply::Sample(sample) => {
                bounds::sample(&sample)?;
                let outside_cpu_ns = self.cpu_beside(cpu_before, outside_cpu_ns, sample.cpu_ns);
                let threads = threads::ran(&threads_before, &threads_after, outside_cpu_ns);
                let run_delay_ns = threads::delay_ns(&threads_before, &threads_after, outside_cpu_ns);
                let server_cpu_ns =
                    served_before.zip(served_after).map(|(before, after)| after.saturating_sub(before));
                Ok(Observed {
                    sample,
                    outside_wall_ns,
                    outside_cpu_ns,
                    stopped,
                    threads,
                    run_delay_ns,
                    load,
                    server_cpu_ns,
                })
            }
            Reply::Error { message, .. } => {
                Err(Fault::Refused { asked, message: bounds::message(message), own: self.own.clone() })
            }
            _ => Err(junk(&line, &asked, "a sample was expected")),
        }
    }

    fn said(&mut self) -> String {
        if self.own.is_some() { self.child.stderr_tail() } else { String::new() }
    }

    fn dismiss(&mut self) {
        self.tell_exit();
    }

    fn end(&mut self) {
        self.tell_exit();
        self.child.end(GRACE_NS);
    }
}

/// Reads a reply. The words of an error are kept up to [`SAID`].
pub fn parse(line: &[u8], asked: &str) -> Result<Reply, Fault> {
    let mut reply = serde_json::from_slice(line).map_err(|error| junk(line, asked, &error.to_string()))?;
    if let Reply::Error { message, remedy, .. } = &mut reply {
        bound(message);
        bound(remedy);
    }
    Ok(reply)
}

/// Cuts a text behind [`SAID`] characters.
fn bound(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(SAID) {
        text.truncate(end);
        text.push_str(" ...");
    }
}

pub(crate) fn junk(line: &[u8], asked: &str, why: &str) -> Fault {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).escape_debug().to_string();
    let more = if line.len() > SHOWN { " ..." } else { "" };
    // The parser quotes words of the line, which may be as long as it is and hold anything.
    let why = clean(&why.chars().take(WHY).collect::<String>());
    Fault::Junk { asked: asked.into(), line: format!("\"{text}\"{more}"), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_reply_is_quoted_and_cut() {
        let line = [b'x'; 500];
        let said = parse(&line, "describe").expect_err("junk").to_string();
        assert!(said.contains(&"x".repeat(SHOWN)) && said.contains("...") && said.len() < 400, "{said}");
        let said = parse(b"\x1b[31m\xff", "describe").expect_err("junk").to_string();
        assert!(!said.contains('\x1b'), "{said:?}");
    }

    #[test]
    fn an_error_as_long_as_a_line_is_cut() {
        let line =
            serde_json::json!({"type": "error", "message": "\u{e9}".repeat(500_000), "remedy": "none"});
        let Ok(Reply::Error { message, remedy, .. }) = parse(line.to_string().as_bytes(), "run") else {
            panic!("an error")
        };
        assert_eq!((message.chars().count(), remedy.as_str()), (SAID + 4, "none"));
        assert!(message.ends_with("\u{e9} ..."));
    }

    /// A shell that offers one variant and answers everything else with the same sample, and a
    /// request for it.
    fn shell() -> (Probe, RunRequest) {
        let script = r#"
            read -r line
            echo '{"type":"description","protocol":1,"runtime":{"name":"r","language":"l","version":"1"},
                "clock":{"wall_resolution_ns":1,"cpu_resolution_ns":1},
                "workloads":[{"name":"w","variants":[{"name":"v","creates_task":false}]}]}' | tr -d '
'
            echo
            while read -r line; do echo '{"type":"sample","wall_ns":1,"cpu_ns":1,"answer":0}'; done"#;
        let request = RunRequest {
            id: 1,
            workload: "w".into(),
            variant: "v".into(),
            size: 1,
            iterations: 1,
            params: Default::default(),
            seed: 1,
        };
        (Probe::start(&Command::new("sh", ["-c", script])).expect("a shell"), request)
    }

    #[test]
    fn what_does_not_fit_the_description_is_not_sent() {
        let (mut probe, request) = shell();
        let said = probe.run(&request, HANDSHAKE_NS).expect_err("no handshake yet").to_string();
        assert!(said.contains("not described itself"), "{said}");
        probe.describe(HANDSHAKE_NS).expect("a description");
        let unfit = RunRequest { variant: "x".into(), ..request.clone() };
        let fault = probe.run(&unfit, HANDSHAKE_NS).expect_err("it would be answered");
        let said = "was not asked w x at size 1: unknown variant \"x\"; known here: v";
        assert_eq!(fault.to_string(), said);
        assert!(fault.leaves_probe_alive() && fault.to_missing().remedy.contains("choose one of those"));
        probe.run(&request, HANDSHAKE_NS).expect("the same process, and nothing of the other request");
        probe.end();
    }

    #[test]
    fn a_sample_in_which_the_probe_was_stopped_is_told_and_the_next_is_not() {
        let (_, request) = shell();
        let script = r#"
            read -r line
            echo '{"type":"description","protocol":1,"runtime":{"name":"r","language":"l","version":"1"},"clock":{"wall_resolution_ns":1,"cpu_resolution_ns":1},"workloads":[{"name":"w","variants":[{"name":"v","creates_task":false}]}]}'
            read -r line
            (sleep 0.05; kill -CONT $$) & kill -STOP $$
            wait
            echo '{"type":"sample","wall_ns":1,"cpu_ns":1,"answer":0}'
            read -r line
            echo '{"type":"sample","wall_ns":1,"cpu_ns":1,"answer":0}'"#;
        let mut probe = Probe::start(&Command::new("sh", ["-c", script])).expect("a shell");
        probe.describe(HANDSHAKE_NS).expect("a description");
        let mut stopped = || probe.run(&request, HANDSHAKE_NS).expect("a sample").stopped;
        assert_eq!([stopped(), stopped()], [Some(taskscale_model::run_file::Stopped::Probe), None]);
        probe.end();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_threads_of_a_real_process_are_looked_at() {
        // A shell has one thread, and reading a line takes it some CPU time.
        let (mut probe, request) = shell();
        probe.describe(HANDSHAKE_NS).expect("a description");
        let observed = probe.run(&request, HANDSHAKE_NS).expect("a sample");
        assert_eq!(observed.threads.map(|threads| threads.ran), Ok(1));
        probe.end();
    }
}
