//! Names of spans that are being sorted. A few thousand names are kept once each, and others as
//! often as they come. Beyond a megabyte they are in a temporary file.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::bytes::hash;

/// A digest keeps no more of a name.
const LONGEST: usize = 48;
/// Names lie in blocks of this many bytes, and none in two.
const BLOCK: usize = 8 << 10;
/// Blocks in memory: 1 MB.
const BLOCKS: usize = 128;
/// Slots for names whose places are known: 256 KB. A name takes the slot of its hash, whoever had
/// it.
const KNOWN: usize = 4_096;

/// A name and its place.
#[derive(Clone, Copy)]
struct Known {
    name: [u8; LONGEST],
    place: u64,
}

/// Takes names and gives their places: `length + 64 * offset`.
#[derive(Default)]
pub struct Names {
    known: Vec<Option<Known>>,
    /// The blocks that are not written yet.
    bytes: Vec<u8>,
    file: Option<File>,
    written: u64,
}

impl Known {
    #[inline]
    fn is(&self, name: &[u8]) -> bool {
        self.place as usize & 63 == name.len() && &self.name[..name.len()] == name
    }
}

impl Names {
    /// The place of a name's first 48 bytes.
    #[inline]
    pub fn place(&mut self, name: &[u8]) -> io::Result<u64> {
        if name.is_empty() {
            return Ok(0);
        }
        let name = &name[..name.len().min(LONGEST)];
        let slot = hash(name, 0) as usize % KNOWN;
        match self.known.get(slot) {
            Some(Some(known)) if known.is(name) => Ok(known.place),
            _ => self.learn(slot, name),
        }
    }

    #[cold]
    fn learn(&mut self, slot: usize, name: &[u8]) -> io::Result<u64> {
        let place = self.append(name)?;
        self.known.resize(KNOWN, None);
        let mut kept = [0; LONGEST];
        kept[..name.len()].copy_from_slice(name);
        self.known[slot] = Some(Known { name: kept, place });
        Ok(place)
    }

    fn append(&mut self, name: &[u8]) -> io::Result<u64> {
        let room = BLOCK - self.bytes.len() % BLOCK;
        if room < name.len() {
            self.bytes.resize(self.bytes.len() + room, 0);
        }
        if self.bytes.len() >= BLOCK * BLOCKS {
            if self.file.is_none() {
                self.file = Some(tempfile::tempfile()?);
            }
            if let Some(file) = &self.file {
                file.write_all_at(&self.bytes, self.written)?;
            }
            self.written += self.bytes.len() as u64;
            self.bytes.clear();
        }
        let place = self.written + self.bytes.len() as u64;
        self.bytes.extend_from_slice(name);
        Ok(place << 6 | name.len() as u64)
    }

    /// Ends the taking.
    pub fn reader(&mut self) -> io::Result<Reader> {
        let names = std::mem::take(self);
        let mut bytes = names.bytes;
        let Some(file) = names.file else { return Ok(Reader { bytes, file: None, blocks: Vec::new() }) };
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        file.write_all_at(&bytes, names.written)?;
        bytes.resize(BLOCK * BLOCKS, 0);
        Ok(Reader { bytes, file: Some(file), blocks: vec![u64::MAX; BLOCKS] })
    }
}

/// Gives names by their places.
pub struct Reader {
    /// All names, or a slot for each of [`BLOCKS`] blocks.
    bytes: Vec<u8>,
    file: Option<File>,
    /// The block in each slot.
    blocks: Vec<u64>,
}

impl Reader {
    /// The name at a place.
    #[inline]
    pub fn name(&mut self, place: u64) -> io::Result<&[u8]> {
        let (mut at, length) = ((place >> 6) as usize, place as usize & 63);
        if let Some(file) = &self.file {
            let block = at / BLOCK;
            let slot = block % BLOCKS;
            if self.blocks[slot] != block as u64 {
                file.read_exact_at(&mut self.bytes[slot * BLOCK..][..BLOCK], (block * BLOCK) as u64)?;
                self.blocks[slot] = block as u64;
            }
            at = slot * BLOCK + at % BLOCK;
        }
        Ok(&self.bytes[at..at + length])
    }
}
