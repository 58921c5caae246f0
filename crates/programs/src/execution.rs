//! What an execution leaves behind.

/// One task on one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// The index of the task in the program.
    pub task: u32,
    pub worker: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    /// When it became ready. None for a task that another one calls.
    pub ready_ns: Option<u64>,
    /// An index into the names of the execution.
    pub name: u16,
    /// 0 is outermost.
    pub level: u16,
    /// Time on a core between start and end, spans inside included.
    pub cpu_ns: u64,
    /// Time between start and end in which the worker could run and had no core.
    pub run_delay_ns: u64,
}

/// One execution of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// In the order in which they end.
    pub spans: Vec<Executed>,
    pub names: Vec<String>,
    /// Until the last task is complete.
    pub time_ns: u64,
    /// The mean time from the arrival of a request to its answer.
    pub response_ns: Option<f64>,
    pub workers: u32,
    /// Time in which each worker could run and had no core.
    pub run_delay_ns: Vec<u64>,
    /// Time that each worker spent on starting tasks.
    pub dispatch_ns: Vec<u64>,
}

impl Execution {
    /// From the first start to the last end.
    pub fn window_ns(&self) -> u64 {
        let first = self.spans.iter().map(|span| span.start_ns).min().unwrap_or(0);
        let last = self.spans.iter().map(|span| span.end_ns).max().unwrap_or(0);
        last - first
    }

    /// The share of *workers x window* in which workers had no core.
    pub fn preempted(&self) -> f64 {
        let all = self.window_ns() as f64 * f64::from(self.workers);
        if all > 0.0 { self.run_delay_ns.iter().sum::<u64>() as f64 / all } else { 0.0 }
    }

    /// The share of *workers x window* in which tasks held a worker, neither on a core nor waiting
    /// for one: for a lock, for input or output, for tasks that they started, for a collector.
    pub fn blocked(&self) -> f64 {
        let all = self.window_ns() as f64 * f64::from(self.workers);
        let off = |span: &Executed| {
            (span.end_ns - span.start_ns).saturating_sub(span.cpu_ns).saturating_sub(span.run_delay_ns)
        };
        let blocked: u64 = self.spans.iter().filter(|span| span.level == 0).map(off).sum();
        if all > 0.0 { blocked as f64 / all } else { 0.0 }
    }
}

/// A program that never ends: every worker waits for another, or a task for one that never comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck {
    pub complete: usize,
    pub tasks: usize,
}
