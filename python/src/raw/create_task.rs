//! The method `create_task` of event loops.
//!
//! It is a method of the class, so it serves every present and future loop and leaves the loop's
//! task factory to the program. In the usual case (an open loop, no task factory, no debug mode) it
//! makes the task itself, as the standard library's method does. In all other cases it calls that
//! method.

use std::{
    cell::UnsafeCell,
    ffi::c_int,
    ptr::null_mut,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use pyo3::{
    ffi::{self, Py_ssize_t, PyObject},
    prelude::*,
    types::{PyDict, PyType},
};

use super::{
    coroutine, new_reference, queue,
    shared::{WORDS, number},
};

/// The method that ours stands for. It is kept for ever, because someone may hold a method of ours.
static ORIGINAL: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());
/// The names in `asyncio.tasks` if the original is the standard library's, which looks up `Task`
/// there at each call. Otherwise null.
static TASKS: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());
/// `{"loop": None}`, which is filled in and emptied because making one costs 40 ns. It is null
/// while in use.
static KEYWORDS: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());

struct Definition(UnsafeCell<ffi::PyMethodDef>);
// SAFETY: the interpreter reads it with the GIL held.
unsafe impl Sync for Definition {}

static DEFINITION: Definition = Definition(UnsafeCell::new(ffi::PyMethodDef {
    ml_name: c"create_task".as_ptr(),
    ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: create_task },
    ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
    ml_doc: c"create_task($self, coro, *, name=None, context=None)\n--\n\nSchedule a coroutine object.\n\nReturn a task object."
        .as_ptr(),
}));

/// Makes the method for a class. There is only one original at a time.
pub fn method<'py>(
    cls: &Bound<'py, PyType>,
    original: Bound<'py, PyAny>,
    plain: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let tasks = if plain { py.import("asyncio.tasks")?.dict().into_any().into_ptr() } else { null_mut() };
    let keywords = PyDict::new(py);
    keywords.set_item("loop", py.None())?;
    // The former objects are kept, because a call may still use them.
    ORIGINAL.store(original.into_ptr(), Relaxed);
    TASKS.store(tasks, Relaxed);
    KEYWORDS.store(keywords.into_ptr(), Relaxed);
    // SAFETY: the definition lives for ever; the result is a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(cls.as_type_ptr(), DEFINITION.0.get())) }
}

unsafe extern "C" fn create_task(
    event_loop: *mut PyObject,
    arguments: *const *mut PyObject,
    count: Py_ssize_t,
    keywords: *mut PyObject,
) -> *mut PyObject {
    unsafe {
        if count != 1 || number() == 0 {
            return call_original(event_loop, arguments, count, keywords, None);
        }
        let coroutine = *arguments;
        queue::see(event_loop);
        let around = coroutine::around(coroutine);
        if around.is_null() {
            return null_mut();
        }
        let task = if around != coroutine && is_usual(event_loop) {
            usual(event_loop, around, arguments.add(1), keywords)
        } else {
            Made::Otherwise
        };
        let task = match task {
            Made::Task(task) => task,
            Made::Otherwise => {
                // A factory may take its time.
                queue::will_put(0);
                call_original(event_loop, arguments, count, keywords, Some(around))
            }
        };
        ffi::Py_DECREF(around);
        queue::will_put(0);
        task
    }
}

enum Made {
    /// The task, or null with an exception set.
    Task(*mut PyObject),
    /// Nothing was made: the original must be called.
    Otherwise,
}

/// Whether the loop is open, has no task factory and is not in debug mode (where a task remembers
/// who made it).
unsafe fn is_usual(event_loop: *mut PyObject) -> bool {
    unsafe {
        !TASKS.load(Relaxed).is_null()
            && attribute_is(event_loop, WORDS.task_factory.get(), ffi::Py_None())
            && attribute_is(event_loop, WORDS.closed.get(), ffi::Py_False())
            && attribute_is(event_loop, WORDS.debug.get(), ffi::Py_False())
    }
}

#[inline]
unsafe fn attribute_is(object: *mut PyObject, name: *mut PyObject, value: *mut PyObject) -> bool {
    unsafe {
        let found = ffi::PyObject_GetAttr(object, name);
        if found.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        ffi::Py_DECREF(found);
        found == value
    }
}

/// `Task(around, loop=event_loop, ...)`.
#[inline]
unsafe fn usual(
    event_loop: *mut PyObject,
    around: *mut PyObject,
    values: *const *mut PyObject,
    names: *mut PyObject,
) -> Made {
    unsafe {
        let task_type = ffi::PyDict_GetItemWithError(TASKS.load(Relaxed), WORDS.task.get());
        if task_type.is_null() {
            ffi::PyErr_Clear();
            return Made::Otherwise;
        }
        // Only `name` and `context` are passed on, and only if they are not None.
        let (mut name, mut context) = (null_mut(), null_mut());
        let given = if names.is_null() { 0 } else { ffi::PyTuple_Size(names) };
        for index in 0..given {
            let (word, value) = (ffi::PyTuple_GetItem(names, index), *values.add(index as usize));
            if word == WORDS.name.get() {
                name = value;
            } else if word == WORDS.context.get() {
                context = value;
            } else {
                return Made::Otherwise;
            }
        }
        let none = ffi::Py_None();
        let more = (!name.is_null() && name != none) || (!context.is_null() && context != none);
        let positional = ffi::PyTuple_New(1);
        if positional.is_null() {
            return Made::Task(null_mut());
        }
        // This steals the reference and cannot fail on a new tuple.
        ffi::PyTuple_SetItem(positional, 0, new_reference(around));
        let kept = if more { null_mut() } else { KEYWORDS.swap(null_mut(), Relaxed) };
        let keywords = if kept.is_null() { ffi::PyDict_New() } else { kept };
        let mut task = null_mut();
        if !keywords.is_null() && set(keywords, &WORDS.loop_, event_loop) == 0 {
            let mut failed = 0;
            if more {
                for (word, value) in [(&WORDS.name, name), (&WORDS.context, context)] {
                    if !value.is_null() && value != none {
                        failed |= set(keywords, word, value);
                    }
                }
            }
            if failed == 0 {
                ffi::Py_INCREF(task_type);
                task = ffi::PyObject_Call(task_type, positional, keywords);
                ffi::Py_DECREF(task_type);
            }
        }
        if !kept.is_null() && set(kept, &WORDS.loop_, none) == 0 && KEYWORDS.load(Relaxed).is_null() {
            KEYWORDS.store(kept, Relaxed);
        } else {
            ffi::Py_XDECREF(keywords);
        }
        ffi::Py_DECREF(positional);
        Made::Task(task)
    }
}

unsafe fn set(dictionary: *mut PyObject, word: &super::shared::Word, value: *mut PyObject) -> c_int {
    unsafe { ffi::PyDict_SetItem(dictionary, word.get(), value) }
}

/// Calls the original with the arguments. `instead` replaces the first one.
unsafe fn call_original(
    event_loop: *mut PyObject,
    arguments: *const *mut PyObject,
    count: Py_ssize_t,
    names: *mut PyObject,
    instead: Option<*mut PyObject>,
) -> *mut PyObject {
    unsafe {
        let positional = ffi::PyTuple_New(count + 1);
        if positional.is_null() {
            return null_mut();
        }
        ffi::PyTuple_SetItem(positional, 0, new_reference(event_loop));
        for index in 0..count {
            let value = instead.filter(|_| index == 0).unwrap_or(*arguments.add(index as usize));
            ffi::PyTuple_SetItem(positional, index + 1, new_reference(value));
        }
        let keywords = if names.is_null() {
            null_mut()
        } else {
            keyword_dictionary(names, arguments.add(count as usize))
        };
        let failed = !names.is_null() && keywords.is_null();
        let task = if failed {
            null_mut()
        } else {
            ffi::PyObject_Call(ORIGINAL.load(Relaxed), positional, keywords)
        };
        ffi::Py_DECREF(positional);
        ffi::Py_XDECREF(keywords);
        task
    }
}

unsafe fn keyword_dictionary(names: *mut PyObject, values: *const *mut PyObject) -> *mut PyObject {
    unsafe {
        let keywords = ffi::PyDict_New();
        if keywords.is_null() {
            return null_mut();
        }
        for index in 0..ffi::PyTuple_Size(names) {
            let (name, value) = (ffi::PyTuple_GetItem(names, index), *values.add(index as usize));
            if ffi::PyDict_SetItem(keywords, name, value) != 0 {
                ffi::Py_DECREF(keywords);
                return null_mut();
            }
        }
        keywords
    }
}
