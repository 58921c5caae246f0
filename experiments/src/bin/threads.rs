//! What it costs to read the CPU time of all threads of a process: 2, 6, 31 and 64 of them, asleep.
//!
//! `cargo run -p taskscale-experiments --bin threads`

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::{sync::mpsc, thread};

use taskscale_sys::{clock::monotonic_ns, threads::thread_times};

fn main() {
    let mut asleep = Vec::new();
    for wanted in [2, 6, 31, 64] {
        while asleep.len() + 1 < wanted {
            let (end, ended) = mpsc::channel::<()>();
            asleep.push((end, thread::spawn(move || ended.recv().ok())));
        }
        let mut times: Vec<u64> = (0..1_000)
            .map(|_| {
                let start = monotonic_ns();
                let threads = thread_times(std::process::id()).map(|times| times.len());
                assert_eq!(threads, Ok(wanted));
                monotonic_ns() - start
            })
            .collect();
        times.sort_unstable();
        println!(
            "{wanted} threads: {} us (median of 1,000), p90 {} us",
            times[500] / 1_000,
            times[900] / 1_000
        );
    }
    for (end, thread) in asleep {
        drop(end);
        thread.join().ok();
    }
}
