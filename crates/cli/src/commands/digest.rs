//! `taskscale digest`: reads traces and prints two kilobytes and a diagnosis.

use std::{
    fs::File,
    io::{self, BufWriter, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use taskscale_digest::{Accumulator, Config};
use taskscale_model::span::{Account, Dropped, Span, SpanSink};
use taskscale_trace::{ChromeWriter, Options, Reader};

use crate::{
    args::{DigestArgs, DigestFormat},
    output::{self, Outcome},
};

/// Reads the traces in constant memory and prints their digest.
pub fn digest(args: &DigestArgs) -> anyhow::Result<Outcome> {
    let options =
        Options { cat: args.cat.clone(), name: args.name.clone(), align: args.align, ..Options::default() };
    let mut reader = Reader::new(options);
    let mut sink = Sink {
        accumulator: Accumulator::new(Config { workers: args.workers, ..Config::default() }),
        chrome: args.chrome.as_deref().map(chrome_writer).transpose()?,
    };
    let mut whole: Option<Account> = None;
    for path in &args.traces {
        let input = open(path)?;
        let account = reader.read(input, &mut sink).with_context(|| format!("{}", path.display()))?;
        whole = Some(match whole {
            None => account,
            Some(whole) => together(whole, account),
        });
    }
    let mut account = whole.unwrap_or_default();
    account.workers = reader.workers().len() as u64;
    if let Some((writer, path)) = sink.chrome {
        writer.finish().with_context(|| format!("cannot write {}", path.display()))?;
    }
    let digest = sink.accumulator.finish(&account);
    output::print(&match args.format {
        DigestFormat::Text => taskscale_report::digest_text(&digest),
        DigestFormat::Json => taskscale_report::digest_json(&digest),
        DigestFormat::Md => taskscale_report::digest_markdown(&digest),
        DigestFormat::Html => taskscale_report::digest_html(&digest),
    })?;
    if digest.tasks == 0 {
        output::tell(&nothing_counted(&account));
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Done)
}

/// Spans go into the digest, and into a clean trace if one was asked for.
struct Sink {
    accumulator: Accumulator,
    chrome: Option<(ChromeWriter<BufWriter<File>>, PathBuf)>,
}

impl SpanSink for Sink {
    fn span(&mut self, span: &Span<'_>) {
        self.accumulator.span(span);
        if let Some((chrome, _)) = &mut self.chrome {
            chrome.span(span);
        }
    }
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot open the trace {}", path.display()))?;
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

fn nothing_counted(account: &Account) -> String {
    let why: Vec<String> =
        account.dropped.iter().map(|dropped| format!("{} {}", dropped.events, dropped.reason)).collect();
    let why = if why.is_empty() { "it holds no events".to_owned() } else { why.join(", ") };
    format!("taskscale: no task was counted of {} events seen: {why}; see --cat and --name", account.seen)
}
