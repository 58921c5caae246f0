//! Which objects the garbage collector knows.
//!
//! It looks at each young object several times, which for 10,000 empty tasks alive at once was 100 ns a task. An object that it
//! does not know makes it take the coroutine inside for reachable, which is safe and no more than late: so ours are kept in
//! a list and shown to the collector when it begins a full collection, the one that decides about cycles of what has
//! lived for a while. From Python 3.14 on, where collections are incremental and there may be no full one, they are shown at
//! once.

use std::{
    cell::UnsafeCell,
    ptr::null_mut,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use pyo3::{ffi, prelude::*, types::PyDict};

use super::coroutine::Coroutine;

/// A place in the list; `next` is null where it is in none.
#[repr(C)]
pub struct Links {
    next: *mut Links,
    previous: *mut Links,
}

/// The list is a ring through this one.
struct Ring(UnsafeCell<Links>);
// SAFETY: touched with the GIL held.
unsafe impl Sync for Ring {}
static RING: Ring = Ring(UnsafeCell::new(Links { next: null_mut(), previous: null_mut() }));

/// Whether someone tells us that a collection begins.
static LATE: AtomicBool = AtomicBool::new(false);

/// Closes the ring; before anything else here.
pub fn prepare() {
    let ring = RING.0.get();
    // SAFETY: the module is imported once, with the GIL held.
    unsafe { *ring = Links { next: ring, previous: ring } };
}

/// A new object, which is in no list: shows it to the collector, or puts it on the list.
#[inline]
pub unsafe fn begin(object: *mut Coroutine) {
    unsafe {
        let links = &raw mut (*object).links;
        if LATE.load(Relaxed) {
            let ring = RING.0.get();
            let next = (*ring).next;
            *links = Links { next, previous: ring };
            (*next).previous = links;
            (*ring).next = links;
        } else {
            (*links).next = null_mut();
            ffi::PyObject_GC_Track(object.cast());
        }
    }
}

/// The end of an object.
#[inline]
pub unsafe fn end(object: *mut Coroutine) {
    unsafe {
        let links = &raw mut (*object).links;
        if (*links).next.is_null() {
            ffi::PyObject_GC_UnTrack(object.cast());
        } else {
            unlink(links);
        }
    }
}

#[inline]
unsafe fn unlink(links: *mut Links) {
    unsafe {
        let Links { next, previous } = *links;
        (*next).previous = previous;
        (*previous).next = next;
        (*links).next = null_mut();
    }
}

/// Shows all to the collector.
unsafe fn show_all() {
    unsafe {
        let ring = RING.0.get();
        loop {
            let links = (*ring).next;
            if links == ring {
                return;
            }
            unlink(links);
            // Runs no code and allocates nothing.
            ffi::PyObject_GC_Track(links.byte_sub(std::mem::offset_of!(Coroutine, links)).cast());
        }
    }
}

/// Whether [`before_collection`] is called from now on. When it is not, all objects are shown to the collector.
#[pyfunction]
pub fn track_late(late: bool) {
    LATE.store(late, Relaxed);
    if !late {
        // SAFETY: PyO3 calls with the GIL held.
        unsafe { show_all() };
    }
}

/// For `gc.callbacks`.
#[pyfunction]
pub fn before_collection(phase: &str, info: &Bound<'_, PyDict>) -> PyResult<()> {
    let generation = info.get_item("generation")?.map_or(Ok(2), |generation| generation.extract::<u32>())?;
    if phase == "start" && generation >= 2 {
        // SAFETY: PyO3 calls with the GIL held.
        unsafe { show_all() };
    }
    Ok(())
}
