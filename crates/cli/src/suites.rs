//! Finds suites by name (built in) or by path (the user's).

use std::{io::Read, path::Path};

use anyhow::{Context, bail};
use taskscale_model::suite::Suite;

use crate::{names, probes::embedded, run_file};

/// The suite that runs when none is named.
pub const DEFAULT: &str = "quick";

/// The most bytes of a suite's file; the longest that is built in has 10 kB.
const LONGEST: u64 = 1 << 20;

/// Reads the suites named on the command line, or the default where none is named.
pub fn load(names: &[String]) -> anyhow::Result<Vec<Suite>> {
    if names.is_empty() {
        return Ok(vec![load_one(DEFAULT)?]);
    }
    names.iter().map(|name| load_one(name)).collect()
}

/// Reads all suites that are built in.
pub fn built_in() -> anyhow::Result<Vec<Suite>> {
    embedded::SUITES
        .iter()
        .map(|(name, text)| Suite::parse(text).with_context(|| format!("suite {name}")))
        .collect()
}

fn load_one(name: &str) -> anyhow::Result<Suite> {
    if let Some((_, text)) =
        embedded::SUITES.iter().find(|(known, _)| known.strip_suffix(".toml") == Some(name))
    {
        return Suite::parse(text).with_context(|| format!("suite {name}"));
    }
    if name.ends_with(".toml") || name.contains('/') {
        let mut text = String::new();
        let file =
            run_file::open(Path::new(name)).with_context(|| format!("cannot read the suite file {name}"))?;
        let read = file.take(LONGEST + 1).read_to_string(&mut text);
        read.with_context(|| format!("cannot read the suite file {name}"))?;
        // No TOML begins with a brace, nor with a list of them.
        let begin = text.trim_start();
        if begin.strip_prefix('[').unwrap_or(begin).trim_start().starts_with('{') {
            match run_file::is_text_of_a_run(begin) {
                true => bail!("{name} is a run file, no suite; `taskscale report {name}` shows it"),
                false => bail!("{name} is JSON, no suite; a trace is read by `taskscale digest {name}`"),
            }
        }
        if text.len() as u64 > LONGEST {
            bail!("{name} is no suite: it is longer than {} kB", LONGEST >> 10);
        }
        return Suite::parse(&text).with_context(|| format!("suite file {name}"));
    }
    bail!("{}", names::no_suite(name))
}
