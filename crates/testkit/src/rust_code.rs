//! Rust source reduced to what a check of words may look at.

/// The text with comments, string contents and `#[cfg(test)]` items blanked out; lines keep their numbers.
pub fn without_texts_and_tests(source: &str) -> String {
    without_tests(&without_texts(source))
}

/// Line numbers (from 1) on which `word` stands by itself: `unsafe`, but not `unsafe_code`. A word may be a path or
/// end in `!`.
pub fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let part_of_a_word = |character: char| character.is_alphanumeric() || character == '_';
    let stands_in = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !before.is_some_and(part_of_a_word) && (word.ends_with('!') || !after.is_some_and(part_of_a_word))
        })
    };
    code.lines().enumerate().filter(|(_, line)| stands_in(line)).map(|(index, _)| index + 1).collect()
}

fn without_texts(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        let end = at + text_length(rest, code.chars().next_back());
        if end > at {
            code.extend(source[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            // `at` is a character boundary below the length, so there is one.
            let character = rest.chars().next().unwrap_or(' ');
            code.push(character);
            at += character.len_utf8();
        }
    }
    code
}

/// Bytes of the comment, string or character that `rest` starts with; 0 where it starts with code.
fn text_length(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return comment_length(rest);
    }
    if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        let hashes = rest
            .trim_start_matches(['b', 'c'])
            .strip_prefix('r')
            .map(|raw| raw.len() - raw.trim_start_matches('#').len());
        if let Some(hashes) = hashes {
            let open = rest.len() - rest.trim_start_matches(['b', 'c']).len() + 1 + hashes;
            if rest[open..].starts_with('"') {
                let close = format!("\"{}", "#".repeat(hashes));
                return rest[open + 1..].find(&close).map_or(rest.len(), |at| open + 1 + at + close.len());
            }
        }
    }
    match rest.as_bytes().first() {
        Some(b'"') => quoted_length(rest, '"'),
        // A character, not a lifetime: 'a' but not 'a in <'a>.
        Some(b'\'') => {
            let mut characters = rest[1..].chars();
            match (characters.next(), characters.next()) {
                (Some('\\'), _) | (Some(_), Some('\'')) => quoted_length(rest, '\''),
                _ => 0,
            }
        }
        _ => 0,
    }
}

fn comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest.as_bytes()[at..rest.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = item_length(item);
        kept.extend(item[..end].chars().filter(|c| *c == '\n'));
        rest = &item[end..];
    }
    kept + rest
}

/// Bytes up to the end of the first item: its closing brace, or its semicolon if that comes before any brace.
fn item_length(item: &str) -> usize {
    let mut depth = 0;
    for (at, character) in item.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<usize> {
        lines_with(&without_texts_and_tests(source), "unsafe")
    }

    #[test]
    fn code_is_seen() {
        for source in [
            "unsafe {}",
            "fn f<'a>(x: &'a str) { unsafe {} }",
            "let q = '\"'; unsafe {}",
            "let q = '\\''; unsafe {}",
            "\"text\"; unsafe {}",
            "\"a \\\" b\"; unsafe {}",
            "r#\"a \" b\"#; unsafe {}",
            "/* a /* b */ c */ unsafe {}",
            "#[cfg(test)] mod tests; unsafe {}",
            "#[cfg(test)] mod tests { fn f() {} } unsafe {}",
        ] {
            assert_eq!(found(source), [1], "{source}");
        }
        assert_eq!(found("// a\n/* b\n */\n\"c\nd\";\n#[cfg(test)]\nmod t {\n}\nunsafe {}"), [9]);
    }

    #[test]
    fn what_is_no_code_is_not_seen() {
        for source in [
            "// unsafe",
            "/// unsafe",
            "/* a /* b */ unsafe */",
            "\"unsafe\"",
            "\"a \\\" unsafe\"",
            "r#\"a \" unsafe\"#",
            "br\"unsafe\"",
            "#[cfg(test)]\nmod tests { fn f() { unsafe {} } }",
            "#![deny(unsafe_code)]",
            "fn not_unsafe() {}",
        ] {
            assert_eq!(found(source), [0usize; 0], "{source}");
        }
    }
}
