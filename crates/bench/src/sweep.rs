//! A sweep over the work inside each task, planned: for each variant a cell of its own with a row for each work, and the
//! kernel alone at the smallest and the largest of them. All of these are measured side by side, so that fine and
//! coarse tasks meet the same machine as the kernel that they are held to.

use taskscale_model::{
    missing::Missing,
    params::{ParamValue, Params},
    run_file::{Part, Role, RowRecord, Sweep},
    suite::Block,
};

use crate::plan::{Cell, Found, PlannedRow};

/// The parameter by which the rows of a sweep differ; the probe is sent `work`, in steps.
pub const WORK_NS: &str = "work_ns";

/// The cells of one table at one size, from the rows that it would have without a sweep; `next` numbers the sweeps. Both sides of
/// a comparison share their variant's cell. What cannot be measured stands in a cell of its own.
pub(crate) fn cells(
    block: &Block,
    cell: &Cell,
    rows: Vec<PlannedRow>,
    runtimes: &[Found],
    next: &mut u64,
) -> Vec<Cell> {
    let judged = |runtime: &str| {
        let found = runtimes.iter().find(|found| found.id == runtime);
        found.and_then(|found| found.old_of.clone()).unwrap_or_else(|| runtime.to_owned())
    };
    let with = |rows| Cell { rows, table: cell.table.clone(), ..*cell };
    let (measured, skipped): (Vec<PlannedRow>, Vec<PlannedRow>) =
        rows.into_iter().partition(|row| row.skip.is_none());
    let mut cells: Vec<Cell> = Vec::new();
    for row in measured {
        let number = std::mem::replace(next, *next + 1);
        let part = |part, work_ns| part_of(&row.record, Sweep { number, work_ns, part });
        let tasks = block.work_ns.iter().map(|&work_ns| part(Part::Tasks, work_ns));
        let ends = [block.work_ns.first(), block.work_ns.last()].into_iter().flatten();
        let kernel = ends.map(|&work_ns| part(Part::Kernel, work_ns));
        let sweep = tasks.chain(kernel);
        let belongs = |cell: &&mut Cell| {
            let first = &cell.rows[0].record;
            (judged(&first.key.runtime), &first.key.variant)
                == (judged(&row.record.key.runtime), &row.record.key.variant)
        };
        match cells.iter_mut().find(belongs) {
            Some(cell) => cell.rows.extend(sweep),
            None => cells.push(with(sweep.collect())),
        }
    }
    if !skipped.is_empty() {
        cells.push(with(skipped));
    }
    cells
}

fn part_of(row: &RowRecord, sweep: Sweep) -> PlannedRow {
    let case = Params::from([(WORK_NS.to_owned(), ParamValue::Integer(sweep.work_ns))]);
    let mut record = RowRecord { sweep: Some(sweep), ..row.clone() };
    record.key.case = case;
    if sweep.part == Part::Kernel {
        record.creates_task = Some(false);
        // Its size, the number of steps, is known once they have been weighed.
        let series = &mut record.key.series;
        (series.workload, series.variant) = ("spin".into(), "loop".into());
        series.params = Params::new();
    }
    PlannedRow { record, skip: None }
}

/// Puts the number of steps that last as long as was asked for into a row: of a sweep its own, else `work_ns`.
pub(crate) fn set_steps(record: &mut RowRecord, steps: u64) {
    match record.sweep {
        Some(Sweep { part: Part::Kernel, .. }) => record.key.size = steps,
        _ => {
            record.key.params.insert("work".into(), ParamValue::Integer(steps));
        }
    }
}

/// Skips the rows of a cell whose work is that of a row before: where a step of the kernel lasts long, small works come down to
/// the same few steps.
pub(crate) fn skip_repeated(cell: &mut Cell) {
    let mut known: Vec<(String, ParamValue)> = Vec::new();
    let tasks = |row: &&mut PlannedRow| {
        let is_tasks = row.record.sweep.is_some_and(|sweep| sweep.part == Part::Tasks);
        // The control repeats its row, which is its purpose.
        is_tasks && row.record.role != Role::Control && row.skip.is_none()
    };
    for row in cell.rows.iter_mut().filter(tasks) {
        let Some(work) = row.record.key.params.get("work").cloned() else { continue };
        let work = (row.record.key.runtime.clone(), work);
        if known.contains(&work) {
            let reason = format!(
                "its work comes down to as many steps of the kernel ({}) as that of a row before",
                work.1
            );
            row.skip = Some(Missing::new(reason, ""));
        } else {
            known.push(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskscale_model::{
        answer::Rule,
        key::{RowKey, SeriesKey},
        run_file::Role,
        suite::Suite,
    };

    fn block() -> Block {
        let text = "schema = \"taskscale.suite/1\"\nname = \"s\"\ntitle = \"s\"\n[[workload]]\nname = \"fanout\"\nsizes = [64]\n\
                    work_ns = [100, 400, 1600]\nanswer = { rule = \"sum_of_tasks\" }";
        Suite::parse(text).expect("valid").workloads.remove(0)
    }

    fn row(variant: &str, skip: Option<Missing>) -> PlannedRow {
        let series = SeriesKey {
            suite: "s".into(),
            table: "t".into(),
            workload: "fanout".into(),
            runtime: "tokio".into(),
            version: "1".into(),
            variant: variant.into(),
            ..SeriesKey::default()
        };
        let record = RowRecord {
            row: 0,
            key: RowKey { series, size: 64 },
            creates_task: Some(true),
            jit: false,
            sweep: None,
            role: Role::Row,
            baseline: None,
        };
        PlannedRow { record, skip }
    }

    fn planned(rows: Vec<PlannedRow>) -> Vec<Cell> {
        let cell = Cell { suite: 0, table: "t".into(), size: 64, rule: Rule::SumOfTasks, rows: Vec::new() };
        cells(&block(), &cell, rows, &[], &mut 7)
    }

    #[test]
    fn each_variant_is_swept_beside_the_kernel_in_a_cell_of_its_own() {
        let cells = planned(vec![
            row("spawn", None),
            row("scope", Some(Missing::new("no", ""))),
            row("JoinSet", None),
        ]);
        assert_eq!(cells.len(), 3, "two sweeps, and what is skipped");
        let shape = |cell: &Cell| -> Vec<(String, u64, u64, Part, Rule)> {
            let rows = cell.rows.iter().map(|row| (&row.record, row.record.sweep.expect("a sweep")));
            rows.map(|(row, sweep)| {
                (row.key.variant.clone(), sweep.number, sweep.work_ns, sweep.part, cell.rule_of(row))
            })
            .collect()
        };
        let swept = |variant: &str, number| {
            let tasks =
                [100, 400, 1600].map(|ns| (variant.to_owned(), number, ns, Part::Tasks, Rule::SumOfTasks));
            let kernel = [100, 1600].map(|ns| ("loop".to_owned(), number, ns, Part::Kernel, Rule::Spin));
            tasks.into_iter().chain(kernel).collect::<Vec<_>>()
        };
        assert_eq!(shape(&cells[0]), swept("spawn", 7));
        assert_eq!(shape(&cells[1]), swept("JoinSet", 8));
        assert_eq!((cells[2].rows.len(), cells[2].rows[0].record.sweep), (1, None));
    }

    #[test]
    fn steps_are_the_tasks_work_and_the_kernels_size() {
        let mut cells = planned(vec![row("spawn", None)]);
        for row in &mut cells[0].rows {
            set_steps(&mut row.record, 33);
        }
        let (tasks, kernel) = (&cells[0].rows[0].record, &cells[0].rows[3].record);
        assert_eq!((tasks.key.size, tasks.key.params.get("work")), (64, Some(&ParamValue::Integer(33))));
        assert_eq!(
            (kernel.key.size, kernel.key.params.get("work"), &*kernel.key.workload),
            (33, None, "spin")
        );
    }

    #[test]
    fn works_of_the_same_steps_are_measured_once_and_the_control_stays() {
        let mut cell = planned(vec![row("spawn", None)]).remove(0);
        let mut control = cell.rows[0].clone();
        (control.record.role, control.record.baseline) = (Role::Control, Some(0));
        cell.rows.push(control);
        for (row, steps) in cell.rows.iter_mut().zip([1, 1, 4, 1, 4, 1]) {
            set_steps(&mut row.record, steps);
        }
        skip_repeated(&mut cell);
        let skipped: Vec<bool> = cell.rows.iter().map(|row| row.skip.is_some()).collect();
        assert_eq!(skipped, [false, true, false, false, false, false]);
    }
}
