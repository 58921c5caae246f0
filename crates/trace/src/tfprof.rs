//! TFProf JSON of Taskflow 3.x: a list of executors. Each executor is a list of (worker, level),
//! and each of these is a list of segments.
//!
//! Times are integer microseconds; the nesting level is explicit.

use taskscale_model::span::{Account, Depth, Span, SpanSink};

use crate::{
    bytes::string_end,
    error::TraceError,
    json::{is_gap, is_space, items, members, text},
    number::{MICROS, Time, decimal},
    options::{Clock, Options},
    stream::{object, skip_value},
    tally::{Reason, Tally},
    window::Window,
    workers::{Id, WorkerTable},
};

/// Keys and scalar values are read up to this length.
const SMALL: usize = 4 << 10;

/// Reads a whole stream.
pub fn read(
    window: &mut Window<'_>,
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    sink: &mut impl SpanSink,
) -> Result<Account, TraceError> {
    let mut reader = Reader {
        tally: Tally::default(),
        options,
        workers,
        clock,
        executor: Id::Absent,
        worker: Id::Absent,
        level: 0,
    };
    reader.run(window, sink)?;
    let seen = reader.workers.seen_in_file();
    reader.tally.account("tfprof", window.bytes(), seen)
}

struct Reader<'o> {
    tally: Tally,
    options: &'o Options,
    workers: &'o mut WorkerTable,
    clock: &'o mut Clock,
    executor: Id,
    worker: Id,
    level: u16,
}

impl Reader<'_> {
    fn run(&mut self, window: &mut Window<'_>, sink: &mut impl SpanSink) -> Result<(), TraceError> {
        // The number of lists that are open: 1 holds executors, 2 blocks, 3 segments. The dump of a
        // single executor lacks the first.
        let around = if window.skip_while(is_gap)? == Some(b'{') { 1 } else { 0 };
        let mut lists: u32 = around;
        while let Some(byte) = window.skip_while(is_gap)? {
            match byte {
                b'{' if lists >= 3 => self.object(window, sink)?,
                b'{' | b'}' | b':' => window.consume(1),
                b'[' => {
                    lists = lists.saturating_add(1);
                    window.consume(1);
                }
                b']' => {
                    lists = lists.saturating_sub(1).max(around);
                    window.consume(1);
                }
                b'"' => self.member(window)?,
                _ => skip_value(window)?,
            }
        }
        if lists > around {
            self.tally
                .note("the closing bracket is missing: the file was cut off; all whole segments were read");
        }
        Ok(())
    }

    /// Reads a key outside of segments, with its value unless that is a list to be walked.
    fn member(&mut self, window: &mut Window<'_>) -> Result<(), TraceError> {
        window.ensure(SMALL)?;
        let Some(end) = string_end(window.data(), 1) else { return skip_value(window) };
        let key = window.data()[1..end.quote].to_vec();
        window.consume(end.quote + 1);
        window.skip_while(|byte| is_space(byte) || byte == b':')?;
        window.ensure(SMALL)?;
        let data = window.data();
        let integer = || match decimal(data, 0, 0).0 {
            Time::Ns(value) => Some(value),
            _ => None,
        };
        match key.as_slice() {
            b"executor" => {
                let end = crate::json::value_end(data, 0).unwrap_or(data.len());
                self.executor = Id::text(&text(&data[..end]));
            }
            b"worker" => self.worker = integer().map_or(Id::Absent, Id::Integer),
            b"level" => self.level = integer().and_then(|level| level.try_into().ok()).unwrap_or(u16::MAX),
            b"data" if data.first() == Some(&b'[') => return Ok(()),
            _ => {}
        }
        skip_value(window)
    }

    fn object(&mut self, window: &mut Window<'_>, sink: &mut impl SpanSink) -> Result<(), TraceError> {
        self.tally.seen += 1;
        let taken = object(window)?.and_then(|end| {
            let segment = self.segment(&window.data()[..end], sink);
            window.consume(end);
            segment
        });
        if let Err(reason) = taken {
            self.tally.drop(reason, 1);
        }
        Ok(())
    }

    fn segment(&mut self, segment: &[u8], sink: &mut impl SpanSink) -> Result<(), Reason> {
        let (mut times, mut name, mut kind) = ([Time::Missing; 2], &b""[..], &b""[..]);
        members(segment, |key, value| match key {
            b"span" => {
                let mut i = 0;
                items(value, |value| {
                    if let Some(time) = times.get_mut(i) {
                        *time = decimal(value, 0, MICROS).0;
                    }
                    i += 1;
                });
            }
            b"name" => name = value,
            b"type" => kind = value,
            _ => {}
        });
        self.tally.level(self.level);
        let (name, kind) = (text(name), text(kind));
        let holds = |text: &[u8], part: &Option<String>| {
            part.as_ref().is_none_or(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
        };
        if !holds(&kind, &self.options.cat) {
            return Err(Reason::FilteredCat);
        }
        if !holds(&name, &self.options.name) {
            return Err(Reason::FilteredName);
        }
        let (begin, end) = match times {
            [Time::Ns(begin), Time::Ns(end)] => (begin, end),
            [Time::Ns(_), other] => return Err(Tally::time_reason(other, Reason::NoDuration)),
            [other, _] => return Err(Tally::time_reason(other, Reason::NoStart)),
        };
        if end < begin {
            return Err(Reason::NegativeDuration);
        }
        let start_ns = self.clock.since_origin(begin).ok_or(Reason::OutOfRange)?;
        let end_ns = self.clock.since_origin(end).ok_or(Reason::OutOfRange)?;
        let worker = self.workers.index(self.executor, self.worker);
        self.tally.learn_step(begin);
        self.tally.learn_step(end);
        // 3.x names a task without a name `<worker>_<index>`, as in its Chrome output.
        let name = crate::chrome::without_number(&name);
        let depth = Depth::Level(self.level);
        let span = Span { worker, start_ns, end_ns, name, depth, ..Span::default() };
        self.tally.emit(sink, &span, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_workers_levels_and_segments() {
        let file = br#"[{"executor":"1","data":[{"worker":3,"level":0,"data":[{"span":[10,30],"name":"0_0","type":"static"},
            {"span":[40,45],"name":"a]","type":"condition"}]},{"worker":3,"level":1,"data":[{"span":[12,20],"name":"b","type":"async"}]},
            {"worker":4,"level":0,"data":[{"span":[50,49],"name":"c","type":"static"},{"span":[0],"name":"d","type":"static"}]}]},{},
            {"executor":"2","data":[{"worker":3,"level":0,"data":[{"span":[11,12],"name":"e","type":"static"}]}]}]"#;
        let mut spans = Vec::new();
        let account = crate::read(&file[..], &Options::default(), &mut |span: &Span<'_>| {
            spans.push((span.worker, span.start_ns, span.end_ns, span.name.to_vec(), span.depth));
        })
        .expect("reads");
        let expected = [
            (0, 10_000, 30_000, "", 0),
            (0, 40_000, 45_000, "a]", 0),
            (0, 12_000, 20_000, "b", 1),
            (1, 11_000, 12_000, "e", 0),
        ];
        let expected: Vec<_> =
            expected.map(|(w, s, e, n, l)| (w, s, e, n.as_bytes().to_vec(), Depth::Level(l))).into();
        assert_eq!(spans, expected);
        assert_eq!(
            (account.format.as_str(), account.seen, account.counted, account.workers),
            ("tfprof", 6, 4, 2)
        );
        assert_eq!(account.dropped.iter().map(|d| d.events).sum::<u64>(), 2);
        assert_eq!(account.clock_resolution_ns, 1_000);
        assert!(account.notes.is_empty());
    }
}
