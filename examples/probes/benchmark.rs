//! A function of criterion, weighed as it is. Its sizes are its own: taskscale run --probe
//! benchmark.rs --size 100 --size 1000 --size 10000 --size 100000

use serde_json::json;
use taskscale_probe_rust::parts::in_parts;
use taskscale_probe_rust::sdk::criterion::{self, BatchSize, BenchmarkId, Criterion, Throughput};
use taskscale_probe_rust::sdk::{Probe, Run, TOOLCHAIN, Variant, Workload};

fn bench_sort(c: &mut Criterion) {
    let mut group = c.benchmark_group("sort");
    for n in [100, 1_000, 10_000, 100_000u64] {
        let numbers: Vec<u64> = (0..n).map(|i| 31 * i % n).collect();
        group.throughput(Throughput::Elements(n));
        group.bench_with_input(BenchmarkId::new("stable", n), &numbers, |b, numbers| {
            b.iter_batched(|| numbers.clone(), |mut numbers| numbers.sort(), BatchSize::LargeInput);
        });
    }
    group.finish();
}

fn main() -> std::io::Result<()> {
    let perform = |run: &Run| criterion::time(run, &format!("sort/stable/{}", run.size), bench_sort);
    let (name, about) = ("bench_sort".to_owned(), json!({}));
    let sort = Variant { name, creates_task: false, about, perform: Box::new(perform) };
    let sort = Workload { name: "sort", params: vec![], variants: vec![sort] };
    let version = TOOLCHAIN.to_owned();
    in_parts(Probe { name: "sorting-rust", version, workers: None, workloads: vec![sort] }).serve()
}
