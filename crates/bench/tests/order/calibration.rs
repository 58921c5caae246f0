//! The work inside tasks is weighed before the first cell, under the same rules as everything else.

use taskscale_bench::plan::Selection;
use taskscale_model::{
    params::ParamValue,
    run_file::{Kind, Record, Role, RowRecord, Status, Stop},
};

use crate::{Behaviour, Done, KERNEL, Setting, measure};

/// A run with a microsecond of work in each task. A step of the kernel behaves like `kernel`.
fn worked(kernel: Behaviour, setting: Setting) -> Done {
    let selection = Selection { work_ns: Some(1_000), ..Selection::default() };
    measure(&[("a", Behaviour::Costs(100)), (KERNEL, kernel)], Setting { selection, ..setting })
}

fn rows(done: &Done) -> (Vec<&RowRecord>, Vec<&RowRecord>) {
    let rows = done.records.iter().filter_map(|record| match record {
        Record::Row(row) => Some(row),
        _ => None,
    });
    rows.partition(|row| row.role == Role::Calibration)
}

#[test]
fn its_samples_stand_in_the_journal_before_the_rows_that_follow_from_them() {
    let done = worked(Behaviour::Costs(2), Setting::default());
    let (calibrations, others) = rows(&done);
    let [calibration] = calibrations[..] else { panic!("one runtime: {calibrations:?}") };
    assert_eq!((&*calibration.key.workload, &*calibration.key.variant), ("spin", KERNEL));
    let of = |wanted: Kind| {
        done.samples().filter(move |sample| sample.row == calibration.row && sample.kind == wanted)
    };
    assert!(of(Kind::Pilot).count() > 0);
    // The sample lasts 64 ms, in steps of 2 ns each.
    assert_eq!(
        of(Kind::Timed).map(|sample| sample.iterations * sample.size).collect::<Vec<_>>(),
        [32_000_000; 3]
    );
    assert!(
        others.iter().all(|row| row.key.params.get("work") == Some(&ParamValue::Integer(500))),
        "{others:?}"
    );
    let place = |wanted: &dyn Fn(&Record) -> bool| done.records.iter().position(wanted).expect("a record");
    let end = place(&|record| matches!(record, Record::RowEnd(end) if end.row == calibration.row));
    assert!(end < place(&|record| matches!(record, Record::Row(row) if row.role == Role::Baseline)));
    assert_eq!(done.ends()[0], (calibration.row, Status::Ok { stop: Stop::Samples }));
    assert_eq!(done.words[0], "calibrating fake");
}

#[test]
fn a_kernel_that_lies_has_its_rows_skipped_with_the_reason() {
    for (kernel, words) in [
        (Behaviour::LiesFrom(1), "the answer is"),
        (Behaviour::Boasts, "a time that cannot be"),
        (Behaviour::Hangs, "no answer"),
        (Behaviour::Microseconds, "are the units nanoseconds?"),
    ] {
        let done = worked(kernel, Setting::default());
        let (calibrations, others) = rows(&done);
        assert_eq!(calibrations.len(), 1, "it is asked once");
        assert!(!others.is_empty());
        for (row, status) in done.ends() {
            let said = match status {
                Status::Failed(why) if row == calibrations[0].row => why.reason,
                Status::Skipped(why) if row != calibrations[0].row => why.reason,
                other => panic!("row {row}: {other:?}"),
            };
            assert!(said.contains(words), "{said}");
        }
    }
}

#[test]
fn interrupted_it_leaves_rows_that_say_so() {
    for interrupt_after in [0, 1, 4] {
        let setting = Setting { interrupt_after: Some(interrupt_after), ..Setting::default() };
        let done = worked(Behaviour::Costs(2), setting);
        let (_, others) = rows(&done);
        assert_eq!(done.samples().count(), interrupt_after);
        for row in others {
            let end = done.ends().into_iter().find(|(number, _)| *number == row.row).expect("an end");
            assert!(
                matches!(&end.1, Status::Skipped(why) if why.reason.contains("interrupted before this row")),
                "{end:?}"
            );
        }
        assert!(matches!(done.records.last(), Some(Record::End(_))));
    }
}
