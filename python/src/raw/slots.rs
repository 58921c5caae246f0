//! Memory for the objects around coroutines, and when the garbage collector learns of them.
//!
//! With 10,000 tasks alive, nothing of them is in the caches when the collector or the loop comes
//! by. So an object takes one cache line together with the collector's head; the interpreter's own
//! blocks of this size lie across two. And the collector does not know of an object before a full
//! collection begins, because on CPython 3.11 its visits were two thirds of what observing a task
//! added. Until then a coroutine has a reference whose origin the collector cannot tell, so a cycle
//! through a task that has not ended waits for a full collection.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    ptr::null_mut,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed},
    },
};

use pyo3::{ffi, prelude::*, types::PyDict};

use super::object::{Coroutine, Use};
use crate::watch::lock;

/// The collector's head in front of an object. It is all 0 while the collector does not know of the
/// object.
type Head = [u64; 2];
/// The number of slots that are taken from the allocator at once: 64 KB.
const CHUNK: usize = 1_024;
/// The number of chunks without an object that are kept while observing: 1 MB.
const SPARE: usize = 16;

/// An object with its head.
#[repr(C, align(64))]
struct Slot {
    head: Head,
    object: Coroutine,
}

const _: () = assert!(size_of::<usize>() != 8 || size_of::<Slot>() == 64);

/// Whether the collector's head has the expected size. If not, the interpreter makes the objects
/// and knows of all of them.
static OURS: AtomicBool = AtomicBool::new(false);
/// The object of the first free slot.
static FREE: AtomicPtr<Coroutine> = AtomicPtr::new(null_mut());
/// The first slots of all chunks.
static CHUNKS: Mutex<Vec<Chunk>> = Mutex::new(Vec::new());

struct Chunk(*mut Slot);
// SAFETY: touched with the GIL held.
unsafe impl Send for Chunk {}

impl Chunk {
    const LAYOUT: Layout = Layout::new::<[Slot; CHUNK]>();

    fn new() -> Self {
        // SAFETY: the layout is not empty.
        let first: *mut Slot = unsafe { alloc(Self::LAYOUT) }.cast();
        if first.is_null() {
            handle_alloc_error(Self::LAYOUT);
        }
        let chunk = Chunk(first);
        for object in chunk.objects() {
            // SAFETY: memory of this chunk, not read before.
            unsafe { Coroutine::free(object, null_mut()) };
        }
        chunk
    }

    fn objects(&self) -> impl DoubleEndedIterator<Item = *mut Coroutine> + use<> {
        let first = self.0;
        // SAFETY: slots of one allocation.
        (0..CHUNK).map(move |at| unsafe { &raw mut (*first.add(at)).object })
    }
}

/// Asks the interpreter for the size of the collector's head: the size of an object less what its
/// type says.
pub fn prepare(module: &Bound<'_, PyModule>, kind: *mut ffi::PyTypeObject) -> PyResult<()> {
    let py = module.py();
    // SAFETY: a new object, filled in before anybody sees it.
    let object = unsafe {
        let object = ffi::PyObject_GC_New::<Coroutine>(kind);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        Coroutine::empty(object);
        Bound::from_owned_ptr(py, object.cast())
    };
    let size: usize = py.import("sys")?.getattr("getsizeof")?.call1((&object,))?.extract()?;
    drop(object);
    OURS.store(size == size_of::<Coroutine>() + size_of::<Head>(), Relaxed);
    module.add_function(wrap_pyfunction!(collecting, module)?)
}

/// A new object without anything in it; null with an exception set on failure. The caller fills it
/// in before asking anything else of the interpreter, and then hands it to [`made`].
#[inline]
pub unsafe fn new(kind: *mut ffi::PyTypeObject) -> *mut Coroutine {
    unsafe {
        if !OURS.load(Relaxed) {
            return ffi::PyObject_GC_New::<Coroutine>(kind);
        }
        let mut slot = FREE.load(Relaxed);
        if slot.is_null() {
            slot = grow();
        }
        let next = Coroutine::next(slot);
        FREE.store(next, Relaxed);
        // The next task comes about a microsecond later and then finds this in the cache.
        #[cfg(target_arch = "x86_64")]
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(next.cast());
        slot.cast::<Head>().sub(1).write([0; 2]);
        ffi::PyObject_Init(slot.cast(), kind).cast()
    }
}

/// Handles an object that has been filled in.
#[inline]
pub unsafe fn made(object: *mut Coroutine) {
    if !OURS.load(Relaxed) {
        unsafe { ffi::PyObject_GC_Track(object.cast()) };
    }
}

/// Takes back the memory of an object that was marked as [`Use::Dying`] and of which nothing is
/// left.
#[inline]
pub unsafe fn give_back(object: *mut Coroutine) {
    unsafe {
        if !OURS.load(Relaxed) {
            return ffi::PyObject_GC_Del(object.cast());
        }
        Coroutine::free(object, FREE.load(Relaxed));
        FREE.store(object, Relaxed);
    }
}

#[cold]
#[inline(never)]
fn grow() -> *mut Coroutine {
    let chunk = Chunk::new();
    link(&chunk);
    lock(&CHUNKS).push(chunk);
    FREE.load(Relaxed)
}

/// Puts the free slots of a chunk at the head of the list.
fn link(chunk: &Chunk) {
    for object in chunk.objects().rev() {
        // SAFETY: an object of the chunk.
        unsafe {
            if Coroutine::used_for(object) == Use::Free {
                Coroutine::free(object, FREE.load(Relaxed));
                FREE.store(object, Relaxed);
            }
        }
    }
}

/// Tells the collector of all objects, and gives back all chunks without objects except `spare` of
/// them.
pub fn sweep(spare: usize) {
    FREE.store(null_mut(), Relaxed);
    let (mut chunks, mut empty) = (lock(&CHUNKS), 0);
    chunks.retain(|chunk| {
        let mut is_empty = true;
        for object in chunk.objects() {
            // SAFETY: an object of the chunk; the GIL is held.
            unsafe {
                let used_for = Coroutine::used_for(object);
                is_empty &= used_for == Use::Free;
                if used_for == Use::Live && ffi::PyObject_GC_IsTracked(object.cast()) == 0 {
                    ffi::PyObject_GC_Track(object.cast());
                }
            }
        }
        empty += usize::from(is_empty);
        if is_empty && empty > spare {
            // SAFETY: nothing is in it, and the list of free slots is made anew.
            unsafe { dealloc(chunk.0.cast(), Chunk::LAYOUT) };
            return false;
        }
        true
    });
    chunks.iter().rev().for_each(link);
}

/// For `gc.callbacks`: tells the collector of all objects where a full collection begins.
#[pyfunction]
fn collecting(phase: &str, info: &Bound<'_, PyDict>) -> PyResult<()> {
    // From 3.14 on only `gc.collect()` is full. An automatic collection takes some of the old
    // objects.
    let least = if info.py().version_info() >= (3, 14) { 1 } else { 2 };
    let generation = info.get_item("generation")?.map_or(Ok(2), |generation| generation.extract::<i64>())?;
    if phase == "start" && generation >= least {
        sweep(SPARE);
    }
    Ok(())
}
