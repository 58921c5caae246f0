//! smol's tasks: blocking on a thread of the executor, or by `unblock`.

use serde_json::json;
use smol::Timer;

use super::{Burst, block, blocked, since};
use crate::{
    runtimes::{Spawn, smol_executor},
    sdk::{Run, Timing, Variant, WALL, now_ns},
};

/// What the task does that blocks.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Without,
    Inline,
    Unblock,
    Timer,
}

pub fn variants() -> Vec<Variant> {
    let variant = |(name, way, note): (&str, Way, &str)| Variant {
        name: format!("executor/{name}"),
        creates_task: true,
        about: json!({ "note": note }),
        perform: Box::new(move |run| perform(run, way)),
    };
    let ways = [
        ("without", Way::Without, "no task blocks"),
        ("inline", Way::Inline, "on a thread of the executor"),
        ("unblock", Way::Unblock, "on a thread of the pool for it, and awaited"),
        ("Timer::after", Way::Timer, "no thread blocks: a timer"),
    ];
    ways.map(variant).into()
}

fn perform(run: &Run, way: Way) -> Result<Timing, String> {
    let (executor, mut burst) = (smol_executor(), Burst::new(run, way != Way::Without));
    for _ in 0..run.iterations {
        let mut waits = Vec::with_capacity(run.size as usize);
        let timing = smol::block_on(burst.once.time_async(async |_| {
            let mut tasks = Vec::with_capacity(run.size as usize);
            for blocks in burst.tasks() {
                let (ready, lasts) = (now_ns(WALL), burst.lasts);
                tasks.push(match blocks {
                    false => Spawn::spawn(executor, async move { since(ready) }),
                    true => Spawn::spawn(executor, async move {
                        let wait = since(ready);
                        match way {
                            Way::Without => (),
                            Way::Inline => block(lasts),
                            Way::Unblock => smol::unblock(move || block(lasts)).await,
                            Way::Timer => {
                                Timer::after(lasts).await;
                                blocked();
                            }
                        }
                        wait
                    }),
                });
            }
            for task in tasks {
                waits.push(task.await);
            }
            waits.len() as u64
        }));
        burst.add(timing, &waits);
    }
    Ok(burst.report())
}
