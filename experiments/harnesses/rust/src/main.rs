//! The loops of our Rust probe, written by hand for criterion, which here measures the CPU time of
//! the process and not wall time.
//!
//! ```sh
//! fanout --bench --exact multi_thread/spawn    # and other flags of criterion
//! ```

use std::{hint::black_box, io};

use criterion::{
    Criterion, Throughput,
    measurement::{Measurement, ValueFormatter},
};
use rustix::time::{ClockId, clock_gettime};
use tokio::{runtime, task::JoinSet};

const SIZE: usize = 2_048;
const ANSWER: u64 = 31 * (SIZE as u64) * (SIZE as u64 - 1) / 2;

fn main() -> io::Result<()> {
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    let flavours = [
        ("current_thread", runtime::Builder::new_current_thread().enable_all().build()?),
        ("multi_thread", runtime::Builder::new_multi_thread().enable_all().build()?),
    ];
    for (flavour, runtime) in &flavours {
        criterion.bench_function(&format!("{flavour}/spawn"), |bencher| {
            bencher.to_async(runtime).iter(async || check(spawn().await));
        });
        criterion.bench_function(&format!("{flavour}/JoinSet"), |bencher| {
            bencher.to_async(runtime).iter(async || check(join_set().await));
        });
    }
    criterion.bench_function("scope", |bencher| bencher.iter(|| check(scope())));
    criterion.final_summary();
    Ok(())
}

fn check(answer: u64) {
    assert_eq!(black_box(answer), ANSWER, "the results add up to something else");
}

/// The product of a task. It is never inlined, because the task would then be empty.
#[inline(never)]
fn product(i: usize) -> u64 {
    31u64.wrapping_mul(i as u64)
}

async fn spawn() -> u64 {
    let mut handles = Vec::with_capacity(SIZE);
    for i in 0..SIZE {
        handles.push(tokio::spawn(async move { product(i) }));
    }
    let mut results = Vec::with_capacity(SIZE);
    for handle in handles {
        results.push(handle.await.expect("nobody aborts it"));
    }
    results.iter().sum()
}

async fn join_set() -> u64 {
    let mut set = JoinSet::new();
    for i in 0..SIZE {
        set.spawn(async move { product(i) });
    }
    let mut sum = 0;
    while let Some(result) = set.join_next().await {
        sum += result.expect("nobody aborts it");
    }
    sum
}

fn scope() -> u64 {
    let mut results = vec![0; SIZE];
    rayon::scope(|scope| {
        for (i, slot) in results.iter_mut().enumerate() {
            scope.spawn(move |_| *slot = product(i));
        }
    });
    results.iter().sum()
}

/// Measures the CPU time of the process, user and system, of all threads.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        cpu_ns()
    }

    fn end(&self, start: u64) -> u64 {
        cpu_ns() - start
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, ns: &u64) -> f64 {
        *ns as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Makes criterion show an iteration in nanoseconds, unscaled. The script reads criterion's files.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        "ns of CPU"
    }

    fn scale_throughputs(
        &self,
        _typical: f64,
        _throughput: &Throughput,
        _values: &mut [f64],
    ) -> &'static str {
        "ns of CPU"
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}
