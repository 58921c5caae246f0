//! A little of what the fuzz targets `run_file`, `summary` and `digest` do, by the same checks and
//! with a fixed seed.

mod common;
#[path = "../../../fuzz/src/edit.rs"]
mod edit;
#[path = "../../../fuzz/src/results.rs"]
mod results;

use common::shown;

/// Random bytes, the same each time.
fn bytes(rounds: u64, check: fn(&[u8])) {
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for round in 0..rounds {
        let bytes: Vec<u8> = (0..2 + round % 40).map(|_| byte()).collect();
        check(&bytes);
    }
}

#[test]
fn run_files() {
    bytes(120, results::check_run_file);
}

#[test]
fn summaries() {
    bytes(40, results::check_summary);
}

#[test]
fn digests() {
    bytes(60, results::check_digest);
}
