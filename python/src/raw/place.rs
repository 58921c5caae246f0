//! Finds where a step was that held up its loop.

use std::ptr::null_mut;

use pyo3::ffi::{self, PyObject};

use super::shared::{WORDS, Word, session};
use crate::{blocked::Place, watch::Spot};

/// Records a slow step of the coroutine `inner`. It was at `spot` if someone looked. If an
/// exception is set, it stays set.
#[cold]
#[inline(never)]
pub unsafe fn slow(inner: *mut PyObject, name: &[u8], ticks: u64, spot: Option<Spot>) {
    unsafe {
        let (mut kind, mut value, mut trace) = (null_mut(), null_mut(), null_mut());
        ffi::PyErr_Fetch(&mut kind, &mut value, &mut trace);
        let ns = session().rate.ns(ticks);
        let Spot { function, file, line } = spot.unwrap_or_else(|| suspended_at(inner));
        ffi::PyErr_Restore(kind, value, trace);
        let coroutine = String::from_utf8_lossy(name).into_owned();
        session().blocked(Place { coroutine, function, file, line, steps: 1, total_ns: ns, max_ns: ns });
    }
}

/// The place where a coroutine waits, which is behind the slow step. If the coroutine has ended, it
/// is its definition.
unsafe fn suspended_at(coroutine: *mut PyObject) -> Spot {
    unsafe {
        let (frame, code) = (get(coroutine, &WORDS.cr_frame), get(coroutine, &WORDS.cr_code));
        let suspended = !frame.is_null() && frame != ffi::Py_None();
        let line =
            if suspended { number(frame, &WORDS.f_lineno) } else { number(code, &WORDS.co_firstlineno) };
        let (function, file) = (text(code, &WORDS.co_qualname), text(code, &WORDS.co_filename));
        ffi::Py_XDECREF(frame);
        ffi::Py_XDECREF(code);
        Spot { function, file, line }
    }
}

/// An attribute as a new reference. If there is none, it is null and no exception is set.
unsafe fn get(object: *mut PyObject, word: &Word) -> *mut PyObject {
    unsafe {
        let found = if object.is_null() { null_mut() } else { ffi::PyObject_GetAttr(object, word.get()) };
        ffi::PyErr_Clear();
        found
    }
}

unsafe fn number(object: *mut PyObject, word: &Word) -> u32 {
    unsafe {
        let found = get(object, word);
        let number = if found.is_null() { 0 } else { ffi::PyLong_AsLong(found) };
        ffi::PyErr_Clear();
        ffi::Py_XDECREF(found);
        u32::try_from(number).unwrap_or(0)
    }
}

unsafe fn text(object: *mut PyObject, word: &Word) -> String {
    unsafe {
        let found = get(object, word);
        let mut length = 0;
        let bytes =
            if found.is_null() { std::ptr::null() } else { ffi::PyUnicode_AsUTF8AndSize(found, &mut length) };
        let text = if bytes.is_null() {
            String::new()
        } else {
            String::from_utf8_lossy(std::slice::from_raw_parts(bytes.cast(), length as usize)).into_owned()
        };
        ffi::PyErr_Clear();
        ffi::Py_XDECREF(found);
        text
    }
}
