//! Cases to simulate, drawn from a seed, with known causes of loss.

use fastrand::Rng;

use crate::preemption::{Preemption, log_uniform};

/// A cause of loss that can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The tasks are short against the dispatch cost.
    Scheduling,
    /// Some stages run alone.
    Serial,
    /// The tasks are divided among workers beforehand, unevenly.
    Imbalance,
    /// A few tasks are much longer than the others.
    Straggler,
    /// Parents wait inside their span for children elsewhere.
    Recursive,
    /// There are fewer or hardly more tasks than workers, all alike.
    Under,
    /// There are pauses between phases.
    Outside,
    /// Workers lose the CPU at random moments.
    Preempted,
    /// Some steps hold up an event loop, which is one worker.
    Blocking,
}

impl Cause {
    pub const ALL: [Cause; 9] = [
        Cause::Scheduling,
        Cause::Serial,
        Cause::Imbalance,
        Cause::Straggler,
        Cause::Recursive,
        Cause::Under,
        Cause::Outside,
        Cause::Preempted,
        Cause::Blocking,
    ];
}

/// How the tasks of a phase get to workers.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharing {
    /// Any worker that is free takes the next task.
    Queue,
    /// The tasks are divided beforehand, by weight of the worker.
    Divided(Vec<f64>),
    /// The tasks run one after the other, on the same worker or on any.
    Chain {
        /// Whether the next task may run elsewhere.
        hops: bool,
    },
}

/// A stage of the program. The next one begins when all its tasks have ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Durations in ns, in the order of the queue.
    pub tasks: Vec<f64>,
    /// How the tasks are shared.
    pub sharing: Sharing,
    /// The cause of loss for which this whole phase is there.
    pub planted: Option<Cause>,
    /// Time before the phase in which nothing runs, in ns.
    pub pause: f64,
    /// Whether a parent span waits on one worker while the tasks run on the others.
    pub waiting_parent: bool,
}

/// A program and its runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Seed of everything random in its execution.
    pub seed: u64,
    pub workers: usize,
    /// Time to hand a task to a worker, in ns. Each time it is up to a fifth more or less.
    pub dispatch: f64,
    /// The stages, in order.
    pub phases: Vec<Phase>,
    /// The causes that were planted; none for a healthy case.
    pub causes: Vec<Cause>,
    /// The shortest duration that counts as a straggler, in ns.
    pub straggler_from: f64,
    /// How workers lose the CPU, if they do.
    pub preemption: Option<Preemption>,
    /// The shortest duration of a step that blocks an event loop, in ns.
    pub blocking_from: f64,
}

/// Draws a normal variate, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

impl Case {
    /// Draws a case with these causes from a seed. It has at most 60,000 tasks.
    pub fn draw(seed: u64, causes: &[Cause]) -> Self {
        let mut rng = Rng::with_seed(seed);
        let has = |cause: Cause| causes.contains(&cause);
        let workers = *rng.choice(&[2usize, 3, 4, 4, 6, 8, 8, 12, 16, 32, 64]).unwrap_or(&4);
        let phases = *rng.choice(&[1usize, 1, 1, 2, 5, 20, 100]).unwrap_or(&1);
        let per_worker = log_uniform(&mut rng, 12.0, 80.0);
        let few = if has(Cause::Under) { 1.0 } else { per_worker };
        let task = if has(Cause::Scheduling) && !has(Cause::Under) {
            log_uniform(&mut rng, 300.0, 20_000.0)
        } else {
            // The tasks take at least 5 ms in all: the digest refuses to judge a window of a
            // millisecond.
            log_uniform(&mut rng, 50_000.0, 5_000_000.0).max(5e6 / few / phases as f64)
        };
        // There need to be many tiny tasks, for the same reason.
        let per_worker = per_worker.max(3e6 / task / phases as f64).min(30_000.0 / workers as f64);
        let spread = *rng.choice(&[0.0, 0.05, 0.2, 0.5]).unwrap_or(&0.0);
        let dispatch = if has(Cause::Scheduling) {
            task * log_uniform(&mut rng, 0.05, 3.0)
        } else {
            log_uniform(&mut rng, 100.0, (task / 50.0).min(20_000.0))
        };
        let mut case = Case {
            seed,
            workers,
            dispatch,
            phases: Vec::new(),
            causes: causes.to_vec(),
            straggler_from: f64::INFINITY,
            preemption: None,
            blocking_from: f64::INFINITY,
        };
        let strength = rng.f64();
        let count = (per_worker * workers as f64) as usize;
        let heavy = rng.usize(..workers);
        let weights: Vec<f64> = (0..workers)
            .map(|worker| {
                let uneven = 1.0 - strength * rng.f64();
                // In one case of three a single worker gets more than all others.
                if seed.is_multiple_of(3) {
                    if worker == heavy { 1.0 } else { 1.0 - 0.8 * strength }
                } else {
                    uneven
                }
            })
            .collect();
        let long = task * per_worker * (0.3 + 3.0 * strength);
        if has(Cause::Straggler) {
            case.straggler_from = long * 0.5;
        }
        for _ in 0..phases {
            let mut count = count;
            let mut tasks: Vec<f64> = Vec::new();
            if has(Cause::Under) {
                // The number of tasks is below the number of workers, or a little above one or two
                // multiples of it.
                count = match rng.usize(..3) {
                    0 => 1 + rng.usize(..workers.saturating_sub(1).max(1)),
                    1 => workers + 1 + rng.usize(..(workers / 3).max(1)),
                    _ => 2 * workers + 1 + rng.usize(..(workers / 3).max(1)),
                };
            }
            for _ in 0..count.min(60_000 / phases) {
                tasks.push(task * (spread * normal(&mut rng) - spread * spread / 2.0).exp());
            }
            if has(Cause::Straggler) {
                // The long task stands at the start, in the middle or at the end of the queue.
                let at = match rng.usize(..3) {
                    0 => 0,
                    1 => tasks.len() / 2,
                    _ => tasks.len(),
                };
                tasks.insert(at, long);
            }
            if has(Cause::Serial) {
                let total: f64 = tasks.iter().sum::<f64>() / workers as f64;
                let alone = total * (0.05 + 1.5 * strength);
                let pieces = *rng.choice(&[1usize, 1, 3, 20]).unwrap_or(&1);
                let stage = Phase {
                    tasks: vec![alone / pieces as f64; pieces],
                    sharing: Sharing::Chain { hops: rng.bool() },
                    planted: Some(Cause::Serial),
                    pause: 0.0,
                    waiting_parent: false,
                };
                case.phases.push(stage);
            }
            let sharing =
                if has(Cause::Imbalance) { Sharing::Divided(weights.clone()) } else { Sharing::Queue };
            let total: f64 = tasks.iter().sum::<f64>() / workers as f64;
            let pause = if has(Cause::Outside) { total * (0.05 + strength) } else { 0.0 };
            let waiting_parent = has(Cause::Recursive);
            case.phases.push(Phase { tasks, sharing, planted: None, pause, waiting_parent });
        }
        if has(Cause::Serial) && rng.bool() {
            // This moves the first phase to the end.
            case.phases.rotate_left(1);
        }
        // These causes have a stream of their own, so that the program above is the same with and
        // without them.
        let mut rng = Rng::with_seed(seed ^ 0xB10C);
        if has(Cause::Preempted) {
            case.preemption = Some(Preemption::draw(&mut rng));
        }
        if has(Cause::Blocking) {
            case.block_loop(&mut rng);
        }
        case
    }

    /// Makes an event loop of the case: one worker, steps of a callback's length, some that block,
    /// and waits for events.
    fn block_loop(&mut self, rng: &mut Rng) {
        const BLOCKS: f64 = 105e6;
        self.workers = 1;
        self.blocking_from = BLOCKS;
        let step = log_uniform(rng, 10_000.0, 2e6);
        let steps = (log_uniform(rng, 0.5e9, 5e9) / step).min(20_000.0) as usize;
        let typical: f64 = self.phases.iter().flat_map(|phase| &phase.tasks).sum::<f64>().max(1.0)
            / self.phases.iter().map(|phase| phase.tasks.len()).sum::<usize>().max(1) as f64;
        for phase in &mut self.phases {
            // Steps keep the relative lengths of what was planted, where there are enough of them.
            let count = (steps / 10).max(20);
            let lengths: Vec<f64> = phase
                .tasks
                .iter()
                .cycle()
                .take(count)
                .map(|task| (task / typical * step).min(BLOCKS / 2.0))
                .collect();
            phase.tasks = lengths;
            phase.sharing = Sharing::Queue;
            phase.waiting_parent = false;
        }
        let work: f64 = self.phases.iter().flat_map(|phase| &phase.tasks).sum();
        let mut blocked = work * log_uniform(rng, 0.02, 2.0);
        while blocked > BLOCKS / 2.0 {
            let long = BLOCKS * log_uniform(rng, 1.0, 5.0);
            let phase = rng.usize(..self.phases.len());
            let tasks = &mut self.phases[phase].tasks;
            tasks.insert(rng.usize(..=tasks.len()), long);
            blocked -= long;
        }
        let waits = rng.f64() * 1.5;
        let pause = work / self.phases.len() as f64 * waits;
        self.phases.iter_mut().skip(1).for_each(|phase| phase.pause = pause);
    }

    /// Returns the same program with one cause taken out and all else equal. This is the fix that a
    /// remedy asks for, done perfectly.
    pub fn without(&self, cause: Cause) -> Case {
        let mut case = self.clone();
        match cause {
            Cause::Scheduling => case.dispatch = 0.0,
            Cause::Outside => case.phases.iter_mut().for_each(|phase| phase.pause = 0.0),
            Cause::Preempted => case.preemption = None,
            Cause::Blocking => {
                // The blocking steps move to a thread of their own.
                let from = case.blocking_from;
                case.phases.iter_mut().for_each(|phase| phase.tasks.retain(|task| *task < from));
            }
            Cause::Recursive => case.phases.iter_mut().for_each(|phase| phase.waiting_parent = false),
            Cause::Imbalance => {
                for phase in &mut case.phases {
                    if matches!(phase.sharing, Sharing::Divided(_)) {
                        phase.sharing = Sharing::Queue;
                    }
                }
            }
            Cause::Serial => {
                for phase in case.phases.iter_mut().filter(|phase| phase.planted == Some(Cause::Serial)) {
                    let pieces = 8 * self.workers;
                    let total: f64 = phase.tasks.iter().sum();
                    phase.tasks = vec![total / pieces as f64; pieces];
                    phase.sharing = Sharing::Queue;
                }
            }
            Cause::Straggler | Cause::Under => {
                for phase in case.phases.iter_mut().filter(|phase| phase.planted.is_none()) {
                    // Pieces are at most a sixteenth of a worker's fair share: rounding then costs
                    // less than that.
                    let piece = phase.tasks.iter().sum::<f64>() / (16 * self.workers) as f64;
                    let split = |duration: &f64| {
                        let longer = cause == Cause::Under || *duration >= self.straggler_from;
                        let pieces = if longer { (duration / piece).ceil().max(1.0) as usize } else { 1 };
                        std::iter::repeat_n(duration / pieces as f64, pieces)
                    };
                    let mut tasks: Vec<f64> = phase.tasks.iter().flat_map(split).collect();
                    if cause == Cause::Straggler {
                        tasks.sort_by(|a, b| b.total_cmp(a));
                    }
                    phase.tasks = tasks;
                }
            }
        }
        case
    }
}
