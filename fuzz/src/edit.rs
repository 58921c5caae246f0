//! Changes a value of JSON as bytes say, so that most changes leave a value of its type.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::less::Line;

/// Numbers at the ends of what types hold, and some that are none of a time or a share.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "1e308",
    "-1e308",
    "5e-324",
    "9007199254740993",
    "4096",
];

/// The upper bits of characters that are of interest: what controls, marks, turns or is not seen,
/// and some that are none of these.
const PAGES: [u32; 16] =
    [0x00, 0x01, 0x03, 0x05, 0x06, 0x11, 0x17, 0x18, 0x20, 0x31, 0xd7, 0xfe, 0xff, 0x1bc, 0xe00, 0xe01];

/// Makes one edit for every four bytes: two say where, one what, and one with what.
pub fn edit(value: &mut Value, bytes: &[u8], texts: &[&str]) {
    for [high, low, what, with] in bytes.as_chunks::<4>().0 {
        let mut place = usize::from(u16::from_be_bytes([*high, *low])) % places(value).max(1);
        at(value, &mut place, &mut |found| change(found, *what, usize::from(*with), texts));
    }
}

/// The text of lines that are changed in the same way, one record a line. The list of all lines is
/// a place too. Only the lines that an edit meets are copied and written anew.
pub fn edited(lines: &[&Line], bytes: &[u8], texts: &[&str]) -> String {
    let mut lines: Vec<Cow<'_, Line>> = lines.iter().map(|line| Cow::Borrowed(*line)).collect();
    for [high, low, what, with] in bytes.as_chunks::<4>().0 {
        let all = 1 + lines.iter().map(|line| line.places).sum::<usize>();
        let mut place = usize::from(u16::from_be_bytes([*high, *low])) % all;
        let with = usize::from(*with);
        if place == 0 {
            if !change_list(&mut lines, *what, with) {
                lines.clear();
            }
            continue;
        }
        place -= 1;
        let mut met = 0;
        while place >= lines[met].places {
            place -= lines[met].places;
            met += 1;
        }
        let line = lines[met].to_mut();
        at(&mut line.value, &mut place, &mut |found| change(found, *what, with, texts));
        line.places = places(&line.value);
        line.text.clear();
    }
    for line in lines.iter_mut().filter(|line| line.text.is_empty()) {
        let line = line.to_mut();
        line.text = line.value.to_string();
    }
    lines.iter().flat_map(|line| [&*line.text, "\n"]).collect()
}

/// How many values there are, itself among them.
pub fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(places).sum(),
        Value::Object(all) => all.values().map(places).sum(),
        _ => 0,
    }
}

fn at(value: &mut Value, place: &mut usize, then: &mut dyn FnMut(&mut Value)) -> bool {
    if *place == 0 {
        then(value);
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|one| at(one, place, then)),
        Value::Object(all) => all.values_mut().any(|one| at(one, place, then)),
        _ => false,
    }
}

fn change(value: &mut Value, what: u8, with: usize, texts: &[&str]) {
    if let Value::Array(all) = &mut *value
        && change_list(all, what, with)
    {
        return;
    }
    match (value, what % 4) {
        (Value::String(text), 0..=2) if what < 64 => {
            let page = PAGES[usize::from(what / 4)];
            *text = format!("a{}b", char::from_u32(page << 8 | with as u32).unwrap_or_default());
        }
        (Value::String(text), 0..=2) => *text = texts[with % texts.len()].to_owned(),
        (Value::Number(number), 0..=2) => {
            *number = NUMBERS[with % NUMBERS.len()].parse().expect("a number of JSON");
        }
        (Value::Bool(yes), 0..=2) => *yes = !*yes,
        (Value::Object(all), 0) => *all = without(all, with),
        (Value::Object(all), 1) => {
            all.insert(texts[with % texts.len()].to_owned(), Value::Bool(true));
        }
        (value, _) => *value = Value::Null,
    }
}

/// Cuts a list, doubles a member or turns the list around. Says whether it did one of these.
fn change_list<T: Clone>(all: &mut Vec<T>, what: u8, with: usize) -> bool {
    match what % 4 {
        0 => all.truncate(with % (all.len() + 1)),
        1 if !all.is_empty() => all.push(all[with % all.len()].clone()),
        2 => all.reverse(),
        _ => return false,
    }
    true
}

/// The members but one.
fn without(all: &Map<String, Value>, with: usize) -> Map<String, Value> {
    let left_out = with % all.len().max(1);
    all.iter()
        .enumerate()
        .filter(|(at, _)| *at != left_out)
        .map(|(_, (k, v))| (k.clone(), v.clone()))
        .collect()
}
