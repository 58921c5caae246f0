//! The source of an observer's times: the machine's clock, or a clock that a program sets.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use taskscale_sys::{
    clock::{own_thread_cpu_ns as own_cpu_ns, thread_cpu_ns, thread_id},
    ticks::{self, Anchor, Rate, Source},
};

/// The clock of an observer.
///
/// [`Worker::begin`](crate::Worker::begin) and [`end`](crate::Worker::end) read the machine's clock
/// in either case. A program with a set clock calls [`begin_at`](crate::Worker::begin_at) and
/// [`end_at`](crate::Worker::end_at) in their place.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The clock of this machine ([`ticks`]).
    #[default]
    Machine,
    /// Times that a program makes up, CPU time included. The kernel knows nothing of them and is
    /// not asked for run delay.
    Set(Arc<SetClock>),
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct SetClock {
    rate: Rate,
    now: AtomicU64,
    thread: AtomicU32,
    /// One for each thread.
    cpu_ns: [AtomicU64; SetClock::THREADS as usize],
}

/// CPU time that was never set.
const UNTOLD: u64 = u64::MAX;

impl SetClock {
    /// The number of threads with a CPU time of their own. Their numbers are below this.
    pub const THREADS: u32 = 8;

    /// Makes a clock that stands at 0 and has ticks of this rate.
    pub fn new(rate: Rate) -> Arc<Self> {
        Arc::new(SetClock {
            rate,
            now: AtomicU64::new(0),
            thread: AtomicU32::new(0),
            cpu_ns: std::array::from_fn(|_| AtomicU64::new(UNTOLD)),
        })
    }

    /// Sets the clock to `ns` nanoseconds. Returns the ticks of that moment.
    pub fn set_ns(&self, ns: u64) -> u64 {
        let ticks = self.rate.ticks(ns);
        self.now.store(ticks, Relaxed);
        ticks
    }

    /// Sets which thread calls from here on. Before the first call it is thread 0. Numbers from
    /// [`THREADS`](SetClock::THREADS) on select the last thread.
    pub fn set_thread(&self, thread: u32) {
        self.thread.store(thread.min(Self::THREADS - 1), Relaxed);
    }

    /// Sets the CPU time that the calling thread has used. A thread of which it was never set has
    /// none that is known.
    pub fn set_cpu_ns(&self, ns: u64) {
        self.cpu_ns[self.thread.load(Relaxed) as usize].store(ns, Relaxed);
    }
}

impl Clock {
    /// The present time, in ticks and on the monotonic clock.
    pub fn anchor(&self) -> Anchor {
        match self {
            Clock::Machine => Anchor::now(),
            Clock::Set(clock) => {
                let ticks = clock.now.load(Relaxed);
                Anchor { ns: clock.rate.ns(ticks), ticks }
            }
        }
    }

    /// The ticks now.
    pub fn ticks(&self) -> u64 {
        match self {
            Clock::Machine => ticks::now(),
            Clock::Set(clock) => clock.now.load(Relaxed),
        }
    }

    /// The rate that converts ticks to nanoseconds.
    pub fn rate(&self) -> Rate {
        match self {
            Clock::Machine => Rate::of_machine(),
            Clock::Set(clock) => clock.rate,
        }
    }

    /// The ticks that one reading of the clock takes. They are part of every timed task.
    pub fn reading_ticks(&self) -> u64 {
        match self {
            Clock::Machine => ticks::reading_ticks(),
            Clock::Set(_) => 0,
        }
    }

    /// The step of the clock: no duration is finer.
    pub fn resolution_ns(&self) -> u64 {
        match self {
            Clock::Machine => ticks::resolution_ns(),
            Clock::Set(clock) => clock.rate.ns(1).max(1),
        }
    }

    /// The number of the calling thread, for [`cpu_ns`](Clock::cpu_ns). `None` if the system has no
    /// number for it.
    pub fn thread(&self) -> Option<u32> {
        match self {
            Clock::Machine => thread_id(),
            Clock::Set(clock) => Some(clock.thread.load(Relaxed)),
        }
    }

    /// The CPU time that a thread has used. `None` if the system does not tell it.
    pub fn cpu_ns(&self, thread: u32) -> Option<u64> {
        match self {
            Clock::Machine => thread_cpu_ns(thread),
            Clock::Set(clock) => {
                let ns = clock.cpu_ns.get(thread as usize)?.load(Relaxed);
                (ns != UNTOLD).then_some(ns)
            }
        }
    }

    /// The CPU time that the calling thread has used. `None` if the system does not tell it.
    pub fn own_cpu_ns(&self) -> Option<u64> {
        match self {
            Clock::Machine => own_cpu_ns().ok(),
            Clock::Set(_) => self.cpu_ns(self.thread()?),
        }
    }

    /// Whether each reading takes some 20 ns more than necessary, because the machine has no
    /// trustworthy time-stamp counter.
    pub fn is_slow(&self) -> bool {
        matches!(self, Clock::Machine) && ticks::source() == Source::Monotonic
    }

    /// Whether these are the machine's times, which the kernel knows of.
    pub fn is_machine(&self) -> bool {
        matches!(self, Clock::Machine)
    }
}
