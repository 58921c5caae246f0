//! Steps over JSON values that stream through the window, of any length.

use crate::{
    bytes::Nesting,
    error::TraceError,
    json::{ends_word, is_gap, is_space},
    tally::{Reason, Tally},
    window::{More, Window},
};

/// Brings the object at the front of the window into memory and returns its length. An object that
/// does not fit whole is skipped, and the reason returned.
pub fn object(window: &mut Window<'_>) -> Result<Result<usize, Reason>, TraceError> {
    loop {
        if let Some(end) = Nesting::opened().end(window.data(), 1) {
            return Ok(Ok(end));
        }
        match window.more()? {
            More::Read => {}
            More::Full => {
                skip_value(window)?;
                return Ok(Err(Reason::TooLong));
            }
            More::End => {
                window.consume(window.data().len());
                return Ok(Err(Reason::Cut));
            }
        }
    }
}

/// Reads a list of objects, to the end of the file, so that the count of bytes is that of the file.
/// What is no whole object is counted in the tally of `books`.
pub fn records<B>(
    window: &mut Window<'_>,
    books: &mut B,
    tally: impl Fn(&mut B) -> &mut Tally,
    mut each: impl FnMut(&mut B, &[u8]),
) -> Result<(), TraceError> {
    window.skip_while(|byte| byte != b'[')?;
    window.consume(1);
    let mut closed = false;
    while let Some(byte) = window.skip_while(is_gap)? {
        if byte == b']' {
            closed = true;
            break;
        }
        if byte != b'{' {
            tally(books).seen += 1;
            tally(books).malformed(window.place(), window.data());
            skip_value(window)?;
            continue;
        }
        match object(window)? {
            Ok(end) => {
                each(books, &window.data()[..end]);
                window.consume(end);
            }
            Err(reason) => {
                tally(books).seen += 1;
                tally(books).drop(reason, 1);
            }
        }
    }
    if !closed {
        tally(books)
            .note("the closing bracket is missing: the file was cut off; all whole records were read");
    }
    while window.skip_while(|_| true)?.is_some() {}
    Ok(())
}

/// Skips the value at the front of the window, of any length, and at least one byte.
pub fn skip_value(window: &mut Window<'_>) -> Result<(), TraceError> {
    match window.data().first() {
        Some(b'{' | b'[') => {
            window.consume(1);
            let mut nesting = Nesting::opened();
            while !window.data().is_empty() {
                match nesting.end(window.data(), 0) {
                    Some(end) => {
                        window.consume(end);
                        return Ok(());
                    }
                    None => window.consume(window.data().len()),
                }
                window.more()?;
            }
        }
        Some(b'"') => {
            window.consume(1);
            let escaped = std::cell::Cell::new(false);
            window.skip_while(|byte| {
                let inside = escaped.get() || byte != b'"';
                escaped.set(byte == b'\\' && !escaped.get());
                inside
            })?;
            window.consume(1);
        }
        _ => {
            window.consume(1);
            window.skip_while(|byte| !ends_word(byte))?;
        }
    }
    Ok(())
}

/// Skips to where the next event may start: behind a closing brace that a comma, a bracket or the
/// end follows.
pub fn skip_to_next_event(window: &mut Window<'_>) -> Result<(), TraceError> {
    loop {
        if window.skip_while(|byte| byte != b'}')?.is_none() {
            return Ok(());
        }
        window.consume(1);
        if matches!(window.skip_while(is_space)?, None | Some(b',' | b']')) {
            return Ok(());
        }
    }
}
