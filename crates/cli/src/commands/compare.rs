//! `taskscale compare`: says which rows of two run files got worse.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use taskscale_analysis::CompareOptions;
use taskscale_model::{compare::Comparison, missing::Missing, run_file::Time};

use crate::{
    args::{CompareArgs, CompareFormat, CompareMetric},
    baselines,
    commands::report,
    output::{self, Outcome},
    run_file,
};

/// A difference up to this share counts as none between two sessions.
const BETWEEN_RUNS: f64 = 0.02;
/// A difference up to this share counts as none within one run, whose sides took turns.
const WITHIN_ONE_RUN: f64 = 0.01;

/// Reads both files and prints the verdicts. The outcome is a finding where a row is worse,
/// and with `--strict` one of its own where that cannot be told.
pub fn compare(args: &CompareArgs) -> anyhow::Result<Outcome> {
    let time = match args.metric {
        CompareMetric::Cpu => Time::Cpu,
        CompareMetric::Wall => Time::Wall,
    };
    let read = |path: &Path| run_file::read(&report::resolve(path)?);
    if let (None, [one]) = (&args.baseline, args.runs.as_slice()) {
        let options = CompareOptions { time, threshold: args.threshold.unwrap_or(WITHIN_ONE_RUN) };
        let comparison = taskscale_analysis::compare_sides(&read(one)?, &options).context(
            "one run file alone cannot be compared, unless `taskscale run --against` took it; name two, OLD and NEW, or one and --baseline NAME",
        )?;
        return show(&comparison, args);
    }
    let (old, new) = files(args)?;
    let before = match &args.baseline {
        Some(name) => read(&old).with_context(|| no_baseline(name))?,
        None => read(&old)?,
    };
    let now = read(&new)?;
    // The header has the run's seed and the second of its start. A gate that compares a baseline
    // with itself has nothing to fail for.
    let same = before.header == now.header && before.samples == now.samples;
    if same && args.format == CompareFormat::Text {
        output::print("OLD and NEW are one and the same run, which tells nothing: name two runs\n")?;
        return Ok(if args.strict { Outcome::Untold } else { Outcome::Done });
    }
    let options = CompareOptions { time, threshold: args.threshold.unwrap_or(BETWEEN_RUNS) };
    let (old, new) = (old.display().to_string(), new.display().to_string());
    let mut comparison = taskscale_analysis::compare((&old, &before), (&new, &now), &options);
    if same {
        let said = "OLD and NEW are one and the same run, which tells nothing";
        said.clone_into(&mut comparison.summary);
        comparison.rows.iter_mut().for_each(|row| row.why = Some(Missing::new(said, "name two runs")));
    }
    show(&comparison, args)
}

fn show(comparison: &Comparison, args: &CompareArgs) -> anyhow::Result<Outcome> {
    let baseline = args.baseline.iter().map(|name| format!("--baseline {name}"));
    let runs = args.runs.iter().map(|run| output::word(run));
    let words: Vec<String> =
        ["taskscale compare".to_owned()].into_iter().chain(baseline).chain(runs).collect();
    output::show_comparison(comparison, args.format, args.details, &words.join(" "))?;
    Ok(Outcome::of(comparison, args.strict))
}

/// Returns the old file and the new one, from what was typed.
fn files(args: &CompareArgs) -> anyhow::Result<(PathBuf, PathBuf)> {
    let stdin = Path::new("-");
    match (&args.baseline, args.runs.as_slice()) {
        (None, [old, new]) if old == stdin && new == stdin => {
            bail!("only one of the two can be standard input")
        }
        (None, [old, new]) => Ok((old.clone(), new.clone())),
        (Some(name), [new]) => Ok((baselines::path(name), new.clone())),
        (None, _) => bail!("name two run files, OLD and NEW, or one and --baseline NAME"),
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
