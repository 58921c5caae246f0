//! `taskscale report`: prints the tables of a run file again.

use std::{io::Read, path::Path};

use anyhow::Context;

use crate::{
    args::ReportArgs,
    output::{self, Outcome},
};

pub fn report(args: &ReportArgs) -> anyhow::Result<Outcome> {
    let summary = summary_of(&args.run)?;
    output::show(&summary, &args.show)?;
    Ok(Outcome::Done)
}

pub fn summary_of(path: &Path) -> anyhow::Result<taskscale_model::summary::Summary> {
    Ok(taskscale_analysis::summarize(&read(path)?))
}

/// Reads a run file; - is standard input.
pub fn read(path: &Path) -> anyhow::Result<taskscale_analysis::Run> {
    let shown = path.display();
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        bytes = std::fs::read(path).with_context(|| format!("cannot read the run file {shown}"))?;
    }
    taskscale_analysis::parse_run(&bytes).with_context(|| format!("{shown} cannot be reported"))
}
