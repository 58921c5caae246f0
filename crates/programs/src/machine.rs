//! What tasks run on: workers, their queues, what it takes to start a task, and what disturbs.

use crate::draw::Draw;

/// Where open tasks wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queues {
    /// One queue for all workers.
    Shared,
    /// One queue per worker. A worker that finds its own one empty takes from another's.
    Stealing,
}

/// Which of the waiting tasks goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Fifo,
    Lifo,
    /// The largest `Task::priority` goes first.
    Priority,
    /// The longest task goes first.
    LongestFirst,
}

/// Which idle worker is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    Lowest,
    LastIdle,
    FirstIdle,
}

/// What it takes to start a task. All of it lies before the span.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dispatch {
    /// The mean of the worker's own part.
    pub own_ns: f64,
    /// From 0 (constant) to 1 (exponential): how much of the own part varies.
    pub jitter: f64,
    /// The own part grows by this for every worker that is busy.
    pub per_worker_ns: f64,
    /// The queue serves one worker at a time, and each takes this long.
    pub held_ns: f64,
    /// A worker that slept needs this long to wake.
    pub wake_ns: f64,
    /// What taking from another worker's queue adds.
    pub steal_ns: f64,
}

/// Another process takes a worker's core, again and again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preemption {
    /// Mean time between two of its turns.
    pub every_ns: f64,
    /// Mean length of a turn.
    pub for_ns: f64,
}

/// All workers stop while garbage is collected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collection {
    /// A collection is due whenever this much work was done.
    pub every_work_ns: u64,
    pub pause_ns: u64,
    /// Running tasks end first. If not, they stop in their middle.
    pub between_tasks: bool,
}

/// What tasks run on.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    pub workers: u32,
    pub queues: Queues,
    pub order: Order,
    pub wake: Wake,
    pub dispatch: Dispatch,
    /// The speed of each worker. Workers that are not listed have 1.
    pub speeds: Vec<f64>,
    /// Cores that the workers share in equal parts. None is as many cores as workers.
    pub cores: Option<u32>,
    /// The share of a core that is lost to switching while more workers run than there are cores.
    pub switching: f64,
    /// What takes the core of each worker. Workers that are not listed keep theirs.
    pub preempted: Vec<Option<Preemption>>,
    pub collection: Option<Collection>,
}

impl Machine {
    /// Equal workers, one queue, first come first served, and no cost of starting a task.
    pub fn plain(workers: usize) -> Machine {
        Machine {
            workers: workers as u32,
            queues: Queues::Shared,
            order: Order::Fifo,
            wake: Wake::LastIdle,
            dispatch: Dispatch::default(),
            speeds: Vec::new(),
            cores: None,
            switching: 0.0,
            preempted: Vec::new(),
            collection: None,
        }
    }

    /// A usual scheduler, whose cost is at most this share of a mean task.
    pub fn usual(draw: &mut Draw, workers: usize, mean_ns: f64, most: f64) -> Machine {
        let own_ns = draw.log(30.0, 3_000.0).min(mean_ns * most * draw.uniform(0.2, 1.0));
        Machine {
            queues: draw.pick(&[Queues::Shared, Queues::Shared, Queues::Stealing]),
            order: draw.pick(&[Order::Fifo, Order::Fifo, Order::Fifo, Order::Lifo]),
            wake: draw.pick(&[Wake::Lowest, Wake::LastIdle, Wake::FirstIdle]),
            dispatch: Dispatch {
                own_ns,
                jitter: draw.pick(&[0.0, 0.3, 1.0]),
                wake_ns: own_ns * draw.uniform(0.0, 5.0),
                steal_ns: own_ns * draw.uniform(0.0, 2.0),
                ..Dispatch::default()
            },
            ..Machine::plain(workers)
        }
    }

    pub fn speed(&self, worker: usize) -> f64 {
        self.speeds.get(worker).copied().unwrap_or(1.0)
    }
}
