//! A sliding window over a stream, with one buffer that is used again and again.

use std::io::{ErrorKind, Read};

use crate::error::TraceError;

/// The first size of the buffer: as much as the recognition of a format reads, and all that a small
/// file needs.
const FIRST: usize = 256 << 10;
/// The size of the buffer once a file proves longer. Reading 450 MB costs the kernel 36 ms in
/// blocks of 256 KB and 26 ms in blocks of this size, which still lie in the second-level cache.
const USUAL: usize = 1 << 20;

/// The largest size of the buffer. A single event of more bytes is skipped and counted.
pub const MOST: usize = 4 << 20;

/// The result of a request for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// The window holds more bytes than before.
    Read,
    /// The stream has ended.
    End,
    /// The window is full of bytes that were not consumed, and may not grow.
    Full,
}

/// A stream with some of its bytes in memory.
pub struct Window<'r> {
    input: &'r mut dyn Read,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    bytes: u64,
}

impl<'r> Window<'r> {
    /// Opens a window on the first block of a stream.
    pub fn open(input: &'r mut dyn Read) -> Result<Self, TraceError> {
        let buffer = vec![0; FIRST];
        let mut window = Window { input, buffer, start: 0, end: 0, ended: false, bytes: 0 };
        window.more()?;
        Ok(window)
    }

    /// Returns the bytes in memory.
    #[inline(always)]
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Forgets the first `n` bytes, or all where there are fewer.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.end);
    }

    /// Returns the number of bytes read from the stream.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the place of the first byte in memory, counted from the beginning of the stream.
    pub fn place(&self) -> u64 {
        self.bytes - self.data().len() as u64
    }

    /// Moves what was not consumed to the front and reads until the buffer is full. An event that
    /// is cut by the end of the buffer is thereby scanned at most once more for each doubling.
    pub fn more(&mut self) -> Result<More, TraceError> {
        if self.ended {
            return Ok(More::End);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end >= MOST {
            return Ok(More::Full);
        }
        if self.bytes > 0 || self.end == self.buffer.len() {
            let length = if self.end == self.buffer.len() { 2 * self.end } else { self.buffer.len() };
            self.buffer.resize(length.max(USUAL), 0);
        }
        let before = self.end;
        while self.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(n) => {
                    self.end += n;
                    self.bytes += n as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(TraceError::Io { bytes: self.bytes, source }),
            }
        }
        Ok(if self.end > before { More::Read } else { More::End })
    }

    /// Reads on until `n` bytes are in memory. Returns `false` where the stream ends before. `n` is
    /// at most [`MOST`].
    pub fn ensure(&mut self, n: usize) -> Result<bool, TraceError> {
        while self.data().len() < n {
            if self.more()? != More::Read {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets bytes while `test` holds. Returns the first other byte, or `None` at the end.
    pub fn skip_while(&mut self, test: impl Fn(u8) -> bool) -> Result<Option<u8>, TraceError> {
        loop {
            let data = self.data();
            if let Some(n) = data.iter().position(|&byte| !test(byte)) {
                let byte = data[n];
                self.consume(n);
                return Ok(Some(byte));
            }
            self.consume(usize::MAX >> 1);
            if self.more()? != More::Read {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `1` to `size` bytes at a time.
    struct Dribble(usize, usize);

    impl Read for Dribble {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(self.0).min(buffer.len());
            buffer[..n].fill(b'x');
            self.0 -= n;
            Ok(n)
        }
    }

    #[test]
    fn the_buffer_grows_to_its_bound_and_no_further() {
        let mut input = Dribble(10 << 20, 1 << 20);
        let mut window = Window::open(&mut input).expect("opens");
        while window.more().expect("reads") == More::Read {}
        assert_eq!((window.data().len(), window.more().expect("reads")), (MOST, More::Full));
        window.consume(MOST);
        while window.more().expect("reads") == More::Read {
            window.consume(window.data().len());
        }
        assert_eq!(window.bytes(), 10 << 20);
    }

    #[test]
    fn errors_say_how_far_it_went() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("disk on fire"))
            }
        }
        let error = Window::open(&mut Broken).err().expect("fails").to_string();
        assert_eq!(error, "cannot read the input after 0 bytes: disk on fire");
    }
}
