//! A whole run: the header and the plan first, then cell after cell within the budget.

use std::{collections::BTreeMap, io};

use taskscale_model::{
    key::SeriesKey,
    missing::Missing,
    params::Params,
    protocol::RunRequest,
    run_file::{End, Header, Record, Role, RowEnd, RuntimeRecord, Status},
};
use taskscale_stats::growth::breaks_budget;

use crate::{
    calibrate, cell,
    fault::Fault,
    journal::Journal,
    limits::Limits,
    link::{Clock, Event, Launcher, Listener},
    plan::{Cell, Found, Plan},
    row::World,
    sweep,
};

/// Everything that decides what a run does.
#[derive(Debug, Clone)]
pub struct Order {
    /// The header line; its seed decides everything random.
    pub header: Header,
    /// The runtimes that were looked for.
    pub runtimes: Vec<RuntimeRecord>,
    /// What to measure.
    pub plan: Plan,
    /// When it is enough, by suite, in the order of `header.suites`.
    pub limits: Vec<Limits>,
    /// CPUs that a process may use.
    pub cpus: u64,
}

/// Carries out `order`, appending every fact to `journal` at once. Only a run file that cannot be written is an
/// error: whatever goes wrong with a probe is a row.
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
    for row in order.plan.rows() {
        journal.append(&Record::Row(row.record.clone()))?;
    }
    let mut world = World {
        launcher,
        clock,
        listener,
        journal,
        cpus: order.cpus,
        rng: fastrand::Rng::with_seed(order.header.seed),
        timeout_ns: 0,
        rounds: 0,
    };
    let mut forecast = Forecast::default();
    let mut suite = Started { index: usize::MAX, at_ns: started_ns };
    let cells = order.plan.cells.len();
    for index in 0..cells {
        let cell = &mut order.plan.cells[index];
        if suite.index != cell.suite {
            suite = Started { index: cell.suite, at_ns: world.clock.now_ns() };
        }
        let limits = &order.limits[cell.suite];
        (world.timeout_ns, world.rounds) = (limits.timeout_ns, limits.samples);
        forecast.skip_hopeless(cell, limits.timeout_ns);
        let cell = &order.plan.cells[index];
        announce(cell, index, cells, &mut world)?;
        if world.listener.interrupted() {
            continue;
        }
        let left = order.plan.cells[index..].iter().filter(|other| other.suite == suite.index).count();
        let elapsed_ns = world.clock.now_ns() - suite.at_ns;
        let time_ns = limits.cell_time_ns(elapsed_ns, left as u64);
        let costs = cell::measure(cell, limits, time_ns, &mut world)?;
        forecast.learn(cell, &costs);
        world.listener.event(&Event::CellEnded);
    }
    let elapsed_s = (world.clock.now_ns() - started_ns) as f64 / 1e9;
    world.journal.append(&Record::End(End { elapsed_s }))
}

/// Turns CPU time of the work inside each task into a number of steps, by weighing the `spin` workload of each runtime of the
/// plan once: in the rows of a sweep their own, in all others `work_ns`, where it was asked for. A runtime without it, or
/// whose probe fails, has its rows skipped with the reason. An old side does as many steps as the new one, so that both do
/// the same work.
pub fn calibrate_work(
    plan: &mut Plan,
    runtimes: &[Found],
    launcher: &mut dyn Launcher,
    work_ns: Option<u64>,
    timeout_ns: u64,
) {
    let side = |runtime: &str| runtimes.iter().find(|found| found.id == runtime)?.old_of.clone();
    let mut known: BTreeMap<String, Result<(u64, u64), Missing>> = BTreeMap::new();
    for row in plan.cells.iter_mut().flat_map(|cell| &mut cell.rows).filter(|row| row.skip.is_none()) {
        let Some(work_ns) = row.record.sweep.map(|sweep| sweep.work_ns).or(work_ns) else { continue };
        let runtime = side(&row.record.key.runtime).unwrap_or_else(|| row.record.key.runtime.clone());
        let weighed = known
            .entry(runtime)
            .or_insert_with_key(|runtime| weigh_spin(launcher, runtime, timeout_ns))
            .clone();
        match weighed {
            Ok((steps, cpu_ns)) => {
                sweep::set_steps(&mut row.record, calibrate::steps_of(work_ns, steps, cpu_ns));
            }
            Err(missing) => row.skip = Some(missing),
        }
    }
    plan.cells.iter_mut().for_each(sweep::skip_repeated);
}

/// Steps of the kernel and the CPU time that they took, long enough to be exact to a percent or so.
fn weigh_spin(launcher: &mut dyn Launcher, runtime: &str, timeout_ns: u64) -> Result<(u64, u64), Missing> {
    const LONG_ENOUGH_NS: u64 = 20_000_000;
    let weigh = |launcher: &mut dyn Launcher| -> Result<(u64, u64), Fault> {
        let mut link = launcher.launch(runtime, 0)?;
        link.shake_hands()?;
        let mut request = RunRequest {
            id: 1,
            workload: "spin".into(),
            variant: "loop".into(),
            size: 1_000,
            iterations: 1,
            params: Params::new(),
            seed: 1,
        };
        let weighed = loop {
            let reading = link.run(&request, timeout_ns);
            match reading.map(|reading| (reading.sample.cpu_ns, reading.outside_wall_ns)) {
                Ok((cpu_ns, wall_ns)) if wall_ns >= LONG_ENOUGH_NS => break Ok((request.size, cpu_ns)),
                Ok(_) => request.size *= 4,
                Err(fault) => break Err(fault),
            }
        };
        link.end();
        weighed
    };
    weigh(launcher).map_err(|fault| {
        let reason = format!("the work inside its tasks could not be calibrated: {fault}");
        Missing::new(reason, "offer the workload `spin`, or run without --work")
    })
}

struct Started {
    index: usize,
    at_ns: u64,
}

/// Tells that a cell begins, and ends the rows that will not be measured.
fn announce(cell: &Cell, index: usize, cells: usize, world: &mut World<'_, '_>) -> io::Result<()> {
    let rows: Vec<_> = cell.rows.iter().map(|row| row.record.clone()).collect();
    world.listener.event(&Event::CellStarted {
        number: index as u64 + 1,
        of: cells as u64,
        table: &cell.table,
        size: cell.size,
        rows: &rows,
    });
    let interrupted = world.listener.interrupted();
    for row in &cell.rows {
        let missing = match &row.skip {
            Some(missing) => missing.clone(),
            None if interrupted => Missing::new("the run was interrupted before this row", ""),
            None => continue,
        };
        let status = Status::Skipped(missing);
        world.journal.append(&Record::RowEnd(RowEnd { row: row.record.row, status: status.clone() }))?;
        world.listener.event(&Event::RowEnded { row: &row.record, status: &status });
    }
    Ok(())
}

/// What a larger size will cost, from the smaller ones: so that no probe is sent into a size that it cannot finish.
#[derive(Debug, Default)]
struct Forecast {
    /// Size and wall ns of one iteration, by series.
    known: BTreeMap<SeriesKey, Vec<(u64, f64)>>,
}

impl Forecast {
    fn learn(&mut self, cell: &Cell, costs: &[Option<f64>]) {
        let measured = cell.rows.iter().filter(|row| row.skip.is_none());
        for (row, cost) in measured.zip(costs) {
            // A control repeats its baseline, and two costs at one size have no exponent.
            if let Some(cost) = cost.filter(|_| row.record.role != Role::Control) {
                self.known.entry(row.record.key.series.clone()).or_default().push((cell.size, cost));
            }
        }
    }

    /// Wall ns that one iteration at `size` is feared to take, where an answer may not take so long.
    fn too_long(&self, key: &SeriesKey, size: u64, timeout_ns: u64) -> Option<f64> {
        breaks_budget(self.known.get(key)?, size, timeout_ns as f64)
    }

    fn skip_hopeless(&self, cell: &mut Cell, timeout_ns: u64) {
        for row in cell.rows.iter_mut().filter(|row| row.skip.is_none()) {
            let key = &row.record.key.series;
            let Some(feared_ns) = self.too_long(key, cell.size, timeout_ns) else { continue };
            row.skip = Some(Missing::new(
                format!(
                    "one sample may take {:.0} s by the growth seen so far; an answer may take {:.0} s",
                    feared_ns / 1e9,
                    timeout_ns as f64 / 1e9
                ),
                format!("raise --timeout above {:.0} s", (feared_ns / 1e9).ceil()),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubling_is_feared_to_be_quadratic_and_after_a_steep_step_cubic() {
        let key = |variant: &str| SeriesKey { variant: variant.to_owned(), ..SeriesKey::default() };
        let mut forecast = Forecast::default();
        assert_eq!(forecast.too_long(&key("v"), 100, 0), None, "nothing is known");
        forecast.known.insert(key("v"), vec![(100, 1e9)]);
        assert_eq!(forecast.too_long(&key("v"), 200, 4_000_000_000), None, "just within");
        assert_eq!(forecast.too_long(&key("v"), 200, 3_900_000_000), Some(4e9));
        assert_eq!(forecast.too_long(&key("other"), 400, 0), None, "another series");
        forecast.known.insert(key("v"), vec![(100, 1e9), (200, 8e9)]);
        assert_eq!(forecast.too_long(&key("v"), 400, 60_000_000_000), Some(64e9));
    }
}
