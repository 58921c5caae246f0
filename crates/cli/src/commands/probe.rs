//! `taskscale probe check`: tests the conformance of any probe. `taskscale probe watch` is the
//! watchdog that this program starts beside itself.

use std::fmt::Write;

use taskscale_bench::{
    bytes::{make_swapped, ready},
    check::{self, Findings, Verdict},
};
use taskscale_model::{missing::Missing, plain::clean};
use taskscale_report::bounded;
use taskscale_sys::process::watchdog;

use crate::{
    args::CheckArgs,
    bytes::Given,
    interrupt::Interrupt,
    output::{self, Outcome, print},
    progress::Building,
    runtimes::{self, Standing},
};

/// Tests a probe and prints what was found. A probe that does not conform is a finding.
pub fn check(args: &CheckArgs) -> anyhow::Result<Outcome> {
    let building = Building::new(Interrupt::listen()?);
    let mut candidate = match (&args.command, &args.runtime) {
        (Some(command), _) => runtimes::own(command)?,
        (None, Some(id)) => runtimes::named(id)?,
        (None, None) => anyhow::bail!("give a command or --runtime"),
    };
    // Only a file of the user's is built here.
    let own = args.command.is_some() && candidate.job.is_some();
    candidate.prepare(&building);
    let mut command = match candidate.standing {
        Standing::Ready(command) => command,
        Standing::Missing(missing) => anyhow::bail!("{}: {missing}", candidate.id),
        Standing::Unbuilt(_) => anyhow::bail!("{} was not built", candidate.id),
    };
    let cpus = taskscale_sys::machine::read().cpus_usable.value().copied().unwrap_or(1);
    let of_bytes = |why: Missing| anyhow::anyhow!("{why}");
    let given = Given::new(ready).map_err(of_bytes)?;
    let swapped = Given::new(|folder, size| make_swapped(folder, size).map(drop)).map_err(of_bytes)?;
    command.env.extend(given.environment());
    let timeout_ns = (args.timeout * 1e9) as u64;
    let findings = check::check(&command, cpus, timeout_ns, &swapped.environment(), own);
    print(&output::folded(&render(&findings, args.verbose)?))?;
    Ok(if findings.conforms() { Outcome::Done } else { Outcome::Finding })
}

/// Waits until the program that started this one has ended, and ends its probes.
pub fn watch(mark: &str) -> anyhow::Result<Outcome> {
    watchdog::watch(mark).map_err(|why| anyhow::anyhow!("{why}"))?;
    Ok(Outcome::Done)
}

fn render(findings: &Findings, verbose: bool) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    if let Some(description) = &findings.description {
        let runtime = &description.runtime;
        let named = format!("{} {} ({})", runtime.name, runtime.version, runtime.toolchain);
        writeln!(text, "{}", bounded(&clean(&named)))?;
    }
    let said = |words: &str| bounded(&clean(words));
    let (mut passed, mut failed, mut noted) = (0, 0, 0);
    for finding in &findings.findings {
        let (word, detail) = match &finding.verdict {
            Verdict::Passed => {
                passed += 1;
                if !verbose {
                    continue;
                }
                ("ok", String::new())
            }
            Verdict::Failed(missing) => {
                failed += 1;
                (
                    "FAILED",
                    format!(
                        "\n         {}\n         remedy: {}",
                        said(&missing.reason),
                        said(&missing.remedy)
                    ),
                )
            }
            Verdict::Noted(note) => {
                noted += 1;
                ("note", format!("\n         {}", said(note)))
            }
        };
        writeln!(text, "{word:7}  {}: {}{detail}", finding.check, said(&finding.subject))?;
    }
    let verdict = if findings.conforms() {
        "conforms to probe protocol 1"
    } else {
        "does not conform to probe protocol 1"
    };
    writeln!(text, "{verdict}: {passed} passed, {failed} failed, {noted} noted")?;
    Ok(text)
}
