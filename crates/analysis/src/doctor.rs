//! Concludes from what was read of a machine and measured on it what that does to figures.
//!
//! ```text
//! Facts --checkup--> Checkup
//! ```
//!
//! | module | judges |
//! |---|---|
//! | `share` | how much of the CPUs this process gets: quota, load, run delay, steal |
//! | `spread` | which difference can be told, in CPU time and in wall time |
//! | `caches` | whether others use the caches |
//! | `cores` | processors: how many, of what kind, which of them share a core |
//! | `rate` | what changes their speed: governor, boost, heat, battery, hypervisor |
//! | `clocks` | clocks and system calls |
//! | `memory` | limits, swap, huge pages, address randomisation |
//! | `limits` | counters and the number of threads and files |
//! | `finding` | makes findings |

mod caches;
mod clocks;
mod cores;
mod finding;
mod limits;
mod memory;
mod rate;
mod share;
mod spread;

use taskscale_model::doctor::{Checkup, SCHEMA, facts::Facts};

/// Judges a machine: one finding per subject, those that matter most first. `tool` is the version
/// of the tool. O(slices log slices).
pub fn checkup(facts: &Facts, tool: &str) -> Checkup {
    let parts = [
        share::findings(facts),
        spread::findings(&facts.measured),
        caches::findings(&facts.measured),
        cores::findings(facts),
        rate::findings(facts),
        clocks::findings(facts),
        memory::findings(facts),
        limits::findings(facts),
    ];
    let mut findings = parts.concat();
    findings.sort_by_key(|finding| (finding.severity, finding.found.value().is_none()));
    Checkup { schema: SCHEMA.into(), tool: tool.into(), machine: facts.machine.clone(), findings }
}
