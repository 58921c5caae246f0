//! The measured work: 250,000 empty tasks on one worker, with one way or another of observing
//! polls.

use std::{io, sync::atomic::AtomicU64, sync::atomic::Ordering::Relaxed};

use taskscale_sys::clock::process_cpu_ns;
use tokio::runtime::{Builder, Runtime};

/// The number of tasks in a batch. All are spawned, then all are awaited.
const BATCH: u32 = 10_000;
/// The number of batches in a pass, which takes about 0.1 s.
const BATCHES: u32 = 25;

/// A way of observing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No hook.
    None,
    /// No hook, entered a second time: the control.
    Again,
    /// Hooks that do nothing.
    Empty,
    /// Hooks that do nothing, and the unused memory of an observer. Another heap makes other polls.
    Memory,
    /// A hook that reads the time-stamp counter after a poll and does nothing with it.
    Once,
    /// Hooks that read the time-stamp counter and do nothing with it. No timing of polls can cost
    /// less.
    Counter,
    /// Hooks that keep both readings in a buffer that nobody reads.
    Kept,
    /// Hooks that call a `taskscale_live::Worker`. They do what `observe` does, except finding out
    /// which worker and whose poll it is.
    Worker,
    /// `taskscale_tokio::observe` that times every poll.
    Exact,
    /// `taskscale_tokio::observe`.
    Ours,
    /// Hooks that read `std::time::Instant` and add up.
    Instant,
    /// tokio's own poll-time histogram.
    Histogram,
}

impl Mode {
    /// The modes of this build.
    pub const ALL: &[Mode] =
        if cfg!(tokio_unstable) { Self::KNOWN } else { &[Mode::None, Mode::Again, Mode::Ours] };

    /// All modes, in the order of the table.
    pub const KNOWN: &[Mode] = &[
        Mode::None,
        Mode::Again,
        Mode::Empty,
        Mode::Memory,
        Mode::Once,
        Mode::Counter,
        Mode::Kept,
        Mode::Worker,
        Mode::Exact,
        Mode::Ours,
        Mode::Instant,
        Mode::Histogram,
    ];

    /// The mode of a word, in any build.
    pub fn parse(word: &str) -> Option<Self> {
        Self::KNOWN.iter().copied().find(|mode| mode.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Mode::None => "no hooks",
            Mode::Again => "no hooks, again (control)",
            Mode::Empty => "empty hooks",
            Mode::Memory => "empty hooks, an observer unused",
            Mode::Once => "a hook that reads the counter",
            Mode::Counter => "hooks that read the counter",
            Mode::Kept => "the same, kept",
            Mode::Worker => "a worker of taskscale_live",
            Mode::Exact => "taskscale_tokio::observe, exact",
            Mode::Ours => "taskscale_tokio::observe",
            Mode::Instant => "hooks with Instant::now",
            Mode::Histogram => "poll-time histogram of tokio",
        }
    }
}

/// The CPU time of one pass, and the polls that `observe` saw in it.
pub fn pass(mode: Mode) -> io::Result<(u64, Option<u64>)> {
    static SUM: AtomicU64 = AtomicU64::new(0);
    // An observer chooses the counter this way too.
    taskscale_sys::ticks::source();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1);
    let mut live = None;
    let runtime = match mode {
        Mode::None | Mode::Again => builder.build()?,
        Mode::Ours | Mode::Exact => {
            let observe = taskscale_tokio::observe(&mut builder);
            let (runtime, observer) = if mode == Mode::Exact { observe.exact() } else { observe }.build()?;
            live = Some(observer);
            runtime
        }
        #[cfg(tokio_unstable)]
        Mode::Empty => builder.on_before_task_poll(|_| {}).on_after_task_poll(|_| {}).build()?,
        #[cfg(tokio_unstable)]
        Mode::Memory => {
            let observer = taskscale_live::Observer::new(taskscale_live::Options::default());
            let (before, after) = (observer.worker(0), observer.worker(0));
            builder
                .on_before_task_poll(move |_| _ = std::hint::black_box(&before))
                .on_after_task_poll(move |_| _ = std::hint::black_box(&after))
                .build()?
        }
        #[cfg(tokio_unstable)]
        Mode::Once => builder
            .on_before_task_poll(|_| {})
            .on_after_task_poll(|_| _ = std::hint::black_box(taskscale_sys::ticks::now()))
            .build()?,
        #[cfg(tokio_unstable)]
        Mode::Kept => {
            static BUFFER: [AtomicU64; 160] = [const { AtomicU64::new(0) }; 160];
            static USED: AtomicU64 = AtomicU64::new(0);
            builder
                .on_before_task_poll(|_| {
                    BUFFER[USED.load(Relaxed) as usize % 160].store(taskscale_sys::ticks::now(), Relaxed);
                })
                .on_after_task_poll(|_| {
                    let used = USED.load(Relaxed);
                    BUFFER[(used as usize + 1) % 160].store(taskscale_sys::ticks::now(), Relaxed);
                    USED.store(if used >= 158 { 0 } else { used + 2 }, Relaxed);
                })
                .build()?
        }
        #[cfg(tokio_unstable)]
        Mode::Worker => {
            let options = taskscale_live::Options { own_threads: true, ..Default::default() };
            let observer = taskscale_live::Observer::new(options);
            let (before, after) = (observer.worker(0), observer.worker(0));
            builder
                .on_before_task_poll(move |_| before.begin())
                .on_after_task_poll(move |_| after.end(b""))
                .build()?
        }
        #[cfg(tokio_unstable)]
        Mode::Counter => builder
            .on_before_task_poll(|_| _ = std::hint::black_box(taskscale_sys::ticks::now()))
            .on_after_task_poll(|_| _ = std::hint::black_box(taskscale_sys::ticks::now()))
            .build()?,
        #[cfg(tokio_unstable)]
        Mode::Instant => {
            thread_local! {
                static BEGIN: std::cell::Cell<Option<std::time::Instant>> = const { std::cell::Cell::new(None) };
            }
            builder
                .on_before_task_poll(|_| BEGIN.set(Some(std::time::Instant::now())))
                .on_after_task_poll(|_| {
                    let ns = BEGIN.get().map_or(0, |begin| begin.elapsed().as_nanos());
                    // There is one worker, so no other thread adds.
                    SUM.store(SUM.load(Relaxed) + ns as u64, Relaxed);
                })
                .build()?
        }
        #[cfg(tokio_unstable)]
        Mode::Histogram => builder.enable_metrics_poll_time_histogram().build()?,
        #[cfg(not(tokio_unstable))]
        _ => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this build of tokio has no hooks"));
        }
    };
    let cpu = timed(&runtime)?;
    drop(runtime);
    std::hint::black_box(SUM.load(Relaxed));
    Ok((cpu, live.filter(|_| cfg!(tokio_unstable)).map(|live| live.digest().tasks)))
}

/// The polls of a pass, counted by hooks that do nothing else.
#[cfg(tokio_unstable)]
pub fn polls() -> io::Result<u64> {
    static POLLS: AtomicU64 = AtomicU64::new(0);
    let mut builder = Builder::new_multi_thread();
    let count = |_: &tokio::runtime::TaskMeta<'_>| {
        POLLS.fetch_add(1, Relaxed);
    };
    let runtime = builder.worker_threads(1).on_after_task_poll(count).build()?;
    timed(&runtime)?;
    drop(runtime);
    Ok(POLLS.load(Relaxed))
}

/// Returns 0: without hooks the polls of a pass are not known.
#[cfg(not(tokio_unstable))]
pub fn polls() -> io::Result<u64> {
    Ok(0)
}

fn timed(runtime: &Runtime) -> io::Result<u64> {
    let spawner = || async {
        let mut handles = Vec::with_capacity(BATCH as usize);
        for _ in 0..BATCHES {
            handles.extend((0..BATCH).map(|_| tokio::spawn(async {})));
            for handle in handles.drain(..) {
                handle.await.map_err(io::Error::other)?;
            }
        }
        Ok::<(), io::Error>(())
    };
    let me = std::process::id();
    let begin = process_cpu_ns(me)?;
    runtime.block_on(runtime.spawn(spawner())).map_err(io::Error::other)??;
    Ok(process_cpu_ns(me)? - begin)
}

/// The number of tasks in a pass.
pub fn tasks() -> f64 {
    f64::from(BATCH) * f64::from(BATCHES)
}
