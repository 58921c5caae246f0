//! A stretch of the window of fixed size. Places in it are masked, so that no access needs a check
//! of its own.

use crate::bytes::{Block, Lanes};

/// Most places in a view; a power of two.
const PLACES: usize = 512;
/// Most blocks of sixteen bytes in a literal.
const BLOCKS: usize = 8;

/// The bytes from some place of the window. A place past the last one reads as another. The caller
/// asks [`View::holds`] about the largest place before it trusts what it read.
#[derive(Clone, Copy)]
pub struct View<'a>(&'a [u8; PLACES + 16 * BLOCKS]);

impl<'a> View<'a> {
    /// Takes the view from `at`; `None` where the data end before the view does.
    #[inline(always)]
    pub fn of(data: &'a [u8], at: usize) -> Option<Self> {
        data.get(at..)?.first_chunk().map(View)
    }

    /// Tells whether all that was read up to this place lay in the view.
    #[inline(always)]
    pub fn holds(self, at: usize) -> bool {
        at < PLACES
    }

    #[inline(always)]
    fn chunk<const N: usize>(self, at: usize, block: usize) -> [u8; N] {
        let start = (at & (PLACES - 1)) + 16 * (block & (BLOCKS - 1));
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[start..start + N]);
        bytes
    }

    #[inline(always)]
    fn lanes(self, at: usize, block: usize) -> Lanes {
        Lanes::from(self.chunk::<16>(at, block))
    }

    /// Reads eight bytes as an integer whose lowest byte is the first.
    #[inline(always)]
    pub fn word(self, at: usize) -> u64 {
        u64::from_le_bytes(self.chunk(at, 0))
    }

    /// Counts the bytes from `at` to the next `byte`. Where there is none in the view, returns more
    /// than the view holds.
    #[inline(always)]
    pub fn find(self, at: usize, byte: u8) -> usize {
        match self.lanes(at, 0).equal(byte) {
            0 => self.find_further(at, byte),
            found => found.trailing_zeros() as usize,
        }
    }

    #[inline(never)]
    fn find_further(self, at: usize, byte: u8) -> usize {
        let mut length = 16;
        while at + length < PLACES {
            let found = self.lanes(at + length, 0).equal(byte);
            if found != 0 {
                return length + found.trailing_zeros() as usize;
            }
            length += 16;
        }
        PLACES
    }

    /// Tells whether `length` bytes from `at` are digits, one underscore and digits, and at most
    /// sixteen.
    #[inline(always)]
    pub fn is_numbered(self, at: usize, length: usize) -> bool {
        self.lanes(at, 0).is_numbered(length)
    }

    /// Tells whether `length` bytes from `at` are ASCII without quotes, escapes and control
    /// characters.
    #[inline(always)]
    pub fn is_plain(self, at: usize, length: usize) -> bool {
        let mut left = length;
        let mut at = at;
        while left > 16 {
            if !self.lanes(at, 0).is_plain(16) {
                return false;
            }
            at += 16;
            left -= 16;
        }
        self.lanes(at, 0).is_plain(left)
    }
}

/// Text to compare with, of at most 128 bytes.
#[derive(Debug, Clone)]
pub struct Literal {
    head: Block,
    tail: Vec<Block>,
    length: usize,
    /// The first byte of the text.
    pub first: u8,
}

impl Literal {
    /// Returns `None` for no text and for one that is too long.
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut blocks = text.chunks(16).map(Block::new);
        let (first, head) = (*text.first()?, blocks.next()?);
        (text.len() <= 16 * BLOCKS).then(|| Literal {
            head,
            tail: blocks.collect(),
            length: text.len(),
            first,
        })
    }

    /// Returns the number of bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns the place behind this text, which ends the value at `at`. Compares behind as many
    /// bytes as `length` says, then behind the next one that equals the text's first byte. Leaves
    /// the value's length in `length`.
    #[inline(always)]
    pub fn behind(&self, view: View<'_>, at: usize, length: &mut usize) -> Option<usize> {
        if !self.matches(view, at + *length) {
            let found = view.find(at, self.first);
            if found == *length || !self.matches(view, at + found) {
                return None;
            }
            *length = found;
        }
        Some(at + *length + self.length)
    }

    /// Tells whether the text stands at `at`.
    #[inline(always)]
    pub fn matches(&self, view: View<'_>, at: usize) -> bool {
        self.head.fits(view.lanes(at, 0))
            && self.tail.iter().enumerate().all(|(i, block)| block.fits(view.lanes(at, i + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_past_the_view_is_not_held() {
        let mut data = vec![b'a'; 2_000];
        data[700] = b'"';
        data[300] = b'"';
        let view = View::of(&data, 0).expect("long enough");
        assert_eq!((view.find(0, b'"'), view.find(290, b'"')), (300, 10));
        let beyond = 301 + view.find(301, b'"');
        assert!(!view.holds(beyond) && view.holds(511));
        assert!(View::of(&data, 2_000 - 639).is_none() && View::of(&data, 2_000 - 640).is_some());
        assert!(View::of(&data, 3_000).is_none());
    }

    #[test]
    fn literals_are_compared_to_their_last_byte() {
        let text = [b'x'; 100];
        let literal = Literal::new(&text).expect("of a length that can be");
        let mut data = vec![b'x'; 1_000];
        for wrong in [0, 15, 16, 47, 99] {
            data[200 + wrong] = b'y';
            assert!(!literal.matches(View::of(&data, 0).expect("long enough"), 200), "{wrong}");
            data[200 + wrong] = b'x';
        }
        data[300] = b'y';
        assert!(literal.matches(View::of(&data, 0).expect("long enough"), 200));
        assert!(Literal::new(b"").is_none() && Literal::new(&[0; 129]).is_none());
    }

    #[test]
    fn plain_is_ascii_without_escapes() {
        let mut data = vec![b'a'; 1_000];
        for (at, byte) in [(0, b'\\'), (20, 0x1F), (39, 0x80), (39, b'\n')] {
            let old = std::mem::replace(&mut data[100 + at], byte);
            assert!(!View::of(&data, 0).expect("long enough").is_plain(100, 40), "{at}");
            data[100 + at] = old;
        }
        data[140] = b'\\';
        assert!(View::of(&data, 0).expect("long enough").is_plain(100, 40));
    }
}
