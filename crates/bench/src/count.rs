//! Counts what the rows of a cell ask of the allocator and of the kernel, in processes of their own
//! that are not timed.
//!
//! A request for 2k iterations minus one for k is what k iterations ask for. Both hold what the
//! protocol and the first use of things cost, so that cancels out. Every process gets the same
//! requests with the same seed, and only the place of its memory is random in its environment. The
//! report says whether its counts are exact, by whether the processes agree.

use std::{collections::BTreeMap, io};

use taskscale_model::{
    metric::{Count, Metric},
    missing::Missing,
    protocol::{Description, RunRequest},
    run_file::{CountRecord, Record, Role},
};

use crate::{
    counted::unsimulated,
    counters::Counters,
    fault::Fault,
    judge::Judge,
    link::{Counted, Counts, Event},
    pass::Pass,
    row::{Row, World},
    warmup::settle_ns,
};

/// Fresh processes for each row and pass. Two of them could agree by chance in what differs from
/// process to process.
const PROCESSES: u64 = 3;

/// Pairs of requests (k, 2k) in each process. A table that grows once does not move the median of
/// three differences, and their spread shows what a collector does to them. The number follows from
/// the size alone: a number that followed from the time of the row gave asyncio's TaskGroup 21.888
/// allocations a task in one run and 22.084 in the next.
const PAIRS: u64 = 3;

/// The fewest tasks between k and 2k iterations, or units of tasks where the suite says that a task
/// is made of many. One call more or less in the protocol is then below 0.0001 of each.
const TASKS: u64 = 20_000;

/// How long a process that compiles its code while it runs works before the first pair where it
/// does not say. Node allocated 1.06 objects a task before that where it allocates one.
const COMPILES_NS: u64 = 300_000_000;

/// By how much fewer tasks do where valgrind makes each 30 to 60 times as dear.
const SIMULATED: u64 = 10;

/// The most requests until a process that compiles its code while it runs has worked for as long as
/// it asks for. Compiled code allocates less: .NET's own keeps objects on the stack that do not
/// leave a function.
const UNSETTLED: u64 = 10_000;

/// The size above which two pairs must do: a million tasks make 6 million tasks in each process.
const LARGE: u64 = 100_000;

/// Requests for 2k iterations before the first pair. Pools and tables then have the size that the
/// pairs need.
const UNCOUNTED: u64 = 2;

/// The seed of every request, so that two runs ask for the same work.
const SEED: u64 = 1;

/// Processes of a row that is counted for its growth, and pairs in each: bytes are to tell n from
/// n², not one allocation more.
const BRIEF: (u64, u64) = (2, 1);

/// Counts every row but the controls, whose code is that of their baselines. A row that cannot be
/// counted gets a record with the reason.
pub(crate) fn rows<'r, 'p: 'r>(
    rows: impl Iterator<Item = &'r Row<'p>>,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    let asked = world.launcher.counts().to_vec();
    for row in rows.filter(|row| row.record.role != Role::Control) {
        let mut by_tracepoint = false;
        for pass in Pass::for_metrics(&asked) {
            let series = Series { pass, metrics: pass.of(&asked), by_tracepoint, is_brief: false };
            if let Some(missing) = unsimulated(&row.language).filter(|_| pass == Pass::Simulated) {
                let record = nothing(row, 0, &missing, &series.metrics, world.journal.next_order());
                world.journal.append(&Record::Count(record))?;
                continue;
            }
            by_tracepoint |= one_pass(row, &series, world)?;
        }
    }
    Ok(())
}

/// Counts `metrics` of one row, as far as they tell how they grow with size.
pub(crate) fn for_growth(row: &Row<'_>, metrics: &[Metric], world: &mut World<'_, '_>) -> io::Result<()> {
    for pass in Pass::for_metrics(metrics) {
        let series = Series { pass, metrics: pass.of(metrics), by_tracepoint: false, is_brief: true };
        one_pass(row, &series, world)?;
    }
    Ok(())
}

/// What a row's processes of one kind are for.
struct Series {
    pass: Pass,
    metrics: Vec<Metric>,
    /// Whether system calls were counted already, and only their names are wanted.
    by_tracepoint: bool,
    /// Whether it is counted for its growth alone.
    is_brief: bool,
}

impl Series {
    fn processes(&self) -> u64 {
        match self.pass {
            _ if self.is_brief => BRIEF.0,
            Pass::Traced if self.by_tracepoint => 1,
            Pass::Simulated => PROCESSES - 1,
            _ => PROCESSES,
        }
    }

    /// The fewest tasks between k and 2k iterations.
    fn tasks(&self) -> u64 {
        if self.pass == Pass::Simulated { TASKS / SIMULATED } else { TASKS }
    }
}

/// Counts one row in processes of its own. Returns whether the kernel's tracepoint counted system
/// calls.
fn one_pass(row: &Row<'_>, series: &Series, world: &mut World<'_, '_>) -> io::Result<bool> {
    let mut by_tracepoint = false;
    for process in 0..series.processes() {
        if world.listener.interrupted() {
            break;
        }
        let launched = world.launcher.launch_counted(&row.record.key.runtime, series.pass);
        world.listener.event(&Event::Counting { row: row.record, process, processes: series.processes() });
        let counted = match launched {
            Ok(mut link) => {
                by_tracepoint |= series.pass == Pass::Calls && matches!(link.counts().syscalls, Some(Ok(_)));
                let counted = match series.pass {
                    Pass::Peak => peak(row, process, &mut *link, world),
                    _ => one_process(row, process, series, &mut *link, world),
                };
                link.end();
                counted?
            }
            Err(fault) => Err(fault),
        };
        if let Err(fault) = counted {
            // Another process would tell the same.
            let missing = fault.to_missing();
            let reason = format!("it failed when it was counted: {}", missing.reason);
            let missing = Missing::new(reason, missing.remedy);
            let record = nothing(row, process, &missing, &series.metrics, world.journal.next_order());
            let record = CountRecord { for_growth: series.is_brief, ..record };
            world.journal.append(&Record::Count(record))?;
            break;
        }
    }
    Ok(by_tracepoint)
}

/// What a process says of itself, and who judges its answers.
fn known(link: &mut dyn Counted, world: &World<'_, '_>) -> Result<(Description, Judge), Fault> {
    let description = link.shake_hands(world.timeout_ns)?;
    let judge = Judge::new(description.clock, world.cpus).compiled(description.jit);
    Ok((description, judge))
}

/// The most resident memory over one iteration, less that over one task before it.
fn peak(
    row: &Row<'_>,
    process: u64,
    link: &mut dyn Counted,
    world: &mut World<'_, '_>,
) -> io::Result<Result<(), Fault>> {
    let (_, mut judge) = match known(link, world) {
        Ok(known) => known,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut most_of = |id, size| {
        let request = RunRequest { size, ..request(row, id, 1) };
        let before = link.reset_peak();
        let observed = link.run(&request, world.timeout_ns)?;
        let most = before.and_then(|()| link.peak());
        judge.judge(row.rule, &request, &observed)?;
        Ok(most)
    };
    let both = most_of(1, 1).and_then(|empty| Ok((empty, most_of(2, row.record.key.size)?)));
    let (empty, run) = match both {
        Ok(both) => both,
        Err(fault) => return Ok(Err(fault)),
    };
    let beyond = run.and_then(|run| empty.map(|empty| run.saturating_sub(empty)));
    let counts = Counts { others: [(Count::PeakResident, beyond)].into(), ..Counts::default() };
    let order = world.journal.next_order();
    let record = record(row, process, order, &request(row, 2, 1), counts);
    world.journal.append(&Record::Count(record))?;
    Ok(Ok(()))
}

/// Takes all pairs of one process. The outer error is that of the run file.
fn one_process(
    row: &Row<'_>,
    process: u64,
    series: &Series,
    link: &mut dyn Counted,
    world: &mut World<'_, '_>,
) -> io::Result<Result<(), Fault>> {
    let (description, mut judge) = match known(link, world) {
        Ok(known) => known,
        Err(fault) => return Ok(Err(fault)),
    };
    let own = Counters::of(&description, &series.metrics);
    let own = if series.is_brief { own.roughly(&description) } else { own };
    let size = row.record.key.size.max(1);
    let k = series.tasks().div_ceil(size.saturating_mul(row.record.units.unwrap_or(1).max(1)));
    let large = row.record.key.size > LARGE;
    let (pairs, uncounted) = match series.pass {
        _ if series.is_brief => (BRIEF.1, 1),
        Pass::Simulated => (1, 1),
        _ if large => (PAIRS - 1, UNCOUNTED - 1),
        _ => (PAIRS, UNCOUNTED),
    };
    let uncounted = (0..uncounted).map(|_| (2 * k, false));
    let mut settles = settle_ns(row.record).max(if row.record.jit { COMPILES_NS } else { 0 });
    let mut id = 0;
    while settles > 0 && id < UNSETTLED && !world.listener.interrupted() {
        id += 1;
        match link.run(&request(row, id, 2 * k), world.timeout_ns) {
            Ok(observed) => settles = settles.saturating_sub(observed.sample.cpu_ns.max(1)),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let counted = (0..pairs).flat_map(|_| [(k, true), (2 * k, true)]);
    for (id, (iterations, is_kept)) in (id + 1..).zip(uncounted.chain(counted)) {
        if world.listener.interrupted() {
            return Ok(Ok(()));
        }
        let request = own.asked(request(row, id, iterations));
        let before = link.counts();
        let asked = link.run(&request, world.timeout_ns);
        let after = link.counts();
        let judged = asked.and_then(|observed| {
            judge.judge(row.rule, &request, &observed)?;
            Ok(own.rise(&observed.sample))
        });
        let own = match judged {
            Ok(own) => own,
            Err(fault) => return Ok(Err(fault)),
        };
        if is_kept {
            let order = world.journal.next_order();
            let mut counts = between(before, after);
            counts.others.extend(own);
            match (series.pass, &counts.syscalls) {
                // A tracer is to count them.
                (Pass::Calls, Some(Err(_))) => counts.syscalls = None,
                (Pass::Traced, _) if series.by_tracepoint => counts.syscalls = None,
                _ => {}
            }
            let record =
                CountRecord { for_growth: series.is_brief, ..record(row, process, order, &request, counts) };
            world.journal.append(&Record::Count(record))?;
        }
    }
    Ok(Ok(()))
}

fn request(row: &Row<'_>, id: u64, iterations: u64) -> RunRequest {
    RunRequest {
        id,
        workload: row.record.key.workload.clone(),
        variant: row.record.key.variant.clone(),
        size: row.record.key.size,
        iterations,
        params: row.record.key.params.clone(),
        seed: SEED,
    }
}

/// The difference between two readings of the counts.
fn between(before: Counts, after: Counts) -> Counts {
    let both = |a: Result<u64, Missing>, b: Result<u64, Missing>| Ok(b?.saturating_sub(a?));
    let more = |before: &BTreeMap<String, u64>, after: BTreeMap<String, u64>| {
        let rise = |(name, b): (String, u64)| {
            let a = before.get(&name).copied().unwrap_or_default();
            (b > a).then(|| (name, b - a))
        };
        after.into_iter().filter_map(rise).collect()
    };
    let mut first = before.others;
    let others =
        after.others.into_iter().filter_map(|(count, b)| Some((count, both(first.remove(&count)?, b))));
    Counts {
        allocations: after
            .allocations
            .zip(before.allocations)
            .map(|(after, before)| after.and_then(|after| before.map(|before| after.since(&before)))),
        syscalls: before.syscalls.zip(after.syscalls).map(|(a, b)| both(a, b)),
        by_name: more(&before.by_name, after.by_name),
        others: others.collect(),
    }
}

fn record(row: &Row<'_>, process: u64, order: u64, request: &RunRequest, counts: Counts) -> CountRecord {
    CountRecord {
        order,
        row: row.record.row,
        process,
        workload: row.record.key.workload.clone(),
        runtime: row.record.key.runtime.clone(),
        variant: row.record.key.variant.clone(),
        size: row.record.key.size,
        iterations: request.iterations,
        seed: request.seed,
        allocations: counts.allocations.map(Into::into),
        syscalls: counts.syscalls.map(Into::into),
        others: counts.others.into_iter().map(|(count, value)| (count, value.into())).collect(),
        by_name: counts.by_name,
        for_growth: false,
    }
}

/// The record of a row that could not be counted at all.
fn nothing(row: &Row<'_>, process: u64, missing: &Missing, metrics: &[Metric], order: u64) -> CountRecord {
    let counts = metrics.iter().flat_map(|metric| metric.counts());
    let others = counts.map(|count| (*count, Err(missing.clone()))).collect();
    record(row, process, order, &request(row, 0, 0), Counts { others, ..Counts::default() })
}
