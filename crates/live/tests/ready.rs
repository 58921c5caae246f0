//! Queue delays of a live observer, by a clock that is set: programs of known truth.

use taskscale_live::{Clock, Observer, Options, SetClock, Wait};
use taskscale_model::{
    digest::{Digest, Queue},
    missing::Reading,
};
use taskscale_sys::ticks::Rate;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

/// An observer of one worker with a clock of nanoseconds.
fn observer(no_ready_times: Option<(&'static str, &'static str)>) -> (std::sync::Arc<Observer>, Clock) {
    let clock = Clock::Set(SetClock::new(Rate::of_ns_per_4g(1 << 32)));
    let options = Options { clock: clock.clone(), exact: true, no_ready_times, ..Options::default() };
    (Observer::new(options), clock)
}

fn queue(digest: &Digest) -> &Queue {
    digest.queue.value().expect("ready times are told")
}

/// Runs tasks of `length`, all ready at `ready`, one after the other from there on.
fn run(observer: &Observer, ready: u64, tasks: u64, length: u64) {
    let worker = observer.worker(0);
    let starts = (0..tasks).map(|task| ready + task * length);
    observer.ready(starts.clone().map(|start| Wait { ready, start, tasks: 1 }));
    for start in starts {
        worker.begin_at(start);
        worker.end_at(start + length, b"step");
    }
}

#[test]
fn a_hundred_tasks_put_in_at_once_wait_for_those_before_them() {
    let (observer, _) = observer(None);
    run(&observer, 0, 100, MS);
    let digest = observer.digest();
    let Queue { delay, known, shares } = queue(&digest);
    assert_eq!((delay.count, delay.min, delay.max, *known), (100, 0, 99 * MS, 1.0));
    assert_eq!(delay.mean, 49.5 * MS as f64);
    assert!((delay.p50 as f64 / (49 * MS) as f64 - 1.0).abs() < 0.125, "{delay:?}");
    let shares = shares.value().expect("all are known");
    // The last task alone waits for nobody and keeps nobody waiting.
    assert!(shares.starved + shares.dispatch < 1e-9 && (shares.saturated - 0.99).abs() < 0.02, "{shares:?}");
}

#[test]
fn idle_time_is_divided_by_whether_a_task_waited() {
    let (observer, _) = observer(None);
    let worker = observer.worker(0);
    // In each 100 us the worker runs for 40, has nothing to do for 50, and takes 10 to hand over.
    for round in 0..1_000 {
        let (ready, start) = ((100 * round + 90) * US, (100 * round + 100) * US);
        observer.ready([Wait { ready, start, tasks: 1 }]);
        worker.begin_at(start);
        worker.end_at(start + 40 * US, b"");
    }
    let digest = observer.digest();
    let Queue { delay, shares, .. } = queue(&digest);
    assert_eq!((delay.min, delay.max), (10 * US, 10 * US));
    let shares = shares.value().expect("all are known");
    assert!((shares.starved + shares.dispatch - 0.6).abs() < 0.001, "{shares:?}");
    // 64 points or more: four standard errors of a share of a sixth are less than this.
    assert!(shares.starved > shares.dispatch && shares.saturated == 0.0, "{shares:?}");
}

#[test]
fn a_task_that_stands_for_others_counts_as_many_times() {
    let (observer, _) = observer(None);
    let worker = observer.worker(0);
    observer.ready([Wait { ready: 0, start: 5 * US, tasks: 16 }]);
    for task in 0..16 {
        worker.begin_at((5 + task) * US);
        worker.end_at((6 + task) * US, b"");
    }
    let digest = observer.digest();
    assert_eq!((queue(&digest).delay.count, queue(&digest).known), (16, 1.0));
    assert_eq!(queue(&digest).delay.mean, (5 * US) as f64);
    let Reading::Missing(missing) = &queue(&digest).shares else { panic!("one of 16 tells no shares") };
    assert!(missing.reason.contains("one in 16") && missing.remedy.contains("exact"), "{missing:?}");
}

#[test]
fn clearing_forgets_and_what_started_before_it_stays_forgotten() {
    let (observer, clock) = observer(None);
    run(&observer, 0, 10, MS);
    let Clock::Set(set) = &clock else { unreachable!("it was made as one") };
    set.set_ns(20 * MS);
    observer.clear();
    assert!(observer.digest().queue.value().is_none());
    // A batch that was kept back: one task had started by then, the other one had not.
    let waits = [19, 21].map(|at| Wait { ready: 18 * MS, start: at * MS, tasks: 1 });
    observer.ready(waits);
    let worker = observer.worker(0);
    worker.begin_at(21 * MS);
    worker.end_at(22 * MS, b"");
    let digest = observer.digest();
    assert_eq!((queue(&digest).delay.count, queue(&digest).delay.max), (1, 3 * MS));
}

#[test]
fn without_ready_times_the_digest_says_why() {
    let (observer, _) = observer(Some(("nobody tells", "ask somebody")));
    let Reading::Missing(missing) = observer.digest().queue else { panic!("nothing was told") };
    assert_eq!((missing.reason.as_str(), missing.remedy.as_str()), ("nobody tells", "ask somebody"));
    run(&observer, 0, 10, MS);
    assert!(observer.digest().queue.value().is_some());
}

#[test]
fn ready_times_take_memory_once_for_all_workers() {
    let (observer, _) = observer(None);
    (0..8).for_each(|worker| assert_eq!(observer.worker(worker).index(), worker));
    let before = observer.bytes();
    let tell = |tasks: u64| {
        let wait = |task| Wait { ready: task * MS, start: (task + 1) * MS, tasks: 1 };
        observer.ready((0..tasks).map(wait));
        observer.bytes() - before
    };
    let once = tell(1);
    assert!(once > 0 && once <= 4 << 10, "{once} bytes");
    assert_eq!(tell(100_000), once);
}
