//! `taskscale.summary/1` as JSON.

use taskscale_model::{plain::clean_json, summary::Summary};

/// Writes the summary as indented JSON, with a newline at its end. O(rows).
pub fn json(summary: &Summary) -> String {
    // Writing to a string cannot fail, and no map of a summary has keys other than strings.
    serde_json::to_string_pretty(summary)
        .map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| clean_json(&text) + "\n")
}
