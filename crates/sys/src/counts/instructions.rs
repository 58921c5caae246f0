//! Instructions in user mode, counted by the processor: perf_event_open(2).
//!
//! The process opens the counter on itself before its program begins (`opened.rs`). All its threads
//! and children are counted, living or ended, and what the kernel does for them is not. Reading
//! asks nothing of the process. Counting costs it nothing that can be seen, and two runs of one
//! program differ by its interrupts and page faults, each of which most processors count as an
//! instruction.
//!
//! Virtual machines show no such counter as a rule. [`super::simulated`] counts there.

use std::io;

use taskscale_model::missing::Missing;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{prepare, try_to_open};
#[cfg(target_os = "linux")]
pub(crate) use linux::{prepare, try_to_open};

/// Counts the instructions of one process and of all that it starts.
#[derive(Debug)]
pub struct Counter {
    pub(super) event: std::fs::File,
}

impl Counter {
    /// Returns the instructions so far, those of living threads included.
    ///
    /// # Errors
    /// Those of reading the event. Also when others wanted the processor's few counters: then a
    /// part of the time was not counted.
    pub fn read(&self) -> io::Result<u64> {
        use std::io::Read;
        let mut words = [0; 24];
        (&self.event).read_exact(&mut words)?;
        let mut numbers = words.chunks_exact(8).map(|word| {
            // `chunks_exact(8)` gives eight bytes.
            word.try_into().map(u64::from_ne_bytes).unwrap_or_default()
        });
        let mut next = || numbers.next().unwrap_or_default();
        whole(next(), next(), next())
    }
}

/// Refuses a count that does not cover the whole time.
fn whole(count: u64, enabled_ns: u64, running_ns: u64) -> io::Result<u64> {
    if running_ns < enabled_ns {
        let share = 100.0 * running_ns as f64 / enabled_ns as f64;
        return Err(io::Error::other(format!(
            "instructions were counted in {share:.0} % of the time, since other programs use the processor's counters"
        )));
    }
    Ok(count)
}

/// Stands in on other systems, where nothing is counted.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::Missing;
    use crate::counts::opened::Opener;

    fn missing() -> Missing {
        Missing::new("instructions are counted on Linux only", "")
    }

    pub(crate) fn try_to_open() -> Result<(), Missing> {
        Err(missing())
    }

    pub(crate) fn prepare() -> Result<Opener, Missing> {
        Err(missing())
    }
}

/// The event on Linux.
#[cfg(target_os = "linux")]
mod linux {
    use super::{Missing, io};
    use crate::{
        counts::opened::Opener,
        perf::{self, Event},
    };

    /// What most systems let everyone count: nothing of the kernel.
    const USER_ONLY: u64 = Event::EXCLUDE_KERNEL | Event::EXCLUDE_HYPERVISOR;
    /// PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING.
    const WITH_TIMES: u64 = 1 | 2;

    /// Opens a counter of this thread, and closes it again.
    ///
    /// # Errors
    /// There is no counter; says why, with the remedy.
    pub(crate) fn try_to_open() -> Result<(), Missing> {
        let event = Event {
            kind: Event::HARDWARE,
            config: Event::INSTRUCTIONS,
            flags: Event::DISABLED | USER_ONLY,
            read_format: 0,
        };
        perf::open(event).map(drop).map_err(|error| refused(&error))
    }

    /// Prepares the event for the next process that is started.
    ///
    /// # Errors
    /// No socket can be made.
    pub(crate) fn prepare() -> Result<Opener, Missing> {
        let mut event = Event::of_a_program(Event::HARDWARE, Event::INSTRUCTIONS);
        event.flags |= USER_ONLY;
        event.read_format = WITH_TIMES;
        Opener::prepare(event, refused)
    }

    fn refused(error: &io::Error) -> Missing {
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => Missing::new(
                "this machine shows no hardware counters (usual in a virtual machine)",
                "count them by valgrind (--metrics callgrind), or on bare metal",
            ),
            Some(libc::EACCES | libc::EPERM) => Missing::new(
                "the kernel does not let this user count (perf_event_paranoid, or a container's filter)",
                "sudo sysctl kernel.perf_event_paranoid=2, or grant CAP_PERFMON",
            ),
            Some(libc::ENOSYS) => {
                Missing::new("this kernel was built without perf events, or they are filtered", "")
            }
            _ => Missing::new(format!("perf_event_open failed: {error}"), ""),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_refusal_names_what_is_in_the_way() {
            let refused = |errno| refused(&io::Error::from_raw_os_error(errno));
            assert!(refused(libc::ENOENT).reason.contains("no hardware counters"));
            assert!(refused(libc::EACCES).remedy.contains("perf_event_paranoid"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_a_part_of_the_time_is_none() {
        assert_eq!(whole(7, 100, 100).expect("the whole time"), 7);
        let error = whole(7, 100, 25).expect_err("a quarter").to_string();
        assert!(error.contains("25 %"), "{error}");
    }
}
