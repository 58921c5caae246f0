//! A program for each pattern, and what the digest says of it.

use std::collections::BTreeMap;

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::{ConfidenceGrade, Digest, Pattern},
    span::{Account, Span, SpanSink},
};
use taskscale_simulate::{Case, Cause, observe};

const MS: i64 = 1_000_000;
/// A gain that is printed as more than none.
pub const PROMISED: f64 = 1.005;
/// Seeds that are tried of one cause, and of two at a time: with these each pattern has an example.
const SEEDS: u64 = 10;
const SEEDS_OF_TWO: u64 = 40;

/// Each pattern by its name: the first example with a promise that is clear, else the first that is
/// clear, else the first.
pub fn all() -> BTreeMap<String, Pattern> {
    let mut best: BTreeMap<String, (bool, bool, Pattern)> = BTreeMap::new();
    for digest in by_hand().chain(simulated()) {
        let pattern = digest.patterns[0].clone();
        let is_clear = digest.confidence.grade == ConfidenceGrade::High;
        let promises = is_clear && pattern.predicted.to > PROMISED;
        let name = pattern.name.as_str().to_owned();
        if best.get(&name).is_none_or(|known| (known.0, known.1) < (is_clear, promises)) {
            best.insert(name, (is_clear, promises, pattern));
        }
    }
    best.into_iter().map(|(name, (.., pattern))| (name, pattern)).collect()
}

/// Programs with one planted cause, with none, and with two.
fn simulated() -> impl Iterator<Item = Digest> {
    let one = Cause::ALL.into_iter().map(|cause| (vec![cause], SEEDS));
    let two = Cause::ALL.windows(2).map(|causes| (causes.to_vec(), SEEDS_OF_TWO));
    let all: Vec<(Vec<Cause>, u64)> = one.chain([(vec![], SEEDS)]).chain(two).collect();
    let cases =
        all.into_iter().flat_map(|(causes, seeds)| (0..seeds).map(move |seed| Case::draw(seed, &causes)));
    cases.map(|case| {
        let mut sums = Accumulator::new(Config { workers: Some(case.workers as u32), ..Config::default() });
        observe(&case, &mut sums);
        sums.finish(&Account { clock_resolution_ns: 1, ..Account::default() })
    })
}

/// What the simulator has not: tasks that hold a worker and do not run, and tasks that come one by
/// one.
fn by_hand() -> impl Iterator<Item = Digest> {
    let name: &[u8] = b"read";
    let mut blocked = Accumulator::new(Config::default());
    for at in 0..400 {
        for worker in 0..4 {
            let start_ns = at * 5 * MS;
            blocked.span(&Span {
                worker,
                start_ns,
                end_ns: start_ns + 5 * MS - 2_000,
                name,
                cpu_ns: Some(1_500_000),
                ..Span::default()
            });
        }
    }
    let mut single = Accumulator::new(Config { workers: Some(4), ..Config::default() });
    let mut at = 0;
    for task in 0..1_000_i64 {
        // Waits of uneven length, so that no clock is taken for their cause.
        at += MS + (task * 7_919 % 1_000) * 2_000;
        let end_ns = at + 2 * MS;
        single.span(&Span { worker: (task % 4) as u32, start_ns: at, end_ns, name, ..Span::default() });
    }
    [blocked, single].into_iter().map(|sums| sums.finish(&Account::default()))
}
