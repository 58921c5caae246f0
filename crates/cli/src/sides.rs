//! Pairs each old runtime or probe with the new one it stands against (`taskscale run --against`).

use anyhow::{Context, bail};

use crate::{
    args::RunArgs,
    runtimes::{self, Candidate, Shaken},
};

/// Adds the old sides that were asked for to the candidates, and the new sides that were only
/// implied: `--against go@/opt/go1.25` alone is about `go`.
pub fn add(args: &RunArgs, candidates: &mut Vec<Candidate>) -> anyhow::Result<()> {
    if args.against.is_empty() {
        return Ok(());
    }
    // A runtime that nobody named and nothing is judged by would only take time.
    candidates.retain(|candidate| candidate.asked);
    let mut probes = args.probe.iter();
    for old in &args.against {
        let name = runtimes::split_id(old).0;
        let (new, mut side) = if runtimes::known().any(|known| known == name) {
            let new = args.runtime.iter().find(|id| runtimes::split_id(id).0 == name);
            if new.is_none() {
                implied(args, old, name)?;
                candidates.push(runtimes::named(name)?);
            }
            (new.map_or(name, String::as_str).to_owned(), runtimes::named(old)?)
        } else {
            let new = match (probes.next(), args.runtime.as_slice()) {
                (Some(probe), _) => probe,
                (None, [runtime]) if args.probe.is_empty() => runtime,
                _ => {
                    bail!("nothing stands against {old}: name the new one with --probe, one for each old one")
                }
            };
            (new.clone(), runtimes::own(old)?)
        };
        side.old_of = Some(new);
        candidates.push(side);
    }
    Ok(())
}

/// Refuses a new side that is only implied where the user names others: the old one would be
/// compared with itself, and what was named with nothing.
fn implied(args: &RunArgs, old: &str, name: &str) -> anyhow::Result<()> {
    let named: Vec<&str> = args.runtime.iter().chain(&args.probe).map(String::as_str).collect();
    if named.is_empty() {
        return Ok(());
    }
    let older = |id: &String| match runtimes::split_id(id).0 {
        name if runtimes::is_built_in(name) => format!("--against '/old/taskscale probe serve {name}'"),
        name => format!("--against {name}@TOOLCHAIN"),
    };
    let fits = args.runtime.iter().map(older);
    let fits: Vec<String> = fits.chain(args.probe.iter().map(|_| "--against FILE".to_owned())).collect();
    bail!(
        "nothing of this run stands against {old}: it is about {}; say {}, or name the new side too: \
         --runtime {name}",
        named.join(" and "),
        fits.join(" or ")
    )
}

/// Checks after the handshakes, which settle the names, that every side is there. Without one there
/// is nothing to compare.
pub fn check(shaken: &[Shaken]) -> anyhow::Result<()> {
    for old in shaken.iter().filter(|one| one.found.old_of.is_some()) {
        let new = old.found.old_of.as_deref().unwrap_or_default();
        let new =
            shaken.iter().find(|one| one.found.id == new).context("the new side is a runtime of this run")?;
        for (side, word) in [(old, "old"), (new, "new")] {
            if let Err(missing) = &side.found.description {
                bail!("the {word} side, {}, cannot be measured: {missing}", side.found.id);
            }
        }
    }
    Ok(())
}
