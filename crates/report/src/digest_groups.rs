//! Digests of groups, the worst first, and of the whole.

use std::fmt::Write;

use taskscale_model::{
    digest::{Group, Groups},
    plain::{clean, clean_json},
};

use crate::{digest_markdown, digest_text};

/// What a group is called: `host a, 3 sources`.
fn title(by: &str, group: &Group) -> String {
    let name = if group.name.is_empty() { "not told".to_owned() } else { clean(&group.name) };
    let sources = if group.sources == 1 { "" } else { "s" };
    format!("{by} {name}: {} source{sources}", group.sources)
}

/// One digest below the other, each at most as long as one alone.
pub fn digests_text(groups: &Groups) -> String {
    let mut text = String::new();
    for group in &groups.groups {
        write!(text, "== {}\n{}\n", title(&groups.by, group), digest_text(&group.digest)).ok();
    }
    write!(text, "== the whole\n{}", digest_text(&groups.whole)).ok();
    text
}

/// The same as Markdown.
pub fn digests_markdown(groups: &Groups) -> String {
    let mut text = String::new();
    for group in &groups.groups {
        let title = crate::markdown::escape(&title(&groups.by, group));
        write!(text, "# {title}\n\n{}\n", digest_markdown(&group.digest)).ok();
    }
    write!(text, "# The whole\n\n{}", digest_markdown(&groups.whole)).ok();
    text
}

/// One object of `taskscale.digests/1`.
pub fn digests_json(groups: &Groups) -> String {
    // Writing to a string cannot fail, and a digest has no maps.
    serde_json::to_string_pretty(groups)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| clean_json(&text) + "\n")
}
