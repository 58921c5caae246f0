//! smol's tasks, with a channel in each direction.

use std::{future, sync::LazyLock, thread};

use serde_json::json;
use smol::{
    Executor,
    channel::{Receiver, Sender, bounded},
};

use super::{End, is_one, ping, pong, shares};
use crate::{
    runtimes::{Spawn, smol_executor, smol_local},
    sdk::{Run, Timing, Variant},
};

pub fn variants() -> Vec<Variant> {
    let variant = |name: &str, local, only| Variant {
        name: name.to_owned(),
        creates_task: true,
        about: json!({"only": only}),
        perform: Box::new(move |run| Ok(perform(run, local))),
    };
    vec![
        variant("executor/channel", false, json!({})),
        variant("block_on/channel", true, json!({"workers": ["one"]})),
    ]
}

fn perform(run: &Run, local: bool) -> Timing {
    match local {
        true => smol_local(|local| smol::block_on(local.run(on(run, local)))),
        false if is_one(run) => smol::block_on(on(run, with_one_worker())),
        false => smol::block_on(on(run, smol_executor())),
    }
}

async fn on(run: &Run, executor: &impl Spawn) -> Timing {
    let one = async |_: &mut _| {
        let mut tasks = Vec::new();
        for trips in shares(run) {
            let (one, other) = Channel::pair();
            tasks.push((executor.spawn(pong(other, trips)), executor.spawn(ping(one, trips))));
        }
        let mut back = 0;
        for (pong, ping) in tasks {
            back += ping.await;
            pong.await;
        }
        back
    };
    run.time_async(one).await
}

/// An executor that one thread drives.
fn with_one_worker() -> &'static Executor<'static> {
    static EXECUTOR: LazyLock<&'static Executor<'static>> = LazyLock::new(|| {
        let executor: &'static Executor<'static> = Box::leak(Box::new(Executor::new()));
        thread::spawn(|| smol::block_on(executor.run(future::pending::<()>())));
        executor
    });
    &EXECUTOR
}

/// A channel to the other end, and one from there.
struct Channel(Sender<u64>, Receiver<u64>);

impl Channel {
    fn pair() -> (Self, Self) {
        let ((to_one, of_one), (to_other, of_other)) = (bounded(1), bounded(1));
        (Channel(to_other, of_one), Channel(to_one, of_other))
    }
}

impl End for Channel {
    async fn pass(&mut self, token: u64) {
        self.0.send(token).await.expect("the other end takes it");
    }

    async fn take(&mut self) -> u64 {
        self.1.recv().await.expect("the other end passes it")
    }
}
