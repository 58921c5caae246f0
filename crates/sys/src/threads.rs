//! CPU time and run delay of each thread of another process, as the kernel counts them.

use std::{fs, io};

use taskscale_model::missing::Missing;

/// Most threads of a process that is read: 64 take half a millisecond.
pub const MOST: usize = 64;

/// What a thread has had so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadTimes {
    pub id: u32,
    /// Nanoseconds on a processor.
    pub cpu_ns: u64,
    /// Nanoseconds in which it could have run and waited for a processor.
    pub delay_ns: u64,
}

/// Returns the times of every thread that process `pid` has, by ascending id. Threads that have
/// ended are not among them, unlike in [`crate::clock::process_cpu_ns`].
///
/// The kernel brings the time of a running thread up to date at its next tick or switch, up to 4 ms
/// later. The time of a sleeping thread is exact. The call costs four system calls a thread, 7 us:
/// 19, 47, 220 and 462 us for 2, 6, 31 and 64 threads (2026-11-20, median of 1,000, a debug build
/// on a busy machine: `cargo run -p taskscale-experiments --bin threads`).
///
/// # Errors
/// No such process, more than [`MOST`] threads, a kernel without scheduler statistics, or a system
/// other than Linux.
pub fn thread_times(pid: u32) -> Result<Vec<ThreadTimes>, Missing> {
    at_most(MOST, pid)
}

fn at_most(most: usize, pid: u32) -> Result<Vec<ThreadTimes>, Missing> {
    if !cfg!(target_os = "linux") {
        return Err(Missing::new("the CPU time of threads can be read on Linux only", ""));
    }
    let ids = ids(pid).map_err(|error| {
        Missing::new(format!("the threads of process {pid} cannot be listed: {error}"), "")
    })?;
    let ids: Vec<u32> = ids.take(most + 1).collect();
    if ids.len() > most {
        return Err(Missing::new(
            format!("it has more than {most} threads, too many to read between samples"),
            "",
        ));
    }
    // A thread may end between the two readings. Its file is then gone (ENOENT, ESRCH), and it is
    // left out.
    let times = |id: u32| {
        let (cpu_ns, delay_ns) = numbers(&fs::read(format!("/proc/{pid}/task/{id}/schedstat")).ok()?)?;
        Some(ThreadTimes { id, cpu_ns, delay_ns })
    };
    let mut times: Vec<ThreadTimes> = ids.into_iter().filter_map(times).collect();
    if times.is_empty() {
        return Err(Missing::new("the kernel shows no scheduler statistics of threads", ""));
    }
    times.sort_unstable();
    Ok(times)
}

/// The ids of the threads that process `pid` has, in the order of the system.
pub(crate) fn ids(pid: u32) -> io::Result<impl Iterator<Item = u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"))?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// Reads the first two of the three numbers of `schedstat`: time on a processor, time waited for
/// one, time slices.
fn numbers(text: &[u8]) -> Option<(u64, u64)> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_whitespace();
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_first_number_is_the_time_and_the_second_the_delay() {
        assert_eq!(numbers(b"123 45 6\n"), Some((123, 45)));
        assert_eq!([&b""[..], b"x 1 2", b"123\n"].map(numbers), [None; 3]);
    }

    #[test]
    fn a_thread_appears_with_its_own_time_and_goes_with_it() {
        let pid = std::process::id();
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let worker = std::thread::spawn(move || {
            let link = fs::read_link("/proc/thread-self").expect("own thread");
            let id: u32 = link.file_name().and_then(|name| name.to_str()).expect("id").parse().expect("id");
            tell.send(id).expect("listened to");
            ended.recv().ok();
        });
        let id = told.recv().expect("an id");
        let find =
            |times: &[ThreadTimes]| times.iter().find(|thread| thread.id == id).map(|thread| thread.cpu_ns);
        // Other tests of this process have threads of their own; there are far fewer than the
        // limit.
        let times = thread_times(pid).expect("own threads");
        assert!(times.is_sorted() && find(&times).is_some());
        // The thread waits: what this thread does is not its time. The first reading may come
        // before it falls asleep.
        let settled = loop {
            let (one, other) =
                (find(&thread_times(pid).expect("own")), find(&thread_times(pid).expect("own")));
            if one == other {
                break other;
            }
        };
        assert!(settled > Some(0));
        drop(end);
        worker.join().expect("ended");
        while find(&thread_times(pid).expect("own threads")).is_some() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let missing = thread_times(u32::MAX).expect_err("no such process");
        assert!(missing.reason.contains("cannot be listed"), "{missing}");
        // A test runs on a thread of its own, beside the main one.
        let missing = at_most(1, std::process::id()).expect_err("too many");
        assert!(missing.reason.contains("more than 1 threads"), "{missing}");
    }
}
