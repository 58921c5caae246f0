//! The callable around a work item of a pool.

use std::sync::Arc;

use pyo3::{
    gc::{PyTraverseError, PyVisit},
    prelude::*,
    types::{PyDict, PyTuple},
};
use taskscale_sys::ticks;

use crate::session::{Crew, Session};

/// Calls a function as a task of the calling thread, and records that.
#[pyclass(frozen, module = "taskscale")]
pub struct Work {
    function: Py<PyAny>,
    name: String,
    made: u64,
    session: Arc<Session>,
}

impl Work {
    /// Around `function`.
    pub fn new(function: Bound<'_, PyAny>, session: Arc<Session>) -> Self {
        session.pools.task_made();
        Work { name: name_of(&function), function: function.unbind(), made: ticks::now(), session }
    }
}

/// The qualified name of a function; of what a partial calls; of the type of any other callable.
fn name_of(function: &Bound<'_, PyAny>) -> String {
    let name = |of: &Bound<'_, PyAny>| of.getattr("__qualname__").ok()?.extract::<String>().ok();
    name(function)
        .or_else(|| name(&function.getattr("func").ok()?))
        .or_else(|| name(&function.get_type()))
        .unwrap_or_default()
}

/// Ends the task also where the function raises or unwinds.
struct Step<'a> {
    crew: &'a Arc<Crew>,
    worker: Arc<taskscale_live::Worker>,
    name: &'a str,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.worker.end(self.name.as_bytes());
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
        let worker = crew.worker();
        let begin = ticks::now();
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
