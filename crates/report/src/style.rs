//! How text looks: width, colour, depth. The caller decides; nothing here asks a terminal.

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether text is coloured, by ANSI escapes.
    pub colour: bool,
    /// The most columns of a line. Tables with many sizes are broken into several.
    pub width: usize,
    /// Whether there is also a table of all percentiles per size.
    pub detailed: bool,
}

impl Default for Style {
    /// Plain text of at most 80 columns, which every terminal and mail has.
    fn default() -> Self {
        Style { colour: false, width: 80, detailed: false }
    }
}

pub(crate) use taskscale_model::plain::clean;

/// What the look of a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Headings.
    Bold,
    /// Secondary text: baselines, differences that are not shown.
    Dim,
    /// Worse.
    Red,
    /// Better.
    Green,
    /// Attention.
    Yellow,
}

/// Characters without width mark colours in the text (U+2061 to U+2065, and U+2060 for the end). A
/// table can then be laid out first and coloured afterwards.
const END: char = '\u{2060}';
const INKS: [(Ink, char, &str); 5] = [
    (Ink::Bold, '\u{2061}', "\x1b[1m"),
    (Ink::Dim, '\u{2062}', "\x1b[2m"),
    (Ink::Red, '\u{2063}', "\x1b[31m"),
    (Ink::Green, '\u{2064}', "\x1b[32m"),
    (Ink::Yellow, '\u{200b}', "\x1b[33m"),
];
const RESET: &str = "\x1b[0m";

/// Marks text with a colour.
pub(crate) fn ink(ink: Ink, text: &str) -> String {
    let mark = INKS.iter().find(|(known, ..)| *known == ink).map_or(END, |(_, mark, _)| *mark);
    format!("{mark}{text}{END}")
}

/// Turns the marks into escapes, or takes them away.
pub(crate) fn render(marked: &str, colour: bool) -> String {
    let mut text = String::with_capacity(marked.len());
    for character in marked.chars() {
        let escape = if character == END {
            RESET
        } else if let Some((.., escape)) = INKS.iter().find(|(_, mark, _)| *mark == character) {
            escape
        } else {
            text.push(character);
            continue;
        };
        if colour {
            text.push_str(escape);
        }
    }
    text
}

/// The most characters of a reason. A probe may say anything, and a page of it hides the rest.
const REASON: usize = 400;

/// The beginning of a long reason, and how much of it is cut.
pub fn bounded(reason: &str) -> String {
    let length = reason.chars().count();
    if length <= REASON {
        return reason.to_owned();
    }
    let begin: String = reason.chars().take(REASON).collect();
    let more = taskscale_model::figure::count((length - REASON) as u64);
    format!("{}\u{2026} ({more} more characters in the run file)", begin.trim_end())
}

/// Writes a reason, and the remedy where there is one.
pub fn with_remedy(what: &str, remedy: &str) -> String {
    if remedy.is_empty() { what.to_owned() } else { format!("{what}. Remedy: {remedy}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_says_how_much_of_it_is_cut() {
        assert_eq!(bounded("short"), "short");
        let cut = bounded(&"x".repeat(5_400));
        assert!(cut.starts_with("xxx") && cut.ends_with("x\u{2026} (5,000 more characters in the run file)"));
    }

    #[test]
    fn marks_become_escapes_or_vanish() {
        let marked = format!("a {} b", ink(Ink::Red, "bad"));
        assert_eq!(render(&marked, false), "a bad b");
        assert_eq!(render(&marked, true), "a \x1b[31mbad\x1b[0m b");
    }
}
