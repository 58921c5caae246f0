//! Traces that the real tools wrote: the totals are those that the tools report (`tests/real/README.md`).

use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, read};

fn totals(file: &[u8]) -> (Account, u64, i64) {
    let (mut spans, mut busy_ns) = (0, 0);
    let account = read(file, &Options::default(), &mut |span: &Span<'_>| {
        spans += 1;
        busy_ns += span.end_ns - span.start_ns;
    })
    .expect("a trace");
    (account, spans, busy_ns)
}

#[test]
fn dask() {
    let (account, spans, busy_ns) = totals(include_bytes!("real/dask.json"));
    assert_eq!((account.format.as_str(), account.seen, spans, account.workers), ("dask", 57, 48, 4));
    // Dask's sum is one of binary fractions near 1.8e9, whose steps are 0.24 us.
    assert!((busy_ns - 100_531_101).abs() < 48 * 250, "{busy_ns}");
}

#[test]
fn viztracer() {
    let (account, spans, busy_ns) = totals(include_bytes!("real/viztracer.json"));
    assert_eq!((account.format.as_str(), account.seen, spans, account.workers), ("viztracer", 40, 38, 1));
    assert_eq!(busy_ns, 84_820);
    assert!(account.notes.is_empty(), "{:?}", account.notes);
}

#[test]
fn node() {
    let (account, spans, busy_ns) = totals(include_bytes!("real/node.json"));
    assert_eq!((account.format.as_str(), account.seen, spans, account.workers), ("node", 127, 12, 1));
    assert_eq!(busy_ns, 475_000);
}
