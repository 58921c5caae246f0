//! A whole run: the header and the plan first, then one suite after another.

use std::io;

use taskscale_model::run_file::{End, Header, Record, RuntimeRecord};

use crate::{
    agree::Agreed,
    carried::Carried,
    journal::Journal,
    link::{Clock, Launcher, Listener},
    plan::Plan,
    row::World,
    sitting::{self, Numbers},
    steps,
};

/// Everything that decides what a run does.
#[derive(Debug, Clone)]
pub struct Order {
    /// The header line. Its seed decides everything random.
    pub header: Header,
    /// The runtimes that the tool looked for.
    pub runtimes: Vec<RuntimeRecord>,
    pub plan: Plan,
    /// CPUs that a process may use.
    pub cpus: u64,
}

/// Carries out `order` and appends every fact to `journal` at once. Only a run file that cannot be
/// written is an error. A fault of a probe is a row.
pub fn run(
    mut order: Order,
    launcher: &mut dyn Launcher,
    clock: &mut dyn Clock,
    listener: &mut dyn Listener,
    journal: &mut Journal<'_>,
) -> io::Result<()> {
    let started_ns = clock.now_ns();
    journal.append(&Record::Header(Box::new(order.header.clone())))?;
    for runtime in &order.runtimes {
        journal.append(&Record::Runtime(runtime.clone()))?;
    }
    let mut world = World {
        launcher,
        clock,
        listener,
        journal,
        cpus: order.cpus,
        rng: fastrand::Rng::with_seed(order.header.seed),
        timeout_ns: 0,
        hurry_ns: None,
        over_ns: u64::MAX,
        rounds: 0,
        agreed: Agreed::default(),
        carried: Carried::default(),
    };
    let plan = &mut order.plan;
    steps::calibrate(plan, &order.runtimes, &mut world)?;
    for row in plan.rows() {
        world.journal.append(&Record::Row(row.record.clone()))?;
    }
    let of = plan.cells().count() as u64;
    // Calibrations have rows too.
    let rows = world.journal.records().row;
    let mut numbers = Numbers { before: 0, of, rows };
    for suite in &mut plan.suites {
        (world.timeout_ns, world.hurry_ns) = (suite.limits.timeout_ns, suite.limits.hurry_ns);
        world.rounds = suite.limits.samples;
        sitting::measure(suite, &mut numbers, &mut world)?;
    }
    let elapsed_s = (world.clock.now_ns() - started_ns) as f64 / 1e9;
    let interrupted = world.listener.interrupted();
    let records = Some(world.journal.records());
    world.journal.append(&Record::End(End { elapsed_s, interrupted, records }))
}
