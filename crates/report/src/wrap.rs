//! Breaks text into lines of a width, between words, and within one that no line has room for.

use taskscale_model::plain::columns;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Writes each text as a paragraph with a line feed at its end. The first line begins with the
/// bullet, and the others are indented to its text.
pub(crate) fn paragraphs(bullet: &str, texts: &[String], width: usize) -> String {
    let below = " ".repeat(bullet.chars().count());
    let options = plain(width).initial_indent(bullet).subsequent_indent(&below);
    texts.iter().map(|text| lines(&spaced(text), &options).join("\n") + "\n").collect()
}

/// Writes a text whose first line begins at column `indent`, behind what already stands there. The
/// other lines are indented to it.
pub(crate) fn hanging(text: &str, indent: usize, width: usize) -> String {
    let blanks = " ".repeat(indent);
    let options = plain(width).initial_indent(&blanks).subsequent_indent(&blanks);
    lines(&spaced(text), &options).join("\n").trim_start().to_owned() + "\n"
}

/// The lines of a text of unknown words, of which the longest may not fit on a line.
pub(crate) fn broken(text: &str, width: usize) -> Vec<String> {
    let options = plain(width).break_words(true);
    textwrap::wrap(&spaced(text), options).into_iter().map(Into::into).collect()
}

/// The lines of a text, broken at blanks. A word that is longer than a line is broken by columns; a
/// path and an address are not, since they are there to be copied.
pub fn lines(text: &str, options: &Options<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, line) in textwrap::wrap(text, options).into_iter().enumerate() {
        if columns(&line) <= options.width || line.split(' ').any(is_copied) {
            lines.push(line.into_owned());
            continue;
        }
        let indent = if place == 0 { options.initial_indent } else { options.subsequent_indent };
        let again = options.clone().initial_indent(indent).break_words(true);
        let pieces = textwrap::wrap(line.strip_prefix(indent).unwrap_or(&line), again);
        lines.extend(pieces.into_iter().map(String::from));
    }
    lines
}

/// Whether a word begins as a path or holds an address.
fn is_copied(word: &str) -> bool {
    let bare = word.trim_start_matches(['\'', '"', '(', '`']);
    ["/", "~/", "./", "../"].iter().any(|begin| bare.starts_with(begin)) || bare.contains("://")
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
        let texts = ["one  two three", "a-word-that-is-long", "(/a/path/of-a-file)"].map(str::to_owned);
        let drawn = "- one two\n  three\n- a-word-\n  that-is\n  -long\n- (/a/path/of-a-file)\n";
        assert_eq!(paragraphs("- ", &texts, 9), drawn);
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
