//! What must hold for any bytes, whatever reader takes them.

mod answer;
#[path = "../../crates/report/tests/common/digests.rs"]
mod digests;
mod edit;
mod guide;
mod less;
mod order;
mod partial;
mod results;
#[path = "../../crates/report/tests/common/shown.rs"]
mod shown;

pub use answer::check_answer;
pub use guide::check_guide;
pub use order::check_order;
pub use partial::check_partial;
pub use results::{check_digest, check_run_file, check_summary};

use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, Reader, TraceError};

/// Account, spans, their summed durations, the bytes of their names.
type Totals = Result<(Account, u64, i128, u64), TraceError>;

fn totals(file: &[u8], learn_shapes: bool) -> Totals {
    let (mut spans, mut busy_ns, mut name_bytes) = (0, 0, 0);
    let options = Options { learn_shapes, ..Options::default() };
    let mut reader = Reader::new(options);
    let account = reader.read(file, &mut |span: &Span<'_>| {
        assert!(span.end_ns >= span.start_ns, "a span ends before it starts");
        spans += 1;
        busy_ns += i128::from(span.end_ns) - i128::from(span.start_ns);
        name_bytes += span.name.len() as u64;
    })?;
    for index in 0..reader.workers().len() as u32 {
        let name = reader.workers().name(index).unwrap_or_default();
        assert!(name.len() <= 48 && !name.contains(char::is_control), "a name that is long or unsafe: {name:?}");
    }
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
            assert!(spans <= account.counted);
            assert!(is_packed(file) || account.bytes == file.len() as u64);
        }
        (Err(_), Err(_)) => {}
        _ => panic!("one way of scanning reads it, the other does not"),
    }
}

/// Tells whether a file is packed. The account counts the bytes that were unpacked.
fn is_packed(file: &[u8]) -> bool {
    file.starts_with(b"\x1F\x8B") || file.starts_with(ZSTD) || matches!(file, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// The beginning of gzip data: no name, no time.
pub const GZIP: &[u8] = b"\x1F\x8B\x08\0\0\0\0\0\0\xFF";
/// The beginning of zstd data.
pub const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";

/// The same for bytes behind the beginning of a format, so that the fuzzer need not find it.
pub fn check_behind(head: &[u8], rest: &[u8]) {
    check(&[head, rest].concat());
}
