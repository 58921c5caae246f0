//! The class that Python sees.

use std::sync::{Arc, Mutex};

use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};
use taskscale_model::{
    digest::{Digest, PatternName},
    figure::time,
};

use crate::{
    blocked::Place,
    delays::Quantiles,
    raw,
    session::{Crew, Session},
    watch::lock,
    work::Work,
};

/// Records from [`start`](Recorder::start) to [`stop`](Recorder::stop), and says what it saw at any
/// time.
#[pyclass(frozen, module = "taskscale")]
pub struct Recorder {
    queue_delays: bool,
    state: Mutex<State>,
}

enum State {
    Recording(Arc<Session>),
    /// The digests as they were at the stop.
    Stopped(Box<[Seen; 2]>),
}

#[derive(Clone)]
struct Seen {
    digest: Digest,
    delays: Quantiles,
    made: u64,
    alive: u64,
    peak: u64,
    places: Vec<Place>,
}

impl Seen {
    /// `workers`: at least so many, whether they ran or not.
    fn of(crew: &Crew, workers: Option<u32>, places: Vec<Place>, unit: &str) -> Self {
        let ((made, alive, peak), delays) = (crew.alive(), crew.delays.quantiles());
        let mut digest = crew.observer.digest_of(workers);
        if made > 0 {
            let [p50, p99, max] = [delays.p50, delays.p99, delays.max].map(|ns| time(ns as f64));
            let note = format!(
                "first step after p50 {p50}, p99 {p99}, max {max}; {alive} of {made} {unit} alive, at most {peak}"
            );
            digest.notes.insert(0, note);
        }
        Self::name_places(&mut digest, &places);
        Seen { digest, delays, made, alive, peak, places }
    }

    /// Names in the diagnosis who blocked the loop, and where. If something else is the diagnosis,
    /// the names go into the notes.
    fn name_places(digest: &mut Digest, places: &[Place]) {
        let Some(worst) = places.first() else { return };
        let who = worst.words();
        let blocked =
            digest.patterns.iter_mut().find(|pattern| pattern.name == PatternName::EventLoopBlocked);
        match blocked {
            Some(pattern) => pattern.evidence = format!("{}: {who}", pattern.evidence),
            None => digest.notes.insert(0, format!("blocked its loop: {who}")),
        }
    }
}

impl Recorder {
    fn seen(&self) -> [Seen; 2] {
        match &*lock(&self.state) {
            State::Recording(session) => Self::look(session),
            State::Stopped(seen) => (**seen).clone(),
        }
    }

    fn look(session: &Session) -> [Seen; 2] {
        session.count_waits();
        [
            Seen::of(&session.loops, None, session.places(), "tasks"),
            // A thread of a pool takes items, also where it had none since a clearing.
            Seen::of(&session.pools, Some(session.pools.threads()), Vec::new(), "work items"),
        ]
    }

    fn one(&self, pools: bool) -> Seen {
        let [loops, of_pools] = self.seen();
        if pools { of_pools } else { loops }
    }
}

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (*, queue_delays = false))]
    fn new(queue_delays: bool) -> Self {
        Recorder { queue_delays, state: Mutex::new(State::Recording(Session::new(queue_delays))) }
    }

    /// Begins to record.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        let session = match &*lock(&self.state) {
            State::Recording(session) => session.clone(),
            State::Stopped(_) => {
                return Err(PyRuntimeError::new_err("this observation has ended; begin another one"));
            }
        };
        if raw::attach(py, session) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(
            "tasks are being observed already: end that observation first, or use it here",
        ))
    }

    /// Ends recording; what was seen stays.
    fn stop(&self, py: Python<'_>) {
        // No lock may be held while the GIL is released, and `detach` releases it.
        let session = match &*lock(&self.state) {
            State::Recording(session) => session.clone(),
            State::Stopped(_) => return,
        };
        raw::detach(py, &session);
        let seen = Box::new(Self::look(&session));
        *lock(&self.state) = State::Stopped(seen);
    }

    /// Stops the thread that looks where slow steps are, for a fork; the next task starts it again.
    fn before_fork(&self, py: Python<'_>) {
        // No lock may be held while the GIL is released.
        let session = match &*lock(&self.state) {
            State::Recording(session) => session.clone(),
            State::Stopped(_) => return,
        };
        raw::unwatch(py, &session);
    }

    /// How often that thread has looked.
    fn looks(&self) -> u64 {
        match &*lock(&self.state) {
            State::Recording(session) => session.watch.looks(),
            State::Stopped(_) => 0,
        }
    }

    /// Forgets what was seen so far.
    fn clear(&self) {
        let mut state = lock(&self.state);
        match &*state {
            State::Recording(session) => session.clear(),
            State::Stopped(_) => {
                *state = State::Stopped(Box::new(Self::look(&Session::new(self.queue_delays))));
            }
        }
    }

    /// The callable to submit to a pool instead of `function`; `function` itself after the end.
    fn work<'py>(&self, function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let session = match &*lock(&self.state) {
            State::Recording(session) => session.clone(),
            State::Stopped(_) => return Ok(function),
        };
        let py = function.py();
        Ok(Bound::new(py, Work::new(function, session))?.into_any())
    }

    /// At most 2,048 bytes.
    fn text(&self, pools: bool) -> String {
        taskscale_report::digest_text(&self.one(pools).digest)
    }

    fn json(&self, pools: bool) -> String {
        taskscale_report::digest_json(&self.one(pools).digest)
    }

    fn html(&self, pools: bool) -> String {
        taskscale_report::digest_html(&self.one(pools).digest, &[])
    }

    fn markdown(&self, pools: bool) -> String {
        taskscale_report::digest_markdown(&self.one(pools).digest)
    }

    /// Tasks made, alive now, alive at most.
    fn alive(&self, pools: bool) -> (u64, u64, u64) {
        let seen = self.one(pools);
        (seen.made, seen.alive, seen.peak)
    }

    /// From ready to first step in nanoseconds: count, median, 99th percentile, maximum.
    fn delays(&self, pools: bool) -> (u64, u64, u64, u64) {
        let Quantiles { count, p50, p99, max } = self.one(pools).delays;
        (count, p50, p99, max)
    }

    /// Steps that held up a loop, by place, costliest first.
    fn blocked<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = self.one(false).places.into_iter().map(|place| {
            let row = PyDict::new(py);
            row.set_item("coroutine", place.coroutine)?;
            row.set_item("function", place.function)?;
            row.set_item("file", place.file)?;
            row.set_item("line", place.line)?;
            row.set_item("steps", place.steps)?;
            row.set_item("total_ns", place.total_ns)?;
            row.set_item("max_ns", place.max_ns)?;
            Ok(row)
        });
        rows.collect()
    }
}
