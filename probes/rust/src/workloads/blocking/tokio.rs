//! tokio's tasks: blocking on a worker, handed to the pool for it, or announced.

use serde_json::json;
use tokio::{task, time};

use super::{Burst, block, blocked, since};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing, Variant, WALL, now_ns},
};

/// What the task does that blocks.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Without,
    Inline,
    SpawnBlocking,
    BlockInPlace,
    Sleep,
}

pub fn variants() -> Vec<Variant> {
    let ways = [
        ("without", Way::Without, "no task blocks"),
        ("inline", Way::Inline, "on the worker"),
        ("spawn_blocking", Way::SpawnBlocking, "on a thread of the pool for it, and awaited"),
        ("block_in_place", Way::BlockInPlace, "on the worker, whose tasks another thread takes over"),
        ("time::sleep", Way::Sleep, "no thread blocks: the runtime's timer"),
    ];
    let all = Flavour::ALL.into_iter().flat_map(|flavour| ways.map(|way| (flavour, way)));
    let has = |(_, flavour), way| matches!(flavour, Flavour::MultiThread) || way != Way::BlockInPlace;
    let all = all.filter(|(flavour, (_, way, _))| has(*flavour, *way));
    let variant = |((scheduler, flavour), (name, way, note)): ((&str, _), (&str, _, &str))| Variant {
        name: format!("{scheduler}/{name}"),
        creates_task: true,
        about: json!({ "note": note }),
        perform: Box::new(move |run| perform(run, flavour, way)),
    };
    all.map(variant).collect()
}

fn perform(run: &Run, flavour: Flavour, way: Way) -> Result<Timing, String> {
    let runtime = if way == Way::Sleep { flavour.with_timers() } else { flavour.runtime() };
    let mut burst = Burst::new(run, way != Way::Without);
    for _ in 0..run.iterations {
        let mut waits = Vec::with_capacity(run.size as usize);
        let timing = runtime.block_on(burst.once.time_async(async |_| {
            let mut tasks = Vec::with_capacity(run.size as usize);
            for blocks in burst.tasks() {
                let (ready, lasts) = (now_ns(WALL), burst.lasts);
                tasks.push(match blocks {
                    false => tokio::spawn(async move { since(ready) }),
                    true => tokio::spawn(async move {
                        let wait = since(ready);
                        match way {
                            Way::Without => (),
                            Way::Inline => block(lasts),
                            // A call that failed is not counted, which the tool finds.
                            Way::SpawnBlocking => drop(task::spawn_blocking(move || block(lasts)).await),
                            Way::BlockInPlace => task::block_in_place(|| block(lasts)),
                            Way::Sleep => {
                                time::sleep(lasts).await;
                                blocked();
                            }
                        }
                        wait
                    }),
                });
            }
            for task in tasks {
                waits.extend(task.await);
            }
            waits.len() as u64
        }));
        burst.add(timing, &waits);
    }
    Ok(burst.report())
}
