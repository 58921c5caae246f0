//! The tracepoint on Linux.

use std::io;

use taskscale_model::missing::Missing;

use crate::{counts::opened::Opener, perf::Event};

/// The folders in which the kernel may show its tracepoints.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Prepares the event for the next process that is started.
///
/// # Errors
/// No tracepoints are to be seen, or no socket can be made; with the remedy.
pub(crate) fn prepare() -> Result<Opener, Missing> {
    // `exclude_kernel` stays off: the tracepoint lies in the kernel, and nothing would be counted.
    let event = Event::of_a_program(Event::TRACEPOINT, tracepoint(&FOLDERS)?);
    Opener::prepare(event, refused)
}

/// Reads the tracepoint's number, which differs between kernels.
fn tracepoint(folders: &[&str]) -> Result<u64, Missing> {
    let mut denied = None;
    for folder in folders {
        let path = format!("{folder}/events/raw_syscalls/sys_enter/id");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                return text.trim().parse().map_err(|_| Missing::new(format!("{path} holds no number"), ""));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied = denied.or(Some(path)),
            Err(_) => {}
        }
    }
    Err(match denied {
        Some(path) => Missing::new(
            format!("no permission to read {path}"),
            "run as root, or let your user read tracefs: mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing",
        ),
        None => Missing::new(
            "the kernel's tracepoints are not to be seen (tracefs is not mounted)",
            "as root: mount -t tracefs nodev /sys/kernel/tracing",
        ),
    })
}

fn refused(error: &io::Error) -> Missing {
    let remedy = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "run as root or with CAP_PERFMON, or as root: sysctl kernel.perf_event_paranoid=-1; a container's seccomp filter may \
             forbid it too"
        }
        _ => {
            "the kernel was built without it (CONFIG_PERF_EVENTS, CONFIG_FTRACE_SYSCALLS), or the machine hides it"
        }
    };
    Missing::new(format!("the kernel does not let system calls be counted: perf_event_open: {error}"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_tracepoints_says_what_to_do() {
        let missing = tracepoint(&["/no/such/folder"]).expect_err("not there");
        assert!(missing.reason.contains("tracefs is not mounted"), "{missing}");
        assert!(missing.remedy.contains("mount -t tracefs"), "{missing}");
    }

    #[test]
    fn a_refusal_names_the_setting() {
        let missing = refused(&io::Error::from_raw_os_error(libc::EACCES));
        assert!(missing.remedy.contains("perf_event_paranoid"), "{missing}");
        let missing = refused(&io::Error::from_raw_os_error(libc::ENOENT));
        assert!(missing.remedy.contains("CONFIG_PERF_EVENTS"), "{missing}");
    }
}
