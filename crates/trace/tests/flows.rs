//! Ready times from flows are the same in any order of a file's events.

use taskscale_model::span::{Account, FlowEvent, Span, SpanSink};
use taskscale_trace::{Options, Reader, Sorter, sort::When};

/// Ready times and starts.
type Times = Vec<(i64, i64)>;

/// Ready times, and all that a sorter needs to find them.
struct Seen {
    ready: Times,
    sorter: Sorter,
}

impl SpanSink for Seen {
    fn span(&mut self, span: &Span<'_>) {
        self.sorter.span(span);
    }

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.ready.push((ready_ns, start_ns));
        self.sorter.ready(ready_ns, start_ns);
    }

    fn flow(&mut self, event: &FlowEvent) {
        self.sorter.flow(event);
    }
}

/// Takes ready times alone.
#[derive(Default)]
struct Ready(Times);

impl SpanSink for Ready {
    fn span(&mut self, _: &Span<'_>) {}

    fn ready(&mut self, ready_ns: i64, start_ns: i64) {
        self.0.push((ready_ns, start_ns));
    }
}

/// Reads events. Returns the ready times sorted, in microseconds: those of the reader where it is
/// sure, and those of the sorter. The account is corrected by the sorter.
fn told(events: &[String], when: When) -> (Option<Times>, Times, Account) {
    let file = format!("[{}]", events.join(",\n"));
    let mut reader = Reader::new(Options::default());
    let mut seen = Seen { ready: Vec::new(), sorter: Sorter::new(when) };
    let mut account = reader.read(file.as_bytes(), &mut seen).expect("a trace");
    let Seen { ready, mut sorter } = seen;
    let mut sorted = Ready::default();
    sorter.resolve(&reader).expect("temporary files can be written");
    let told = sorter.finish(&mut sorted, &mut |_, _| ()).expect("temporary files can be written");
    if let Some(told) = told {
        reader.retell(told, &mut account);
    }
    let micros = |times: Times| {
        let mut times: Vec<_> =
            times.into_iter().map(|(ready, start)| (ready / 1_000, start / 1_000)).collect();
        times.sort_unstable();
        times
    };
    (reader.flows_are_sure().then(|| micros(ready)), micros(sorted.0), account)
}

/// Track, start and end.
type Slice = (u64, i64, i64);
/// Flow, track, time, and one of `s`, `t`, `e` (an end in the slice around it) and `n` (an end
/// before the next one).
type Event = (u64, u64, i64, char);

/// The ready times and the number of ends without one, by looking at all slices for each end.
fn expected(slices: &[Slice], events: &[Event]) -> (Times, u64) {
    let mut events = events.to_vec();
    events.sort_by_key(|event| (event.0, event.2));
    let mut tasks = std::collections::BTreeMap::new();
    let (mut untold, mut departure) = (0, None);
    for (at, &(flow, track, ts, part)) in events.iter().enumerate() {
        if at == 0 || events[at - 1].0 != flow {
            departure = None;
        }
        let taken = departure;
        match part {
            's' | 't' => departure = Some(ts),
            _ => departure = None,
        }
        if part == 's' {
            continue;
        }
        let on_track = slices.iter().filter(|slice| slice.0 == track);
        let start = if part == 'n' {
            on_track.map(|slice| slice.1).filter(|&start| start >= ts).min()
        } else {
            on_track.filter(|slice| (slice.1..=slice.2).contains(&ts)).map(|slice| slice.1).max()
        };
        match (taken, start) {
            (Some(taken), Some(start)) => {
                let ready = tasks.entry((track, start)).or_insert(taken);
                *ready = taken.max(*ready);
            }
            _ => untold += 1,
        }
    }
    let mut ready: Vec<_> = tasks.into_iter().map(|((_, start), ready)| (ready, start)).collect();
    ready.sort_unstable();
    (ready, untold)
}

fn text_of_slice(&(track, start, end): &Slice) -> String {
    format!(r#"{{"ph":"X","pid":1,"tid":{track},"name":"a","ts":{start},"dur":{}}}"#, end - start)
}

fn text_of_event(&(flow, track, ts, part): &Event) -> String {
    let (phase, bind) = match part {
        'e' => ('f', r#","bp":"e""#),
        'n' => ('f', ""),
        other => (other, ""),
    };
    format!(r#"{{"ph":"{phase}","pid":1,"tid":{track},"id":{flow},"cat":"c","name":"f","ts":{ts}{bind}}}"#)
}

/// Slices that nest and overlap, and flows of all kinds. With `simple` each flow leads from
/// somewhere to the start of a slice.
fn made(rng: &mut fastrand::Rng, simple: bool) -> (Vec<Slice>, Vec<Event>) {
    let slice = |_| {
        let start = rng.i64(0..300);
        (rng.u64(0..3), start, start + rng.i64(0..60))
    };
    let slices: Vec<Slice> = (0..40).map(slice).collect();
    let mut events = Vec::new();
    for flow in 0..12 {
        if simple {
            let (track, start, _) = slices[rng.usize(0..slices.len())];
            events.push((flow, rng.u64(0..3), start - rng.i64(1..50), 's'));
            events.push((flow, track, start, if rng.bool() { 'e' } else { 'n' }));
            continue;
        }
        // An id comes again once its flow has ended.
        let mut ts = 0;
        for _ in 0..rng.usize(1..3) {
            let mut parts = vec!['s'];
            parts.extend((0..rng.usize(0..3)).map(|_| 't'));
            parts.push(if rng.bool() { 'e' } else { 'n' });
            if rng.u8(0..8) == 0 {
                parts.pop();
            }
            for part in parts {
                ts += rng.i64(1..50);
                events.push((flow, rng.u64(0..4), ts, part));
            }
        }
    }
    (slices, events)
}

#[test]
fn any_order_of_events_gives_the_ready_times_of_the_sorted_ones() {
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut sure, mut unsure) = (0, 0);
    for round in 0..400 {
        let (slices, events) = made(&mut rng, round % 2 == 0);
        let (ready, untold) = expected(&slices, &events);
        let mut timed: Vec<(i64, u8, String)> = Vec::new();
        timed.extend(slices.iter().map(|slice| (slice.1, 0, text_of_slice(slice))));
        timed.extend(events.iter().map(|event| (event.2, 1, text_of_event(event))));
        for order in 0..6 {
            match order {
                0 => timed.sort(),
                // Flows behind all slices, and before them.
                1 => timed.sort_by_key(|event| (event.1, event.0)),
                2 => timed.sort_by_key(|event| (1 - event.1, event.0)),
                3 => timed.reverse(),
                _ => rng.shuffle(&mut timed),
            }
            let lines: Vec<String> = timed.iter().map(|event| event.2.clone()).collect();
            let when = if order % 2 == 0 { When::AtOnce } else { When::InTheEnd };
            let (by_reader, by_sorter, account) = told(&lines, when);
            assert_eq!(by_sorter, ready, "round {round}, order {order}:\n{}", lines.join("\n"));
            assert_eq!(account.untold, untold, "round {round}, order {order}: {account:?}");
            let notes = account.notes.iter().filter(|note| note.contains(" flows tell ")).count();
            assert_eq!(notes, usize::from(untold > 0), "{account:?}");
            match by_reader {
                Some(by_reader) => {
                    assert_eq!(by_reader, ready, "round {round}, order {order}:\n{}", lines.join("\n"));
                    sure += 1;
                }
                None => unsure += 1,
            }
        }
    }
    // Both ways are taken.
    assert!(sure > 100 && unsure > 1_000, "{sure} {unsure}");
}

#[test]
fn what_lies_at_starts_in_order_needs_no_sorter() {
    let lines = [
        text_of_event(&(7, 0, 4, 's')),
        text_of_slice(&(0, 0, 9)),
        text_of_slice(&(1, 11, 15)),
        text_of_event(&(7, 1, 11, 'e')),
        text_of_slice(&(0, 10, 19)),
        text_of_slice(&(1, 20, 25)),
    ];
    let (by_reader, by_sorter, account) = told(&lines, When::AtOnce);
    assert_eq!((by_reader, by_sorter.as_slice(), account.untold), (Some(vec![(4, 11)]), &[(4, 11)][..], 0));
}

/// Two flows join in a task, and that of another task is told between them.
#[test]
fn the_last_of_flows_counts_wherever_the_others_stand() {
    let lines = [
        text_of_slice(&(0, 50, 59)),
        text_of_event(&(1, 0, 50, 'e')),
        text_of_event(&(2, 0, 50, 'e')),
        text_of_slice(&(1, 70, 79)),
        text_of_event(&(3, 1, 70, 'e')),
        text_of_event(&(1, 2, 10, 's')),
        text_of_event(&(3, 2, 20, 's')),
        text_of_event(&(2, 2, 30, 's')),
    ];
    let (by_reader, by_sorter, account) = told(&lines, When::AtOnce);
    assert_eq!((by_reader, by_sorter, account.untold), (None, vec![(20, 70), (30, 50)], 0));
}

/// Kineto's flows end at the starts of kernels, and not in what lies around.
#[test]
fn launches_find_their_kernels_in_any_order() {
    let mut rng = fastrand::Rng::with_seed(12);
    let mut lines =
        vec![r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":1,"dur":900}"#.to_owned()];
    let mut ready = Vec::new();
    for id in 0..50i64 {
        let (launch, start) = (10 * id, 10 * id + 7);
        lines.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{launch},"dur":3}}"#
        ));
        lines.push(format!(
            r#"{{"ph":"s","id":{id},"pid":9,"tid":9,"ts":{launch},"cat":"ac2g","name":"ac2g"}}"#
        ));
        if id % 10 == 3 {
            // The end of what is no task lies in an operator.
            lines.push(format!(
                r#"{{"ph":"f","id":{id},"pid":9,"tid":9,"ts":{start},"cat":"ac2g","name":"ac2g","bp":"e"}}"#
            ));
            continue;
        }
        lines.push(format!(r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{start},"dur":2}}"#));
        lines.push(format!(
            r#"{{"ph":"f","id":{id},"pid":0,"tid":7,"ts":{start},"cat":"ac2g","name":"ac2g","bp":"e"}}"#
        ));
        ready.push((launch, start));
    }
    ready.sort_unstable();
    for _ in 0..20 {
        let (by_reader, by_sorter, account) = told(&lines, When::AtOnce);
        assert!(by_reader.is_none_or(|by_reader| by_reader == ready));
        assert_eq!((by_sorter, account.untold), (ready.clone(), 0));
        rng.shuffle(&mut lines);
    }
}
