//! Where an observer's times come from: the machine, or a program that sets them.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use taskscale_sys::{
    clock::{thread_cpu_ns, thread_id},
    ticks::{self, Anchor, Rate, Source},
};

/// The clock of an observer.
///
/// [`Worker::begin`](crate::Worker::begin) and [`end`](crate::Worker::end) read the machine's clock
/// in either case. With a clock that is set, [`begin_at`](crate::Worker::begin_at) and
/// [`end_at`](crate::Worker::end_at) are called in their place.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The clock of this machine ([`ticks`]).
    #[default]
    Machine,
    /// Times that are made up, CPU time too. The kernel knows nothing of them and is not asked for
    /// run delay.
    Set(Arc<SetClock>),
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct SetClock {
    rate: Rate,
    now: AtomicU64,
    thread: AtomicU32,
    /// Of each thread.
    cpu_ns: [AtomicU64; SetClock::THREADS as usize],
}

impl SetClock {
    /// Threads that have CPU time of their own: those with numbers below this.
    pub const THREADS: u32 = 8;

    /// One whose ticks have this rate and which stands at 0.
    pub fn new(rate: Rate) -> Arc<Self> {
        Arc::new(SetClock {
            rate,
            now: AtomicU64::new(0),
            thread: AtomicU32::new(0),
            cpu_ns: Default::default(),
        })
    }

    /// Sets it to so many nanoseconds. Returns the ticks of that moment.
    pub fn set_ns(&self, ns: u64) -> u64 {
        let ticks = self.rate.ticks(ns);
        self.now.store(ticks, Relaxed);
        ticks
    }

    /// Sets the thread that calls from now on; thread 0 does until then.
    pub fn set_thread(&self, thread: u32) {
        self.thread.store(thread.min(Self::THREADS - 1), Relaxed);
    }

    /// Sets the CPU time that the calling thread has used.
    pub fn set_cpu_ns(&self, ns: u64) {
        self.cpu_ns[self.thread.load(Relaxed) as usize].store(ns, Relaxed);
    }
}

impl Clock {
    /// The time now, in ticks and as the monotonic clock has it.
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

    /// From ticks to nanoseconds.
    pub fn rate(&self) -> Rate {
        match self {
            Clock::Machine => Rate::of_machine(),
            Clock::Set(clock) => clock.rate,
        }
    }

    /// The ticks that a reading of the clock takes, which are part of every task that is timed.
    pub fn reading_ticks(&self) -> u64 {
        match self {
            Clock::Machine => ticks::reading_ticks(),
            Clock::Set(_) => 0,
        }
    }

    /// What no duration can be finer than.
    pub fn resolution_ns(&self) -> u64 {
        match self {
            Clock::Machine => ticks::resolution_ns(),
            Clock::Set(clock) => clock.rate.ns(1).max(1),
        }
    }

    /// The calling thread, as [`cpu_ns`](Clock::cpu_ns) takes it; `None` where the system has no
    /// number for it.
    pub fn thread(&self) -> Option<u32> {
        match self {
            Clock::Machine => thread_id(),
            Clock::Set(clock) => Some(clock.thread.load(Relaxed)),
        }
    }

    /// The CPU time that a thread has used; `None` where the system does not say.
    pub fn cpu_ns(&self, thread: u32) -> Option<u64> {
        match self {
            Clock::Machine => thread_cpu_ns(thread),
            Clock::Set(clock) => Some(clock.cpu_ns.get(thread as usize)?.load(Relaxed)),
        }
    }

    /// Whether each reading takes some 20 ns more than it might, since the machine has no
    /// time-stamp counter to be trusted.
    pub fn is_slow(&self) -> bool {
        matches!(self, Clock::Machine) && ticks::source() == Source::Monotonic
    }

    /// Whether the kernel knows of these times.
    pub fn is_machine(&self) -> bool {
        matches!(self, Clock::Machine)
    }
}
