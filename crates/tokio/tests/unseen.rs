//! What the digest says if tokio was built without `--cfg tokio_unstable`.
#![cfg(not(tokio_unstable))]

use taskscale_model::{digest::PatternName, missing::Reading};
use taskscale_tokio::observe;
use tokio::runtime::Builder;

#[test]
fn what_cannot_be_seen_has_a_reason_and_a_remedy() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(2)).build().expect("a runtime");
    rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
    let digest = live.digest();
    assert_eq!((digest.tasks, digest.workers, digest.dropped.format.as_str()), (0, 2, "live tokio"));
    assert_eq!(digest.patterns[0].name, PatternName::Inconclusive);
    let Reading::Missing(missing) = &digest.duration else { panic!("durations without polls: {digest:?}") };
    for remedy in [&missing.remedy, &digest.patterns[0].remedy] {
        assert!(remedy.contains("RUSTFLAGS=\"--cfg tokio_unstable\""), "{remedy}");
    }
    let text = live.to_string();
    assert!(text.len() <= 2_048);
    assert!(text.contains("INCONCLUSIVE") && text.contains("--cfg tokio_unstable"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&live.json()).expect("JSON");
    assert_eq!(json["duration"]["reason"], missing.reason.as_str());
}

#[test]
#[cfg(target_has_atomic = "64")]
fn the_counters_of_tokio_say_how_busy_workers_were() {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(1)).build().expect("a runtime");
    rt.block_on(async {
        let work = || std::thread::sleep(std::time::Duration::from_millis(20));
        tokio::spawn(async move { work() }).await.expect("no panic");
    });
    // tokio adds up when the worker parks, for which it has ten minutes. Waiting for one more park
    // is not enough, because the worker's first one, before the task, may come late.
    let asleep = std::time::Duration::from_millis(19);
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(600);
    while rt.metrics().worker_total_busy_duration(0) < asleep && std::time::Instant::now() < patience {
        std::thread::yield_now();
    }
    let digest = live.digest();
    assert_eq!(digest.workers_detail.by_busy.iter().sum::<u64>(), digest.workers, "each in one tenth");
    let busy = digest.workers_detail.workers[0].busy * digest.window_ns as f64;
    // 20 ms asleep in a task are 20 ms not parked. There is no more than the window.
    assert!((19e6..=digest.window_ns as f64 * 1.000_001).contains(&busy), "{busy} of {digest:?}");
    assert!(digest.notes[0].contains("not parked for"), "{:?}", digest.notes);
    live.clear();
    assert!(live.digest().workers_detail.workers[0].busy < 1.0, "cleared");
}
