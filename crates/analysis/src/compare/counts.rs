//! Judges the exact counts of both sides, without interval and threshold. A higher count on the new
//! side is worse.

use taskscale_model::{
    compare::{ComparedCount, Comparison, Verdict},
    machine::Machine,
    metric::Count,
    missing::Missing,
    summary::lines::counted,
};

use super::{count as tally, notes, rows::Pair};
use crate::{
    read::Run,
    summarize::counts::{Counted, Counts, tolerance},
};

/// Judges the counts of all rows and lets them decide the outcome. The rows of `comparison` are in
/// the order of `pairs`.
pub fn judge(comparison: &mut Comparison, pairs: &[Pair<'_>], old: &Run, new: &Run) {
    let counts = (Counts::of_run(old), Counts::of_run(new));
    let machines = (&old.header.machine, &new.header.machine);
    for (row, pair) in comparison.rows.iter_mut().zip(pairs) {
        let (Some(before), Some(now)) = (&pair.old, &pair.new) else { continue };
        let compared = Count::ALL.into_iter().filter(|count| count.decides()).filter_map(|count| {
            let figures = (counts.0.get(before.row.row, count)?, counts.1.get(now.row.row, count)?);
            Some(compared(count, figures, comparison.same_machine || are_alike(machines, count)))
        });
        row.counts = compared.collect();
    }
    let verdicts = comparison
        .rows
        .iter()
        .flat_map(|row| &row.counts)
        .filter(|count| count.value_in_one())
        .map(|count| count.verdict);
    let counted = tally(verdicts);
    comparison.counted = counted;
    if counted != Default::default() {
        comparison.regression |= counted.worse > 0;
        comparison.summary = notes::summary_with_counts(comparison);
    }
    if counts.0.is_empty() != counts.1.is_empty() {
        let (with, without) = if counts.0.is_empty() { ("NEW", "OLD") } else { ("OLD", "NEW") };
        comparison.notes.push(format!(
            "{with} holds counts and {without} does not: take both with --counts to have them judged"
        ));
    }
}

/// Whether counts of two machines mean the same. A scheduler makes as many workers as there are
/// CPUs, and the kernel decides which system calls exist.
fn are_alike((old, new): (&Machine, &Machine), count: Count) -> bool {
    let cpus = old.cpus_usable.value().is_some() && old.cpus_usable.value() == new.cpus_usable.value();
    let kernel = |machine: &Machine| machine.kernel.value().cloned();
    let system = |machine: &Machine| kernel(machine)?.split(' ').next().map(str::to_owned);
    match count {
        Count::Syscalls => cpus && kernel(old).is_some() && kernel(old) == kernel(new),
        _ => cpus && system(old).is_some() && system(old) == system(new),
    }
}

/// A count of one side, or why it is not known.
type Read = Result<Counted, Missing>;

fn compared(count: Count, (old, new): (Read, Read), alike: bool) -> ComparedCount {
    let (verdict, why) = verdict(count, &old, &new, alike);
    let values = old.as_ref().ok().zip(new.as_ref().ok());
    ComparedCount {
        metric: counted(count).name.to_owned(),
        unit: counted(count).unit.to_owned(),
        change: values.map(|(old, new)| new.value - old.value),
        limit: values.map(|(old, new)| limit(count, old, new)),
        old: old.map(|counted| counted.per_task()).into(),
        new: new.map(|counted| counted.per_task()).into(),
        verdict,
        why,
    }
}

/// What a change must exceed: the tolerance, and the difference between requests of one process.
fn limit(count: Count, old: &Counted, new: &Counted) -> f64 {
    tolerance(count, old.units, old.value, new.value).max(old.spread).max(new.spread)
}

fn verdict(count: Count, old: &Read, new: &Read, alike: bool) -> (Verdict, Option<Missing>) {
    if !alike {
        return (Verdict::OtherMachine, None);
    }
    let cannot = |reason: String, remedy: &str| (Verdict::CannotTell, Some(Missing::new(reason, remedy)));
    let not_counted = |side: &str, missing: &Missing| {
        cannot(format!("not counted in {side}: {}", missing.reason), &missing.remedy)
    };
    let (a, b) = match (old, new) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(missing), _) => return not_counted("OLD", missing),
        (_, Err(missing)) => return not_counted("NEW", missing),
    };
    for (counted, name) in [(a, "OLD"), (b, "NEW")] {
        if !counted.exact {
            return match counted.of_processes.len() {
                1 => cannot(format!("counted in one process only in {name}"), "take longer runs: --max-time"),
                _ => cannot(format!("not exact in {name}: its processes differ"), ""),
            };
        }
    }
    let limit = limit(count, a, b);
    let verdict = match b.value - a.value {
        more if more > limit => Verdict::Worse,
        less if less < -limit => Verdict::Better,
        _ => Verdict::Same,
    };
    (verdict, None)
}
