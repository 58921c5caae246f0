//! Whether the files show that a runtime's code is the same in both.

use std::collections::BTreeMap;

use taskscale_model::{
    compare::RuntimeChange,
    run_file::{RuntimeRecord, RuntimeState, redact::HIDDEN},
};

use crate::read::Run;

/// All runtimes of either file. Those of the new file come first.
pub fn runtimes(old: &Run, new: &Run) -> Vec<RuntimeChange> {
    let by_id = |run: &Run| -> BTreeMap<String, RuntimeRecord> {
        run.runtimes.iter().map(|runtime| (runtime.id.clone(), runtime.clone())).collect()
    };
    let (before, now) = (by_id(old), by_id(new));
    let mut ids: Vec<&String> = Vec::new();
    for runtime in new.runtimes.iter().chain(&old.runtimes) {
        if !ids.contains(&&runtime.id) {
            ids.push(&runtime.id);
        }
    }
    let change = |id: &String| {
        let (a, b) = (before.get(id), now.get(id));
        let code = |record: Option<&RuntimeRecord>, run: &Run| identity(record?, &run.header.tool);
        RuntimeChange {
            id: id.clone(),
            old: a.and_then(version),
            new: b.and_then(version),
            same_code: code(a, old).is_some_and(|a| code(b, new) == Some(a)),
        }
    };
    ids.into_iter().map(change).collect()
}

/// The two sides of one run, one change per new side. A change has the name of its new side.
pub fn sides(run: &Run, sides: &[(String, String)]) -> Vec<RuntimeChange> {
    let by_id = |id: &str| run.runtimes.iter().find(|runtime| runtime.id == id);
    let change = |(new, old): &(String, String)| {
        let (a, b) = (by_id(old), by_id(new));
        // Equal commands start the same program. Another command may start anything, and two that
        // have a hidden word may differ in it.
        let is_hidden = |a: &RuntimeRecord| a.command.iter().any(|word| word.contains(HIDDEN));
        let same = |a: &RuntimeRecord, b: &RuntimeRecord| {
            a.command == b.command && version(a) == version(b) && !is_hidden(a)
        };
        RuntimeChange {
            id: new.clone(),
            old: a.and_then(version),
            new: b.and_then(version),
            same_code: a.zip(b).is_some_and(|(a, b)| same(a, b)),
        }
    };
    sides.iter().map(change).collect()
}

/// Writes version and toolchain: `1.47.1 (rustc 1.89)`. It is `None` for a runtime that is missing.
fn version(record: &RuntimeRecord) -> Option<String> {
    match &record.state {
        RuntimeState::Ready { runtime, .. } if runtime.toolchain.is_empty() => Some(runtime.version.clone()),
        RuntimeState::Ready { runtime, .. } => Some(format!("{} ({})", runtime.version, runtime.toolchain)),
        RuntimeState::Missing(_) => None,
    }
}

/// Everything that says which code ran. It is `None` where the file does not say it: nobody knows
/// what the command of a user's own probe starts.
fn identity(record: &RuntimeRecord, tool: &str) -> Option<[String; 4]> {
    Some([version(record)?, tool.to_owned(), record.id.clone(), own_probe(&record.command)?])
}

/// Which of the tool's own probes a command starts: a built-in one (`taskscale probe serve tokio`),
/// or one whose folder is named by a hash of its source (`probes/go-323cdf9841a79844/out/probe`),
/// wherever the cache is.
fn own_probe(command: &[String]) -> Option<String> {
    if let [_, probe, serve, name] = command
        && probe == "probe"
        && serve == "serve"
    {
        return Some(name.clone());
    }
    command.iter().find_map(|word| {
        let (_, after) = word.split_once("taskscale/probes/")?;
        let folder = after.split('/').next()?;
        let (_, hash) = folder.rsplit_once('-')?;
        (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| folder.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_the_tool_are_known_by_their_source() {
        let probe = |command: &str| own_probe(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for (command, found) in [
            ("/opt/taskscale probe serve tokio", Some("tokio")),
            ("/c/taskscale/probes/go-323cdf9841a79844/out/probe go", Some("go-323cdf9841a79844")),
            (
                "python3 /c/taskscale/probes/python-69d821feac8e661e/src/taskscale_probe asyncio",
                Some("python-69d821feac8e661e"),
            ),
            ("/c/taskscale/own/my_probe-254afe8b1cb38fc4/out/probe", None),
            ("python3 my_probe.py", None),
            ("/c/taskscale/probes/go-new/out/probe", None),
        ] {
            assert_eq!(probe(command).as_deref(), found, "{command}");
        }
    }
}
