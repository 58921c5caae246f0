//! The two loops.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use crate::{
    connection::{Brought, Connection, Sent, Wanted},
    problem::Problem,
    ready::Ready,
    tally::{Tally, Times},
};

/// Connections to one server of this machine.
pub struct Client {
    wanted: Wanted,
    connections: Vec<Connection>,
    ready: Ready,
}

/// A load under way.
struct Load {
    requests: u64,
    sent: u64,
    answered: u64,
    began: Instant,
    ended: Instant,
    /// Connections without a request, the longest idle first.
    idle: VecDeque<usize>,
    latency: Times,
    from_send: Times,
    late: Times,
}

impl Client {
    /// Connects so many times to a port of 127.0.0.1.
    ///
    /// # Errors
    /// Nothing listens there, or not before `deadline`.
    pub fn connect(
        port: u16,
        connections: usize,
        wanted: Wanted,
        deadline: Instant,
    ) -> Result<Self, Problem> {
        let failed = |why: std::io::Error| Problem::Connect { port, why: why.to_string() };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut client =
            Client { wanted, connections: Vec::new(), ready: Ready::new(connections).map_err(failed)? };
        for index in 0..connections {
            // A timeout of zero is an error of its own.
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let stream = TcpStream::connect_timeout(&address, left).map_err(failed)?;
            stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true)).map_err(failed)?;
            client.ready.add(index, &stream).map_err(failed)?;
            client.connections.push(Connection::new(stream));
        }
        Ok(client)
    }

    /// The number of connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Sends exactly `requests`: each connection its next one when its last one is answered.
    ///
    /// # Errors
    /// The first wrong response, the first connection that ends, or the deadline.
    pub fn closed(&mut self, requests: u64, deadline: Instant) -> Result<Tally, Problem> {
        let mut load = self.begin(requests);
        let mut ready = Vec::new();
        loop {
            let now = Instant::now();
            while load.sent < requests {
                let Some(index) = load.idle.pop_front() else { break };
                self.send(&mut load, index, now, now)?;
            }
            if load.answered == requests {
                return Ok(load.tally(0));
            }
            self.receive(&mut load, &mut ready, deadline, deadline)?;
        }
    }

    /// Sends exactly `requests`, `per_s` a second at even distances, on whichever connection is
    /// free. A request that finds none waits, and its latency counts from when it was to start.
    ///
    /// # Errors
    /// Those of [`Client::closed`].
    pub fn open(&mut self, requests: u64, per_s: f64, deadline: Instant) -> Result<Tally, Problem> {
        let mut load = self.begin(requests);
        let mut ready = Vec::new();
        let began = load.began;
        let due = |number: u64| began + Duration::from_secs_f64(number as f64 / per_s);
        // Since when a connection is free without a break.
        let mut free_since = began;
        let mut waiting = None;
        loop {
            let now = Instant::now();
            while load.sent < requests && due(load.sent) <= now {
                let Some(index) = load.idle.pop_front() else { break };
                let intended = due(load.sent);
                if intended >= free_since {
                    load.late.add(now - intended);
                }
                self.send(&mut load, index, intended, Instant::now())?;
            }
            if waiting.is_none() && now >= due(requests.saturating_sub(1)) {
                waiting = Some(requests - load.answered);
            }
            if load.answered == requests {
                return Ok(load.tally(waiting.unwrap_or_default()));
            }
            let blocked = load.idle.is_empty();
            let until = if blocked || load.sent == requests { deadline } else { due(load.sent) };
            self.receive(&mut load, &mut ready, until, deadline)?;
            if blocked && !load.idle.is_empty() {
                free_since = Instant::now();
            }
        }
    }

    fn begin(&self, requests: u64) -> Load {
        let now = Instant::now();
        Load {
            requests,
            sent: 0,
            answered: 0,
            began: now,
            ended: now,
            idle: (0..self.connections.len()).collect(),
            latency: Times::new(),
            from_send: Times::new(),
            late: Times::new(),
        }
    }

    fn send(&mut self, load: &mut Load, index: usize, intended: Instant, at: Instant) -> Result<(), Problem> {
        load.sent += 1;
        match self.connections[index].send(Sent { intended, at }) {
            Err(Problem::Io(_)) => Err(load.closed()),
            other => other,
        }
    }

    /// Takes the responses that come until `until`, or the first ones before that.
    fn receive(
        &mut self,
        load: &mut Load,
        ready: &mut Vec<usize>,
        until: Instant,
        deadline: Instant,
    ) -> Result<(), Problem> {
        let now = Instant::now();
        if now >= deadline {
            return Err(Problem::TimedOut { answered: load.answered, of: load.requests });
        }
        let time = until.min(deadline).saturating_duration_since(now);
        self.ready.wait(self.connections.iter().map(|one| &one.stream), time, ready)?;
        // What one wait brings was there when it ended: the later ones of a batch do not wait for
        // the client.
        let now = Instant::now();
        for &index in ready.iter() {
            let Some(connection) = self.connections.get_mut(index) else { continue };
            match connection.receive(&self.wanted)? {
                Brought::Part => (),
                Brought::End => return Err(load.closed()),
                Brought::Response(sent) => {
                    load.answered += 1;
                    load.ended = now;
                    load.latency.add(now.saturating_duration_since(sent.intended));
                    load.from_send.add(now.saturating_duration_since(sent.at));
                    load.idle.push_back(index);
                }
            }
        }
        Ok(())
    }
}

impl Load {
    fn closed(&self) -> Problem {
        Problem::Closed { answered: self.answered, of: self.requests }
    }

    fn tally(self, waiting: u64) -> Tally {
        Tally {
            answered: self.answered,
            wall: self.ended.saturating_duration_since(self.began),
            latency: self.latency.buckets(),
            from_send: self.from_send.buckets(),
            late: self.late.buckets(),
            waiting,
        }
    }
}
