//! Claims 9; 10; 12; 13; 14 to 16; 17 to 20; 28; 29; 35; 36 of Taskflow's guide, by rayon.
//!   cargo run --release -- --claim 12

mod guide;
mod loops;

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    hint::black_box,
    process::ExitCode,
    sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst},
    },
    time::Duration,
};

use guide::{
    Options, Program, Sample, cores, crossover, no_more, ratio, report, slope, spin, spins,
    step_ns, sum,
};
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};

const LIBRARY: (&str, &str) = ("rayon", "1.12.0");

/// A pool of so many threads, kept until the process ends.
fn pool(w: u64) -> Arc<ThreadPool> {
    static ALL: LazyLock<Mutex<BTreeMap<u64, Arc<ThreadPool>>>> = LazyLock::new(Mutex::default);
    let mut all = ALL.lock().expect("no thread panics");
    all.entry(w)
        .or_insert_with(|| {
            Arc::new(ThreadPoolBuilder::new().num_threads(w as usize).build().expect("threads"))
        })
        .clone()
}
fn worker_counts() -> Vec<u64> {
    if cores() > 1 { vec![1, cores()] } else { vec![1] }
}
fn slots(n: u64) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}
fn total(slots: &[AtomicU64]) -> u64 {
    sum(slots.iter().map(|slot| slot.load(Relaxed)))
}
/// n tasks of a scope.
fn tasks(pool: &ThreadPool, n: u64, body: impl Fn(u64) + Sync) {
    let body = &body;
    pool.scope(|scope| (0..n).for_each(|i| scope.spawn(move |_| body(i))));
}

/// A pool whose threads are told to have ended: rayon does not wait for them.
fn whole_life<T>(w: u64, within: impl FnOnce(&ThreadPool) -> T) -> T {
    let ended = Arc::new((Mutex::new(0), Condvar::new()));
    let end = ended.clone();
    let pool = ThreadPoolBuilder::new().num_threads(w as usize).exit_handler(move |_| {
        *end.0.lock().expect("no thread panics") += 1;
        end.1.notify_one();
    });
    let pool = pool.build().expect("threads");
    let given = within(&pool);
    drop(pool);
    let all = ended.0.lock().expect("no thread panics");
    drop(ended.1.wait_while(all, |all| *all < w).expect("no thread panics"));
    given
}
fn pools(p: &mut Program) {
    let counts = [1, 2, 4, 8, 16, 64];
    let arms = counts.map(|w| format!("executor/{w}"));
    let above = (Some(100e3), None);
    p.claim(9, "An executor costs on the order of 100 us or more per thread", "cpu", "tasks are threads; start: a pool whose threads have met; stop: all of them have ended, which rayon itself does not wait for", vec![
        slope("each further thread, of the sample", "cpu_ns/sample", &arms, 100e3),
        slope("each further thread, wall time", "wall_ns/sample", &arms, 100e3),
        guide::bound("value", "per thread, 64 threads", "cpu_ns", json!({"one": "executor/64"}), above),
        guide::bound("value", "per thread, 64 threads, wall time", "wall_ns", json!({"one": "executor/64"}), above),
    ]);
    for (w, name) in counts.into_iter().zip(arms) {
        p.arm(name, w, w, Some(w as f64), move |s| {
            s.start();
            let barrier = Barrier::new(w as usize);
            let came = whole_life(w, |pool| pool.broadcast(|_| barrier.wait()).len());
            s.stop();
            came as u64
        });
    }
}

fn reuse(p: &mut Program) {
    const TASKS: u64 = 16;
    let (mut fresh, mut reused) = (Vec::new(), Vec::new());
    for us in [1, 10, 100, 1_000, 10_000] {
        if p.options.quick && us > 1_000 {
            continue;
        }
        let steps = us * 1_000 / TASKS;
        let (answer, x) = (spins(TASKS, steps), Some((steps * TASKS) as f64 * step_ns()));
        let run = move |pool: &ThreadPool| {
            let slots = slots(TASKS);
            tasks(pool, TASKS, |i| slots[i as usize].store(spin(i, steps), Relaxed));
            total(&slots)
        };
        fresh.push(format!("new/{}", steps * TASKS));
        reused.push(format!("reused/{}", steps * TASKS));
        p.arm(&fresh[fresh.len() - 1], 1, answer, x, move |s| {
            s.start();
            let sum = whole_life(cores(), run);
            s.stop();
            sum
        });
        p.arm(&reused[reused.len() - 1], 1, answer, x, move |s| {
            let pool = pool(cores());
            s.start();
            let sum = run(&pool);
            s.stop();
            sum
        });
    }
    let half = (None, Some(0.5));
    p.claim(
        10,
        "Reuse the executor: its construction can dominate short computations",
        "wall",
        "each sample is 16 tasks of a scope; a new pool is waited for until its threads have ended",
        vec![
            ratio(
                "short runs, about 1 us of work: reused against new",
                "wall_ns",
                &reused[0],
                &fresh[0],
                half,
            ),
            ratio("the same, CPU time", "cpu_ns", &reused[0], &fresh[0], half),
            crossover(
                "work in ns from which on reuse saves less than 5 %",
                "wall_ns",
                (&reused, &fresh),
                (1.0, 0.95),
                (None, None),
            ),
        ],
    );
}

fn smallest(p: &mut Program) {
    let (longest, budget) = (p.size(65_536, 2_048), p.size(4_000_000, 200_000));
    let steps: Vec<u64> = (5..).map(|power| 1 << power).take_while(|s| *s <= longest).collect();
    let mut bounds = Vec::new();
    for w in worker_counts() {
        let serial: Vec<String> = steps.iter().map(|s| format!("loop/{s}")).collect();
        let tasks: Vec<String> = steps.iter().map(|s| format!("tasks/{w}/{s}")).collect();
        for percent in [50, 90, 95] {
            let claimed = if percent == 90 { (Some(10e3), Some(100e3)) } else { (None, None) };
            let (what, level) = (format!("{percent} %, {w} workers"), f64::from(percent) / 100.0);
            bounds.push(crossover(&what, "wall_ns", (&serial, &tasks), (1.0 / w as f64, level), claimed));
            bounds.push(crossover(
                &format!("{what}, CPU time"),
                "cpu_ns",
                (&serial, &tasks),
                (1.0, level),
                claimed,
            ));
        }
    }
    p.claim(12, "Each task should represent at least 10 to 100 us of work", "cpu", "the axis is the length of a task in ns; efficiency is the time of a plain loop over that of the tasks (claim 12 of Taskflow). Tasks are created within the timed part: spawn in a scope", bounds);
    for s in steps {
        let n = (budget / s).max(2 * cores());
        let (answer, x) = (spins(n, s), Some(s as f64 * step_ns()));
        p.arm(format!("loop/{s}"), n, answer, x, move |sample| {
            let slots = slots(n);
            sample.start();
            (0..n).for_each(|i| slots[i as usize].store(spin(i, s), Relaxed));
            sample.stop();
            total(&slots)
        });
        for w in worker_counts() {
            p.arm(format!("tasks/{w}/{s}"), n, answer, x, move |sample| timed(sample, w, n, s, 0));
        }
    }
}
fn timed(sample: &mut Sample, w: u64, n: u64, steps: u64, wait_us: u64) -> u64 {
    let (slots, pool) = (slots(n), pool(w));
    sample.start();
    tasks(&pool, n, |i| {
        slots[i as usize].store(spin(i, steps), Relaxed);
        if wait_us > 0 {
            std::thread::sleep(Duration::from_micros(wait_us));
        }
    });
    sample.stop();
    total(&slots)
}

/// Tasks with those that come after them: the last one before a task spawns it.
struct Graph {
    after: Vec<Vec<u64>>,
    waits: Vec<AtomicU64>,
}
impl Graph {
    fn of(n: u64, before: impl Fn(u64) -> Vec<u64>) -> Self {
        let mut graph = Graph { after: vec![Vec::new(); n as usize], waits: slots(n) };
        for i in 0..n {
            for j in before(i) {
                graph.after[j as usize].push(i);
                *graph.waits[i as usize].get_mut() += 1;
            }
        }
        graph
    }
    fn run(&self, pool: &ThreadPool, body: &(impl Fn(u64) + Sync)) {
        fn go<'s>(scope: &Scope<'s>, graph: &'s Graph, body: &'s (impl Fn(u64) + Sync), i: u64) {
            body(i);
            for j in &graph.after[i as usize] {
                if graph.waits[*j as usize].fetch_sub(1, SeqCst) == 1 {
                    scope.spawn(move |scope| go(scope, graph, body, *j));
                }
            }
        }
        let first: Vec<u64> =
            (0..self.after.len() as u64).filter(|i| self.waits[*i as usize].load(Relaxed) == 0).collect();
        pool.scope(|scope| {
            first.into_iter().for_each(|i| scope.spawn(move |scope| go(scope, self, body, i)))
        });
    }
}
/// The tasks before task i, by shape, as in claim 13 of Taskflow.
fn before(shape: &str, n: u64, i: u64) -> Vec<u64> {
    let width = (n as f64).sqrt() as u64;
    match shape {
        "chain" if i > 0 => vec![i - 1],
        "tree" if i > 0 => vec![(i - 1) / 2],
        "wavefront" => {
            let left = (!i.is_multiple_of(width)).then(|| i - 1);
            left.into_iter().chain(i.checked_sub(width)).collect()
        }
        _ => Vec::new(),
    }
}
fn empty(p: &mut Program) {
    let n = p.size(10_000, 400);
    let mut bounds = Vec::new();
    for shape in ["independent", "chain", "tree", "wavefront"] {
        let arms: Vec<String> = worker_counts().iter().map(|w| format!("run/{shape}/{w}")).collect();
        bounds.push(report(&format!("{shape}, an empty task"), "cpu_ns", &arms));
        bounds.push(report(&format!("{shape}, an empty task, wall time"), "wall_ns", &arms));
        for (w, name) in worker_counts().into_iter().zip(arms) {
            p.arm(name, n, n, None, move |s| {
                let (pool, done, right) = (pool(w), slots(n), AtomicU64::new(0));
                // The check, outside the timed part.
                Graph::of(n, |i| before(shape, n, i)).run(&pool, &|i| {
                    let late = before(shape, n, i).iter().all(|j| done[*j as usize].load(SeqCst) == 1);
                    right.fetch_add(u64::from(late), SeqCst);
                    done[i as usize].store(1, SeqCst);
                });
                let graph = Graph::of(n, |i| before(shape, n, i));
                s.settle();
                s.start();
                graph.run(&pool, &|_| {});
                s.stop();
                right.into_inner()
            });
        }
    }
    p.claim(13, "Empty tasks show the pure overhead of construction and scheduling, at the target worker count", "cpu", "always reported: the claim names no figure. rayon has no graphs: the last task before another spawns it, by a counter; the counters are made before", bounds);
}

fn barriers(p: &mut Program) {
    let n = p.size(8_192, 1_024);
    let answer = spins(n, 256);
    let (mut bounds, mut batches) = (Vec::new(), Vec::new());
    for layers in [2, 16, 128, 1_024] {
        let [whole, many] = ["whole", "batches"].map(|kind| format!("{kind}/{layers}"));
        bounds.push(ratio(
            &format!("{layers} batches to one graph"),
            "wall_ns",
            &many,
            &whole,
            (Some(1.0), None),
        ));
        bounds.push(ratio(
            &format!("{layers} batches to one graph, CPU time"),
            "cpu_ns",
            &many,
            &whole,
            (None, None),
        ));
        let width = n / layers;
        p.arm(whole, n, answer, Some(layers as f64), move |s| {
            let (slots, pool) = (slots(n), pool(cores()));
            let graph = Graph::of(n, |i| i.checked_sub(width).into_iter().collect());
            s.settle();
            s.start();
            graph.run(&pool, &|i| slots[i as usize].store(spin(i, 256), Relaxed));
            s.stop();
            total(&slots)
        });
        p.arm(&many, n, answer, Some(layers as f64), move |s| {
            let (slots, pool) = (slots(n), pool(cores()));
            s.settle();
            s.start();
            for layer in 0..layers {
                tasks(&pool, width, |x| {
                    slots[(layer * width + x) as usize].store(spin(layer * width + x, 256), Relaxed)
                });
            }
            s.stop();
            total(&slots)
        });
        batches.push(many);
    }
    bounds.push(slope("what a barrier takes, of the sample", "wall_ns/sample", &batches, 0.0));
    p.claim(28, "One barrier beats many", "wall", "wall time; a task is 256 steps, about 0.4 us. whole: the last task before another spawns it; batches: a scope for each layer, which the caller waits for outside the pool", bounds);
}

thread_local! { static LOCAL: Cell<u64> = const { Cell::new(u64::MAX) }; }
fn called(s: &mut Sample, calls: u64, get: impl Fn() -> u64 + Sync) -> u64 {
    pool(1).install(|| {
        LOCAL.set(0);
        s.start();
        let sum = (0..calls).fold(0, |sum, _| sum + black_box(get()) + 1);
        s.stop();
        sum
    })
}
fn worker(p: &mut Program) {
    let (calls, empty) = (p.size(1_000_000, 10_000), p.size(10_000, 500));
    let one = "this_worker_id";
    p.claim(
        29,
        "this_worker_id() is a hash lookup, not a thread_local read, and fast enough for each task",
        "cpu",
        "tasks are calls of rayon::current_thread_index()",
        vec![
            ratio(
                "it costs what a find in a HashMap by thread id costs",
                "cpu_ns",
                one,
                "hash_lookup",
                (Some(0.5), Some(2.0)),
            ),
            ratio("it costs more than a thread-local read", "cpu_ns", one, "thread_local", (Some(1.5), None)),
            ratio("fast enough: less than an empty task", "cpu_ns", one, "empty_task", (None, Some(1.0))),
        ],
    );
    p.arm(one, calls, calls, None, move |s| {
        called(s, calls, || rayon::current_thread_index().map_or(9, |index| index as u64))
    });
    p.arm("hash_lookup", calls, calls, None, move |s| {
        let ids = Mutex::new(HashMap::new());
        pool(1).install(|| ids.lock().expect("no thread panics").insert(std::thread::current().id(), 0));
        let ids = ids.into_inner().expect("no thread panics");
        called(s, calls, || ids.get(&std::thread::current().id()).copied().unwrap_or(9))
    });
    p.arm("thread_local", calls, calls, None, move |s| called(s, calls, || LOCAL.get()));
    p.arm("empty_task", empty, empty, None, move |s| {
        let (ran, pool) = (AtomicU64::new(0), pool(1));
        s.start();
        tasks(&pool, empty, |_| {
            ran.fetch_add(1, Relaxed);
        });
        s.stop();
        ran.into_inner()
    });
}

fn noise(p: &mut Program) {
    let n = p.size(500, 20);
    let answer = spins(n, 10_000);
    let spread = |name: &str, metric: &str, range| {
        guide::bound("spread", name, metric, json!({"one": "one", "other": "other"}), range)
    };
    p.claim(
        35,
        "The wall time of a single run is noisy at the few-percent level",
        "wall",
        "wall time of one run; a few percent is read as 1 to 10",
        vec![
            spread("p90 of |one / other - 1|, wall time", "wall_ns", (Some(0.01), Some(0.1))),
            spread("the same, CPU time", "cpu_ns", (None, None)),
        ],
    );
    for name in ["one", "other"] {
        p.arm(name, n, answer, None, move |s| timed(s, cores(), n, 10_000, 0));
    }
}

fn workers(p: &mut Program) {
    let all = cores();
    let (n, steps) = (p.size(64, 16) * all, 50_000);
    let answer = spins(n, steps);
    let mut counts = vec![1];
    for w in [all / 2, all, all + all / 2, all * 2] {
        if w > counts[counts.len() - 1] {
            counts.push(w);
        }
    }
    let [busy, mixed] =
        ["busy", "mixed"].map(|kind| counts.iter().map(|w| format!("{kind}/{w}")).collect::<Vec<_>>());
    let best = format!("busy/{all}");
    let mut bounds: Vec<Value> =
        busy.iter().filter(|name| **name != best).map(|name| no_more(&best, name)).collect();
    bounds.push(ratio(
        &format!("tasks that wait: {} workers take less than {all}", 2 * all),
        "wall_ns",
        &format!("mixed/{}", 2 * all),
        &format!("mixed/{all}"),
        (None, Some(1.0)),
    ));
    bounds.push(report("work alone, by workers", "wall_ns", &busy));
    bounds.push(report("work and waiting, by workers", "wall_ns", &mixed));
    p.claim(36, "As many workers as hardware threads is usually best for work on the CPU; for mixed work more may help", "wall", "wall time; a waiting task sleeps as long as it works, about 50 us", bounds);
    for ((w, busy), mixed) in counts.into_iter().zip(busy).zip(mixed) {
        p.arm(busy, n, answer, Some(w as f64), move |s| timed(s, w, n, steps, 0));
        p.arm(mixed, n, answer, Some(w as f64), move |s| timed(s, w, n, steps, 50));
    }
}

type Group = (&'static [u32], fn(&mut Program));
const GROUPS: [Group; 10] = [
    (&[9], pools),
    (&[10], reuse),
    (&[12], smallest),
    (&[13], empty),
    (&[14, 15, 16], loops::partitioners),
    (&[17, 18, 19, 20], loops::counter),
    (&[28], barriers),
    (&[29], worker),
    (&[35], noise),
    (&[36], workers),
];

fn main() -> ExitCode {
    let options = match Options::read() {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}; --help lists the options");
            return ExitCode::from(2);
        }
    };
    let asked: Vec<&Group> = GROUPS
        .iter()
        .filter(|(claims, _)| options.claim.is_none_or(|claim| claims.contains(&claim)))
        .collect();
    if asked.is_empty() {
        eprintln!("error: --claim wants a claim of this program; --help lists the options");
        return ExitCode::from(2);
    }
    for (_, make) in asked {
        let mut program = Program::new(&options, LIBRARY);
        make(&mut program);
        if let Err(why) = program.run() {
            eprintln!("error: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
