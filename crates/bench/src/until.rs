//! Counts the rows of a cell until its time is up. Counting looks before each request whether the
//! user has interrupted it; here the end of the time looks the same to it. What is not counted by
//! then is missing, with the reason.

use std::{cell::RefCell, io};

use taskscale_model::{
    machine::Disturbance,
    metric::Metric,
    missing::Missing,
    run_file::{CountRecord, Record, Role},
};

use crate::{
    agree::Agreed,
    carried::Carried,
    count,
    link::{Clock, Event, Listener},
    row::{Row, World},
};

/// A listener that is also interrupted once the time is up.
struct Until<'a> {
    listener: &'a mut dyn Listener,
    clock: &'a RefCell<&'a mut dyn Clock>,
    ends_ns: u64,
}

impl Listener for Until<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.listener.event(event);
    }

    fn interrupted(&self) -> bool {
        self.listener.interrupted() || self.clock.borrow().now_ns() >= self.ends_ns
    }
}

/// A clock that its listener reads too.
struct Shared<'a>(&'a RefCell<&'a mut dyn Clock>);

impl Clock for Shared<'_> {
    fn now_ns(&self) -> u64 {
        self.0.borrow().now_ns()
    }

    fn disturbance(&mut self) -> Disturbance {
        self.0.borrow_mut().disturbance()
    }

    fn memory_free(&self) -> Option<u64> {
        self.0.borrow().memory_free()
    }
}

/// Counts these rows, and no longer than until `ends_ns` and the request that is then under way.
pub(crate) fn count<'r, 'p: 'r>(
    rows: impl Iterator<Item = &'r Row<'p>>,
    ends_ns: u64,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    if ends_ns == u64::MAX {
        let rows: Vec<&Row<'_>> = rows.collect();
        count::rows(rows.iter().copied(), world)?;
        let rows = rows.into_iter().filter(|row| row.record.role != Role::Control);
        return if world.listener.interrupted() { leave_out_all(rows, world) } else { Ok(()) };
    }
    for row in rows.filter(|row| row.record.role != Role::Control) {
        within(ends_ns, world, |world| count::rows(std::iter::once(row), world))?;
        if world.clock.now_ns() >= ends_ns {
            leave_out(row, world)?;
        }
    }
    Ok(())
}

/// Counts of these rows what tells a collector's growth, as long as time is left. What is not
/// counted then was not asked for.
pub(crate) fn count_growth<'r, 'p: 'r>(
    rows: impl Iterator<Item = (&'r Row<'p>, &'static [Metric])>,
    ends_ns: u64,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    for (row, metrics) in rows {
        within(ends_ns, world, |world| count::for_growth(row, metrics, world))?;
    }
    Ok(())
}

/// Carries `count` out in a world that is interrupted at `ends_ns`, if that is still to come.
fn within(
    ends_ns: u64,
    world: &mut World<'_, '_>,
    count: impl FnOnce(&mut World<'_, '_>) -> io::Result<()>,
) -> io::Result<()> {
    if world.clock.now_ns() >= ends_ns {
        return Ok(());
    }
    let clock = RefCell::new(&mut *world.clock as &mut dyn Clock);
    count(&mut World {
        launcher: &mut *world.launcher,
        clock: &mut Shared(&clock),
        listener: &mut Until { listener: &mut *world.listener, clock: &clock, ends_ns },
        journal: &mut *world.journal,
        cpus: world.cpus,
        rng: world.rng.clone(),
        timeout_ns: world.timeout_ns,
        hurry_ns: world.hurry_ns,
        over_ns: world.over_ns,
        rounds: world.rounds,
        agreed: Agreed::default(),
        carried: Carried::default(),
    })
}

fn leave_out_all<'r, 'p: 'r>(
    mut rows: impl Iterator<Item = &'r Row<'p>>,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    rows.try_for_each(|row| leave_out(row, world))
}

/// Records why what is not counted of a row is not.
fn leave_out(row: &Row<'_>, world: &mut World<'_, '_>) -> io::Result<()> {
    let missing = match world.listener.interrupted() {
        true => Missing::new("the run was interrupted before it was counted", "run it again"),
        false => Missing::new(
            "no time was left to count it",
            "raise --max-time, leave it out, or name fewer with --runtime or --variant",
        ),
    };
    let asked = world.launcher.counts().iter().flat_map(|metric| metric.counts());
    let number = row.record.row;
    let untold = asked.filter(|count| !world.journal.tells(number, **count));
    let others: std::collections::BTreeMap<_, _> =
        untold.map(|count| (*count, Err(missing.clone()).into())).collect();
    if others.is_empty() {
        return Ok(());
    }
    let key = &row.record.key;
    let record = CountRecord {
        order: world.journal.next_order(),
        row: number,
        process: 0,
        workload: key.workload.clone(),
        runtime: key.runtime.clone(),
        variant: key.variant.clone(),
        size: key.size,
        iterations: 0,
        seed: 0,
        allocations: None,
        syscalls: None,
        others,
        by_name: Default::default(),
        for_growth: false,
    };
    world.journal.append(&Record::Count(record))
}
