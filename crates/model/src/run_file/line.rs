//! A line of a run file: a record, and behind its fields the check of all that stands before it.
//!
//! The check is CRC-32 as gzip and zlib compute it, of the bytes of the line up to the comma before
//! `"crc32"`, as eight hexadecimal digits. A line stays one object of JSON.

use super::Record;

/// The field that holds the check.
pub const FIELD: &str = "crc32";

/// What stands between a record's fields and the digits.
const BEFORE: &[u8] = b",\"crc32\":\"";
/// What stands behind the digits.
const BEHIND: &[u8] = b"\"}";
/// The digits of a check.
const DIGITS: usize = 8;

/// What the check of a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Right,
    /// The line is not what was written.
    Wrong,
    /// The line ends without one.
    Absent,
}

/// The line of a record, with its check and a line feed.
///
/// # Errors
/// The record cannot be written as JSON.
pub fn of(record: &Record) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(record).map(checked)
}

/// The line of an object of JSON, with its check and a line feed. What is no object stays as it is.
pub fn checked(mut object: Vec<u8>) -> Vec<u8> {
    if object.len() > 2 && object.pop_if(|last| *last == b'}').is_some() {
        let check = crc32fast::hash(&object);
        object.extend_from_slice(BEFORE);
        object.extend_from_slice(format!("{check:08x}").as_bytes());
        object.extend_from_slice(BEHIND);
    }
    object.push(b'\n');
    object
}

/// Holds a line, without its line feed, to its check.
pub fn check(line: &[u8]) -> Check {
    let Some(digits) = line.strip_suffix(BEHIND) else { return Check::Absent };
    let Some((before, digits)) = digits.split_last_chunk::<DIGITS>() else { return Check::Absent };
    let Some(object) = before.strip_suffix(BEFORE) else { return Check::Absent };
    match format!("{:08x}", crc32fast::hash(object)).as_bytes() == digits {
        true => Check::Right,
        false => Check::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_and_any_changed_byte_is_found() {
        let line = checked(br#"{"type":"row_end","row":3,"status":"ok","stop":"samples"}"#.to_vec());
        let line = line.strip_suffix(b"\n").expect("a line feed");
        let value: serde_json::Value = serde_json::from_slice(line).expect("JSON");
        assert_eq!(value[FIELD].as_str().map(str::len), Some(DIGITS));
        assert_eq!(check(line), Check::Right);
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.to_vec();
                changed[at] ^= 1 << bit;
                assert_ne!(check(&changed), Check::Right, "byte {at}");
            }
        }
        assert_eq!(check(b"{\"type\":\"end\"}"), Check::Absent);
        assert_eq!(check(b""), Check::Absent);
    }

    #[test]
    fn it_is_the_check_of_zlib() {
        // python3 -c 'import zlib; print("%08x" % zlib.crc32(b"{\"a\":1"))'
        assert_eq!(checked(b"{\"a\":1}".to_vec()), b"{\"a\":1,\"crc32\":\"a702fc6e\"}\n");
    }

    #[test]
    fn what_is_no_object_stays_as_it_is() {
        assert_eq!(checked(b"{}".to_vec()), b"{}\n");
        assert_eq!(checked(b"[1]".to_vec()), b"[1]\n");
    }
}
