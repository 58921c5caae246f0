//! Waits until a connection has something to read.

use std::{io, net::TcpStream, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// Waits at most `time` for one descriptor.
fn wait_for(fds: &mut [PollFd<'_>], time: Duration) -> io::Result<()> {
    let time = Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    match poll(fds, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// By epoll, whose cost does not grow with the connections.
#[cfg(target_os = "linux")]
pub struct Ready {
    epoll: std::os::fd::OwnedFd,
    events: Vec<rustix::event::epoll::Event>,
}

#[cfg(target_os = "linux")]
impl Ready {
    pub fn new(connections: usize) -> io::Result<Self> {
        let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC)?;
        Ok(Ready { epoll, events: Vec::with_capacity(connections.max(1)) })
    }

    pub fn add(&mut self, index: usize, stream: &TcpStream) -> io::Result<()> {
        use rustix::event::epoll;
        let data = epoll::EventData::new_u64(index as u64);
        Ok(epoll::add(&self.epoll, stream, data, epoll::EventFlags::IN)?)
    }

    /// Puts the connections that can be read into `ready`; none where `time` passed.
    pub fn wait<'s>(
        &mut self,
        _streams: impl Iterator<Item = &'s TcpStream>,
        time: Duration,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        use rustix::{buffer::spare_capacity, event::epoll};
        // epoll itself waits whole milliseconds on older kernels. It can be polled like a socket.
        wait_for(&mut [PollFd::new(&self.epoll, PollFlags::IN)], time)?;
        ready.clear();
        self.events.clear();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&now)) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        ready.extend(self.events.iter().map(|event| event.data.u64() as usize));
        Ok(())
    }
}

/// By poll, where there is no epoll.
#[cfg(not(target_os = "linux"))]
pub struct Ready;

#[cfg(not(target_os = "linux"))]
impl Ready {
    pub fn new(_connections: usize) -> io::Result<Self> {
        Ok(Ready)
    }

    pub fn add(&mut self, _index: usize, _stream: &TcpStream) -> io::Result<()> {
        Ok(())
    }

    pub fn wait<'s>(
        &mut self,
        streams: impl Iterator<Item = &'s TcpStream>,
        time: Duration,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        let mut fds: Vec<PollFd<'_>> = streams.map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
        wait_for(&mut fds, time)?;
        ready.clear();
        let readable = fds.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
        ready.extend(readable.map(|(index, _)| index));
        Ok(())
    }
}
