//! The ways of the standard library, on the calling thread, and the floors.

use std::{
    fs::{self, File},
    hint::black_box,
    io::{self, BufRead, BufReader, ErrorKind, Read},
    marker::PhantomData,
};

use serde_json::json;

use super::{
    Way, map, of_file,
    source::{Place, Source, get},
    sums::{Access, Fold, For, IterSum, Sum, Unseen},
    variant,
};
use crate::sdk::Variant;

pub fn variants() -> Vec<Variant> {
    let bare = json!({"mode": ["none"]});
    let sum8 = json!({"source": ["file"], "mode": ["sum8"]});
    let both = json!({"mode": ["sum8", "fnv"]});
    vec![
        variant(
            "memcpy/none",
            "a floor: copies as many bytes from memory through a buffer",
            json!({"source": ["file"], "mode": ["none"]}),
            Copied,
        ),
        variant(
            "read/none",
            "a floor: fetches into a buffer, or from a plain socket, and looks at nothing",
            bare,
            Chunks(PhantomData::<Unseen>),
        ),
        variant(
            "read/for",
            "File::read into a buffer; over HTTP, of a plain socket",
            both.clone(),
            Chunks(PhantomData::<For>),
        ),
        variant("read/fold", "File::read into a buffer", both, Chunks(PhantomData::<Fold>)),
        variant(
            "read/sum",
            "File::read into a buffer, Iterator::sum",
            json!({"mode": ["sum8"]}),
            Chunks(PhantomData::<IterSum>),
        ),
        variant("fs::read/for", "the whole file", of_file(), Whole(PhantomData::<For>)),
        variant("fs::read/fold", "the whole file", of_file(), Whole(PhantomData::<Fold>)),
        variant("fs::read/sum", "the whole file, Iterator::sum", sum8, Whole(PhantomData::<IterSum>)),
        variant("fill_buf/for", "BufReader::fill_buf and consume", of_file(), FillBuf),
        variant("mmap/for", "a mapped file", of_file(), Mapped),
        variant("bytes/for", "BufReader::bytes: a Result for each byte", of_file(), Bytes),
        variant("read(1)/for", "File::read of one byte: a call of the kernel each", of_file(), OneByOne),
        io_uring(),
    ]
}

/// Known, and not there.
fn io_uring() -> Variant {
    let mut variant = variant("io_uring/for", "reads that the kernel takes from a ring", of_file(), OneByOne);
    variant.about["unavailable"] = json!({
        "reason": "this probe links no library for io_uring: of none is a read safe code",
        "remedy": "read/for reads as many bytes by a call of the kernel for each buffer",
    });
    variant.perform = Box::new(|_| Err("there is no io_uring in this probe".into()));
    variant
}

/// Reads to the end through a buffer. A read may give fewer bytes than there is room for.
pub fn chunks<A: Access, S: Sum>(from: &mut impl Read, buffer: &mut [u8], sum: &mut S) -> io::Result<()> {
    loop {
        match from.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(many) => A::take(sum, &buffer[..many]),
            Err(why) if why.kind() == ErrorKind::Interrupted => (),
            Err(why) => return Err(why),
        }
    }
}

/// `read` into a buffer.
pub struct Chunks<A>(pub PhantomData<A>);

impl<A: Access> Way for Chunks<A> {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let (mut sum, mut buffer) = (S::new(), vec![0; from.chunk]);
        match &from.place {
            Place::File(path) => chunks::<A, S>(&mut File::open(path)?, &mut buffer, &mut sum)?,
            Place::Http { address, path } => {
                let (first, mut rest) = get(address, path)?;
                A::take(&mut sum, &first);
                chunks::<A, S>(&mut rest, &mut buffer, &mut sum)?;
            }
        }
        // What was fetched is taken to be looked at, whoever looked.
        black_box(&buffer);
        Ok(sum)
    }
}

/// The same amount of memory, copied through a buffer.
struct Copied;

impl Way for Copied {
    const FROM_MEMORY: bool = true;

    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let (mut sum, mut buffer) = (S::new(), vec![0; from.chunk]);
        for piece in from.memory.chunks(from.chunk) {
            buffer[..piece.len()].copy_from_slice(piece);
            Unseen::take(&mut sum, black_box(&buffer[..piece.len()]));
        }
        Ok(sum)
    }
}

/// `fs::read`.
struct Whole<A>(PhantomData<A>);

impl<A: Access> Way for Whole<A> {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let mut sum = S::new();
        A::take(&mut sum, &fs::read(from.file()?)?);
        Ok(sum)
    }
}

/// The buffer of a `BufReader`, slice by slice.
struct FillBuf;

impl Way for FillBuf {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        filled(BufReader::with_capacity(from.chunk, File::open(from.file()?)?))
    }
}

pub fn filled<S: Sum>(mut from: impl BufRead) -> io::Result<S> {
    let mut sum = S::new();
    loop {
        let many = match from.fill_buf() {
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            slice => {
                let slice = slice?;
                For::take(&mut sum, slice);
                slice.len()
            }
        };
        if many == 0 {
            return Ok(sum);
        }
        from.consume(many);
    }
}

/// A mapped file.
struct Mapped;

impl Way for Mapped {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let mut sum = S::new();
        map::mapped(&File::open(from.file()?)?, |bytes| For::take(&mut sum, bytes))?;
        Ok(sum)
    }
}

/// The iterator over the bytes of a `BufReader`.
struct Bytes;

impl Way for Bytes {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        each(BufReader::with_capacity(from.chunk, File::open(from.file()?)?))
    }
}

// Whoever calls it brings a buffer.
#[allow(clippy::unbuffered_bytes)]
pub fn each<S: Sum>(from: impl Read) -> io::Result<S> {
    let mut sum = S::new();
    for byte in from.bytes() {
        sum.add(byte?);
    }
    Ok(sum)
}

/// `File::read` into one byte.
struct OneByOne;

impl Way for OneByOne {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let mut sum = S::new();
        chunks::<For, S>(&mut File::open(from.file()?)?, &mut [0], &mut sum)?;
        Ok(sum)
    }
}
