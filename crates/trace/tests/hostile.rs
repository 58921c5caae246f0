//! Input made to hurt: reading it must end in bounded memory with a clear account. Streams are made
//! while they are read.

use std::io::Read;

use taskscale_model::span::{Account, Span};
use taskscale_trace::{Options, read};

/// Input of a head, a piece repeated, and a tail.
struct Made<'a> {
    head: &'a [u8],
    piece: Vec<u8>,
    times: u64,
    tail: &'a [u8],
    at: usize,
}

impl<'a> Made<'a> {
    fn new(head: &'a str, piece: &str, times: u64, tail: &'a str) -> Self {
        Made { head: head.as_bytes(), piece: piece.as_bytes().to_vec(), times, tail: tail.as_bytes(), at: 0 }
    }
}

impl Read for Made<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        let mut n = 0;
        while self.times > 0 && n < buffer.len() {
            let rest = &self.piece[self.at..];
            let part = rest.len().min(buffer.len() - n);
            buffer[n..n + part].copy_from_slice(&rest[..part]);
            n += part;
            self.at += part;
            if self.at == self.piece.len() {
                self.at = 0;
                self.times -= 1;
            }
        }
        if n > 0 { Ok(n) } else { self.tail.read(buffer) }
    }
}

fn account(input: impl Read) -> Account {
    let account = read(input, &Options::default(), &mut |span: &Span<'_>| {
        assert!(span.end_ns >= span.start_ns);
    })
    .expect("a trace");
    let dropped: u64 = account.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!(account.seen, account.counted + dropped, "{account:?}");
    account
}

fn error(input: impl Read) -> String {
    read(input, &Options::default(), &mut |_: &Span<'_>| ()).expect_err("no trace").to_string()
}

fn dropped(account: &Account, reason: &str) -> u64 {
    account.dropped.iter().find(|dropped| dropped.reason.contains(reason)).map_or(0, |dropped| dropped.events)
}

const EVENT: &str = r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":5,"dur":2}"#;

#[test]
fn a_million_nested_brackets() {
    let open =
        format!("[{EVENT},{{\"name\":\"b\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":9,\"dur\":2,\"args\":");
    let close = "]".repeat(1_000_000) + "}," + EVENT + "]";
    let account = account(Made::new(&open, "[", 1_000_000, &close));
    assert_eq!((account.counted, account.seen), (3, 3));
    assert!(account.notes.is_empty());
    // This input is nothing but brackets.
    let error = error(Made::new("[", "[", 1_000_000, ""));
    assert!(error.contains("1 of 1 events are malformed; the first stands at byte 1: \"[[["), "{error}");
}

#[test]
fn an_event_longer_than_the_window_is_skipped_and_counted() {
    let head = format!("[{EVENT},{{\"args\":{{\"text\":\"");
    let tail = format!("\"}},\"name\":\"b\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":9,\"dur\":2}},{EVENT}]");
    // The input has 96 MB in one string, with escapes and braces in it.
    let account = account(Made::new(&head, "all \\\" in { one [ str\\\\", 4_000_000, &tail));
    assert_eq!((account.counted, dropped(&account, "longer than 4 MiB")), (2, 1));
    assert_eq!(account.notes, Vec::<String>::new());
}

#[test]
fn members_of_any_length_around_the_events() {
    let head = "{\"file_info\":{\"source\":\"";
    let tail = format!("\"}},\"more\":\"\\\"x\",\"traceEvents\":[{EVENT}],\"z\":1}}");
    let account = account(Made::new(head, "import os\\n", 2_000_000, &tail));
    assert_eq!(account.counted, 1);
    assert!(account.notes.is_empty(), "{:?}", account.notes);
    let head = "{\"key without an end ";
    let account = self::account(Made::new(head, "and no events ", 2_000_000, ""));
    assert_eq!(account.seen, 0);
}

#[test]
fn one_long_line_of_anything() {
    for (piece, seen) in [("x", 1), ("\\", 1), ("{", 1), ("\"", 16_000_000 / 2), ("}", 16_000_000)] {
        let error = error(Made::new("[", piece, 16_000_000, ""));
        assert!(error.contains(&format!("{seen} of {seen} events are malformed")), "{piece}: {error}");
    }
}

#[test]
fn more_workers_than_places() {
    struct Workers(u64);
    impl Read for Workers {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let event = match self.0 {
                0 => "[".to_owned(),
                100_001 => "]".to_owned(),
                100_002 => return Ok(0),
                i => format!("{{\"ph\":\"X\",\"pid\":1,\"tid\":{i},\"ts\":{i},\"dur\":1}},"),
            };
            self.0 += 1;
            buffer[..event.len()].copy_from_slice(event.as_bytes());
            Ok(event.len())
        }
    }
    // `Workers` writes whole events. The buffered reader always gives it space for one, where the
    // window may have less at the end of its buffer.
    let account = account(std::io::BufReader::with_capacity(1 << 16, Workers(0)));
    assert_eq!((account.counted, account.workers), (100_000, 65_536));
    assert!(
        account.notes[0].starts_with("34464 events are of workers beyond the first 65536"),
        "{:?}",
        account.notes
    );
}

#[test]
fn begins_without_ends() {
    // Node's asynchronous events are tasks.
    let cat = "\"cat\":\"node,node.async_hooks\"";
    for phase in ["B", "b"] {
        let event = format!(
            "{{\"name\":\"T_CALLBACK\",{cat},\"ph\":\"{phase}\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":5}},"
        );
        let account = account(Made::new("[", &event, 200_000, "]"));
        assert_eq!((account.seen, account.counted), (200_000, 0));
        let (open, forgotten) = (dropped(&account, "without an end"), dropped(&account, "forgotten"));
        assert_eq!(open + forgotten, 200_000);
        assert!(open <= 65_536 && forgotten > 0, "{phase}: {open} {forgotten}");
    }
}

#[test]
fn times_at_the_ends_of_the_range() {
    let event =
        |ts: &str, dur: &str| format!("{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":{dur}}}");
    let file = [
        event("-4611686018427387", "1"),
        event("4611686018427387", "1"),
        event("-9223372036854775.808", "9223372036854775"),
        event("0", "99999999999999999999999999999"),
        event("NaN", "1"),
        event("1e308", "-1e308"),
        event("null", "1"),
        event("[]", "1"),
        event("-4611686018427300", "-5"),
    ]
    .join(",");
    // Most of a trace has times that can be.
    let first = vec![event("-4611686018427387", "1"); 9].join(",");
    let account = account(format!("[{first},{file}]").as_bytes());
    assert_eq!((account.seen, account.counted), (18, 10));
    assert_eq!(dropped(&account, "out of range"), 4);
    assert_eq!(dropped(&account, "not a number"), 2);
    assert_eq!(dropped(&account, "no start time"), 1);
    assert_eq!(dropped(&account, "negative duration"), 1);
}

#[test]
fn ninja_and_tfp_and_lists_of_any_length() {
    let account = account(Made::new("# ninja log v5\n", "x", 20_000_000, "\n1\t2\t3\ta.o\tff\n"));
    assert_eq!((account.counted, dropped(&account, "longer than 4 MiB")), (1, 1));
    let account = self::account(Made::new("# ninja log v5\n", "1\t2\t3\ta.o\tff\n", 500_000, ""));
    assert_eq!((account.counted, account.seen), (1, 500_000));
    // The table of names claims to be a gigabyte, and is cut.
    let head = b"TFPX\x01\0\0\0\x01\0\0\0\x07\0\0\0\0\0\0\0\x40\x42\x0F\0\0\0\0\0\0\0\0\x3F\x01\0\0\0";
    let made = Made { head, piece: b"name".to_vec(), times: 4_000_000, tail: b"", at: 0 };
    let account = self::account(made);
    assert!(account.notes[0].contains("middle of an executor"), "{:?}", account.notes);
    let head = "[{\"startstops\":[],\"key\":\"";
    let account = self::account(Made::new(head, "k", 20_000_000, "\"}]"));
    assert_eq!(dropped(&account, "longer than 4 MiB"), 1);
    let head = "[{\"executor\":\"1\",\"data\":[{\"worker\":0,\"level\":0,\"data\":[{\"name\":\"";
    let tail = "\",\"span\":[1,2]},{\"name\":\"b\",\"span\":[1,2]}]}]}]";
    let account = self::account(Made::new(head, "k", 20_000_000, tail));
    assert_eq!((account.counted, dropped(&account, "longer than 4 MiB")), (1, 1));
}
