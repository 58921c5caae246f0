//! Changes files of each format at random and checks for no panic, no hang, books that balance, and
//! two ways of scanning that agree.
//!
//! This is a simple fuzzing for `cargo test`; the real one is in `fuzz/`. The seed is fixed, so a
//! failure comes again.

use taskscale_model::span::{Account, Span, SpanSink};
use taskscale_trace::{Options, TraceError, read};

const CORPUS: [(&str, &[u8], u64); 10] = [
    ("taskflow", include_bytes!("corpus/taskflow.json"), 5),
    ("ray", include_bytes!("corpus/ray.json"), 2),
    ("node", include_bytes!("corpus/node.json"), 2),
    ("tracing-chrome", include_bytes!("corpus/tracing-chrome.json"), 4),
    ("tfprof", include_bytes!("corpus/tfprof.json"), 3),
    ("dask", include_bytes!("corpus/dask.json"), 2),
    ("ninja", include_bytes!("corpus/ninja.log"), 3),
    ("tfp", include_bytes!("corpus/two.tfp"), 2),
    ("chrome", include_bytes!("corpus/flows.json"), 4),
    ("ray-tasks", include_bytes!("corpus/ray-tasks.json"), 2),
];

/// What is compared of two readings.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    spans: u64,
    busy_ns: i128,
    name_bytes: u64,
    delays: Vec<i128>,
}

impl SpanSink for Totals {
    fn span(&mut self, span: &Span<'_>) {
        assert!(span.end_ns >= span.start_ns);
        self.spans += 1;
        self.busy_ns += i128::from(span.end_ns) - i128::from(span.start_ns);
        self.name_bytes += span.name.len() as u64;
        if let Some(ready_ns) = span.ready_ns {
            self.ready(ready_ns, span.start_ns);
        }
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.delays.push(i128::from(start_ns) - i128::from(ready_ns));
    }
}

fn totals(file: &[u8], learn_shapes: bool) -> Result<(Account, Totals), TraceError> {
    let options = Options { learn_shapes, ..Options::default() };
    let mut totals = Totals::default();
    let account = read(file, &options, &mut totals)?;
    let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!(account.seen, account.counted + dropped, "{account:?}");
    assert!(totals.spans <= account.counted && account.bytes == file.len() as u64);
    Ok((account, totals))
}

#[test]
fn the_corpus_is_recognised() {
    for (format, file, counted) in CORPUS {
        let account = totals(file, true).expect(format).0;
        assert_eq!((account.format.as_str(), account.counted), (format, counted));
    }
}

/// Files on which the fuzzer saw the two ways of scanning differ.
const FOUND: [(&str, &[u8]); 2] = [
    ("a worker's id of no bytes", include_bytes!("found/empty-worker.json")),
    ("a worker's id that goes on behind a known one", include_bytes!("found/longer-worker.json")),
];

#[test]
fn what_the_fuzzer_found_stays_mended() {
    for (what, file) in FOUND {
        let [learned, generic] =
            [true, false].map(|learn| totals(file, learn).map_err(|error| error.to_string()));
        assert_eq!(learned, generic, "{what}");
    }
}

#[test]
fn changed_files_neither_panic_nor_lose_events() {
    let mut random = fastrand::Rng::with_seed(3);
    let dictionary: [&[u8]; 16] = [
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\0",
        b"\xFF",
        b"1e999",
        b"-",
        b"\"ts\":",
        b"\"ph\":\"B\"",
        b"\n",
        b"\"E\"",
    ];
    let mut read = 0;
    for round in 0..6_000 {
        let mut file = CORPUS[round % CORPUS.len()].1.to_vec();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..=file.len());
            match random.u8(..6) {
                0 => file.truncate(at.max(1)),
                1 if at < file.len() => file[at] = random.u8(..),
                2 if at < file.len() => file[at] ^= 1 << random.u8(..8),
                3 => drop(file.splice(at..at, dictionary[random.usize(..dictionary.len())].iter().copied())),
                4 => {
                    // A piece of this file, or of another, goes to another place.
                    let other = CORPUS[random.usize(..CORPUS.len())].1;
                    let start = random.usize(..other.len());
                    let end = random.usize(start..=other.len());
                    drop(file.splice(at..at, other[start..end].iter().copied()));
                }
                _ => {
                    let end = random.usize(at..=file.len()).min(at + 40);
                    drop(file.drain(at..end));
                }
            }
        }
        match (totals(&file, true), totals(&file, false)) {
            (Ok(learned), Ok(generic)) => {
                assert_eq!(learned, generic, "{}", String::from_utf8_lossy(&file));
                read += 1;
            }
            (Err(_), Err(_)) => {}
            other => panic!("{other:?} on {}", String::from_utf8_lossy(&file)),
        }
    }
    // Most changes leave a file of a known format. If not, this test tests nothing.
    assert!(read > 4_000, "{read}");
}
