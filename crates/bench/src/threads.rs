//! How many threads of a probe ran during a sample, and how long they waited for a processor, by
//! the kernel's account of each before and after it.

use taskscale_model::{missing::Missing, run_file::ThreadsRan};
use taskscale_sys::threads::{MOST, ThreadTimes, thread_times};

/// The share of the sample's CPU time from which a thread ran. The dispatcher of requests and a
/// collector that looked once stay below it; a worker that took part at all does not.
const SHARE: f64 = 0.05;

/// The least share of the CPU time that visible threads must account for. Below it the workers
/// ended within the sample, and the visible threads tell nothing.
const SEEN: f64 = 0.5;

/// The same where the delay of the visible threads is to be that of all.
const ALL_SEEN: f64 = 0.9;

/// One reading: the times of each thread, by ascending id.
pub type Look = Result<Vec<ThreadTimes>, Missing>;

/// Reads the threads of a process, which comes first, and of those that it started. One of these
/// may have ended.
pub fn look(mut pids: impl Iterator<Item = u32>) -> Look {
    let mut all = pids.next().map_or_else(|| Ok(Vec::new()), thread_times)?;
    for pid in pids {
        all.extend(thread_times(pid).unwrap_or_default());
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
    let used: Vec<u64> = rises(before, after, |thread| thread.cpu_ns).collect();
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

/// How long threads could have run and waited for a processor between two readings, together. It is
/// `None` where that is not known of all: more than a tenth of `cpu_ns` was used by threads that
/// ended meanwhile. O(threads).
pub fn delay_ns(before: &Look, after: &Look, cpu_ns: Option<u64>) -> Option<u64> {
    let (before, after) = (before.as_ref().ok()?, after.as_ref().ok()?);
    let seen: u64 = rises(before, after, |thread| thread.cpu_ns).sum();
    let are_all = seen as f64 >= ALL_SEEN * cpu_ns? as f64;
    are_all.then(|| rises(before, after, |thread| thread.delay_ns).sum())
}

/// By how much a time of each thread rose.
fn rises(
    before: &[ThreadTimes],
    after: &[ThreadTimes],
    of: impl Fn(&ThreadTimes) -> u64,
) -> impl Iterator<Item = u64> {
    after.iter().map(move |thread| {
        let earlier = before.binary_search_by_key(&thread.id, |thread| thread.id);
        let earlier_ns = earlier.map_or(0, |index| of(&before[index]));
        // Another thread may have the id meanwhile. Its times begin at 0.
        of(thread).checked_sub(earlier_ns).unwrap_or(of(thread))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(threads: &[(u32, u64)]) -> Look {
        let times = |&(id, cpu_ns): &(u32, u64)| ThreadTimes { id, cpu_ns, delay_ns: 2 * cpu_ns };
        Ok(threads.iter().map(times).collect())
    }

    fn between(
        before: &[(u32, u64)],
        after: &[(u32, u64)],
        cpu_ns: Option<u64>,
    ) -> Result<ThreadsRan, Missing> {
        ran(&look(before), &look(after), cpu_ns)
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
        assert_eq!(ran(&Err(why.clone()), &look(&[(1, 1)]), Some(1)), Err(why.clone()));
        assert_eq!(ran(&look(&[(1, 1)]), &Err(why.clone()), Some(1)), Err(why));
    }

    #[test]
    fn delays_add_up_where_all_threads_are_seen() {
        let before = look(&[(10, 500), (11, 100)]);
        let after = look(&[(10, 600), (12, 30)]);
        assert_eq!(delay_ns(&before, &after, Some(140)), Some(260), "200 of one and 60 of one that came");
        assert_eq!(delay_ns(&before, &after, Some(150)), None, "one that ended used a seventh");
        assert_eq!(delay_ns(&before, &after, None), None);
        assert_eq!(delay_ns(&before, &Err(Missing::new("too many", "")), Some(1)), None);
    }
}
