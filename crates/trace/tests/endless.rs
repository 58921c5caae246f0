//! Input without an end, and more workers than any program has: bounded memory and a clear end.

use std::io::{self, Read};

use taskscale_model::span::{Account, Span, SpanSink};
use taskscale_trace::{Options, Reader};

/// Gives a piece again and again, `times` times.
struct Again {
    piece: fn(u64) -> Vec<u8>,
    at: u64,
    times: u64,
    left: Vec<u8>,
}

impl Again {
    fn new(times: u64, piece: fn(u64) -> Vec<u8>) -> Self {
        Again { piece, at: 0, times, left: Vec::new() }
    }
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && self.at < self.times {
            self.left = (self.piece)(self.at);
            self.at += 1;
        }
        let taken = self.left.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.left[..taken]);
        self.left.drain(..taken);
        Ok(taken)
    }
}

#[derive(Default)]
struct Most {
    spans: u64,
    worker: u32,
}

impl SpanSink for Most {
    fn span(&mut self, span: &Span<'_>) {
        self.spans += 1;
        self.worker = self.worker.max(span.worker);
    }
}

fn many(piece: fn(u64) -> Vec<u8>) -> (Account, Most, usize) {
    let mut most = Most::default();
    let mut reader = Reader::new(Options::default());
    let account = reader.read(Again::new(100_000, piece), &mut most).expect("a trace");
    (account, most, reader.workers().len())
}

/// 100,000 workers stand for a million: past the last place there is no difference.
#[test]
fn workers_beyond_the_last_place_share_it_in_every_reader() {
    type Reader = (&'static str, fn(u64) -> Vec<u8>);
    let readers: [Reader; 4] = [
        ("Chrome", |at| {
            let begin = if at == 0 { "[" } else { "," };
            format!(r#"{begin}{{"name":"a","ph":"X","pid":1,"tid":{at},"ts":{at},"dur":5}},{{"name":"b","ph":"X","pid":1,"tid":{at},"ts":{},"dur":5}}"#, at + 9).into_bytes()
        }),
        ("lines", |at| {
            format!("{{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":\"t{at}\",\"ts\":{at},\"dur\":5}}\n{{\"name\":\"b\",\"ph\":\"X\",\"pid\":1,\"tid\":\"t{at}\",\"ts\":{},\"dur\":5}}\n", at + 9).into_bytes()
        }),
        ("Dask", |at| {
            let begin = if at == 0 { "[" } else { "," };
            format!(r#"{begin}{{"key":"a-{at}","worker":"tcp://w{at}","thread":{at},"startstops":[{{"action":"compute","start":1.5,"stop":2.5}}]}}"#).into_bytes()
        }),
        ("TFProf", |at| {
            let begin = if at == 0 { r#"[{"executor":"1","data":["# } else { "," };
            format!(
                r#"{begin}{{"worker":{at},"level":0,"data":[{{"span":[1,5],"name":"a","type":"static"}}]}}"#
            )
            .into_bytes()
        }),
    ];
    for (name, piece) in readers {
        let (account, most, workers) = many(piece);
        assert!(most.spans >= 90_000, "{name}: {} spans, {account:?}", most.spans);
        assert!(workers <= 65_536 && (most.worker as usize) < 65_536, "{name}: {workers} workers");
        assert!(account.notes[0].contains("beyond the first 65536"), "{name}: {:?}", account.notes);
    }
}

#[test]
fn what_has_no_end_is_refused_by_its_beginning() {
    for (piece, words) in [
        ((|_| vec![0; 4096]) as fn(u64) -> Vec<u8>, "nothing but zeros"),
        (|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes().repeat(512), "not a task trace"),
    ] {
        let mut input = Again::new(u64::MAX, piece);
        let error =
            Reader::new(Options::default()).read(&mut input, &mut Most::default()).expect_err("no trace");
        assert!(error.to_string().contains(words), "{error}");
        // A window of 4 MiB and what is looked at first.
        assert!(input.at < 3_000, "{} blocks were read", input.at);
    }
}
