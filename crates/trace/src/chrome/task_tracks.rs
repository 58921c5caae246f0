//! Tracks of asyncio tasks, which VizTracer writes with `log_async`.
//!
//! A call in a task lies on a track of the task, whose number is 24 bits of an address, and not on
//! the thread that ran it. The loop's own calls lie on the thread, around those of the tasks. So a
//! task is no worker: its calls belong to the thread. Names of threads come before all calls of a
//! process and names of tasks behind them, so a track without a name is a task's.

use crate::workers::Id;

use super::{assemble::Assembler, event::Event, flavour::Flavour};

/// The tracks that were found to be asyncio tasks.
#[derive(Debug, Default)]
pub struct TaskTracks {
    /// Those whose calls belong to the main thread of their process.
    folded: u64,
    /// Those that count as workers: no thread of their process was named before.
    workers: u64,
}

impl TaskTracks {
    /// Tells of them, where there are any.
    pub fn note(&self) -> Option<String> {
        let TaskTracks { folded, workers } = self;
        if *workers > 0 {
            return Some(format!(
                "VizTracer's log_async: {workers} of the threads are asyncio tasks and no workers, or more: record \
                 without it"
            ));
        }
        (*folded > 0).then(|| {
            format!(
                "VizTracer's log_async: {folded} tracks are asyncio tasks; their calls count on the main thread, \
                 which ran them if the loop is its own"
            )
        })
    }
}

impl Assembler<'_> {
    /// Returns the worker of a track that comes for the first time.
    #[cold]
    pub fn new_track(&mut self, (process, thread): (Id, Id)) -> u32 {
        if self.flavour == Flavour::VizTracer
            && self.workers.name_of(process, thread).is_none()
            && let Some(home) = self.workers.main_thread(process)
        {
            self.task_tracks.folded += 1;
            return self.workers.fold(process, thread, home);
        }
        self.workers.index(process, thread)
    }

    /// Tells whether the name of a thread is that of a task which is no worker.
    pub fn names_task(&mut self, event: &Event<'_>, name: &[u8]) -> bool {
        let folded = self.workers.is_folded(event.process, event.thread);
        let is_worker = self.flavour == Flavour::VizTracer && name.starts_with(b"Task-") && !folded;
        self.task_tracks.workers += u64::from(is_worker);
        folded
    }
}
