//! The callable around a work item of a pool.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use pyo3::{
    gc::{PyTraverseError, PyVisit},
    prelude::*,
    types::{PyDict, PyTuple},
};
use taskscale_live::Wait;
use taskscale_sys::ticks;

use crate::session::{Crew, Session};

/// Calls a function as a task of the calling thread, and records that.
#[pyclass(frozen, module = "taskscale")]
pub struct Work {
    function: Py<PyAny>,
    name: String,
    made: u64,
    /// Whether it was called. An item that was not called is dropped.
    called: AtomicBool,
    session: Arc<Session>,
}

impl Drop for Work {
    fn drop(&mut self) {
        if !self.called.load(Relaxed) {
            self.session.pools.task_ended();
        }
    }
}

impl Work {
    /// Makes the callable around `function`.
    pub fn new(function: Bound<'_, PyAny>, session: Arc<Session>) -> Self {
        session.pools.task_made();
        Work {
            name: name_of(&function),
            function: function.unbind(),
            made: ticks::now(),
            called: AtomicBool::new(false),
            session,
        }
    }
}

/// The qualified name of a function. For a partial it is that of what the partial calls, also
/// through `Context.run` as `asyncio.to_thread` does it. For any other callable it is that of its
/// type.
fn name_of(function: &Bound<'_, PyAny>) -> String {
    let name = |of: &Bound<'_, PyAny>| of.getattr("__qualname__").ok()?.extract::<String>().ok();
    let partial = || {
        let called = name(&function.getattr("func").ok()?)?;
        let first = || name(&function.getattr("args").ok()?.get_item(0).ok()?);
        Some(if called == "Context.run" { first().unwrap_or(called) } else { called })
    };
    name(function).or_else(partial).or_else(|| name(&function.get_type())).unwrap_or_default()
}

/// A running task. It ends also if the function raises or unwinds.
struct Step<'a> {
    crew: &'a Arc<Crew>,
    worker: Arc<taskscale_live::Worker>,
    name: &'a str,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.worker.end(crate::raw::tail(self.name.as_bytes()));
        self.crew.task_ended();
    }
}

#[pymethods]
impl Work {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let crew = &self.session.pools;
        let again = self.called.swap(true, Relaxed);
        if again {
            // Whoever kept the object called it again: this is another task.
            crew.task_made();
        }
        let worker = crew.worker();
        let begin = ticks::now();
        if !again && !worker.is_open() {
            // An item takes some 10 us to hand over, and the lock is nothing beside that.
            crew.observer.ready([Wait { ready: self.made, start: begin, tasks: 1 }]);
        }
        crew.delays.add(self.session.rate.ns(begin.saturating_sub(self.made)));
        worker.begin_at(begin);
        let _step = Step { crew, worker, name: &self.name };
        self.function.call(py, args, kwargs)
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.function.getattr(py, name)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.function.bind(py).repr()?.to_string())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)
    }
}
