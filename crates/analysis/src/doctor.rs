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
//! | `checklist` | what to look at before any conclusion is drawn from a benchmark |
//! | `finding` | makes findings |

mod caches;
mod checklist;
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
    let checklist = checklist::of(facts);
    Checkup { schema: SCHEMA.into(), tool: tool.into(), machine: facts.machine.clone(), findings, checklist }
}

#[cfg(test)]
pub(crate) mod tests {
    use taskscale_model::{
        doctor::facts::{Facts, Group, Kernel, Load, Measured, Memory, Processors, ResourceLimits},
        machine::Machine,
        missing::Reading,
    };

    fn not_read<T>() -> Reading<T> {
        Reading::missing("not read", "")
    }

    /// A machine of which nothing was read and on which nothing was measured.
    pub fn nothing_known() -> Facts {
        Facts {
            machine: Machine {
                cpu_model: not_read(),
                cpus_usable: not_read(),
                cpus: not_read(),
                threads_per_core: not_read(),
                numa_nodes: not_read(),
                cpu_quota: not_read(),
                governor: not_read(),
                memory_bytes: not_read(),
                kernel: not_read(),
                clock_source: not_read(),
                load_1m: not_read(),
                virtualised: not_read(),
                fingerprint: String::new(),
            },
            processors: Processors {
                usable: not_read(),
                cpus: Vec::new(),
                nodes: not_read(),
                numa_distance: not_read(),
                driver: not_read(),
                boost: not_read(),
                heat_events: not_read(),
                on_battery: not_read(),
                product: not_read(),
            },
            group: Group {
                throttling: not_read(),
                memory_limit: not_read(),
                memory_used: not_read(),
                threads_limit: not_read(),
            },
            memory: Memory {
                available: not_read(),
                swap_used: not_read(),
                nodes: not_read(),
                policy: not_read(),
                huge_pages: not_read(),
            },
            kernel: Kernel {
                randomised: not_read(),
                mitigations: not_read(),
                perf_paranoid: not_read(),
                hardware_counters: not_read(),
                nice: not_read(),
            },
            limits: ResourceLimits {
                open_files: not_read(),
                processes: not_read(),
                threads_max: not_read(),
                pid_max: not_read(),
                max_map_count: not_read(),
            },
            load: Load { averages: not_read(), other_clocks: not_read() },
            measured: Measured::default(),
        }
    }
}
