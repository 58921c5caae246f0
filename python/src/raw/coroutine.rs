//! The object around a coroutine.
//!
//! It behaves as the coroutine does. Every attribute that it does not have is the coroutine's,
//! `__class__` included, and it is equal to the coroutine. Only `type()` and `is` tell them apart.
//! The garbage collector knows of it from the next full collection on. It has no finalizer, because
//! the coroutine's own does what there is to do and objects that were never finalized may be used
//! again.

use std::{
    ffi::{c_int, c_void},
    ptr::{null, null_mut},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use pyo3::{
    ffi::{self, PyObject, PySendResult},
    prelude::*,
};
use taskscale_sys::ticks;

use super::{
    new_reference,
    object::{Coroutine, DYING, NUMBER},
    queue,
    shared::{self, COROUTINE_TYPE, WORDS},
    slots,
};

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// A new reference to an object around `coroutine`. It is one to `coroutine` itself if nothing is
/// observed or if that is no coroutine. On failure it is null with an exception set.
pub unsafe fn around(coroutine: *mut PyObject) -> *mut PyObject {
    unsafe {
        let number = shared::number();
        if number == 0 || !is_coroutine(coroutine) {
            return new_reference(coroutine);
        }
        let qualname = readable(ffi::PyObject_GetAttr(coroutine, WORDS.qualname.get()));
        shared::watch();
        let this = slots::new(TYPE.load(Relaxed));
        if this.is_null() {
            ffi::Py_XDECREF(qualname);
            return null_mut();
        }
        (*this).inner = new_reference(coroutine);
        (*this).qualname = qualname;
        (*this).weak_references = null_mut();
        shared::session().loops.task_made();
        let now = ticks::now();
        (*this).state = (now << 16) | u64::from(number);
        queue::will_put(now);
        slots::made(this);
        this.cast()
    }
}

#[inline]
unsafe fn is_coroutine(object: *mut PyObject) -> bool {
    unsafe { ffi::Py_TYPE(object).cast() == COROUTINE_TYPE.load(Relaxed) }
}

/// The name, or null if it has no text. The text is made here, because an exception may be set at
/// the end of a step.
unsafe fn readable(name: *mut PyObject) -> *mut PyObject {
    unsafe {
        if !name.is_null() && !ffi::PyUnicode_AsUTF8AndSize(name, null_mut()).is_null() {
            return name;
        }
        ffi::PyErr_Clear();
        ffi::Py_XDECREF(name);
        null_mut()
    }
}

/// The part of the coroutine's name that is kept; empty if it has none. It lives as long as the
/// object.
#[inline]
unsafe fn name<'a>(this: *mut Coroutine) -> &'a [u8] {
    unsafe {
        let (qualname, mut length) = ((*this).qualname, 0);
        let text =
            if qualname.is_null() { null() } else { ffi::PyUnicode_AsUTF8AndSize(qualname, &mut length) };
        if text.is_null() { &[] } else { tail(std::slice::from_raw_parts(text.cast(), length as usize)) }
    }
}

/// The part of a name that is kept: its last 48 bytes, because functions inside others have their
/// own name at the end.
pub fn tail(name: &[u8]) -> &[u8] {
    let from = name.len().saturating_sub(48);
    let continues = |byte: &u8| byte & 0xC0 == 0x80;
    let from = from + name[from..].iter().take_while(|byte| from > 0 && continues(byte)).count();
    &name[from..]
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    unsafe {
        let this: *mut Coroutine = object.cast();
        ffi::PyObject_GC_UnTrack(this.cast());
        if (*this).state & NUMBER != 0 {
            end(this);
        }
        // What is released from here on can run any code, also a collection, which must not learn
        // of this object.
        (*this).state = DYING;
        if !(*this).weak_references.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        ffi::Py_XDECREF((*this).inner);
        ffi::Py_XDECREF((*this).qualname);
        let kind = ffi::Py_TYPE(object);
        slots::give_back(this);
        // Each object of a type made at run time holds a reference to the type.
        ffi::Py_DECREF(kind.cast());
    }
}

// The name and the type are not visited: the name cannot be part of a cycle, and the type lives for
// ever.
unsafe extern "C" fn traverse(object: *mut PyObject, visit: ffi::visitproc, argument: *mut c_void) -> c_int {
    unsafe {
        let inner = (*object.cast::<Coroutine>()).inner;
        if inner.is_null() { 0 } else { visit(inner, argument) }
    }
}

unsafe extern "C" fn clear(object: *mut PyObject) -> c_int {
    unsafe {
        let this: *mut Coroutine = object.cast();
        let inner = std::mem::replace(&mut (*this).inner, null_mut());
        ffi::Py_XDECREF(inner);
        0
    }
}

/// Handles the end of a task, or its drop.
unsafe fn end(this: *mut Coroutine) {
    unsafe {
        if (*this).state & NUMBER == u64::from(shared::number()) {
            shared::session().loops.task_ended();
        }
        (*this).state = 0;
    }
}

/// Runs a step and records it. By the result `ended` tells whether it was the last step, and
/// `gives_way` whether the task goes on as soon as its turn comes.
#[inline(always)]
unsafe fn step<R>(
    this: *mut Coroutine,
    run: impl FnOnce(*mut PyObject) -> R,
    ended: impl FnOnce(&R) -> bool,
    gives_way: impl FnOnce(&R) -> bool,
) -> R {
    unsafe {
        let (inner, state) = ((*this).inner, (*this).state);
        let number = (state & NUMBER) as u16;
        if number == 0 || number != shared::number() {
            return run(inner);
        }
        let seat = shared::seat();
        let begin = ticks::now();
        let asked = queue::asked();
        let mut ready = if asked { queue::ready() } else { 0 };
        if state > NUMBER {
            let session = shared::session();
            // Both times are cut to 48 bits.
            let ticks = ((begin << 16).wrapping_sub(state & !NUMBER)) >> 16;
            session.loops.delays.add(session.rate.ns(ticks));
            (*this).state = state & NUMBER;
            // A task that starts eagerly in a callback was made after the callback was ready.
            ready = if ready > 0 { ready.max(begin.wrapping_sub(ticks)) } else { 0 };
        }
        // A task that starts eagerly runs inside another task's step.
        let outer = seat.begin.load(Relaxed);
        if ready > 0 && outer == 0 && seat.waits.add(ready, begin) {
            seat.waits.count(&shared::session().loops.observer);
        }
        seat.begin.store(begin, Relaxed);
        seat.worker.begin_at(begin);
        let result = run(inner);
        // The step may have ended the observation, and the seat with it.
        if number == shared::number() {
            let now = ticks::now();
            let name = name(this);
            seat.begin.store(outer, Relaxed);
            seat.worker.end_at(now, name);
            if now.wrapping_sub(begin) >= shared::session().slow {
                super::place::slow(inner, name, now.wrapping_sub(begin), seat.spot(begin));
            }
            if ended(&result) {
                end(this);
            } else if asked && outer == 0 && gives_way(&result) {
                // The task puts its next step into the queue at once.
                queue::will_put(now);
            }
        }
        result
    }
}

/// Whether the garbage collector has cleared an object. If so, this raises the exception that the
/// slots and methods report.
unsafe fn is_cleared(this: *mut Coroutine) -> bool {
    unsafe {
        if (*this).inner.is_null() {
            ffi::PyErr_SetString(
                ffi::PyExc_RuntimeError,
                c"coroutine was cleared by the garbage collector".as_ptr(),
            );
            return true;
        }
        false
    }
}

/// `am_send`, which a task calls for each of its steps.
unsafe extern "C" fn am_send(
    object: *mut PyObject,
    value: *mut PyObject,
    result: *mut *mut PyObject,
) -> PySendResult {
    unsafe {
        if is_cleared(object.cast()) {
            *result = null_mut();
            return PySendResult::PYGEN_ERROR;
        }
        let run = |inner| ffi::PyIter_Send(inner, value, result);
        let ended = |sent: &PySendResult| *sent != PySendResult::PYGEN_NEXT;
        step(object.cast(), run, ended, |_| *result == ffi::Py_None())
    }
}

/// Calls a method of the coroutine as a step.
unsafe fn method(object: *mut PyObject, name: *mut PyObject, arguments: &[*mut PyObject]) -> *mut PyObject {
    unsafe {
        if is_cleared(object.cast()) {
            return null_mut();
        }
        let run = |inner| {
            let none = null_mut::<PyObject>();
            match *arguments {
                [] => ffi::PyObject_CallMethodObjArgs(inner, name, none),
                [a] => ffi::PyObject_CallMethodObjArgs(inner, name, a, none),
                [a, b] => ffi::PyObject_CallMethodObjArgs(inner, name, a, b, none),
                [a, b, c] => ffi::PyObject_CallMethodObjArgs(inner, name, a, b, c, none),
                // There are too many arguments; the coroutine reports that.
                [a, b, c, d, ..] => ffi::PyObject_CallMethodObjArgs(inner, name, a, b, c, d, none),
            }
        };
        step(object.cast(), run, |result| result.is_null(), |_| false)
    }
}

unsafe extern "C" fn send(object: *mut PyObject, value: *mut PyObject) -> *mut PyObject {
    unsafe { method(object, WORDS.send.get(), &[value]) }
}

unsafe extern "C" fn throw(
    object: *mut PyObject,
    arguments: *mut *mut PyObject,
    count: ffi::Py_ssize_t,
) -> *mut PyObject {
    let arguments = if count == 0 {
        &[]
    } else {
        // SAFETY: the interpreter hands over so many arguments.
        unsafe { std::slice::from_raw_parts(arguments, count as usize) }
    };
    unsafe { method(object, WORDS.throw.get(), arguments) }
}

unsafe extern "C" fn close(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    unsafe {
        let closed = method(object, WORDS.close.get(), &[]);
        if !closed.is_null() && (*object.cast::<Coroutine>()).state & NUMBER != 0 {
            end(object.cast());
        }
        closed
    }
}

/// `await` of the object, which only the task should do. It is the coroutine's own and is not
/// observed.
unsafe extern "C" fn am_await(object: *mut PyObject) -> *mut PyObject {
    unsafe {
        if is_cleared(object.cast()) {
            return null_mut();
        }
        let inner = (*object.cast::<Coroutine>()).inner;
        ffi::PyObject_CallMethodObjArgs(inner, WORDS.await_.get(), null_mut::<PyObject>())
    }
}

unsafe extern "C" fn getattro(object: *mut PyObject, name: *mut PyObject) -> *mut PyObject {
    unsafe {
        let own = ffi::PyObject_GenericGetAttr(object, name);
        let inner = (*object.cast::<Coroutine>()).inner;
        if !own.is_null() || inner.is_null() || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return own;
        }
        ffi::PyErr_Clear();
        ffi::PyObject_GetAttr(inner, name)
    }
}

unsafe extern "C" fn setattro(object: *mut PyObject, name: *mut PyObject, value: *mut PyObject) -> c_int {
    unsafe {
        if is_cleared(object.cast()) {
            return -1;
        }
        ffi::PyObject_SetAttr((*object.cast::<Coroutine>()).inner, name, value)
    }
}

unsafe extern "C" fn class(object: *mut PyObject, _: *mut c_void) -> *mut PyObject {
    unsafe {
        if is_cleared(object.cast()) {
            return null_mut();
        }
        ffi::PyObject_GetAttr((*object.cast::<Coroutine>()).inner, WORDS.class.get())
    }
}

unsafe extern "C" fn repr(object: *mut PyObject) -> *mut PyObject {
    // `PyObject_Repr` shows a null as `<NULL>`.
    unsafe { ffi::PyObject_Repr((*object.cast::<Coroutine>()).inner) }
}

unsafe extern "C" fn hash(object: *mut PyObject) -> ffi::Py_hash_t {
    unsafe {
        if is_cleared(object.cast()) { -1 } else { ffi::PyObject_Hash((*object.cast::<Coroutine>()).inner) }
    }
}

/// Compares the object, which is equal to its coroutine and to nothing else.
unsafe extern "C" fn compare(object: *mut PyObject, other: *mut PyObject, operation: c_int) -> *mut PyObject {
    unsafe {
        let same = object == other || (*object.cast::<Coroutine>()).inner == other;
        match operation {
            ffi::Py_EQ if same => new_reference(ffi::Py_True()),
            ffi::Py_NE if same => new_reference(ffi::Py_False()),
            _ => new_reference(ffi::Py_NotImplemented()),
        }
    }
}

/// A table that lives for ever and is only read.
struct Table<T>(std::cell::UnsafeCell<T>);
// SAFETY: the interpreter reads these tables with the GIL held.
unsafe impl<T> Sync for Table<T> {}

static METHODS: Table<[ffi::PyMethodDef; 4]> = Table(std::cell::UnsafeCell::new([
    ffi::PyMethodDef {
        ml_name: c"send".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: send },
        ml_flags: ffi::METH_O,
        ml_doc: c"send(arg) -> send 'arg' into coroutine, return next yielded value or raise StopIteration."
            .as_ptr(),
    },
    ffi::PyMethodDef {
        ml_name: c"throw".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFast: throw },
        ml_flags: ffi::METH_FASTCALL,
        ml_doc:
            c"throw(value) -> raise exception in coroutine, return next yielded value or raise StopIteration."
                .as_ptr(),
    },
    ffi::PyMethodDef {
        ml_name: c"close".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: close },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: c"close() -> raise GeneratorExit inside coroutine.".as_ptr(),
    },
    ffi::PyMethodDef::zeroed(),
]));

static PROPERTIES: Table<[ffi::PyGetSetDef; 2]> = Table(std::cell::UnsafeCell::new([
    ffi::PyGetSetDef {
        name: c"__class__".as_ptr(),
        get: Some(class),
        set: None,
        doc: null(),
        closure: null_mut(),
    },
    ffi::PyGetSetDef { name: null(), get: None, set: None, doc: null(), closure: null_mut() },
]));

static MEMBERS: Table<[ffi::PyMemberDef; 2]> = Table(std::cell::UnsafeCell::new([
    ffi::PyMemberDef {
        name: c"__weaklistoffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: std::mem::offset_of!(Coroutine, weak_references) as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: null(),
    },
    ffi::PyMemberDef { name: null(), type_code: 0, offset: 0, flags: 0, doc: null() },
]));

/// Makes the type and adds it to the module.
pub fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let slot = |slot, function: *const ()| ffi::PyType_Slot { slot, pfunc: function.cast_mut().cast() };
    let mut slots = [
        slot(ffi::Py_am_send, am_send as *const ()),
        slot(ffi::Py_am_await, am_await as *const ()),
        slot(ffi::Py_tp_dealloc, dealloc as *const ()),
        slot(ffi::Py_tp_traverse, traverse as *const ()),
        slot(ffi::Py_tp_clear, clear as *const ()),
        slot(ffi::Py_tp_getattro, getattro as *const ()),
        slot(ffi::Py_tp_setattro, setattro as *const ()),
        slot(ffi::Py_tp_repr, repr as *const ()),
        slot(ffi::Py_tp_hash, hash as *const ()),
        slot(ffi::Py_tp_richcompare, compare as *const ()),
        slot(ffi::Py_tp_methods, METHODS.0.get().cast()),
        slot(ffi::Py_tp_getset, PROPERTIES.0.get().cast()),
        slot(ffi::Py_tp_members, MEMBERS.0.get().cast()),
        slot(0, null()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"taskscale.Coroutine".as_ptr(),
        basicsize: size_of::<Coroutine>() as c_int,
        itemsize: 0,
        flags: flags as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: specification and slots are read during the call; the tables live for ever.
    let kind = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    module.add("Coroutine", &kind)?;
    // The reference to the type is kept for ever.
    let kind = kind.into_ptr().cast();
    TYPE.store(kind, Relaxed);
    slots::prepare(module, kind)
}
