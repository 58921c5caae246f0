//! What all objects around coroutines share. Touched with the GIL held, so that plain loads and stores do.

use std::{
    ffi::CStr,
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed},
    },
};

use pyo3::{ffi, prelude::*};
use taskscale_live::Worker;

use crate::session::Session;

/// The observation that is going on; null where there is none. Holds a reference.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(null_mut());
/// Its number, 0 where there is none: what tells an object whether it belongs to it.
static NUMBER: AtomicU64 = AtomicU64::new(0);
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// The thread that asked for its worker last, and that worker, which the session keeps alive.
static THREAD: AtomicU64 = AtomicU64::new(0);
static WORKER: AtomicPtr<Worker> = AtomicPtr::new(null_mut());

/// `types.CoroutineType` and `types.GeneratorType`; the type is not part of the stable ABI.
pub static COROUTINE_TYPE: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());

/// Names, as the interpreter keeps them: one object each.
pub struct Words {
    pub qualname: Word,
    pub send: Word,
    pub throw: Word,
    pub close: Word,
    pub await_: Word,
    pub class: Word,
    pub cr_await: Word,
    pub cr_frame: Word,
    pub f_lineno: Word,
    pub f_code: Word,
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
}

/// A name.
pub struct Word(AtomicPtr<ffi::PyObject>, &'static CStr);

impl Word {
    const fn new(text: &'static CStr) -> Self {
        Word(AtomicPtr::new(null_mut()), text)
    }

    /// The object; borrowed, lives for ever.
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
    cr_await: Word::new(c"cr_await"),
    cr_frame: Word::new(c"cr_frame"),
    f_lineno: Word::new(c"f_lineno"),
    f_code: Word::new(c"f_code"),
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
        &words.cr_await,
        &words.cr_frame,
        &words.f_lineno,
        &words.f_code,
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

/// Makes `session` the one that is going on. `false` where another one is.
pub fn attach(_gil: Python<'_>, session: Arc<Session>) -> bool {
    if !SESSION.load(Relaxed).is_null() {
        return false;
    }
    SESSION.store(Arc::into_raw(session).cast_mut(), Relaxed);
    let number = LAST_NUMBER.load(Relaxed) + 1;
    LAST_NUMBER.store(number, Relaxed);
    NUMBER.store(number, Relaxed);
    true
}

/// Ends the one that is going on, if it is `session`.
pub fn detach(_gil: Python<'_>, session: &Arc<Session>) {
    if SESSION.load(Relaxed).cast_const() != Arc::as_ptr(session) {
        return;
    }
    NUMBER.store(0, Relaxed);
    THREAD.store(0, Relaxed);
    WORKER.store(null_mut(), Relaxed);
    let ended = SESSION.swap(null_mut(), Relaxed);
    // SAFETY: the reference that `attach` made.
    drop(unsafe { Arc::from_raw(ended.cast_const()) });
    super::coroutine::free_all();
}

/// The number of the observation that is going on.
#[inline]
pub fn number() -> u64 {
    NUMBER.load(Relaxed)
}

/// The observation that is going on. Only where [`number`] is not 0, and only until it may have changed.
#[inline]
pub unsafe fn session<'a>() -> &'a Session {
    // SAFETY: not null while the number is not 0; `attach` and `detach` change both.
    unsafe { &*SESSION.load(Relaxed) }
}

/// The worker of this thread. The same conditions as for [`session`].
#[inline]
pub unsafe fn worker<'a>() -> &'a Worker {
    // SAFETY: the GIL is held, so that there is a thread state; its number is never given twice.
    let thread = unsafe { ffi::PyThreadState_GetID(ffi::PyThreadState_Get()) } as u64;
    if thread != THREAD.load(Relaxed) {
        unsafe { find_worker(thread) };
    }
    // SAFETY: the session's observer holds the worker until it is dropped.
    unsafe { &*WORKER.load(Relaxed) }
}

#[cold]
unsafe fn find_worker(thread: u64) {
    let worker = unsafe { session() }.loops.worker();
    THREAD.store(thread, Relaxed);
    WORKER.store(Arc::as_ptr(&worker).cast_mut(), Relaxed);
}
