//! What a server can do wrong.

/// Why a load came to no end. Connections are of no use after one of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No connection could be made.
    #[error("no connection to port {port} of this machine: {why}")]
    Connect { port: u16, why: String },
    /// A connection ended.
    #[error("closed a connection, with {answered} of {of} requests answered")]
    Closed { answered: u64, of: u64 },
    /// The status is not 200.
    #[error("answered with status {status}: {said}")]
    Status { status: u16, said: String },
    /// The bytes are not those that were to come.
    #[error("answered with {got} bytes that differ from byte {at} on; right are {right} bytes")]
    Body { at: usize, got: usize, right: usize },
    /// The bytes are no response, or one that says nothing about its length.
    #[error("answered with something that is no response of HTTP/1.1 with a Content-Length: {0}")]
    NotHttp(String),
    /// A response has more bytes than any right one.
    #[error("answered with more than {0} bytes")]
    TooLong(usize),
    /// Bytes came that belong to no request.
    #[error("sent bytes that nobody asked for")]
    Unasked,
    /// The time is over.
    #[error("had answered {answered} of {of} requests when the time was over")]
    TimedOut { answered: u64, of: u64 },
    /// The system refused.
    #[error("a connection failed: {0}")]
    Io(String),
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Problem::Io(error.to_string())
    }
}
