//! Partials merge to the same bytes in any order and by any tree, stay small, and tell what the
//! digest of their source tells.

use proptest::prelude::*;
use taskscale_digest::{Accumulator, Config, partial};
use taskscale_model::{
    digest::{Digest, PatternName},
    partial::{Labels, Partial, SOURCE_BYTES, read, write},
    span::{Account, Dropped, Span, SpanSink},
};
use taskscale_testkit::generated::holds_generated;

/// Worker, gap before, duration, name.
type Task = (u32, u64, u64, u16);

fn labels(host: &str) -> Labels {
    Labels { host: Some(host.to_owned()), ..Labels::default() }
}

fn account() -> Account {
    let dropped = vec![Dropped { reason: "no end".into(), events: 3 }];
    Account { format: "chrome".into(), seen: 12, dropped, notes: vec!["a note".into()], ..Account::default() }
}

/// A timeline whose clock begins anywhere.
fn sums(tasks: &[Task], origin: i64) -> Accumulator {
    let mut sums = Accumulator::new(Config::default());
    let mut ends = vec![origin; 64];
    for (worker, gap, duration, name) in tasks {
        let start_ns = ends[*worker as usize] + *gap as i64;
        let end_ns = start_ns + *duration as i64;
        ends[*worker as usize] = end_ns;
        let name = format!("task {name}");
        let ready_ns = (*name == *"task 1").then_some(start_ns - 5);
        let span =
            Span { worker: *worker, start_ns, end_ns, name: name.as_bytes(), ready_ns, ..Span::default() };
        sums.span(&span);
    }
    sums
}

fn of(tasks: &[Task], origin: i64, host: &str) -> Partial {
    sums(tasks, origin).partial(&account(), &labels(host), |worker| (worker == 0).then_some("main"))
}

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let time = || (0u32..24, 0u64..64).prop_map(|(scale, time)| (time << scale) / 8);
    proptest::collection::vec((0u32..6, time(), time(), 0u16..300), 1..40)
}

/// Sources of any kind: some of the same host, some equal, more than are kept of anything.
fn sources() -> impl Strategy<Value = Vec<Partial>> {
    let source = (tasks(), any::<i32>(), 0u32..60);
    proptest::collection::vec(source, 1..70).prop_map(|sources| {
        let one = |(tasks, origin, host): &(Vec<Task>, i32, u32)| {
            of(tasks, i64::from(*origin), &format!("host{host}"))
        };
        sources.iter().map(one).collect()
    })
}

/// Merges any two until one is left, each by way of its file.
fn by_a_tree(mut parts: Vec<Partial>, random: &mut fastrand::Rng) -> Vec<u8> {
    while parts.len() > 1 {
        let other = parts.swap_remove(random.usize(..parts.len()));
        let at = random.usize(..parts.len());
        partial::merge(&mut parts[at], &other);
        parts[at] = read(&write(&parts[at])).expect("what was written");
    }
    write(&parts[0])
}

fn in_order(parts: &[Partial]) -> Partial {
    let mut whole = parts[0].clone();
    parts[1..].iter().for_each(|part| partial::merge(&mut whole, part));
    whole
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_tree_in_any_order_gives_the_same_bytes(parts in sources(), seed in any::<u64>()) {
        let mut random = fastrand::Rng::with_seed(seed);
        let whole = write(&in_order(&parts));
        for _ in 0..2 {
            prop_assert_eq!(&by_a_tree(parts.clone(), &mut random), &whole);
        }
    }

    #[test]
    fn sums_of_the_whole_are_those_of_all(parts in sources()) {
        let whole = in_order(&parts);
        prop_assert_eq!(whole.sources, parts.len() as u64);
        prop_assert_eq!(whole.tasks, parts.iter().map(|part| part.tasks).sum::<u64>());
        prop_assert_eq!(whole.durations.count, whole.tasks);
        let capacity: u128 = parts.iter().map(|part| part.time.capacity_ns).sum();
        prop_assert_eq!(whole.time.capacity_ns, capacity);
        let digest = partial::digest(&whole);
        let all: f64 = digest.losses.terms().iter().map(|(_, share)| share).sum();
        prop_assert!((all - 1.0).abs() < 1e-9, "{all}");
        prop_assert!(digest.patterns.len() >= 2);
        // A name that is kept has all that any source has of it.
        for name in &whole.names.kept {
            let of_source = |part: &Partial| {
                part.names.kept.iter().filter(|known| known.name == name.name).map(|known| known.tasks).sum::<u64>()
            };
            prop_assert_eq!(name.tasks, parts.iter().map(of_source).sum::<u64>());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn one_source_tells_what_its_digest_tells(tasks in tasks(), origin in any::<i32>()) {
        agree(&sums(&tasks, i64::from(origin)));
    }
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-6 * a.abs().max(1.0), "{what}: {a} and {b}");
}

/// Holds the digest of a partial to that of its accumulator.
fn agree(sums: &Accumulator) {
    let direct: Digest = sums.finish(&account());
    let file = write(&sums.partial(&account(), &labels("h"), |_| None));
    let whole = partial::digest(&read(&file).expect("a partial"));
    assert_eq!(
        (whole.tasks, whole.workers, whole.window_ns, whole.clock_resolution_ns),
        (direct.tasks, direct.workers, direct.window_ns, direct.clock_resolution_ns)
    );
    // Shares are kept as whole nanoseconds of worker time.
    let step = 2.0 / (direct.workers * direct.window_ns).max(1) as f64;
    let same = |a: f64, b: f64, what: &str| {
        assert!((a - b).abs() <= 1e-9 + step, "{what}: {a} and {b}");
    };
    let faster = |a: f64, b: f64, what: &str| same(1.0 / a, 1.0 / b, what);
    for ((name, a), (_, b)) in whole.losses.terms().into_iter().zip(direct.losses.terms()) {
        same(a, b, name);
    }
    assert_eq!(whole.duration, direct.duration);
    assert_eq!(whole.gap, direct.gap);
    assert_eq!(whole.histograms, direct.histograms);
    match (whole.scheduling_cost_ns.value(), direct.scheduling_cost_ns.value()) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-3, "cost: {a} and {b}"),
        _ => assert_eq!(whole.scheduling_cost_ns, direct.scheduling_cost_ns),
    }
    match (whole.queue.value(), direct.queue.value()) {
        (Some(a), Some(b)) => assert_eq!(a.delay, b.delay),
        _ => assert_eq!(whole.queue, direct.queue),
    }
    near(whole.parallelism.mean, direct.parallelism.mean, "parallelism");
    near(whole.parallelism.peak, direct.parallelism.peak, "peak");
    let (a, b) = (&whole.workers_detail, &direct.workers_detail);
    assert_eq!((a.active, a.folded, &a.by_busy), (b.active, b.folded, &b.by_busy));
    // The share of each worker is kept in billionths.
    let mean = (direct.parallelism.mean / direct.workers as f64).max(1e-12);
    let fine = 1e-6 + 4e-9 / mean;
    assert!((a.busy_max_over_mean / b.busy_max_over_mean - 1.0).abs() < fine, "{a:?} {b:?}");
    assert!((a.busy_variation - b.busy_variation).abs() < fine + (4e-9 / mean).sqrt(), "{a:?} {b:?}");
    let who = |digest: &Digest| -> Vec<(u32, u64, u64, u64)> {
        let workers = digest.workers_detail.workers.iter();
        workers.map(|worker| (worker.worker, worker.tasks, worker.first_ns, worker.last_ns)).collect()
    };
    assert_eq!(who(&whole), who(&direct));
    assert_eq!(whole.outliers, direct.outliers);
    let costs = |digest: &Digest| -> Vec<(String, u64, u64, u64)> {
        let names = digest.names.top.iter();
        names.map(|name| (name.name.clone(), name.tasks, name.total_ns, name.own_ns)).collect()
    };
    assert_eq!(costs(&whole), costs(&direct));
    assert_eq!(
        (whole.names.other_tasks, whole.names.other_ns),
        (direct.names.other_tasks, direct.names.other_ns)
    );
    assert_eq!(whole.nesting.nested, direct.nesting.nested);
    let causes = |digest: &Digest| -> Vec<PatternName> {
        digest.patterns.iter().map(|pattern| pattern.name).collect()
    };
    assert_eq!(causes(&whole), causes(&direct));
    for (a, b) in whole.patterns.iter().zip(&direct.patterns) {
        same(a.share, b.share, "share");
        faster(a.bound, b.bound, "bound");
        faster(a.predicted.from, b.predicted.from, "from");
        faster(a.predicted.to, b.predicted.to, "to");
        assert_eq!((&a.evidence, &a.remedy, &a.change), (&b.evidence, &b.remedy, &b.change));
    }
    assert_eq!(whole.alternative, direct.alternative);
    assert_eq!(whole.confidence.grade, direct.confidence.grade);
}

/// A timeline with one plain cause of loss.
fn with_cause(cause: PatternName) -> Vec<Task> {
    let ms = 1_000_000;
    match cause {
        PatternName::SchedulingOverhead => {
            (0..80_000).map(|task| ((task % 4) as u32, 900, 1_000 + task % 7, 1)).collect()
        }
        PatternName::LoadImbalance => (0..400)
            .map(|task| (task % 4) as u32)
            .filter(|worker| *worker == 0)
            .map(|_| (0, 200, 3 * ms, 1))
            .chain((0..300).map(|task| (1 + (task % 3) as u32, 200, ms + task, 1)))
            .collect(),
        PatternName::StragglerTasks => (0..400)
            .map(|task| ((task % 4) as u32, 500, ms + task, 1))
            .chain([(0, 500, 300 * ms, 2)])
            .collect(),
        _ => (0..800).map(|task| ((task % 4) as u32, 500, ms + task, 1)).collect(),
    }
}

#[test]
fn plain_causes_are_found_from_partials() {
    use PatternName::*;
    for cause in [SchedulingOverhead, LoadImbalance, StragglerTasks, Healthy] {
        let sums = sums(&with_cause(cause), 0);
        agree(&sums);
        let one = sums.partial(&account(), &labels("a"), |_| None);
        let mut whole = one.clone();
        for host in ["b", "c"] {
            partial::merge(&mut whole, &sums.partial(&account(), &labels(host), |_| None));
        }
        let (one, all) = (partial::digest(&one), partial::digest(&whole));
        assert_eq!(all.patterns[0].name, one.patterns[0].name);
        near(all.patterns[0].share, one.patterns[0].share, "three alike");
        assert_eq!(all.workers, 3 * one.workers);
    }
}

#[test]
fn the_cause_that_takes_most_worker_time_is_the_diagnosis_of_the_whole() {
    let overhead = of(&with_cause(PatternName::SchedulingOverhead), 0, "small");
    let imbalance = of(&with_cause(PatternName::LoadImbalance), 0, "large");
    let mut whole = overhead.clone();
    partial::merge(&mut whole, &imbalance);
    let digest = partial::digest(&whole);
    let large = partial::digest(&imbalance);
    assert_eq!(digest.patterns[0].name, large.patterns[0].name);
    assert!(digest.patterns[0].evidence.contains("large"), "{}", digest.patterns[0].evidence);
}

#[test]
fn a_source_that_is_merged_twice_is_told() {
    let one = of(&with_cause(PatternName::Healthy), 0, "a");
    let mut whole = one.clone();
    partial::merge(&mut whole, &of(&with_cause(PatternName::Healthy), 0, "b"));
    let told =
        |partial: &Partial| partial::digest(partial).notes.iter().any(|note| note.contains("more than once"));
    assert!(!told(&whole));
    partial::merge(&mut whole, &one);
    assert!(told(&whole));
}

/// A source of so many workers, with names made to be large, durations of all lengths, and more of
/// everything than fits.
fn large(workers: u32) -> Accumulator {
    let mut sums = Accumulator::new(Config::default());
    let mut random = fastrand::Rng::with_seed(7);
    for worker in 0..workers {
        let mut at = random.i64(0..1_000_000);
        for task in 0..(40_000 / workers).max(4) {
            let start_ns = at + (1i64 << random.u32(0..36));
            let end_ns = start_ns + (1i64 << random.u32(0..40)) + i64::from(task);
            at = end_ns;
            let fill = ["\u{1}", "\"", "\\", "\u{202e}", "\u{fffd}"][task as usize % 5].repeat(40);
            let name = format!("{:05}{fill}", random.u32(0..900));
            let ready_ns = Some(start_ns - (1i64 << random.u32(0..36)));
            let span = Span { worker, start_ns, end_ns, name: name.as_bytes(), ready_ns, ..Span::default() };
            sums.span(&span);
        }
    }
    sums
}

#[test]
fn a_source_takes_at_most_16_kib_however_many_workers_it_has() {
    let text = "\u{1}".repeat(4_000);
    let notes = (0..100).map(|note| format!("{note}{text}")).collect();
    let dropped = (0..100).map(|at| Dropped { reason: format!("{at}{text}"), events: u64::MAX }).collect();
    let account = Account { format: text.clone(), notes, dropped, ..account() };
    for workers in [1, 64, 10_000] {
        let host = Labels { host: Some(text.clone()), stage: Some(text.clone()), rank: Some(text.clone()) };
        let partial = large(workers).partial(&account, &host, |_| Some(&text));
        let bytes = write(&partial);
        assert!(bytes.len() <= SOURCE_BYTES, "{workers} workers: {} bytes", bytes.len());
        assert_eq!(partial.time.workers, u64::from(workers));
        assert_eq!(read(&bytes).as_ref(), Ok(&partial));
        assert_eq!(partial::digest(&partial).workers_detail.active, u64::from(workers));
    }
}

#[test]
fn a_merge_of_many_large_sources_stays_small() {
    let base = large(64);
    let mut whole: Option<Partial> = None;
    for host in 0..200 {
        let one = base.partial(&account(), &labels(&format!("host{host}")), |_| None);
        match &mut whole {
            None => whole = Some(one),
            Some(whole) => partial::merge(whole, &one),
        }
    }
    let bytes = write(&whole.expect("sources"));
    assert!(bytes.len() <= 2 * SOURCE_BYTES, "{} bytes", bytes.len());
}

/// The sample that tests of the reader and the fuzzer start from.
#[test]
fn the_sample_is_what_is_written() {
    let tasks: Vec<Task> = (0..40).map(|task| (task % 3, 90_000, 1_000_000, (task % 2) as u16)).collect();
    let text = String::from_utf8(write(&of(&tasks, 5, "a"))).expect("text");
    holds_generated("crates/model/src/partial/small.partial", &text);
}

#[test]
fn nothing_is_a_partial_too() {
    let partial =
        Accumulator::new(Config::default()).partial(&Account::default(), &Labels::default(), |_| None);
    let digest = partial::digest(&read(&write(&partial)).expect("a partial"));
    assert_eq!((digest.tasks, digest.patterns[0].name), (0, PatternName::Inconclusive));
}
