//! The runtimes that this tool knows by name, and how it finds each on this machine.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::bail;
use taskscale_bench::{
    fault::Fault,
    plan::Found,
    probe::{HANDSHAKE_NS, Probe},
};
use taskscale_model::{
    missing::Missing,
    protocol::Description,
    run_file::{RuntimeRecord, RuntimeState},
    suite::{StreamOf, Suite},
};
use taskscale_sys::process::Command;

use crate::{
    described,
    interrupt::Interrupt,
    names,
    probes::{
        build::{Job, Kept, Unwatched, Watch},
        languages,
        recipe::Source,
        toolchain::{Toolchain, on_path},
    },
    run_file,
};

/// The runtimes whose probe is linked into this binary.
const BUILT_IN: [&str; 4] = ["tokio", "rayon", "smol", "threads"];

/// Runtimes that take part only where a table or the user names them: an old library, kept for one
/// known defect of it, and what a process has to be started with: .NET with another collector or
/// with methods that the runtime suspends, Java and Node with a heap that is not collected.
const BY_NAME: [&str; 6] = [
    "tokio+futures-0.3.17",
    "java+large-young",
    "node+large-semi-space",
    "csharp+server-gc",
    "csharp+runtime-async",
    "fsharp+server-gc",
];

#[derive(Debug, Clone)]
pub enum Standing {
    /// The probe can be started.
    Ready(Command),
    /// The toolchain is on this machine; the probe is built at first use.
    Unbuilt(Job),
    /// The probe is not to be had; the value says why.
    Missing(Missing),
}

/// A runtime that was looked for.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The name as the user typed it.
    pub id: String,
    /// Whether the user named it.
    pub asked: bool,
    pub standing: Standing,
    /// How its probe is made, where it is made on this machine.
    pub job: Option<Job>,
    /// Whether its probe was built before this process looked for it.
    pub kept: bool,
    /// The candidate, by the name the user typed, whose rows are judged against this one's.
    pub old_of: Option<String>,
    /// Whether only the floors of streams are wanted of it.
    pub only_floors: bool,
}

impl Candidate {
    fn new(id: &str, asked: bool, job: Result<Option<Job>, Missing>) -> Self {
        let (standing, job) = match job {
            Err(missing) => (Standing::Missing(missing), None),
            Ok(None) => (built_in(id), None),
            Ok(Some(job)) => (standing(&job), Some(job)),
        };
        let kept = job.is_some() && matches!(standing, Standing::Ready(_));
        Candidate { id: id.into(), asked, standing, job, kept, old_of: None, only_floors: false }
    }

    /// Whether its probe is still to be built.
    pub fn is_unbuilt(&self) -> bool {
        matches!(self.standing, Standing::Unbuilt(_))
    }

    /// Builds the probe where that is still to be done.
    pub fn prepare(&mut self, watch: &dyn Watch) {
        if let Standing::Unbuilt(job) = &self.standing {
            self.standing = match job.build(watch) {
                Ok(command) => Standing::Ready(command),
                Err(missing) => Standing::Missing(missing),
            };
        }
    }
}

fn standing(job: &Job) -> Standing {
    match job.kept() {
        Kept::Whole(command) | Kept::Part(command) => Standing::Ready(command),
        // Files for an interpreter are laid out at once.
        Kept::Nothing if job.is_built_of_nothing() => match job.build(&Unwatched) {
            Ok(command) => Standing::Ready(command),
            Err(missing) => Standing::Missing(missing),
        },
        Kept::Nothing => Standing::Unbuilt(job.clone()),
    }
}

fn built_in(name: &str) -> Standing {
    match std::env::current_exe() {
        Ok(binary) => Standing::Ready(Command::new(binary.to_string_lossy(), ["probe", "serve", name])),
        Err(error) => {
            Standing::Missing(Missing::new(format!("cannot find this program's own file: {error}"), ""))
        }
    }
}

/// Returns every runtime's name, in the order of the tables.
pub fn known() -> impl Iterator<Item = &'static str> {
    BUILT_IN.into_iter().chain(languages::ALL.iter().flat_map(|language| language.runtimes).copied())
}

/// Tells whether the probe of that runtime is linked into this binary.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name)
}

/// Adds the runtimes whose rows tell what the machine asks for, where the user named others: of
/// them only these rows are wanted.
pub fn add_floors(suites: &[Suite], candidates: &mut Vec<Candidate>) -> anyhow::Result<()> {
    let streams = suites.iter().flat_map(|suite| &suite.workloads).filter_map(|block| block.stream.as_ref());
    for name in streams.flat_map(StreamOf::runtimes) {
        if !candidates.iter().any(|candidate| split_id(&candidate.id).0 == name) {
            candidates.push(Candidate { asked: false, only_floors: true, ..named(name)? });
        }
    }
    Ok(())
}

/// Adds the runtimes that are others without their collector, where the user named those: each
/// takes part in the tables that name it.
pub fn add_counterparts(suites: &[Suite], candidates: &mut Vec<Candidate>) -> anyhow::Result<()> {
    let blocks = suites.iter().flat_map(|suite| &suite.workloads);
    for (off, on) in blocks.filter_map(|block| block.split.as_ref()).flat_map(|split| &split.off_runtimes) {
        let of_it = candidates.iter().map(|candidate| split_id(&candidate.id));
        let toolchains: Vec<Option<String>> =
            of_it.filter(|(name, _)| name == on).map(|(_, toolchain)| toolchain.map(str::to_owned)).collect();
        for toolchain in toolchains {
            let id = toolchain.map_or_else(|| off.clone(), |toolchain| format!("{off}@{toolchain}"));
            if !candidates.iter().any(|candidate| candidate.id == id) {
                candidates.push(Candidate { asked: false, ..named(&id)? });
            }
        }
    }
    Ok(())
}

/// Tells whether that runtime takes part only where it is named.
pub fn is_by_name(id: &str) -> bool {
    BY_NAME.contains(&split_id(id).0)
}

/// Returns the runtimes asked for, or all known ones where nothing is; then the user's own probes.
/// `--runtime` may name an own probe too.
pub fn candidates(asked: &[String], probes: &[String]) -> anyhow::Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    if asked.is_empty() && probes.is_empty() {
        candidates.extend(all());
    }
    let is_own = |id: &&String| probes.iter().any(|probe| names_probe(id, probe));
    for id in asked.iter().filter(|id| !is_own(id)) {
        candidates.push(named(id)?);
    }
    for probe in probes {
        candidates.push(own(probe)?);
    }
    candidates.dedup_by(|a, b| a.id == b.id);
    Ok(candidates)
}

/// All runtimes that are known, looked for side by side: a compiler takes half a second to say its
/// version. Those of one language are looked for one after another, since they share its files.
fn all() -> Vec<Candidate> {
    let language = |name: &str| languages::of_runtime(name).map(|language| language.name);
    let mut groups: Vec<Vec<&'static str>> = Vec::new();
    for name in known() {
        match groups.last_mut().filter(|group| language(group[0]) == language(name)) {
            Some(group) => group.push(name),
            None => groups.push(vec![name]),
        }
    }
    let of_group = |group: Vec<&'static str>| -> Vec<Candidate> {
        group.into_iter().map(|name| Candidate::new(name, false, job(name, None))).collect()
    };
    side_by_side(groups, &of_group).into_iter().flatten().collect()
}

/// The most answers that are waited for side by side. Most of the time of one is reading files and
/// compiling, so that more would only crowd out each other.
const SIDE_BY_SIDE: usize = 8;

/// Applies `of` to each of `all` on a few threads, and returns the results in their order.
fn side_by_side<T: Send, R: Send>(all: Vec<T>, of: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    let threads = SIDE_BY_SIDE.min(all.len());
    let todo = Mutex::new(all.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((place, one)) = next() {
                    let result = of(one);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Whether `id` is an own probe as it was typed, or its file without folder or ending.
fn names_probe(id: &str, probe: &str) -> bool {
    let path = Path::new(probe);
    let is = |part: Option<&std::ffi::OsStr>| part.is_some_and(|part| part == id);
    id == probe || is(path.file_name()) || is(path.file_stem())
}

/// Splits `NAME` or `NAME@TOOLCHAIN` into name and toolchain.
pub fn split_id(id: &str) -> (&str, Option<&str>) {
    id.split_once('@').map_or((id, None), |(name, toolchain)| (name, Some(toolchain)))
}

/// Finds the runtime that `id` (`NAME` or `NAME@TOOLCHAIN`) names.
pub fn named(id: &str) -> anyhow::Result<Candidate> {
    let (name, toolchain) = split_id(id);
    if !known().any(|known| known == name) {
        bail!("{}", names::no_runtime(name));
    }
    if BUILT_IN.contains(&name) && toolchain.is_some() {
        bail!("{name} is built into taskscale and has no toolchain to choose; say --runtime {name}");
    }
    Ok(Candidate::new(id, true, job(name, toolchain)))
}

/// Says how the probe of a runtime is made; `None` for those that are built in.
fn job(runtime: &str, toolchain: Option<&str>) -> Result<Option<Job>, Missing> {
    let Some(language) = languages::of_runtime(runtime) else { return Ok(None) };
    let source = Source::Runtime(runtime.into());
    let toolchain = (language.find)(toolchain, &source)?;
    Ok(Some(Job { language, toolchain, source }))
}

/// Finds a probe of the user's: a single file in a language we know (`my_probe.go`,
/// `my_probe.py@python3.8`), or a command.
pub fn own(probe: &str) -> anyhow::Result<Candidate> {
    let Some((path, language, toolchain)) = file(probe) else {
        if is_absent(probe) {
            bail!(
                "--probe {probe}: there is no such file; say where it is, or `taskscale new-probe LANG` writes one"
            );
        }
        let command = split(probe)?;
        if let Some(reader) = run_file::read_by(Path::new(&command.program)) {
            bail!("{reader}; --probe takes a program");
        }
        let standing = Standing::Ready(with_sdk(command));
        return Ok(Candidate {
            id: probe.into(),
            asked: true,
            standing,
            job: None,
            kept: false,
            old_of: None,
            only_floors: false,
        });
    };
    let source = Source::File(path);
    let job = (language.find)(toolchain, &source).map(|toolchain| Some(Job { language, toolchain, source }));
    Ok(Candidate::new(probe, true, job))
}

/// Lets a command that hands a file to an interpreter (`python3 my_probe.py`) find our SDK too, as
/// the file alone would.
fn with_sdk(mut command: Command) -> Command {
    let program = Path::new(&command.program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = command.args.iter().map(PathBuf::from).find(|path| path.is_file());
    let language = path.as_ref().and_then(|path| languages::of_file(path));
    let (Some(path), Some(language)) = (path, language) else { return command };
    if program.starts_with(language.name) {
        let toolchain = Toolchain { program: command.program.clone().into(), version: String::new() };
        let job = Job { language, toolchain, source: Source::File(path) };
        // A probe that has an SDK of its own works even where ours cannot be laid out.
        if let Ok(alone) = job.build(&Unwatched) {
            command.env.extend(alone.env);
        }
    }
    command
}

/// Returns the file that `probe` names, its language, and the toolchain asked for.
fn file(probe: &str) -> Option<(PathBuf, &'static languages::Language, Option<&str>)> {
    let whole = Path::new(probe).is_file().then_some((probe, None));
    let (path, toolchain) = whole.or_else(|| {
        let (path, toolchain) = probe.rsplit_once('@')?;
        Path::new(path).is_file().then_some((path, Some(toolchain)))
    })?;
    let path = PathBuf::from(path);
    let language = languages::of_file(&path)?;
    Some((path, language, toolchain))
}

/// Whether `probe` is the name of a file in a language we know, with or without a toolchain, and
/// neither a file nor a program of that name is there.
fn is_absent(probe: &str) -> bool {
    let path = probe.rsplit_once('@').map_or(probe, |(path, _)| path);
    let is_one_word = !probe.contains(char::is_whitespace);
    is_one_word && languages::of_file(Path::new(path)).is_some() && on_path(path).is_none()
}

/// Splits a command as a shell would.
pub fn split(command: &str) -> anyhow::Result<Command> {
    match shlex::split(command).as_deref() {
        Some([program, args @ ..]) => Ok(Command::new(program.clone(), args.to_vec())),
        _ => bail!("not a command: {command:?}; quote it as for a shell: --probe 'python3 my_probe.py'"),
    }
}

/// A runtime after the handshake.
#[derive(Debug, Clone)]
pub struct Shaken {
    /// What the plan takes.
    pub found: Found,
    /// What the run file takes.
    pub record: RuntimeRecord,
    /// What the launcher starts; absent where the probe cannot be started.
    pub command: Option<Command>,
}

/// How long a probe has to say what it is, however impatient the user is with its answers: an
/// interpreter comes up meanwhile.
const START_NS: u64 = 5_000_000_000;

/// Starts each candidate's probe once, several side by side, and asks what it is. Tells equal names
/// apart: an old side becomes `mine#old`, any other `mine#2`. A probe has `timeout_s`
/// seconds to answer, [`START_NS`] at least, and [`HANDSHAKE_NS`] where nothing was said. One that
/// was kept and does not answer as it should is built anew. Ends early where the user asks to stop.
pub fn shake_hands(candidates: Vec<Candidate>, timeout_s: Option<f64>, watch: &dyn Watch) -> Vec<Shaken> {
    let mut shaken: Vec<Shaken> = Vec::new();
    // Pairs of the name that the user typed and the name in the run.
    let mut typed: Vec<(String, String)> = Vec::new();
    let timeout_ns = timeout_s.map_or(HANDSHAKE_NS, |seconds| ((seconds * 1e9) as u64).max(START_NS));
    // Interpreters and virtual machines come up side by side.
    let shake = |candidate: Candidate| {
        let described = (!Interrupt::has_come()).then(|| describe(&candidate, timeout_ns))?;
        Some((candidate, described))
    };
    for one in side_by_side(candidates, &shake) {
        let Some((mut candidate, described)) = one else { break };
        let described = heal(&mut candidate, described, timeout_ns, watch);
        let (as_typed, old_of) = (candidate.id.clone(), candidate.old_of.clone());
        let mut one = shaken_hand(candidate, described);
        let taken = |id: &str| shaken.iter().any(|other| other.found.id == id);
        if old_of.is_some() && taken(&one.found.id) {
            one.found.id.push_str("#old");
        }
        if let Some(number) = (2..).find(|number| !taken(&numbered(&one.found.id, *number - 1))) {
            one.found.id = numbered(&one.found.id, number - 1);
        }
        let named =
            |new: &String| typed.iter().find(|(as_typed, _)| as_typed == new).map(|(_, id)| id.clone());
        one.found.old_of = old_of.as_ref().and_then(named);
        (one.record.id, one.record.old_of) = (one.found.id.clone(), one.found.old_of.clone());
        if old_of.is_none() {
            typed.push((as_typed, one.found.id.clone()));
        }
        if let Ok(description) = &one.found.description {
            described::keep(&one.found.id, description);
        }
        shaken.push(one);
    }
    shaken
}

fn numbered(id: &str, number: u64) -> String {
    if number == 1 { id.to_owned() } else { format!("{id}#{number}") }
}

/// Starts a candidate's probe, and builds it anew where it was kept and does not answer as it
/// should.
///
/// # Errors
/// It does not answer for all that.
pub fn answers(candidate: &mut Candidate, watch: &dyn Watch) -> Result<(), Missing> {
    let described = describe(candidate, HANDSHAKE_NS);
    heal(candidate, described, HANDSHAKE_NS, watch).map(drop).map_err(Missing::from)
}

/// What came of a handshake.
type Described = Result<Description, Unshaken>;

/// Why a probe did not say what it is.
enum Unshaken {
    /// There is none to start.
    Missing(Missing),
    Fault(Fault),
}

impl From<Unshaken> for Missing {
    fn from(unshaken: Unshaken) -> Missing {
        match unshaken {
            Unshaken::Missing(missing) => missing,
            Unshaken::Fault(fault) => fault.to_missing(),
        }
    }
}

/// Starts a probe and asks what it is.
fn describe(candidate: &Candidate, timeout_ns: u64) -> Described {
    let command = match &candidate.standing {
        Standing::Ready(command) => command,
        Standing::Missing(missing) => return Err(Unshaken::Missing(missing.clone())),
        Standing::Unbuilt(job) => {
            return Err(Unshaken::Missing(Missing::new(
                format!("not built yet ({})", job.toolchain.version),
                format!("taskscale setup {}, or any run of it", candidate.id),
            )));
        }
    };
    let described = Probe::start(command).and_then(|mut probe| probe.describe(timeout_ns));
    described.map_err(Unshaken::Fault)
}

/// Builds a kept probe anew that did not answer as it should, and asks once more.
fn heal(candidate: &mut Candidate, described: Described, timeout_ns: u64, watch: &dyn Watch) -> Described {
    let Some(job) = candidate.job.clone().filter(|_| candidate.kept) else { return described };
    let fault = match described {
        Ok(description) => {
            job.works();
            return Ok(description);
        }
        // What is slow, and what is not on this machine, a build does not change.
        Err(Unshaken::Fault(fault)) if !matches!(fault, Fault::TimedOut { .. } | Fault::NotHere(_)) => fault,
        described => return described,
    };
    match job.anew(&fault.to_string(), watch) {
        Ok(None) => Err(Unshaken::Fault(fault)),
        Err(missing) => Err(Unshaken::Missing(missing)),
        Ok(Some(command)) => {
            candidate.standing = Standing::Ready(command);
            let described = describe(candidate, timeout_ns);
            if described.is_ok() {
                job.works();
            }
            described
        }
    }
}

fn shaken_hand(candidate: Candidate, described: Described) -> Shaken {
    let Candidate { id, asked, standing, only_floors, .. } = candidate;
    let line = |command: &Command| std::iter::once(&command.program).chain(&command.args).cloned().collect();
    let described = described.map_err(Missing::from);
    let command = match standing {
        Standing::Ready(command) => Some(command),
        Standing::Missing(_) | Standing::Unbuilt(_) => None,
    };
    let is_own = !known().any(|name| split_id(&id).0 == name);
    // A user's probe goes by the name that it gives itself.
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
            old_of: None,
            state,
        },
        found: Found {
            by_name: is_by_name(&id),
            id,
            asked,
            only_floors,
            old_of: None,
            description: described,
        },
        command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_side_by_side_keeps_its_order() {
        let numbers: Vec<u64> = (0..100).collect();
        let slow_first = |n: u64| {
            std::thread::sleep(std::time::Duration::from_micros(500 - 5 * n));
            n
        };
        assert_eq!(side_by_side(numbers.clone(), &slow_first), numbers);
        assert!(side_by_side(Vec::<u64>::new(), &slow_first).is_empty());
    }

    #[test]
    fn mistakes_say_what_there_is() {
        let error = named("toki").expect_err("unknown").to_string();
        assert!(error.contains("There are tokio, rayon") && error.contains("--probe CMD"), "{error}");
        let error = named("tokio@1.2").expect_err("no toolchain").to_string();
        assert!(error.contains("built into taskscale"), "{error}");
        let Standing::Missing(missing) = named("asyncio@/no/such/python").expect("known").standing else {
            panic!("found")
        };
        assert_eq!(missing.reason, "/no/such/python is not a program on this machine");
        assert!(split("'open").is_err() && split("").is_err());
        for absent in ["absent.py", "/no/such/absent.rs@/usr/bin/cargo"] {
            let error = own(absent).expect_err("no file").to_string();
            assert!(error.starts_with(&format!("--probe {absent}: there is no such file")), "{error}");
        }
        assert!(own("python3 absent.py").is_ok(), "a command says so itself");
    }
}
