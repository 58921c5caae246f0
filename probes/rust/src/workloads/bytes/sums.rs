//! What is summed up, and the ways of looking at a slice.

/// A sum over a stream of bytes.
pub trait Sum: Copy + Send + 'static {
    fn new() -> Self;
    /// Looks at the next byte.
    fn add(&mut self, byte: u8);
    /// Takes bytes whose sum somebody else has.
    fn add_total(&mut self, total: u64, bytes: usize);
    /// Takes bytes that nobody looks at.
    fn fetched(&mut self, bytes: usize);
    /// The answer of the pass.
    fn value(&self) -> u64;
    /// The bytes that were consumed, where they are counted.
    fn executed(&self) -> Option<u64> {
        None
    }
}

/// The sum modulo 256.
#[derive(Clone, Copy)]
pub struct Sum8(u8);

/// FNV-1a of 64 bits.
#[derive(Clone, Copy)]
pub struct Fnv(u64);

/// How many they are.
#[derive(Clone, Copy)]
pub struct Bare(u64);

/// The same, and how many bytes were consumed.
#[derive(Clone, Copy)]
pub struct Counted<S>(S, u64);

impl Sum for Sum8 {
    fn new() -> Self {
        Sum8(0)
    }

    #[inline]
    fn add(&mut self, byte: u8) {
        self.0 = self.0.wrapping_add(byte);
    }

    #[inline]
    fn add_total(&mut self, total: u64, _bytes: usize) {
        self.0 = self.0.wrapping_add(total as u8);
    }

    fn fetched(&mut self, _bytes: usize) {}

    fn value(&self) -> u64 {
        self.0.into()
    }
}

impl Sum for Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn add_total(&mut self, _total: u64, _bytes: usize) {
        unreachable!("no total tells FNV-1a; the variant is limited to sum8")
    }

    fn fetched(&mut self, _bytes: usize) {}

    fn value(&self) -> u64 {
        self.0
    }
}

impl Sum for Bare {
    fn new() -> Self {
        Bare(0)
    }

    fn add(&mut self, _byte: u8) {
        self.0 += 1;
    }

    fn add_total(&mut self, _total: u64, bytes: usize) {
        self.0 += bytes as u64;
    }

    #[inline]
    fn fetched(&mut self, bytes: usize) {
        self.0 += bytes as u64;
    }

    fn value(&self) -> u64 {
        self.0
    }
}

impl<S: Sum> Sum for Counted<S> {
    fn new() -> Self {
        Counted(S::new(), 0)
    }

    fn add(&mut self, byte: u8) {
        self.1 += 1;
        self.0.add(byte);
    }

    fn add_total(&mut self, total: u64, bytes: usize) {
        self.1 += bytes as u64;
        self.0.add_total(total, bytes);
    }

    fn fetched(&mut self, bytes: usize) {
        self.1 += bytes as u64;
        self.0.fetched(bytes);
    }

    fn value(&self) -> u64 {
        self.0.value()
    }

    fn executed(&self) -> Option<u64> {
        Some(self.1)
    }
}

/// A way of looking at the bytes of a slice.
pub trait Access: Send + Sync + 'static {
    fn take<S: Sum>(sum: &mut S, bytes: &[u8]);
}

/// `for byte in bytes`.
pub struct For;
/// `bytes.iter().fold(..)`.
pub struct Fold;
/// `bytes.iter().sum()`.
pub struct IterSum;
/// Not at all.
pub struct Unseen;

impl Access for For {
    #[inline]
    fn take<S: Sum>(sum: &mut S, bytes: &[u8]) {
        for byte in bytes {
            sum.add(*byte);
        }
    }
}

impl Access for Fold {
    #[inline]
    fn take<S: Sum>(sum: &mut S, bytes: &[u8]) {
        *sum = bytes.iter().fold(*sum, |mut sum, byte| {
            sum.add(*byte);
            sum
        });
    }
}

impl Access for IterSum {
    #[inline]
    fn take<S: Sum>(sum: &mut S, bytes: &[u8]) {
        sum.add_total(bytes.iter().map(|byte| u64::from(*byte)).sum(), bytes.len());
    }
}

impl Access for Unseen {
    #[inline]
    fn take<S: Sum>(sum: &mut S, bytes: &[u8]) {
        sum.fetched(bytes.len());
    }
}
