//! `taskscale run guide`: runs the programs of Taskflow's performance guide, and prints what became
//! of its claims.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use taskscale_analysis::guide::{judge, read};
use taskscale_model::{
    guide::{Ended, Header, Judged, Library, Program, Record, SCHEMA, Standing, Verdict, Verdicts},
    missing::Missing,
};
use taskscale_sys::process::Command;

use crate::{
    args::{Format, ReportArgs, RunArgs, ShowArgs},
    commands::report,
    guide::{
        self, NAME, build, libraries, programs,
        schedule::{self, Again, Allowed, Plan, Seen},
        sitting::{self, Ending, Journal, Order},
    },
    interrupt::Interrupt,
    output::{self, Outcome, tell},
    probes::toolchain::Toolchain,
    store,
};

/// The longest wait for a line of a program, in seconds. The longest sample here takes one.
const SILENCE_S: f64 = 60.0;
/// Seconds of a sitting that ends after its rounds; programs take up to a thousand million.
const ENDLESS_S: f64 = 1e6;
/// The time between two lines where standard error is no terminal.
const MINUTE: Duration = Duration::from_secs(60);

/// Whether the words typed ask for the guide.
///
/// # Errors
/// It is asked for beside other suites, or `--claim` without it.
pub fn is_asked(args: &RunArgs) -> anyhow::Result<bool> {
    let named = args.suites.iter().any(|name| name == NAME);
    if named && args.suites.len() > 1 {
        bail!("{NAME} runs by itself: taskscale run {NAME}");
    }
    if !named && !args.claim.is_empty() {
        bail!("--claim is for the guide: taskscale run {NAME} --claim {}", args.claim[0]);
    }
    if let (false, Some(library)) = (named, args.library.first()) {
        bail!("--library is for the guide: taskscale run {NAME} --library {library}");
    }
    Ok(named)
}

/// Whose claims are shown, and which of them.
#[derive(Debug, Clone, Copy)]
struct Shown<'a> {
    claims: &'a [u32],
    /// The library whose table is shown; without one, Taskflow's with a mark for each other.
    library: Option<&'a str>,
}

/// Measures, keeps the samples and prints the verdicts.
pub fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    refuse_others(args)?;
    let interrupt = Interrupt::listen()?;
    let asked = Asked::of(args)?;
    let header = Header {
        schema: SCHEMA.into(),
        tool: env!("CARGO_PKG_VERSION").into(),
        command: std::env::args().collect(),
        started_unix_s: taskscale_sys::clock::unix_time_s(),
        machine: taskscale_sys::machine::read(),
        compiler: asked.toolchains.get(guide::TASKFLOW).map_or("", build::compilers_word).to_owned(),
        programs: asked.programs,
        libraries: asked.libraries,
        no_taskflow: asked.no_taskflow,
    };
    let kept = store::create(args.output.as_deref(), NAME, header.started_unix_s)?;
    let path = kept.path;
    let mut session = Session {
        plan: Plan::of(header.programs.len(), args.max_time, args.samples),
        silence_ns: (args.timeout.unwrap_or(SILENCE_S) * 1e9) as u64,
        toolchains: asked.toolchains,
        interrupt: interrupt.clone(),
        journal: Journal::new(kept.file),
        path: path.clone(),
        commands: BTreeMap::new(),
        progress: Progress::new(),
    };
    let only = match args.library.as_slice() {
        [one] if one != guide::TASKFLOW => Some(one.as_str()),
        _ => None,
    };
    let written = session.all(header);
    session.progress.clear();
    let named = args.output.as_deref().map_or(report::LAST.to_owned(), output::word);
    let shown = show_file(&path, Shown { claims: &args.claim, library: only }, &args.show, &named);
    written.with_context(|| {
        format!("cannot go on writing {}; what was measured before is kept there", path.display())
    })?;
    let verdicts = shown?;
    tell(&format!("Raw samples: {}", path.display()));
    let is_told = |verdict: Verdict| !matches!(verdict, Verdict::Failed | Verdict::NotMeasured);
    let mut all = verdicts.claims.iter().chain(verdicts.others.iter().flat_map(|other| &other.claims));
    Ok(match (interrupt.came(), all.any(|judged| is_told(judged.verdict))) {
        (true, _) => Outcome::Interrupted,
        (false, true) => Outcome::Done,
        (false, false) => Outcome::Nothing,
    })
}

/// What is to run, with what it is built with.
struct Asked {
    programs: Vec<Program>,
    libraries: Vec<Library>,
    no_taskflow: Option<Missing>,
    /// By library.
    toolchains: BTreeMap<String, Toolchain>,
}

impl Asked {
    /// # Errors
    /// No such claim; or no Taskflow, where nothing else is asked for.
    fn of(args: &RunArgs) -> anyhow::Result<Self> {
        let wants = |name: &str| match args.library.as_slice() {
            [] => args.all || name == guide::TASKFLOW,
            named => named.iter().any(|one| one == name) || args.all,
        };
        let mut asked = Asked {
            programs: Vec::new(),
            libraries: Vec::new(),
            no_taskflow: None,
            toolchains: BTreeMap::new(),
        };
        let of_taskflow = programs::of(&args.claim)?;
        if wants(guide::TASKFLOW) {
            match build::compiler() {
                Ok(compiler) => {
                    asked.toolchains.insert(guide::TASKFLOW.to_owned(), compiler);
                    asked.programs = of_taskflow;
                }
                Err(why) => asked.no_taskflow = Some(why),
            }
        }
        for library in libraries::ALL.iter().filter(|library| wants(library.name)) {
            let programs = programs::of_library(library, &args.claim);
            if programs.is_empty() {
                continue;
            }
            let found = library.find();
            let toolchain = found.as_ref().map(|found| found.version.clone()).map_err(Clone::clone);
            let program = found.as_ref().ok().map(|found| without_home(library.by_hand(found)));
            let name = library.name.to_owned();
            asked.libraries.push(Library { name, toolchain: toolchain.into(), program });
            if let Ok(found) = found {
                asked.toolchains.insert(library.name.to_owned(), found);
                asked.programs.extend(programs);
            }
        }
        let lacks = asked.libraries.iter().find_map(|library| library.toolchain.why());
        match (&asked.no_taskflow, lacks) {
            _ if !asked.programs.is_empty() => Ok(asked),
            (Some(why), _) => bail!("the guide needs Taskflow: {why}"),
            (None, Some(why)) => bail!("nothing that was asked for is here: {why}"),
            (None, None) => bail!(
                "no library but Taskflow has an experiment for claim {}",
                args.claim.first().copied().unwrap_or_default()
            ),
        }
    }
}

/// A path that tells nobody's home folder.
fn without_home(path: String) -> String {
    let mut path = serde_json::Value::String(path);
    store::redactor().redact(&mut path);
    path.as_str().unwrap_or_default().to_owned()
}

/// Says of an option that means nothing here.
fn refuse_others(args: &RunArgs) -> anyhow::Result<()> {
    let given = [
        ("--runtime", !args.runtime.is_empty()),
        ("--variant", !args.variant.is_empty()),
        ("--size", !args.size.is_empty()),
        ("--precision", args.precision.is_some()),
        ("--sample-time", args.sample_time.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--against", !args.against.is_empty()),
        ("--probe", !args.probe.is_empty()),
        ("--work", args.work.is_some()),
        ("--param", !args.param.is_empty()),
        ("--metrics", !args.metrics.is_empty()),
        ("--counts", args.counts),
        ("--quick", args.quick),
        ("--seed", args.seed.is_some()),
        ("--save-baseline", args.save_baseline.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => bail!(
            "{option} means nothing to the guide; it takes --claim, --library, --all, --max-time, --samples, \
             --timeout, --details, --format and --output"
        ),
        None => Ok(()),
    }
}

/// A run of the guide.
struct Session {
    plan: Plan,
    silence_ns: u64,
    /// What programs are built with, by library.
    toolchains: BTreeMap<String, Toolchain>,
    interrupt: Interrupt,
    journal: Journal,
    /// Where the journal lies: it is read between sittings.
    path: PathBuf,
    /// What starts each program, with the builds of its arms.
    commands: BTreeMap<String, Command>,
    progress: Progress,
}

impl Session {
    /// Compiles all programs, then starts each, then those again that lack rounds.
    fn all(&mut self, header: Header) -> std::io::Result<()> {
        let programs = header.programs.clone();
        self.journal.append(&Record::Header(Box::new(header)))?;
        let failed = self.compile(&programs);
        self.progress.forecasts(programs.len(), &self.plan);
        let began = Instant::now();
        let mut seen: Vec<Option<Seen>> = vec![None; programs.len()];
        for (place, program) in programs.iter().enumerate() {
            self.progress.measures(place, programs.len(), &program.claims);
            if self.interrupt.came() {
                break;
            }
            let ending = match failed.get(&program.name) {
                Some(why) => Ending::Failed(why.clone()),
                None => self.first(&program.name, &mut seen[place])?,
            };
            self.ended(program, ending)?;
        }
        let left_s = |began: &Instant, plan: &Plan| plan.budget_s - began.elapsed().as_secs_f64();
        let open = self.open()?;
        for (program, seen) in programs.iter().zip(&mut seen) {
            seen.iter_mut().for_each(|seen| seen.is_open = open.contains(&program.name));
        }
        while !self.interrupt.came()
            && let Some(Again { place, rounds, seconds }) =
                schedule::again(&seen, &self.plan, left_s(&began, &self.plan))
            && let Some(before) = seen[place].take()
        {
            let program = &programs[place];
            self.progress.measures(place, programs.len(), &program.claims);
            let sat = Instant::now();
            let (ending, starts) = match seconds {
                Some(seconds) => self.sitting(&program.name, before.starts, Allowed { rounds, seconds })?,
                None => (self.sit(&program.name, before.starts, rounds, ENDLESS_S)?, 1),
            };
            let whole = if let Ending::Whole { rounds } = ending { Some(rounds) } else { None };
            self.ended(program, ending)?;
            if let Some(rounds) = whole {
                seen[place] = Some(Seen {
                    rounds: before.rounds + rounds,
                    took_s: before.took_s + sat.elapsed().as_secs_f64(),
                    sittings: before.sittings + 1,
                    starts: before.starts + starts,
                    is_open: self.open()?.contains(&program.name),
                });
            }
        }
        let elapsed_s = began.elapsed().as_secs_f64();
        self.journal.end(elapsed_s, self.interrupt.came())
    }

    /// The programs of which a claim cannot be told so far, and might be with more rounds.
    fn open(&self) -> std::io::Result<BTreeSet<String>> {
        let bytes = std::fs::read(&self.path)?;
        // What cannot be read here is told when the file is shown.
        let Ok(file) = read::parse(&bytes) else { return Ok(BTreeSet::new()) };
        let verdicts = judge(&file);
        let all = verdicts.claims.iter().chain(verdicts.others.iter().flat_map(|other| &other.claims));
        let is_open = |judged: &&Judged| {
            judged.verdict == Verdict::CannotTell
                && judged.bounds.iter().any(|bound| bound.standing == Standing::CannotTell)
        };
        Ok(all.filter(is_open).map(|judged| judged.program.clone()).collect())
    }

    /// Compiles what is not compiled; returns what cannot be, with the reason.
    fn compile(&mut self, programs: &[Program]) -> BTreeMap<String, Missing> {
        // A library has one program for all of its experiments.
        let source = |program: &Program| program.library.clone().unwrap_or_else(|| program.name.clone());
        let mut sources: Vec<String> = programs.iter().map(source).collect();
        sources.dedup();
        let wanted: Vec<build::Wanted<'_>> = sources
            .iter()
            .filter_map(|name| {
                let of = libraries::named(name).map_or(guide::TASKFLOW, |library| library.name);
                Some((name.as_str(), self.toolchains.get(of)?))
            })
            .collect();
        let to_build = build::missing(&wanted);
        self.progress.compiles(to_build.len());
        let had = wanted.len() - to_build.len();
        let progress = &self.progress;
        let begun = AtomicUsize::new(0);
        let begins = |name: &str| {
            if to_build.contains(&name) {
                progress.begins(name, begun.fetch_add(1, Ordering::Relaxed) + 1, to_build.len());
            }
        };
        let done = |done: usize| progress.bar.set_position(done.saturating_sub(had) as u64);
        let built = build::all(&wanted, &self.interrupt, &begins, &done);
        let mut failed = BTreeMap::new();
        for program in programs {
            match built.get(&source(program)) {
                Some(Ok(command)) => {
                    let mut command = command.clone();
                    if program.library.is_some() {
                        command.args.push("--claim".to_owned());
                        command.args.extend(program.claims.first().map(u32::to_string));
                    }
                    self.commands.insert(program.name.clone(), command);
                }
                Some(Err(why)) => {
                    failed.insert(program.name.clone(), why.clone());
                }
                None => {}
            }
        }
        failed
    }

    /// The first sitting of a program. Arms that are programs of their own are compiled before.
    fn first(&mut self, program: &str, seen: &mut Option<Seen>) -> std::io::Result<Ending> {
        let began = Instant::now();
        let allowed = Allowed { rounds: self.plan.rounds, seconds: self.plan.sitting_s };
        let (mut ending, mut starts) = self.sitting(program, 0, allowed)?;
        if let Ending::Wants(arms) = ending {
            for arm in arms {
                let flags = arm.flags.as_deref().unwrap_or_default();
                // An arm that does not compile is left out; the program says so.
                let compiler = &self.toolchains[guide::TASKFLOW];
                if !build::is_there(compiler, program, flags) {
                    self.progress.line(&format!("compiling {program} with {flags}, once"));
                }
                let made = build::one(compiler, program, flags, &self.interrupt);
                let command = self.commands.get_mut(program);
                if let (Ok(made), Some(command)) = (made, command) {
                    command.args.extend(["--build".to_owned(), format!("{}={}", arm.name, made.program)]);
                }
            }
            (ending, starts) = self.sitting(program, 0, allowed)?;
            if let Ending::Wants(_) = ending {
                let why = "none of its arms compiles with flags of its own";
                ending = Ending::Failed(Missing::new(why, "compile it by hand to see more"));
            }
        }
        if let Ending::Whole { rounds } = ending {
            let took_s = began.elapsed().as_secs_f64();
            *seen = Some(Seen { rounds, took_s, sittings: 1, starts, is_open: false });
        }
        Ok(ending)
    }

    /// A sitting of a program that was started so often before, in several processes. Returns how
    /// the last of them ended, with the rounds of all, and how many there were.
    fn sitting(&mut self, program: &str, before: u64, allowed: Allowed) -> std::io::Result<(Ending, u64)> {
        let began = Instant::now();
        let (mut starts, mut made) = (0, 0);
        while let Some(next) = allowed.next(starts, made, began.elapsed().as_secs_f64()) {
            match self.sit(program, before + starts, next.rounds, next.seconds)? {
                Ending::Whole { rounds } => made += rounds,
                ending => return Ok((ending, starts)),
            }
            starts += 1;
        }
        Ok((Ending::Whole { rounds: made }, starts))
    }

    fn sit(&mut self, program: &str, sitting: u64, rounds: u64, seconds: f64) -> std::io::Result<Ending> {
        let Some(command) = self.commands.get(program).cloned() else {
            return Ok(Ending::Failed(Missing::new("it was not compiled", "run the guide again")));
        };
        let order = Order { program, command, sitting, rounds, seconds, silence_ns: self.silence_ns };
        sitting::sit(&order, &mut self.journal, &self.interrupt)
    }

    /// Keeps how a program ended; of one that was interrupted nothing is said.
    fn ended(&mut self, program: &Program, ending: Ending) -> std::io::Result<()> {
        let failed = match ending {
            Ending::Whole { .. } => None,
            Ending::Failed(why) => Some(why),
            Ending::Interrupted | Ending::Wants(_) => return Ok(()),
        };
        self.journal.append(&Record::Ended(Ended { program: program.name.clone(), failed }))
    }
}

/// Shows on a terminal what is under way, and elsewhere a line a minute.
struct Progress {
    bar: ProgressBar,
    terminal: bool,
    said: Instant,
}

impl Progress {
    fn new() -> Self {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let bar = if terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("taskscale: {msg} {bar:20} {pos} of {len} {elapsed}")
        {
            bar.set_style(style);
        }
        Progress { bar, terminal, said: Instant::now() }
    }

    fn compiles(&mut self, programs: usize) {
        if programs == 0 {
            return;
        }
        let what = if programs == 1 { "1 program".to_owned() } else { format!("{programs} programs") };
        self.line(&format!("compiling {what}, once: several seconds each"));
        self.bar.set_length(programs as u64);
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    /// Says before the first sitting how long all of them take.
    fn forecasts(&self, programs: usize, plan: &Plan) {
        let what = if programs == 1 { "one program".to_owned() } else { format!("{programs} programs") };
        tell(&format!(
            "taskscale: running {what}, up to {} in all",
            humantime::format_duration(Duration::from_secs(plan.budget_s.ceil() as u64))
        ));
    }

    /// One of them begins.
    fn begins(&self, name: &str, number: usize, of: usize) {
        self.line(&format!("compiling {name} ({number} of {of})"));
    }

    /// Says what is under way: on a terminal beside the bar.
    fn line(&self, line: &str) {
        if !self.terminal {
            tell(&format!("taskscale: {line}"));
        }
        self.bar.set_message(line.to_owned());
    }

    fn measures(&mut self, done: usize, of: usize, claims: &[u32]) {
        let claims: Vec<String> = claims.iter().map(u32::to_string).collect();
        let line = format!("guide, claim {}", claims.join(", "));
        if !self.terminal && self.said.elapsed() >= MINUTE {
            self.said = Instant::now();
            tell(&format!("taskscale: {line}, program {} of {of}", done + 1));
        }
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(line);
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Reads a file of the guide and prints its verdicts.
fn show_file(path: &Path, shown: Shown<'_>, show: &ShowArgs, run: &str) -> anyhow::Result<Verdicts> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let verdicts = verdicts_of(&bytes, path)?;
    print(&verdicts, shown, show, run)?;
    Ok(verdicts)
}

fn verdicts_of(bytes: &[u8], path: &Path) -> anyhow::Result<Verdicts> {
    let file = read::parse(bytes).with_context(|| format!("{} cannot be reported", path.display()))?;
    Ok(judge(&file))
}

fn print(verdicts: &Verdicts, shown: Shown<'_>, show: &ShowArgs, run: &str) -> anyhow::Result<()> {
    let Shown { claims, library } = shown;
    let is_whole = show.details || !claims.is_empty();
    output::print(&match show.format {
        Format::Text if is_whole => {
            taskscale_report::guide_text(verdicts, claims, library, &output::style(true))
        }
        Format::Text => taskscale_report::guide_overview(verdicts, library, &output::style(false), run),
        Format::Md => taskscale_report::guide_markdown(verdicts, claims, library),
        Format::Json => taskscale_report::guide_json(verdicts, claims, library),
    })
}

/// `taskscale report` of a file of the guide.
pub fn report(bytes: &[u8], path: &Path, args: &ReportArgs) -> anyhow::Result<()> {
    let given = [
        ("--baseline", args.baseline.is_some()),
        ("--runtime", args.runtime.is_some()),
        ("--variant", args.variant.is_some()),
        ("--size", args.size.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        bail!("{option} means nothing to the guide; --claim N and --library NAME show a part of it");
    }
    let verdicts = verdicts_of(bytes, path)?;
    let library = args.library.as_deref().filter(|name| *name != guide::TASKFLOW);
    let others = verdicts.others.iter().filter(|other| library.is_none_or(|name| other.name == name));
    let others: Vec<_> = others.collect();
    if let (Some(name), true) = (library, others.is_empty()) {
        bail!(
            "{} has no samples of {name}; to measure it: taskscale run {NAME} --library {name}",
            path.display()
        );
    }
    let taskflows = verdicts.claims.iter().filter(|_| library.is_none());
    let known: Vec<u32> =
        taskflows.chain(others.iter().flat_map(|other| &other.claims)).map(|judged| judged.claim).collect();
    if let Some(number) = args.claim.iter().find(|number| !known.contains(number)) {
        bail!("{}", no_claim(path, &verdicts, *number, library, &known));
    }
    let shown = Shown { claims: &args.claim, library };
    for file in &args.output {
        write(&verdicts, shown, file)?;
    }
    match args.output.is_empty() {
        true => print(&verdicts, shown, &args.show, &output::word(path)),
        false => Ok(()),
    }
}

/// Says which claims a file has, and how to measure the one that was asked for.
fn no_claim(path: &Path, verdicts: &Verdicts, number: u32, library: Option<&str>, known: &[u32]) -> String {
    let mut known: Vec<u32> = known.to_vec();
    known.sort_unstable();
    known.dedup();
    let list = known.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let names: Vec<&str> = verdicts.others.iter().map(|other| other.name.as_str()).collect();
    let of = match (library, verdicts.claims.is_empty(), names.as_slice()) {
        (Some(name), ..) => format!(" of {name}"),
        (None, true, [_, ..]) => format!(" of {}", names.join(", ")),
        _ => String::new(),
    };
    let has = if known.is_empty() { "it has none".to_owned() } else { format!("it has {list}{of}") };
    let by = library
        .and_then(libraries::named)
        .filter(|library| !programs::of_library(library, &[number]).is_empty())
        .map(|library| format!(" --library {}", library.name))
        .unwrap_or_default();
    let remedy = match programs::of(&[number]) {
        Ok(_) => format!("to measure it: taskscale run {NAME} --claim {number}{by}"),
        Err(error) => error.to_string(),
    };
    format!("{} has no claim {number}: {has}; {remedy}", path.display())
}

fn write(verdicts: &Verdicts, Shown { claims, library }: Shown<'_>, file: &PathBuf) -> anyhow::Result<()> {
    let plain = taskscale_report::Style { detailed: true, ..Default::default() };
    let text = match output::Ending::of(file)? {
        output::Ending::Text => taskscale_report::guide_text(verdicts, claims, library, &plain),
        output::Ending::Markdown => taskscale_report::guide_markdown(verdicts, claims, library),
        output::Ending::Json => taskscale_report::guide_json(verdicts, claims, library),
        _ => bail!("verdicts are written as .txt, .md or .json, not as {}", file.display()),
    };
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
