//! What a pair of calls costs: the CPU time of the best of nine interleaved passes over five
//! million empty tasks, less the time of two readings of the clock.
//! `cargo run --release -p taskscale-experiments --bin call_cost`

#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

use std::hint::black_box;

use taskscale_live::{Observer, Options};
use taskscale_sys::{clock::process_cpu_ns, ticks};

const TASKS: u32 = 5_000_000;

fn cpu_ns() -> u64 {
    process_cpu_ns(std::process::id()).expect("the CPU clock of this process, which needs Linux")
}

fn pass(mut task: impl FnMut()) -> f64 {
    let begin = cpu_ns();
    (0..TASKS).for_each(|_| task());
    (cpu_ns() - begin) as f64 / f64::from(TASKS)
}

fn main() {
    let observer = Observer::new(Options::default());
    let worker = observer.worker(0);
    let mut best = [f64::INFINITY; 4];
    for _ in 0..9 {
        let passes = [
            pass(|| {
                black_box(ticks::now());
                black_box(ticks::now());
            }),
            pass(|| {
                worker.begin();
                worker.end(b"");
            }),
            pass(|| {
                worker.begin();
                worker.end(b"solve");
            }),
            pass(|| {
                worker.begin();
                worker.begin();
                worker.end(b"");
                worker.end(b"");
            }),
        ];
        for (best, pass) in best.iter_mut().zip(passes) {
            *best = best.min(pass);
        }
    }
    let [clock, unnamed, named, nested] = best;
    println!("two readings of the clock    {clock:5.1} ns ({:?})", ticks::source());
    println!("a task without a name        {unnamed:5.1} ns, {:.1} over the clock", unnamed - clock);
    println!("a task with a name           {named:5.1} ns, {:.1} over the clock", named - clock);
    println!("two tasks, one in the other  {nested:5.1} ns, {:.1} over the clock", nested - 2.0 * clock);
    let digest = observer.digest();
    println!("memory with one worker       {} bytes after {} tasks", observer.bytes(), digest.tasks);
}
