//! Breaks text into lines of a width, between words and never within one.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Writes each text as a paragraph with a line feed at its end. The first line begins with the
/// bullet, and the others are indented to its text.
pub(crate) fn paragraphs(bullet: &str, texts: &[String], width: usize) -> String {
    let below = " ".repeat(bullet.chars().count());
    let options = plain(width).initial_indent(bullet).subsequent_indent(&below);
    texts.iter().map(|text| textwrap::fill(&spaced(text), &options) + "\n").collect()
}

/// Writes a text whose first line begins at column `indent`, behind what already stands there. The
/// other lines are indented to it.
pub(crate) fn hanging(text: &str, indent: usize, width: usize) -> String {
    let blanks = " ".repeat(indent);
    let options = plain(width).initial_indent(&blanks).subsequent_indent(&blanks);
    textwrap::fill(&spaced(text), options).trim_start().to_owned() + "\n"
}

/// The lines of a text of unknown words, of which the longest may not fit on a line.
pub(crate) fn broken(text: &str, width: usize) -> Vec<String> {
    let options = plain(width).break_words(true);
    textwrap::wrap(&spaced(text), options).into_iter().map(Into::into).collect()
}

fn plain<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

/// Puts one blank between words.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let texts = ["one  two three".to_owned(), "a-word-that-is-longer-than-a-line".to_owned()];
        assert_eq!(paragraphs("- ", &texts, 9), "- one two\n  three\n- a-word-that-is-longer-than-a-line\n");
        assert_eq!(broken("a-word-that-is", 9), ["a-word-th", "at-is"]);
        assert_eq!(
            broken("\u{754c}\u{754c}\u{754c}", 4),
            ["\u{754c}\u{754c}", "\u{754c}"],
            "two columns each"
        );
        assert_eq!(hanging("one two three", 4, 12), "one two\n    three\n");
        assert_eq!((paragraphs("", &[], 9), hanging("", 3, 9)), (String::new(), "\n".to_owned()));
    }
}
