//! What can be counted, and how many threads and files are allowed.

use taskscale_model::{
    doctor::{
        Figures::{Counts, Rows},
        Finding, Severity,
        facts::Facts,
    },
    missing::Reading,
};

use super::finding::{Draft, grade};
use taskscale_model::figure::count;

/// Numbers of threads below which there is a note, and a warning. Below the first a thread per task
/// fails at sizes that others reach. Below the second it fails at 2,048 tasks, which most suites
/// have.
const THREADS: (f64, f64) = (20_000.0, 2_200.0);
/// Numbers of open files below which there is a note, and a warning. Each row of a cell needs three
/// pipes, and a runtime opens files itself. The usual 1,024 is enough for all suites.
const FILES: (f64, f64) = (512.0, 128.0);

/// Findings on hardware counters, threads and open files.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![counters(facts)];
    findings.extend(threads(facts));
    findings.extend(open_files(facts));
    findings
}

fn counters(facts: &Facts) -> Finding {
    let level = facts.kernel.perf_paranoid.value();
    let level = level.map_or(String::new(), |level| format!(" (perf_event_paranoid is {level})"));
    match &facts.kernel.hardware_counters {
        Reading::Value(()) => {
            Draft::new("hardware counters", Severity::Ok, format!("instructions can be counted{level}"))
                .affects(&[Counts])
                .done()
        }
        Reading::Missing(missing) => {
            Draft::new("hardware counters", Severity::Note, format!("none: {}{level}", missing.reason))
                .affects(&[Counts])
                .remedy(missing.remedy.clone())
                .done()
        }
    }
}

fn threads(facts: &Facts) -> Option<Finding> {
    let limits = &facts.limits;
    let bounds = [
        (facts.group.threads_limit.value().copied(), "pids.max of the control group"),
        (limits.processes.value().copied(), "ulimit -u"),
        (limits.threads_max.value().copied(), "kernel.threads-max"),
        (limits.pid_max.value().copied(), "kernel.pid_max"),
        // A thread takes two mappings: a stack and the guard page below it.
        (limits.max_map_count.value().map(|maps| maps / 2), "vm.max_map_count, two a thread"),
    ];
    let (most, name) =
        bounds.into_iter().filter_map(|(most, name)| Some((most?, name))).min_by_key(|(most, _)| *most)?;
    let severity = grade(-(most as f64), -THREADS.0, -THREADS.1);
    let says = format!("a thread per task fails beyond {} tasks at once", count(most));
    Some(
        Draft::new("threads", severity, format!("at most {} ({name})", count(most)))
            .affects(&[Rows])
            .stated(most as f64, "threads", says)
            .remedy(format!("raise {name}, or leave out sizes above it (--size)"))
            .done(),
    )
}

fn open_files(facts: &Facts) -> Option<Finding> {
    let most = *facts.limits.open_files.value()?;
    let severity = grade(-(most as f64), -FILES.0, -FILES.1);
    let says = format!("rows with more than {} sockets or pipes open at once fail", count(most));
    Some(
        Draft::new("open files", severity, format!("at most {} (ulimit -n)", count(most)))
            .affects(&[Rows])
            .stated(most as f64, "files", says)
            .remedy("ulimit -n 65536")
            .done(),
    )
}
