//! Dask task streams: `json.dumps(client.get_task_stream())`, a list of records with `startstops`.
//!
//! `compute` is work. `transfer`, `disk` and the rest are what Dask does around it; they are
//! counted and become no spans. The end of the last transfer before it is when the task became
//! ready: its arguments were there, and it waited for a thread. Dask books a transfer on one of the
//! tasks that asked for it, so that most tasks have none, and of these no ready time is known.

use taskscale_model::span::{Account, Span, SpanSink};

use crate::{
    error::TraceError,
    json::{items, members, text},
    number::{SECONDS, Time, decimal},
    options::{Clock, Options},
    stream::records,
    tally::{Reason, Tally},
    window::Window,
    workers::{Id, WorkerTable},
};

/// Reads a whole stream.
pub fn read(
    window: &mut Window<'_>,
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    sink: &mut impl SpanSink,
) -> Result<Account, TraceError> {
    let mut books = Books { tally: Tally::default(), options, workers, clock };
    records(window, &mut books, |books| &mut books.tally, |books, record| books.record(record, sink))?;
    books
        .tally
        .note("each Dask worker host has its own clock: times of different hosts are compared as they stand");
    books.tally.doubles(books.clock.first_ns(), 1_000_000_000);
    let seen = books.workers.seen_in_file();
    books.tally.account("dask", window.bytes(), seen)
}

struct Books<'o> {
    tally: Tally,
    options: &'o Options,
    workers: &'o mut WorkerTable,
    clock: &'o mut Clock,
}

impl Books<'_> {
    fn drop(&mut self, reason: Reason) {
        self.tally.seen += 1;
        self.tally.drop(reason, 1);
    }

    fn record(&mut self, record: &[u8], sink: &mut impl SpanSink) {
        let (mut key, mut worker, mut thread, mut list) = (&b""[..], Id::Absent, Id::Absent, &b"[]"[..]);
        members(record, |name, value| match name {
            b"key" => key = value,
            b"worker" => worker = Id::text(&text(value)),
            b"thread" => thread = Id::text(&text(value)),
            b"startstops" => list = value,
            _ => {}
        });
        let mut first = key;
        if key.starts_with(b"[") {
            // The first item of a tuple key holds the name.
            let mut n = 0;
            items(key, |item| {
                if n == 0 {
                    first = item;
                }
                n += 1;
            });
        }
        let key = text(first);
        let name = prefix(&key);
        let mut arrived = None;
        items(list, |entry| self.entry(entry, &name, (worker, thread), &mut arrived, sink));
    }

    /// Reads one of `{action, start, stop}`, or `[action, start, stop]` of older versions.
    /// `arrived` is when the last transfer of the task ended, of those before it in the list.
    fn entry(
        &mut self,
        entry: &[u8],
        name: &[u8],
        (worker, thread): (Id, Id),
        arrived: &mut Option<i64>,
        sink: &mut impl SpanSink,
    ) {
        let (mut action, mut start, mut stop) = (&b""[..], Time::Missing, Time::Missing);
        let mut set = |place: usize, value: &'_ [u8]| match place {
            1 => start = seconds(value),
            2 => stop = seconds(value),
            _ => {}
        };
        if entry.starts_with(b"[") {
            let mut place = 0;
            items(entry, |value| {
                if place == 0 {
                    action = value;
                }
                set(place, value);
                place += 1;
            });
        } else {
            members(entry, |key, value| match key {
                b"action" => action = value,
                b"start" => set(1, value),
                b"stop" => set(2, value),
                _ => {}
            });
        }
        let action = text(action);
        if let (b"transfer", Time::Ns(stop)) = (&*action, stop) {
            *arrived = Some(arrived.map_or(stop, |arrived| arrived.max(stop)));
        }
        let holds = |text: &[u8], part: &Option<String>| {
            part.as_ref().is_none_or(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
        };
        if self.options.cat.is_none() && *action != *b"compute" {
            return self.drop(Reason::NotCompute);
        }
        if !holds(&action, &self.options.cat) {
            return self.drop(Reason::FilteredCat);
        }
        if !holds(name, &self.options.name) {
            return self.drop(Reason::FilteredName);
        }
        let (start, stop) = match (start, stop) {
            (Time::Ns(start), Time::Ns(stop)) => (start, stop),
            (Time::Ns(_), other) => return self.drop(Tally::time_reason(other, Reason::NoDuration)),
            (other, _) => return self.drop(Tally::time_reason(other, Reason::NoStart)),
        };
        if stop < start {
            return self.drop(Reason::NegativeDuration);
        }
        let (Some(start_ns), Some(end_ns)) = (self.clock.since_origin(start), self.clock.since_origin(stop))
        else {
            return self.drop(Reason::OutOfRange);
        };
        let worker = self.workers.index(worker, thread);
        self.tally.seen += 1;
        self.tally.learn_step(start);
        self.tally.learn_step(stop);
        let arrived = arrived.filter(|_| *action == *b"compute");
        let ready_ns = arrived.and_then(|arrived| self.clock.since_origin(arrived));
        let span = Span { worker, start_ns, end_ns, name, ready_ns, ..Span::default() };
        self.tally.emit(sink, &span, 1);
    }
}

fn seconds(value: &[u8]) -> Time {
    match decimal(value, 0, SECONDS) {
        (time, end) if end == value.len() => time,
        _ if value == b"null" => Time::Missing,
        _ => Time::NotANumber,
    }
}

/// Returns what Dask calls the prefix of a key: `inc` for `inc-9f3c...`, `x` for `('x-4f', 0, 1)`,
/// `data` for a bare hash.
///
/// The rule is that of `dask.utils.key_split`.
fn prefix(key: &[u8]) -> Vec<u8> {
    let mut words = key.split(|&byte| byte == b'-');
    let first = words.next().unwrap_or_default();
    let mut name = if first.first().is_some_and(u8::is_ascii_alphabetic) {
        first.to_vec()
    } else {
        let word = first.split(|&byte| byte == b',').next().unwrap_or_default();
        let frame = |byte: &u8| b"_'()\"".contains(byte);
        let start = word.iter().position(|byte| !frame(byte)).unwrap_or(word.len());
        let end = word.iter().rposition(|byte| !frame(byte)).map_or(start, |end| end + 1);
        word[start..end].to_vec()
    };
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    for word in words {
        let letters = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
        if !letters || (word.len() == 8 && word.iter().all(is_hex)) {
            break;
        }
        name.push(b'-');
        name.extend_from_slice(word);
    }
    if name.len() == 32 && name.iter().all(is_hex) {
        return b"data".to_vec();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_those_of_dask() {
        // The examples are from the documentation of dask.utils.key_split.
        for (key, name) in [
            ("x", "x"),
            ("x-1", "x"),
            ("x-1-2-3", "x"),
            ("('x-2', 1)", "x"),
            ("hello-world-1", "hello-world"),
            ("ae05086432ca935f6eba409a8ecd4896", "data"),
            ("_(x)", "x"),
            ("sum-aggregate-0fabcdef", "sum-aggregate"),
        ] {
            assert_eq!(String::from_utf8_lossy(&prefix(key.as_bytes())), name, "{key}");
        }
    }

    #[test]
    fn compute_is_work_and_the_rest_is_counted() {
        let file = br#"[{"key": "inc-1", "worker": "tcp://a:1", "thread": 7, "startstops": [
            {"action": "transfer", "start": 1790000000.0, "stop": 1790000000.5},
            {"action": "compute", "start": 1790000000.5, "stop": 1790000001.25}]},
          {"key": ["dec-2", 0], "worker": "tcp://a:1", "thread": 8, "startstops": [["compute", 1790000000.75, 1790000002]]},
          {"key": "bad-3", "startstops": [{"action": "compute", "start": NaN, "stop": 2}, {"action": "compute", "start": 5, "stop": 2}]}"#;
        let mut spans = Vec::new();
        let account = crate::read(&file[..], &Options::default(), &mut |span: &Span<'_>| {
            spans.push((
                span.worker,
                span.start_ns,
                span.end_ns,
                String::from_utf8_lossy(span.name).into_owned(),
            ));
        })
        .expect("reads");
        assert_eq!(
            spans,
            [
                (0, 1_790_000_000_500_000_000, 1_790_000_001_250_000_000, "inc".to_owned()),
                (1, 1_790_000_000_750_000_000, 1_790_000_002_000_000_000, "dec".to_owned())
            ]
        );
        assert_eq!(
            (account.seen, account.counted, account.workers, account.format.as_str()),
            (5, 2, 2, "dask")
        );
        assert_eq!(account.clock_resolution_ns, 10_000_000);
        assert_eq!(account.dropped.len(), 3);
        assert!(account.notes[0].contains("bracket is missing"));
    }
}
