//! A perf event that a child opens on itself between fork and exec and sends us through a socket.
//!
//! With `enable_on_exec` and `inherit`, counting begins with the program's first instruction and
//! takes in all its threads and children. (Opened on *our* thread before the fork and inherited, an
//! event counted nothing in 5 of 11 trials on Linux 6.18.)
#![allow(unsafe_code)]

use std::{
    io,
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::{net::UnixDatagram, process::CommandExt},
    },
};

use taskscale_model::missing::Missing;

use crate::perf::{self, Event};

/// Makes the next process that is started open the event on itself.
#[derive(Debug)]
pub(crate) struct Opener {
    event: Event,
    refused: fn(&io::Error) -> Missing,
    ours: UnixDatagram,
    theirs: UnixDatagram,
}

impl Opener {
    /// Does everything that can be done before the process exists. `refused` says why the kernel
    /// did not open the event.
    ///
    /// # Errors
    /// No socket can be made.
    pub fn prepare(event: Event, refused: fn(&io::Error) -> Missing) -> Result<Self, Missing> {
        let (ours, theirs) = UnixDatagram::pair()
            .and_then(|(ours, theirs)| ours.set_nonblocking(true).map(|()| (ours, theirs)))
            .map_err(|error| Missing::new(format!("no socket can be made: {error}"), ""))?;
        Ok(Opener { event, refused, ours, theirs })
    }

    /// Arranges that the program of `command` is counted. A refusal is sent in place of the
    /// descriptor, and the program starts all the same.
    pub fn hook(&self, command: &mut std::process::Command) {
        let (event, socket) = (self.event, self.theirs.as_raw_fd());
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated. The
        // socket is open: `self` is borrowed until the process is started.
        unsafe {
            command.pre_exec(move || {
                match perf::open(event) {
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
    pub fn receive(self) -> Result<std::fs::File, Missing> {
        receive(self.ours.as_raw_fd()).map(Into::into).map_err(|error| (self.refused)(&error))
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
