//! Makes text from files harmless for a terminal.

use unicode_width::UnicodeWidthChar;

/// The most marks on one letter: scripts that have more than an accent have two.
const MARKS: usize = 2;

/// Makes text from a run file harmless for a terminal. Control characters (escapes above all),
/// characters without width and those that turn the direction of writing become question marks.
/// Marks are as [`sparing`] leaves them.
pub fn clean(text: &str) -> String {
    let harmful = |c: char| c.is_control() || is_format(c);
    sparing(text).map(|c| if harmful(c) { '?' } else { c }).collect()
}

/// The characters of a text with few marks on one letter, since thousands would cover the lines
/// around. What [`is_format`] tells of is no mark.
pub fn sparing(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut marks = 0;
    text.chars().filter(move |&c| {
        let is_mark = c.width() == Some(0) && !is_format(c);
        marks = if is_mark { marks + 1 } else { 0 };
        marks <= MARKS
    })
}

/// Whether a character has no shape of its own and changes how others are shown.
pub fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_file_cannot_drive_the_terminal() {
        assert_eq!(clean("x\x1b[31my\n\u{2063}\u{202e}"), "x?[31my???");
        let covered = format!("a{}b\u{308}", "\u{301}".repeat(3_000));
        assert_eq!(clean(&covered), "a\u{301}\u{301}b\u{308}");
    }
}
