//! Names of tasks as numbers, so that an entry of the buffer has room for one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use taskscale_digest::NUMBERS;

/// Bytes of a name that count.
const BYTES: usize = 48;
/// Names that a buffer can hold; number 0 is none.
const NAMES: usize = NUMBERS - 1;

/// Names by their numbers from 1 on; 0 is no name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Lengths and bytes, one name behind the other.
    known: Vec<(u8, [u8; BYTES])>,
}

impl Names {
    /// The number of a name, given where it has none; `None` where there is no place.
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

    /// The name of a number; empty where it has none.
    pub fn name(&self, number: u32) -> &[u8] {
        let known = (number as usize).checked_sub(1).and_then(|at| self.known.get(at));
        known.map_or(&[], |(length, bytes)| &bytes[..usize::from(*length)])
    }

    /// Memory on the heap.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<(u8, [u8; BYTES])>()
    }
}

/// A name as words, which compare in a few instructions, and its length.
#[derive(Debug, Clone, Copy)]
pub struct Words([u64; BYTES / 8], u32);

impl Words {
    /// The first 48 bytes of a name.
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

/// The name that came last, and its number.
#[derive(Debug, Default)]
pub struct Latest {
    words: [AtomicU64; BYTES / 8],
    length: AtomicU32,
    number: AtomicU32,
}

impl Latest {
    /// Its number, where it is this one.
    #[inline]
    pub fn number(&self, Words(words, length): Words) -> Option<u32> {
        let same = self.length.load(Relaxed) == length
            && self.words.iter().zip(words).all(|(mine, word)| mine.load(Relaxed) == word);
        same.then(|| self.number.load(Relaxed))
    }

    /// Remembers another one.
    pub fn set(&self, Words(words, length): Words, number: u32) {
        self.words.iter().zip(words).for_each(|(mine, word)| mine.store(word, Relaxed));
        self.length.store(length, Relaxed);
        self.number.store(number, Relaxed);
    }
}
