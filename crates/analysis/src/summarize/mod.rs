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
    missing::Reading,
    run_file::{RuntimeRecord, RuntimeState},
    summary::{RuntimeFacts, RuntimeLine, SCHEMA, Summary},
};

use crate::read::Run;
use samples::RowSamples;

/// Derives all figures of one run. The same run gives the same summary, since the bootstrap draws
/// from the run's own seed. O(samples log samples + 1000 x samples in series over several sizes and
/// in sweeps).
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

fn runtime(record: &RuntimeRecord) -> RuntimeLine {
    let facts = match &record.state {
        RuntimeState::Ready { runtime, workers, .. } => Reading::Value(RuntimeFacts {
            version: runtime.version.clone(),
            toolchain: runtime.toolchain.clone(),
            workers: *workers,
        }),
        RuntimeState::Missing(missing) => Reading::Missing(missing.clone()),
    };
    RuntimeLine { id: record.id.clone(), facts }
}
