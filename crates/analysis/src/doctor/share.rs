//! How much of the CPUs this process gets.

use taskscale_model::{
    doctor::{
        Figures::{Cpu, Scaling, Wall},
        Finding, Severity,
        facts::{Facts, Slice},
    },
    missing::Reading,
};

use super::finding::{Draft, grade, unknown};
use taskscale_model::figure::{count, percent};

/// Share of the time in which a thread that never sleeps waits for a CPU, for a note and for a
/// warning. An idle machine stays below 1 %; one worker too many per core reaches 50 %. The notes
/// of a run use the same marks for CPU pressure.
const WAITING: (f64, f64) = (0.01, 0.10);
/// Share of all CPUs that others use, for a note and for a warning. A desktop at rest takes 2 %,
/// and one busy thread on four CPUs takes a quarter.
const OTHERS: (f64, f64) = (0.05, 0.25);
/// Load per CPU from which a machine was not idle. The notes of a run warn there too.
const LOAD: f64 = 0.5;
/// Share of one CPU from which steal earns a warning. The notes of a run warn there too.
const STEAL: f64 = 0.01;
/// Share of wall time that was neither work nor waiting, for a note and for a warning. Interrupts
/// stay below 1 %.
const UNACCOUNTED: (f64, f64) = (0.01, 0.05);
/// Share of the periods with the quota used up that earns a warning.
const THROTTLED: f64 = 0.01;

/// Findings on quota, throttling, load, run delay, pressure, steal, unaccounted time and niceness.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    [run_delay(facts), load(facts), pressure(facts), steal(facts), unaccounted(facts)]
        .into_iter()
        .flatten()
        .chain(quota(facts))
        .chain(niceness(facts))
        .collect()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Wall time, CPU time and run delay of all slices, in ns.
fn sums(slices: &[Slice]) -> Option<(f64, f64, Option<f64>)> {
    let sum = |of: fn(&Slice) -> u64| slices.iter().map(of).sum::<u64>() as f64;
    let delay = slices.iter().map(|slice| slice.delay_ns).sum::<Option<u64>>().map(|delay| delay as f64);
    let (wall, cpu) = (sum(|slice| slice.wall_ns), sum(|slice| slice.cpu_ns));
    (wall > 0.0 && cpu > 0.0).then_some((wall, cpu, delay))
}

fn run_delay(facts: &Facts) -> Option<Finding> {
    let (wall, cpu, delay) = sums(&facts.measured.slices)?;
    let Some(delay) = delay else {
        let missing = taskscale_model::missing::Missing::new(
            "the kernel does not say how long a thread waits (/proc/thread-self/schedstat)",
            "read wall times with the load in mind",
        );
        return Some(unknown("run delay", &missing, &[Wall]));
    };
    let found = format!(
        "a thread that never sleeps waited {} % of {:.1} s for a CPU",
        percent(delay / wall),
        wall / 1e9
    );
    let says = format!("+{} % for what should run without a break", percent(delay / cpu));
    let draft = Draft::new("run delay", grade(delay / wall, WAITING.0, WAITING.1), found).affects(&[Wall]);
    Some(
        draft
            .measured(100.0 * delay / cpu, "%", says)
            .remedy("end other work; CPU time does not count the waiting")
            .done(),
    )
}

fn load(facts: &Facts) -> Option<Finding> {
    let cpus = *facts.machine.cpus.value()? as f64;
    let moved = &facts.measured.moved;
    let others = moved.all_cpu_ns.filter(|_| moved.elapsed_ns > 0).map(|all| {
        // Ticks are 10 ms long, so the CPU time of this process may exceed what was counted.
        seconds(all.saturating_sub(moved.own_cpu_ns)) / seconds(moved.elapsed_ns)
    });
    let averages = match &facts.load.averages {
        Reading::Value(averages) => averages,
        Reading::Missing(missing) if others.is_none() => return Some(unknown("load", missing, &[Wall])),
        Reading::Missing(_) => &[0.0; 3],
    };
    let [one, five, fifteen] = averages;
    let mut severity = grade(one / cpus, LOAD, f64::INFINITY);
    let mut found = format!("{one:.2}, {five:.2}, {fifteen:.2} over 1, 5, 15 minutes on {cpus:.0} CPUs");
    if let Some(others) = others {
        severity = severity.min(grade(others / cpus, OTHERS.0, OTHERS.1));
        found = format!("others used {others:.2} of {cpus:.0} CPUs just now; load {found}");
    }
    let mut draft = Draft::new("load", severity, found).affects(&[Wall, Scaling]);
    if let Some(others) = others {
        let left = (cpus - others).max(0.0);
        let says = format!("{left:.2} CPUs are left: as many workers as CPUs would have to share them");
        draft = draft.measured(left, "CPUs", says);
    }
    Some(draft.remedy("wait until it is done, or use fewer workers than CPUs are left").done())
}

fn pressure(facts: &Facts) -> Option<Finding> {
    let moved = &facts.measured.moved;
    let elapsed_us = moved.elapsed_ns as f64 / 1e3;
    if elapsed_us == 0.0 {
        return None;
    }
    let Some(waited) = moved.cpu_pressure_us else {
        let missing = taskscale_model::missing::Missing::new(
            "the kernel keeps no /proc/pressure/cpu",
            "boot with psi=1 to have each round's CPU pressure in the run file",
        );
        return Some(unknown("CPU pressure", &missing, &[Wall]));
    };
    // The counter is updated in steps and can be ahead of the clock.
    let share = (waited as f64 / elapsed_us).min(1.0);
    let found =
        format!("some thread of the machine waited for a CPU during {} % of the time", percent(share));
    let says = "rounds taken now hold waiting; the run file has the pressure of each";
    Some(
        Draft::new("CPU pressure", grade(share, WAITING.0, WAITING.1), found)
            .affects(&[Wall])
            .measured(100.0 * share, "%", says)
            .remedy("as for run delay")
            .done(),
    )
}

fn steal(facts: &Facts) -> Option<Finding> {
    let moved = &facts.measured.moved;
    let steal_ns = moved.steal_ns.filter(|_| moved.elapsed_ns > 0)?;
    let share = steal_ns as f64 / moved.elapsed_ns as f64;
    let found = match steal_ns {
        0 => "the hypervisor reports none".to_owned(),
        _ => format!("the hypervisor took {} % of one CPU", percent(share)),
    };
    let says = format!(
        "up to +{} % for one worker; in CPU time too, where the kernel cannot subtract it",
        percent(share)
    );
    Some(
        Draft::new("steal", grade(share, f64::MIN_POSITIVE, STEAL), found)
            .affects(&[Wall, Cpu])
            .measured(100.0 * share, "%", says)
            .remedy("measure at another time, or on a host whose CPUs are not shared")
            .done(),
    )
}

fn unaccounted(facts: &Facts) -> Option<Finding> {
    let (wall, cpu, delay) = sums(&facts.measured.slices)?;
    let share = (1.0 - (cpu + delay?) / wall).max(0.0);
    let found = format!("{} % of the wall time was neither work nor waiting for a CPU", percent(share));
    let says = format!(
        "+{} %: interrupts, a hypervisor that reports no steal, or a quota",
        percent(share * wall / cpu)
    );
    Some(
        Draft::new("unaccounted time", grade(share, UNACCOUNTED.0, UNACCOUNTED.1), found)
            .affects(&[Wall])
            .measured(100.0 * share * wall / cpu, "%", says)
            .remedy("look at the host, and at throttling; CPU time does not count it")
            .done(),
    )
}

fn quota(facts: &Facts) -> Vec<Finding> {
    let Reading::Value(quota) = facts.machine.cpu_quota else {
        return vec![Draft::new("CPU quota", Severity::Ok, "none").affects(&[Wall, Scaling]).done()];
    };
    let usable = facts.machine.cpus_usable.value().copied().unwrap_or(1) as f64;
    let severity = if quota < usable { Severity::Warning } else { Severity::Note };
    let found = format!("{quota} CPUs' worth of time in each period, for {usable:.0} usable CPUs");
    let says = format!("more than {quota} busy workers stand still for the rest of each period");
    let mut findings = vec![
        Draft::new("CPU quota", severity, found)
            .affects(&[Wall, Scaling])
            .stated(quota, "CPUs", says)
            .remedy("lift the quota (--cpus, limits.cpu), or give whole CPUs instead (--cpuset-cpus)")
            .done(),
    ];
    findings.extend(throttling(facts));
    findings
}

fn throttling(facts: &Facts) -> Option<Finding> {
    let counters = facts.group.throttling.value()?;
    let moved = &facts.measured.moved;
    let now_us = moved.throttled_us.unwrap_or(0);
    let share = counters.throttled as f64 / counters.periods.max(1) as f64;
    let severity = match now_us {
        0 => grade(share, f64::MIN_POSITIVE, THROTTLED),
        _ => Severity::Warning,
    };
    let found = format!(
        "the quota was used up in {} of {} periods, {:.1} s stood still in all{}",
        count(counters.throttled),
        count(counters.periods),
        counters.throttled_us as f64 / 1e6,
        if now_us > 0 {
            format!("; {} ms of it just now", count(now_us / 1_000))
        } else {
            "; none just now".into()
        },
    );
    let now = 1e5 * now_us as f64 / moved.elapsed_ns.max(1) as f64;
    let says = format!("threads of this group stood still during {} % of the probe", percent(now / 100.0));
    Some(
        Draft::new("throttling", severity, found)
            .affects(&[Wall])
            .measured(now, "%", says)
            .remedy("use fewer workers than the quota has CPUs, or lift it; CPU time does not count the standstill")
            .done(),
    )
}

fn niceness(facts: &Facts) -> Option<Finding> {
    let nice = *facts.kernel.nice.value()?;
    let severity = if nice == 0 { Severity::Ok } else { Severity::Note };
    let found = match nice {
        0 => "0, as usual".to_owned(),
        1.. => format!("{nice}: all others come first; probes inherit it"),
        _ => format!("{nice}: others come after us; probes inherit it"),
    };
    let draft = Draft::new("niceness", severity, found).affects(&[Wall]);
    Some(draft.remedy("start taskscale without nice where wall time matters").done())
}
