//! A whole run: the header and the plan first, then one cell after another within the budget.

use std::{collections::BTreeMap, io};

use taskscale_model::{
    key::SeriesKey,
    missing::Missing,
    run_file::{End, Header, Record, Role, RowEnd, RuntimeRecord, Status},
};
use taskscale_stats::growth::breaks_budget;

use crate::{
    cell,
    journal::Journal,
    link::{Clock, Event, Launcher, Listener},
    plan::{Cell, Plan, PlannedSuite, RowState},
    row::World,
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
        rounds: 0,
    };
    let plan = &mut order.plan;
    steps::calibrate(plan, &order.runtimes, &mut world)?;
    for row in plan.rows() {
        world.journal.append(&Record::Row(row.record.clone()))?;
    }
    let mut forecast = Forecast::default();
    let (mut number, cells) = (0, plan.cells().count());
    for PlannedSuite { limits, cells: of_suite } in &mut plan.suites {
        let suite_started_ns = world.clock.now_ns();
        (world.timeout_ns, world.rounds) = (limits.timeout_ns, limits.samples);
        let weight = |cell: &Cell| {
            cell.rows.iter().filter(|row| row.state.takes_part()).count() as f64 * limits.weight(cell.size)
        };
        let mut left: f64 = of_suite.iter().map(weight).sum();
        for cell in of_suite {
            number += 1;
            let own = weight(cell);
            forecast.skip_hopeless(cell, limits.timeout_ns);
            announce(cell, number, cells, &mut world)?;
            if !world.listener.interrupted() {
                let elapsed_ns = world.clock.now_ns() - suite_started_ns;
                let time_ns = limits.cell_time_ns(elapsed_ns, own, left);
                let costs = cell::measure(cell, limits, time_ns, &mut world)?;
                forecast.learn(cell, &costs);
                world.listener.event(&Event::CellEnded);
            }
            left -= own;
        }
    }
    let elapsed_s = (world.clock.now_ns() - started_ns) as f64 / 1e9;
    world.journal.append(&Record::End(End { elapsed_s }))
}

/// Tells that a cell begins, and ends the rows that will not be measured.
fn announce(cell: &Cell, number: usize, cells: usize, world: &mut World<'_, '_>) -> io::Result<()> {
    let rows: Vec<_> = cell.rows.iter().map(|row| row.record.clone()).collect();
    world.listener.event(&Event::CellStarted {
        number: number as u64,
        of: cells as u64,
        table: &cell.table,
        size: cell.size,
        rows: &rows,
    });
    let interrupted = world.listener.interrupted();
    for row in &cell.rows {
        let missing = match &row.state {
            RowState::Skipped(missing) => missing.clone(),
            _ if interrupted => Missing::new("the run was interrupted before this row", "run it again"),
            RowState::Ready | RowState::Uncalibrated { .. } => continue,
        };
        let status = Status::Skipped(missing);
        world.journal.append(&Record::RowEnd(RowEnd { row: row.record.row, status: status.clone() }))?;
        world.listener.event(&Event::RowEnded { row: &row.record, status: &status });
    }
    Ok(())
}

/// Forecasts the cost of a larger size from smaller ones, so that no probe is sent into a size that
/// it cannot finish.
#[derive(Debug, Default)]
struct Forecast {
    /// Size and wall ns of one iteration, by series.
    known: BTreeMap<SeriesKey, Vec<(u64, f64)>>,
}

impl Forecast {
    fn learn(&mut self, cell: &Cell, costs: &[Option<f64>]) {
        for (row, cost) in cell.measured().zip(costs) {
            // A control repeats its baseline, and two costs at one size have no exponent.
            if let Some(cost) = cost.filter(|_| row.record.role != Role::Control) {
                self.known.entry(row.record.key.series.clone()).or_default().push((cell.size, cost));
            }
        }
    }

    /// The wall ns that one iteration at `size` may take, where that is longer than an answer may
    /// take.
    fn too_long(&self, key: &SeriesKey, size: u64, timeout_ns: u64) -> Option<f64> {
        breaks_budget(self.known.get(key)?, size, timeout_ns as f64)
    }

    fn skip_hopeless(&self, cell: &mut Cell, timeout_ns: u64) {
        let size = cell.size;
        for row in cell.measured_mut() {
            let key = &row.record.key.series;
            let Some(feared_ns) = self.too_long(key, size, timeout_ns) else { continue };
            row.state = RowState::Skipped(Missing::new(
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
