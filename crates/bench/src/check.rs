//! Conformance of any probe to protocol 1. `probes/PROTOCOL.md` lists the checks; a probe that
//! passes can be measured. Every check runs even if one before it failed, in a fresh process where
//! the last one died.

mod sizes;

use self::sizes::{largest, sizes_of};
use std::collections::BTreeMap;

use taskscale_analysis::told::Wrong;
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
    calibrate::{self, Pilot},
    counters::Counters,
    expect::{Answers, rule_of},
    fault::Fault,
    invariants,
    judge::Judge,
    link::{Link, Observed},
    probe::{Probe, parse},
    validate,
};

/// The sizes at which every variant must answer rightly: one task, an odd few, more than any batch.
pub const SIZES: [u64; 3] = [1, 7, 1_000];

/// How often the check tries whether four times the iterations take longer. libgomp changed between
/// 30 and 490 ns per task from one sample to the next: one check in four failed at the first
/// attempt. A lie fails at every attempt.
const ATTEMPTS: usize = 6;

/// The most by which attempts lengthen the samples of the first. Each doubles them up to here. A
/// thread of libgomp that waits for one without a processor spins for whole time slices: samples of
/// 16 ms used 84 ms of CPU time on a busy machine, three times in a row.
const LENGTHENED: u64 = 8;

/// The attempts for code that is compiled while it runs: a JVM still fell by a factor of four after
/// a second.
const ATTEMPTS_JIT: usize = 30;

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
/// are the same of files with two bytes swapped.
pub fn check(command: &Command, cpus: u64, timeout_ns: u64, swapped: &[(String, String)]) -> Findings {
    let mut checker = Checker {
        command,
        cpus,
        timeout_ns,
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
        let rule = rule_of(&workload.name);
        let mut echoes = true;
        for params in cases(workload, variant) {
            let subject = format!("{name} {}", taskscale_model::params::label(&params)).trim_end().to_owned();
            let sizes = sizes_of(&workload.name).into_iter();
            let sizes = sizes.filter(|size| variant.max_size.is_none_or(|limit| *size <= limit));
            let sizes = sizes.filter(|size| validate::arrivals(&workload.name, *size, &params).is_ok());
            let sizes: Vec<u64> = sizes.collect();
            let asked = self.sizes((workload, variant), rule, &params, &sizes);
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

    /// Asks one question in its three forms, and says whether the `id` came back, and how many wall
    /// ns one iteration took.
    fn answer(&mut self, rule: Option<Rule>, request: RunRequest) -> Result<(bool, f64), Fault> {
        let once = self.run(&request)?;
        let thrice = self.run(&RunRequest { iterations: 3, ..request.clone() })?;
        let mut verify = request.clone();
        verify.params.insert(VERIFY.into(), ParamValue::Flag(true));
        let verified = self.run(&verify)?;
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
                let (size, seed) = (request.size, request.seed);
                return Err(Fault::WrongAnswer { got, right, size, iterations, seed });
            }
            if let Some(got) = observed.sample.id.filter(|id| *id != request.id) {
                return Err(Fault::OtherQuestion { got, asked: request.id });
            }
        }
        invariants::check(&verify, &verified.sample.extra)?;
        Ok((once.sample.id.is_some(), once.outside_wall_ns as f64))
    }

    /// Checks that a probe reads the bytes that it is given, in their order: of files with two
    /// bytes swapped, FNV has another value and the sum has not.
    fn swapped(&mut self, description: &Description, variables: &[(String, String)]) {
        let Some(workload) = description.workload(bytes::WORKLOAD) else { return };
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

    /// Checks that clocks are believable on a long sample, and that four times the iterations take
    /// at least twice the CPU time.
    fn clocks(&mut self, description: &Description) {
        for workload in &description.workloads {
            for variant in workload.variants.iter().filter(|variant| variant.unavailable.is_none()) {
                let subject = format!("{} {}", workload.name, variant.name);
                let params = cases(workload, variant).into_iter().next().unwrap_or_default();
                let result = self.clock_of(description, workload, variant, &params);
                self.found("clocks", subject, result);
            }
        }
    }

    fn clock_of(
        &mut self,
        description: &Description,
        workload: &Workload,
        variant: &Variant,
        params: &Params,
    ) -> Result<(), Fault> {
        let size = match workload.name.as_str() {
            bytes::WORKLOAD => largest(workload, variant),
            name => {
                let many = sizes_of(name).into_iter().max().unwrap_or(1);
                variant.max_size.map_or(many, |limit| limit.min(many))
            }
        };
        let quick = self.for_clocks.get(&(workload.name.clone(), variant.name.clone()));
        let size = quick.map_or(size, |quick| size.min(*quick));
        let mut request = self.request(workload, variant, params, size);
        let judge = Judge::new(description.clock, self.cpus).compiled(description.jit);
        let mut judge = judge.of_lengths();
        let target_ns = calibrate::target_ns(calibrate::TOLD_UNITS_NS, description.clock.wall_resolution_ns);
        loop {
            let observed = self.run(&request)?;
            let rule = rule_of(&workload.name);
            judge.judge_times(request.iterations, &observed)?;
            if let Some(rule) = rule {
                judge.judge(rule, &request, &observed)?;
            }
            // The outside clocks decide: a probe that reports microseconds would never reach the
            // target by its own.
            let seen_ns = calibrate::seen_ns(observed.outside_wall_ns, observed.outside_cpu_ns);
            match calibrate::next_pilot(request.iterations, seen_ns, target_ns) {
                Pilot::Try(next) => request.iterations = next,
                Pilot::Stuck => {
                    return Err(Fault::does_not_repeat(request.iterations, observed.outside_wall_ns));
                }
                Pilot::Enough => {
                    let attempts = if description.jit { ATTEMPTS_JIT } else { ATTEMPTS };
                    return self.grows(&request, &judge, observed, attempts);
                }
            }
        }
    }

    /// Checks that four times the iterations take at least twice the CPU time, in one of
    /// `attempts`, of which the later are longer. The fewer iterations of the first are a quarter
    /// of those of `request`. If that is no whole number, a new sample replaces `long`.
    fn grows(
        &mut self,
        request: &RunRequest,
        judge: &Judge,
        mut long: Observed,
        attempts: usize,
    ) -> Result<(), Fault> {
        let few = (request.iterations / 4).max(1);
        let [mut shorter, mut longer] =
            [few, few.saturating_mul(4)].map(|iterations| RunRequest { iterations, ..request.clone() });
        if longer.iterations != request.iterations {
            long = self.believed(&longer, judge)?;
        }
        let mut attempt = 1;
        loop {
            // The short sample comes after the long one. Compiling code and filling caches would
            // otherwise take their time in the short one.
            let short = self.believed(&shorter, judge)?;
            let (short_ns, long_ns) = (short.sample.cpu_ns, long.sample.cpu_ns);
            if long_ns >= short_ns.saturating_mul(2) {
                return Ok(());
            }
            if attempt == attempts {
                return Err(Fault::ImpossibleTime(Wrong::clock(format!(
                    "{short_ns} ns of CPU time for {} iterations, {long_ns} ns for {}",
                    shorter.iterations, longer.iterations
                ))));
            }
            if shorter.iterations < few.saturating_mul(LENGTHENED) {
                for request in [&mut shorter, &mut longer] {
                    request.iterations = request.iterations.saturating_mul(2);
                }
            }
            long = self.believed(&longer, judge)?;
            attempt += 1;
        }
    }

    /// Asks for a sample, and checks its times against those seen from outside.
    fn believed(&mut self, request: &RunRequest, judge: &Judge) -> Result<Observed, Fault> {
        let observed = self.run(request)?;
        judge.judge_times(request.iterations, &observed)?;
        Ok(observed)
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
