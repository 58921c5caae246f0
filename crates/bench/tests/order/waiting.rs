//! Rows that wait are timed by the first answers of fresh processes, where growth is measured.

use super::*;

/// How long an answer waits.
pub fn waited_ns(behaviour: Behaviour, answers: usize, size: u64) -> u64 {
    if matches!(behaviour, Behaviour::Starves) && answers == 1 { size.pow(2) * 1_000 } else { 0 }
}

fn setting(until_graded: bool) -> Setting {
    let budget_ns = Some(3_600_000 * MS);
    let limits = Limits { restart_every: 1, until_graded, budget_ns, ..Setting::default().limits };
    Setting { limits, sizes: "[50, 200, 400]", block: "controls = false", ..Setting::default() }
}

#[test]
fn what_waits_is_timed_by_the_first_answer_of_each_process() {
    let done = measure(&[("a", Behaviour::Starves)], setting(true));
    // 50 tasks wait for 2.5 ms, as a disk may have a process wait; 200 for 40 ms.
    for size in [200, 400] {
        let of = |kind| done.samples().filter(move |sample| sample.size == size && sample.kind == kind);
        assert_eq!(of(Kind::Warmup).count(), 0, "{size}");
        let timed: Vec<&SampleRecord> = of(Kind::Timed).collect();
        assert_eq!(timed.len(), 6, "{size}");
        for sample in &timed {
            assert_eq!((sample.iterations, sample.carried), (1, false), "{size}");
            assert_eq!(sample.wall_ns, size * size * 1_000 + size * 1_000, "{size}: it waits");
            let same =
                done.samples().filter(|other| (other.row, other.process) == (sample.row, sample.process));
            assert_eq!(same.map(|other| other.kind).collect::<Vec<_>>(), [Kind::Timed], "{size}");
        }
    }
    let small = done.samples().filter(|sample| sample.size == 50 && sample.kind == Kind::Warmup);
    assert!(small.count() > 0, "2.5 ms are not looked at");
    let later: Vec<&SampleRecord> =
        done.samples().filter(|sample| sample.size == 50 && sample.process > 0).collect();
    assert_eq!(later.len(), 5, "all sizes are measured alike");
    assert!(
        later.iter().all(|sample| sample.wall_ns == 2_550_000),
        "so that a small one starves too: {later:?}"
    );
}

#[test]
fn where_growth_is_not_measured_nothing_is_started_for_it() {
    let done = measure(&[("a", Behaviour::Starves)], setting(false));
    let timed = done.samples().filter(|sample| sample.kind == Kind::Timed);
    assert!(
        timed.into_iter().all(|sample| sample.wall_ns < MS * sample.iterations),
        "none is a first answer"
    );
}
