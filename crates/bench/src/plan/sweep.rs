//! Plans a sweep over the work inside each task. Each variant has a cell of its own with a row for
//! each work, and the kernel alone at the smallest and the largest work. All of these rows are
//! measured side by side: fine and coarse tasks meet the same machine as the kernel that they are
//! compared with.

use taskscale_model::{
    params::{ParamValue, Params},
    run_file::{Part, Sweep},
    suite::Block,
};

use super::{cell::RowState, draft::Draft, found::Found};

/// The parameter by which the rows of a sweep differ. The probe gets `work`, in steps.
pub const WORK_NS: &str = "work_ns";

/// The groups of one table at one size, from the rows that it would have without a sweep. `next`
/// numbers the sweeps. Both sides of a comparison share their variant's group. Rows that cannot be
/// measured stand in a group of their own.
pub fn groups(block: &Block, rows: Vec<Draft>, runtimes: &[Found], next: &mut u64) -> Vec<Vec<Draft>> {
    let judged = |runtime: &str| super::sides::judged(runtimes, runtime);
    let (measured, skipped): (Vec<Draft>, Vec<Draft>) =
        rows.into_iter().partition(|row| row.state.takes_part());
    let mut groups: Vec<Vec<Draft>> = Vec::new();
    for row in measured {
        let number = std::mem::replace(next, *next + 1);
        let part = |part, work_ns| part_of(&row, Sweep { number, work_ns, part });
        let tasks = block.work_ns.iter().map(|&work_ns| part(Part::Tasks, work_ns));
        let ends = [block.work_ns.first(), block.work_ns.last()].into_iter().flatten();
        let kernel = ends.map(|&work_ns| part(Part::Kernel, work_ns));
        let sweep = tasks.chain(kernel);
        let belongs = |rows: &&mut Vec<Draft>| {
            let first = &rows[0].key;
            (judged(&first.runtime), &first.variant) == (judged(&row.key.runtime), &row.key.variant)
        };
        match groups.iter_mut().find(belongs) {
            Some(rows) => rows.extend(sweep),
            None => groups.push(sweep.collect()),
        }
    }
    if !skipped.is_empty() {
        groups.push(skipped);
    }
    groups
}

fn part_of(row: &Draft, sweep: Sweep) -> Draft {
    let mut row =
        Draft { sweep: Some(sweep), state: RowState::Uncalibrated { work_ns: sweep.work_ns }, ..row.clone() };
    row.key.case = Params::from([(WORK_NS.to_owned(), ParamValue::Integer(sweep.work_ns))]);
    if sweep.part == Part::Kernel {
        row.creates_task = Some(false);
        // Its size, the number of steps, is known once the kernel has been weighed.
        let series = &mut row.key.series;
        (series.workload, series.variant) = ("spin".into(), "loop".into());
        series.params = Params::new();
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskscale_model::{
        key::{RowKey, SeriesKey},
        missing::Missing,
        run_file::Role,
        suite::Suite,
    };

    fn block() -> Block {
        let text = "schema = \"taskscale.suite/1\"\nname = \"s\"\ntitle = \"s\"\n[[workload]]\nname = \"fanout\"\nsizes = [64]\n\
                    work_ns = [100, 400, 1600]\nanswer = { rule = \"sum_of_tasks\" }";
        Suite::parse(text).expect("valid").workloads.remove(0)
    }

    fn row(variant: &str, state: RowState) -> Draft {
        let series = SeriesKey {
            workload: "fanout".into(),
            runtime: "tokio".into(),
            variant: variant.into(),
            ..SeriesKey::default()
        };
        Draft {
            key: RowKey { series, size: 64 },
            creates_task: Some(true),
            jit: false,
            settle_ms: None,
            units: None,
            sweep: None,
            role: Role::Row,
            baseline: None,
            state,
            max_size: None,
        }
    }

    #[test]
    fn each_variant_is_swept_beside_the_kernel_in_a_group_of_its_own() {
        let skipped = RowState::Skipped(Missing::new("no", ""));
        let rows =
            vec![row("spawn", RowState::Ready), row("scope", skipped), row("JoinSet", RowState::Ready)];
        let groups = groups(&block(), rows, &[], &mut 7);
        assert_eq!(groups.len(), 3, "two sweeps, and what is skipped");
        let shape = |rows: &[Draft]| -> Vec<(String, u64, u64, Part)> {
            let swept = rows.iter().map(|row| (row, row.sweep.expect("a sweep")));
            swept
                .map(|(row, sweep)| {
                    assert_eq!(row.state, RowState::Uncalibrated { work_ns: sweep.work_ns });
                    (row.key.variant.clone(), sweep.number, sweep.work_ns, sweep.part)
                })
                .collect()
        };
        let swept = |variant: &str, number| {
            let tasks = [100, 400, 1600].map(|ns| (variant.to_owned(), number, ns, Part::Tasks));
            let kernel = [100, 1600].map(|ns| ("loop".to_owned(), number, ns, Part::Kernel));
            tasks.into_iter().chain(kernel).collect::<Vec<_>>()
        };
        assert_eq!(shape(&groups[0]), swept("spawn", 7));
        assert_eq!(shape(&groups[1]), swept("JoinSet", 8));
        assert_eq!((groups[2].len(), groups[2][0].sweep), (1, None));
    }
}
