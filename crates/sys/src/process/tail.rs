//! Keeps the end of a stream that may be endless.

/// Bytes of standard error that are kept.
pub const KEPT: usize = 4 * 1024;

/// Holds the last [`KEPT`] bytes of a stream, and how many there were in all. Memory does not grow
/// with the stream.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: Vec<u8>,
    total: u64,
}

impl Tail {
    /// Appends `chunk` and drops what is older than the last [`KEPT`] bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let chunk = &chunk[chunk.len().saturating_sub(KEPT)..];
        let excess = (self.bytes.len() + chunk.len()).saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.bytes.extend_from_slice(chunk);
    }

    /// Returns the number of bytes that went by in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the tail as text that is safe to print. Bytes that are not UTF-8 become U+FFFD.
    /// Control characters other than the line feed are escaped, since a probe could otherwise drive
    /// the terminal. Trailing blanks are removed.
    pub fn text(&self) -> String {
        // The tail may begin in the middle of a character. Its rest is left out, since nobody wrote
        // the U+FFFD that it would show.
        let cut = if self.total > self.bytes.len() as u64 {
            self.bytes.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count()
        } else {
            0
        };
        let mut text = String::new();
        for character in String::from_utf8_lossy(&self.bytes[cut..]).trim_end().chars() {
            match character {
                '\n' => text.push('\n'),
                // Traces are indented by it.
                '\t' => text.push_str("    "),
                control if control.is_control() => text.extend(control.escape_default()),
                other => text.push(other),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_however_they_come() {
        let stream: Vec<u8> = (0..20_000u32).map(|i| b'a' + (i % 26) as u8).collect();
        for step in [1, 7, 4_095, 4_096, 4_097, 20_000] {
            let mut tail = Tail::default();
            stream.chunks(step).for_each(|chunk| tail.push(chunk));
            assert_eq!(tail.text().as_bytes(), &stream[stream.len() - KEPT..], "in steps of {step}");
            assert_eq!(tail.total(), 20_000);
        }
    }

    #[test]
    fn text_cannot_drive_a_terminal() {
        let mut tail = Tail::default();
        tail.push(b"\tred \x1b[31m\r\nbell \x07 \xff \xc3\xa9\n\n");
        assert_eq!(tail.text(), "    red \\u{1b}[31m\\r\nbell \\u{7} \u{fffd} \u{e9}");
    }

    #[test]
    fn a_character_cut_in_two_is_left_out() {
        let mut tail = Tail::default();
        tail.push("\u{e9}".repeat(KEPT).as_bytes());
        tail.push(b"x");
        assert!(tail.text().starts_with('\u{e9}'), "{:?}", tail.text().chars().next());
    }
}
