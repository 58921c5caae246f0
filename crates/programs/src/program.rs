//! A program: tasks, what each waits for, and the machine that they run on.

use crate::{
    engine,
    execution::{Execution, Stuck},
    machine::Machine,
};

/// One thing that a task does, in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Works.
    Compute(u64),
    /// Keeps the worker and needs no core: input or output.
    Block(u64),
    /// Works while it holds a lock, and waits for the lock inside its span.
    Lock { lock: u32, ns: u64 },
    /// As `Lock`, beside others that read.
    Read { lock: u32, ns: u64 },
    /// Makes a task ready, after this much work for it.
    Spawn { cost_ns: u64, task: u32 },
    /// Executes a task inside of this one, on the same worker.
    Call(u32),
    /// Waits inside its span until all tasks whose parent this is, and that were spawned so far,
    /// are complete. With `help` the worker executes other tasks meanwhile.
    Join { help: bool },
}

/// What a task does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Works this long.
    Work(u64),
    /// Works through these pieces, one after the other, in one span.
    Parts(Vec<u64>),
    Steps(Vec<Step>),
}

/// Who may execute a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Any worker.
    Open,
    /// One worker.
    Pinned(u32),
    /// No worker: it is a delay (`Body::Work`), and no span. A barrier takes no time.
    Host,
    /// The worker of the task that calls it.
    Inline,
}

/// What changes look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Plain,
    /// A stage that is one task by design.
    Alone,
    /// The host does something between two runs.
    Pause,
    /// A master that is no worker hands out one task.
    Toll,
}

/// The family of tasks that are never put together.
pub const NO_FAMILY: u32 = 0;

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// An index into the names of the program.
    pub name: u16,
    pub body: Body,
    /// It becomes ready after these are complete.
    pub after: Vec<u32>,
    /// As `after`, and nothing but habit asks for it.
    pub loose: Vec<u32>,
    pub place: Place,
    pub role: Role,
    /// Neighbours of one family may be put together.
    pub family: u32,
    /// Whose `Step::Join` waits for it.
    pub parent: Option<u32>,
    /// It becomes ready no sooner than this: it comes from outside.
    pub arrives_ns: Option<u64>,
    pub priority: u32,
    /// It completes this many requests, which arrived at this time on average.
    pub answers: Option<(u64, u32)>,
    /// Random numbers of this task are drawn by it, whatever becomes of its index.
    pub origin: u64,
}

/// Tasks, and the machine that they run on.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub tasks: Vec<Task>,
    pub names: Vec<String>,
    pub machine: Machine,
    pub seed: u64,
    /// Work comes from outside at its own times: requests, timers.
    pub arrivals: bool,
    /// The only worker is an event loop.
    pub event_loop: bool,
}

impl Body {
    /// The steps of the body, except that calls are not followed.
    pub fn steps(&self) -> &[Step] {
        match self {
            Body::Steps(steps) => steps,
            _ => &[],
        }
    }
}

impl Program {
    /// Executes the program, or says that it never ends.
    pub fn try_execute(&self) -> Result<Execution, Stuck> {
        engine::run(self)
    }

    /// Executes the program.
    ///
    /// # Panics
    ///
    /// When the program never ends. None that is drawn does.
    pub fn execute(&self) -> Execution {
        match self.try_execute() {
            Ok(execution) => execution,
            Err(stuck) => panic!("{} of {} tasks end", stuck.complete, stuck.tasks),
        }
    }

    /// The work of a task with all that it calls, and the time in which it blocks.
    pub fn size(&self, task: usize) -> u64 {
        match &self.tasks[task].body {
            Body::Work(ns) => *ns,
            Body::Parts(parts) => parts.iter().sum(),
            Body::Steps(steps) => steps
                .iter()
                .map(|step| match *step {
                    Step::Compute(ns) | Step::Block(ns) => ns,
                    Step::Lock { ns, .. } | Step::Read { ns, .. } => ns,
                    Step::Spawn { cost_ns, .. } => cost_ns,
                    Step::Call(inner) => self.size(inner as usize),
                    Step::Join { .. } => 0,
                })
                .sum(),
        }
    }

    /// The core time that all tasks need together.
    pub fn work_ns(&self) -> u64 {
        let computed = |task: &Task| match &task.body {
            Body::Work(ns) => *ns,
            Body::Parts(parts) => parts.iter().sum(),
            Body::Steps(steps) => steps
                .iter()
                .map(|step| match *step {
                    Step::Compute(ns) | Step::Lock { ns, .. } | Step::Read { ns, .. } => ns,
                    Step::Spawn { cost_ns, .. } => cost_ns,
                    Step::Block(_) | Step::Call(_) | Step::Join { .. } => 0,
                })
                .sum(),
        };
        self.tasks.iter().filter(|task| task.place != Place::Host).map(computed).sum()
    }

    /// The tasks that are spans.
    pub fn spans(&self) -> usize {
        self.tasks.iter().filter(|task| task.place != Place::Host).count()
    }

    /// The tasks that a queue holds at some time: spans that no other span calls.
    pub fn is_queued(&self, task: usize) -> bool {
        matches!(self.tasks[task].place, Place::Open | Place::Pinned(_))
    }
}
