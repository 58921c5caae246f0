//! Tasks that hold a worker and do not run: the CPU time of long tasks is asked of the kernel.

use std::{thread, time::Duration};

use taskscale_live::{Clock, Observer, Options, SetClock};
use taskscale_model::digest::{OffCpu, PatternName};
use taskscale_sys::ticks::Rate;

/// What is known of 40 tasks of `length_us`, each of which ran for `ran_us`, with 10 us between
/// them; the first pattern and its first task besides.
fn of_tasks(length_us: u64, ran_us: u64) -> (Option<OffCpu>, PatternName, String) {
    let clock = SetClock::new(Rate::of_ns_per_4g(1 << 32));
    let options = Options { workers: Some(2), clock: Clock::Set(clock.clone()), ..Options::default() };
    let observer = Observer::new(options);
    let mut now = 0;
    for number in 0..40 {
        for index in 0..2 {
            clock.set_thread(index);
            clock.set_cpu_ns(number * ran_us * 1_000);
            let worker = observer.worker(index);
            worker.begin_at(now);
            clock.set_cpu_ns((number + 1) * ran_us * 1_000);
            worker.end_at(now + length_us * 1_000, b"take");
        }
        now += (length_us + 10) * 1_000;
    }
    let digest = observer.digest();
    let pattern = &digest.patterns[0];
    let task = pattern.tasks.first().map(|task| task.name.clone()).unwrap_or_default();
    (digest.off_cpu.value().copied(), pattern.name, task)
}

#[test]
fn long_tasks_that_do_not_run_are_seen_and_named() {
    let (off, pattern, task) = of_tasks(1_000, 250);
    let off = off.expect("the clock tells");
    assert!((off.share - 0.75).abs() < 0.01 && off.parents == 0.0 && off.known > 0.99, "{off:?}");
    assert_eq!((pattern, task.as_str()), (PatternName::BlockedInTasks, "take"));
}

#[test]
fn tasks_that_run_all_the_time_are_not_blocked() {
    let (off, pattern, _) = of_tasks(1_000, 1_000);
    assert_eq!(off.map(|off| off.share), Some(0.0));
    assert_ne!(pattern, PatternName::BlockedInTasks);
}

#[test]
fn short_tasks_are_not_asked() {
    assert_eq!(of_tasks(90, 10).0, None);
}

#[test]
#[cfg(target_os = "linux")]
fn a_task_asleep_on_this_machine_is_off_the_cpu() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    for _ in 0..3 {
        worker.begin();
        thread::sleep(Duration::from_millis(20));
        worker.end(b"nap");
    }
    let digest = observer.digest();
    let off = digest.off_cpu.value().expect("Linux tells");
    // A sleep is never shorter than asked, and nothing else is in these tasks but the clock.
    assert!(off.share * digest.window_ns as f64 >= 50e6, "{off:?} of {}", digest.window_ns);
}
