//! The event on Linux: the child opens it and sends it through a socket.

use std::{
    io,
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::{net::UnixDatagram, process::CommandExt},
    },
};

use taskscale_model::missing::Missing;

use super::Counter;
use crate::perf;

/// The folders in which the kernel may show its tracepoints.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Makes the next process that is started open the event on itself.
#[derive(Debug)]
pub(crate) struct Opener {
    tracepoint: u64,
    ours: UnixDatagram,
    theirs: UnixDatagram,
}

impl Opener {
    /// Does everything that can be done before the process exists.
    ///
    /// # Errors
    /// No tracepoints are to be seen, or no socket can be made; with the remedy.
    pub fn prepare() -> Result<Self, Missing> {
        let tracepoint = tracepoint(&FOLDERS)?;
        let (ours, theirs) = UnixDatagram::pair()
            .and_then(|(ours, theirs)| ours.set_nonblocking(true).map(|()| (ours, theirs)))
            .map_err(|error| Missing::new(format!("no socket can be made: {error}"), ""))?;
        Ok(Opener { tracepoint, ours, theirs })
    }

    /// Arranges that the program of `command` is counted. A refusal is sent in place of the
    /// descriptor, and the program starts all the same.
    pub fn hook(&self, command: &mut std::process::Command) {
        let (tracepoint, socket) = (self.tracepoint, self.theirs.as_raw_fd());
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated. The
        // socket is open: `self` is borrowed until the process is started.
        unsafe {
            command.pre_exec(move || {
                match open(tracepoint) {
                    Ok(event) => send(socket, event.as_raw_fd(), 0),
                    Err(error) => send(socket, -1, error.raw_os_error().unwrap_or(libc::EIO)),
                }
                Ok(())
            });
        }
    }

    /// Receives what the process sent, once it has been started.
    ///
    /// # Errors
    /// The kernel refused the event; says why, with the remedy.
    pub fn receive(self) -> Result<Counter, Missing> {
        match receive(self.ours.as_raw_fd()) {
            Ok(event) => Ok(Counter { event: event.into() }),
            Err(error) => Err(refused(&error)),
        }
    }
}

/// Room for one descriptor beside a message, as cmsg(3) lays it out: 24 bytes on 64-bit systems.
#[repr(align(8))]
struct Beside([u8; 64]);

/// Sends an error number and, where it is not negative, a descriptor. A message that cannot be sent
/// is missed by the receiver.
fn send(socket: RawFd, descriptor: RawFd, mut errno: i32) {
    let mut beside = Beside([0; 64]);
    // SAFETY: all pointers of the message lead to locals that outlive the call; the control message
    // lies within `beside`, whose length is that of one descriptor.
    unsafe {
        let mut part = libc::iovec { iov_base: (&raw mut errno).cast(), iov_len: size_of::<i32>() };
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if descriptor >= 0 {
            message.msg_control = beside.0.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
        }
        libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL);
    }
}

fn receive(socket: RawFd) -> io::Result<OwnedFd> {
    let mut beside = Beside([0; 64]);
    let mut errno = 0i32;
    // SAFETY: as in `send`; a descriptor that arrives is new and ours alone.
    unsafe {
        let mut part = libc::iovec { iov_base: (&raw mut errno).cast(), iov_len: size_of::<i32>() };
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = beside.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        if libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        if errno != 0 {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
    }
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

/// Opens the event on the calling thread. Makes system calls only: it runs between fork and exec.
fn open(tracepoint: u64) -> io::Result<OwnedFd> {
    const PERF_TYPE_TRACEPOINT: u32 = 2;
    const DISABLED: u64 = 1 << 0;
    const INHERIT: u64 = 1 << 1;
    const ENABLE_ON_EXEC: u64 = 1 << 12;
    // `exclude_kernel` stays off: the tracepoint lies in the kernel, and nothing would be counted.
    perf::open(PERF_TYPE_TRACEPOINT, tracepoint, DISABLED | INHERIT | ENABLE_ON_EXEC)
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
