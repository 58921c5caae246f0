//! `libtaskscale`: live observers for programs that can call C. `cpp/include/taskscale/taskscale.h`
//! says what each function promises; this file says why each is sound.
//!
//! The handle of an observer is an `Arc<Observer>` turned into a pointer. The handle of a worker
//! points into the observer and lives as long. No function unwinds into C. A panic would be a
//! defect of ours and gives the neutral answer.

#![allow(unsafe_code)]
#![warn(missing_docs)]

use std::{
    ffi::{CStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use taskscale_live::{Observer, Options, Worker};
use taskscale_sys::ticks;

/// The number of this interface. It changes when the layout of a worker or a function does.
const ABI: u32 = 3;

/// Why no digest of this interface has a queue delay, and what shows it in part.
const NO_READY_TIMES: (&str, &str) = (
    "the source tells when a task begins and ends, and not when it became ready",
    "read the gap between tasks, and who idles when, from the losses",
);

/// `TASKSCALE_EXACT` of the header.
const EXACT: u32 = 1;

/// `taskscale_format` of the header.
const TEXT: u32 = 0;
const JSON: u32 = 1;
const MARKDOWN: u32 = 2;
const HTML: u32 = 3;
const PATTERN: u32 = 4;

/// The result of `f`, or `other` if it panics.
fn guarded<T>(other: T, f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(other)
}

/// The result of `f` on the thing behind a handle, or `other` if the handle is null or `f` panics.
///
/// # Safety
/// `handle` is null or belongs to a thing that was not freed.
unsafe fn of<H, T>(handle: *const H, other: T, f: impl FnOnce(&H) -> T) -> T {
    // SAFETY: the caller promises a handle of a thing that was not freed.
    match unsafe { handle.as_ref() } {
        Some(thing) => guarded(other, || f(thing)),
        None => other,
    }
}

/// # Safety
/// `source` is null or a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_new(
    abi: u32,
    source: *const c_char,
    workers: u32,
    flags: u32,
) -> *const Observer {
    if abi != ABI {
        return std::ptr::null();
    }
    guarded(std::ptr::null(), || {
        let source = if source.is_null() {
            String::new()
        } else {
            // SAFETY: the caller promises a string that ends with a zero.
            unsafe { CStr::from_ptr(source) }.to_string_lossy().into_owned()
        };
        Arc::into_raw(Observer::new(Options {
            workers: (workers > 0).then_some(workers),
            source,
            exact: flags & EXACT != 0,
            own_threads: true,
            no_ready_times: Some(NO_READY_TIMES),
            ..Options::default()
        }))
    })
}

/// # Safety
/// `observer` is null or comes from `taskscale_observer_new` and is not used after this, nor are
/// its workers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_free(observer: *const Observer) {
    if !observer.is_null() {
        // SAFETY: the pointer is the one that `into_raw` gave, and the caller gives it back once.
        guarded((), || drop(unsafe { Arc::from_raw(observer) }));
    }
}

/// # Safety
/// `observer` is null or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_worker(observer: *const Observer, index: u32) -> *const Worker {
    // SAFETY: the caller promises a handle that was not freed. Until it is freed, the observer
    // keeps its own share of the worker.
    unsafe { of(observer, std::ptr::null(), |observer| Arc::as_ptr(&observer.worker(index))) }
}

/// # Safety
/// `observer` is null or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_clear(observer: *const Observer) {
    // SAFETY: the caller promises a handle that was not freed.
    unsafe { of(observer, (), Observer::clear) }
}

/// # Safety
/// `observer` is null or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_tasks(observer: *const Observer) -> u64 {
    // SAFETY: the caller promises a handle that was not freed.
    unsafe { of(observer, 0, |observer| observer.digest().tasks) }
}

/// # Safety
/// `observer` is null or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_bytes(observer: *const Observer) -> usize {
    // SAFETY: the caller promises a handle that was not freed.
    unsafe { of(observer, 0, Observer::bytes) }
}

/// # Safety
/// `observer` is null or a handle that was not freed; `out` has room for `room` bytes, or `room` is
/// 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_observer_write(
    observer: *const Observer,
    format: u32,
    out: *mut c_char,
    room: usize,
) -> usize {
    // SAFETY: the caller promises a handle that was not freed.
    let Some(observer) = (unsafe { observer.as_ref() }) else { return 0 };
    let text = guarded(String::new(), || {
        let digest = observer.digest();
        match format {
            TEXT => taskscale_report::digest_text(&digest),
            JSON => taskscale_report::digest_json(&digest),
            MARKDOWN => taskscale_report::digest_markdown(&digest),
            HTML => taskscale_report::digest_html(&digest, &[]),
            PATTERN => {
                digest.patterns.first().map_or_else(String::new, |pattern| pattern.name.as_str().to_owned())
            }
            _ => String::new(),
        }
    });
    if room > 0 && !out.is_null() {
        let mut length = text.len().min(room - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: `out` has room for `room` bytes, `length` is below it, and the text is another
        // piece of memory.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, length);
            *out.add(length) = 0;
        }
    }
    text.len()
}

/// The present ticks, for a header that cannot read them itself.
#[unsafe(no_mangle)]
pub extern "C" fn taskscale_now() -> u64 {
    ticks::now()
}

/// # Safety
/// `worker` is a handle of an observer that was not freed, and this is its thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_flush(worker: *const Worker) {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    unsafe { of(worker, (), |worker| worker.flush()) }
}

/// # Safety
/// As for `taskscale_worker_flush`; `name` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_name(
    worker: *const Worker,
    name: *const c_char,
    length: usize,
) -> u32 {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    let Some(worker) = (unsafe { worker.as_ref() }) else { return 0 };
    if name.is_null() || length == 0 {
        return 0;
    }
    // SAFETY: the caller promises `length` bytes; at most 48 of them are looked at.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length.min(48)) };
    guarded(0, || worker.name(name))
}

/// # Safety
/// As for `taskscale_worker_flush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_long_gap(worker: *const Worker, now: u64) {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    unsafe { of(worker, (), |worker| worker.long_gap(now)) }
}

/// # Safety
/// As for `taskscale_worker_flush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_long_task(worker: *const Worker, ticks: u64, kind: u64) {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    unsafe { of(worker, (), |worker| worker.long_task(ticks, taskscale_live::leaf(kind))) }
}

/// # Safety
/// As for `taskscale_worker_flush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_inside_untimed(worker: *const Worker, now: u64) {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    unsafe { of(worker, (), |worker| worker.inside_untimed(now)) }
}

/// # Safety
/// As for `taskscale_worker_flush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn taskscale_worker_unbalanced(worker: *const Worker, deep: u32) {
    // SAFETY: the caller promises a handle of an observer that was not freed.
    unsafe { of(worker, (), |worker| if deep != 0 { worker.deep() } else { worker.stray() }) }
}
