//! Counts what the rows of a cell ask of the allocator and of the kernel, in processes of their own
//! that are not timed.
//!
//! A request for 2k iterations minus one for k is what k iterations ask for. Both hold what the
//! protocol and the first use of things cost, so that cancels out. Every process gets the same
//! requests with the same seed, and only the place of its memory is random in its environment. The
//! report says whether its counts are exact, by whether the processes agree.

use std::io;

use taskscale_model::{
    missing::Missing,
    protocol::RunRequest,
    run_file::{CountRecord, Record, Role},
};

use crate::{
    fault::Fault,
    judge::Judge,
    link::{Counted, Counts, Event},
    row::{Row, World},
};

/// Fresh processes for each row. Two of them could agree by chance in what differs from process to
/// process.
const PROCESSES: u64 = 3;

/// Pairs of requests (k, 2k) in each process. A table that grows once does not move the median of
/// three differences, and their spread shows what a collector does to them. The number follows from
/// the size alone: a number that followed from the time of the row gave asyncio's TaskGroup 21.888
/// allocations a task in one run and 22.084 in the next.
const PAIRS: u64 = 3;

/// The fewest tasks between k and 2k iterations. One call more or less in the protocol is then
/// below 0.0001 a task.
const TASKS: u64 = 20_000;

/// The size above which two pairs must do: a million tasks make 6 million tasks in each process.
const LARGE: u64 = 100_000;

/// Requests for 2k iterations before the first pair. Pools and tables then have the size that the
/// pairs need.
const UNCOUNTED: u64 = 2;

/// The seed of every request, so that two runs ask for the same work.
const SEED: u64 = 1;

/// Counts every row but the controls, whose code is that of their baselines. A row that cannot be
/// counted gets a record with the reason.
pub(crate) fn rows<'r, 'p: 'r>(
    rows: impl Iterator<Item = &'r Row<'p>>,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    for row in rows.filter(|row| row.record.role != Role::Control) {
        for process in 0..PROCESSES {
            if world.listener.interrupted() {
                return Ok(());
            }
            let Some(launched) = world.launcher.launch_counted(&row.record.key.runtime) else {
                return Ok(());
            };
            world.listener.event(&Event::Counting { row: row.record, process, processes: PROCESSES });
            let counted = match launched {
                Ok(mut link) => {
                    let counted = one_process(row, process, &mut *link, world);
                    link.end();
                    counted?
                }
                Err(fault) => Err(fault),
            };
            if let Err(fault) = counted {
                // Another process would tell the same.
                let record = nothing(row, process, &fault, world.journal.next_order());
                world.journal.append(&Record::Count(record))?;
                break;
            }
        }
    }
    Ok(())
}

/// Takes all pairs of one process. The outer error is that of the run file.
fn one_process(
    row: &Row<'_>,
    process: u64,
    link: &mut dyn Counted,
    world: &mut World<'_, '_>,
) -> io::Result<Result<(), Fault>> {
    let description = match link.shake_hands(world.timeout_ns) {
        Ok(description) => description,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut judge = Judge::new(description.clock, world.cpus).compiled(description.jit);
    let k = TASKS.div_ceil(row.record.key.size.max(1));
    let large = row.record.key.size > LARGE;
    let (pairs, uncounted) = if large { (PAIRS - 1, UNCOUNTED - 1) } else { (PAIRS, UNCOUNTED) };
    let uncounted = (0..uncounted).map(|_| (2 * k, false));
    let counted = (0..pairs).flat_map(|_| [(k, true), (2 * k, true)]);
    for (id, (iterations, is_kept)) in (1..).zip(uncounted.chain(counted)) {
        if world.listener.interrupted() {
            return Ok(Ok(()));
        }
        let request = request(row, id, iterations);
        let before = link.counts();
        let asked = link.run(&request, world.timeout_ns);
        let after = link.counts();
        if let Err(fault) = asked.and_then(|observed| judge.judge(row.rule, &request, &observed)) {
            return Ok(Err(fault));
        }
        if is_kept {
            let order = world.journal.next_order();
            let record = record(row, process, order, &request, between(before, after));
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
    Counts {
        allocations: after
            .allocations
            .and_then(|after| before.allocations.map(|before| after.since(&before))),
        syscalls: both(before.syscalls, after.syscalls),
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
        allocations: counts.allocations.into(),
        syscalls: counts.syscalls.into(),
    }
}

/// The record of a row that could not be counted at all.
fn nothing(row: &Row<'_>, process: u64, fault: &Fault, order: u64) -> CountRecord {
    let missing = fault.to_missing();
    let missing = Missing::new(format!("it failed when it was counted: {}", missing.reason), missing.remedy);
    let counts = Counts { allocations: Err(missing.clone()), syscalls: Err(missing) };
    record(row, process, order, &request(row, 0, 0), counts)
}
