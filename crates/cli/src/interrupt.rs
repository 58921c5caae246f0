//! Ctrl-C, SIGTERM and a closed terminal: the first signal ends the run in good order, a second
//! Ctrl-C at once.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use taskscale_sys::process;

/// A flag that is set once the user asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The flag that signals set, once somebody listens.
static LISTENING: OnceLock<Interrupt> = OnceLock::new();

impl Interrupt {
    /// Tells whether the user asked to stop, where anybody listens.
    pub fn has_come() -> bool {
        LISTENING.get().is_some_and(Interrupt::came)
    }

    pub fn listen() -> std::io::Result<Self> {
        let interrupt = Interrupt::default();
        // The order matters: the second Ctrl-C finds the flag set and ends the process.
        signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&interrupt.0))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&interrupt.0))?;
        // `timeout` sends it to the process, and then to its group, so that the second one is no
        // wish for haste. Who is in haste sends SIGKILL.
        signal_hook::flag::register(SIGTERM, Arc::clone(&interrupt.0))?;
        // A shell and the kernel both send it when a terminal is closed, so that the second one is
        // no wish for haste. `nohup` has it ignored.
        if !process::is_ignored(SIGHUP) {
            signal_hook::flag::register(SIGHUP, Arc::clone(&interrupt.0))?;
        }
        Ok(LISTENING.get_or_init(|| interrupt).clone())
    }

    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Lets a file that is longer than `ulimit -f` allows be an error of the one who writes it, and not
/// the end of the process. What this process starts does not inherit it.
pub fn outlive_full_files() {
    // Where that cannot be had, the signal does what it always does.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).ok();
}
