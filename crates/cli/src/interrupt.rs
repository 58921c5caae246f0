//! Ctrl-C and SIGTERM: the first signal ends the run in good order, the second at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use signal_hook::consts::{SIGINT, SIGTERM};

/// A flag that is set once the user asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub fn listen() -> std::io::Result<Self> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the second signal finds the flag set and ends the process.
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupt.0))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
