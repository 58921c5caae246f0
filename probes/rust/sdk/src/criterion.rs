//! Functions that were written for criterion, performed as they are: the line `use criterion::...`
//! names this module, and [`time`] stands where `criterion_main!` was. What criterion measures with
//! (sizes of samples, times, plots) is accepted without effect: the tool chooses.
//!
//! `iter_custom` is an error, since it tells no CPU time. `to_async` is not here: `b.iter` with
//! `runtime.block_on` inside takes its place.

use std::{fmt::Display, marker::PhantomData, time::Duration};

pub use std::hint::black_box;

use crate::{CPU, Run, Timing, WALL, now_ns};
pub use crate::{criterion_group, criterion_main};

/// Times of all that `bench` registers the one benchmark of this id: `group/function/parameter`, as
/// criterion prints it. The others are skipped. Its answer is the number of iterations; what is
/// right, it asserts itself.
///
/// # Errors
/// There is no such benchmark (the message lists those there are), or it never iterates.
pub fn time(run: &Run, id: &str, bench: impl FnOnce(&mut Criterion)) -> Result<Timing, String> {
    let begun = [WALL, CPU].map(now_ns);
    let asked = Some((run.clone(), id.to_owned()));
    let mut criterion = Criterion { asked, ids: Vec::new(), timing: None, measured: PhantomData };
    bench(&mut criterion);
    if !criterion.ids.iter().any(|one| one == id) {
        let known = criterion.ids.join(", ");
        return Err(format!(
            "no benchmark {id:?} here; there are: {known}. A size in an id is one of --size"
        ));
    }
    let timing = criterion.timing.ok_or_else(|| format!("the benchmark {id:?} calls no b.iter; let it"))?;
    Ok(timing.beside(begun))
}

/// Does nothing: [`time`] is given the functions themselves.
#[macro_export]
macro_rules! criterion_group {
    ($($all:tt)*) => {};
}

/// Does nothing: a probe has a `main` of its own.
#[macro_export]
macro_rules! criterion_main {
    ($($all:tt)*) => {};
}

/// What is measured, as in `BenchmarkGroup<'_, WallTime>`: here always both times.
pub mod measurement {
    pub trait Measurement {}

    pub struct WallTime;

    impl Measurement for WallTime {}
}

use measurement::{Measurement, WallTime};

/// Stands for criterion's manager of benchmarks.
pub struct Criterion<M = WallTime> {
    /// The request, and the id of the one to be timed. None: each is skipped.
    asked: Option<(Run, String)>,
    /// Those that there are.
    ids: Vec<String>,
    timing: Option<Timing>,
    measured: PhantomData<M>,
}

impl Default for Criterion {
    fn default() -> Self {
        Criterion { asked: None, ids: Vec::new(), timing: None, measured: PhantomData }
    }
}

/// Settings that have no effect.
macro_rules! settings {
    ($me:ty: $($name:ident($($value:ty)?)),* $(,)?) => {
        $(pub fn $name(self: $me $(, _: $value)?) -> $me { self })*
    };
}

impl<M: Measurement> Criterion<M> {
    settings!(Self: sample_size(usize), nresamples(usize), warm_up_time(Duration), measurement_time(Duration),
        noise_threshold(f64), confidence_level(f64), significance_level(f64), with_plots(), without_plots(),
        configure_from_args());

    pub fn bench_function(&mut self, id: &str, f: impl FnMut(&mut Bencher<'_, M>)) -> &mut Self {
        self.perform(id.to_owned(), f)
    }

    pub fn bench_with_input<I: ?Sized>(
        &mut self,
        id: BenchmarkId,
        input: &I,
        mut f: impl FnMut(&mut Bencher<'_, M>, &I),
    ) -> &mut Self {
        self.perform(id.0, |bencher| f(bencher, input))
    }

    pub fn benchmark_group(&mut self, name: impl Into<String>) -> BenchmarkGroup<'_, M> {
        BenchmarkGroup { criterion: self, name: name.into() }
    }

    pub fn final_summary(&self) {}

    fn perform(&mut self, id: String, mut f: impl FnMut(&mut Bencher<'_, M>)) -> &mut Self {
        if let Some((run, _)) = self.asked.as_ref().filter(|(_, asked)| *asked == id) {
            let mut bencher = Bencher { run, timing: None, measured: PhantomData };
            f(&mut bencher);
            self.timing = bencher.timing;
        }
        self.ids.push(id);
        self
    }
}

/// Stands for a group of benchmarks.
pub struct BenchmarkGroup<'a, M = WallTime> {
    criterion: &'a mut Criterion<M>,
    name: String,
}

impl<M: Measurement> BenchmarkGroup<'_, M> {
    settings!(&mut Self: sample_size(usize), nresamples(usize), warm_up_time(Duration),
        measurement_time(Duration), noise_threshold(f64), confidence_level(f64), significance_level(f64),
        throughput(Throughput), sampling_mode(SamplingMode), plot_config(PlotConfiguration));

    pub fn bench_function(
        &mut self,
        id: impl IntoBenchmarkId,
        f: impl FnMut(&mut Bencher<'_, M>),
    ) -> &mut Self {
        let id = format!("{}/{}", self.name, id.into_benchmark_id().0);
        self.criterion.perform(id, f);
        self
    }

    pub fn bench_with_input<I: ?Sized>(
        &mut self,
        id: impl IntoBenchmarkId,
        input: &I,
        mut f: impl FnMut(&mut Bencher<'_, M>, &I),
    ) -> &mut Self {
        self.bench_function(id, |bencher| f(bencher, input))
    }

    pub fn finish(self) {}
}

/// The part of an id that a benchmark has within its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BenchmarkId(String);

impl BenchmarkId {
    pub fn new(function: impl Into<String>, parameter: impl Display) -> Self {
        BenchmarkId(format!("{}/{parameter}", function.into()))
    }

    pub fn from_parameter(parameter: impl Display) -> Self {
        BenchmarkId(parameter.to_string())
    }
}

pub trait IntoBenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        BenchmarkId(self.into())
    }
}

/// Stands for criterion's timer: it times as many iterations as the request has, at one call.
pub struct Bencher<'a, M = WallTime> {
    run: &'a Run,
    timing: Option<Timing>,
    measured: PhantomData<M>,
}

impl<M> Bencher<'_, M> {
    /// Times `routine`, and the dropping of what it gives.
    pub fn iter<O>(&mut self, mut routine: impl FnMut() -> O) {
        self.timing = Some(self.run.time(|_| {
            black_box(routine());
            1
        }));
    }

    /// Times `routine` alone: neither the making of its inputs nor the dropping of its outputs. A
    /// batch is made, and then timed by one pair of clock readings.
    pub fn iter_batched<I, O>(
        &mut self,
        mut setup: impl FnMut() -> I,
        mut routine: impl FnMut(I) -> O,
        size: BatchSize,
    ) {
        let (mut whole, mut left) = (Timing::default(), self.run.iterations);
        while left > 0 {
            let batch = Run { iterations: size.of(self.run.iterations).min(left), ..self.run.clone() };
            let inputs: Vec<I> = (0..batch.iterations).map(|_| setup()).collect();
            let mut outputs = Vec::with_capacity(inputs.len());
            let mut inputs = black_box(inputs).into_iter();
            whole.add(batch.time(|_| {
                outputs.extend(inputs.next().map(&mut routine));
                1
            }));
            black_box(outputs);
            left -= batch.iterations;
        }
        self.timing = Some(whole);
    }

    /// The same with `routine` given `&mut` of its input, whose dropping is untimed too.
    pub fn iter_batched_ref<I, O>(
        &mut self,
        setup: impl FnMut() -> I,
        mut routine: impl FnMut(&mut I) -> O,
        size: BatchSize,
    ) {
        let keep = |mut input| {
            let output = routine(&mut input);
            (output, input)
        };
        self.iter_batched(setup, keep, size);
    }

    pub fn iter_with_setup<I, O>(&mut self, setup: impl FnMut() -> I, routine: impl FnMut(I) -> O) {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    pub fn iter_with_large_setup<I, O>(&mut self, setup: impl FnMut() -> I, routine: impl FnMut(I) -> O) {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    pub fn iter_with_large_drop<O>(&mut self, mut routine: impl FnMut() -> O) {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// # Panics
    /// Always: the routine times itself, and only the wall clock.
    pub fn iter_custom(&mut self, _: impl FnMut(u64) -> Duration) {
        panic!("iter_custom tells no CPU time; give the loop's body to b.iter or b.iter_batched");
    }
}

/// How many inputs of [`Bencher::iter_batched`] are made at a time: criterion's shares of all
/// iterations.
#[derive(Clone, Copy, Debug)]
pub enum BatchSize {
    SmallInput,
    LargeInput,
    PerIteration,
    NumBatches(u64),
    NumIterations(u64),
}

impl BatchSize {
    fn of(self, iterations: u64) -> u64 {
        let size = match self {
            BatchSize::SmallInput => iterations.div_ceil(10),
            BatchSize::LargeInput => iterations.div_ceil(1_000),
            BatchSize::PerIteration => 1,
            BatchSize::NumBatches(batches) => iterations.div_ceil(batches.max(1)),
            BatchSize::NumIterations(size) => size,
        };
        size.max(1)
    }
}

/// How much one iteration handles; without effect.
#[derive(Clone, Debug)]
pub enum Throughput {
    Bits(u64),
    Bytes(u64),
    BytesDecimal(u64),
    Elements(u64),
    ElementsAndBytes { elements: u64, bytes: u64 },
}

/// Without effect.
#[derive(Clone, Copy, Debug)]
pub enum SamplingMode {
    Auto,
    Linear,
    Flat,
}

/// Without effect.
#[derive(Clone, Copy, Debug)]
pub enum AxisScale {
    Linear,
    Logarithmic,
}

/// Without effect.
#[derive(Clone, Debug, Default)]
pub struct PlotConfiguration(());

impl PlotConfiguration {
    settings!(Self: summary_scale(AxisScale));
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, thread::sleep};

    use serde_json::json;

    use super::{measurement::WallTime, *};

    const PAUSE: Duration = Duration::from_millis(3);

    fn run(iterations: u64) -> Run {
        let request = json!({
            "id": 3, "workload": "sort", "variant": "v", "size": 4, "iterations": iterations, "seed": 1,
        });
        serde_json::from_value(request).unwrap()
    }

    /// As users write them: with a name alone, in a group, and with the types spelled out.
    fn bench(c: &mut Criterion, done: &Cell<u64>) {
        c.bench_function("alone", |b| b.iter(|| done.set(done.get() + 1)));
        c.bench_with_input(BenchmarkId::new("given", 7), &7, |b, by| b.iter(|| done.set(done.get() + by)));
        let mut group = c.benchmark_group("group");
        group.throughput(Throughput::Elements(1)).sample_size(10).sampling_mode(SamplingMode::Flat);
        group.plot_config(PlotConfiguration::default().summary_scale(AxisScale::Logarithmic));
        for by in [100, 1_000] {
            group.bench_with_input(BenchmarkId::new("add", by), &by, |b, by| {
                b.iter(|| done.set(done.get() + by));
            });
            group.bench_function(BenchmarkId::from_parameter(by), |b| {
                b.iter(|| done.set(done.get() + 2 * by))
            });
        }
        batched(&mut group, done);
        group.bench_function("idle", |_| ());
        group.bench_function("custom", |b| b.iter_custom(|_| Duration::ZERO));
        group.finish();
    }

    fn batched(group: &mut BenchmarkGroup<'_, WallTime>, done: &Cell<u64>) {
        for size in [BatchSize::SmallInput, BatchSize::PerIteration, BatchSize::NumIterations(4)] {
            let setup = || {
                sleep(PAUSE);
                vec![10_000]
            };
            group.bench_function(format!("{size:?}"), |b: &mut Bencher<'_, WallTime>| {
                b.iter_batched(setup, |made| done.set(done.get() + made[0]), size);
            });
        }
        group.bench_function("ref", |b| {
            b.iter_batched_ref(|| 1, |made| done.set(done.get() + *made), BatchSize::LargeInput);
        });
    }

    fn timed(id: &str) -> Result<(Timing, u64), String> {
        let done = Cell::new(0);
        Ok((time(&run(5), id, |c| bench(c, &done))?, done.get()))
    }

    #[test]
    fn the_one_that_is_named_is_timed_and_the_others_are_skipped() {
        for (id, sum) in [
            ("alone", 5),
            ("given/7", 35),
            ("group/add/100", 500),
            ("group/add/1000", 5_000),
            ("group/100", 1_000),
            ("group/ref", 5),
        ] {
            let (timing, done) = timed(id).unwrap();
            assert_eq!((timing.answer, done), (5, sum), "{id}");
            assert!(timing.wall_ns > 0 && timing.extra.contains_key("setup_wall_ns"), "{id}: {timing:?}");
        }
    }

    #[test]
    fn what_is_made_for_a_batch_is_untimed_and_told_beside() {
        for id in ["group/SmallInput", "group/PerIteration", "group/NumIterations(4)"] {
            let (timing, done) = timed(id).unwrap();
            assert_eq!((timing.answer, done), (5, 50_000), "{id}");
            assert!(timing.extra["setup_wall_ns"].as_u64() >= Some(15_000_000), "{id}: {timing:?}");
            assert!(timing.wall_ns < 15_000_000, "{id}: {timing:?}");
        }
    }

    #[test]
    fn an_id_that_is_not_there_is_answered_with_those_that_are() {
        let said = timed("group/add/10").unwrap_err();
        let known =
            r#"no benchmark "group/add/10" here; there are: alone, given/7, group/add/100, group/100, "#;
        assert!(said.starts_with(known), "{said}");
    }

    #[test]
    fn one_that_never_iterates_is_an_error() {
        assert_eq!(timed("group/idle").unwrap_err(), r#"the benchmark "group/idle" calls no b.iter; let it"#);
    }

    #[test]
    fn one_that_times_itself_is_an_error() {
        let panic = std::panic::catch_unwind(|| timed("group/custom")).expect_err("it panics");
        let said = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(said.starts_with("iter_custom tells no CPU time"), "{said}");
    }

    #[test]
    fn batches_are_criterions_shares_of_all_iterations() {
        let sizes = [
            (BatchSize::SmallInput, 200),
            (BatchSize::LargeInput, 2),
            (BatchSize::PerIteration, 1),
            (BatchSize::NumBatches(3), 667),
            (BatchSize::NumIterations(0), 1),
        ];
        for (size, most) in sizes {
            assert_eq!(size.of(2_000), most, "{size:?}");
        }
    }

    fn short() -> Criterion {
        Criterion::default().sample_size(10).warm_up_time(PAUSE).without_plots()
    }

    fn skipped(c: &mut Criterion) {
        c.bench_function("a", |_| panic!("nothing is asked"));
    }

    criterion_group! { name = benches; config = short(); targets = skipped }
    criterion_main!(benches);

    #[test]
    fn the_macros_and_the_settings_of_a_file_are_accepted() {
        let mut criterion = short();
        skipped(&mut criterion);
        criterion.final_summary();
        assert_eq!(criterion.ids, ["a"]);
    }
}
