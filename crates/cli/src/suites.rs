//! Finds suites by name (built in) or by path (the user's).

use anyhow::{Context, bail};
use taskscale_model::suite::Suite;

use crate::{names, probes::embedded};

/// The suite that runs when none is named.
pub const DEFAULT: &str = "quick";

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
        let text =
            std::fs::read_to_string(name).with_context(|| format!("cannot read the suite file {name}"))?;
        return Suite::parse(&text).with_context(|| format!("suite file {name}"));
    }
    bail!("{}", names::no_suite(name))
}
