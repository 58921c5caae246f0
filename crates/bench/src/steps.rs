//! Measures how many steps of the kernel last as long as the work that was asked for. A run does
//! this first.
//!
//! Each runtime with such work has a row of role `calibration`: the workload `spin`, piloted,
//! judged and journaled like any other row.

use std::{collections::BTreeMap, io};

use taskscale_model::{
    answer::Rule,
    key::{RowKey, SeriesKey},
    missing::Missing,
    params::ParamValue,
    protocol::MAX_INTEGER,
    run_file::{Kind, Part, Record, Role, RowRecord, RuntimeRecord, Status, Stop, Time},
};
use taskscale_stats::quantile::median;

use crate::{
    ask::Ask,
    calibrate::{self, Pilot},
    fault::Fault,
    link::Event,
    plan::{Cell, Plan, PlannedRow, RowState},
    row::{Row, World},
};

/// Steps of one iteration: 0.1 ms in most languages and up to 14 ms in Python. Neither the call nor
/// one iteration alone is then most of a sample.
const STEPS: u64 = 100_000;

/// Timed samples of each runtime. Their median counts.
const SAMPLES: u64 = 3;

/// Weighs the kernel in each runtime whose rows wait for it, and gives these rows their steps. The
/// rows of a runtime without the workload, or whose probe fails, are skipped with the reason. An
/// old side does as many steps as the new side, so that both do the same work. An interruption
/// leaves the other rows as they are.
pub(crate) fn calibrate(
    plan: &mut Plan,
    runtimes: &[RuntimeRecord],
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    let side = |id: &str| {
        let old_of =
            runtimes.iter().find(|runtime| runtime.id == id).and_then(|runtime| runtime.old_of.clone());
        old_of.unwrap_or_else(|| id.to_owned())
    };
    world.timeout_ns = plan.suites.iter().map(|suite| suite.limits.timeout_ns).max().unwrap_or(0);
    world.rounds = SAMPLES;
    let mut known: BTreeMap<String, Result<f64, Missing>> = BTreeMap::new();
    let mut number = plan.rows().count() as u64;
    for row in plan.cells_mut().flat_map(Cell::measured_mut) {
        let RowState::Uncalibrated { work_ns } = row.state else { continue };
        let runtime = side(&row.record.key.runtime);
        if !known.contains_key(&runtime) {
            if world.listener.interrupted() {
                return Ok(());
            }
            let weighed = weigh(&record(row, number, &runtime), world)?;
            number += 1;
            // Nothing is known of a runtime whose weighing was interrupted.
            let Some(weighed) = weighed else { return Ok(()) };
            known.insert(runtime.clone(), weighed);
        }
        row.state = match &known[&runtime] {
            Ok(step_ns) => {
                set(&mut row.record, calibrate::steps_of(work_ns, *step_ns));
                RowState::Ready
            }
            Err(missing) => RowState::Skipped(missing.clone()),
        };
    }
    plan.cells_mut().for_each(skip_repeated);
    Ok(())
}

fn record(row: &PlannedRow, number: u64, runtime: &str) -> RowRecord {
    let series = SeriesKey {
        table: "calibration".into(),
        workload: "spin".into(),
        runtime: runtime.to_owned(),
        variant: "loop".into(),
        case: Default::default(),
        params: Default::default(),
        ..row.record.key.series.clone()
    };
    RowRecord {
        row: number,
        key: RowKey { series, size: STEPS },
        creates_task: Some(false),
        jit: row.record.jit,
        settle_ms: row.record.settle_ms,
        units: None,
        sweep: None,
        role: Role::Calibration,
        baseline: None,
    }
}

/// CPU ns of one step of the kernel, or why it is not known. It is `None` where the run was
/// interrupted.
fn weigh(record: &RowRecord, world: &mut World<'_, '_>) -> io::Result<Option<Result<f64, Missing>>> {
    world.journal.append(&Record::Row(record.clone()))?;
    world.listener.event(&Event::Calibrating { row: record });
    let mut row = Row::new(record, Rule::Spin);
    row.start(world)?;
    row.shake_hands(world)?;
    let mut timed = Vec::new();
    if let Some(iterations) = pilot(&mut row, world)? {
        for round in 0..SAMPLES {
            if world.listener.interrupted() {
                break;
            }
            let seed = world.rng.u64(0..=MAX_INTEGER);
            if let Some(sample) = row.ask(Ask { kind: Kind::Timed, round, iterations, seed }, world)?
                && sample.kind == Kind::Timed
            {
                timed.push(sample.per_task(Time::Cpu));
            }
        }
    }
    let interrupted = world.listener.interrupted();
    row.finish(if interrupted { Stop::Interrupted } else { Stop::Samples }, world)?;
    Ok(match (row.status(), median(&timed)) {
        (Some(Status::Failed(why) | Status::Skipped(why)), _) if !interrupted => Some(Err(Missing::new(
            format!("the work inside its tasks could not be calibrated: {}", why.reason),
            match why.reason.contains("unknown workload") {
                true => {
                    "offer the workload `spin` with a variant `loop`, or ask for no time of work".to_owned()
                }
                false => why.remedy.clone(),
            },
        ))),
        (_, Some(step_ns)) => Some(Ok(step_ns)),
        (_, None) => None,
    })
}

/// Iterations that last long enough. It is `None` where the row died or the run was interrupted.
fn pilot(row: &mut Row<'_>, world: &mut World<'_, '_>) -> io::Result<Option<u64>> {
    let target_ns = calibrate::target_ns(calibrate::TOLD_UNITS_NS, row.resolution_ns);
    let mut iterations = 1;
    loop {
        if world.listener.interrupted() {
            return Ok(None);
        }
        let seed = world.rng.u64(0..=MAX_INTEGER);
        let ask = Ask { kind: Kind::Pilot, round: 0, iterations, seed };
        let Some(sample) = row.ask(ask, world)? else { return Ok(None) };
        if sample.kind == Kind::SetAside {
            continue;
        }
        let seen_ns = calibrate::seen_ns(sample.outside_wall_ns, sample.outside_cpu_ns);
        match calibrate::next_pilot(iterations, seen_ns, target_ns) {
            Pilot::Try(next) => iterations = next,
            Pilot::Enough => return Ok(Some(iterations)),
            Pilot::Stuck => {
                row.fail(&Fault::does_not_repeat(iterations, sample.wall_ns), world)?;
                return Ok(None);
            }
        }
    }
}

/// Puts a number of steps into a row.
fn set(record: &mut RowRecord, steps: u64) {
    match record.sweep.map(|sweep| sweep.part) {
        Some(Part::Kernel) => record.key.size = steps,
        Some(Part::Tasks) | None => {
            record.key.params.insert("work".into(), ParamValue::Integer(steps));
        }
    }
}

/// Skips the rows of a cell whose steps are those of an earlier row. Small works come down to the
/// same few steps where a step of the kernel lasts long.
fn skip_repeated(cell: &mut Cell) {
    let mut known: Vec<(String, ParamValue)> = Vec::new();
    let tasks = |row: &&mut PlannedRow| {
        let is_tasks = row.record.sweep.is_some_and(|sweep| sweep.part == Part::Tasks);
        // The control repeats its row, which is its purpose. A row that was not weighed has no
        // steps to repeat.
        is_tasks && row.record.role != Role::Control && row.state == RowState::Ready
    };
    for row in cell.measured_mut().filter(tasks) {
        let Some(work) = row.record.key.params.get("work").cloned() else { continue };
        let work = (row.record.key.runtime.clone(), work);
        if known.contains(&work) {
            let reason = format!(
                "its work comes down to as many steps of the kernel ({}) as that of a row before",
                work.1
            );
            row.state = RowState::Skipped(Missing::new(reason, ""));
        } else {
            known.push(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskscale_model::run_file::Sweep;

    fn row(part: Part, work_ns: u64, role: Role) -> PlannedRow {
        let record = RowRecord {
            row: 0,
            key: RowKey { size: 64, ..RowKey::default() },
            creates_task: Some(true),
            jit: false,
            settle_ms: None,
            units: None,
            sweep: Some(Sweep { number: 0, work_ns, part }),
            role,
            baseline: None,
        };
        PlannedRow { record, state: RowState::Ready, max_size: None }
    }

    #[test]
    fn steps_are_the_tasks_work_and_the_kernels_size() {
        let [mut tasks, mut kernel] =
            [Part::Tasks, Part::Kernel].map(|part| row(part, 100, Role::Row).record);
        set(&mut tasks, 33);
        set(&mut kernel, 33);
        assert_eq!((tasks.key.size, tasks.key.params.get("work")), (64, Some(&ParamValue::Integer(33))));
        assert_eq!((kernel.key.size, kernel.key.params.get("work")), (33, None));
    }

    #[test]
    fn works_of_the_same_steps_are_measured_once_and_the_control_stays() {
        let tasks = [100, 400, 1600].map(|ns| row(Part::Tasks, ns, Role::Row));
        let kernel = [100, 1600].map(|ns| row(Part::Kernel, ns, Role::Row));
        let rows: Vec<PlannedRow> =
            tasks.into_iter().chain(kernel).chain([row(Part::Tasks, 100, Role::Control)]).collect();
        let mut cell = Cell { table: "t".into(), size: 64, rule: Rule::SumOfTasks, splits: false, rows };
        for (row, steps) in cell.rows.iter_mut().zip([1, 1, 4, 1, 4, 1]) {
            set(&mut row.record, steps);
        }
        skip_repeated(&mut cell);
        let skipped: Vec<bool> = cell.rows.iter().map(|row| !row.state.takes_part()).collect();
        assert_eq!(skipped, [false, true, false, false, false, false]);
    }
}
