//! Probes whose clocks are wrong, and samples that were stopped.

use taskscale_analysis::{parse_run, summarize};
use taskscale_model::summary::FindingKind;

use super::*;

fn setting() -> Setting {
    Setting { limits: Limits { sample_ns: 20 * MS, ..Setting::default().limits }, ..Setting::default() }
}

/// How row b ended, whose variant behaves so.
fn end(behaviour: Behaviour) -> (Status, Done) {
    let done = measure(&[("a", Behaviour::Costs(1_000)), ("b", behaviour)], setting());
    let ends: BTreeMap<u64, Status> = done.ends().into_iter().collect();
    assert_eq!(ends[&0], Status::Ok { stop: Stop::Samples }, "the other row goes on");
    (ends[&1].clone(), done)
}

/// The findings on a run that are about times.
fn findings(done: &Done) -> Vec<String> {
    let lines: Vec<String> =
        done.records.iter().map(|record| serde_json::to_string(record).expect("JSON")).collect();
    let summary = summarize(&parse_run(lines.join("\n") + "\n").expect("a run file"));
    let kinds = [FindingKind::Biased, FindingKind::Failed, FindingKind::Busy];
    let found = summary.overview.findings.into_iter().filter(|finding| kinds.contains(&finding.kind));
    found.map(|finding| format!("{}: {} ({})", finding.kind.word(), finding.text, finding.remedy)).collect()
}

#[test]
fn a_clock_that_tells_a_tenth_or_nothing_fails_its_row() {
    for (wall, cpu, words) in [
        (10, 10, "of CPU time over "),
        (100, 100, "of CPU time over "),
        (1, 10, "of CPU time over "),
        (1, 100, "of CPU time over "),
        (10, 1, "of wall time over "),
        (1, 0, "0 ns of CPU time over "),
        (0, 1, "0 ns of wall time over "),
        (0, 0, "0 ns of CPU time"),
    ] {
        let (status, done) = end(Behaviour::Tells(wall, cpu));
        let Status::Failed(missing) = &status else { panic!("1/{wall} and 1/{cpu}: {status:?}") };
        assert!(missing.reason.contains(words), "1/{wall} and 1/{cpu}: {missing}");
        assert!(missing.reason.contains("a time that cannot be") && missing.remedy.contains("nanoseconds"));
        let found = findings(&done);
        assert!(found.len() == 1 && found[0].starts_with("failed: fake b: "), "{found:?}");
    }
}

#[test]
fn a_clock_that_tells_half_is_named_and_its_row_has_figures() {
    for (wall, cpu, words) in [
        (2, 2, "fake b: the kernel counted 2.0 times the CPU time that the probe tells"),
        (1, 2, "fake b: the kernel counted 2.0 times the CPU time that the probe tells"),
        (2, 2, "fake b: 2.0 times the wall time that the probe tells passed outside"),
        (1, 9, "fake b: the kernel counted 9.0 times the CPU time that the probe tells"),
    ] {
        let (status, done) = end(Behaviour::Tells(wall, cpu));
        assert_eq!(status, Status::Ok { stop: Stop::Samples });
        let found = findings(&done);
        assert!(found.iter().any(|one| one.contains(words)), "{words}: {found:?}");
        assert!(found.iter().all(|one| one.starts_with("biased: ") && one.contains("time the whole")));
        assert_eq!(done.samples().filter(|sample| sample.kind == Kind::Contrast).count(), 3);
    }
    let (_, honest) = end(Behaviour::Costs(1_000));
    assert_eq!(findings(&honest), Vec::<String>::new());
    assert!(honest.samples().all(|sample| sample.kind != Kind::Contrast), "nothing is suspicious");
}

#[test]
fn set_up_that_is_not_timed_is_no_lie() {
    let (status, done) = end(Behaviour::SetsUp(45 * MS, 1));
    assert_eq!(status, Status::Ok { stop: Stop::Samples });
    let of_b = || done.samples().filter(|sample| sample.row == 1);
    assert!(
        of_b().filter(|one| one.kind == Kind::Timed).all(|one| one.outside_cpu_ns > Some(2 * one.cpu_ns))
    );
    assert_eq!(of_b().filter(|one| one.kind == Kind::Contrast).count(), 3);
    assert_eq!(findings(&done), Vec::<String>::new());
}

#[test]
fn set_up_in_some_requests_is_no_lie() {
    for every in [2, 3, 5] {
        let (status, done) = end(Behaviour::SetsUp(240 * MS, every));
        assert_eq!(status, Status::Ok { stop: Stop::Samples }, "in one of {every}");
        assert_eq!(findings(&done), Vec::<String>::new(), "in one of {every}");
    }
}

#[test]
fn a_sample_that_was_stopped_is_kept_and_counts_in_nothing() {
    let (status, done) = end(Behaviour::IsStopped(7));
    assert_eq!(status, Status::Ok { stop: Stop::Samples });
    let aside: Vec<&SampleRecord> = done.samples().filter(|sample| sample.kind == Kind::SetAside).collect();
    assert!(!aside.is_empty() && aside.iter().all(|one| one.stopped == Some(Stopped::Probe)));
    let timed = done.samples().filter(|sample| sample.row == 1 && sample.kind == Kind::Timed);
    let longest = timed.map(|sample| sample.wall_ns).max().expect("timed");
    assert!(longest < 200 * MS, "a stop of a second is in a figure: {longest} ns");
    let found = findings(&done);
    let words = format!("{} sample", aside.len());
    assert!(
        found.len() == 1 && found[0].contains(&words) && found[0].contains("the probe was stopped"),
        "{found:?}"
    );
}

#[test]
fn a_row_that_is_stopped_all_the_time_is_given_up() {
    let (status, done) = end(Behaviour::IsStopped(1));
    let Status::Failed(missing) = status else { panic!("{status:?}") };
    assert_eq!(missing.reason, "was stopped while 20 of its samples were under way");
    assert_eq!(done.samples().filter(|sample| sample.row == 1).count(), 20);
}
