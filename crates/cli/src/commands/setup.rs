//! `taskscale setup`: builds probes ahead of their first use, and installs Python's packages on
//! request.

use std::{collections::BTreeMap, fmt::Write};

use anyhow::bail;
use taskscale_model::{missing::Missing, plain::clean_lines};

use crate::{
    args::SetupArgs,
    interrupt::Interrupt,
    names,
    output::{Outcome, print},
    probes::{build, languages, languages::Language, recipe::Source},
    progress::Building,
    runtimes::{self, Candidate, Standing},
};

/// Sets up what was named (runtimes or languages), or everything whose toolchain is on this
/// machine.
pub fn setup(args: &SetupArgs) -> anyhow::Result<Outcome> {
    let watch = Building::new(Interrupt::listen()?);
    let asked = expand(&args.runtime)?;
    let mut text = String::new();
    let mut failed = false;
    let mut environments = BTreeMap::new();
    let candidates = runtimes::candidates(&asked, &[])?;
    let is_built = |candidate: &&Candidate| candidate.job.as_ref().is_some_and(is_to_be_built);
    watch.expect(candidates.iter().filter(is_built).count());
    for mut candidate in candidates {
        if build::Watch::interrupted(&watch) {
            return Ok(Outcome::Interrupted);
        }
        // What an environment could not be given may be there all the same, and what is ready is
        // only what answers.
        let packages = packages(&candidate, &mut environments, &watch);
        let state = match made(&mut candidate, &watch).map_err(|missing| packages.err().unwrap_or(missing)) {
            Ok(state) => state,
            Err(missing) => {
                failed |= candidate.asked;
                format!("missing: {missing}")
            }
        };
        writeln!(text, "{:10} {state}", candidate.id)?;
    }
    print(&clean_lines(&text))?;
    Ok(if failed { Outcome::Nothing } else { Outcome::Done })
}

/// Whether a probe is built here: anew, or because a part of it is missing.
fn is_to_be_built(job: &build::Job) -> bool {
    !job.is_built_of_nothing() && !matches!(job.kept(), build::Kept::Whole(_))
}

/// `python` becomes `asyncio`, `uvloop`, `trio`, `anyio`; a toolchain goes with each.
fn expand(asked: &[String]) -> anyhow::Result<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    for one in asked {
        let (name, toolchain) = runtimes::split_id(one);
        let toolchain = toolchain.map(|toolchain| format!("@{toolchain}")).unwrap_or_default();
        let runtimes = languages::named(name).map_or(&[][..], |language| language.runtimes);
        match runtimes {
            [] if !names::is_runtime(name) => bail!("{}", names::no_runtime_or_language(name)),
            [] => all.push(one.clone()),
            _ => all.extend(runtimes.iter().map(|runtime| format!("{runtime}{toolchain}"))),
        }
    }
    Ok(all)
}

/// Makes the virtual environment of an interpreter once, before its first runtime that needs a
/// package. The others of that interpreter get the same answer.
fn packages(
    candidate: &Candidate,
    done: &mut BTreeMap<String, Result<(), Missing>>,
    watch: &Building,
) -> Result<(), Missing> {
    let Some(job) = candidate.job.as_ref().filter(|job| job.language.name == "python") else { return Ok(()) };
    // This finds the interpreter itself: the environment that was made from it would be found for
    // other sources.
    let plain = Source::Runtime("asyncio".into());
    let (_, asked) = runtimes::split_id(&candidate.id);
    if job.source == plain {
        return Ok(());
    }
    let environment = || build::environment(&(job.language.find)(asked, &plain)?, watch);
    done.entry(asked.unwrap_or_default().to_owned()).or_insert_with(environment).clone()
}

/// Builds what is to be built, completes what is partly there, and says which it is.
fn made(candidate: &mut Candidate, watch: &Building) -> Result<String, Missing> {
    if let Some(job) = &mut candidate.job {
        // An environment that `packages` has just made is found by this second look.
        let (_, asked) = runtimes::split_id(&candidate.id);
        job.toolchain = (job.language.find)(asked, &job.source)?;
        candidate.standing = Standing::Ready(job.complete(watch)?);
        let toolchain = job.toolchain.clone();
        runtimes::answers(candidate, watch)?;
        return Ok(format!("ready ({}, {})", toolchain.version, toolchain.program()));
    }
    match &candidate.standing {
        Standing::Missing(missing) => Err(missing.clone()),
        Standing::Ready(_) | Standing::Unbuilt(_) => Ok("ready (built in)".into()),
    }
}

/// Returns the names that `setup` and `new-probe` know, for messages.
pub fn languages_known() -> String {
    let names: Vec<&str> = languages::ALL.iter().map(|&Language { name, .. }| *name).collect();
    names.join(", ")
}
