//! Unpacks gzip and zstd data while they are read. What is packed is recognised by its first bytes;
//! all other data pass through as they are.
//!
//! Nothing grows with the data, packed or not: gzip looks 32 KB back, and zstd as far as its
//! frames say, which is limited ([`MOST_ZSTD_WINDOW`]).

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder, errors::FrameDecoderError};

/// The farthest that zstd data may look back: 128 MiB, which is also what `zstd -d` takes unasked.
/// The decoder holds at most twice that. Frames of `zstd -19` need 8 MiB.
const MOST_ZSTD_WINDOW: u64 = 128 << 20;
/// The size of the buffer in front of a decoder.
const BUFFER: usize = 64 << 10;

const GZIP: &[u8] = b"\x1F\x8B";
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";

/// A packing that is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Recognises the packing by the first bytes.
    fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(GZIP) {
            Some(Packing::Gzip)
        } else if head.starts_with(ZSTD) || is_skippable(head) {
            Some(Packing::Zstd)
        } else {
            None
        }
    }

    /// Returns the packing's name, which is also that of the command that makes it.
    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// Tells whether a frame of zstd follows that holds no data.
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// The input with some bytes in memory, so that the next few can be looked at.
struct Source<R> {
    input: R,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Whether the input has ended.
    ended: bool,
    /// Whether reading the input itself has failed.
    failed: bool,
}

impl<R: Read> Source<R> {
    /// Returns the next `n` bytes, or fewer where the input ends before.
    fn peek(&mut self, n: usize) -> io::Result<&[u8]> {
        while self.end - self.start < n {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            let read = self.more()?;
            if read == 0 {
                break;
            }
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + n)])
    }

    fn more(&mut self) -> io::Result<usize> {
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.failed |= read.is_err();
        let read = read?;
        self.ended |= read == 0;
        self.end += read;
        Ok(read)
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start < self.end {
            let n = (self.end - self.start).min(into.len());
            into[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
            self.start += n;
            return Ok(n);
        }
        if into.len() >= self.buffer.len() {
            // What fits no more than the target need not be copied twice.
            let read = self.input.read(into);
            self.failed |= read.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
            return read;
        }
        self.fill_buf()?;
        let n = (self.end - self.start).min(into.len());
        into[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
        self.start += n;
        Ok(n)
    }
}

impl<R: Read> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.more()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.end);
    }
}

enum State<R: Read> {
    Plain(Source<R>),
    Gzip(Box<GzDecoder<Source<R>>>),
    /// A frame of zstd. The decoder and its memory serve all frames.
    Zstd(Source<R>, Box<FrameDecoder>),
    Ended,
}

/// An input without its packing.
pub struct Unpacked<R: Read> {
    state: State<R>,
    packing: Option<Packing>,
    trouble: Option<String>,
}

/// What comes behind a member of gzip data or a frame of zstd data.
enum Next<R: Read> {
    State(State<R>),
    Trouble(String),
}

impl<R: Read> Unpacked<R> {
    /// Looks at the first bytes of an input.
    pub fn open(input: R) -> io::Result<Self> {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let mut source = Source { input, buffer, start: 0, end: 0, ended: false, failed: false };
        let packing = Packing::of(source.peek(4)?);
        let mut unpacked = Unpacked { state: State::Ended, packing, trouble: None };
        match packing {
            None => unpacked.state = State::Plain(source),
            Some(Packing::Gzip) => unpacked.state = State::Gzip(Box::new(GzDecoder::new(source))),
            Some(Packing::Zstd) => {
                let mut decoder = FrameDecoder::new();
                decoder.set_max_window_size(MOST_ZSTD_WINDOW);
                let next = next_frame(source, Box::new(decoder))?;
                unpacked.go_on(next);
            }
        }
        Ok(unpacked)
    }

    /// Says why the data ended before their end, where they did. What came before it was unpacked.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    fn go_on(&mut self, next: Next<R>) {
        match next {
            Next::State(state) => self.state = state,
            Next::Trouble(trouble) => {
                self.trouble = Some(trouble);
                self.state = State::Ended;
            }
        }
    }

    /// Takes an error of a decoder. An error of the input itself is handed on; all others end the
    /// data.
    fn fail(&mut self, error: io::Error) -> io::Result<()> {
        let source = match &self.state {
            State::Gzip(decoder) => decoder.get_ref(),
            State::Zstd(source, _) => source,
            State::Plain(_) | State::Ended => return Err(error),
        };
        if source.failed {
            return Err(error);
        }
        let (ended, name) = (source.ended, self.packing.map_or("", Packing::name));
        self.go_on(Next::Trouble(if ended { cut_off(name) } else { corrupt(name) }));
        Ok(())
    }

    /// Goes on behind a member or frame that has ended.
    fn next(&mut self) -> io::Result<()> {
        let next = match std::mem::replace(&mut self.state, State::Ended) {
            State::Gzip(decoder) => next_member(decoder.into_inner())?,
            State::Zstd(source, decoder) => {
                if let (Some(read), Some(made)) =
                    (decoder.get_checksum_from_data(), decoder.get_calculated_checksum())
                    && read != made
                {
                    Next::Trouble(corrupt("zstd"))
                } else {
                    next_frame(source, decoder)?
                }
            }
            other => Next::State(other),
        };
        self.go_on(next);
        Ok(())
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.state {
                State::Plain(source) => return source.read(into),
                State::Ended => return Ok(0),
                State::Gzip(decoder) => decoder.read(into),
                State::Zstd(source, decoder) => read_frame(source, decoder, into),
            };
            match read {
                Ok(0) => self.next()?,
                Ok(n) => return Ok(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.fail(error)?,
            }
        }
    }
}

fn cut_off(name: &str) -> String {
    format!("the {name} data end too early: the file was cut off")
}

fn corrupt(name: &str) -> String {
    format!("the {name} data are corrupt")
}

fn behind(name: &str) -> String {
    format!("what stands behind the {name} data is no {name} data")
}

/// Begins the next member of gzip data.
fn next_member<R: Read>(mut source: Source<R>) -> io::Result<Next<R>> {
    let head = source.peek(2)?;
    Ok(if head.is_empty() {
        Next::State(State::Ended)
    } else if head.starts_with(GZIP) {
        Next::State(State::Gzip(Box::new(GzDecoder::new(source))))
    } else {
        Next::Trouble(behind("gzip"))
    })
}

/// Begins the next frame of zstd data that holds some.
fn next_frame<R: Read>(mut source: Source<R>, mut decoder: Box<FrameDecoder>) -> io::Result<Next<R>> {
    let trouble = loop {
        let head = source.peek(8)?;
        if head.is_empty() {
            return Ok(Next::State(State::Ended));
        }
        if is_skippable(head) {
            let Some(length) = head.get(4..8).and_then(|bytes| bytes.try_into().ok()) else {
                break cut_off("zstd");
            };
            let length = 8 + u64::from(u32::from_le_bytes(length));
            if io::copy(&mut source.by_ref().take(length), &mut io::sink())? < length {
                break cut_off("zstd");
            }
            continue;
        }
        if !head.starts_with(ZSTD) {
            break behind("zstd");
        }
        break match decoder.init(&mut source) {
            Ok(()) => return Ok(Next::State(State::Zstd(source, decoder))),
            Err(error) if source.failed => return Err(io::Error::other(error)),
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => format!(
                "the zstd data look back {} MiB, and {} MiB are the most that is held in memory; unpack \
                 them first: zstd -dc --long=31 FILE | taskscale digest -",
                requested.div_ceil(1 << 20),
                MOST_ZSTD_WINDOW >> 20
            ),
            Err(FrameDecoderError::DictNotProvided { .. }) => {
                "the zstd data need a dictionary; unpack them first: zstd -dc -D DICTIONARY FILE | taskscale \
                 digest -"
                    .to_owned()
            }
            Err(_) if source.ended => cut_off("zstd"),
            Err(_) => corrupt("zstd"),
        };
    };
    Ok(Next::Trouble(trouble))
}

/// Reads from a frame of zstd; 0 where it has ended.
fn read_frame<R: Read>(
    source: &mut Source<R>,
    decoder: &mut FrameDecoder,
    into: &mut [u8],
) -> io::Result<usize> {
    while decoder.can_collect() == 0 && !decoder.is_finished() {
        decoder
            .decode_blocks(&mut *source, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(io::Error::other)?;
    }
    decoder.read(into)
}
