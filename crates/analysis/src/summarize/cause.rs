//! What superlinear growth is due to: which series are its controls, and what they say.

use taskscale_model::{
    run_file::{RowRecord, RuntimeState},
    summary::Cause,
};
use taskscale_stats::growth::{self, Growth};

use crate::read::Run;

/// A series, named by one of its rows, and its growth.
pub type Judged<'a> = (&'a RowRecord, &'a Growth);

/// What the controls say of the cause.
pub struct Told {
    pub cause: Cause,
    /// The series that told the cause.
    pub control: Option<String>,
    /// Why the growth is not isolated.
    pub reason: Option<String>,
    /// Whether the growth is no verdict about the form because other forms share it.
    pub shared: bool,
}

/// The cause of the growth of `one` where that is superlinear. `all` may hold `one` itself.
pub fn of(run: &Run, one: Judged<'_>, all: &[Judged<'_>]) -> Option<Told> {
    let (row, found) = one;
    let controls: Vec<Judged<'_>> =
        all.iter().filter(|(other, _)| is_control(run, row, other)).copied().collect();
    let cause = growth::cause(found, controls.iter().map(|control| control.1))?;
    let told = controls.iter().find(|control| growth::cause(found, [control.1]) == Some(cause));
    let control = told.map(|control| name(row, control.0));
    let shared = growth::is_shared(found.grade, cause);
    let (cause, reason) = match cause {
        growth::Cause::Isolated => (Cause::Isolated, None),
        growth::Cause::MachineOrAllocator => (Cause::MachineOrAllocator, Some(grows_too(control.as_deref()))),
        growth::Cause::NoControl => (Cause::NoControl, Some(no_control(run, row, all))),
    };
    Some(Told { cause, control: control.filter(|_| cause != Cause::NoControl), reason, shared })
}

fn grows_too(control: Option<&str>) -> String {
    format!(
        "growth seen, cause not isolated: {} grows nearly alike and no other form tells them apart, so it may be the machine \
         or the allocator",
        control.unwrap_or("another form")
    )
}

/// Whether `other` is a control of `row`: another form of the same runtime in the same table.
/// Another runtime's form is a control only where the suite names it as the baseline of this one
/// (`runtime:variant`): the same program with another release of a library. What a user divides by
/// with `--baseline` is no control: a form of Go that is linear says nothing about Node.
fn is_control(run: &Run, row: &RowRecord, other: &RowRecord) -> bool {
    (&other.key.suite, &other.key.table) == (&row.key.suite, &row.key.table)
        && other.key.series != row.key.series
        && (other.key.runtime == row.key.runtime
            || other.key.case.is_empty()
                && named(run, row).any(|named| named == (&*other.key.runtime, &*other.key.variant)))
}

/// Rows of other runtimes that the suite names as baselines of the row's runtime.
fn named<'a>(run: &'a Run, row: &'a RowRecord) -> impl Iterator<Item = (&'a str, &'a str)> {
    let runtime = run.runtimes.iter().find(|runtime| runtime.id == row.key.runtime);
    let name = runtime.and_then(|runtime| match &runtime.state {
        RuntimeState::Ready { runtime, .. } => Some(&runtime.name),
        RuntimeState::Missing(_) => None,
    });
    let suite = run.header.suites.iter().find(|suite| suite.name == row.key.suite);
    let baselines = suite.zip(name).and_then(|(suite, name)| suite.baseline.get(name));
    baselines.into_iter().flatten().filter_map(|named| named.split_once(':'))
}

/// The control's name: `spawn`, `create_task gc=off`, or `tokio:FuturesUnordered/Mutex` where its
/// runtime is not the row's.
fn name(row: &RowRecord, control: &RowRecord) -> String {
    let name = control.key.variant_and_case();
    if control.key.runtime == row.key.runtime { name } else { format!("{}:{name}", control.key.runtime) }
}

fn no_control(run: &Run, row: &RowRecord, all: &[Judged<'_>]) -> String {
    let here = |runtime: &str, variant: &str| {
        let is = |other: &RowRecord| (&*other.key.runtime, &*other.key.variant) == (runtime, variant);
        all.iter().any(|(other, _)| is(other) && is_control(run, row, other))
    };
    let absent = named(run, row).find(|(runtime, variant)| !here(runtime, variant));
    let remedy = absent.map(|(runtime, variant)| {
        format!("; its control is {runtime}:{variant}, which was not measured: add --runtime {runtime}")
    });
    format!(
        "growth seen, cause not isolated: no form of this runtime beside it that is linear at the same sizes{}",
        remedy.unwrap_or_default()
    )
}
