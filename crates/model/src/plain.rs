//! Text of others, made plain: the one door through which it goes wherever it is shown.
//!
//! Names of tasks and runtimes, notes, reasons and paths come from traces, run files and probes.
//! What stands in them may move a cursor, turn the direction of a line, or hide. [`clean`] leaves
//! what can be seen. Each format then escapes what is markup in it.

use unicode_width::UnicodeWidthChar;

/// The most marks on one letter: scripts that have more than an accent have two.
const MARKS: usize = 2;

/// Makes a text one plain line. Ends of lines and tabs become blanks; all else that
/// [`is_harmful`] tells of becomes a question mark. Of many marks on one letter two are left, since
/// thousands would cover the lines around.
pub fn clean(text: &str) -> String {
    let mut marks = 0;
    let few = |&c: &char| {
        let is_mark = c.width() == Some(0) && !is_harmful(c);
        marks = if is_mark { marks + 1 } else { 0 };
        marks <= MARKS
    };
    text.chars().filter(few).map(plain).collect()
}

/// The columns that a plain text takes on a terminal: a Chinese character takes two, an accent
/// none.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The columns of one character.
pub fn columns_of(c: char) -> usize {
    c.width().unwrap_or_default()
}

/// The same for a text of several lines, whose ends are kept.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(|line| clean(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

/// Makes JSON plain and leaves what it says: what is harmful in it, ends of lines apart, can only
/// stand in its strings, and is written there as JSON writes it, by its number.
pub fn clean_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                plain.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

fn plain(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        c if is_harmful(c) => '?',
        c => c,
    }
}

/// Whether a character drives a terminal, has no shape of its own, changes how others are shown, or
/// is none. These are the controls (`Cc`), what Unicode 16 calls `Default_Ignorable_Code_Point`
/// save the two selectors of emoji, the other characters of `Cf` that are not seen, Braille without
/// a dot, the ends of lines and paragraphs, and the two of the first plane that XML has no place
/// for.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_cannot_drive_the_terminal() {
        assert_eq!(clean("x\x1b[31my\n\u{2063}\u{202e}"), "x?[31my ??");
        assert_eq!(clean("tabs\tand\r\nlines\u{2028}"), "tabs and  lines ");
        let covered = format!("a{}b\u{308}", "\u{301}".repeat(3_000));
        assert_eq!(clean(&covered), "a\u{301}\u{301}b\u{308}");
    }

    #[test]
    fn what_is_not_seen_is_marked() {
        for hidden in ['\u{ad}', '\u{180e}', '\u{200d}', '\u{3164}', '\u{fe01}', '\u{fff9}', '\u{e0041}'] {
            assert_eq!(clean(&format!("a{hidden}b")), "a?b", "{hidden:?}");
        }
        for seen in ["a\u{301}", "\u{2764}\u{fe0f}", "שלום", "مرحبا", "日本", "\u{e9}", "—"] {
            assert_eq!(clean(seen), seen);
        }
    }

    #[test]
    fn lines_are_kept_where_they_are_wanted() {
        assert_eq!(clean_lines("a\r\n\x1b[2Jb\n"), "a\n?[2Jb\n");
    }

    #[test]
    fn json_says_the_same() {
        let text = "a\u{202e}b\u{e0041}\u{e9}\n\u{7f}";
        let json = serde_json::to_string(text).expect("JSON");
        let plain = clean_json(&json);
        assert_eq!(plain, "\"a\\u202eb\\udb40\\udc41\u{e9}\\n\\u007f\"");
        assert_eq!(serde_json::from_str::<String>(&plain).expect("JSON"), text);
    }
}
