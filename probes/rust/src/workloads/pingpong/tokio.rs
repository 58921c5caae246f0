//! tokio's tasks: with a channel in each direction, or a `Notify` beside the token.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use serde_json::json;
use tokio::{
    runtime::Runtime,
    sync::{Notify, mpsc},
};

use super::{End, is_one, ping, pong, shares};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let both = |(name, flavour): (&str, Flavour)| {
        [
            variant(format!("{name}/mpsc"), flavour, Mpsc::pair),
            variant(format!("{name}/Notify"), flavour, Noticed::pair),
        ]
    };
    Flavour::ALL.into_iter().flat_map(both).collect()
}

fn variant<E: End>(name: String, flavour: Flavour, pair: fn() -> (E, E)) -> Variant {
    let only = match flavour {
        Flavour::MultiThread => json!({}),
        Flavour::CurrentThread => json!({"workers": ["one"]}),
    };
    let perform = move |run: &Run| Ok(perform(run, flavour, pair));
    Variant { name, creates_task: true, about: json!({"only": only}), perform: Box::new(perform) }
}

fn perform<E: End>(run: &Run, flavour: Flavour, pair: fn() -> (E, E)) -> Timing {
    let runtime = match flavour {
        Flavour::MultiThread if is_one(run) => with_one_worker(),
        _ => flavour.runtime(),
    };
    runtime.block_on(run.time_async(async |_| {
        let mut tasks = Vec::new();
        for trips in shares(run) {
            let (one, other) = pair();
            tokio::spawn(pong(other, trips));
            tasks.push(tokio::spawn(ping(one, trips)));
        }
        let mut back = 0;
        for task in tasks {
            back += task.await.expect("a task that nobody aborts ends");
        }
        back
    }))
}

/// The scheduler of many workers, with one.
fn with_one_worker() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let made = || Flavour::MultiThread.builder().worker_threads(1).build();
    RUNTIME.get_or_init(|| made().expect("the system starts the thread of a tokio runtime"))
}

/// A channel to the other end, and one from there.
struct Mpsc(mpsc::Sender<u64>, mpsc::Receiver<u64>);

impl Mpsc {
    fn pair() -> (Self, Self) {
        let ((to_one, of_one), (to_other, of_other)) = (mpsc::channel(1), mpsc::channel(1));
        (Mpsc(to_other, of_one), Mpsc(to_one, of_other))
    }
}

impl End for Mpsc {
    async fn pass(&mut self, token: u64) {
        self.0.send(token).await.expect("the other end takes it");
    }

    async fn take(&mut self) -> u64 {
        self.1.recv().await.expect("the other end passes it")
    }
}

/// A token, and what says that it is there.
#[derive(Default)]
struct Notice {
    token: AtomicU64,
    is_there: Notify,
}

/// What is passed on, and what is waited for.
struct Noticed(Arc<Notice>, Arc<Notice>);

impl Noticed {
    fn pair() -> (Self, Self) {
        let [one, other] = [(); 2].map(|()| Arc::new(Notice::default()));
        (Noticed(Arc::clone(&other), Arc::clone(&one)), Noticed(one, other))
    }
}

impl End for Noticed {
    async fn pass(&mut self, token: u64) {
        self.0.token.store(token, Ordering::Release);
        self.0.is_there.notify_one();
    }

    async fn take(&mut self) -> u64 {
        self.1.is_there.notified().await;
        self.1.token.load(Ordering::Acquire)
    }
}
