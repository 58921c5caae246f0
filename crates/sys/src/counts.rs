//! Exact counts of what another process does. They do not depend on how busy the machine is.
//!
//! | module | counts | by | of whom |
//! |---|---|---|---|
//! | [`allocations`] | calls to malloc and its relatives, bytes asked for | a preloaded library and a shared file | all that load it |
//! | [`references`] | retains and releases of Swift objects | another such library | all that load it |
//! | [`syscalls`] | system calls | the kernel's tracepoint `raw_syscalls:sys_enter` | the process and all it starts |
//! | [`traced`] | system calls by name, without privileges | a tracer (ptrace) | the process and all it starts |
//! | [`usage`] | context switches, page faults | the kernel's sums for a parent | the process and children it has waited for |
//! | [`peak`] | the largest resident memory | the kernel's mark `VmHWM` | the process and its living descendants |
//! | [`instructions`] | instructions in user mode | the processor | the process and all it starts |
//! | [`simulated`] | instructions in user mode | valgrind | the process and all it starts |
//!
//! Most cost the counted process time (`allocations`: 1 ns a call to the allocator; `syscalls`: 107
//! ns a system call; `traced`: tens of us), so a process that is counted is not timed.

pub mod allocations;
pub mod instructions;
#[cfg(target_os = "linux")]
mod opened;
/// Stands in on other systems, where nothing is opened.
#[cfg(not(target_os = "linux"))]
mod opened {
    use taskscale_model::missing::Missing;

    #[derive(Debug)]
    pub(crate) enum Opener {}

    impl Opener {
        pub fn hook(&self, _: &mut std::process::Command) {
            match *self {}
        }

        pub fn receive(self) -> Result<std::fs::File, Missing> {
            match self {}
        }
    }
}
mod page;
pub mod peak;
pub mod references;
pub mod simulated;
pub mod syscalls;
pub mod traced;
pub mod usage;

use std::sync::Arc;

use taskscale_model::missing::Missing;

/// What to count of a process from its first instruction on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// System calls, by the tracepoint.
    pub syscalls: bool,
    /// System calls by name, by a tracer. Each then takes tens of microseconds.
    pub traced: bool,
    /// Instructions, by the processor.
    pub instructions: bool,
}

/// The counters of a process, each of them or why there is none; `None` where it was not wanted.
#[derive(Debug, Default)]
pub struct Counters {
    pub syscalls: Option<Result<syscalls::Counter, Missing>>,
    pub traced: Option<Result<traced::Counter, Missing>>,
    pub instructions: Option<Result<instructions::Counter, Missing>>,
}

/// What is prepared for a process before it exists.
#[derive(Debug)]
pub(crate) struct Prepared {
    syscalls: Option<Result<opened::Opener, Missing>>,
    traced: Option<Result<traced::Tracer, Missing>>,
    instructions: Option<Result<opened::Opener, Missing>>,
}

impl Prepared {
    pub fn of(wanted: Wanted) -> Self {
        Prepared {
            syscalls: wanted.syscalls.then(syscalls::prepare),
            traced: wanted.traced.then(traced::Tracer::prepare),
            instructions: wanted.instructions.then(instructions::prepare),
        }
    }

    /// Arranges that the program of `command` is counted.
    pub fn hook(&self, command: &mut std::process::Command) {
        for opener in [&self.syscalls, &self.instructions].into_iter().flatten().flatten() {
            opener.hook(command);
        }
        if let Some(Ok(tracer)) = &self.traced {
            tracer.hook(command);
        }
    }

    /// What must live as long as the process does.
    pub fn tracer(&self) -> Option<Arc<traced::Session>> {
        self.traced.as_ref()?.as_ref().ok().map(traced::Tracer::session)
    }

    /// Gives the counters, once the process has been started.
    pub fn receive(self) -> Counters {
        Counters {
            syscalls: self.syscalls.map(|opener| opener?.receive().map(|event| syscalls::Counter { event })),
            traced: self.traced.map(|tracer| tracer?.receive()),
            instructions: self
                .instructions
                .map(|opener| opener?.receive().map(|event| instructions::Counter { event })),
        }
    }
}
