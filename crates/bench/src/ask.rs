//! What one sample of a row is for, and the request that it becomes.

use taskscale_model::{
    params::{ParamValue, Params},
    protocol::{PHASES, RunRequest, VERIFY},
    run_file::{Kind, RowRecord},
};

/// What one sample is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub kind: Kind,
    pub round: u64,
    pub iterations: u64,
    pub seed: u64,
}

/// The request for a sample of `row`, with the number `id`.
pub(crate) fn request(row: &RowRecord, id: u64, ask: Ask) -> RunRequest {
    let mut params: Params = row.key.params.clone();
    match ask.kind {
        Kind::Verify => params.insert(VERIFY.into(), ParamValue::Flag(true)),
        Kind::Phases => params.insert(PHASES.into(), ParamValue::Flag(true)),
        Kind::Pilot | Kind::Warmup | Kind::Wake | Kind::Timed => None,
        Kind::Contrast | Kind::SetAside => None,
    };
    RunRequest {
        id,
        workload: row.key.workload.clone(),
        variant: row.key.variant.clone(),
        size: row.key.size,
        iterations: ask.iterations,
        params,
        seed: ask.seed,
    }
}
