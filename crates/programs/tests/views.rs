//! What observers write down.

use taskscale_model::span::Depth;
use taskscale_programs::{Clock, EventOrder, Kind, Program, View, observe};

#[test]
fn the_same_spans_are_seen_in_any_order() {
    let execution = Program::draw(Kind::DeepCalls, 3).execute();
    let sums = |order| {
        let seen = observe(&execution, &View { order, ..View::sorted() });
        let mut spans: Vec<_> =
            seen.spans.iter().map(|span| (span.start_ns, span.end_ns, span.level)).collect();
        let first = spans.clone();
        spans.sort_unstable();
        (spans, first)
    };
    let (sorted, _) = sums(EventOrder::Starts);
    let mut orders = Vec::new();
    for order in [
        EventOrder::Starts,
        EventOrder::Ends,
        EventOrder::Workers,
        EventOrder::WorkersByEnd,
        EventOrder::Shuffled,
        EventOrder::ShuffledBlocks(7),
    ] {
        let (same, first) = sums(order);
        assert_eq!(same, sorted, "{order:?}");
        assert!(!orders.contains(&first), "{order:?} is an order of its own");
        orders.push(first);
    }
}

#[test]
fn workers_are_dense_in_the_order_in_which_they_are_seen() {
    for seed in 0..60 {
        let execution = Program::draw(Kind::SkewedPins, seed).execute();
        let seen = observe(&execution, &View::draw(seed));
        let mut next = 0;
        for span in &seen.spans {
            assert!(span.worker <= next);
            next = next.max(span.worker + 1);
        }
        if let Some(delays) = seen.run_delay_ns {
            assert_eq!(delays.len(), next as usize);
        }
    }
}

#[test]
fn a_coarse_clock_cuts_starts_and_durations() {
    let execution = Program::draw(Kind::ParentsCompute, 5).execute();
    let view = View { clock: Clock::Step(1_000), origin_ns: -777, ..View::sorted() };
    for (seen, span) in observe(&execution, &view).spans.iter().zip({
        let mut spans = execution.spans.clone();
        spans.sort_by_key(|span| (span.start_ns, span.level, span.worker));
        spans
    }) {
        assert_eq!((seen.start_ns.rem_euclid(1_000), (seen.end_ns - seen.start_ns) % 1_000), (0, 0));
        let late = span.start_ns as i64 - 777 - seen.start_ns;
        assert!((0..1_000).contains(&late), "{late}");
    }
}

#[test]
fn floating_microseconds_let_a_child_end_after_its_parent_by_nanoseconds() {
    let execution = Program::draw(Kind::DeepCalls, 5).execute();
    let view = View { clock: Clock::FloatMicros(12_000_000_000_123), ..View::sorted() };
    let mut ends = [0; 8];
    let mut worst = 0;
    let seen = observe(&execution, &View { order: EventOrder::Workers, ..view });
    for span in &seen.spans {
        let level = usize::from(span.level.expect("levels are given"));
        ends[level] = span.end_ns;
        if level > 0 {
            worst = worst.max(span.end_ns - ends[level - 1]);
        }
    }
    assert!((1..=3).contains(&worst), "{worst} ns");
}

#[test]
fn what_is_not_known_is_not_there() {
    let execution = Program::draw(Kind::EvenLoop, 1).execute();
    let blind = View {
        ready_known: false,
        run_delay_known: false,
        workers_declared: false,
        names_given: false,
        levels_given: false,
        ..View::sorted()
    };
    let seen = observe(&execution, &blind);
    assert_eq!((seen.workers, &seen.run_delay_ns), (None, &None));
    let span = seen.span(&seen.spans[0]);
    assert_eq!((span.name, span.depth), (&b""[..], Depth::Unknown));
    let all = observe(&execution, &View::sorted());
    assert!(!all.span(&all.spans[0]).name.is_empty());
    assert!(all.spans.iter().all(|span| span.ready_ns.is_some_and(|ready| ready <= span.start_ns)));
}

#[test]
fn who_is_contained_ends_first() {
    let execution = Program::draw(Kind::DeepCalls, 5).execute();
    let seen = observe(&execution, &View { order: EventOrder::WorkersByEnd, ..View::sorted() });
    let mut ties = 0;
    for pair in seen.spans.windows(2).filter(|pair| pair[0].end_ns == pair[1].end_ns) {
        assert!(pair[0].worker != pair[1].worker || pair[0].level > pair[1].level, "{pair:?}");
        ties += 1;
    }
    assert!(ties > 0);
}
