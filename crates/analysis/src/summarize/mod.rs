//! Derives every figure of a summary from the raw records of a run.

mod cause;
mod collector;
pub mod control;
pub mod counts;
pub mod doubts;
mod granularity;
mod growth;
mod long;
mod notes;
mod overview;
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
pub use growth::is_gradable;
pub(crate) use overview::TIE;
use samples::RowSamples;

/// What a reader asks of a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The row that rankings refer to, as `runtime`, `runtime:variant` or `runtime:variant case`.
    /// Where it is none of a table's, the tool chooses.
    pub reference: Option<String>,
    pub sort: Sort,
}

/// The order of a ranking's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// The cheapest first.
    #[default]
    Cost,
    /// By runtime and variant, as words.
    Name,
}

/// Derives all figures of one run by the default [`Options`].
pub fn summarize(run: &Run) -> Summary {
    summarize_with(run, &Options::default())
}

/// Derives all figures of one run. The same run gives the same summary, since the bootstrap draws
/// from the run's own seed. O(samples log samples + 1000 x samples in series over several sizes and
/// in sweeps).
pub fn summarize_with(run: &Run, options: &Options) -> Summary {
    let series = RowSamples::of_run(run);
    let mut rows = rows::all(run, &series);
    let control = control::judge(run, &series);
    let growth = growth::all(run, &series);
    long::explain(&mut rows, &growth);
    let granularity = granularity::all(run, &series);
    let parts = overview::Parts {
        run,
        samples: &series,
        rows: &rows,
        growth: &growth,
        granularity: &granularity,
        control: &control,
    };
    Summary {
        schema: SCHEMA.to_owned(),
        tool: run.header.tool.clone(),
        command: run.header.command.clone(),
        seed: run.header.seed,
        started_unix_s: run.header.started_unix_s,
        complete: run.ended.is_some(),
        damaged_lines: run.damaged_lines,
        machine: run.header.machine.clone(),
        runtimes: run.runtimes.iter().map(runtime).collect(),
        overview: overview::of(&parts, options),
        notes: notes::all(run, &series, &rows, &growth),
        growth,
        granularity,
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
