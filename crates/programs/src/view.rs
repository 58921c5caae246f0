//! What an observer of an execution writes down: in which order, by which clock, and how much of
//! it.

use taskscale_model::span::{Depth, Span};

use crate::{
    draw::Draw,
    execution::{Executed, Execution},
};

/// The order in which a source has its spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOrder {
    /// By start; who contains another comes first.
    Starts,
    /// By end; who is contained comes first. Most tracers write so.
    Ends,
    /// Worker after worker, each by start.
    Workers,
    /// Worker after worker, each by end.
    WorkersByEnd,
    /// None.
    Shuffled,
    /// By start, in blocks of this many that are shuffled.
    ShuffledBlocks(usize),
    /// This many sections, each by start over all of the time.
    Sections(usize),
}

/// The clock of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Starts and durations are cut to this step, each by itself.
    Step(u64),
    /// Microseconds as floating point numbers, since this origin in microseconds. Starts are
    /// rounded to what the format holds, and durations to nanoseconds, so that a child may end some
    /// nanoseconds after its parent.
    FloatMicros(u64),
}

/// How an execution is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub order: EventOrder,
    pub clock: Clock,
    /// Added to all times.
    pub origin_ns: i64,
    pub ready_known: bool,
    pub run_delay_known: bool,
    pub workers_declared: bool,
    pub names_given: bool,
    pub levels_given: bool,
    pub seed: u64,
}

/// One span as the source has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Dense, in the order in which workers are first seen.
    pub worker: u32,
    pub start_ns: i64,
    pub end_ns: i64,
    /// When the task became ready, on the same clock.
    pub ready_ns: Option<i64>,
    /// An index into the names of the observation.
    pub name: Option<u16>,
    pub level: Option<u16>,
    pub cpu_ns: Option<u64>,
    pub run_delay_ns: Option<u64>,
}

/// An execution as a source has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub spans: Vec<Observed>,
    pub names: Vec<String>,
    /// The number of workers, where the source declares it. Some may never have run.
    pub workers: Option<u32>,
    /// Time in which a worker could run and had no core, for each worker that was seen.
    pub run_delay_ns: Option<Vec<u64>>,
}

impl Observation {
    /// The span as readers of traces give it.
    pub fn span(&self, observed: &Observed) -> Span<'_> {
        Span {
            worker: observed.worker,
            start_ns: observed.start_ns,
            end_ns: observed.end_ns,
            name: observed.name.map_or(&[], |name| self.names[usize::from(name)].as_bytes()),
            depth: observed.level.map_or(Depth::Unknown, Depth::Level),
            ready_ns: observed.ready_ns,
            cpu_ns: observed.cpu_ns,
        }
    }
}

impl View {
    /// All that there is, by start, in nanoseconds.
    pub fn sorted() -> View {
        View {
            order: EventOrder::Starts,
            clock: Clock::Step(1),
            origin_ns: 0,
            ready_known: true,
            run_delay_known: true,
            workers_declared: true,
            names_given: true,
            levels_given: true,
            seed: 0,
        }
    }

    /// Any view.
    pub fn draw(seed: u64) -> View {
        let mut draw = Draw::of(seed, 0x7669_6577);
        let block = draw.count(2, 4_000);
        let sections = draw.count(2, 12);
        View {
            order: draw.pick(&[
                EventOrder::Starts,
                EventOrder::Ends,
                EventOrder::Workers,
                EventOrder::WorkersByEnd,
                EventOrder::Shuffled,
                EventOrder::ShuffledBlocks(block),
                EventOrder::Sections(sections),
            ]),
            clock: draw.pick(&[
                Clock::Step(1),
                Clock::Step(1),
                Clock::Step(100),
                Clock::Step(1_000),
                // A day, which rounds nothing away, and 139 days, which round to 2 ns.
                Clock::FloatMicros(86_400_000_000),
                Clock::FloatMicros(12_000_000_000_123),
            ]),
            origin_ns: draw.pick(&[0, 0, 1_234_567_890_123, -5_000_000_000]),
            ready_known: draw.chance(0.4),
            run_delay_known: draw.chance(0.5),
            workers_declared: draw.chance(0.6),
            names_given: draw.chance(0.8),
            levels_given: draw.chance(0.4),
            seed,
        }
    }

    /// A moment on the clock of the source.
    fn instant(&self, at: u64) -> i64 {
        match self.clock {
            Clock::Step(step) => (at as i64 + self.origin_ns).div_euclid(step as i64) * step as i64,
            Clock::FloatMicros(origin) => {
                let micros = origin as f64 + at as f64 / 1e3;
                // A reader that loses nothing more takes whole microseconds and the rest apart.
                let whole = micros.floor();
                whole as i64 * 1_000 + ((micros - whole) * 1e3).round() as i64 + self.origin_ns
            }
        }
    }

    fn duration(&self, ns: u64) -> i64 {
        match self.clock {
            Clock::Step(step) => (ns / step * step) as i64,
            Clock::FloatMicros(_) => ns as i64,
        }
    }

    /// The spans in the order of the source.
    fn order(&self, spans: &[Executed]) -> Vec<Executed> {
        let mut draw = Draw::of(self.seed, 0x6F72_6465);
        let mut spans = spans.to_vec();
        let by_start = |span: &Executed| (span.start_ns, span.level, span.worker);
        let by_end = |span: &Executed| (span.end_ns, u16::MAX - span.level, span.worker);
        match self.order {
            EventOrder::Starts => spans.sort_by_key(by_start),
            EventOrder::Ends => spans.sort_by_key(by_end),
            EventOrder::Workers => spans.sort_by_key(|span| (span.worker, by_start(span))),
            EventOrder::WorkersByEnd => spans.sort_by_key(|span| (span.worker, by_end(span))),
            EventOrder::Shuffled => draw.shuffle(&mut spans),
            EventOrder::ShuffledBlocks(size) => {
                spans.sort_by_key(by_start);
                let mut blocks: Vec<&[Executed]> = spans.chunks(size).collect();
                draw.shuffle(&mut blocks);
                spans = blocks.concat();
            }
            EventOrder::Sections(count) => {
                spans.sort_by_key(|span| (span.worker as usize % count, by_start(span)));
            }
        }
        spans
    }
}

/// Writes an execution down as a source has it.
pub fn observe(execution: &Execution, view: &View) -> Observation {
    let mut dense: Vec<Option<u32>> = vec![None; execution.workers as usize];
    let mut seen: Vec<usize> = Vec::new();
    let spans = view.order(&execution.spans);
    let spans = spans
        .iter()
        .map(|span| {
            let worker = *dense[span.worker as usize].get_or_insert_with(|| {
                seen.push(span.worker as usize);
                seen.len() as u32 - 1
            });
            let start_ns = view.instant(span.start_ns);
            Observed {
                worker,
                start_ns,
                end_ns: start_ns + view.duration(span.end_ns - span.start_ns),
                ready_ns: span.ready_ns.filter(|_| view.ready_known).map(|at| view.instant(at)),
                name: view.names_given.then_some(span.name),
                level: view.levels_given.then_some(span.level),
                cpu_ns: view.run_delay_known.then_some(span.cpu_ns),
                run_delay_ns: view.run_delay_known.then_some(span.run_delay_ns),
            }
        })
        .collect();
    let delays = seen.iter().map(|worker| execution.run_delay_ns[*worker]).collect();
    Observation {
        spans,
        names: execution.names.clone(),
        workers: view.workers_declared.then_some(execution.workers),
        run_delay_ns: view.run_delay_known.then_some(delays),
    }
}
