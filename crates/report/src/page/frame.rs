//! What all pages have around their figures.

use super::{guard, markup::Markup};
use crate::style::clean;

const STYLE: &str = include_str!("../../templates/page.css");
const SAVE: &str = include_str!("../../templates/save.js");

/// The frame of a page, as `templates/frame.html` has it.
pub struct Frame {
    pub policy: String,
    pub style: Markup,
    pub script: Markup,
    pub data: Markup,
    /// What is said of the data.
    pub said: String,
    pub title: String,
    /// The command that repeats it; empty where there is none.
    pub command: String,
    /// The version of the tool.
    pub tool: String,
}

/// What one page adds to what all have.
pub struct Own<'a> {
    pub title: String,
    pub command: String,
    pub tool: &'a str,
    pub style: &'a str,
    pub script: &'a str,
}

impl Frame {
    /// A page that holds data as [`guard::data`] writes it, of which `said` tells the reader.
    pub fn new(own: Own<'_>, data: String, said: &str) -> Self {
        let (style, script) = ([STYLE, own.style].concat(), [own.script, SAVE].concat());
        Frame {
            policy: guard::policy(&script, &style),
            style: Markup(style),
            script: Markup(script),
            data: Markup(data),
            said: said.to_owned(),
            title: own.title,
            command: own.command,
            tool: clean(own.tool),
        }
    }
}

/// A command as it is typed into a shell.
pub fn shell(words: &[String]) -> String {
    let words = || words.iter().map(String::as_str);
    clean(&shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" ")))
}
