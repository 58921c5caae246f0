//! Text that is markup already, and text that becomes part of it.

use std::fmt;

use crate::style::clean;

/// Markup that a template takes as it is. Only what this folder draws is of this type: every name
/// in it has gone through [`escape`].
#[derive(Debug, Clone, Default)]
pub struct Markup(pub String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Markup {}

/// Makes a name safe in text and in quoted attributes, of HTML as of SVG.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Writes a coordinate with two decimals at most.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
