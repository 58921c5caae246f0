//! How many threads of a probe ran during a sample, by the kernel's account of each before and
//! after it.

use taskscale_model::{missing::Missing, run_file::ThreadsRan};
use taskscale_sys::threads::{MOST, thread_cpu_ns};

/// The share of the sample's CPU time from which a thread ran. The dispatcher of requests and a
/// collector that looked once stay below it; a worker that took part at all does not.
const SHARE: f64 = 0.05;

/// The least share of the CPU time that visible threads must account for. Below it the workers
/// ended within the sample, and the visible threads tell nothing.
const SEEN: f64 = 0.5;

/// One reading: id and CPU nanoseconds of each thread, by ascending id.
pub type Look = Result<Vec<(u32, u64)>, Missing>;

/// Reads the threads of a process, which comes first, and of those that it started. One of these
/// may have ended.
pub fn look(mut pids: impl Iterator<Item = u32>) -> Look {
    let mut all = pids.next().map_or_else(|| Ok(Vec::new()), thread_cpu_ns)?;
    for pid in pids {
        all.extend(thread_cpu_ns(pid).unwrap_or_default());
        if all.len() > MOST {
            return Err(Missing::new(format!("it and what it started have more than {MOST} threads"), ""));
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// Which threads ran between two readings, where that is known. `cpu_ns` is what the process used
/// meanwhile, ended threads included. O(threads).
pub fn ran(before: &Look, after: &Look, cpu_ns: Option<u64>) -> Result<ThreadsRan, Missing> {
    let before = before.as_ref().map_err(Missing::clone)?;
    let after = after.as_ref().map_err(Missing::clone)?;
    let used = after.iter().map(|&(id, ns)| {
        let earlier = before.binary_search_by_key(&id, |&(id, _)| id).map_or(0, |index| before[index].1);
        // Another thread may have the id meanwhile. Its time begins at 0.
        ns.checked_sub(earlier).unwrap_or(ns)
    });
    let used: Vec<u64> = used.collect();
    let seen: u64 = used.iter().sum();
    let total = seen.max(cpu_ns.unwrap_or(0));
    if total == 0 {
        return Err(Missing::new("the kernel counted no CPU time in the sample", "take longer samples"));
    }
    if (seen as f64) < SEEN * total as f64 {
        return Err(Missing::new("most CPU time was used by threads that ended within the sample", ""));
    }
    let share = |ns: u64| ns as f64 / total as f64;
    Ok(ThreadsRan {
        ran: used.iter().filter(|&&ns| share(ns) >= SHARE).count() as u64,
        busiest_share: share(used.iter().copied().max().unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(
        before: &[(u32, u64)],
        after: &[(u32, u64)],
        cpu_ns: Option<u64>,
    ) -> Result<ThreadsRan, Missing> {
        ran(&Ok(before.to_vec()), &Ok(after.to_vec()), cpu_ns)
    }

    #[test]
    fn threads_that_used_a_twentieth_ran() {
        let before = [(10, 500), (11, 0), (12, 7_000), (13, 100)];
        let after = [(10, 549), (11, 550), (12, 7_401), (13, 100)];
        // The threads used 49, 550, 401 and 0 of 1,000.
        assert_eq!(between(&before, &after, Some(1_000)), Ok(ThreadsRan { ran: 2, busiest_share: 0.55 }));
        let after = [(10, 550), (11, 550), (12, 7_400), (13, 100)];
        assert_eq!(between(&before, &after, Some(1_000)), Ok(ThreadsRan { ran: 3, busiest_share: 0.55 }));
        assert_eq!(between(&before, &after, None), Ok(ThreadsRan { ran: 3, busiest_share: 0.55 }));
    }

    #[test]
    fn a_thread_that_came_counts_from_its_beginning_and_one_that_went_is_not_seen() {
        let came = between(&[(10, 500)], &[(10, 600), (11, 300)], Some(400));
        assert_eq!(came, Ok(ThreadsRan { ran: 2, busiest_share: 0.75 }));
        let reused = between(&[(10, 500), (11, 9_000)], &[(10, 600), (11, 300)], Some(400));
        assert_eq!(reused, came, "its id was another's before");
        let went = between(&[(10, 500), (11, 0)], &[(10, 800)], Some(400));
        assert_eq!(went, Ok(ThreadsRan { ran: 1, busiest_share: 0.75 }));
        let went = between(&[(10, 500)], &[(10, 600)], Some(400)).expect_err("three quarters unseen");
        assert!(went.reason.contains("ended within the sample"), "{went}");
    }

    #[test]
    fn what_was_not_seen_has_a_reason() {
        let nothing = between(&[(10, 500)], &[(10, 500)], Some(0)).expect_err("no time");
        assert!(nothing.reason.contains("no CPU time"), "{nothing}");
        let why = Missing::new("too many", "");
        assert_eq!(ran(&Err(why.clone()), &Ok(vec![(1, 1)]), Some(1)), Err(why.clone()));
        assert_eq!(ran(&Ok(vec![(1, 1)]), &Err(why.clone()), Some(1)), Err(why));
    }
}
