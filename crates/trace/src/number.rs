//! Converts decimal numbers to integer nanoseconds exactly, without a binary fraction in between.

use crate::bytes::word8;

/// A time as a source wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Time {
    /// The source gives no time.
    #[default]
    Missing,
    /// The time in nanoseconds. What is finer is cut off towards zero.
    Ns(i64),
    /// A number whose nanoseconds pass 64 bits (292 years).
    OutOfRange,
    /// The value is `NaN`, `null`, a word or a list.
    NotANumber,
}

/// Decimal places from a microsecond to a nanosecond.
pub const MICROS: i32 = 3;
/// Decimal places from a millisecond to a nanosecond.
pub const MILLIS: i32 = 6;
/// Decimal places from a second to a nanosecond.
pub const SECONDS: i32 = 9;

const POW10: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Reads up to eight digits at the start of a word, and counts them (Lemire, "Quickly parsing eight
/// digits", 2018).
#[inline(always)]
fn digits(word: u64) -> (u64, u32) {
    let values = word ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let n = others.trailing_zeros() / 8;
    if n == 0 {
        return (0, 0);
    }
    // After the shift, the bytes that are missing read as leading zeros.
    (eight(values << (64 - 8 * n)), n)
}

/// Returns the value of the first `n` bytes of a word, 1 to 8, where all of them are digits.
#[inline(always)]
pub fn digits_value(word: u64, n: usize) -> Option<u64> {
    let values = (word ^ 0x3030_3030_3030_3030) << (64 - 8 * n);
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    (others == 0).then(|| eight(values))
}

/// Returns the number that eight digits make. Each byte holds a digit's value, the lowest byte the
/// first.
#[inline(always)]
fn eight(values: u64) -> u64 {
    let pairs = (values.wrapping_mul(10)).wrapping_add(values >> 8);
    let high = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let low = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    high.wrapping_add(low) >> 32
}

/// Reads an integer of at most sixteen digits and returns the place behind it; `None` for anything
/// else.
#[inline(always)]
pub fn integer(data: &[u8], at: usize) -> Option<(u64, usize)> {
    let (high, n) = digits(word8(data, at));
    if n < 8 {
        return (n > 0).then_some((high, at + n as usize));
    }
    let (low, m) = digits(word8(data, at + 8));
    if m == 8 && data.get(at + 16).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((high * POW10[m as usize] + low, at + 8 + m as usize))
}

/// Reads decimal microseconds of the common form, `123` or `123.456`, as nanoseconds, and returns
/// the place behind them.
#[inline(always)]
pub fn plain_micros(data: &[u8], at: usize) -> Option<(i64, usize)> {
    let (micros, end) = integer(data, at)?;
    let ns = i64::try_from(micros.checked_mul(1_000)?).ok()?;
    match data.get(end) {
        Some(b'.') => fraction(data, end + 1, ns),
        Some(b'e' | b'E') | None => None,
        _ => Some((ns, end)),
    }
}

#[inline]
fn fraction(data: &[u8], at: usize, ns: i64) -> Option<(i64, usize)> {
    let word = word8(data, at);
    let (_, n) = digits(word);
    let end = at + n as usize;
    if n == 0 || n == 8 || matches!(data.get(end), None | Some(b'e' | b'E')) {
        return None;
    }
    let mut part = 0;
    for (i, weight) in [100, 10, 1].into_iter().enumerate() {
        if i < n as usize {
            part += ((word >> (8 * i)) & 0xF) as i64 * weight;
        }
    }
    Some((ns.checked_add(part)?, end))
}

/// Reads any JSON number times `10^places`, and returns the place behind it. Costs the length of
/// the number.
///
/// The function also takes what JSON does not know but traces hold: a leading `+`, leading zeros, a
/// missing digit before or behind the point.
pub fn decimal(data: &[u8], start: usize, places: i32) -> (Time, usize) {
    let mut at = start;
    let byte = |at: usize| data.get(at).copied().unwrap_or(0);
    let negative = byte(at) == b'-';
    at += usize::from(matches!(byte(at), b'-' | b'+'));
    let first = at;
    // 10^37 keeps all digits that can matter and leaves room in 128 bits for one more.
    let (mut mantissa, mut exponent, mut any) = (0u128, i64::from(places), false);
    let mut point = false;
    loop {
        match byte(at) {
            digit @ b'0'..=b'9' => {
                any = true;
                if mantissa < 10u128.pow(37) {
                    mantissa = mantissa * 10 + u128::from(digit - b'0');
                    exponent -= i64::from(point);
                } else {
                    exponent += i64::from(!point);
                }
            }
            b'.' if !point => point = true,
            _ => break,
        }
        at += 1;
    }
    if !any {
        return (Time::NotANumber, first);
    }
    if matches!(byte(at), b'e' | b'E') {
        let mut power_at = at + 1;
        let down = byte(power_at) == b'-';
        power_at += usize::from(matches!(byte(power_at), b'-' | b'+'));
        if !byte(power_at).is_ascii_digit() {
            return (Time::NotANumber, power_at);
        }
        let mut power = 0i64;
        while byte(power_at).is_ascii_digit() {
            power = (power * 10 + i64::from(byte(power_at) - b'0')).min(1_000_000_000);
            power_at += 1;
        }
        exponent += if down { -power } else { power };
        at = power_at;
    }
    (scaled(mantissa, exponent, negative), at)
}

fn scaled(mantissa: u128, exponent: i64, negative: bool) -> Time {
    let magnitude = if mantissa == 0 || exponent < -38 {
        Some(0)
    } else if exponent > 38 {
        None
    } else if exponent < 0 {
        Some(mantissa / 10u128.pow(exponent.unsigned_abs() as u32))
    } else {
        mantissa.checked_mul(10u128.pow(exponent as u32))
    };
    match magnitude.and_then(|magnitude| i64::try_from(magnitude).ok()) {
        Some(ns) if negative => Time::Ns(-ns),
        Some(ns) => Time::Ns(ns),
        None => Time::OutOfRange,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(text: &str) -> Time {
        decimal(text.as_bytes(), 0, MICROS).0
    }

    #[test]
    fn numbers_as_traces_hold_them() {
        for (text, time) in [
            ("0", Time::Ns(0)),
            ("12", Time::Ns(12_000)),
            ("1790000000000000.25", Time::Ns(1_790_000_000_000_000_250)),
            ("1790000000000000.2519", Time::Ns(1_790_000_000_000_000_251)),
            ("-1.5", Time::Ns(-1_500)),
            ("1e3", Time::Ns(1_000_000)),
            ("1.5E-2", Time::Ns(15)),
            ("1e-400", Time::Ns(0)),
            ("1e400", Time::OutOfRange),
            ("0e99999999999999", Time::Ns(0)),
            ("9223372036854775.807", Time::Ns(i64::MAX)),
            ("9223372036854775.808", Time::OutOfRange),
            ("99999999999999999999999999999999999999999999999999", Time::OutOfRange),
            ("0.00000000000000000000000000000000000000000000000001", Time::Ns(0)),
            ("NaN", Time::NotANumber),
            ("-Infinity", Time::NotANumber),
            ("-", Time::NotANumber),
            ("", Time::NotANumber),
            ("1e", Time::NotANumber),
        ] {
            assert_eq!(micros(text), time, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decimals_are_exact(ns in 0..i64::MAX, negative: bool) {
            let text = format!("{}{}.{:03}", if negative { "-" } else { "" }, ns / 1_000, ns % 1_000);
            prop_assert_eq!(micros(&text), Time::Ns(if negative { -ns } else { ns }));
        }

        #[test]
        fn the_fast_way_agrees_or_declines(text in "[0-9]{1,20}(\\.[0-9]{0,9})?(e[0-9]{1,2})?", tail in "[,} ]") {
            let text = text + &tail;
            if let Some((ns, end)) = plain_micros(text.as_bytes(), 0) {
                prop_assert_eq!((Time::Ns(ns), end), decimal(text.as_bytes(), 0, MICROS));
                prop_assert_eq!(end, text.len() - 1);
            } else {
                let short = text.len() <= 16 && !text.contains(['e', '.']);
                prop_assert!(!short, "declined {}", text);
            }
        }

        #[test]
        fn integers_are_read(value in 0u64..10_000_000_000_000_000) {
            let text = format!("{value},");
            prop_assert_eq!(integer(text.as_bytes(), 0), Some((value, text.len() - 1)));
        }
    }
}
