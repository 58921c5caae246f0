//! The content of the workload `bytes`, its sums, and how it is asked for.

use crate::{
    answer::splitmix,
    params::{ParamValue, Params},
};

/// The workload that reads a stream of bytes.
pub const WORKLOAD: &str = "bytes";
/// The variable that names the folder of the files to a probe.
pub const FOLDER: &str = "TASKSCALE_BYTES";
/// The variable that names the server of the same bytes to a probe.
pub const URL: &str = "TASKSCALE_BYTES_URL";
/// The parameter that says where the bytes come from, and its value for the server.
pub const SOURCE: &str = "source";
pub const HTTP: &str = "http";
/// The parameter that says what is summed up, and its values.
pub const MODE: &str = "mode";
pub const SUM8: &str = "sum8";
pub const FNV: &str = "fnv";
pub const NONE: &str = "none";

/// The bytes of a MiB.
pub const MIB: f64 = 1_048_576.0;

/// The name of the file of `size` bytes, and of its place on the server.
pub fn file_name(size: u64) -> String {
    format!("{size}.bytes")
}

/// The size of the file of that name, if it is one.
pub fn size_of(name: &str) -> Option<u64> {
    let size = name.strip_suffix(".bytes")?.parse().ok()?;
    (file_name(size) == name).then_some(size)
}

/// Whether these parameters ask for bytes that the server gives.
pub fn is_http(workload: &str, params: &Params) -> bool {
    workload == WORKLOAD && params.get(SOURCE) == Some(&ParamValue::Word(HTTP.into()))
}

/// The content: xoshiro256** (Blackman and Vigna) from four outputs of splitmix64 with the seed 42.
/// Each word gives its least byte first.
#[derive(Debug, Clone)]
pub struct Content {
    state: [u64; 4],
    word: [u8; 8],
    /// Bytes of `word` that were given.
    given: usize,
}

impl Default for Content {
    fn default() -> Self {
        const SEED: u64 = 42;
        const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
        let state = [0, 1, 2, 3].map(|output: u64| splitmix(SEED.wrapping_add(output.wrapping_mul(GAMMA))));
        Content { state, word: [0; 8], given: 8 }
    }
}

impl Content {
    fn next_word(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let output = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        output
    }

    /// Gives the next bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let (first, rest) = bytes.split_at_mut(bytes.len().min(8 - self.given));
        first.copy_from_slice(&self.word[self.given..self.given + first.len()]);
        self.given += first.len();
        let mut words = rest.chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&self.next_word().to_le_bytes());
        }
        let last = words.into_remainder();
        if !last.is_empty() {
            self.word = self.next_word().to_le_bytes();
            self.given = last.len();
            last.copy_from_slice(&self.word[..last.len()]);
        }
    }
}

/// What FNV-1a of 64 bits begins with.
pub(crate) const FNV_START: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a of 64 bits, gone on with these bytes.
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// The sums of a stream of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// How many they were.
    pub bytes: u64,
    /// Their sum modulo 256.
    pub sum8: u8,
    /// FNV-1a of 64 bits.
    pub fnv: u64,
}

impl Default for Sums {
    fn default() -> Self {
        Sums { bytes: 0, sum8: 0, fnv: FNV_START }
    }
}

impl Sums {
    /// The sums of the content's first `size` bytes. O(size), in a chunk of memory.
    pub fn of_content(size: u64) -> Self {
        let (mut content, mut sums, mut chunk) = (Content::default(), Sums::default(), vec![0; 1 << 16]);
        let mut left = size;
        while left > 0 {
            let most = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            content.fill(&mut chunk[..most]);
            sums.add(&chunk[..most]);
            left -= most as u64;
        }
        sums
    }

    /// Adds the next bytes of the stream.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sum8 = bytes.iter().fold(self.sum8, |sum, byte| sum.wrapping_add(*byte));
        self.fnv = fnv(self.fnv, bytes);
    }

    /// The answer of one pass with these parameters.
    pub fn answer(&self, params: &Params) -> u64 {
        match params.get(MODE) {
            Some(ParamValue::Word(mode)) if mode == FNV => self.fnv,
            Some(ParamValue::Word(mode)) if mode == NONE => self.bytes,
            _ => u64::from(self.sum8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_and_its_sums_are_those_of_the_specification() {
        let mut first = [0; 8];
        Content::default().fill(&mut first);
        assert_eq!(first, [0x16, 0xc7, 0x2e, 0x0c, 0x2e, 0x0b, 0x78, 0x15]);
        for (size, sum8, fnv) in [
            (0, 0, 0xcbf2_9ce4_8422_2325),
            (8, 221, 0xfc37_75c2_0640_340c),
            (65_536, 214, 0x361c_e99e_e50d_834f),
            (1_048_576, 38, 0xe5d2_ee95_ab2a_6e4b),
        ] {
            assert_eq!(Sums::of_content(size), Sums { bytes: size, sum8, fnv }, "{size} bytes");
        }
    }

    #[test]
    fn the_largest_published_sums_are_right_too() {
        let right = Sums { bytes: 134_217_728, sum8: 213, fnv: 0xf541_4d04_cce8_bdbc };
        assert_eq!(Sums::of_content(134_217_728), right);
    }

    #[test]
    fn pieces_of_any_length_give_the_same_bytes() {
        let mut whole = [0; 1_000];
        Content::default().fill(&mut whole);
        for length in [1, 3, 7, 8, 9, 64, 999] {
            let mut content = Content::default();
            let mut pieces = vec![0; whole.len()];
            pieces.chunks_mut(length).for_each(|piece| content.fill(piece));
            assert_eq!(pieces, whole, "{length} at a time");
        }
    }

    #[test]
    fn an_answer_follows_the_mode() {
        let sums = Sums::of_content(8);
        let of = |mode: &str| sums.answer(&Params::from([(MODE.to_owned(), ParamValue::Word(mode.into()))]));
        assert_eq!((of(SUM8), of(FNV), of(NONE)), (221, 0xfc37_75c2_0640_340c, 8));
        assert_eq!(sums.answer(&Params::new()), 221, "the default");
    }

    #[test]
    fn only_plain_sizes_are_names_of_files() {
        assert_eq!(size_of(&file_name(65_537)), Some(65_537));
        for name in ["", "8", ".bytes", "+8.bytes", "08.bytes", "8.bytes/..", "../8.bytes", "8.bytes "] {
            assert_eq!(size_of(name), None, "{name:?}");
        }
    }
}
