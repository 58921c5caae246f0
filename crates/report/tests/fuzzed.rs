//! A little of what the fuzz targets `run_file`, `summary` and `digest` do, by the same checks and
//! with a fixed seed.

mod common;
#[path = "../../../fuzz/src/edit.rs"]
mod edit;
#[path = "../../../fuzz/src/less.rs"]
mod less;
#[path = "../../../fuzz/src/results.rs"]
mod results;

use common::{digests, shown};
use taskscale_analysis::parse_run;

/// Random bytes, the same each time.
fn bytes(rounds: u64, mut check: impl FnMut(&[u8])) {
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
    bytes(2_000, results::check_run_file);
}

/// The target would be hollow if hardly any of its files were read: 49 % of those with one edit
/// are.
#[test]
fn half_of_all_run_files_with_one_edit_are_read() {
    let mut read = 0;
    bytes(400, |random| {
        let mut one = [0; 8];
        one.iter_mut().zip(random).for_each(|(to, from)| *to = *from);
        one[0] %= 128;
        read += usize::from(parse_run(results::run_file(&one)).is_ok());
    });
    assert!(read > 160, "{read} of 400 are read");
}

#[test]
fn summaries() {
    bytes(2_000, results::check_summary);
}

#[test]
fn digests() {
    bytes(2_000, results::check_digest);
}

/// Inputs that the fuzzer found: ends of an interval that are the wrong way round, a count that is
/// not to be doubled, and sweeps of one table with different efficiencies.
#[test]
fn summaries_that_were_found() {
    results::check_summary(b"\x1b\x7f\xf9\x33\x33\xf2\xf2\xff");
    results::check_summary(b"jn;jj^,\xff");
    results::check_summary(b"\x0c\xd8\xf8\xff\xff\xff\xf8\xe9\xba");
    results::check_summary(b"\x93j\xf8~\x93\xe9\xf8\x08\x00\r\r\xe7\x0f\xeap90\x94\x00=\x02");
}

/// A ratio whose axis was longer than its strip.
#[test]
fn run_files_that_were_found() {
    let edits = [0x9a; 27];
    let file = [b"\tt.o", &edits[..], b"oojaval\x8d\x9ail\"cpuWns\""].concat();
    results::check_run_file(&file);
}
