//! Where bytes come from.

use std::{
    env, fmt, fs,
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    path::PathBuf,
};

use crate::sdk::Run;

/// The variables by which the tool tells where the bytes are.
const FOLDER: &str = "TASKSCALE_BYTES";
const URL: &str = "TASKSCALE_BYTES_URL";

/// The most bytes of a response's head.
const HEAD: usize = 8 << 10;

/// What a pass reads.
pub struct Source {
    pub place: Place,
    /// Bytes of a buffer.
    pub chunk: usize,
    /// The content, for who copies it from memory.
    pub memory: Vec<u8>,
}

pub enum Place {
    File(PathBuf),
    /// `127.0.0.1:PORT`, and what is asked of it.
    Http {
        address: String,
        path: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(path) => write!(text, "{}", path.display()),
            Place::Http { address, path } => write!(text, "http://{address}{path}"),
        }
    }
}

impl Source {
    /// What a request asks for.
    pub fn of(run: &Run, from_memory: bool) -> Result<Self, String> {
        let name = format!("{}.bytes", run.size);
        let told = |variable: &str| {
            let why = format!("{variable} is not set: `taskscale probe bytes {}` says to what", run.size);
            env::var(variable).map_err(|_| why)
        };
        let place = if run.param::<String>("source") == "http" {
            let url = told(URL)?;
            let address = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/').to_owned());
            let address = address.ok_or_else(|| format!("{URL} is {url:?}, and not http://ADDRESS:PORT"))?;
            Place::Http { address, path: format!("/{name}") }
        } else {
            Place::File(PathBuf::from(told(FOLDER)?).join(name))
        };
        let memory = match &place {
            Place::File(path) if from_memory => {
                fs::read(path).map_err(|why| format!("{} cannot be read: {why}", path.display()))?
            }
            _ => Vec::new(),
        };
        let chunk = usize::try_from(run.param::<u64>("chunk")).unwrap_or(usize::MAX).max(1);
        Ok(Source { place, chunk, memory })
    }

    /// The path of the file.
    pub fn file(&self) -> io::Result<&PathBuf> {
        match &self.place {
            Place::File(path) => Ok(path),
            Place::Http { .. } => Err(io::Error::new(ErrorKind::Unsupported, "this way reads files alone")),
        }
    }
}

/// Asks for `path` over a socket of its own. Returns the socket behind the head of the response,
/// and what of the body came with that.
pub fn get(address: &str, path: &str) -> io::Result<(Vec<u8>, TcpStream)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let first = behind_head(&mut stream)?;
    Ok((first, stream))
}

/// Reads the head of a response. Returns what of the body came with it.
pub fn behind_head(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut head, mut read) = (vec![0; HEAD], 0);
    loop {
        match from.read(&mut head[read..]) {
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
            Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the response has no whole head")),
            Ok(many) => read += many,
        }
        if let Some(end) = head[..read].windows(4).position(|four| four == b"\r\n\r\n") {
            let line = head[..end].split(|byte| *byte == b'\r').next().unwrap_or_default();
            if !line.starts_with(b"HTTP/1.1 200") {
                return Err(io::Error::other(String::from_utf8_lossy(line).into_owned()));
            }
            return Ok(head[end + 4..read].to_vec());
        }
    }
}
