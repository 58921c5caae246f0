//! The object around a coroutine as it lies in memory, and what its state says.

use std::ptr::null_mut;

use pyo3::ffi::PyObject;

/// The bits of a state that hold its observation's number.
pub const NUMBER: u64 = 0xFFFF;
/// The numbers that mark a free slot and an object that is being taken apart. No observation has
/// these numbers.
const FREE: u64 = 0xFFFF;
pub const DYING: u64 = 0xFFFE;
/// The highest number that an observation has.
pub const HIGHEST_NUMBER: u16 = 0xFFFD;

/// The object around a coroutine.
#[repr(C)]
pub struct Coroutine {
    head: PyObject,
    /// The coroutine; null after the garbage collector has cleared this object. In a free slot it
    /// is the next free slot.
    pub inner: *mut PyObject,
    /// The coroutine's qualified name; null if it has none.
    pub qualname: *mut PyObject,
    /// The lower 16 bits are the number of the observation that it belongs to, 0 after its end;
    /// they also say that there is no object. The bits above are the ticks at its making, 0 after
    /// its first step; these 48 bits count up to a day. The object takes 64 bytes with the
    /// collector's head. At 96 bytes, 10,000 objects cost 70 ns a task more, because they have left
    /// the caches when the loop comes back to them.
    pub state: u64,
    pub weak_references: *mut PyObject,
}

/// The use of an object's slot. The object's state holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// An object is in it.
    Live,
    /// An object in it is being taken apart. The slot is in no list.
    Dying,
    /// Only the link to the next free slot is in it.
    Free,
}

impl Coroutine {
    /// Marks the object's slot as free. Only the link to `next` is in it.
    #[inline]
    pub unsafe fn free(this: *mut Coroutine, next: *mut Coroutine) {
        unsafe {
            (*this).inner = next.cast();
            (*this).state = FREE;
        }
    }

    /// The next free slot after this free one.
    #[inline]
    pub unsafe fn next(this: *mut Coroutine) -> *mut Coroutine {
        unsafe { (*this).inner.cast() }
    }

    /// The use of the object's slot.
    #[inline]
    pub unsafe fn used_for(this: *mut Coroutine) -> Use {
        match unsafe { (*this).state } & NUMBER {
            FREE => Use::Free,
            DYING => Use::Dying,
            _ => Use::Live,
        }
    }

    /// Fills in an object around nothing.
    pub unsafe fn empty(this: *mut Coroutine) {
        unsafe {
            (*this).inner = null_mut();
            (*this).qualname = null_mut();
            (*this).weak_references = null_mut();
            (*this).state = 0;
        }
    }
}
