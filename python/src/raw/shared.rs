//! The state that all objects around coroutines share. It is touched only with the GIL held, so
//! plain loads and stores suffice.

use std::{
    ffi::CStr,
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, Ordering::Relaxed},
    },
};

use pyo3::{ffi, prelude::*};

use super::object::HIGHEST_NUMBER;
use crate::{session::Session, watch::Seat};

/// The present observation; null if there is none. It holds a reference.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(null_mut());
/// The number of the present observation, 0 if there is none. It tells an object whether it belongs
/// to that observation.
static NUMBER: AtomicU16 = AtomicU16::new(0);
static LAST_NUMBER: AtomicU16 = AtomicU16::new(0);

/// The thread that asked for its seat last (`THREAD`), and that seat. The session keeps the seat
/// alive until another thread has taken the place of one that has ended.
static THREAD: AtomicU64 = AtomicU64::new(0);
static SEAT: AtomicPtr<Seat> = AtomicPtr::new(null_mut());
/// Whether the observation's thread that looks for slow steps runs.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// `types.CoroutineType`, as an object. The type is not part of the stable ABI.
pub static COROUTINE_TYPE: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());

/// Names as the interpreter keeps them: one object each.
pub struct Words {
    pub qualname: Word,
    pub send: Word,
    pub throw: Word,
    pub close: Word,
    pub await_: Word,
    pub class: Word,
    pub cr_frame: Word,
    pub f_lineno: Word,
    pub cr_code: Word,
    pub co_filename: Word,
    pub co_qualname: Word,
    pub co_firstlineno: Word,
    pub closed: Word,
    pub debug: Word,
    pub task_factory: Word,
    pub loop_: Word,
    pub name: Word,
    pub context: Word,
    pub task: Word,
    pub ready: Word,
}

/// A name and its text.
pub struct Word(AtomicPtr<ffi::PyObject>, &'static CStr);

impl Word {
    const fn new(text: &'static CStr) -> Self {
        Word(AtomicPtr::new(null_mut()), text)
    }

    /// The object, as a borrowed reference that lives for ever.
    #[inline]
    pub fn get(&self) -> *mut ffi::PyObject {
        self.0.load(Relaxed)
    }
}

pub static WORDS: Words = Words {
    qualname: Word::new(c"__qualname__"),
    send: Word::new(c"send"),
    throw: Word::new(c"throw"),
    close: Word::new(c"close"),
    await_: Word::new(c"__await__"),
    class: Word::new(c"__class__"),
    cr_frame: Word::new(c"cr_frame"),
    f_lineno: Word::new(c"f_lineno"),
    cr_code: Word::new(c"cr_code"),
    co_filename: Word::new(c"co_filename"),
    co_qualname: Word::new(c"co_qualname"),
    co_firstlineno: Word::new(c"co_firstlineno"),
    closed: Word::new(c"_closed"),
    debug: Word::new(c"_debug"),
    task_factory: Word::new(c"_task_factory"),
    loop_: Word::new(c"loop"),
    name: Word::new(c"name"),
    context: Word::new(c"context"),
    task: Word::new(c"Task"),
    ready: Word::new(c"_ready"),
};

/// Interns the names and finds the coroutine type.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    let words = &WORDS;
    for word in [
        &words.qualname,
        &words.send,
        &words.throw,
        &words.close,
        &words.await_,
        &words.class,
        &words.cr_frame,
        &words.f_lineno,
        &words.cr_code,
        &words.co_filename,
        &words.co_qualname,
        &words.co_firstlineno,
        &words.closed,
        &words.debug,
        &words.task_factory,
        &words.loop_,
        &words.name,
        &words.context,
        &words.task,
        &words.ready,
    ] {
        // SAFETY: the text ends with a zero; the reference is kept for ever.
        let object = unsafe { ffi::PyUnicode_InternFromString(word.1.as_ptr()) };
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        word.0.store(object, Relaxed);
    }
    let coroutine = py.import("types")?.getattr("CoroutineType")?;
    COROUTINE_TYPE.store(coroutine.into_ptr(), Relaxed);
    Ok(())
}

/// Makes `session` the present observation. Returns `false` if there is another one.
pub fn attach(_gil: Python<'_>, session: Arc<Session>) -> bool {
    if !SESSION.load(Relaxed).is_null() {
        return false;
    }
    super::queue::ask(session.queue_delays);
    SESSION.store(Arc::into_raw(session).cast_mut(), Relaxed);
    let number = LAST_NUMBER.load(Relaxed) % HIGHEST_NUMBER + 1;
    LAST_NUMBER.store(number, Relaxed);
    NUMBER.store(number, Relaxed);
    true
}

/// Ends the present observation if it is `session`.
pub fn detach(py: Python<'_>, session: &Arc<Session>) {
    if SESSION.load(Relaxed).cast_const() != Arc::as_ptr(session) {
        return;
    }
    NUMBER.store(0, Relaxed);
    THREAD.store(0, Relaxed);
    SEAT.store(null_mut(), Relaxed);
    let ended = SESSION.swap(null_mut(), Relaxed);
    // SAFETY: the reference that `attach` made.
    drop(unsafe { Arc::from_raw(ended.cast_const()) });
    super::slots::sweep(0);
    super::queue::put_back(py);
    // This comes last because it releases the GIL.
    unwatch(py, session);
}

/// Stops the thread that looks for slow steps. The next task starts it again.
pub fn unwatch(py: Python<'_>, session: &Arc<Session>) {
    WATCHED.store(false, Relaxed);
    session.watch.stop(py);
}

/// Starts the thread that looks for slow steps if it does not run. Call it only if [`number`] is
/// not 0.
#[inline]
pub unsafe fn watch() {
    if !WATCHED.load(Relaxed) {
        WATCHED.store(true, Relaxed);
        let session = unsafe { session() };
        session.watch.start(session.slow);
    }
}

/// The number of the present observation, 0 if there is none.
#[inline]
pub fn number() -> u16 {
    NUMBER.load(Relaxed)
}

/// The present observation. Call it only if [`number`] is not 0, and use the result only until that
/// may have changed.
#[inline]
pub unsafe fn session<'a>() -> &'a Session {
    // SAFETY: not null while the number is not 0; `attach` and `detach` change both.
    unsafe { &*SESSION.load(Relaxed) }
}

/// The seat of this thread, under the same conditions as [`session`].
#[inline]
pub unsafe fn seat<'a>() -> &'a Seat {
    // SAFETY: the GIL is held, so that there is a thread state; its number is never given twice.
    let thread = unsafe { ffi::PyThreadState_GetID(ffi::PyThreadState_Get()) } as u64;
    if thread != THREAD.load(Relaxed) {
        unsafe { find_seat(thread) };
    }
    // SAFETY: the session holds it while its thread lives, which is this one.
    unsafe { &*SEAT.load(Relaxed) }
}

#[cold]
unsafe fn find_seat(thread: u64) {
    // SAFETY: the caller holds the GIL. An exception may be set that must stay: nothing here raises
    // one and leaves it.
    let seat = unsafe { session().seat(Python::assume_attached(), thread) };
    THREAD.store(thread, Relaxed);
    SEAT.store(Arc::as_ptr(&seat).cast_mut(), Relaxed);
}
