//! Names of tasks as numbers, because an entry of the buffer has no room for a name.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use taskscale_digest::NUMBERS;

/// Bytes of a name that are kept; the rest is ignored.
const BYTES: usize = 48;
/// Names that a buffer can hold; number 0 is none.
const NAMES: usize = NUMBERS - 1;

/// Names by number, from 1 on. Number 0 means no name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The length and the bytes of each name.
    known: Vec<(u8, [u8; BYTES])>,
}

impl Names {
    /// The number of a name. A new name gets the next free number; `None` if all are in use.
    pub fn number(&mut self, name: &[u8]) -> Option<u32> {
        let name = &name[..name.len().min(BYTES)];
        if let Some(at) = self.known.iter().position(|(length, bytes)| bytes[..usize::from(*length)] == *name)
        {
            return Some(at as u32 + 1);
        }
        if self.known.len() == NAMES {
            return None;
        }
        let mut bytes = [0; BYTES];
        bytes[..name.len()].copy_from_slice(name);
        self.known.push((name.len() as u8, bytes));
        Some(self.known.len() as u32)
    }

    /// The name of a number; empty if the number has none.
    pub fn name(&self, number: u32) -> &[u8] {
        let known = (number as usize).checked_sub(1).and_then(|at| self.known.get(at));
        known.map_or(&[], |(length, bytes)| &bytes[..usize::from(*length)])
    }

    /// Memory on the heap, in bytes.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<(u8, [u8; BYTES])>()
    }
}

/// The length of a name and its bytes as words, which compare in a few instructions.
#[derive(Debug, Clone, Copy)]
pub struct Words([u64; BYTES / 8], u32);

impl Words {
    /// Takes the first 48 bytes of a name.
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        let mut bytes = [0; BYTES];
        let length = name.len().min(BYTES);
        bytes[..length].copy_from_slice(&name[..length]);
        let mut words = [0; BYTES / 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            *word = u64::from_le_bytes(eight);
        }
        Words(words, length as u32)
    }
}

/// The most recent name and its number.
#[derive(Debug, Default)]
pub struct Latest {
    words: [AtomicU64; BYTES / 8],
    length: AtomicU32,
    number: AtomicU32,
}

impl Latest {
    /// The number of the most recent name if it is this one.
    #[inline]
    pub fn number(&self, Words(words, length): Words) -> Option<u32> {
        let same = self.length.load(Relaxed) == length
            && self.words.iter().zip(words).all(|(mine, word)| mine.load(Relaxed) == word);
        same.then(|| self.number.load(Relaxed))
    }

    pub fn set(&self, Words(words, length): Words, number: u32) {
        self.words.iter().zip(words).for_each(|(mine, word)| mine.store(word, Relaxed));
        self.length.store(length, Relaxed);
        self.number.store(number, Relaxed);
    }
}
