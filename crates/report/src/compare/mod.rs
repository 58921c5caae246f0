//! Writes a comparison as text, Markdown, JSON and JUnit XML.

mod counts;
mod junit;
mod markdown;
mod overview;
mod text;
mod words;

use taskscale_model::{compare::Comparison, plain::clean_json};

pub use junit::junit as compare_junit;
pub use markdown::markdown as compare_markdown;
pub use overview::overview as compare_overview;
pub use text::text as compare_text;

/// Writes `taskscale.compare/1` as indented JSON, with a newline at its end. O(rows).
pub fn compare_json(comparison: &Comparison) -> String {
    // The data is plain, and its maps have no keys other than strings.
    serde_json::to_string_pretty(comparison)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| clean_json(&text) + "\n")
}
