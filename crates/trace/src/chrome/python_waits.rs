//! Calls of Python that do nothing but wait, by the names that VizTracer gives them.
//!
//! VizTracer names a built-in `module.qualname` and a function `qualname (file:line)`. The
//! built-ins are those on which the classes of `threading`, `queue`, `concurrent.futures`,
//! `selectors`, `asyncio`, `subprocess` and `multiprocessing` wait, by the sources of CPython 3.11:
//! `Event.wait`, `Condition.wait`, `Future.result` and `Thread.join` end in `_thread.lock.acquire`
//! (from 3.13 on a join in `_thread._ThreadHandle.join`), and `Popen.wait` in `posix.waitpid`.
//! Calls that copy or compute as well, such as `posix.read`, are none.

use memchr::memmem;
use taskscale_model::span::{WAITS, WAITS_FOR_OTHERS, WAITS_FOR_WORK};

use super::event::Event;

/// A worker that has nothing to do waits here: a thread of a pool, an event loop.
const FOR_WORK: [&[u8]; 3] = [b"_queue.SimpleQueue.get", b"select.epoll.poll", b"select.kqueue.control"];

/// For another thread, of which the main thread waits for its pools.
const FOR_THREADS: [&[u8]; 5] = [
    b"_thread.lock.acquire",
    b"_thread.lock.__enter__",
    b"_thread.RLock.acquire",
    b"_thread.RLock.__enter__",
    b"_thread._ThreadHandle.join",
];

/// For a time, another process, or data.
const FOR_OTHERS: [&[u8]; 24] = [
    b"time.sleep",
    b"_multiprocessing.SemLock.acquire",
    b"_multiprocessing.SemLock.__enter__",
    b"select.select",
    b"select.poll.poll",
    b"signal.pause",
    b"signal.sigwait",
    b"signal.sigwaitinfo",
    b"signal.sigtimedwait",
    b"socket.accept",
    b"socket._accept",
    b"socket.connect",
    b"socket.recv",
    b"socket.recv_into",
    b"socket.recvfrom",
    b"_socket.getaddrinfo",
    b"posix.wait",
    b"posix.waitid",
    b"posix.waitpid",
    b"posix.wait3",
    b"posix.wait4",
    b"posix.system",
    b"_winapi.WaitForSingleObject",
    b"_overlapped.GetQueuedCompletionStatus",
];

/// What stands for the CPU time of a call that only waits; `None` of all others.
#[inline]
pub fn cpu_ns(event: &Event<'_>) -> Option<u64> {
    let name = event.name.raw;
    if FOR_THREADS.contains(&name) {
        // VizTracer gives the main thread the number of its process.
        return Some(if event.process == event.thread { WAITS_FOR_OTHERS } else { WAITS });
    }
    if FOR_WORK.contains(&name) || takes_from_queue(name) {
        return Some(WAITS_FOR_WORK);
    }
    FOR_OTHERS.contains(&name).then_some(WAITS)
}

/// `Queue.get` of `queue` and of `multiprocessing`, which waits in a lock.
fn takes_from_queue(name: &[u8]) -> bool {
    name.starts_with(b"Queue.get (")
        && (memmem::find(name, b"queue.py:").is_some()
            || memmem::find(name, b"multiprocessing/queues.py:").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chrome::event::Text, workers::Id};

    fn waits(name: &'static str, thread: i64) -> Option<u64> {
        let name = Text { raw: name.as_bytes(), ..Text::default() };
        cpu_ns(&Event { name, process: Id::Integer(7), thread: Id::Integer(thread), ..Event::default() })
    }

    #[test]
    fn a_lock_is_waited_for_in_a_task_and_by_the_main_thread_for_its_pool() {
        assert_eq!(waits("_thread.lock.acquire", 8), Some(WAITS));
        assert_eq!(waits("_thread.lock.acquire", 7), Some(WAITS_FOR_OTHERS));
        assert_eq!(waits("_queue.SimpleQueue.get", 8), Some(WAITS_FOR_WORK));
        assert_eq!(waits("Queue.get (/usr/lib/python3.11/queue.py:154)", 8), Some(WAITS_FOR_WORK));
        assert_eq!(waits("time.sleep", 7), Some(WAITS));
    }

    #[test]
    fn what_copies_or_computes_is_no_wait() {
        for name in ["posix.read", "Queue.get (shop.py:3)", "work (a.py:1)", ""] {
            assert_eq!(waits(name, 8), None, "{name}");
        }
    }
}
