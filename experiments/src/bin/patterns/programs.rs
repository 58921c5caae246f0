//! One tokio program per pattern. Tasks that stand for long work sleep in `std::thread::sleep`,
//! which holds their worker and no core. So four workers run on two cores, and other users of the
//! machine disturb them little.

use std::{
    hint::black_box,
    thread::sleep,
    time::{Duration, Instant},
};

use taskscale_model::digest::PatternName::{self, *};
use taskscale_tokio::{Live, observe};
use tokio::{
    runtime::Builder,
    task::{JoinSet, yield_now},
};

/// A program, and the diagnoses that are right for it.
pub struct Program {
    pub what: &'static str,
    pub right: &'static [PatternName],
    /// Whether other processes keep all cores busy meanwhile.
    pub disturbed: bool,
    pub run: fn() -> std::io::Result<Live>,
}

pub const PROGRAMS: [Program; 9] = [
    Program {
        what: "15,000 items through a channel of one, 1 worker",
        right: &[SchedulingOverhead],
        disturbed: false,
        run: tiny,
    },
    Program {
        what: "40 x (5 tasks of 10 ms), 4 workers",
        right: &[UnderDecomposition],
        disturbed: false,
        run: few,
    },
    Program {
        what: "400 tasks of 2 ms and one of 400 ms, 4 workers",
        right: &[StragglerTasks],
        disturbed: false,
        run: straggler,
    },
    Program {
        what: "4 x (15 tasks of 10 ms one by one, then 20 at once), 4 workers",
        right: &[SerialBottleneck],
        disturbed: false,
        run: serial,
    },
    Program {
        what: "4 partitions of 40, 40, 40 and 240 steps of 2 ms, 4 workers",
        right: &[LoadImbalance],
        disturbed: false,
        run: imbalance,
    },
    Program {
        what: "20 clients of a current_thread runtime, one blocks for 150 ms",
        right: &[EventLoopBlocked],
        disturbed: false,
        run: blocked,
    },
    Program {
        what: "10 x (40 tasks of 5 ms), 60 ms of the host's own work between",
        right: &[OutsideRun],
        disturbed: false,
        run: outside,
    },
    Program { what: "160 tasks of 25 ms, 4 workers", right: &[Healthy], disturbed: false, run: healthy },
    Program {
        what: "2,000 tasks of 500 us CPU, 2 workers, all cores taken by others",
        right: &[Preempted, Inconclusive],
        disturbed: true,
        run: cpu,
    },
];

/// The number is small, so that the run fits between two turns of other users of the core.
const ITEMS: u32 = 15_000;

fn hold(ms: u64) {
    sleep(Duration::from_millis(ms));
}

async fn at_once(tasks: u32, work: impl Fn() + Clone + Send + 'static) {
    let mut set = JoinSet::new();
    for _ in 0..tasks {
        let work = work.clone();
        set.spawn(async move { work() });
    }
    set.join_all().await;
}

/// Runs `main` as the future of `block_on` in an observed runtime with `workers` workers.
fn observed(workers: usize, main: impl Future<Output = ()> + Send + 'static) -> std::io::Result<Live> {
    let (rt, live) = observe(Builder::new_multi_thread().worker_threads(workers)).build()?;
    rt.block_on(main);
    drop(rt);
    Ok(live)
}

fn tiny() -> std::io::Result<Live> {
    observed(1, async {
        let (send, mut receive) = tokio::sync::mpsc::channel(1);
        let producer = tokio::spawn(async move {
            for item in 0..ITEMS {
                send.send(item).await.unwrap_or_default();
            }
        });
        let consumer = tokio::spawn(async move { while receive.recv().await.is_some() {} });
        producer.await.unwrap_or_default();
        consumer.await.unwrap_or_default();
    })
}

fn few() -> std::io::Result<Live> {
    observed(4, async {
        for _ in 0..40 {
            at_once(5, || hold(10)).await;
        }
    })
}

fn straggler() -> std::io::Result<Live> {
    observed(4, async {
        let mut set = JoinSet::new();
        for task in 0..401 {
            set.spawn(async move { hold(if task == 300 { 400 } else { 2 }) });
        }
        set.join_all().await;
    })
}

fn serial() -> std::io::Result<Live> {
    observed(4, async {
        for _ in 0..4 {
            for _ in 0..15 {
                at_once(1, || hold(10)).await;
            }
            at_once(20, || hold(10)).await;
        }
    })
}

fn imbalance() -> std::io::Result<Live> {
    observed(4, async {
        let mut set = JoinSet::new();
        for steps in [40, 40, 40, 240] {
            set.spawn(async move {
                for _ in 0..steps {
                    hold(2);
                    yield_now().await;
                }
            });
        }
        set.join_all().await;
    })
}

fn blocked() -> std::io::Result<Live> {
    let (rt, live) = observe(Builder::new_current_thread().enable_time()).build()?;
    rt.block_on(async {
        let mut set = JoinSet::new();
        for client in 0..20 {
            set.spawn(async move {
                for step in 0..50 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    if client == 7 && step % 10 == 5 {
                        hold(150);
                    }
                }
            });
        }
        set.join_all().await;
    });
    drop(rt);
    Ok(live)
}

fn outside() -> std::io::Result<Live> {
    observed(4, async {
        for _ in 0..10 {
            at_once(40, || hold(5)).await;
            // The future of `block_on` is no task, and neither is work of the host between two
            // calls of `block_on`.
            hold(60);
        }
    })
}

fn healthy() -> std::io::Result<Live> {
    observed(4, at_once(160, || hold(25)))
}

fn cpu() -> std::io::Result<Live> {
    observed(2, at_once(2_000, || spin(Duration::from_micros(500))))
}

/// Works for `length` on a core that runs nothing else.
fn spin(length: Duration) {
    thread_local! {
        static PER_MS: u64 = {
            let begin = Instant::now();
            let mut turns = 0_u64;
            while begin.elapsed() < Duration::from_millis(20) {
                black_box((0..1_000_u64).fold(0, |sum, turn| sum ^ black_box(turn)));
                turns += 1_000;
            }
            turns / 20
        };
    }
    let turns = PER_MS.with(|per_ms| per_ms * length.as_micros() as u64 / 1_000);
    black_box((0..turns).fold(0, |sum, turn| sum ^ black_box(turn)));
}
