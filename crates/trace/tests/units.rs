//! Traces that are right but for how they are written: times in another unit, keys by numbers,
//! lines without a list.

use taskscale_model::span::{Account, Span, SpanSink};
use taskscale_trace::{Options, Unit, read};

#[derive(Default, Debug, PartialEq)]
struct Spans(Vec<(i64, i64, String)>);

impl SpanSink for Spans {
    fn span(&mut self, span: &Span<'_>) {
        self.0.push((span.start_ns, span.end_ns, String::from_utf8_lossy(span.name).into_owned()));
    }
}

fn spans(file: &str, unit: Option<Unit>) -> (Account, Spans) {
    let mut spans = Spans::default();
    let options = Options { unit, ..Options::default() };
    let account = read(file.as_bytes(), &options, &mut spans).expect("a trace");
    (account, spans)
}

/// 300 spans of one thread, each 2 ms long, 5 ms apart.
fn file(written: impl Fn(u64) -> String, separator: &str) -> String {
    let (start, dur) = (|at: u64| written(1_000_000_000 + at * 5_000_000), written(2_000_000));
    let span = |at| format!(r#"{{"name":"a","ph":"X","pid":1,"tid":1,"ts":{},"dur":{dur}}}"#, start(at));
    (0..300).map(span).collect::<Vec<_>>().join(separator)
}

#[test]
fn the_same_spans_come_of_any_unit() {
    let micros = spans(&format!("[{}]", file(|ns| format!("{}", ns / 1_000), ",\n")), None).1;
    assert_eq!((micros.0.len(), micros.0[1].0, micros.0[1].1), (300, 1_005_000_000, 1_007_000_000));
    type Other = (Unit, fn(u64) -> String);
    let others: [Other; 4] = [
        (Unit::Ns, |ns| ns.to_string()),
        (Unit::Us, |ns| format!("{}.000", ns / 1_000)),
        (Unit::Ms, |ns| format!("{}", ns as f64 / 1e6)),
        (Unit::S, |ns| format!("\"{}\"", ns as f64 / 1e9)),
    ];
    for (unit, written) in others {
        assert_eq!(spans(&format!("[{}]", file(written, ",\n")), Some(unit)).1, micros, "{unit:?}");
    }
}

#[test]
fn nanoseconds_since_1970_are_in_range() {
    let file = r#"[{"name":"a","ph":"X","pid":1,"tid":1,"ts":1763900000000000123,"dur":1000}]"#;
    // As microseconds they are 55,000 years.
    let error = read(file.as_bytes(), &Options::default(), &mut Spans::default()).expect_err("out of range");
    assert!(error.to_string().ends_with("if the times are nanoseconds, say --unit ns"), "{error}");
    let (start, end) = (1_763_900_000_000_000_123, 1_763_900_000_000_001_123);
    assert_eq!(spans(file, Some(Unit::Ns)).1.0, [(start, end, "a".to_owned())]);
}

#[test]
fn lines_without_a_list_are_events() {
    let micros = |ns: u64| format!("{}", ns / 1_000);
    let listed = spans(&format!("[{}]", file(micros, ",")), None).1;
    for separator in ["\n", "\r\n", "", " ", ",\n"] {
        let (account, lines) = spans(&file(micros, separator), None);
        assert_eq!(lines, listed, "{separator:?}");
        assert!(account.notes.iter().all(|note| !note.contains("bracket")), "{:?}", account.notes);
    }
}

#[test]
fn keys_may_be_written_by_numbers() {
    let plain = r#"{"traceEvents":[{"name":"a","ph":"X","pid":1,"tid":1,"ts":5,"dur":7}]}"#;
    let odd = r#"{"\u0074raceEvents":[{"n\u0061me":"a","\u0070h":"\u0058","pid":1,"tid":1,"\u0074s":5,"d\u0075r":7}]}"#;
    assert_eq!(spans(odd, None).1, spans(plain, None).1);
    let dask = |key: &str| {
        format!(
            r#"[{{"key":"a-1","worker":"w","thread":1,"{key}":[{{"action":"compute","start":1.5,"stop":2.5}}]}}]"#
        )
    };
    let expected = spans(&dask("startstops"), None).1;
    assert_eq!(expected.0.len(), 1);
    assert_eq!(spans(&dask(r"start\u0073tops"), None).1, expected);
}
