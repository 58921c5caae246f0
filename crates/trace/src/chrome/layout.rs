//! Where the values of an event stand, and how they are written. The scanner records it, and shapes
//! are learned from it.

/// Most values in a shape. Node's events have nine.
const VALUES: usize = 16;

/// The members that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Cat,
    Name,
    Phase,
    Process,
    Thread,
    Id,
    Ts,
    Dur,
    /// `tdur`.
    Cpu,
    Args,
    /// `bp`: which slice the end of a flow points to.
    Bind,
    Other,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Text,
    Word,
    Nested,
}

/// Where the values of one event stand, as the generic scanner found them.
#[derive(Debug, Default)]
pub struct Layout {
    pub start: usize,
    /// The place behind the closing brace.
    pub end: usize,
    pub values: Vec<(Field, Slot, usize, usize)>,
    /// Whether no shape can be learned from the event.
    pub odd: bool,
    /// Decimal places from a microsecond to the unit of times; 0 where they are microseconds.
    pub places: i32,
}

impl Layout {
    pub fn begin(&mut self, start: usize) {
        self.start = start;
        self.odd = false;
        self.values.clear();
    }

    pub fn push(&mut self, field: Field, slot: Slot, start: usize, end: usize) {
        let twice = field != Field::Other && self.values.iter().any(|value| value.0 == field);
        if self.values.len() == VALUES || twice {
            self.odd = true;
        } else {
            self.values.push((field, slot, start, end));
        }
    }
}

/// The values that nearly all events have, each of which is read in its own way; and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Name,
    Thread,
    Ts,
    Dur,
    Other(Slot, Field),
}
