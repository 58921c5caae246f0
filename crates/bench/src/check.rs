//! Conformance of any probe to protocol 1. `probes/PROTOCOL.md` lists the checks; a probe that
//! passes can be measured. Every check runs even if one before it failed, in a fresh process where
//! the last one died.

mod clocks;
mod sizes;

use self::sizes::{Asked, largest, sizes_of};
use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{
    answer::Rule,
    bytes,
    metric::Metric,
    missing::Missing,
    params::{ParamValue, Params},
    protocol::{Answer, Description, PROTOCOL, Reply, RunRequest, VERIFY, Variant, Workload},
};
use taskscale_sys::process::Command;

use crate::{
    bytes::swapped_sums,
    counters::Counters,
    expect::{Answers, rule_of},
    fault::Fault,
    invariants,
    link::{Link, Observed},
    probe::{Probe, parse},
    validate,
};

/// The sizes at which every variant must answer rightly: one task, an odd few, more than any batch.
pub const SIZES: [u64; 3] = [1, 7, 1_000];

#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// What the probe says of itself, if it answered the handshake.
    pub description: Option<Description>,
    /// The findings in the order of the checks.
    pub findings: Vec<Finding>,
}

/// The outcome of one check.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The name of the check: `handshake`, `answers`, `errors`, ...
    pub check: &'static str,
    /// What was checked: a variant, a request.
    pub subject: String,
    pub verdict: Verdict,
}

/// How a check went.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The probe does what the protocol asks.
    Passed,
    /// The probe does not do what the protocol asks.
    Failed(Missing),
    /// The protocol allows it, but it is worth knowing.
    Noted(String),
}

impl Findings {
    /// Whether nothing failed.
    pub fn conforms(&self) -> bool {
        !self.findings.iter().any(|finding| matches!(finding.verdict, Verdict::Failed(_)))
    }
}

/// Tests the probe that `command` starts. `cpus` is the number of CPUs that a process may use here.
/// One answer may take `timeout_ns`. `command` has the variables of the workload `bytes`; `swapped`
/// are the same of files with two bytes swapped. With `own` it is a user's file, whose workload may
/// bear the name of a built-in one and do other work.
pub fn check(
    command: &Command,
    cpus: u64,
    timeout_ns: u64,
    swapped: &[(String, String)],
    own: bool,
) -> Findings {
    let mut checker = Checker {
        command,
        cpus,
        timeout_ns,
        own,
        other_work: BTreeSet::new(),
        probe: None,
        out: Findings { description: None, findings: Vec::new() },
        asked: 0,
        for_clocks: BTreeMap::new(),
    };
    let Some(description) = checker.handshake() else { return checker.out };
    checker.out.description = Some(description.clone());
    checker.other_protocol();
    for workload in &description.workloads {
        for variant in &workload.variants {
            checker.answers(workload, variant);
        }
    }
    checker.swapped(&description, swapped);
    checker.counters(&description);
    checker.clocks(&description);
    checker.errors(&description);
    checker.garbage();
    checker.endings();
    checker.out
}

struct Checker<'c> {
    command: &'c Command,
    cpus: u64,
    timeout_ns: u64,
    own: bool,
    /// The user's workloads that do other work than the built-in ones of their names: their answers
    /// are held to each other, as in a run without a suite.
    other_work: BTreeSet<String>,
    probe: Option<Probe>,
    out: Findings,
    asked: u64,
    /// The size at which times of a slow variant are compared, by workload and variant.
    for_clocks: BTreeMap<(String, String), u64>,
}

impl Checker<'_> {
    fn note(&mut self, check: &'static str, subject: impl Into<String>, verdict: Verdict) {
        self.out.findings.push(Finding { check, subject: subject.into(), verdict });
    }

    fn found(&mut self, check: &'static str, subject: impl Into<String>, result: Result<(), Fault>) {
        if result.as_ref().is_err_and(|fault| !fault.leaves_probe_alive()) {
            self.probe = None;
        }
        let verdict = match result {
            Ok(()) => Verdict::Passed,
            Err(fault) => Verdict::Failed(fault.to_missing()),
        };
        self.note(check, subject, verdict);
    }

    fn failed(&mut self, check: &'static str, subject: impl Into<String>, reason: String, remedy: &str) {
        self.note(check, subject, Verdict::Failed(Missing::new(reason, remedy)));
    }

    /// The process, started anew if the last one died.
    fn probe(&mut self) -> Result<&mut Probe, Fault> {
        let probe = match self.probe.take() {
            Some(probe) => probe,
            None => {
                let mut probe = Probe::start(self.command)?;
                probe.describe(self.timeout_ns)?;
                probe
            }
        };
        Ok(self.probe.insert(probe))
    }

    fn handshake(&mut self) -> Option<Description> {
        let subject = "describe";
        let shaken = Probe::start(self.command).and_then(|mut probe| {
            let description = probe.describe(self.timeout_ns)?;
            self.probe = Some(probe);
            Ok(description)
        });
        let description = match shaken {
            Ok(description) => description,
            Err(fault) => {
                self.found("handshake", subject, Err(fault));
                return None;
            }
        };
        let clock = description.clock;
        for (wrong, reason) in [
            (description.runtime.name.is_empty(), "the runtime has no name"),
            (description.runtime.version.is_empty(), "the runtime has no version"),
            (
                clock.wall_resolution_ns == 0 || clock.cpu_resolution_ns == 0,
                "a clock's resolution is given as 0 ns",
            ),
            (description.workloads.is_empty(), "it offers no workload"),
            (
                description.workloads.iter().any(|workload| workload.variants.is_empty()),
                "a workload has no variant",
            ),
        ] {
            if wrong {
                self.failed("handshake", subject, reason.into(), "say it in the description");
            }
        }
        self.found("handshake", subject, Ok(()));
        Some(description)
    }

    fn other_protocol(&mut self) {
        let subject = "describe with protocol 999";
        let timeout_ns = self.timeout_ns;
        let line = br#"{"type":"describe","protocol":999}"#;
        let reply = self.probe().and_then(|probe| probe.raw(line, subject, timeout_ns));
        match reply.and_then(|line| parse(&line, subject)) {
            Ok(Reply::Error { message, protocol, .. }) => {
                let names_both =
                    message.contains("999") && message.contains('1') && protocol == Some(PROTOCOL);
                if names_both {
                    self.found("handshake", subject, Ok(()));
                } else {
                    let reason = format!("the error does not name both versions: {message}");
                    self.failed(
                        "handshake",
                        subject,
                        reason,
                        "name both, and put \"protocol\":1 beside the message",
                    );
                }
            }
            Ok(_) => self.failed("handshake", subject, "it was accepted".into(), "answer with an error"),
            Err(fault) => self.found("handshake", subject, Err(fault)),
        }
        // A probe need not live on after this. The next check starts from a fresh handshake.
        self.probe = None;
    }

    fn run(&mut self, request: &RunRequest) -> Result<Observed, Fault> {
        let timeout_ns = self.timeout_ns;
        self.probe()?.run(request, timeout_ns)
    }

    fn request(&mut self, workload: &Workload, variant: &Variant, params: &Params, size: u64) -> RunRequest {
        self.asked += 1;
        RunRequest {
            id: self.asked,
            workload: workload.name.clone(),
            variant: variant.name.clone(),
            size,
            iterations: 1,
            params: params.clone(),
            seed: 1_000 + self.asked,
        }
    }

    /// Checks that what the runtime is said to count is told.
    fn counters(&mut self, description: &Description) {
        let is_here = |variant: &&Variant| variant.unavailable.is_none();
        let first = description
            .workloads
            .iter()
            .find_map(|workload| Some((workload, workload.variants.iter().find(is_here)?)));
        let Some((workload, variant)) = first.filter(|_| !description.counters.is_empty()) else { return };
        let params = cases(workload, variant).into_iter().next().unwrap_or_default();
        for (kind, metrics) in [("memory", [Metric::Allocs, Metric::Bytes]), ("collector", [Metric::Gc; 2])] {
            let counters = Counters::of(description, &metrics);
            let request = counters.asked(self.request(workload, variant, &params, 1));
            let result = match self.run(&request) {
                Ok(observed) => match counters.broken(&observed.sample).first() {
                    Some(name) => Err(Fault::NoCounter { name }),
                    None => Ok(()),
                },
                Err(fault) => Err(fault),
            };
            self.found("counters", kind, result);
        }
    }

    /// Checks answers at three sizes, for every value of every parameter, timed and instrumented,
    /// with one and with three iterations.
    fn answers(&mut self, workload: &Workload, variant: &Variant) {
        let name = format!("{} {}", workload.name, variant.name);
        if let Some(missing) = &variant.unavailable {
            self.note("answers", name, Verdict::Noted(format!("not to be had here: {missing}")));
            return;
        }
        let mut echoes = true;
        for params in cases(workload, variant) {
            let subject = format!("{name} {}", taskscale_model::params::label(&params)).trim_end().to_owned();
            let mut asked = self.by_size(workload, variant, &params);
            if let Err(fault) = &asked
                && self.own
                && is_of_work(fault)
                && self.other_work.insert(workload.name.clone())
            {
                let why = other_work(&workload.name, fault);
                asked = self.by_size(workload, variant, &params);
                match asked {
                    Ok(_) => self.note("answers", name.clone(), Verdict::Noted(why)),
                    Err(_) => _ = self.other_work.remove(&workload.name),
                }
            }
            if let Ok(asked) = &asked {
                echoes &= asked.echoes;
                if let Some(size) = asked.for_clocks(self.timeout_ns) {
                    let least = self.for_clocks.entry((workload.name.clone(), variant.name.clone()));
                    let least = least.or_insert(size);
                    *least = size.min(*least);
                }
            }
            match asked.as_ref().ok().and_then(|asked| asked.said()) {
                Some(slow) => self.note("answers", subject, Verdict::Noted(slow)),
                None => self.found("answers", subject, asked.map(drop)),
            }
        }
        if !echoes {
            let text = "does not copy the request's id: a late answer could not be told".to_owned();
            self.note("answers", name, Verdict::Noted(text));
        }
    }

    /// Asks a variant in the sizes of its workload that it bears.
    fn by_size(&mut self, workload: &Workload, variant: &Variant, params: &Params) -> Result<Asked, Fault> {
        let sizes = self.sizes_of(&workload.name).into_iter();
        let sizes = sizes.filter(|size| variant.max_size.is_none_or(|limit| *size <= limit));
        let sizes = sizes.filter(|size| validate::arrivals(&workload.name, *size, params).is_ok());
        let sizes: Vec<u64> = sizes.collect();
        self.sizes((workload, variant), params, &sizes)
    }

    /// The rule by which answers of a workload are checked; `None` where they are held to each
    /// other.
    fn rule_of(&self, workload: &str) -> Option<Rule> {
        if self.other_work.contains(workload) { None } else { rule_of(workload) }
    }

    fn sizes_of(&self, workload: &str) -> Vec<u64> {
        if self.other_work.contains(workload) { SIZES.to_vec() } else { sizes_of(workload) }
    }

    /// Asks one question in its three forms, and says whether the `id` came back, and how many wall
    /// ns one iteration took.
    fn answer(&mut self, request: RunRequest) -> Result<(bool, f64), Fault> {
        let rule = self.rule_of(&request.workload);
        let once = self.run(&request)?;
        let thrice = self.run(&RunRequest { iterations: 3, ..request.clone() })?;
        let mut verify = request.clone();
        verify.params.insert(VERIFY.into(), ParamValue::Flag(true));
        let verified = self.run(&verify)?;
        let size = request.size;
        if rule.is_none() && size > 1 && once.sample.answer.0 == 0 {
            return Err(Fault::NoAnswer { size });
        }
        let mut answers = Answers::default();
        // Only its author knows a workload without a rule. Three times the work must give three
        // times the answer.
        let right_once = rule.and_then(|rule| answers.right(rule, &request));
        let right_once = right_once.unwrap_or(once.sample.answer.0);
        let right_verified = rule.and_then(|rule| answers.right(rule, &verify));
        let right_verified = right_verified.unwrap_or(verified.sample.answer.0);
        for (observed, right, iterations) in
            [(&once, right_once, 1), (&thrice, right_once.wrapping_mul(3), 3), (&verified, right_verified, 1)]
        {
            let Answer(got) = observed.sample.answer;
            if got != right {
                let seed = request.seed;
                return Err(Fault::WrongAnswer { got, right, size, iterations, seed });
            }
            if let Some(got) = observed.sample.id.filter(|id| *id != request.id) {
                return Err(Fault::OtherQuestion { got, asked: request.id });
            }
        }
        if rule.is_some() {
            invariants::check(&verify, &verified.sample.extra)?;
        }
        Ok((once.sample.id.is_some(), once.outside_wall_ns as f64))
    }

    /// Checks that a probe reads the bytes that it is given, in their order: of files with two
    /// bytes swapped, FNV has another value and the sum has not.
    fn swapped(&mut self, description: &Description, variables: &[(String, String)]) {
        let Some(workload) = description.workload(bytes::WORKLOAD) else { return };
        if self.other_work.contains(bytes::WORKLOAD) {
            return;
        }
        let mut command = self.command.clone();
        command.env.extend(variables.iter().cloned());
        let mut probe = None;
        for variant in workload.variants.iter().filter(|variant| variant.unavailable.is_none()) {
            for params in cases(workload, variant) {
                let size = largest(workload, variant);
                let request = self.request(workload, variant, &params, size);
                let label = taskscale_model::params::label(&params);
                let subject = format!("{} {} {label}", workload.name, variant.name).trim_end().to_owned();
                let result = of_swapped(&mut probe, &command, &request, self.timeout_ns);
                if result.as_ref().is_err_and(|fault| !fault.leaves_probe_alive()) {
                    probe = None;
                }
                let verdict =
                    result.map_or_else(|fault| Verdict::Failed(fault.to_missing()), |()| Verdict::Passed);
                self.note("swapped bytes", subject, verdict);
            }
        }
    }

    /// Checks that an unknown word is refused with an error and that the probe lives on. The
    /// requests are raw lines, since a request that does not fit a description is not sent
    /// otherwise.
    fn errors(&mut self, description: &Description) {
        let Some((workload, variant)) = first_available(description) else { return };
        let good = self.request(workload, variant, &Params::new(), SIZES[0]);
        let mut good =
            serde_json::to_value(taskscale_model::protocol::Request::Run(good)).unwrap_or_default();
        for (subject, field) in [
            ("an unknown workload", "workload"),
            ("an unknown variant", "variant"),
            ("an unknown type of request", "type"),
        ] {
            let mut wrong = good.clone();
            wrong[field] = "no-such".into();
            self.refuses("errors", subject, wrong.to_string().as_bytes());
        }
        good["no-such-field"] = serde_json::json!({"nested": [1, 2]});
        let timeout_ns = self.timeout_ns;
        let subject = "an unknown field is ignored";
        let line = good.to_string();
        let reply = self.probe().and_then(|probe| probe.raw(line.as_bytes(), subject, timeout_ns));
        match reply.and_then(|line| parse(&line, subject)) {
            Ok(Reply::Sample(_)) => self.found("errors", subject, Ok(())),
            Ok(_) => {
                self.failed("errors", subject, "it was refused".into(), "skip fields that you do not know")
            }
            Err(fault) => self.found("errors", subject, Err(fault)),
        }
    }

    /// Checks that a line that is not JSON is answered with an error and that the probe lives on.
    fn garbage(&mut self) {
        let cases: [(&str, &[u8]); 2] =
            [("a line that is not JSON", b"hello"), ("half a message", br#"{"type":"run","#)];
        for (subject, line) in cases {
            self.refuses("garbage", subject, line);
        }
    }

    fn refuses(&mut self, check: &'static str, subject: &str, line: &[u8]) {
        let timeout_ns = self.timeout_ns;
        let reply = self.probe().and_then(|probe| probe.raw(line, subject, timeout_ns));
        match reply.and_then(|line| parse(&line, subject)) {
            Ok(Reply::Error { message, .. }) if !message.trim().is_empty() => {
                // The probe must still be able to answer, so the check asks it to describe itself.
                let lives = self.probe().and_then(|probe| probe.describe(timeout_ns)).map(drop);
                self.found(check, subject, lives);
            }
            Ok(Reply::Error { .. }) => {
                self.failed(check, subject, "an error without a message".into(), "say what failed")
            }
            Ok(_) => self.failed(
                check,
                subject,
                "it was answered as if it were right".into(),
                "answer with an error",
            ),
            Err(fault) => self.found(check, subject, Err(fault)),
        }
    }

    fn endings(&mut self) {
        let timeout_ns = self.timeout_ns;
        let ended = self.probe().map(|probe| probe.exits_cleanly(timeout_ns));
        self.probe = None;
        match ended {
            Ok(true) => self.found("ending", "exit", Ok(())),
            Ok(false) => {
                let reason = "it did not end with status 0".to_owned();
                self.failed("ending", "exit", reason, "end on `exit`, and when standard input closes");
            }
            Err(fault) => self.found("ending", "exit", Err(fault)),
        }
    }
}

/// Whether a fault is that a workload does other work than its name says.
fn is_of_work(fault: &Fault) -> bool {
    matches!(fault, Fault::WrongAnswer { .. } | Fault::WrongCount { .. } | Fault::NoMemory | Fault::NoWaits)
}

/// That a user's workload has the name of a built-in one and does other work.
fn other_work(workload: &str, fault: &Fault) -> String {
    format!(
        "other work than the built-in workload {workload}: {fault}. `taskscale run --probe FILE` takes it, and holds \
         its answers to each other; a suite that has {workload} refuses it"
    )
}

/// Asks a probe that is given files with two bytes swapped, started where it is not.
fn of_swapped(
    probe: &mut Option<Probe>,
    command: &Command,
    request: &RunRequest,
    timeout_ns: u64,
) -> Result<(), Fault> {
    if probe.is_none() {
        let mut fresh = Probe::start(command)?;
        fresh.describe(timeout_ns)?;
        *probe = Some(fresh);
    }
    let Some(probe) = probe else { return Ok(()) };
    let Answer(got) = probe.run(request, timeout_ns)?.sample.answer;
    let right = swapped_sums(request.size).answer(&request.params);
    if got == right {
        return Ok(());
    }
    let (size, iterations, seed) = (request.size, request.iterations, request.seed);
    Err(Fault::WrongAnswer { got, right, size, iterations, seed })
}

fn first_available(description: &Description) -> Option<(&Workload, &Variant)> {
    description.workloads.iter().find_map(|workload| {
        workload
            .variants
            .iter()
            .find(|variant| variant.unavailable.is_none())
            .map(|variant| (workload, variant))
    })
}

/// The default case (with the first `order` that the variant knows), then every other choice of
/// every parameter once, then what only this tool knows of a workload.
fn cases(workload: &Workload, variant: &Variant) -> Vec<Params> {
    let base: Params = variant
        .only
        .iter()
        .filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())))
        .collect();
    let mut cases = vec![base.clone()];
    for param in &workload.params {
        for choice in &param.choices {
            let mut case = base.clone();
            case.insert(param.name.clone(), choice.clone());
            if variant.allows(&case) && !cases.contains(&case) {
                cases.push(case);
            }
        }
    }
    let further = invariants::further_cases(&workload.name).into_iter();
    let further = further.map(|case| base.clone().into_iter().chain(case).collect());
    cases.extend(further.filter(|case| workload.accepts(case) && variant.allows(case)));
    cases
}
