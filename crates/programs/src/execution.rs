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

    /// Worker-time over the time that workers were inside spans: what would be gained if none was
    /// ever idle. At least 1.
    pub fn room(&self) -> f64 {
        let mut spans: Vec<&Executed> = self.spans.iter().collect();
        spans.sort_unstable_by_key(|span| (span.worker, span.start_ns));
        let (mut busy, mut worker, mut until) = (0, u32::MAX, 0);
        for span in spans {
            if span.worker != worker {
                (worker, until) = (span.worker, 0);
            }
            busy += span.end_ns.saturating_sub(span.start_ns.max(until));
            until = until.max(span.end_ns);
        }
        (self.time_ns as f64 * f64::from(self.workers) / (busy as f64).max(1.0)).max(1.0)
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
