//! One Chrome trace event, and the generic scanner that reads it. The scanner takes members in any
//! order and skips unknown ones.

use crate::{
    bytes::{Nesting, StringEnd, is_numbered, string_end, word8},
    json::{ends_word, is_gap, is_space, space_end, unescaped},
    number::{MICROS, Time, decimal, integer, plain_micros},
    workers::Id,
};

use super::layout::{Field, Layout, Slot};

/// Text as it stands in the file, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// Its escapes are not replaced.
    pub raw: &'a [u8],
    /// Whether it is ASCII without escapes and control characters.
    pub plain: bool,
    /// Whether it is a name of the form `<digits>_<digits>`, of at most sixteen bytes.
    pub numbered: bool,
}

impl<'a> Text<'a> {
    /// Takes the name whose first byte is at `start`.
    #[inline(always)]
    pub fn name(data: &'a [u8], start: usize, end: StringEnd) -> Self {
        let numbered = is_numbered(data, start, end.quote - start);
        Text { raw: &data[start..end.quote], plain: end.plain, numbered }
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text { raw: b"", plain: true, numbered: false }
    }
}

/// The parts of an event that the readers need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Event<'a> {
    /// The byte of `ph` where it is one character, else 0.
    pub phase: u8,
    /// `cat`: a list joined by commas.
    pub cat: Text<'a>,
    pub name: Text<'a>,
    /// `pid`.
    pub process: Id,
    /// `tid`.
    pub thread: Id,
    /// `id` or `id2`, of asynchronous events and flows.
    pub id: Id,
    /// Whether `bp` says that a flow ends in the slice around its end.
    pub encloses: bool,
    /// `ts`.
    pub ts: Time,
    /// `dur`.
    pub dur: Time,
    /// `tdur`: the duration by the thread's CPU clock.
    pub cpu: Time,
    /// `args` as it is written; empty where there is none.
    pub args: &'a [u8],
}

/// The result of scanning an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// The event was read; the value is the place behind it.
    Done(usize),
    /// The data end inside the event.
    Incomplete,
    /// The event is not JSON from this place on.
    Malformed(usize),
}

const fn key(bytes: &[u8]) -> u64 {
    let (mut word, mut i) = (0, 0);
    while i < bytes.len() {
        word |= (bytes[i] as u64) << (8 * i);
        i += 1;
    }
    word
}

const CAT: u64 = key(b"cat");
const NAME: u64 = key(b"name");
const PHASE: u64 = key(b"ph");
const PROCESS: u64 = key(b"pid");
const THREAD: u64 = key(b"tid");
const ID: u64 = key(b"id");
const ID2: u64 = key(b"id2");
const TS: u64 = key(b"ts");
const DUR: u64 = key(b"dur");
const CPU: u64 = key(b"tdur");
const ARGS: u64 = key(b"args");
const BIND: u64 = key(b"bp");

/// Returns the field of a key of two to four bytes. The key is a word whose lowest byte is the
/// first.
#[inline(always)]
fn field(word: u64, length: usize) -> Field {
    // The length is compared first: this takes two or three comparisons in place of ten.
    match length {
        2 => match word & 0xFFFF {
            PHASE => Field::Phase,
            TS => Field::Ts,
            ID => Field::Id,
            BIND => Field::Bind,
            _ => Field::Other,
        },
        3 => match word & 0xFF_FFFF {
            CAT => Field::Cat,
            PROCESS => Field::Process,
            THREAD => Field::Thread,
            DUR => Field::Dur,
            ID2 => Field::Id,
            _ => Field::Other,
        },
        4 => match word & 0xFFFF_FFFF {
            NAME => Field::Name,
            CPU => Field::Cpu,
            ARGS => Field::Args,
            _ => Field::Other,
        },
        _ => Field::Other,
    }
}

/// Returns the field of a short key whose first byte begins the word, and the key's length, where
/// its closing quote and a colon are in the word too. This spares the search for the end of a
/// string: seven of ten instructions for a key.
#[inline(always)]
fn short_key(word: u64) -> Option<(Field, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The lowest bit that is set is right; those above it may be wrong (Mycroft, 1987).
    let differing = word ^ (ONES * b'"' as u64);
    let quotes = differing.wrapping_sub(ONES) & !differing & (ONES << 7);
    let length = quotes.trailing_zeros() as usize / 8;
    if !(2..=4).contains(&length) || (word >> (8 * length + 8)) as u8 != b':' {
        return None;
    }
    match field(word, length) {
        // The key may hold an escape.
        Field::Other => None,
        field => Some((field, length)),
    }
}

#[cold]
fn escaped_field(raw: &[u8]) -> Field {
    let key = unescaped(raw);
    field(word8(&key, 0), key.len())
}

/// Reads the event whose brace stands at `start`. With `LEARN`, `layout` receives where each value
/// stands.
///
/// The last of two equal members counts, as in other parsers. Costs about 75 ns for 90 bytes
/// (experiment `speed`).
#[inline]
pub fn scan<'a, const LEARN: bool>(
    data: &'a [u8],
    start: usize,
    event: &mut Event<'a>,
    layout: &mut Layout,
) -> Scanned {
    *event = Event::default();
    if LEARN {
        layout.begin(start);
    }
    let mut at = start + 1;
    loop {
        while at < data.len() && is_gap(data[at]) {
            at += 1;
        }
        match data.get(at) {
            Some(b'"') => {}
            Some(b'}') => {
                if LEARN {
                    layout.end = at + 1;
                }
                return Scanned::Done(at + 1);
            }
            Some(_) => return Scanned::Malformed(at),
            None => return Scanned::Incomplete,
        }
        let field = if let Some((field, length)) = short_key(word8(data, at + 1)) {
            at += length + 3;
            field
        } else {
            let Some(key) = string_end(data, at + 1) else { return Scanned::Incomplete };
            let length = key.quote - at - 1;
            let field = if key.plain {
                field(word8(data, at + 1), length)
            } else {
                escaped_field(&data[at + 1..key.quote])
            };
            at = space_end(data, key.quote + 1);
            match data.get(at) {
                Some(b':') => {}
                Some(_) => return Scanned::Malformed(at),
                None => return Scanned::Incomplete,
            }
            at += 1;
            field
        };
        let Some(&byte) = data.get(at) else { return Scanned::Incomplete };
        let mut first = byte;
        if is_space(first) {
            at = space_end(data, at + 1);
            let Some(&byte) = data.get(at) else { return Scanned::Incomplete };
            first = byte;
        }
        let (end, slot) = match first {
            b'"' if field == Field::Phase && data.get(at + 2) == Some(&b'"') && data[at + 1] != b'\\' => {
                event.phase = data[at + 1];
                (at + 3, Slot::Text)
            }
            b'"' => {
                let Some(close) = string_end(data, at + 1) else { return Scanned::Incomplete };
                let mut text = Text { raw: &data[at + 1..close.quote], plain: close.plain, numbered: false };
                let mut end = close.quote + 1;
                if field == Field::Name {
                    text = Text::name(data, at + 1, close);
                }
                if field == Field::Name && !matches!(data.get(end), Some(b',' | b'}')) {
                    match unescaped_quotes(data, at + 1, end) {
                        Ok(longer) if longer == end => {}
                        Ok(longer) => {
                            text = Text { raw: &data[at + 1..longer - 1], plain: false, numbered: false };
                            end = longer;
                            layout.odd = true;
                        }
                        Err(scanned) => return scanned,
                    }
                }
                set_text(event, field, text);
                if layout.places != 0 {
                    retime(event, field, text.raw, layout.places);
                }
                (end, Slot::Text)
            }
            b'{' | b'[' => {
                let Some(end) = Nesting::opened().end(data, at + 1) else { return Scanned::Incomplete };
                set_nested(event, field, &data[at..end]);
                (end, Slot::Nested)
            }
            _ => {
                let Some(end) = set_word(event, field, data, at) else { return Scanned::Incomplete };
                if end == at {
                    return Scanned::Malformed(at);
                }
                if layout.places != 0 {
                    retime(event, field, &data[at..end], layout.places);
                }
                (end, Slot::Word)
            }
        };
        if LEARN {
            let quoted = usize::from(first == b'"');
            layout.push(field, slot, at + quoted, end - quoted);
        }
        at = end;
        if data.get(at) == Some(&b',') {
            at += 1;
        }
    }
}

/// Finds the end of a name that holds quotes without backslashes, as Taskflow writes them. It is
/// the quote before the next member.
#[cold]
fn unescaped_quotes(data: &[u8], start: usize, mut end: usize) -> Result<usize, Scanned> {
    loop {
        match data.get(space_end(data, end)) {
            Some(b',' | b'}') => return Ok(end),
            None => return Err(Scanned::Incomplete),
            Some(_) => match memchr::memchr2(b'"', b'\n', &data[end..]) {
                Some(n) if data[end + n] == b'"' => end += n + 1,
                Some(_) => return Err(Scanned::Malformed(start)),
                None => return Err(Scanned::Incomplete),
            },
        }
    }
}

#[inline(always)]
pub fn set_text<'a>(event: &mut Event<'a>, field: Field, text: Text<'a>) {
    match field {
        Field::Cat => event.cat = text,
        Field::Name => event.name = text,
        Field::Phase => {
            event.phase = match (text.raw, &*unescaped(text.raw)) {
                ([phase], _) | (_, [phase]) => *phase,
                _ => 0,
            }
        }
        Field::Process => event.process = Id::text(&unescaped(text.raw)),
        Field::Thread => event.thread = Id::text(&unescaped(text.raw)),
        Field::Id => event.id = Id::text(&unescaped(text.raw)),
        Field::Ts => event.ts = quoted_time(text.raw),
        Field::Dur => event.dur = quoted_time(text.raw),
        Field::Cpu => event.cpu = quoted_time(text.raw),
        Field::Args => event.args = b"",
        Field::Bind => event.encloses = text.raw == b"e",
        Field::Other => {}
    }
}

#[cold]
fn quoted_time(raw: &[u8]) -> Time {
    match decimal(raw, 0, MICROS) {
        (time, end) if end == raw.len() => time,
        _ => Time::NotANumber,
    }
}

/// Reads a time again that is not in microseconds but in units of `10^places` of them.
#[cold]
fn retime(event: &mut Event<'_>, field: Field, raw: &[u8], places: i32) {
    let time = || match decimal(raw, 0, MICROS + places) {
        (time, end) if end == raw.len() => time,
        _ if raw == b"null" => Time::Missing,
        _ => Time::NotANumber,
    };
    match field {
        Field::Ts => event.ts = time(),
        Field::Dur => event.dur = time(),
        Field::Cpu => event.cpu = time(),
        _ => {}
    }
}

#[inline(always)]
pub fn set_nested<'a>(event: &mut Event<'a>, field: Field, value: &'a [u8]) {
    match field {
        Field::Args => event.args = value,
        Field::Id => event.id = Id::text(value),
        Field::Process => event.process = Id::text(value),
        Field::Thread => event.thread = Id::text(value),
        Field::Ts => event.ts = Time::NotANumber,
        Field::Dur => event.dur = Time::NotANumber,
        Field::Cpu => event.cpu = Time::NotANumber,
        Field::Phase => event.phase = 0,
        Field::Cat => event.cat = Text::default(),
        Field::Name => event.name = Text::default(),
        Field::Bind => event.encloses = false,
        Field::Other => {}
    }
}

/// Reads a number or a word; `None` where the data end before it is known to be whole.
#[inline(always)]
pub fn set_word(event: &mut Event<'_>, field: Field, data: &[u8], at: usize) -> Option<usize> {
    match field {
        Field::Ts | Field::Dur | Field::Cpu => {
            let (time, end) = time(data, at)?;
            match field {
                Field::Ts => event.ts = time,
                Field::Dur => event.dur = time,
                _ => event.cpu = time,
            }
            Some(end)
        }
        Field::Process | Field::Thread | Field::Id => {
            let (id, end) = id(data, at)?;
            match field {
                Field::Process => event.process = id,
                Field::Thread => event.thread = id,
                _ => event.id = id,
            }
            Some(end)
        }
        _ => {
            match field {
                Field::Phase => event.phase = 0,
                Field::Cat => event.cat = Text::default(),
                Field::Name => event.name = Text::default(),
                Field::Args => event.args = b"",
                Field::Bind => event.encloses = false,
                _ => {}
            }
            word_end(data, at)
        }
    }
}

#[inline(always)]
fn time(data: &[u8], at: usize) -> Option<(Time, usize)> {
    match plain_micros(data, at) {
        Some((ns, end)) if ends_word(data[end]) => Some((Time::Ns(ns), end)),
        _ => odd_time(data, at),
    }
}

#[cold]
fn odd_time(data: &[u8], at: usize) -> Option<(Time, usize)> {
    let end = word_end(data, at)?;
    let word = &data[at..end];
    Some(match decimal(word, 0, MICROS) {
        (time, used) if used == word.len() => (time, end),
        _ if word == b"null" => (Time::Missing, end),
        _ => (Time::NotANumber, end),
    })
}

#[inline(always)]
pub fn id(data: &[u8], at: usize) -> Option<(Id, usize)> {
    match integer(data, at) {
        Some((value, end)) if data.get(end).is_some_and(|&byte| ends_word(byte)) => {
            Some((Id::Integer(value as i64), end))
        }
        _ => odd_id(data, at),
    }
}

#[cold]
fn odd_id(data: &[u8], at: usize) -> Option<(Id, usize)> {
    let end = word_end(data, at)?;
    let word = &data[at..end];
    let integer = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    let id = match integer {
        Some(value) => Id::Integer(value),
        None if word == b"null" => Id::Absent,
        None => Id::text(word),
    };
    Some((id, end))
}

/// Returns the place behind a number or a word.
#[inline]
pub fn word_end(data: &[u8], at: usize) -> Option<usize> {
    data.get(at..)?.iter().position(|&byte| ends_word(byte)).map(|n| at + n)
}
