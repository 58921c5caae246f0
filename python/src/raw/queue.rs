//! A loop's queue of handles that are ready to run, and when each was put there.
//!
//! ```text
//! call_soon --append--> queue --popleft--> handle --> step of a task
//!           ticks kept                    ticks handed over
//! ```
//!
//! `BaseEventLoop` puts every handle at the end of `_ready`, a deque, and takes it from the front.
//! Where an observation asks for queue delays, a deque of a class of ours is there meanwhile, with
//! an own `append` and `popleft`. Without that nothing here does anything. The two methods keep the
//! ticks of each append, 8 bytes for each handle that waits, and then do what the deque's own do. A
//! step that begins takes the ticks of the handle that was taken out last. Nothing else about the
//! deque is ours. Should someone put handles in or take them out in another way, the numbers of
//! handles and of ticks differ, and the ticks so far are forgotten.
//!
//! The deque of a loop is replaced when a task is made on it, and all are put back at the end.
//! Between two bytecodes that read `_ready` and call its method the interpreter does not change
//! threads, so no handle goes to a deque that has been replaced.

use std::{
    ffi::c_int,
    ptr::{null_mut, write},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use pyo3::{
    ffi::{self, PyObject},
    prelude::*,
    types::{PyTuple, PyType, PyWeakrefMethods, PyWeakrefReference},
};
use taskscale_sys::ticks;

use super::shared::{WORDS, number};
use crate::watch::lock;

/// A method of one argument, which is null where it takes none.
type Method = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;

/// The class of our deques; null where deques are not as expected, and nothing is replaced then.
static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
/// `collections.deque`, and its methods.
static DEQUE: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());
static APPEND: AtomicPtr<()> = AtomicPtr::new(null_mut());
static POPLEFT: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// Where the pointer to the ticks is in a deque of ours: behind the deque's own fields.
static OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Whether the present observation asks when steps become ready.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The loop that a task was made on last, and its queue.
static LOOP: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());
static QUEUE: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());
/// All loops whose queue was replaced.
static LOOPS: Mutex<Vec<Py<PyWeakrefReference>>> = Mutex::new(Vec::new());

/// The ticks at which the handle was put in that was taken out last; 0 if they are not known or a
/// step has taken them. The thread is that which took it out: with two loops the other one may come
/// in between.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static TAKEN_BY: AtomicPtr<ffi::PyThreadState> = AtomicPtr::new(null_mut());

/// The ticks of a reading that the next handle may use, 0 if there is none. A reading takes some 8
/// ns, and two thirds of all handles are put in right behind one: a new task's, and that of a task
/// which gives way.
static NOW: AtomicU64 = AtomicU64::new(0);

/// The fewest ticks that there is room for. More room than this is given back when it is empty.
const LEAST: usize = 1_024;

/// The ticks of the handles in a queue, 0 where they are not known.
struct Ticks {
    /// The number of the observation that they belong to.
    number: u16,
    /// The place of the first one in the ring, and that behind the last. Both only grow.
    first: usize,
    end: usize,
    /// A power of two long.
    ring: Box<[u64]>,
}

impl Ticks {
    fn new(number: u16, handles: usize) -> Self {
        let room = (handles + 1).next_power_of_two().max(LEAST);
        Ticks { number, first: 0, end: handles, ring: vec![0; room].into() }
    }

    #[inline(always)]
    fn fit(&self, number: u16, handles: usize) -> bool {
        self.number == number && self.end.wrapping_sub(self.first) == handles
    }

    /// Adds those of a handle that is put behind `handles` others.
    #[inline(always)]
    fn push(&mut self, number: u16, handles: usize, now: u64) {
        if !self.fit(number, handles) || handles >= self.ring.len() {
            self.make_room(number, handles);
        }
        let place = self.end & (self.ring.len() - 1);
        self.ring[place] = now;
        self.end = self.end.wrapping_add(1);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, number: u16, handles: usize) {
        let mut more = Ticks::new(number, handles);
        if self.fit(number, handles) {
            let from = |at: usize| self.ring[self.first.wrapping_add(at) & (self.ring.len() - 1)];
            (0..handles).for_each(|at| more.ring[at] = from(at));
        }
        *self = more;
    }

    /// Those of the handle that was taken out and left `handles` behind it.
    #[inline(always)]
    fn pop(&mut self, number: u16, handles: usize) -> u64 {
        if !self.fit(number, handles + 1) {
            return 0;
        }
        let ticks = self.ring[self.first & (self.ring.len() - 1)];
        self.first = self.first.wrapping_add(1);
        if handles == 0 && self.ring.len() > LEAST {
            *self = Ticks::new(number, 0);
        }
        ticks
    }
}

/// The ticks of a deque of ours. `None` once it has been finalized.
#[inline(always)]
unsafe fn ticks_of<'a>(queue: *mut PyObject) -> Option<&'a mut Ticks> {
    unsafe {
        let field: *mut *mut Ticks = queue.byte_add(OFFSET.load(Relaxed)).cast();
        match *field {
            ticks if ticks.is_null() => {
                write(field, Box::into_raw(Box::new(Ticks::new(0, 0))));
                Some(&mut **field)
            }
            ticks if ticks == GONE => None,
            ticks => Some(&mut *ticks),
        }
    }
}

/// Stands in a deque that has been finalized. The collector finalizes a deque that a loop may still
/// use in its own finalizer.
const GONE: *mut Ticks = std::ptr::dangling_mut();

unsafe extern "C" fn append(queue: *mut PyObject, handle: *mut PyObject) -> *mut PyObject {
    unsafe {
        let number = number();
        if number != 0
            && let Some(ticks) = ticks_of(queue)
        {
            let now = match NOW.load(Relaxed) {
                0 => ticks::now(),
                now => now,
            };
            NOW.store(0, Relaxed);
            ticks.push(number, ffi::Py_SIZE(queue) as usize, now);
        }
        own(&APPEND)(queue, handle)
    }
}

unsafe extern "C" fn popleft(queue: *mut PyObject, nothing: *mut PyObject) -> *mut PyObject {
    unsafe {
        let handle = own(&POPLEFT)(queue, nothing);
        let number = number();
        if number != 0
            && !handle.is_null()
            && let Some(ticks) = ticks_of(queue)
        {
            TAKEN.store(ticks.pop(number, ffi::Py_SIZE(queue) as usize), Relaxed);
            TAKEN_BY.store(ffi::PyThreadState_Get(), Relaxed);
        }
        handle
    }
}

/// The deque's own method.
#[inline(always)]
unsafe fn own(method: &AtomicPtr<()>) -> Method {
    // SAFETY: `prepare` has put a function of this type there before there was a deque of ours.
    unsafe { std::mem::transmute(method.load(Relaxed)) }
}

unsafe extern "C" fn finalize(queue: *mut PyObject) {
    unsafe {
        if QUEUE.load(Relaxed) == queue {
            forget();
        }
        let field: *mut *mut Ticks = queue.byte_add(OFFSET.load(Relaxed)).cast();
        let ticks = std::mem::replace(&mut *field, GONE);
        if !ticks.is_null() && ticks != GONE {
            drop(Box::from_raw(ticks));
        }
    }
}

fn forget() {
    LOOP.store(null_mut(), Relaxed);
    QUEUE.store(null_mut(), Relaxed);
}

/// Says whether the observation that begins asks when steps become ready.
pub fn ask(queue_delays: bool) {
    ASKED.store(queue_delays, Relaxed);
}

/// Whether the present observation asks when steps become ready.
#[inline(always)]
pub fn asked() -> bool {
    ASKED.load(Relaxed)
}

/// Tells when the next handle is put in, if nothing but the interpreter's own code runs until then;
/// 0 takes it back.
#[inline(always)]
pub fn will_put(now: u64) {
    NOW.store(now, Relaxed);
}

/// When the step that begins on this thread became ready, in ticks; 0 if that is not known. The
/// handle's ticks are given once.
#[inline(always)]
pub unsafe fn ready() -> u64 {
    let ticks = TAKEN.load(Relaxed);
    // A task that starts eagerly is put in no queue.
    will_put(0);
    if ticks != 0 {
        TAKEN.store(0, Relaxed);
        if TAKEN_BY.load(Relaxed) == unsafe { ffi::PyThreadState_Get() } {
            return ticks;
        }
    }
    0
}

/// Sees to it that the queue of a loop is one of ours, if that is asked for. Where it is no plain
/// deque it stays what it is, and ready times are not known.
#[inline(always)]
pub unsafe fn see(event_loop: *mut PyObject) {
    if asked() && LOOP.load(Relaxed) != event_loop {
        unsafe { see_other(event_loop) };
    }
}

#[cold]
#[inline(never)]
unsafe fn see_other(event_loop: *mut PyObject) {
    unsafe {
        let kind = TYPE.load(Relaxed);
        if kind.is_null() {
            return;
        }
        let queue = ffi::PyObject_GetAttr(event_loop, WORDS.ready.get());
        if !queue.is_null() && ffi::Py_TYPE(queue) == kind {
            LOOP.store(event_loop, Relaxed);
            QUEUE.store(queue, Relaxed);
        } else if !queue.is_null() && ffi::Py_TYPE(queue).cast() == DEQUE.load(Relaxed) {
            let event_loop = Borrowed::from_ptr(Python::assume_attached(), event_loop);
            let replaced = replace(&event_loop, kind.cast());
            if replaced.and_then(|()| remember(&event_loop)).is_err() {
                TYPE.store(null_mut(), Relaxed);
            }
        }
        ffi::PyErr_Clear();
        ffi::Py_XDECREF(queue);
    }
}

/// Puts a deque of another class with the same handles in the place of a loop's queue.
unsafe fn replace(event_loop: &Bound<'_, PyAny>, kind: *mut PyObject) -> PyResult<()> {
    let py = event_loop.py();
    // SAFETY: a class that lives for ever.
    let kind = unsafe { Borrowed::from_ptr(py, kind) };
    let queue = kind.call1((event_loop.getattr("_ready")?,))?;
    event_loop.setattr("_ready", queue)
}

fn remember(event_loop: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut loops = lock(&LOOPS);
    let py = event_loop.py();
    loops.retain(|known| known.bind(py).upgrade().is_some());
    loops.push(PyWeakrefReference::new(event_loop)?.unbind());
    Ok(())
}

/// Puts plain deques back. What someone else has put there since stays theirs.
pub fn put_back(py: Python<'_>) {
    ask(false);
    forget();
    TAKEN.store(0, Relaxed);
    will_put(0);
    let loops = std::mem::take(&mut *lock(&LOOPS));
    for event_loop in loops.iter().filter_map(|event_loop| event_loop.bind(py).upgrade()) {
        let ours = event_loop
            .getattr("_ready")
            .is_ok_and(|queue| std::ptr::eq(queue.get_type_ptr(), TYPE.load(Relaxed)));
        if ours {
            // If this fails, the deque of ours stays and counts nothing.
            // SAFETY: the class of deques lives for ever.
            unsafe { replace(&event_loop, DEQUE.load(Relaxed)) }.ok();
        }
    }
}

struct Methods(std::cell::UnsafeCell<[ffi::PyMethodDef; 3]>);
// SAFETY: the interpreter reads it with the GIL held.
unsafe impl Sync for Methods {}

static METHODS: Methods = Methods(std::cell::UnsafeCell::new([
    ffi::PyMethodDef {
        ml_name: c"append".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: append },
        ml_flags: ffi::METH_O,
        ml_doc: c"Add an element to the right side of the deque.".as_ptr(),
    },
    ffi::PyMethodDef {
        ml_name: c"popleft".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: popleft },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: c"Remove and return the leftmost element.".as_ptr(),
    },
    ffi::PyMethodDef::zeroed(),
]));

/// Makes the class, if deques have the methods that it stands before.
pub fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let deque = py.import("collections")?.getattr("deque")?.cast_into::<PyType>()?;
    let empty = deque.call0()?;
    let own = |name: &str, flags: c_int, place: &AtomicPtr<()>| -> PyResult<bool> {
        let method = empty.getattr(name)?;
        // SAFETY: both questions answer by null and an exception if this is no method in C.
        unsafe {
            let function = ffi::PyCFunction_GetFunction(method.as_ptr());
            let found = ffi::PyCFunction_GetFlags(method.as_ptr());
            ffi::PyErr_Clear();
            place.store(function.map_or(null_mut(), |function| function as *mut ()), Relaxed);
            Ok(function.is_some() && found == flags)
        }
    };
    let size: usize = deque.getattr("__basicsize__")?.extract()?;
    let known = own("append", ffi::METH_O, &APPEND)? && own("popleft", ffi::METH_NOARGS, &POPLEFT)?;
    if !known || !size.is_multiple_of(align_of::<*mut Ticks>()) {
        return Ok(());
    }
    OFFSET.store(size, Relaxed);
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_methods, METHODS.0.get().cast()),
        slot(ffi::Py_tp_finalize, finalize as *const () as *mut _),
        slot(0, null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"taskscale.Ready".as_ptr(),
        basicsize: (size + size_of::<*mut Ticks>()) as c_int,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as u32,
        slots: slots.as_mut_ptr(),
    };
    let bases = PyTuple::new(py, [&deque])?;
    // SAFETY: specification and slots are read during the call; the methods live for ever.
    let kind = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&mut spec, bases.as_ptr()))?
    };
    // Both references are kept for ever.
    DEQUE.store(deque.into_ptr(), Relaxed);
    TYPE.store(kind.into_ptr().cast(), Relaxed);
    Ok(())
}
