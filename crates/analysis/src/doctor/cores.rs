//! Processors: their number, their kinds, and which of them share a core.

use taskscale_model::{
    doctor::{
        Figures::{Cpu, Scaling, Wall},
        Finding, Severity,
        facts::{self, Facts, Neighbour},
    },
    missing::Reading,
};
use taskscale_stats::paired::PairedRatio;

use super::finding::{Draft, grade, unknown};
use taskscale_model::figure::percent;

/// Share that a busy neighbour adds to CPU time, for a note and for a warning. Two hardware threads
/// of one core add 50 % and more to work that fills it.
const NEIGHBOUR: (f64, f64) = (0.01, 0.05);
/// Speed of the slowest kind of core over the fastest, for a note and for a warning. Favoured cores
/// of one kind differ by up to 5 %.
const KINDS: (f64, f64) = (0.95, 0.90);

/// Findings on CPUs, SMT, kinds of cores, NUMA and a busy neighbour.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![cpus(facts), smt(facts)];
    findings.extend(neighbour(facts));
    findings.extend(kinds(facts));
    findings.push(numa(facts));
    findings
}

fn usable(facts: &Facts) -> &[u32] {
    facts.processors.usable.value().map_or(&[], Vec::as_slice)
}

/// Writes CPUs as `taskset -c` reads them: `0-3,8`.
pub(super) fn list(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let text = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(",")
}

fn cpus(facts: &Facts) -> Finding {
    const SUBJECT: &str = "CPUs";
    let (usable_count, all) = match (&facts.machine.cpus_usable, &facts.machine.cpus) {
        (Reading::Value(usable), Reading::Value(all)) => (*usable, *all),
        (Reading::Missing(missing), _) | (_, Reading::Missing(missing)) => {
            return unknown(SUBJECT, missing, &[Scaling]);
        }
    };
    let numbers = usable(facts);
    let numbers = if numbers.is_empty() { String::new() } else { format!(" ({})", list(numbers)) };
    let severity = match usable_count {
        1 => Severity::Warning,
        _ if usable_count < all => Severity::Note,
        _ => Severity::Ok,
    };
    let says = format!("beyond {usable_count} busy at once, workers take turns");
    Draft::new(SUBJECT, severity, format!("{usable_count} of {all} usable{numbers}"))
        .affects(&[Wall, Scaling])
        .stated(usable_count as f64, "CPUs", says)
        .remedy("widen the affinity (taskset, --cpuset-cpus) for figures of more workers")
        .done()
}

fn smt(facts: &Facts) -> Finding {
    const SUBJECT: &str = "SMT";
    let threads = match &facts.machine.threads_per_core {
        Reading::Value(threads) => *threads,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall, Scaling]),
    };
    let usable = usable(facts);
    let shared = |cpu: &&facts::Cpu| {
        usable.contains(&cpu.id) && cpu.siblings.iter().filter(|sibling| usable.contains(sibling)).count() > 1
    };
    if threads == 1 || !facts.processors.cpus.iter().any(|cpu| shared(&cpu)) {
        let found = match threads {
            1 => "1 hardware thread per core, as far as the kernel is told".to_owned(),
            _ => format!("{threads} hardware threads per core, of which we may use one"),
        };
        return Draft::new(SUBJECT, Severity::Ok, found).affects(&[Cpu, Wall, Scaling]).done();
    }
    // Each core is represented by its first usable hardware thread.
    let one_each: Vec<u32> = facts
        .processors
        .cpus
        .iter()
        .filter(|cpu| usable.contains(&cpu.id))
        .filter(|cpu| {
            cpu.siblings.iter().find(|sibling| usable.contains(sibling)).is_none_or(|first| *first == cpu.id)
        })
        .map(|cpu| cpu.id)
        .collect();
    let found = format!(
        "{threads} hardware threads per core; {} usable CPUs are {} cores",
        usable.len(),
        one_each.len()
    );
    let remedy = format!("taskset -c {} taskscale ... leaves one hardware thread per core", list(&one_each));
    let sibling = facts.measured.neighbours.iter().find(|neighbour| neighbour.siblings);
    let draft = match sibling.and_then(|sibling| Some((sibling, slowdown(sibling)?))) {
        Some((sibling, ratio)) => {
            let severity = grade(ratio.low - 1.0, NEIGHBOUR.0, NEIGHBOUR.1).min(Severity::Note);
            with_ratio(Draft::new(SUBJECT, severity, found), sibling, &ratio)
        }
        None => Draft::new(SUBJECT, Severity::Note, found),
    };
    draft.affects(&[Cpu, Wall, Scaling]).remedy(remedy).done()
}

fn slowdown(neighbour: &Neighbour) -> Option<PairedRatio> {
    let (rest, busy): (Vec<f64>, Vec<f64>) = neighbour.pairs.iter().copied().unzip();
    PairedRatio::of(&rest, &busy, 0.95)
}

/// How much longer work takes beside a busy CPU of what the kernel calls another core: the ratio,
/// and the lower end of its interval. `None` where that was not measured.
pub fn slowdown_by_another_core(facts: &Facts) -> Option<(f64, f64)> {
    let other = facts.measured.neighbours.iter().find(|neighbour| !neighbour.siblings)?;
    slowdown(other).map(|ratio| (ratio.ratio, ratio.low))
}

fn with_ratio(draft: Draft, neighbour: &Neighbour, ratio: &PairedRatio) -> Draft {
    let change =
        |ratio: f64| format!("{}{}", if ratio < 1.0 { "-" } else { "+" }, percent((ratio - 1.0).abs()));
    let says = format!(
        "{} % CPU time (95 %: {} to {} %) for work on CPU {} while CPU {} is busy",
        change(ratio.ratio),
        change(ratio.low),
        change(ratio.high),
        neighbour.cpu,
        neighbour.other
    );
    draft.measured(100.0 * (ratio.ratio - 1.0), "%", says)
}

fn neighbour(facts: &Facts) -> Option<Finding> {
    let neighbour = facts.measured.neighbours.iter().find(|neighbour| !neighbour.siblings)?;
    let ratio = slowdown(neighbour)?;
    let moved = &facts.measured.moved;
    let others = moved
        .all_cpu_ns
        .map_or(0.0, |all| all.saturating_sub(moved.own_cpu_ns) as f64 / moved.elapsed_ns.max(1) as f64);
    // Above a quarter of a CPU of other load, the neighbour was not at rest when it should have
    // been.
    let blurred = if others > 0.25 { "; others were busy too, so it may be more" } else { "" };
    let severity = grade(ratio.low - 1.0, NEIGHBOUR.0, NEIGHBOUR.1);
    let found = match severity {
        Severity::Ok => format!(
            "CPU {} at work slows CPU {} down by no more than {} %{blurred}",
            neighbour.other,
            neighbour.cpu,
            percent((ratio.high - 1.0).max(0.0))
        ),
        _ => format!("CPUs {} and {} slow each other down{blurred}", neighbour.cpu, neighbour.other),
    };
    let draft = with_ratio(Draft::new("busy neighbour", severity, found), neighbour, &ratio);
    Some(
        draft
            .affects(&[Cpu, Wall, Scaling])
            .remedy(
                "they share a core (SMT that the hypervisor hides), a clock (turbo) or power: compare only what kept as many \
                 CPUs busy",
            )
            .done(),
    )
}

fn kinds(facts: &Facts) -> Option<Finding> {
    let usable = usable(facts);
    let speeds = |speed: fn(&facts::Cpu) -> Option<u64>| -> Option<Vec<(u32, u64)>> {
        let cpus = facts.processors.cpus.iter().filter(|cpu| usable.contains(&cpu.id));
        let speeds: Vec<(u32, u64)> = cpus.map(|cpu| Some((cpu.id, speed(cpu)?))).collect::<Option<_>>()?;
        (speeds.iter().any(|(_, speed)| *speed > 0)).then_some(speeds)
    };
    // Capacity counts instructions per clock too. Frequency alone hides the kind of a core.
    let (what, speeds) = match (speeds(|cpu| cpu.capacity), speeds(|cpu| cpu.max_khz)) {
        (Some(capacity), frequency) if differ(&capacity) || frequency.is_none() => ("capacity", capacity),
        (_, Some(frequency)) => ("highest frequency", frequency),
        (Some(capacity), None) => ("capacity", capacity),
        (None, None) => return None,
    };
    const SUBJECT: &str = "kinds of cores";
    let fastest = speeds.iter().map(|(_, speed)| *speed).max()?;
    let slowest = speeds.iter().map(|(_, speed)| *speed).min()?;
    if slowest == fastest {
        let found = format!("all usable CPUs are of one {what}");
        return Some(Draft::new(SUBJECT, Severity::Ok, found).affects(&[Cpu, Wall, Scaling]).done());
    }
    let ratio = slowest as f64 / fastest as f64;
    let severity = grade(-ratio, -KINDS.0, -KINDS.1);
    let of = |wanted: u64| -> Vec<u32> {
        speeds.iter().filter(|(_, speed)| *speed == wanted).map(|(cpu, _)| *cpu).collect()
    };
    let found = format!(
        "they differ in {what}: {fastest} of CPUs {}, down to {slowest} of {}",
        list(&of(fastest)),
        list(&of(slowest))
    );
    let says = format!("the slowest does {} % of the work of the fastest in the same time", percent(ratio));
    let remedy = format!("taskset -c {} taskscale ... keeps to the fastest kind", list(&of(fastest)));
    Some(
        Draft::new(SUBJECT, severity, found)
            .affects(&[Cpu, Wall, Scaling])
            .stated(100.0 * ratio, "%", says)
            .remedy(remedy)
            .done(),
    )
}

fn differ(speeds: &[(u32, u64)]) -> bool {
    speeds.windows(2).any(|pair| pair[0].1 != pair[1].1)
}

fn numa(facts: &Facts) -> Finding {
    const SUBJECT: &str = "NUMA";
    let nodes = match &facts.machine.numa_nodes {
        Reading::Value(nodes) => *nodes,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall, Scaling]),
    };
    let severity = if nodes > 1 { Severity::Note } else { Severity::Ok };
    let found = if nodes > 1 { format!("{nodes} memory nodes") } else { "one memory node".to_owned() };
    let mut draft = Draft::new(SUBJECT, severity, found).affects(&[Cpu, Wall, Scaling]);
    if let Some(distance) = facts.processors.numa_distance.value().filter(|_| nodes > 1) {
        let says =
            format!("memory of another node is up to {distance:.1} times as far, by the firmware's table");
        draft = draft.stated(*distance, "times", says);
    }
    draft.remedy("numactl --cpunodebind=0 --membind=0 taskscale ... keeps to one node").done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_taskset_reads_them() {
        assert_eq!(list(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(list(&[]), "");
    }
}
