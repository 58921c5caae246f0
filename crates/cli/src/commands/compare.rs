//! `taskscale compare`: of two run files, which rows got worse.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use taskscale_report::{CompareBy, CompareOptions};

use crate::{
    args::{CompareArgs, CompareFormat, CompareMetric},
    baselines,
    commands::report,
    output::{self, Outcome},
};

/// Reads both files and prints the verdicts; a finding where a row is worse.
pub fn compare(args: &CompareArgs) -> anyhow::Result<Outcome> {
    let (old, new) = files(args)?;
    let read = |path: &Path| report::read(path);
    let before = match &args.baseline {
        Some(name) => read(&old).with_context(|| no_baseline(name))?,
        None => read(&old)?,
    };
    let now = read(&new)?;
    let options = CompareOptions {
        metric: match args.metric {
            CompareMetric::Cpu => CompareBy::Cpu,
            CompareMetric::Wall => CompareBy::Wall,
        },
        threshold: args.threshold,
    };
    let (old, new) = (old.display().to_string(), new.display().to_string());
    let comparison = taskscale_report::compare((&old, &before), (&new, &now), &options);
    output::print(&match args.format {
        CompareFormat::Text => taskscale_report::compare_text(&comparison, &output::style(false)),
        CompareFormat::Md => taskscale_report::compare_markdown(&comparison),
        CompareFormat::Json => taskscale_report::compare_json(&comparison),
        CompareFormat::Junit => taskscale_report::compare_junit(&comparison),
    })?;
    Ok(if comparison.regression { Outcome::Finding } else { Outcome::Done })
}

/// The old file and the new one, from what was typed.
fn files(args: &CompareArgs) -> anyhow::Result<(PathBuf, PathBuf)> {
    let stdin = Path::new("-");
    match (&args.baseline, args.runs.as_slice()) {
        (None, [old, new]) if old == stdin && new == stdin => {
            bail!("only one of the two can be standard input")
        }
        (None, [old, new]) => Ok((old.clone(), new.clone())),
        (Some(name), [new]) => Ok((baselines::path(name), new.clone())),
        (None, _) => {
            bail!("one run file alone cannot be compared; name two, OLD and NEW, or one and --baseline NAME")
        }
        (Some(name), _) => bail!("with --baseline {name} name one run file: the new one"),
    }
}

fn no_baseline(name: &str) -> String {
    let there = baselines::names();
    let known = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    format!(
        "baseline {name} cannot be used (in this folder: {known}); keep one with taskscale run --save-baseline {name}"
    )
}
