//! The largest resident memory of a process and of its living descendants, since a moment.
//!
//! The kernel keeps a mark for each process (`VmHWM` of `/proc/PID/status`), and `5` written to
//! `/proc/PID/clear_refs` sets it back to what is resident at that moment. Nothing is sampled, so
//! no peak is too short to be seen, and the process is asked for nothing. Both files belong to the
//! user of the process, and need no privileges.
//!
//! **Exact.** A page more or less is seen. Linux before 6.16 counts pages in batches for each CPU
//! or thread and shows the sum of what was handed in: a mark may be off by some hundred kilobytes
//! there.
//!
//! **What is lost.** A descendant that ends takes its mark along. The sum over processes is more
//! than what was resident at any moment where their peaks lie at different times, and memory that
//! they share counts in each.

use std::{fs, io};

use taskscale_model::missing::Missing;

use crate::process::tree::descendants;

/// The largest resident memory since [`reset`], in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peak {
    /// Of the process.
    pub own: u64,
    /// The sum of the peaks of its living descendants.
    pub descendants: u64,
}

impl Peak {
    /// Of the process and its descendants.
    pub fn total(&self) -> u64 {
        self.own + self.descendants
    }
}

/// Sets the marks of a process and of its living descendants back to what is resident now. Costs
/// under 1 us for each, and 2 ms to find the descendants among 100 processes.
///
/// # Errors
/// The kernel has no such marks or does not permit it; says why, with the remedy.
pub fn reset(pid: u32) -> Result<(), Missing> {
    let reset = |pid| fs::write(format!("/proc/{pid}/clear_refs"), "5");
    reset(pid).map_err(|error| refused(pid, "be reset", &error))?;
    for descendant in descendants(pid) {
        // One that ended meanwhile has no mark.
        match reset(descendant) {
            Err(error) if !is_gone(&error) => return Err(refused(descendant, "be reset", &error)),
            _ => {}
        }
    }
    Ok(())
}

/// Reads the marks of a process and of its living descendants. Costs about 50 us for each.
///
/// # Errors
/// As [`reset`], or the process has ended.
pub fn read(pid: u32) -> Result<Peak, Missing> {
    let own = mark(pid).map_err(|error| refused(pid, "be read", &error))?;
    let mut peak = Peak { own, descendants: 0 };
    for descendant in descendants(pid) {
        match mark(descendant) {
            Ok(bytes) => peak.descendants += bytes,
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(refused(descendant, "be read", &error)),
        }
    }
    Ok(peak)
}

fn mark(pid: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next());
    match kib.and_then(|kib| kib.parse::<u64>().ok()) {
        Some(kib) => Ok(kib * 1024),
        // The memory of a process is gone before its entry is.
        None => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn refused(pid: u32, what: &str, error: &io::Error) -> Missing {
    let (reason, remedy) = if !cfg!(target_os = "linux") {
        ("that is done on Linux only".to_owned(), "")
    } else if is_gone(error) {
        match fs::exists(format!("/proc/{pid}")) {
            Ok(true) if error.kind() == io::ErrorKind::NotFound => (
                "this kernel keeps no such mark (it was built without CONFIG_PROC_PAGE_MONITOR)".to_owned(),
                "use a kernel of a distribution; some sandboxes have none",
            ),
            _ if fs::exists("/proc/self").is_ok_and(|there| there) => ("it has ended".to_owned(), ""),
            _ => ("/proc is not mounted".to_owned(), "as root: mount -t proc proc /proc"),
        }
    } else {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM | libc::EROFS) => (
                format!(
                    "{error}: the process is another user's, its program may not be read, or /proc is read-only"
                ),
                "run as the user of the process, let the program's file be read (chmod a+r)",
            ),
            Some(libc::EINVAL) => {
                ("this kernel cannot reset it (before Linux 4.0)".to_owned(), "use a newer kernel")
            }
            _ => (error.to_string(), ""),
        }
    };
    Missing::new(format!("the peak memory of process {pid} cannot {what}: {reason}"), remedy)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_gone_is_told() {
        // Beyond what the kernel gives out.
        let missing = read(99_999_999).expect_err("no such process");
        assert!(missing.reason.ends_with("it has ended"), "{missing}");
        assert!(reset(99_999_999).is_err());
    }

    #[test]
    fn a_refusal_says_whose_the_process_must_be() {
        let denied = refused(std::process::id(), "be reset", &io::Error::from_raw_os_error(libc::EACCES));
        assert!(denied.remedy.contains("the user of the process"), "{denied}");
        let old = refused(std::process::id(), "be reset", &io::Error::from_raw_os_error(libc::EINVAL));
        assert!(old.reason.contains("4.0"), "{old}");
    }
}
