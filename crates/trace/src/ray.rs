//! Ray's list of tasks: `ray list tasks --detail --format json`, or what
//! `ray.util.state.list_tasks(detail=True)` returns, as JSON.
//!
//! Each record is one attempt, with the time at which it entered each state. A task runs from
//! `RUNNING` to `FINISHED` or `FAILED`. It is ready from `PENDING_NODE_ASSIGNMENT` on: its
//! arguments are there, and it waits for a worker. Tasks of actors never enter that state.

use taskscale_model::span::{Account, Span, SpanSink};

use crate::{
    error::TraceError,
    json::{items, members, text},
    number::{MILLIS, Time, decimal},
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
    let mut tally = Tally::default();
    records(
        window,
        &mut tally,
        |tally| tally,
        |tally, record| {
            tally.seen += 1;
            if let Err(reason) = task(record, options, workers, clock, tally, sink) {
                tally.drop(reason, 1);
            }
        },
    )?;
    let seen = workers.seen_in_file();
    tally.account("ray-tasks", window.bytes(), seen)
}

/// The times of an attempt.
#[derive(Debug, Default)]
struct States {
    ready: Time,
    running: Time,
    ended: Time,
}

impl States {
    fn of(list: &[u8]) -> Self {
        let mut states = States::default();
        items(list, |event| {
            let (mut state, mut at) = (&b""[..], Time::Missing);
            members(event, |key, value| match key {
                b"state" => state = value,
                b"created_ms" => at = moment(value),
                _ => {}
            });
            match &*text(state) {
                b"PENDING_NODE_ASSIGNMENT" => states.ready = at,
                b"RUNNING" => states.running = at,
                b"FINISHED" | b"FAILED" => states.ended = at,
                _ => {}
            }
        });
        states
    }
}

fn task(
    record: &[u8],
    options: &Options,
    workers: &mut WorkerTable,
    clock: &mut Clock,
    tally: &mut Tally,
    sink: &mut impl SpanSink,
) -> Result<(), Reason> {
    let (mut name, mut kind, mut events) = (&b""[..], &b""[..], &b"[]"[..]);
    let (mut node, mut worker) = (Id::Absent, Id::Absent);
    members(record, |key, value| match key {
        b"name" => name = value,
        b"type" => kind = value,
        b"events" if value.starts_with(b"[") => events = value,
        b"node_id" => node = Id::text(&text(value)),
        b"worker_id" => worker = Id::text(&text(value)),
        _ => {}
    });
    let (name, kind) = (text(name), text(kind));
    let holds = |text: &[u8], part: &Option<String>| {
        part.as_ref().is_none_or(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
    };
    if options.cat.is_none() && *kind == *b"DRIVER_TASK" {
        return Err(Reason::Driver);
    }
    if !holds(&kind, &options.cat) {
        return Err(Reason::FilteredCat);
    }
    if !holds(&name, &options.name) {
        return Err(Reason::FilteredName);
    }
    let (start, end, ready) = match States::of(events) {
        States { running: Time::Ns(start), ended: Time::Ns(end), ready } => (start, end, ready),
        States { running: Time::Ns(_), ended, .. } => {
            return Err(Tally::time_reason(ended, Reason::NoDuration));
        }
        States { running, .. } => return Err(Tally::time_reason(running, Reason::NoStart)),
    };
    if end < start {
        return Err(Reason::NegativeDuration);
    }
    let (Some(start_ns), Some(end_ns)) = (clock.since_origin(start), clock.since_origin(end)) else {
        return Err(Reason::OutOfRange);
    };
    let ready_ns = if let Time::Ns(ready) = ready { clock.since_origin(ready) } else { None };
    tally.learn_step(start);
    tally.learn_step(end);
    let span = Span {
        worker: workers.index(node, worker),
        start_ns,
        end_ns,
        name: &name,
        ready_ns,
        ..Span::default()
    };
    tally.emit(sink, &span, 1);
    Ok(())
}

/// Reads milliseconds since 1970 as the library gives them, or what the command makes of them: date
/// and time of day in the user's zone. Which zone that is matters to no difference of two times.
fn moment(value: &[u8]) -> Time {
    match decimal(value, 0, MILLIS) {
        (time, end) if end == value.len() => time,
        _ if value == b"null" => Time::Missing,
        _ => date(&text(value)).map_or(Time::NotANumber, Time::Ns),
    }
}

/// Nanoseconds from 1970 to a date such as `2026-11-22 16:43:54.799000`.
fn date(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (date, time) = text.split_once([' ', 'T'])?;
    let mut days = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (days.next()??, days.next()??, days.next()??);
    let mut hours = time.splitn(3, ':');
    let mut whole = || hours.next()?.parse::<i64>().ok();
    let (hour, minute) = (whole()?, whole()?);
    let seconds = hours.next()?.trim_end_matches('Z');
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let nanos: i64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let sound = (1_970..2_200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !sound || !(0..24).contains(&hour) || !(0..60).contains(&minute) || nanos < 0 {
        return None;
    }
    let second: i64 = second.parse().ok().filter(|second| (0..=60).contains(second))?;
    // Years begin in March, so that the leap day is the last (Hinnant, "chrono-compatible low-level
    // date algorithms").
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_a_calendar() {
        const DAY: i64 = 86_400_000_000_000;
        for (text, ns) in [
            ("1970-01-01 00:00:00", Some(0)),
            ("2000-02-29 00:00:00.5", Some(11_016 * DAY + 500_000_000)),
            ("2000-03-01 00:00:00", Some(11_017 * DAY)),
            ("2026-11-22T16:43:54.799000Z", Some(1_795_365_834_799_000_000)),
            ("2026-13-22 16:43:54", None),
            ("2026-11-22", None),
            ("2026-11-22 16:43:54.-1", None),
            ("", None),
        ] {
            assert_eq!(date(text.as_bytes()), ns, "{text}");
        }
    }
}
