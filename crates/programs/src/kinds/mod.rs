//! Kinds of programs. Each is drawn from a seed: its size, its durations, its machine.
//!
//! | module | programs |
//! |---|---|
//! | `healthy` | loops, rounds, trees, graphs, wavefronts and pipelines with enough to do |
//! | `overhead` | tasks that are small for what it takes to start them; slow masters |
//! | `serial` | stages of one task, chains, tokens, shrinking work |
//! | `locks` | locks and waiting inside tasks |
//! | `few` | fewer tasks than workers, phases of half the width, ramps and declines |
//! | `uneven` | stragglers, heavy tails, static division, skewed keys |
//! | `hosts` | pauses, garbage collection, other processes, more threads than cores |
//! | `arrivals` | servers, clients, frames and ticks |
//! | `paced` | what follows a clock: clients of a constant rate, stages of frames, a steady master |
//! | `loops` | event loops and async lanes |
//! | `pipes` | pipelines, producers and consumers |
//! | `nested` | spans within spans |

mod arrivals;
mod few;
mod healthy;
mod hosts;
mod locks;
mod loops;
mod nested;
mod overhead;
mod paced;
mod pipes;
mod serial;
mod shape;
mod uneven;

use crate::{
    draw::{Draw, mix},
    program::Program,
};

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $module:ident :: $build:ident,)*) => {
        /// A kind of program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind { $($(#[$about])* $kind,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// `module::function`, as the sources have it.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => concat!(stringify!($module), "::", stringify!($build)),)* }
            }

            fn build(self, draw: &mut Draw) -> Program {
                match self { $(Kind::$kind => $module::$build(draw),)* }
            }
        }
    };
}

kinds! {
    EvenLoop = healthy::even_loop,
    UnevenLoop = healthy::uneven_loop,
    SmallTasks = healthy::small_tasks,
    ForkJoinRounds = healthy::fork_join_rounds,
    SpawnTree = healthy::spawn_tree,
    WideGraph = healthy::wide_graph,
    WideWavefront = healthy::wide_wavefront,
    ParallelPipeline = healthy::parallel_pipeline,
    Priorities = healthy::priorities,
    ManyChains = healthy::many_chains,
    TinyTasks = overhead::tiny_tasks,
    ContendedQueue = overhead::contended_queue,
    GrowingDispatch = overhead::growing_dispatch,
    TinyChains = overhead::tiny_chains,
    TinyRounds = overhead::tiny_rounds,
    SlowHost = overhead::slow_host,
    SlowMaster = overhead::slow_master,
    SerialFirst = serial::serial_first,
    SerialLast = serial::serial_last,
    SerialPeriodic = serial::serial_periodic,
    SerialLoose = serial::serial_loose,
    Chain = serial::chain,
    PingPong = serial::ping_pong,
    RoundRobin = serial::round_robin,
    Shrinking = serial::shrinking,
    Reduction = serial::reduction,
    LockConvoy = locks::lock_convoy,
    ShortLocks = locks::short_locks,
    ReadersWriter = locks::readers_writer,
    IoInside = locks::io_inside,
    TooFew = few::too_few,
    TooCoarse = few::too_coarse,
    FewLanes = few::few_lanes,
    HalfWidth = few::half_width,
    WarmUp = few::warm_up,
    Declining = few::declining,
    NarrowWavefront = few::narrow_wavefront,
    NarrowGraph = few::narrow_graph,
    UnbalancedTree = few::unbalanced_tree,
    OneStraggler = uneven::one_straggler,
    SeveralStragglers = uneven::several_stragglers,
    HeavyTail = uneven::heavy_tail,
    TwoSizes = uneven::two_sizes,
    StaticLoop = uneven::static_loop,
    StaticChunks = uneven::static_chunks,
    SkewedPins = uneven::skewed_pins,
    SlowWorkers = uneven::slow_workers,
    UnevenRounds = uneven::uneven_rounds,
    MapReduce = uneven::map_reduce,
    HostPauses = hosts::host_pauses,
    CollectBetween = hosts::collect_between,
    CollectInside = hosts::collect_inside,
    PreemptedOne = hosts::preempted_one,
    PreemptedAll = hosts::preempted_all,
    Oversubscribed = hosts::oversubscribed,
    PoissonServer = arrivals::poisson_server,
    PeriodicServer = arrivals::periodic_server,
    BurstyServer = arrivals::bursty_server,
    ForkingServer = arrivals::forking_server,
    Clients = arrivals::clients,
    Frames = arrivals::frames,
    Ticks = arrivals::ticks,
    PacedClients = paced::paced_clients,
    ScreenStages = paced::screen_stages,
    SteadyHost = paced::steady_host,
    LoopBlocked = loops::loop_blocked,
    LoopOfRequests = loops::loop_of_requests,
    LoopIdle = loops::loop_idle,
    LoopHealthy = loops::loop_healthy,
    AsyncLanes = loops::async_lanes,
    SlowStage = pipes::slow_stage,
    SlowProducer = pipes::slow_producer,
    SlowConsumers = pipes::slow_consumers,
    BoundedBuffers = pipes::bounded_buffers,
    ParentsCompute = nested::parents_compute,
    DeepCalls = nested::deep_calls,
    HelpFirst = nested::help_first,
    ParentsWait = nested::parents_wait,
    WaitingTree = nested::waiting_tree,
    PhasesHelp = nested::phases_help,
    PhasesWait = nested::phases_wait,
}

/// Most spans of a program that is drawn.
pub const MOST_SPANS: usize = 50_000;
/// Shortest and longest window of a program that is drawn, in nanoseconds.
pub const WINDOW: (u64, u64) = (2_000_000, 60_000_000_000);

impl Program {
    /// A program of a kind. The same seed gives the same program.
    pub fn draw(kind: Kind, seed: u64) -> Program {
        // A kind keeps its programs when others are added.
        let salt = kind.name().bytes().fold(0u64, |sum, byte| sum.wrapping_mul(257) + u64::from(byte));
        let seed = mix(seed, salt);
        let mut attempt = 0;
        loop {
            let mut program = kind.build(&mut Draw::of(seed, attempt));
            program.seed = seed;
            // One in a thousand is too large, too short or too long, and another one is drawn.
            if attempt == 20 || fits(&program) {
                return program;
            }
            attempt += 1;
        }
    }
}

fn fits(program: &Program) -> bool {
    let in_window = |ns: u64| (WINDOW.0..=WINDOW.1).contains(&ns);
    program.spans() <= MOST_SPANS
        && program.try_execute().is_ok_and(|execution| in_window(execution.window_ns()))
}
