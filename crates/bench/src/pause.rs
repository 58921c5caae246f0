//! What stood still while a request was under way: a time that holds a stop says nothing of the
//! work.

use taskscale_model::run_file::Stopped;
use taskscale_sys::{clock, process::Child};

/// The difference between two readings of the sleep clock that is no sleep, in nanoseconds: the
/// reading itself may be interrupted between its two clocks. Machines sleep for seconds.
const SLEPT_NS: u64 = 50_000_000;

/// What is known before a request is sent.
pub(crate) struct Pause {
    continued: u64,
    slept_ns: u64,
}

impl Pause {
    /// Looks before a request. What stopped before that is no matter.
    pub fn begin(child: &Child) -> Self {
        child.was_stopped();
        Pause { continued: clock::continued(), slept_ns: clock::slept_ns() }
    }

    /// Looks after the reply.
    pub fn seen(&self, child: &Child) -> Option<Stopped> {
        if child.was_stopped() {
            Some(Stopped::Probe)
        } else if clock::continued() != self.continued {
            Some(Stopped::Tool)
        } else {
            (clock::slept_ns() > self.slept_ns + SLEPT_NS).then_some(Stopped::Machine)
        }
    }
}
