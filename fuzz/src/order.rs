//! Spans in any order give the digest of the sorted ones.

use taskscale_digest::{Accumulator, Config};
use taskscale_model::{
    digest::Digest,
    span::{Account, Span, SpanSink},
};
use taskscale_trace::{Sorter, sort::When};

/// Worker, start, end, name.
type Task = (u32, i64, i64, u8);

fn feed(tasks: &[Task], sink: &mut impl SpanSink) {
    for (worker, start_ns, end_ns, name) in tasks {
        let span = Span {
            worker: *worker,
            start_ns: *start_ns,
            end_ns: *end_ns,
            name: &[*name],
            ..Span::default()
        };
        sink.span(&span);
    }
}

/// Digests spans as the command does: sorted only if they have to be.
fn digest(tasks: &[Task], when: When) -> Digest {
    let mut sums = Accumulator::new(Config::default());
    feed(tasks, &mut sums);
    if sums.late() > 0 {
        sums = Accumulator::new(Config::default());
        let mut sorter = Sorter::new(when);
        feed(tasks, &mut sorter);
        sorter.finish(&mut sums, &mut |_, _| ()).expect("temporary files can be written");
        assert_eq!(sums.late(), 0, "what is sorted is in order");
    }
    sums.finish(&Account::default())
}

/// Makes spans of bytes, six for each, and compares their digest with that of the sorted ones.
pub fn check_order(bytes: &[u8]) {
    let task = |bytes: &[u8; 6]| {
        let [worker, high, low, length, scale, name] = *bytes;
        let start = i64::from(u16::from_be_bytes([high, low])) * 100;
        (u32::from(worker % 3), start, start + (i64::from(length) << (scale % 14)), name % 4)
    };
    let tasks: Vec<Task> = bytes.as_chunks::<6>().0.iter().map(task).collect();
    let mut sorted = tasks.clone();
    sorted.sort_by_key(|(worker, start, end, _)| (*worker, *start, -end));
    let expected = digest(&sorted, When::AtOnce);
    assert!(expected.losses.work <= 1.0 + 1e-9);
    assert_eq!(digest(&tasks, When::AtOnce), expected);
    assert_eq!(digest(&tasks, When::InTheEnd), expected);
}

#[cfg(test)]
mod tests {
    /// A little of what the fuzzer does, without it.
    #[test]
    fn random_spans_in_random_orders() {
        let mut state = 1u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        for round in 0..3_000 {
            let bytes: Vec<u8> = (0..6 * (round % 200)).map(|_| byte()).collect();
            super::check_order(&bytes);
        }
    }
}
