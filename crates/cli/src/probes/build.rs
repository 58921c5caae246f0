//! Follows a recipe once. The result is kept under a name that is a hash of everything it was made
//! from.

use std::{
    fs,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

use taskscale_bench::probe::OWN_FILE;
use taskscale_model::missing::Missing;
use taskscale_sys::{
    clock, own,
    process::{Child, Command, Exit, IoProblem},
};

use crate::{
    folders::{self, UserFolder},
    interrupt::Interrupt,
    output,
};

use super::{
    cache, content,
    embedded::{self, content_hash},
    languages::{Language, python},
    recipe::{Recipe, Site, Source, Step, name_of},
    toolchain::Toolchain,
};

/// Time limit of one step. Rust's takes a minute on two busy cores, with everything it depends on.
const STEP_NS: u64 = 900_000_000_000;

/// Time between two checks of whether the user wants to stop.
const LOOK_NS: u64 = 100_000_000;

/// Lines shown of a compiler's message, from the first that holds "error". The whole is kept in a
/// file.
const SHOWN: usize = 12;

/// Observes a build and can stop it.
pub trait Watch {
    /// A build begins; `line` says which one.
    fn begins(&self, line: &str);
    /// The build goes on; `last` is the last line that was said, if any.
    fn ticks(&self, last: &str);
    /// The build is over; `words` are the compiler's where it failed.
    fn ends(&self, words: &str);
    /// Something that a user should know, and that nobody asked for.
    fn tells(&self, line: &str) {
        output::tell(&format!("taskscale: {line}"));
    }
    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Observes no build: for those that take no time.
#[derive(Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&self, _: &str) {}
    fn ticks(&self, _: &str) {}
    fn ends(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        Interrupt::has_come()
    }
}

/// A probe that can be made here.
#[derive(Debug, Clone)]
pub struct Job {
    pub language: &'static Language,
    pub toolchain: Toolchain,
    pub source: Source,
}

/// How much of a probe lies in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The whole probe.
    Whole(Command),
    /// The probe without a part that could not be had, such as a package without a network.
    Part(Command),
    /// Nothing that fits sources and toolchain, or something that is damaged.
    Nothing,
}

/// What was found where a probe should lie.
enum Found {
    Nothing,
    /// What was built has changed since; says how.
    Damaged(String),
    Built(Marker),
}

impl Job {
    /// Returns what was built before and still fits sources and toolchain.
    pub fn kept(&self) -> Kept {
        let Ok(key) = self.key() else { return Kept::Nothing };
        let Some(path) = cache::find(&self.folder(&key)) else { return Kept::Nothing };
        let folder = Folder::of(&path);
        let run = self.recipe(folder.as_site()).run;
        match folder.found(&key) {
            Found::Built(marker) if marker.complete => Kept::Whole(run),
            Found::Built(_) => Kept::Part(run),
            Found::Damaged(_) | Found::Nothing => Kept::Nothing,
        }
    }

    /// Tells whether its files need only be laid out.
    pub fn is_built_of_nothing(&self) -> bool {
        self.recipe(Site { src: Path::new("src"), out: Path::new("out") }).steps.is_empty()
    }

    /// Builds the probe unless it is built. Several processes that want the same one wait for the
    /// first.
    ///
    /// # Errors
    /// Says what failed, with the compiler's first complaint, and where the whole log lies.
    pub fn build(&self, watch: &dyn Watch) -> Result<Command, Missing> {
        match self.kept() {
            Kept::Whole(run) | Kept::Part(run) => Ok(run),
            Kept::Nothing => self.make(watch, None),
        }
    }

    /// Builds the probe again where a part is missing.
    ///
    /// # Errors
    /// As [`Job::build`].
    pub fn complete(&self, watch: &dyn Watch) -> Result<Command, Missing> {
        match self.kept() {
            Kept::Whole(run) => Ok(run),
            Kept::Part(_) | Kept::Nothing => self.make(watch, None),
        }
    }

    /// Builds a probe again that is kept and does not work, and says why: what it was linked with
    /// may be another by now. Returns `None` where that was done before and it worked no better.
    ///
    /// # Errors
    /// As [`Job::build`].
    pub fn anew(&self, why: &str, watch: &dyn Watch) -> Result<Option<Command>, Missing> {
        match self.marker() {
            Some(marker) if marker.anew => Ok(None),
            _ if self.is_built_of_nothing() => Ok(None),
            _ => self.make(watch, Some(why)).map(Some),
        }
    }

    /// Notes that a kept probe works: if it was built anew, it would be so again.
    pub fn works(&self) {
        let Some(path) = self.key().ok().and_then(|key| cache::find(&self.folder(&key))) else { return };
        let marker = Folder::of(&path).marker;
        let Ok(text) = cache::read(&marker, content::LONGEST) else { return };
        if let Some((first, rest)) = text.split_once('\n')
            && let Some(first) = first.strip_suffix(ANEW)
        {
            // Without the note only the next repair is missing.
            cache::write(&marker, &format!("{first}\n{rest}")).ok();
        }
    }

    /// Returns the marker of what is kept.
    fn marker(&self) -> Option<Marker> {
        let key = self.key().ok()?;
        match Folder::of(&cache::find(&self.folder(&key))?).found(&key) {
            Found::Built(marker) => Some(marker),
            Found::Damaged(_) | Found::Nothing => None,
        }
    }

    /// Builds the probe, with the reason where it was built before.
    fn make(&self, watch: &dyn Watch, anew: Option<&str>) -> Result<Command, Missing> {
        let key = self.key()?;
        let held = cache::hold(&self.folder(&key), &self.name(), watch)?;
        let folder = Folder::of(&held.path);
        let recipe = self.recipe(folder.as_site());
        let quiet = recipe.steps.is_empty();
        match (folder.found(&key), anew) {
            // Another process may have built it while this one waited for the folder.
            (Found::Built(Marker { complete: true, .. }), None) if !quiet => return Ok(recipe.run),
            (Found::Built(Marker { anew: true, .. }), Some(_)) => return Ok(recipe.run),
            (Found::Damaged(why), _) => {
                watch.tells(&format!("{} in the cache is damaged: {why}; it is made anew", self.name()));
            }
            (_, Some(why)) => {
                watch.tells(&format!("{} in the cache does not work: {why}; it is made anew", self.name()));
            }
            _ => (),
        }
        if !quiet {
            watch.begins(&format!("building {} with {}, once", self.name(), self.toolchain.version));
        }
        let made = self.follow(&recipe, &folder, watch);
        let words = made.as_ref().err().map(|failure| failure.words.clone()).unwrap_or_default();
        if !quiet {
            watch.ends(&words);
        }
        let complete = made.map_err(|failure| failure.missing)?;
        let files = content::list(&held.path, &Folder::PARTS);
        let files = files.map_err(|error| unreadable(&held.path, &error))?;
        let marker = Marker { complete, anew: anew.is_some(), files };
        let written = cache::write(&folder.marker, &marker.text(&key));
        written.map_err(|error| unwritable(&folder.marker, &error))?;
        Ok(recipe.run)
    }

    /// Lays the sources and takes the steps. Returns `Ok(false)` where a part was left out.
    fn follow(&self, recipe: &Recipe, folder: &Folder, watch: &dyn Watch) -> Result<bool, Failure> {
        // Half a build from another time must not look like this one's.
        for old in [&folder.src, &folder.out, &folder.log, &folder.marker] {
            cache::remove(old).map_err(|error| Failure::from(unwritable(old, &error)))?;
        }
        fs::create_dir_all(&folder.out).map_err(|error| Failure::from(unwritable(&folder.out, &error)))?;
        let extra: Vec<(&str, &str)> =
            recipe.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        for files in [self.language.files, &extra] {
            cache::lay(&folder.src, files)
                .map_err(|error| Failure::from(Missing::new(format!("{error:#}"), "")))?;
        }
        let mut complete = true;
        for step in &recipe.steps {
            complete &= self.take(step, folder, watch)?;
        }
        Ok(complete)
    }

    /// Takes one step. Returns `Ok(false)` where its first attempt failed and the probe is of use
    /// all the same.
    fn take(&self, step: &Step, folder: &Folder, watch: &dyn Watch) -> Result<bool, Failure> {
        let mut failure = None;
        for (number, command) in step.attempts.iter().enumerate() {
            match execute(command, &folder.src, &folder.log, watch) {
                Ok(()) => return Ok(number == 0),
                // The first attempt is the one that is meant; what the others say follows from it.
                Err(why) => failure = failure.or(Some(why)),
            }
            if watch.interrupted() {
                break;
            }
        }
        match failure {
            Some(_) if step.optional && !watch.interrupted() => Ok(false),
            Some((first, words)) => {
                // An error of rustc's is one of the code, whatever was to be fetched.
                let is_of_code = step.hint.is_empty() || first.contains("error[E");
                let hint = if is_of_code { String::new() } else { format!("; {}", step.hint) };
                Err(Failure {
                    missing: Missing::new(
                        format!("{} does not build with {}: {first}", self.name(), self.toolchain.version),
                        format!("all that was said is in {}{hint}", folder.log.display()),
                    ),
                    words,
                })
            }
            None => Ok(true),
        }
    }

    /// The name by which a user calls it: `the probe of go`, `my_probe.go`.
    fn name(&self) -> String {
        match &self.source {
            // This is not a probe but the library of `shim`.
            Source::Runtime(name) if self.language.runtimes.is_empty() => name.clone(),
            Source::Runtime(runtime) => format!("the probe of {runtime}"),
            Source::File(path) => path.display().to_string(),
        }
    }

    fn recipe(&self, site: Site<'_>) -> Recipe {
        let mut recipe = (self.language.recipe)(&self.toolchain, &self.source, site);
        if let Source::File(path) = &self.source {
            recipe.run.env.push((OWN_FILE.to_owned(), name_of(path)));
        }
        recipe
    }

    /// Hashes everything the result depends on: sources, steps, toolchain, and the user's file.
    fn key(&self) -> Result<String, Missing> {
        let recipe = self.recipe(Site { src: Path::new("src"), out: Path::new("out") });
        let text = match &self.source {
            Source::Runtime(runtime) => runtime.clone(),
            Source::File(path) => {
                let bytes = fs::read(path).map_err(|error| {
                    Missing::new(
                        format!("cannot read {}: {error}", path.display()),
                        "name a file that is there",
                    )
                })?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let steps = format!("{recipe:?}");
        let program = self.toolchain.program();
        let files = self.language.files.iter().flat_map(|(name, text)| [*name, *text]);
        let all = files.chain([&*text, &*steps, &*program, &*self.toolchain.version]);
        Ok(format!("{:016x}", content_hash(all)))
    }

    /// Returns the folder below the cache. Each version has its own: a run that is under way keeps
    /// what it began with while the file is changed and built again.
    fn folder(&self, key: &str) -> String {
        match &self.source {
            Source::Runtime(_) => format!("probes/{}-{key}", self.language.name),
            Source::File(path) => {
                format!("own/{}-{key}", path.file_stem().unwrap_or_default().to_string_lossy())
            }
        }
    }
}

/// Says why a probe could not be made.
struct Failure {
    missing: Missing,
    /// What the compiler said.
    words: String,
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        Failure { missing, words: String::new() }
    }
}

/// The parts of a held folder.
struct Folder {
    src: PathBuf,
    out: PathBuf,
    log: PathBuf,
    marker: PathBuf,
}

impl Folder {
    /// What the marker lists.
    const PARTS: [&str; 2] = ["src", "out"];

    fn of(path: &Path) -> Self {
        let part = |name: &str| path.join(name);
        let [src, out] = Folder::PARTS.map(part);
        Folder { src, out, log: part("build.log"), marker: part("built") }
    }

    /// Looks at what lies here, by its marker.
    fn found(&self, key: &str) -> Found {
        let text = match cache::read(&self.marker, content::LONGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
            Err(error) => return Found::Damaged(format!("its list of files cannot be read ({error})")),
        };
        let Some(marker) = Marker::parse(&text, key) else {
            return Found::Damaged("its list of files is cut".into());
        };
        if ![&self.src, &self.out].into_iter().all(|part| own::find(part).is_ok()) {
            return Found::Damaged("a folder of it is not there, or not the user's own".into());
        }
        let place = self.marker.parent().unwrap_or(Path::new("/"));
        content::differs(place, &Folder::PARTS, &marker.files).map_or(Found::Built(marker), Found::Damaged)
    }

    fn as_site(&self) -> Site<'_> {
        Site { src: &self.src, out: &self.out }
    }
}

/// Says what was built: a line with the key, the files of [`content::list`], and a last line, by
/// which a marker that is cut is told.
struct Marker {
    /// Whether no part was left out.
    complete: bool,
    /// Whether it was built again since it did not work, and nobody has seen it work since.
    anew: bool,
    files: String,
}

/// Ends the first line of a marker where the probe was built anew.
const ANEW: &str = " anew";

/// The last line of a marker.
const END: &str = "end\n";

impl Marker {
    fn text(&self, key: &str) -> String {
        let state = if self.complete { "whole" } else { "part" };
        let anew = if self.anew { ANEW } else { "" };
        format!("{key} {state}{anew}\n{}{END}", self.files)
    }

    fn parse(text: &str, key: &str) -> Option<Marker> {
        let (first, rest) = text.split_once('\n')?;
        let (first, anew) = first.strip_suffix(ANEW).map_or((first, false), |first| (first, true));
        let state = first.strip_prefix(key)?.strip_prefix(' ')?;
        let complete = state == "whole";
        // An empty list would let everything pass.
        let files = rest.strip_suffix(END).filter(|files| !files.is_empty())?.to_owned();
        (complete || state == "part").then_some(Marker { complete, anew, files })
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Missing {
    Missing::new(format!("cannot read {}: {error}", path.display()), remove_or_set(path))
}

fn unwritable(path: &Path, error: &io::Error) -> Missing {
    Missing::new(format!("cannot write {}: {error}", path.display()), remove_or_set(path))
}

/// What to do about a part of the cache that cannot be had.
fn remove_or_set(path: &Path) -> String {
    format!("remove {}, or {}", path.display(), UserFolder::Cache.remedy())
}

/// Makes the virtual environment with uvloop, trio and anyio for an interpreter, unless it is
/// there.
///
/// # Errors
/// As [`Job::build`]; also where there is no network or no `venv` module.
pub fn environment(python: &Toolchain, watch: &dyn Watch) -> Result<(), Missing> {
    let what = format!("the packages of {}", python.version);
    let held = cache::hold(&python::environment_folder(python), &what, watch)?;
    let done = held.path.join("installed.txt");
    if cache::read(&done, content::LONGEST).is_ok_and(|text| text == python::requirements()) {
        return Ok(());
    }
    let (src, log) = (held.path.join("src"), held.path.join("build.log"));
    cache::remove(&log).map_err(|error| unwritable(&log, &error))?;
    cache::lay(&src, embedded::PYTHON_PROBE).map_err(|error| Missing::new(format!("{error:#}"), ""))?;
    watch.begins(&format!("installing uvloop, trio and anyio for {} ({})", python.version, python.program()));
    for step in python::environment_steps(python, &held.path) {
        for command in &step.attempts {
            if let Err((first, words)) = execute(command, &src, &log, watch) {
                watch.ends(&words);
                return Err(Missing::new(
                    format!("uvloop, trio and anyio cannot be installed for {}: {first}", python.version),
                    format!(
                        "all that was said is in {}; is there a network, and python3-venv?",
                        log.display()
                    ),
                ));
            }
        }
    }
    watch.ends("");
    cache::write(&done, python::requirements()).map_err(|error| unwritable(&done, &error))
}

/// Executes one command in `directory` and sends all its output to the log. The error is its first
/// complaint, and the lines that are shown with it.
fn execute(
    command: &Command,
    directory: &Path,
    log: &Path,
    watch: &dyn Watch,
) -> Result<(), (String, String)> {
    // The shell only sends both streams into the file. Nothing of them is lost or held in memory.
    let script = "exec >> \"$0\" 2>&1; echo \"+ $*\"; exec \"$@\"";
    let mut words = vec!["-c".to_owned(), script.to_owned(), log.to_string_lossy().into_owned()];
    words.push(command.program.clone());
    words.extend(command.args.iter().cloned());
    let mut shell = Command {
        env: command.env.clone(),
        env_remove: command.env_remove.clone(),
        directory: Some(command.directory.clone().unwrap_or_else(|| directory.to_owned())),
        ..Command::new("/bin/sh", words)
    };
    fs::write(log, "").ok();
    let failed = |why: String| (why, String::new());
    // What a compiler leaves when it is killed lies in our folder.
    let temporary = folders::scratch().map_err(|missing| failed(missing.to_string()))?;
    shell.env.push(("TMPDIR".into(), temporary.path().to_string_lossy().into_owned()));
    let mut child = Child::spawn(&shell).map_err(|error| failed(error.to_string()))?;
    let deadline_ns = clock::monotonic_ns().saturating_add(STEP_NS);
    let exit = loop {
        let now_ns = clock::monotonic_ns();
        match child.read_line(deadline_ns.min(now_ns.saturating_add(LOOK_NS))) {
            Err(IoProblem::Closed { exit: Some(exit) }) => break exit,
            _ if watch.interrupted() => return Err(failed("interrupted".into())),
            _ if now_ns >= deadline_ns => {
                return Err(failed(format!("no end within {} s", STEP_NS / 1_000_000_000)));
            }
            // The command's standard output goes to the log, so its pipe is closed from the start.
            // The loop waits for the end of the process.
            Err(IoProblem::Closed { exit: None }) => match child.exit() {
                Ok(Some(exit)) => break exit,
                _ => std::thread::sleep(std::time::Duration::from_nanos(LOOK_NS / 4)),
            },
            _ => (),
        }
        watch.ticks(&last_line(log));
    };
    if exit == Exit::Code(0) {
        return Ok(());
    }
    let said = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let lines: Vec<&str> = said.as_deref().unwrap_or_default().lines().skip(1).collect();
    let complaint =
        lines.iter().position(|line| complains(line)).unwrap_or(lines.len().saturating_sub(SHOWN));
    let shown: Vec<&str> = lines.iter().skip(complaint).take(SHOWN).copied().collect();
    let first = shown.first().map_or_else(|| exit.to_string(), |line| line.trim().to_owned());
    Err((first, shown.join("\n")))
}

/// The most bytes of a log that are read for its last line.
const TAIL: u64 = 4 << 10;

/// The last line of a log that says something, behind the command itself.
fn last_line(log: &Path) -> String {
    let tail = || {
        let mut file = fs::File::open(log)?;
        let from = file.metadata()?.len().saturating_sub(TAIL);
        let mut bytes = Vec::new();
        file.seek(io::SeekFrom::Start(from))?;
        file.take(TAIL).read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    // A log that cannot be read shows nothing.
    let tail = tail().unwrap_or_default();
    let mut said = tail.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("+ "));
    said.next_back().unwrap_or_default().to_owned()
}

/// What cargo says of its way: a crate may be called `thiserror`.
const ON_THE_WAY: [&str; 6] =
    ["Compiling ", "Downloading ", "Downloaded ", "Updating ", "Locking ", "Adding "];

/// Whether a line of a compiler says what is wrong. Go's begins with its place and has no word for
/// it; what types there were stands below, behind a tab, and may name `error`.
fn complains(line: &str) -> bool {
    const OTHERS: [&str; 3] = ["warning", "note:", "required from"];
    let place = line.split(": ").next().unwrap_or_default();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let has_place = place.contains('.') && place.split(':').skip(1).take(1).any(is_number);
    let begins = has_place && place.len() < line.len() && !OTHERS.iter().any(|word| line.contains(word));
    let on_the_way = ON_THE_WAY.iter().any(|word| line.trim_start().starts_with(word));
    begins || (!line.starts_with('\t') && !on_the_way && line.to_lowercase().contains("error"))
}

#[cfg(test)]
mod tests {
    use super::{complains, last_line};

    #[test]
    fn the_last_line_of_a_log_is_what_was_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("build.log");
        assert_eq!(last_line(&log), "");
        let long = "\n   Compiling one".repeat(1_000);
        for (text, last) in [
            ("+ cargo build\n", ""),
            ("+ cargo build\n   Compiling tokio v1.54.1\n\n", "Compiling tokio v1.54.1"),
            (&*format!("+ cargo build{long}\n   Compiling two"), "Compiling two"),
        ] {
            std::fs::write(&log, text).expect("written");
            assert_eq!(last_line(&log), last);
        }
    }

    #[test]
    fn the_line_with_its_place_is_the_complaint() {
        for (said, expected) in [
            (
                "# mine\n./fixed.go:22:2: not enough return values\n\thave (sdk.Timing)\n\twant (sdk.Timing, error)",
                1,
            ),
            ("x.cpp: In function 'int main()':\nx.cpp:3:1: warning: unused\nx.cpp:9:2: error: no", 2),
            ("In file included from a.hpp:3,\na.cpp:1:2:   required from here\na.hpp:5:6: error: no", 2),
            ("  Downloaded thiserror v2.0\n   Compiling thiserror v2.0\nerror: no such command", 2),
            ("   Compiling mine\nerror[E0425]: cannot find\n --> src/x.rs:3:5", 1),
            ("Mine.java:3: error: ';' expected", 0),
            ("/x/mine.swift:3:4: error: cannot find", 0),
        ] {
            let lines: Vec<&str> = said.lines().collect();
            assert_eq!(lines.iter().position(|line| complains(line)), Some(expected), "{said}");
        }
    }
}
