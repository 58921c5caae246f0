//! One keep-alive connection, with at most one request under way.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Instant,
};

use crate::problem::Problem;

/// The most bytes of a response, head and body. A right one of `interp` has about 750.
pub const MOST_BYTES: usize = 16 * 1024;
/// The most headers of a response; servers send about five.
const MOST_HEADERS: usize = 64;
/// Bytes that are shown of what a server said.
const SHOWN: usize = 200;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// The body of every right response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted(pub Vec<u8>);

/// When a request was to start, and when it was sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    pub intended: Instant,
    pub at: Instant,
}

pub struct Connection {
    pub stream: TcpStream,
    buffer: Box<[u8]>,
    filled: usize,
    /// The request that is under way.
    sent: Option<Sent>,
}

/// What a read brought.
pub enum Brought {
    /// The right response to this request.
    Response(Sent),
    /// Less than that.
    Part,
    /// The end.
    End,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Connection { stream, buffer: vec![0; MOST_BYTES].into(), filled: 0, sent: None }
    }

    /// Sends a request. Its 36 bytes always find room, as nothing else is under way.
    pub fn send(&mut self, sent: Sent) -> Result<(), Problem> {
        match self.stream.write(REQUEST) {
            Ok(count) if count == REQUEST.len() => self.sent = Some(sent),
            Ok(_) => return Err(Problem::Io("the system took a part of a request".to_owned())),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Reads what has come, and judges the response when it is whole.
    pub fn receive(&mut self, wanted: &Wanted) -> Result<Brought, Problem> {
        loop {
            if self.filled == self.buffer.len() {
                return Err(Problem::TooLong(MOST_BYTES));
            }
            match self.stream.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Ok(Brought::End),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Brought::Part),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Brought::End),
                Err(error) => return Err(error.into()),
            }
            let Some(sent) = self.sent else { return Err(Problem::Unasked) };
            if judge(&self.buffer[..self.filled], wanted)? {
                (self.filled, self.sent) = (0, None);
                return Ok(Brought::Response(sent));
            }
        }
    }
}

/// Whether these bytes are the whole right response; `false` where some are still to come.
fn judge(bytes: &[u8], wanted: &Wanted) -> Result<bool, Problem> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let head = match response.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(false),
        Err(error) => return Err(Problem::NotHttp(format!("{error} in {}", shown(bytes)))),
    };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    let Some(length): Option<usize> = length else {
        return Err(Problem::NotHttp(shown(&bytes[..head])));
    };
    let status = response.code.unwrap_or_default();
    let body = &bytes[head..];
    if length > MOST_BYTES - head {
        return Err(Problem::TooLong(MOST_BYTES));
    }
    if body.len() < length {
        return Ok(false);
    }
    if body.len() > length {
        return Err(Problem::Unasked);
    }
    if status != 200 {
        return Err(Problem::Status { status, said: shown(body) });
    }
    let Wanted(right) = wanted;
    if body != right {
        let at = body.iter().zip(right).take_while(|(got, right)| got == right).count();
        return Err(Problem::Body { at, got: body.len(), right: right.len() });
    }
    Ok(true)
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).escape_debug().to_string();
    format!("\"{text}\"{}", if bytes.len() > SHOWN { " ..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Result<bool, Problem> {
        judge(text.as_bytes(), &Wanted(b"right".to_vec()))
    }

    #[test]
    fn a_response_is_judged_when_it_is_whole() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nright";
        for cut in 0..whole.len() {
            assert_eq!(judged(&whole[..cut]), Ok(false), "{cut}");
        }
        assert_eq!(judged(whole), Ok(true));
        assert_eq!(judged(&format!("{whole}H")), Err(Problem::Unasked));
    }

    #[test]
    fn what_is_wrong_with_a_response_is_named() {
        for (text, said) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong", "differ from byte 0 on; right are 5"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nrigh", "4 bytes that differ from byte 4 on"),
            ("HTTP/1.1 500 Oh\r\ncontent-length: 5\r\n\r\nat se", "status 500: \"at se\""),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "with a Content-Length"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", "more than 16384 bytes"),
            ("SSH-2.0-OpenSSH\r\n", "no response of HTTP/1.1"),
        ] {
            let problem = judged(text).expect_err(text).to_string();
            assert!(problem.contains(said), "{problem:?} does not say {said:?}");
        }
    }
}
