//! `taskscale digest`: reads traces and prints two kilobytes and a diagnosis.

use std::{
    cell::Cell,
    ffi::OsString,
    fs::File,
    io::{self, BufWriter, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::Digest,
    figure::time,
    partial::Labels,
    span::{Account, Dropped, FlowEvent, Span, SpanSink},
};
use taskscale_trace::{ChromeWriter, Options, Reader, Sorter, Unit, sort::When};

use super::merge::Sums;
use crate::{
    args::{DigestArgs, DigestFormat, SourceArgs, TimeUnit},
    output::{self, Outcome},
    progress, run_file,
};

/// Reads the traces in constant memory and prints their digest.
pub fn digest(args: &DigestArgs) -> anyhow::Result<Outcome> {
    if args.partial.is_some() || args.by.is_some() {
        return of_sources(args);
    }
    let SourceArgs { host, stage, rank } = &args.source;
    if host.is_some() || stage.is_some() || rank.is_some() {
        bail!("--host, --stage and --rank name the source of partial sums: add --partial OUT or --by");
    }
    let mut reading = Reading::new(args)?;
    let mut whole: Option<Account> = None;
    for path in &args.traces {
        let account = reading.trace(path)?;
        whole = Some(match whole {
            None => account,
            Some(whole) => together(whole, account),
        });
    }
    let mut account = whole.unwrap_or_default();
    account.workers = reading.reader.workers().len() as u64;
    if let Some((writer, path)) = reading.chrome {
        writer.finish().with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut digest = reading.sums.finish(&account);
    digest.name_threads(|worker| reading.reader.workers().name(worker));
    if args.unit.is_none()
        && let Some(note) = doubtful(digest.window_ns, digest.tasks)
    {
        digest.notes.insert(0, note);
    }
    if digest.tasks == 0 {
        output::tell(&nothing_counted(&args.traces, &account));
        return Ok(Outcome::Nothing);
    }
    show(&digest, args.format)?;
    Ok(Outcome::Done)
}

/// Prints a digest.
pub fn show(digest: &Digest, format: DigestFormat) -> anyhow::Result<()> {
    output::print(&match format {
        DigestFormat::Text => taskscale_report::digest_text(digest),
        DigestFormat::Json => taskscale_report::digest_json(digest),
        DigestFormat::Md => taskscale_report::digest_markdown(digest),
        DigestFormat::Html => {
            taskscale_report::digest_html(digest, &std::env::args_os().map(lossy).collect::<Vec<_>>())
        }
    })
}

/// Reads each trace as a source of its own, and prints the digest of their merged sums. A trace of
/// which nothing is counted is named and left out.
fn of_sources(args: &DigestArgs) -> anyhow::Result<Outcome> {
    if let Some(out) = &args.partial {
        spare_traces(out, &args.traces)?;
    }
    let mut sums = Sums::new(args.by);
    let mut left_out = false;
    for path in &args.traces {
        let mut reading = Reading::new(args)?;
        let mut account = reading.trace(path)?;
        account.workers = reading.reader.workers().len() as u64;
        if reading.sums.tasks() == 0 {
            output::tell(&nothing_counted(std::slice::from_ref(path), &account));
            left_out = true;
            continue;
        }
        let SourceArgs { host, stage, rank } = args.source.clone();
        let labels = Labels {
            host: Some(host.unwrap_or_else(|| stem(path))),
            stage,
            rank: rank.map(|rank| rank.to_string()),
        };
        let threads = reading.reader.workers();
        let partial = reading.sums.partial(&account, &labels, |worker| threads.name(worker));
        sums.add(partial).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    }
    sums.hand_out(args.partial.as_deref(), !left_out, args.format)
}

/// That the partial does not take the place of a trace.
fn spare_traces(out: &Path, traces: &[PathBuf]) -> anyhow::Result<()> {
    let Ok(whole) = out.canonicalize() else { return Ok(()) };
    if traces.iter().any(|trace| trace.canonicalize().is_ok_and(|trace| trace == whole)) {
        bail!("--partial {} would replace a trace that is to be read: name another file", out.display());
    }
    Ok(())
}

/// The name of a file up to its first dot.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let stem = name.find('.').filter(|dot| *dot > 0).map_or(&*name, |dot| &name[..dot]);
    if stem == "-" { String::new() } else { stem.to_owned() }
}

fn unit(unit: TimeUnit) -> Unit {
    match unit {
        TimeUnit::Ns => Unit::Ns,
        TimeUnit::Us => Unit::Us,
        TimeUnit::Ms => Unit::Ms,
        TimeUnit::S => Unit::S,
    }
}

/// A window of many tasks that is shorter is hardly one of microseconds: 3 s of seconds would be
/// one of 3 us, and three minutes of milliseconds one of 180 us. Tasks of 10 ns are not traced.
const SHORT_NS_PER_TASK: u64 = 10;

/// A window that is longer is hardly one of microseconds: 90 s of nanoseconds would be 25 hours.
const LONG_NS: u64 = 86_400_000_000_000;

/// What makes one doubt that the times of a trace are microseconds, and how to say what they are.
fn doubtful(window_ns: u64, tasks: u64) -> Option<String> {
    let window = match window_ns {
        ..LONG_NS => time(window_ns as f64),
        _ => format!("{:.1} days", window_ns as f64 / LONG_NS as f64),
    };
    if window_ns > LONG_NS {
        return Some(format!("the window is {window}: if the times are nanoseconds, say --unit ns"));
    }
    let short = tasks >= 2 && window_ns < tasks.saturating_mul(SHORT_NS_PER_TASK);
    short.then(|| {
        format!("{tasks} tasks in {window}: if the times are seconds or milliseconds, say --unit s or ms")
    })
}

/// A word of the command line that may be no text.
fn lossy(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}

/// The traces that are being read, and what becomes of their spans.
struct Reading {
    reader: Reader,
    sums: Accumulator,
    /// A clean trace, if one was asked for.
    chrome: Option<(ChromeWriter<BufWriter<File>>, PathBuf)>,
}

impl Reading {
    fn new(args: &DigestArgs) -> anyhow::Result<Self> {
        let options = Options {
            cat: args.cat.clone(),
            name: args.name.clone(),
            unit: args.unit.map(unit),
            align: args.align,
            ..Options::default()
        };
        Ok(Reading {
            reader: Reader::new(options),
            sums: Accumulator::new(Config { workers: args.workers, ..Config::default() }),
            chrome: args.chrome.as_deref().map(chrome_writer).transpose()?,
        })
    }

    /// Reads one trace; an error names it.
    fn trace(&mut self, path: &Path) -> anyhow::Result<Account> {
        self.read(path).map_err(|error| match run_file::is_a_run(path) {
            true => {
                let again = output::word(path);
                anyhow!("{} is a run file, not a trace: taskscale report {again}", path.display())
            }
            false => error.context(path.display().to_string()),
        })
    }

    /// Reads one trace. If its spans are out of order, or its flows are away from their tasks, they
    /// are sorted outside memory: a file is read a second time, and a stream is kept in a temporary
    /// file meanwhile.
    fn read(&mut self, path: &Path) -> anyhow::Result<Account> {
        let is_file = is_file(path);
        let before = self.sums.clone();
        let in_order = Cell::new(true);
        let mut sink = First {
            late: self.sums.late(),
            in_order: &in_order,
            kept: (!is_file).then(|| Sorter::new(When::InTheEnd)),
            sums: &mut self.sums,
            chrome: self.chrome.as_mut().map(|(chrome, _)| chrome),
            shown: 0,
        };
        let input = Until { input: open(path)?, goes_on: || in_order.get() || !is_file };
        let account = self.reader.read(input, &mut sink)?;
        let First { kept, shown, .. } = sink;
        let right_pool = self.reader.pool_is_right();
        if in_order.get() && self.reader.flows_are_sure() && right_pool {
            return Ok(account);
        }
        self.sums = before;
        // What the clean trace has is of the other pool.
        let shown = if right_pool { shown } else { 0 };
        match kept {
            Some(kept) => self.take_sorted(kept, account),
            None => self.read_sorted(path, shown),
        }
    }

    /// Reads a file whose spans are out of order. The clean trace has the first `shown` of them
    /// already.
    fn read_sorted(&mut self, path: &Path, shown: u64) -> anyhow::Result<Account> {
        let chrome = self.chrome.as_mut().map(|(chrome, _)| chrome);
        let mut sink = Second { sorter: Sorter::new(When::AtOnce), chrome, shown };
        let account = self.reader.read_again(open(path)?, &mut sink)?;
        let Second { sorter, .. } = sink;
        self.take_sorted(sorter, account)
    }

    fn take_sorted(&mut self, mut sorter: Sorter, mut account: Account) -> anyhow::Result<Account> {
        let bar = progress::sorting();
        let mut show = |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        };
        let told =
            sorter.resolve(&self.reader).and_then(|()| sorter.finish(&mut self.sums, &mut show)).context(
                "cannot sort the spans, which are out of order, in a temporary file; TMPDIR names its folder",
            )?;
        if let Some(told) = told {
            self.reader.retell(told, &mut account);
        }
        bar.finish_and_clear();
        Ok(account)
    }
}

/// Takes the spans of a trace as they come.
struct First<'r> {
    sums: &'r mut Accumulator,
    /// How many spans came late before this trace.
    late: u64,
    in_order: &'r Cell<bool>,
    /// All that a stream has given, which cannot be read again.
    kept: Option<Sorter>,
    chrome: Option<&'r mut ChromeWriter<BufWriter<File>>>,
    /// The number of spans that the clean trace has.
    shown: u64,
}

impl SpanSink for First<'_> {
    fn span(&mut self, span: &Span<'_>) {
        self.sums.span(span);
        self.in_order.set(self.sums.late() == self.late);
        if let Some(kept) = &mut self.kept {
            kept.span(span);
        }
        if let Some(chrome) = &mut self.chrome {
            chrome.span(span);
            self.shown += 1;
        }
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.sums.ready(ready_ns, start_ns);
        if let Some(kept) = &mut self.kept {
            kept.ready(ready_ns, start_ns);
        }
    }

    fn flow(&mut self, event: &FlowEvent) {
        if let Some(kept) = &mut self.kept {
            kept.flow(event);
        }
    }
}

/// Takes the spans of a trace that is read a second time, to sort them.
struct Second<'r> {
    sorter: Sorter,
    chrome: Option<&'r mut ChromeWriter<BufWriter<File>>>,
    /// The number of spans still to come that the clean trace has already.
    shown: u64,
}

impl SpanSink for Second<'_> {
    fn span(&mut self, span: &Span<'_>) {
        self.sorter.span(span);
        match (&mut self.chrome, self.shown) {
            (Some(chrome), 0) => chrome.span(span),
            (_, shown) => self.shown = shown.saturating_sub(1),
        }
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.sorter.ready(ready_ns, start_ns);
    }

    fn flow(&mut self, event: &FlowEvent) {
        self.sorter.flow(event);
    }
}

/// Input that ends early once it is no longer wanted.
struct Until<R, F> {
    input: R,
    goes_on: F,
}

impl<R: Read, F: Fn() -> bool> Read for Until<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.goes_on)() { self.input.read(buffer) } else { Ok(0) }
    }
}

/// Whether it can be read a second time: what a pipe gave is gone.
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.is_file())
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = run_file::open(path).with_context(|| format!("cannot open the trace {}", path.display()))?;
    Ok(Box::new(file))
}

/// Creates the clean trace. A file that exists is not written over: it may be the trace that is
/// being read.
fn chrome_writer(path: &Path) -> anyhow::Result<(ChromeWriter<BufWriter<File>>, PathBuf)> {
    let file = File::create_new(path)
        .with_context(|| format!("cannot create {}; name a file that does not exist yet", path.display()))?;
    Ok((ChromeWriter::new(BufWriter::new(file)), path.to_owned()))
}

/// Makes the accounts of two files one.
fn together(mut a: Account, b: Account) -> Account {
    if a.format != b.format {
        a.format = format!("{} + {}", a.format, b.format);
    }
    (a.bytes, a.seen, a.counted) = (a.bytes + b.bytes, a.seen + b.seen, a.counted + b.counted);
    a.untold += b.untold;
    // The coarser clock bounds what can be told about both.
    a.clock_resolution_ns = a.clock_resolution_ns.max(b.clock_resolution_ns);
    for Dropped { reason, events } in b.dropped {
        match a.dropped.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.events += events,
            None => a.dropped.push(Dropped { reason, events }),
        }
    }
    a.dropped.sort_by_key(|dropped| std::cmp::Reverse(dropped.events));
    for note in b.notes {
        if !a.notes.contains(&note) {
            a.notes.push(note);
        }
    }
    a
}

fn nothing_counted(traces: &[PathBuf], account: &Account) -> String {
    let of: Vec<String> = traces.iter().map(|path| path.display().to_string()).collect();
    let why: Vec<String> =
        account.dropped.iter().map(|dropped| format!("{} {}", dropped.events, dropped.reason)).collect();
    let why = if why.is_empty() { "it holds no events".to_owned() } else { why.join(", ") };
    format!(
        "taskscale: {}: no task was counted of {} events seen: {why}; see --cat and --name",
        of.join(", "),
        account.seen
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_microseconds_hardly_have_is_doubted() {
        assert_eq!(
            doubtful(3_000, 2_000),
            Some(
                "2000 tasks in 3.00 us: if the times are seconds or milliseconds, say --unit s or ms".into()
            )
        );
        let said = doubtful(40 * 365 * 86_400_000_000_000, 9).expect("doubtful");
        assert!(said.contains("14600.0 days") && said.contains("--unit ns"), "{said}");
        assert_eq!(doubtful(3_000, 4), None);
        assert_eq!(doubtful(3_600_000_000_000, 1_000_000), None);
    }
}
