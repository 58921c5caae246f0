//! Searches over bytes that the readers are built on: the end of a string, the end of a nested
//! value.
//!
//! `wide` compares sixteen bytes at once: SSE2 on x86-64, NEON on ARM, plain words elsewhere.

use wide::u8x16;

/// Sixteen bytes. Those past the end of the data read as 0.
#[derive(Clone, Copy)]
pub struct Lanes(u8x16);

impl From<[u8; 16]> for Lanes {
    #[inline(always)]
    fn from(bytes: [u8; 16]) -> Self {
        Lanes(u8x16::from(bytes))
    }
}

/// Reads eight bytes from `at` as an integer whose lowest byte is the first. Bytes past the end are
/// 0.
#[inline(always)]
pub fn word8(data: &[u8], at: usize) -> u64 {
    match data.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => u64::from_le_bytes(bytes),
        None => short(data, at) as u64,
    }
}

#[cold]
#[inline(never)]
fn short(data: &[u8], at: usize) -> u128 {
    let rest = data.get(at..).unwrap_or_default();
    let mut bytes = [0; 16];
    let n = rest.len().min(16);
    bytes[..n].copy_from_slice(&rest[..n]);
    u128::from_le_bytes(bytes)
}

impl Lanes {
    #[inline(always)]
    fn load(data: &[u8], at: usize) -> Self {
        // The bytes go straight from memory into a vector register. An integer in between would
        // cost three instructions.
        match data.get(at..at + 16).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()) {
            Some(bytes) => Lanes(u8x16::from(bytes)),
            None => Lanes(u8x16::from(short(data, at).to_le_bytes())),
        }
    }

    /// Sets one bit for each byte that equals `byte`.
    #[inline(always)]
    pub fn equal(self, byte: u8) -> u32 {
        self.0.simd_eq(u8x16::splat(byte)).to_bitmask()
    }

    /// Sets one bit for each byte that is below 0x20 or above 0x7F.
    #[inline(always)]
    fn odd(self) -> u32 {
        self.0.min(u8x16::splat(0x1F)).simd_eq(self.0).to_bitmask() | self.0.to_bitmask()
    }

    /// Sets one bit for each byte that is a digit.
    #[inline(always)]
    fn digits(self) -> u32 {
        let values = self.0 ^ u8x16::splat(b'0');
        values.min(u8x16::splat(9)).simd_eq(values).to_bitmask()
    }

    /// Tells whether the first `length` bytes are digits, one underscore and digits.
    #[inline(always)]
    pub fn is_numbered(self, length: usize) -> bool {
        if length > 16 {
            return false;
        }
        let others = !self.digits() & ((1u32 << length) - 1);
        // Exactly one byte is no digit, and it is neither the first nor the last.
        let place = others.trailing_zeros() as usize;
        others & self.equal(b'_') == others
            && others & others.wrapping_sub(1) == 0
            && place > 0
            && place + 1 < length
    }

    /// Tells whether the first `length` bytes, at most sixteen, are ASCII without quotes, escapes
    /// and control characters.
    #[inline(always)]
    pub fn is_plain(self, length: usize) -> bool {
        (self.odd() | self.equal(b'\\') | self.equal(b'"')) & ((1u32 << length) - 1) == 0
    }

    /// Sets bit 5 in each byte, so that `[` reads as `{` and `]` as `}`.
    #[inline(always)]
    fn folded(self) -> Self {
        Lanes(self.0 | u8x16::splat(0x20))
    }
}

/// Up to sixteen bytes of text to compare with.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    text: u8x16,
    /// A mask of the bytes that count: as many low bits as there are bytes.
    wanted: u32,
}

impl Block {
    /// Takes the first sixteen bytes of `text`, or fewer.
    pub fn new(text: &[u8]) -> Self {
        Block { text: Lanes::load(text, 0).0, wanted: (1 << text.len().min(16)) - 1 }
    }

    /// Tells whether the data at `at` are this text. Bytes past the end of the data read as zeros.
    #[inline(always)]
    pub fn matches(&self, data: &[u8], at: usize) -> bool {
        self.fits(Lanes::load(data, at))
    }

    /// Tells whether the bytes begin with this text.
    #[inline(always)]
    pub fn fits(&self, lanes: Lanes) -> bool {
        let equal = lanes.0.simd_eq(self.text).to_bitmask();
        equal & self.wanted == self.wanted
    }
}

/// The end of a string and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringEnd {
    /// The place of its closing quote.
    pub quote: usize,
    /// Whether all of it is ASCII without escapes and control characters.
    pub plain: bool,
}

/// Finds the end of the string whose first byte is at `at`; `None` where the data end before it.
#[inline(always)]
pub fn string_end(data: &[u8], at: usize) -> Option<StringEnd> {
    let lanes = Lanes::load(data, at);
    let quotes = lanes.equal(b'"');
    let below = quotes.wrapping_sub(1) & !quotes;
    if quotes != 0 && lanes.equal(b'\\') & below == 0 {
        // The usual case takes one step: a closing quote within sixteen bytes.
        let quote = at + quotes.trailing_zeros() as usize;
        return Some(StringEnd { quote, plain: lanes.odd() & below == 0 });
    }
    long_string_end(data, at)
}

/// Tells whether `length` bytes from `at` are digits, one underscore and digits.
#[inline(always)]
pub fn is_numbered(data: &[u8], at: usize, length: usize) -> bool {
    Lanes::load(data, at).is_numbered(length)
}

#[inline(never)]
fn long_string_end(data: &[u8], mut at: usize) -> Option<StringEnd> {
    let mut plain = true;
    while at < data.len() {
        let lanes = Lanes::load(data, at);
        let stops = lanes.equal(b'"') | lanes.equal(b'\\');
        let below = if stops == 0 { u32::MAX } else { stops.wrapping_sub(1) & !stops };
        // Zeros past the end of the data read as odd. No string ends there, so nobody sees that.
        plain &= lanes.odd() & below == 0;
        if stops == 0 {
            at += 16;
            continue;
        }
        let stop = at + stops.trailing_zeros() as usize;
        if data[stop] == b'"' {
            return Some(StringEnd { quote: stop, plain });
        }
        plain = false;
        at = stop + 2;
    }
    None
}

/// How far a nested value has been skipped. The skipping can go on in the next block of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Nesting {
    depth: u64,
    /// All ones inside a string.
    in_string: u64,
    /// 1 where the next byte is escaped.
    escaped: u64,
}

impl Nesting {
    /// Begins behind an opening brace or bracket.
    pub fn opened() -> Self {
        Nesting { depth: 1, in_string: 0, escaped: 0 }
    }

    /// Runs from `at` and returns the place behind the closing brace or bracket; `None` where the
    /// data end before it.
    ///
    /// One step takes sixty-four bytes, without recursion. A prefix XOR over the quotes that are
    /// not escaped tells which bits lie inside strings. Only the blocks that may close the value
    /// are walked bit by bit (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB
    /// Journal 2019, section 3).
    #[inline]
    pub fn end(&mut self, data: &[u8], mut at: usize) -> Option<usize> {
        while at < data.len() {
            let valid = data.len() - at;
            let [mut quotes, slashes, mut opens, mut closes] = masks(data, at);
            if slashes | self.escaped != 0 {
                let (escaped, carry) = escaped(slashes, self.escaped);
                quotes &= !escaped;
                // The carry of a block that is cut short is the bit behind the last byte.
                self.escaped = if valid < 64 { (escaped >> valid) & 1 } else { carry };
            }
            let inside = prefix_xor(quotes) ^ self.in_string;
            self.in_string = ((inside as i64) >> 63) as u64;
            opens &= !inside;
            closes &= !inside;
            if u64::from(closes.count_ones()) >= self.depth {
                let mut marks = opens | closes;
                while marks != 0 {
                    let mark = marks & marks.wrapping_neg();
                    self.depth = if closes & mark != 0 { self.depth - 1 } else { self.depth + 1 };
                    if self.depth == 0 {
                        return Some(at + marks.trailing_zeros() as usize + 1);
                    }
                    marks ^= mark;
                }
            } else {
                self.depth += u64::from(opens.count_ones());
                self.depth -= u64::from(closes.count_ones());
            }
            at += 64;
        }
        None
    }
}

/// Returns masks of quotes, backslashes, opening and closing marks in sixty-four bytes.
#[inline(always)]
fn masks(data: &[u8], at: usize) -> [u64; 4] {
    let mut masks = [0; 4];
    for i in 0..4 {
        let lanes = Lanes::load(data, at + 16 * i);
        let folded = lanes.folded();
        for (mask, bits) in masks.iter_mut().zip([
            lanes.equal(b'"'),
            lanes.equal(b'\\'),
            folded.equal(b'{'),
            folded.equal(b'}'),
        ]) {
            *mask |= u64::from(bits) << (16 * i);
        }
    }
    masks
}

/// Returns which bytes are escaped: those behind an odd run of backslashes. `carry` is 1 where the
/// first byte is escaped.
#[inline(always)]
fn escaped(slashes: u64, carry: u64) -> (u64, u64) {
    let mut escaped = 0;
    let mut carry = carry;
    let mut rest = slashes;
    if carry == 1 {
        escaped |= 1;
        rest &= !1;
        carry = 0;
    }
    while rest != 0 {
        let i = rest.trailing_zeros();
        if i == 63 {
            carry = 1;
            break;
        }
        escaped |= 1 << (i + 1);
        rest &= !(0b11 << i);
    }
    (escaped, carry)
}

#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Hashes bytes to 64 bits, eight bytes at a time. It does not resist an adversary: who makes two
/// ids collide merges two of his own workers.
#[inline]
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = seed ^ (bytes.len() as u64).wrapping_mul(K);
    for start in (0..bytes.len()).step_by(8) {
        let product = u128::from(state ^ word8(bytes, start)) * u128::from(K);
        state = (product as u64) ^ ((product >> 64) as u64) ^ state.rotate_left(29);
    }
    taskscale_model::answer::splitmix(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn string_end_by_byte(data: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < data.len() {
            match data[at] {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        None
    }

    fn nested_end_by_byte(data: &[u8]) -> Option<usize> {
        // A backslash outside of strings is no JSON. It keeps a quote from opening a string, and
        // does nothing else.
        let (mut depth, mut in_string, mut escaped) = (1, false, false);
        for (at, &byte) in data.iter().enumerate() {
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte =
            prop_oneof![Just(b'"'), Just(b'\\'), Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), 0u8..];
        prop_oneof![
            proptest::collection::vec(byte, 0..300),
            proptest::collection::vec(
                prop_oneof![4 => 0x20u8..0x7F, 1 => Just(b'\\'), 1 => Just(b'"')],
                0..300
            ),
            proptest::collection::vec(
                prop_oneof![20 => Just(b'a'), 1 => Just(b'{'), 1 => Just(b'}')],
                0..600
            ),
        ]
    }

    proptest! {
        #[test]
        fn strings_end_where_a_byte_by_byte_walk_says(data in text()) {
            let end = string_end(&data, 0);
            prop_assert_eq!(end.map(|end| end.quote), string_end_by_byte(&data));
            if let Some(StringEnd { quote, plain }) = end {
                let odd = |byte: &u8| *byte == b'\\' || !(0x20..0x80).contains(byte);
                prop_assert_eq!(plain, !data[..quote].iter().any(odd));
            }
        }

        #[test]
        fn nested_values_end_where_a_byte_by_byte_walk_says(data in text(), cut in 0usize..600) {
            let expected = nested_end_by_byte(&data);
            prop_assert_eq!(Nesting::opened().end(&data, 0), expected);
            // The data are also read in two pieces, as from a stream.
            let cut = cut.min(data.len());
            let mut nesting = Nesting::opened();
            let end = nesting.end(&data[..cut], 0).or_else(|| nesting.end(&data[cut..], 0).map(|end| end + cut));
            prop_assert_eq!(end, expected);
        }
    }

    #[test]
    fn hashes_differ() {
        let mut seen = std::collections::HashSet::new();
        for i in 0..20_000u32 {
            assert!(seen.insert(hash(format!("worker:{i}").as_bytes(), 0)));
            assert!(seen.insert(hash(format!("worker:{i}").as_bytes(), 1)));
        }
    }
}
