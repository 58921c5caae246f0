//! CPU time of each thread of another process, as the kernel counts it.

use std::{fs, io};

use taskscale_model::missing::Missing;

/// Most threads of a process that is read: 64 take half a millisecond.
pub const MOST: usize = 64;

/// Returns id and CPU nanoseconds so far of every thread that process `pid` has, by ascending id.
/// Threads that have ended are not among them, unlike in [`crate::clock::process_cpu_ns`].
///
/// The kernel brings the time of a running thread up to date at its next tick or switch, up to 4 ms
/// later. The time of a sleeping thread is exact. The call costs four system calls a thread, 7 us:
/// 19, 47, 220 and 462 us for 2, 6, 31 and 64 threads (2026-11-20, median of 1,000, a debug build
/// on a busy machine: `cargo run -p taskscale-experiments --bin threads`).
///
/// # Errors
/// No such process, more than [`MOST`] threads, a kernel without scheduler statistics, or a system
/// other than Linux.
pub fn thread_cpu_ns(pid: u32) -> Result<Vec<(u32, u64)>, Missing> {
    at_most(MOST, pid)
}

fn at_most(most: usize, pid: u32) -> Result<Vec<(u32, u64)>, Missing> {
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
    let time =
        |id: u32| Some((id, first_number(&fs::read(format!("/proc/{pid}/task/{id}/schedstat")).ok()?)?));
    let mut times: Vec<(u32, u64)> = ids.into_iter().filter_map(time).collect();
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

/// Reads the first of the three numbers of `schedstat`: time on a processor, time waited for one,
/// time slices.
fn first_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_first_number_is_the_time() {
        assert_eq!(first_number(b"123 45 6\n"), Some(123));
        assert_eq!(first_number(b""), None);
        assert_eq!(first_number(b"x 1 2"), None);
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
        let find = |times: &[(u32, u64)]| times.iter().find(|(known, _)| *known == id).map(|(_, ns)| *ns);
        // Other tests of this process have threads of their own; there are far fewer than the
        // limit.
        let times = thread_cpu_ns(pid).expect("own threads");
        assert!(times.is_sorted() && find(&times).is_some());
        // The thread waits: what this thread does is not its time. The first reading may come
        // before it falls asleep.
        let settled = loop {
            let (one, other) =
                (find(&thread_cpu_ns(pid).expect("own")), find(&thread_cpu_ns(pid).expect("own")));
            if one == other {
                break other;
            }
        };
        assert!(settled > Some(0));
        drop(end);
        worker.join().expect("ended");
        while find(&thread_cpu_ns(pid).expect("own threads")).is_some() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let missing = thread_cpu_ns(u32::MAX).expect_err("no such process");
        assert!(missing.reason.contains("cannot be listed"), "{missing}");
        // A test runs on a thread of its own, beside the main one.
        let missing = at_most(1, std::process::id()).expect_err("too many");
        assert!(missing.reason.contains("more than 1 threads"), "{missing}");
    }
}
