//! `taskscale merge`: adds partial sums of digests, and prints the digest of the whole.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use anyhow::{Context, bail};
use taskscale_digest::partial;
use taskscale_model::{
    digest::{Group, Groups},
    partial::{Labels, MOST_BYTES, Partial, ReadError, read, write},
};

use crate::{
    args::{By, DigestFormat, MergeArgs},
    output::{self, Outcome},
    run_file,
};

/// Merges the files one by one. What is no whole partial is named and left out.
pub fn merge(args: &MergeArgs) -> anyhow::Result<Outcome> {
    if args.partials.iter().filter(|path| **path == *Path::new("-")).count() > 1 {
        bail!("- is named twice, and standard input can be read once");
    }
    let mut sums = Sums::new(args.by);
    let mut left_out = 0;
    for path in &args.partials {
        left_out += of_file(path, &mut |partial| sums.add(partial))?;
    }
    if sums.whole.is_none() {
        output::tell("taskscale: no partial could be read, so there is nothing to merge");
    }
    sums.hand_out(args.output.as_deref(), left_out == 0, args.format)
}

/// Hands on all partials of a file, which stand in a line each. The result is how many of them
/// could not be read, each of which is told.
fn of_file(path: &Path, take: &mut dyn FnMut(Partial) -> Result<(), String>) -> anyhow::Result<u64> {
    let mut left_out = 0;
    let mut tell = |line: Option<usize>, why: &str| {
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        output::tell(&format!("taskscale: {}{line} is left out: {why}", path.display()));
        left_out += 1;
    };
    let mut from = match open(path) {
        Ok(from) => from,
        Err(error) => {
            tell(None, &format!("{error:#}"));
            return Ok(left_out);
        }
    };
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let got = (&mut from).take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut line);
        if let Err(error) = got {
            tell(None, &format!("it cannot be read: {error}"));
            break;
        }
        number += 1;
        if line.is_empty() && number > 1 {
            break;
        }
        let more = !line.is_empty();
        let at = (number > 1).then_some(number);
        match read(&line).map_err(|error| error.to_string()).and_then(&mut *take) {
            Ok(()) => {}
            Err(why) => {
                tell(at, &why);
                // What is no partial at all has no lines to look at.
                if !more || number == 1 && read(&line) == Err(ReadError::Other) {
                    break;
                }
            }
        }
        if line.len() > MOST_BYTES {
            break;
        }
    }
    Ok(left_out)
}

fn open(path: &Path) -> anyhow::Result<BufReader<Box<dyn Read>>> {
    let from: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(run_file::open(path)?),
    };
    Ok(BufReader::with_capacity(32 * 1024, from))
}

/// The whole, and its groups if there are to be any.
pub struct Sums {
    by: Option<By>,
    groups: BTreeMap<String, Partial>,
    whole: Option<Partial>,
}

impl Sums {
    pub fn new(by: Option<By>) -> Self {
        Sums { by, groups: BTreeMap::new(), whole: None }
    }

    /// Adds the sums of one source, or of several.
    ///
    /// # Errors
    /// It is to be grouped and belongs to several groups.
    pub fn add(&mut self, partial: Partial) -> Result<(), String> {
        if let Some(by) = self.by {
            let Labels { host, stage, rank } = &partial.labels;
            let (label, several) = match by {
                By::Host => (host, "hosts"),
                By::Stage => (stage, "stages"),
                By::Rank => (rank, "ranks"),
            };
            let Some(label) = label else {
                return Err(format!(
                    "it is a merge of several {several}, which cannot be parted again: name the files of each"
                ));
            };
            add(&mut self.groups, label, &partial);
        }
        match &mut self.whole {
            Some(whole) => partial::merge(whole, &partial),
            whole @ None => *whole = Some(partial),
        }
        Ok(())
    }

    /// Writes the whole to `path` where all was read, and prints its digest. Nothing comes of no
    /// sums.
    pub fn hand_out(
        &self,
        path: Option<&Path>,
        all_read: bool,
        format: DigestFormat,
    ) -> anyhow::Result<Outcome> {
        let Some(whole) = &self.whole else { return Ok(Outcome::Nothing) };
        match path {
            Some(path) if all_read => save(path, whole)?,
            Some(path) => {
                output::tell(&format!("taskscale: {} is not written: not all was read", path.display()));
            }
            None => {}
        }
        self.show(format)?;
        Ok(if all_read { Outcome::Done } else { Outcome::Nothing })
    }

    /// Prints the digest of the whole, or of each group and the whole.
    fn show(&self, format: DigestFormat) -> anyhow::Result<()> {
        let Some(whole) = &self.whole else { return Ok(()) };
        let whole = partial::digest(whole);
        let Some(by) = self.by else { return super::digest::show(&whole, format) };
        let by = match by {
            By::Host => "host",
            By::Stage => "stage",
            By::Rank => "rank",
        };
        let groups = self.groups.iter().map(|(name, partial)| Group {
            name: name.clone(),
            sources: partial.sources,
            digest: partial::digest(partial),
        });
        let groups = Groups::new(by, groups.collect(), whole);
        output::print(&match format {
            DigestFormat::Text => taskscale_report::digests_text(&groups),
            DigestFormat::Json => taskscale_report::digests_json(&groups),
            DigestFormat::Md => taskscale_report::digests_markdown(&groups),
            DigestFormat::Html => bail!("--by prints text, md or json; a page shows one digest"),
        })
    }
}

fn add(groups: &mut BTreeMap<String, Partial>, label: &str, partial: &Partial) {
    match groups.get_mut(label) {
        Some(group) => partial::merge(group, partial),
        None => {
            groups.insert(label.to_owned(), partial.clone());
        }
    }
}

/// Writes a file whole or not at all, so that a command that is killed leaves no part of one. A
/// file that is there is replaced: the command may be the second try.
fn save(path: &Path, partial: &Partial) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let is_file = |path: &Path| std::fs::metadata(path).map_or(true, |about| about.is_file());
    if !is_file(path) {
        // A pipe or a device is written to as it is.
        let mut file = File::options().write(true).open(path).with_context(failed)?;
        return file.write_all(&write(partial)).with_context(failed);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut file = new_file(folder).with_context(failed)?;
    file.write_all(&write(partial)).with_context(failed)?;
    file.persist(path).map_err(|error| error.error).with_context(failed)?;
    Ok(())
}

/// A file of no name yet, which others may read like any that a command writes.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".taskscale-").permissions(mode).tempfile_in(folder)
}
