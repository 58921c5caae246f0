//! Tasks that are ready and wait for a worker.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use crate::machine::{Machine, Order, Queues};

/// One queue of tasks.
#[derive(Debug)]
enum Queue {
    Line { tasks: VecDeque<u32>, last_first: bool },
    Ranked(BinaryHeap<(u64, Reverse<u64>, u32)>),
}

impl Queue {
    fn new(order: Order) -> Queue {
        match order {
            Order::Fifo => Queue::Line { tasks: VecDeque::new(), last_first: false },
            Order::Lifo => Queue::Line { tasks: VecDeque::new(), last_first: true },
            Order::Priority | Order::LongestFirst => Queue::Ranked(BinaryHeap::new()),
        }
    }

    fn put(&mut self, task: u32, rank: u64, turn: u64) {
        match self {
            Queue::Line { tasks, .. } => tasks.push_back(task),
            Queue::Ranked(tasks) => tasks.push((rank, Reverse(turn), task)),
        }
    }

    fn take(&mut self) -> Option<u32> {
        match self {
            Queue::Line { tasks, last_first: true } => tasks.pop_back(),
            Queue::Line { tasks, last_first: false } => tasks.pop_front(),
            Queue::Ranked(tasks) => tasks.pop().map(|(.., task)| task),
        }
    }

    /// Takes the task that has waited longest, or the first by rank.
    fn steal(&mut self) -> Option<u32> {
        match self {
            Queue::Line { tasks, .. } => tasks.pop_front(),
            Queue::Ranked(tasks) => tasks.pop().map(|(.., task)| task),
        }
    }
}

/// A task that a worker took, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub task: u32,
    /// From the queue that all share.
    pub shared: bool,
    pub stolen: bool,
}

/// All queues of a machine.
#[derive(Debug)]
pub struct Ready {
    shared: Queue,
    pinned: Vec<Queue>,
    own: Vec<Queue>,
    stealing: bool,
    /// Tasks in any worker's own queue.
    in_own: usize,
    /// Tasks that any worker may take.
    open: usize,
    turn: u64,
}

impl Ready {
    pub fn new(machine: &Machine) -> Ready {
        let workers = machine.workers as usize;
        let stealing = machine.queues == Queues::Stealing;
        // Tasks from outside are served in turn by a scheduler with own queues.
        let shared = if stealing && machine.order == Order::Lifo { Order::Fifo } else { machine.order };
        Ready {
            shared: Queue::new(shared),
            pinned: (0..workers).map(|_| Queue::new(machine.order)).collect(),
            own: (0..if stealing { workers } else { 0 }).map(|_| Queue::new(machine.order)).collect(),
            stealing,
            in_own: 0,
            open: 0,
            turn: 0,
        }
    }

    pub fn pin(&mut self, worker: usize, task: u32, rank: u64) {
        self.turn += 1;
        self.pinned[worker].put(task, rank, self.turn);
    }

    /// Puts a task where any worker may take it: into the queue of the worker that made it ready,
    /// where workers have their own.
    pub fn put(&mut self, by: Option<usize>, task: u32, rank: u64) {
        self.turn += 1;
        self.open += 1;
        match by {
            Some(worker) if self.stealing => {
                self.in_own += 1;
                self.own[worker].put(task, rank, self.turn);
            }
            _ => self.shared.put(task, rank, self.turn),
        }
    }

    /// Whether there is a task that any worker may take.
    pub fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Takes what is next for a worker: pinned to it, its own, shared, another's.
    pub fn take(&mut self, worker: usize) -> Option<Taken> {
        if let Some(task) = self.pinned[worker].take() {
            return Some(Taken { task, shared: false, stolen: false });
        }
        if self.open == 0 {
            return None;
        }
        let own = self.own.get_mut(worker).and_then(Queue::take);
        let taken = if let Some(task) = own {
            self.in_own -= 1;
            Taken { task, shared: false, stolen: false }
        } else if let Some(task) = self.shared.take() {
            Taken { task, shared: true, stolen: false }
        } else {
            let count = self.own.len();
            let task = (1..count).find_map(|step| self.own[(worker + step) % count].steal())?;
            self.in_own -= 1;
            Taken { task, shared: false, stolen: true }
        };
        self.open -= 1;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(queues: Queues, order: Order) -> Machine {
        Machine { queues, order, ..Machine::plain(2) }
    }

    #[test]
    fn each_order_serves_as_its_name_says() {
        for (order, expected) in
            [(Order::Fifo, [0, 1, 2]), (Order::Lifo, [2, 1, 0]), (Order::Priority, [1, 0, 2])]
        {
            let mut ready = Ready::new(&machine(Queues::Shared, order));
            for (task, rank) in [(0, 5), (1, 9), (2, 5)] {
                ready.put(Some(0), task, rank);
            }
            let served: Vec<u32> = std::iter::from_fn(|| ready.take(1)).map(|taken| taken.task).collect();
            assert_eq!(served, expected, "{order:?}");
        }
    }

    #[test]
    fn a_thief_takes_the_oldest_and_never_what_is_pinned() {
        let mut ready = Ready::new(&machine(Queues::Stealing, Order::Lifo));
        ready.pin(0, 7, 0);
        ready.put(Some(0), 1, 0);
        ready.put(Some(0), 2, 0);
        assert_eq!(ready.take(1), Some(Taken { task: 1, shared: false, stolen: true }));
        assert_eq!(ready.take(0).map(|taken| taken.task), Some(7));
        assert_eq!(ready.take(0).map(|taken| taken.task), Some(2));
        assert!(!ready.has_open());
    }
}
