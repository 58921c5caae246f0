//! Derives every figure of a summary from the raw records of a run.

mod cause;
pub mod control;
pub mod counts;
mod granularity;
mod growth;
mod notes;
mod rows;
pub mod samples;
mod threads;
pub mod warmup;

use taskscale_model::{
    run_file,
    summary::{RuntimeState, SCHEMA, Summary},
};

use crate::read::Run;
use samples::RowSamples;

/// All figures of one run. The same run gives the same summary: the bootstrap draws from the run's own seed.
/// O(samples log samples + 1000 x samples in series over several sizes and in sweeps).
pub fn summarize(run: &Run) -> Summary {
    let series = RowSamples::of_run(run);
    let rows = rows::all(run, &series);
    let control = control::judge(run, &series);
    Summary {
        schema: SCHEMA.to_owned(),
        tool: run.header.tool.clone(),
        command: run.header.command.clone(),
        seed: run.header.seed,
        started_unix_s: run.header.started_unix_s,
        complete: run.ended.is_some(),
        machine: run.header.machine.clone(),
        runtimes: run.runtimes.iter().map(runtime).collect(),
        growth: growth::all(run, &series),
        granularity: granularity::all(run, &series),
        notes: notes::all(run, &series, &rows),
        rows,
        control,
    }
}

fn runtime(record: &run_file::RuntimeRecord) -> RuntimeState {
    let (version, toolchain, workers, missing) = match &record.state {
        run_file::RuntimeState::Ready { runtime, workers, .. } => {
            (Some(runtime.version.clone()), Some(runtime.toolchain.clone()), *workers, None)
        }
        run_file::RuntimeState::Missing(missing) => (None, None, None, Some(missing.clone())),
    };
    RuntimeState { id: record.id.clone(), version, toolchain, workers, missing }
}
