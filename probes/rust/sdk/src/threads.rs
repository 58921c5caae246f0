//! Brings the clock of the process up to date.

/// Where a process has more threads, most of them sleep, and asking for all takes too long.
const MOST_THREADS: usize = 256;

/// Brings the clock of the process up to date. It is the sum over the threads, and Linux counts
/// what a thread is using on another CPU at its tick only, every 4 ms at 250 Hz: a worker that
/// still looks for tasks when the last one is done is short of 2 ms on average. Asking for the
/// clock of a thread counts its time at once. Threads that sleep are up to date. Returns how many
/// were asked.
pub fn count_running_threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let threads = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    threads.take(MOST_THREADS).filter(|thread| ask_thread(*thread)).count()
}

#[allow(unsafe_code)]
fn ask_thread(thread: i32) -> bool {
    // The number of a thread's clock, as `pthread_getcpuclockid` makes it.
    let clock = !thread << 3 | 6;
    // SAFETY: it fills a structure of ours. A thread that has ended meanwhile is an error, and has
    // counted its time.
    unsafe { libc::clock_gettime(clock, &mut std::mem::zeroed()) == 0 }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    };

    use super::*;
    use crate::{cpu_begin_ns, cpu_end_ns};

    #[test]
    #[cfg(target_os = "linux")]
    fn every_thread_is_asked_for_its_clock() {
        let (ended, all) = (AtomicBool::new(false), Barrier::new(4));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    all.wait();
                    while !ended.load(Relaxed) {
                        std::thread::yield_now();
                    }
                });
            }
            all.wait();
            let begun = cpu_begin_ns();
            // This thread and those three at least.
            let asked = count_running_threads();
            let end = cpu_end_ns();
            ended.store(true, Relaxed);
            assert!((4..=MOST_THREADS).contains(&asked), "{asked} were asked");
            assert!(end > begun);
        });
    }
}
