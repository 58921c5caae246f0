//! Reads run files in bounded memory, whatever is named as one, and writes old ones anew.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;
use taskscale_analysis::{
    ReadError, Run,
    guide::read::is_the_guide,
    read::{Damage, MAX_LINE, Parser},
};
use taskscale_model::run_file::{
    Record,
    line::{self, Check},
};
use taskscale_sys::fifo;
use taskscale_trace::unpack::Unpacked;

use crate::{
    output::{self, tell},
    store,
};

/// The largest run file that is read, in bytes. All suites with all their tables on all runtimes
/// take some 100 MB.
pub const MAX_FILE: u64 = 256 << 20;

/// How long a pipe with a name is waited for until something is written to it.
const PATIENCE_MS: i32 = 5_000;

/// How gzip and zstd data begin.
const PACKED: [&[u8]; 2] = [b"\x1F\x8B", b"\x28\xB5\x2F\xFD"];

/// Bytes by which a file's kind is told.
const BEGIN: usize = 4_096;

/// What is read, with the name that messages give it.
pub struct Source {
    from: BufReader<Unpacked<Box<dyn Read>>>,
    shown: String,
    path: PathBuf,
}

impl Source {
    /// Opens a file, a pipe with a name, or standard input (-), and reads its beginning. What gzip
    /// or zstd has packed is unpacked.
    pub fn open(path: &Path) -> anyhow::Result<Source> {
        let shown = path.display().to_string();
        let from: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let hint = if path.exists() { "" } else { "; `last` is the newest run" };
            Box::new(file(path).with_context(|| format!("cannot read the run file {shown}{hint}"))?)
        };
        let from = Unpacked::open(from).with_context(|| format!("cannot read the run file {shown}"))?;
        let from = BufReader::with_capacity(MAX_LINE + 1, from);
        Ok(Source { from, shown, path: path.to_owned() })
    }

    /// Whether it begins as a file of the guide.
    pub fn is_the_guide(&mut self) -> anyhow::Result<bool> {
        Ok(is_the_guide(self.begin()?))
    }

    /// All of its bytes.
    pub fn bytes(self) -> anyhow::Result<Vec<u8>> {
        let Source { mut from, shown, .. } = self;
        let mut bytes = Vec::new();
        let read = from.by_ref().take(MAX_FILE + 1).read_to_end(&mut bytes);
        read.with_context(|| format!("cannot read the run file {shown}"))?;
        if let Some(trouble) = from.get_ref().trouble() {
            bail!("cannot read the run file {shown}: {trouble}");
        }
        if bytes.len() as u64 > MAX_FILE {
            bail!(too_large(&shown));
        }
        Ok(bytes)
    }

    /// Reads it as a run.
    pub fn run(mut self, damage: Damage) -> anyhow::Result<Run> {
        let begin = self.begin()?;
        if PACKED.iter().any(|mark| begin.starts_with(mark)) {
            bail!("{} is packed twice: unpack it once before it is named", self.shown);
        }
        let (is_a_trace, kind) = (is_a_trace(begin), kind_of_output(begin));
        let mut parser = Parser::new(damage);
        let read = self.lines(|line| {
            match line {
                Some(line) => parser.line(line)?,
                None => parser.too_long()?,
            }
            Ok(())
        });
        let trouble = self.from.get_ref().trouble().map(str::to_owned);
        if let Some(trouble) = &trouble {
            tell(&format!("taskscale: {}: {trouble}; what came before it is read", self.shown));
        }
        let run = read.and_then(|()| Ok(parser.finish()?)).map(|mut run| {
            run.notes.extend(trouble);
            run
        });
        match run {
            Err(error)
                if kind.is_some() && matches!(error.downcast_ref(), Some(ReadError::NotARun { .. })) =>
            {
                let kind = kind.unwrap_or_default();
                bail!(
                    "{} is {kind}, and no run file; name one that `taskscale run -o` wrote, or `last`",
                    self.shown
                )
            }
            Err(error) if is_a_trace && matches!(error.downcast_ref(), Some(ReadError::NotARun { .. })) => {
                bail!(
                    "{} is a trace, not a run file: taskscale digest {}",
                    self.shown,
                    output::word(&self.path)
                )
            }
            run => run.with_context(|| format!("{} cannot be reported", self.shown)),
        }
    }

    /// The first bytes. They stay to be read.
    fn begin(&mut self) -> anyhow::Result<&[u8]> {
        let read = self.from.fill_buf();
        let bytes = read.with_context(|| format!("cannot read the run file {}", self.shown))?;
        Ok(&bytes[..bytes.len().min(BEGIN)])
    }

    /// Calls `take` with each line and its line feed, or with nothing for the beginning of a line
    /// that is longer than [`MAX_LINE`], whose rest is skipped.
    fn lines(&mut self, mut take: impl FnMut(Option<&[u8]>) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut line = Vec::new();
        let mut all = 0;
        loop {
            line.clear();
            let most = MAX_LINE as u64 + 2;
            let read = self.from.by_ref().take(most).read_until(b'\n', &mut line);
            let count = read.with_context(|| format!("cannot read the run file {}", self.shown))? as u64;
            if count == 0 {
                return Ok(());
            }
            all += count;
            let is_whole = line.ends_with(b"\n") || count < most;
            take(is_whole.then_some(&line[..]))?;
            if !is_whole {
                all += self.from.by_ref().take(MAX_FILE).skip_until(b'\n')? as u64;
            }
            if all > MAX_FILE {
                bail!(too_large(&self.shown));
            }
        }
    }
}

/// What a file is that this tool wrote for others to read.
fn kind_of_output(begin: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(begin);
    let text = text.trim_start().to_lowercase();
    let kinds = [
        (text.starts_with("<!doctype html"), "a page"),
        (text.starts_with("<svg"), "a picture"),
        (text.starts_with('{') && text.contains("\"taskscale.summary/"), "a report as JSON"),
        (text.starts_with('{') && text.contains("\"taskscale.compare/"), "a comparison as JSON"),
        (text.starts_with('{') && text.contains("\"taskscale.digest/"), "a digest as JSON"),
    ];
    kinds.into_iter().find_map(|(is_one, kind)| is_one.then_some(kind))
}

fn too_large(shown: &str) -> String {
    format!(
        "{shown} is larger than {} MiB, which no run file is; name a file that `taskscale run -o` wrote",
        MAX_FILE >> 20
    )
}

/// What the header of any run file has.
const HEADED: &str = "\"schema\":\"taskscale.run/";

/// Whether a file begins as a run file does. Of anything else that has a name nothing is read: what
/// a pipe gives is gone then.
pub fn is_a_run(path: &Path) -> bool {
    begins_with(path, HEADED)
}

/// The same of a text.
pub fn is_text_of_a_run(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(HEADED))
}

/// Whether a file has these words early on.
pub fn begins_with(path: &Path, words: &str) -> bool {
    beginning(path).is_some_and(|begin| String::from_utf8_lossy(&begin).contains(words))
}

/// Says which command reads a file that stands where a suite, a runtime or a probe is named; `None`
/// where it is neither a run file nor a trace.
pub fn read_by(path: &Path) -> Option<String> {
    let begin = beginning(path)?;
    let (kind, command) = if String::from_utf8_lossy(&begin).contains(HEADED) {
        ("run file", "report")
    } else if is_a_trace(&begin) && !begin.starts_with(b"#!") {
        ("trace", "digest")
    } else {
        return None;
    };
    Some(format!("{} is a {kind}: taskscale {command} {}", path.display(), output::word(path)))
}

/// The first bytes of a file, unpacked; `None` of all else that has a name.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let file = path.is_file().then(|| File::open(path).and_then(Unpacked::open))?;
    let mut begin = Vec::new();
    file.and_then(|file| file.take(BEGIN as u64).read_to_end(&mut begin)).ok()?;
    Some(begin)
}

/// Opens what has a name to read from it. A pipe is waited for, and not for ever.
pub fn open(path: &Path) -> anyhow::Result<File> {
    if std::fs::metadata(path).is_ok_and(|about| fifo::is(&about)) {
        return fifo::open(path, PATIENCE_MS)?.with_context(|| {
            format!("it is a pipe, and nothing was written to it for {} s", PATIENCE_MS / 1_000)
        });
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        bail!("it is a folder; name a file in it");
    }
    Ok(file)
}

fn file(path: &Path) -> anyhow::Result<File> {
    let file = open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.len() > MAX_FILE {
        bail!(too_large("it"));
    }
    Ok(file)
}

/// Reads a run file; - is standard input.
pub fn read(path: &Path) -> anyhow::Result<Run> {
    of(Source::open(path)?, Damage::Refused)
}

/// Reads a run, and says where nothing would show that it was changed.
pub fn of(source: Source, damage: Damage) -> anyhow::Result<Run> {
    let shown = source.shown.clone();
    let run = source.run(damage)?;
    if !run.is_checked {
        tell(&format!(
            "taskscale: {shown} has no check in its lines, as files of earlier versions: a changed digit would not be found"
        ));
    }
    Ok(run)
}

/// Writes a run file anew without home folders, users' names and secrets, each line with a check.
/// Damaged lines are left out where that is asked for.
///
/// # Errors
/// The file cannot be read, or its header is damaged: written anew, it would have a check that
/// fits.
pub fn redact(path: &Path, out: &Path, damage: Damage) -> anyhow::Result<Redacted> {
    // The first pass refuses what is damaged, and learns whose home folders are named.
    let run = read_for(path, damage)?;
    if run.is_header_damaged {
        bail!(
            "{}: line 1, the header, is damaged, and --redact would give it a check that fits; take the run again",
            path.display()
        );
    }
    let mut redactor = store::redactor();
    for record in run.runtimes.into_iter().map(Record::Runtime).chain([Record::Header(run.header.into())]) {
        redactor.learn(&serde_json::to_value(record)?);
    }
    let new = File::options().write(true).create_new(true).open(out);
    let mut new = io::BufWriter::new(new.with_context(|| match out.exists() {
        true => format!("{} exists; choose another name or remove it", out.display()),
        false => format!("cannot write {}", out.display()),
    })?);
    let mut changed = 0;
    let mut judge = Parser::new(damage);
    let mut is_first = true;
    Source::open(path)?.lines(|line| {
        let Some(line) = line else { return Ok(judge.too_long()?) };
        // A line that is left out of the run is left out here too.
        let before = judge.left_out();
        judge.line(line)?;
        let text = line.trim_ascii();
        if judge.left_out() > before || text.is_empty() {
            return Ok(());
        }
        let text = if std::mem::take(&mut is_first) { text.strip_prefix(MARK).unwrap_or(text) } else { text };
        let Ok(mut value) = serde_json::from_slice::<Value>(text) else { return Ok(()) };
        if let Value::Object(fields) = &mut value {
            fields.remove(line::FIELD);
        }
        let told = value.clone();
        redactor.redact(&mut value);
        changed += u64::from(value != told);
        new.write_all(&written(text, &told, value)?)
            .with_context(|| format!("cannot write {}", out.display()))
    })?;
    new.flush().with_context(|| format!("cannot write {}", out.display()))?;
    Ok(Redacted { changed, left_out: judge.left_out() })
}

/// What became of the lines of a file that was written anew.
#[derive(Debug, Clone, Copy)]
pub struct Redacted {
    /// Lines in which something was replaced.
    pub changed: u64,
    /// Damaged lines that the new file lacks.
    pub left_out: usize,
}

/// What some editors put before a text in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The line of a redacted record: as it was where nothing is replaced and it has its check, in the
/// order of this build's fields where it knows them all.
fn written(text: &[u8], told: &Value, redacted: Value) -> anyhow::Result<Vec<u8>> {
    if *told == redacted && line::check(text) == Check::Right {
        return Ok([text, b"\n"].concat());
    }
    if *told == redacted {
        return Ok(line::checked(text.to_vec()));
    }
    let known = serde_json::from_value::<Record>(redacted.clone()).ok();
    match known.filter(|record| serde_json::to_value(record).is_ok_and(|again| again == redacted)) {
        Some(record) => Ok(line::of(&record)?),
        None => Ok(line::checked(serde_json::to_vec(&redacted)?)),
    }
}

fn read_for(path: &Path, damage: Damage) -> anyhow::Result<Run> {
    if path == Path::new("-") {
        bail!("--redact reads its file twice, which standard input cannot be; name a file");
    }
    Source::open(path)?.run(damage)
}

/// Whether a file that is no run file looks like one that `taskscale digest` reads: packed, or with
/// the fields of Chrome's events among its first bytes.
fn is_a_trace(bytes: &[u8]) -> bool {
    let begin = String::from_utf8_lossy(bytes);
    bytes.starts_with(&[0x1f, 0x8b])
        || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || begin.contains("\"traceEvents\"")
        || begin.contains("\"ph\"")
}
