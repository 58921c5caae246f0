//! The object around a coroutine, and `create_task`. The first must be a slot of a type, and both
//! must cost nanoseconds.
//!
//! `asyncio` steps a task by `PyIter_Send(coroutine)`, which calls the slot `am_send` of the
//! coroutine's type. An object with that slot between the task and its coroutine sees each step for
//! the price of a call. PyO3 has no classes with this slot, without a thread check at each call, or
//! with a free list. So type, object and method are written here by hand, in the stable ABI. This
//! is the only module of the package with `unsafe`, for three reasons:
//!
//! * the functions of the C API are unsafe to call: each call here hands over live objects, and
//!   each new reference is given away or released;
//! * an object's layout is the interpreter's: fields are read by a pointer that the interpreter
//!   gave for an object of this type, behind a deque's own fields, whose size the interpreter is
//!   asked for ([`queue`]); and the memory that [`slots`] has for them begins with the collector's
//!   head, whose size it is asked for, too;
//! * what all objects share ([`shared`]) is touched only with the GIL held. (A stable-ABI module
//!   does not load into an interpreter without one.)

#![allow(unsafe_code)]

mod coroutine;
mod create_task;
mod object;
mod place;
mod queue;
mod shared;
mod slots;

use pyo3::{ffi, prelude::*};

pub use coroutine::tail;
pub use shared::{attach, detach, unwatch};

/// Makes the type and the functions. It is called once, when the module is imported.
pub fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
    shared::prepare(module.py())?;
    coroutine::prepare(module)?;
    queue::prepare(module)?;
    module.add_function(wrap_pyfunction!(create_task_method, module)?)?;
    module.add_function(wrap_pyfunction!(observed, module)?)
}

/// A method for `cls`, which derives from `asyncio.BaseEventLoop` or is it, that does what its
/// `create_task`, `original`, does, with the coroutine observed. Where `plain` is true `original`
/// is the standard library's, and the usual case does not call it.
#[pyfunction]
fn create_task_method<'py>(
    cls: &Bound<'py, pyo3::types::PyType>,
    original: Bound<'py, PyAny>,
    plain: bool,
) -> PyResult<Bound<'py, PyAny>> {
    create_task::method(cls, original, plain)
}

/// The object to make a task of instead of `coroutine`; `coroutine` itself where nothing is
/// observed, or where it is none.
#[pyfunction]
fn observed<'py>(coroutine: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = coroutine.py();
    // SAFETY: the argument is alive, the GIL is held, and the result is a new reference or null
    // with an exception set.
    unsafe {
        let around = coroutine::around(coroutine.as_ptr());
        queue::will_put(0);
        Bound::from_owned_ptr_or_err(py, around)
    }
}

/// A new reference to the object that a pointer shows.
unsafe fn new_reference(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    unsafe { ffi::Py_XINCREF(object) };
    object
}
