//! The native half of the Python package `taskscale`: a digest of what asyncio's tasks and the
//! threads of pools do, taken while they do it.
//!
//! ```text
//! loop.create_task(coroutine) -> Task(Coroutine(coroutine)) --each step--> Worker --> Digest
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`session`] | what one observation records: workers by thread, delays of first steps, steps that blocked |
//! | [`raw`] | the object around a coroutine and `create_task`, in the C API; the one module with `unsafe` |
//! | [`work`] | the callable around a work item of a pool |
//! | [`delays`] | how long tasks waited for their first step |
//! | [`waits`] | when steps became ready |
//! | [`blocked`] | steps that held up their loop |
//! | [`watch`] | the thread that looks where a slow step is |
//! | [`recorder`] | the class that Python sees |
//!
//! `taskscale/_patch.py` says what is patched and how that is undone.

mod blocked;
mod delays;
mod raw;
mod recorder;
mod session;
mod waits;
mod watch;
mod work;

use pyo3::prelude::*;

/// The native half of `taskscale`.
#[pymodule]
mod _taskscale {
    #[pymodule_export]
    use crate::recorder::Recorder;
    #[pymodule_export]
    use crate::work::Work;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::raw::prepare(module)
    }
}
