//! Walks over JSON values that are in memory whole, and tolerates defects. Each walk takes a
//! value's bytes and costs their length.

use std::borrow::Cow;

use crate::bytes::{Nesting, string_end};

/// The kinds of each byte. This is a table, since a comparison with each of nine bytes was a tenth
/// of what an event cost.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let space = matches!(byte as u8, b' ' | b'\t' | b'\n' | b'\r');
        let mark = matches!(byte as u8, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[');
        let gap = space || matches!(byte as u8, b',' | 0x1E | 0);
        kinds[byte] = if space { SPACE | WORD_END } else { 0 }
            | if mark { WORD_END } else { 0 }
            | if gap { GAP } else { 0 };
        byte += 1;
    }
    kinds
};
const SPACE: u8 = 1;
const WORD_END: u8 = 2;
const GAP: u8 = 4;

/// Tells whether a byte is white space or a comma, which files also have where none belongs.
#[inline(always)]
pub fn is_gap(byte: u8) -> bool {
    KINDS[byte as usize] & GAP != 0
}

/// Tells whether a byte is white space of JSON.
#[inline(always)]
pub fn is_space(byte: u8) -> bool {
    KINDS[byte as usize] & SPACE != 0
}

/// Tells whether a byte ends a number or a word.
#[inline(always)]
pub fn ends_word(byte: u8) -> bool {
    KINDS[byte as usize] & WORD_END != 0
}

/// Returns the place of the first byte from `at` that is no white space.
#[inline(always)]
pub fn space_end(data: &[u8], mut at: usize) -> usize {
    while at < data.len() && is_space(data[at]) {
        at += 1;
    }
    at
}

/// Returns the place of the first byte from `at` that is no gap; `None` where the data end before
/// it.
#[inline(always)]
pub fn gap_end(data: &[u8], at: usize) -> Option<usize> {
    data.get(at..)?.iter().position(|&byte| !is_gap(byte)).map(|n| at + n)
}

/// Returns the place behind the value that starts at `at`; `None` where the data end before it
/// does.
pub fn value_end(data: &[u8], at: usize) -> Option<usize> {
    match *data.get(at)? {
        b'"' => string_end(data, at + 1).map(|end| end.quote + 1),
        b'{' | b'[' => Nesting::opened().end(data, at + 1),
        _ => data[at..].iter().position(|&byte| ends_word(byte)).map(|n| at + n.max(1)),
    }
}

/// Calls `visit` with each key (without quotes and escapes) and value of an object, until the
/// object is malformed.
pub fn members<'a>(object: &'a [u8], mut visit: impl FnMut(&[u8], &'a [u8])) {
    let mut at = 1;
    loop {
        match gap_end(object, at) {
            Some(next) if object[next] == b'"' => at = next,
            _ => return,
        }
        let Some(key) = string_end(object, at + 1) else { return };
        let colon = space_end(object, key.quote + 1);
        if object.get(colon) != Some(&b':') {
            return;
        }
        let start = space_end(object, colon + 1);
        let Some(end) = value_end(object, start) else { return };
        let name = &object[at + 1..key.quote];
        let value = &object[start..end];
        // A key may be written by numbers, as `"\u0074s"` is `ts`.
        if key.plain {
            visit(name, value)
        } else {
            visit(&unescaped(name), value)
        }
        at = end;
    }
}

/// Calls `visit` with each item of an array, until the array is malformed.
pub fn items<'a>(array: &'a [u8], mut visit: impl FnMut(&'a [u8])) {
    if array.first() != Some(&b'[') {
        return;
    }
    let mut at = 1;
    loop {
        match gap_end(array, at) {
            Some(next) if !matches!(array[next], b']' | b'}' | b':') => at = next,
            _ => return,
        }
        let Some(end) = value_end(array, at) else { return };
        visit(&array[at..end]);
        at = end;
    }
}

/// Returns the text of a string value, without quotes and escapes. Returns other values as they are
/// written.
pub fn text(value: &[u8]) -> Cow<'_, [u8]> {
    match value {
        [b'"', inner @ .., b'"'] => unescaped(inner),
        other => Cow::Borrowed(other),
    }
}

/// Replaces the escapes in a string's bytes.
pub fn unescaped(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    unescape_into(raw, &mut out);
    Cow::Owned(out)
}

/// Appends a string's bytes with its escapes replaced. What is no escape of JSON stays as it is
/// written. Half of a surrogate pair becomes U+FFFD.
pub fn unescape_into(raw: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(n) = memchr::memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + n]);
        at += n;
        let Some(&byte) = raw.get(at + 1) else { break };
        let plain = match byte {
            b'"' | b'\\' | b'/' => Some(byte),
            b'b' => Some(8),
            b'f' => Some(12),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            _ => None,
        };
        if let Some(plain) = plain {
            out.push(plain);
            at += 2;
        } else if let Some(unit) = unit(raw, at) {
            at += 6;
            let low = if (0xD800..0xDC00).contains(&unit) { crate::json::unit(raw, at) } else { None };
            let code = match low {
                Some(low) if (0xDC00..0xE000).contains(&low) => {
                    at += 6;
                    0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
                }
                _ => unit,
            };
            let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            out.push(b'\\');
            at += 1;
        }
    }
    out.extend_from_slice(&raw[at..]);
}

/// Reads the sixteen bits of `\uXXXX` at `at`.
fn unit(raw: &[u8], at: usize) -> Option<u32> {
    let digits = raw.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objects_and_arrays_are_walked() {
        let mut seen = Vec::new();
        members(br#"{ "a" : [1, {"x":"}"}] , "b":null,"c":"q\"", }"#, |key, value| {
            seen.push(format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value)));
        });
        assert_eq!(seen, [r#"a=[1, {"x":"}"}]"#, "b=null", r#"c="q\"""#]);
        let mut n = 0;
        items(br#"[1, "a", [2], {"b": 3},]"#, |_| n += 1);
        assert_eq!(n, 4);
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(&*unescaped(br"C:\dir\x\"), br"C:\dir\x\");
        assert_eq!(&*unescaped(br"\ud83d\ude00 \ud83d \u00e9\u00"), "😀 \u{FFFD} é\\u00".as_bytes());
    }

    proptest! {
        #[test]
        fn strings_read_as_serde_json_reads_them(text: String) {
            let quoted = serde_json::to_string(&text).expect("a string");
            prop_assert_eq!(&*super::text(quoted.as_bytes()), text.as_bytes());
        }
    }
}
