//! What must hold for any bytes, whatever reader takes them.

mod order;

pub use order::check_order;

use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, TraceError, read};

/// Account, spans, their summed durations, the bytes of their names.
type Totals = Result<(Account, u64, i128, u64), TraceError>;

fn totals(file: &[u8], learn_shapes: bool) -> Totals {
    let (mut spans, mut busy_ns, mut name_bytes) = (0, 0, 0);
    let options = Options { learn_shapes, ..Options::default() };
    let account = read(file, &options, &mut |span: &Span<'_>| {
        assert!(span.end_ns >= span.start_ns, "a span ends before it starts");
        spans += 1;
        busy_ns += i128::from(span.end_ns) - i128::from(span.start_ns);
        name_bytes += span.name.len() as u64;
    })?;
    Ok((account, spans, busy_ns, name_bytes))
}

/// Reads a file in both ways of scanning and checks that they agree and that the books balance.
pub fn check(file: &[u8]) {
    let (learned, generic) = (totals(file, true), totals(file, false));
    match (learned, generic) {
        (Ok(learned), Ok(generic)) => {
            assert_eq!(learned, generic, "the two ways of scanning differ");
            let (account, spans, ..) = learned;
            let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
            assert_eq!(account.seen, account.counted + dropped, "the books do not balance");
            assert!(spans <= account.counted && account.bytes == file.len() as u64);
        }
        (Err(_), Err(_)) => {}
        _ => panic!("one way of scanning reads it, the other does not"),
    }
}

/// The same for bytes behind the beginning of a format, so that the fuzzer need not find it.
pub fn check_behind(head: &[u8], rest: &[u8]) {
    check(&[head, rest].concat());
}
