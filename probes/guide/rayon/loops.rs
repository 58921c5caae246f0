//! Loops of five profiles by policy, and a shared counter.

use std::sync::{
    Mutex,
    atomic::{
        AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
};

use rayon::{ThreadPool, prelude::*};

use crate::{
    guide::{PROFILES, Program, Sample, cores, no_more, ratio, report, splitmix, sum},
    pool, slots, total, worker_counts,
};

const POLICIES: [&str; 5] = ["broadcast", "default", "max_len/1", "max_len/64", "min_len/64"];
fn each(pool: &ThreadPool, policy: &str, n: u64, body: impl Fn(u64) + Sync + Send) {
    pool.install(|| match policy {
        "broadcast" => drop(rayon::broadcast(|me| {
            let (part, all) = (me.index() as u64, me.num_threads() as u64);
            (part * n / all..(part + 1) * n / all).for_each(&body);
        })),
        "max_len/1" => (0..n as usize).into_par_iter().with_max_len(1).for_each(|i| body(i as u64)),
        "max_len/64" => (0..n as usize).into_par_iter().with_max_len(64).for_each(|i| body(i as u64)),
        "min_len/64" => (0..n as usize).into_par_iter().with_min_len(64).for_each(|i| body(i as u64)),
        _ => (0..n as usize).into_par_iter().for_each(|i| body(i as u64)),
    });
}
pub fn partitioners(p: &mut Program) {
    let n = p.size(65_536, 4_096);
    let note = "wall time, since idle workers are what a bad partition costs; rayon has one splitting policy, by halves on demand: max_len and min_len bound its pieces, and broadcast gives each thread an equal part";
    let [mut c14, mut c15, mut c16] = [const { Vec::new() }; 3];
    for (profile, at, sums) in PROFILES {
        let names = POLICIES.map(|policy| format!("{profile}/{policy}"));
        for (policy, name) in POLICIES.into_iter().zip(&names) {
            let answer = sums[usize::from(n == 65_536)];
            p.arm(name, n, answer, None, move |s| {
                let (results, pool) = (slots(n), pool(cores()));
                s.start();
                each(&pool, policy, n, |i| results[i as usize].store(at(i, n), Relaxed));
                s.stop();
                total(&results)
            });
            let (one, usual) = (&names[if profile == "uniform" { 0 } else { 3 }], &names[1]);
            if name != one {
                if profile == "uniform" { &mut c14 } else { &mut c15 }.push(no_more(one, name));
            }
            if name != usual {
                c16.push(ratio(
                    &format!("{usual}: at most 20 % more than {name}"),
                    "wall_ns",
                    usual,
                    name,
                    (None, Some(1.2)),
                ));
            }
        }
        c16.push(report("by policy", "wall_ns", &names));
    }
    p.claim(14, "Static partitioning is best for uniform work", "wall", note, c14);
    p.claim(15, "Dynamic with a small chunk is best for irregular work", "wall", note, c15);
    p.claim(
        16,
        "Guided, the default, is reasonable in most cases",
        "wall",
        &format!("{note}. Reasonable is read as at most 20 % slower than the best"),
        c16,
    );
}

const BLOCK: u64 = 4_096;
#[inline(never)]
fn element(i: u64) -> u64 {
    splitmix(i)
}
pub fn counter(p: &mut Program) {
    let (n, w) = (p.size(1 << 20, 1 << 16), cores());
    let answer = sum((0..n).map(element));
    let note = "as claims 17 to 20 of Taskflow. The reduction is map and reduce over blocks of 4,096; the mutex is that of std";
    let [atomics, mutexes] =
        ["atomic", "mutex"].map(|kind| [1, 8, 64, 4_096].map(|every| format!("{kind}/{w}/{every}")));
    let reduced = format!("reduce/{w}");
    p.claim(
        17,
        "An atomic add for each element is far slower than a reduction by index",
        "cpu",
        note,
        vec![
            ratio(
                "all workers, loop over blocks: at least twice",
                "cpu_ns",
                &atomics[0],
                &reduced,
                (Some(2.0), None),
            ),
            ratio("all workers, wall time", "wall_ns", &atomics[0], &reduced, (Some(2.0), None)),
            ratio("one worker: no contention", "cpu_ns", "atomic/1/1", "reduce/1", (None, None)),
        ],
    );
    let text = "... especially at 32 and more cores";
    match w {
        32.. => p.claim(
            18,
            text,
            "cpu",
            note,
            vec![ratio(
                "all workers: at least ten times",
                "cpu_ns",
                &atomics[0],
                &reduced,
                (Some(10.0), None),
            )],
        ),
        _ => p.untestable(
            18,
            text,
            &format!("this process may use {w} cores"),
            "run on a machine with 32 cores or more",
        ),
    }
    p.claim(
        19,
        "Of a counter behind a mutex, coarser updates are the remedy",
        "cpu",
        note,
        vec![
            ratio(
                "every 64th element against every one",
                "cpu_ns",
                &mutexes[2],
                &mutexes[0],
                (None, Some(0.5)),
            ),
            ratio("the same, wall time", "wall_ns", &mutexes[2], &mutexes[0], (None, Some(0.5))),
            report("by elements an update", "cpu_ns", &mutexes),
        ],
    );
    p.claim(
        20,
        "Atomic updates that are rare are acceptable",
        "cpu",
        note,
        vec![
            ratio(
                "one for 4,096 elements costs less than 5 %",
                "cpu_ns",
                &atomics[3],
                &reduced,
                (None, Some(1.05)),
            ),
            report("by elements an update", "cpu_ns", &atomics),
        ],
    );
    fn updated(s: &mut Sample, (n, w, every): (u64, u64, u64), add: impl Fn(u64) + Sync + Send) {
        let pool = pool(w);
        s.start();
        pool.install(|| {
            (0..n / BLOCK).into_par_iter().for_each(|block| {
                for from in (block * BLOCK..(block + 1) * BLOCK).step_by(every as usize) {
                    add(sum((from..from + every).map(element)));
                }
            })
        });
        s.stop();
    }
    for t in worker_counts() {
        for every in [1, 8, 64, 4_096] {
            p.arm(format!("atomic/{t}/{every}"), n, answer, Some(every as f64), move |s| {
                let counter = AtomicU64::new(0);
                updated(s, (n, t, every), |part| {
                    counter.fetch_add(part, SeqCst);
                });
                counter.into_inner()
            });
            p.arm(format!("mutex/{t}/{every}"), n, answer, Some(every as f64), move |s| {
                let counter = Mutex::new(0u64);
                updated(s, (n, t, every), |part| {
                    let mut counter = counter.lock().expect("no thread panics");
                    *counter = counter.wrapping_add(part);
                });
                counter.into_inner().expect("no thread panics")
            });
        }
        p.arm(format!("reduce/{t}"), n, answer, None, move |s| {
            let pool = pool(t);
            s.start();
            let all = pool.install(|| {
                (0..n / BLOCK)
                    .into_par_iter()
                    .map(|b| sum((b * BLOCK..(b + 1) * BLOCK).map(element)))
                    .reduce(|| 0, u64::wrapping_add)
            });
            s.stop();
            all
        });
    }
}
