//! What is wrong with programs where it is plain.

use taskscale_model::digest::PatternName;
use taskscale_programs::{Change, Kind, Program, View, judge, speedup};

/// Of this many programs of a kind, so many are judged to have this pattern.
fn share(kind: Kind, pattern: PatternName) -> usize {
    (0..10).filter(|seed| judge(&Program::draw(kind, *seed)).acceptable.contains(&pattern)).count()
}

#[test]
fn every_program_has_an_acceptable_diagnosis() {
    for kind in Kind::ALL {
        for seed in 300..303 {
            let program = Program::draw(*kind, seed);
            let truth = judge(&program);
            let what = format!("{} {seed}: {truth:?}", kind.name());
            assert!(!truth.acceptable.is_empty(), "{what}");
            assert!(truth.gains.is_sorted_by(|a, b| a.speedup >= b.speedup), "{what}");
            assert!(seed > 300 || truth == judge(&program), "{what}");
            let seen = truth.acceptable_in(&View::sorted());
            assert!(truth.acceptable.iter().all(|name| seen.contains(name)), "{what}");
        }
    }
}

#[test]
fn kinds_suffer_from_what_they_were_made_for() {
    for (kind, pattern) in [
        (Kind::EvenLoop, PatternName::Healthy),
        (Kind::HelpFirst, PatternName::Healthy),
        (Kind::TinyTasks, PatternName::SchedulingOverhead),
        (Kind::SerialFirst, PatternName::SerialBottleneck),
        (Kind::PingPong, PatternName::SerialBottleneck),
        (Kind::LockConvoy, PatternName::SerialBottleneck),
        (Kind::SlowStage, PatternName::SerialBottleneck),
        (Kind::TooFew, PatternName::UnderDecomposition),
        (Kind::OneStraggler, PatternName::StragglerTasks),
        (Kind::StaticChunks, PatternName::LoadImbalance),
        (Kind::SkewedPins, PatternName::LoadImbalance),
        (Kind::HostPauses, PatternName::OutsideRun),
        (Kind::Oversubscribed, PatternName::Preempted),
        (Kind::LoopBlocked, PatternName::EventLoopBlocked),
        (Kind::ParentsWait, PatternName::RecursiveOverlap),
        (Kind::PoissonServer, PatternName::OutsideRun),
    ] {
        let found = share(kind, pattern);
        assert!(found >= 6, "{kind:?}: {found} of 10 have {pattern}");
    }
}

#[test]
fn kinds_do_not_suffer_from_what_they_cannot_have() {
    for (kind, pattern) in [
        (Kind::TinyTasks, PatternName::Healthy),
        (Kind::TooFew, PatternName::Healthy),
        (Kind::SeveralStragglers, PatternName::SchedulingOverhead),
        (Kind::EvenLoop, PatternName::SerialBottleneck),
        (Kind::SerialFirst, PatternName::LoadImbalance),
        (Kind::DeepCalls, PatternName::RecursiveOverlap),
        (Kind::LoopHealthy, PatternName::EventLoopBlocked),
        (Kind::LoopIdle, PatternName::EventLoopBlocked),
    ] {
        let found = share(kind, pattern);
        assert!(found <= 2, "{kind:?}: {found} of 10 have {pattern}");
    }
}

#[test]
fn the_gain_of_a_class_is_that_of_its_change() {
    let mut shared = 0;
    for seed in 0..5 {
        let program = Program::draw(Kind::SkewedPins, seed);
        let truth = judge(&program);
        for gain in &truth.gains {
            assert_eq!(speedup(&program, &gain.change), gain.speedup, "{seed}: {gain:?}");
        }
        shared += usize::from(truth.gains.iter().any(|gain| gain.change == Change::ShareQueue));
    }
    // Where all workers are at work all the time, nothing is tried.
    assert!(shared >= 3, "{shared} of 5");
}

#[test]
fn who_waits_for_arrivals_may_promise_little() {
    let truth = judge(&Program::draw(Kind::PeriodicServer, 2));
    assert!(truth.accepts(PatternName::Healthy, 1.0));
    assert!(truth.accepts(PatternName::LoadImbalance, 1.04));
    assert!(!truth.accepts(PatternName::LoadImbalance, 1.5));
}

#[test]
fn what_no_span_shows_may_pass_for_healthy() {
    let program = Program::draw(Kind::LockConvoy, 1);
    let truth = judge(&program);
    assert!(!truth.acceptable.contains(&PatternName::Healthy));
    assert!(truth.acceptable_in(&View::sorted()).contains(&PatternName::Healthy));
}

#[test]
fn workers_that_never_ran_are_not_seen() {
    let program = Program::draw(Kind::TooFew, 1);
    let execution = program.execute();
    let seen = program.on_seen_workers(&execution);
    assert!(seen.machine.workers < program.machine.workers);
    assert_eq!(seen.execute().time_ns, execution.time_ns);
}

/// Readers and a writer hold their workers while they wait for the lock: spans have no gaps.
#[test]
fn what_spans_hide_may_be_healthy() {
    let programs: Vec<Program> = (0..10).map(|seed| Program::draw(Kind::ReadersWriter, seed)).collect();
    let busy = programs.iter().filter(|program| program.execute().room() < 1.05).count();
    assert!(busy >= 3, "{busy}");
    for program in programs.iter().filter(|program| program.execute().room() < 1.05) {
        assert!(judge(program).acceptable_in(&View::sorted()).contains(&PatternName::Healthy));
    }
}
