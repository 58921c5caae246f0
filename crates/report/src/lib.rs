//! From the raw samples of a run file to what a person or a program reads. Everything here is pure: no clock, no
//! disk, no environment, nothing printed; records go in, text comes out.
//!
//! ```text
//! run file --read--> Run --summarize--> Summary --text, markdown, json--> String
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`read`] | reads `taskscale.run/1`, forgiving what a kill may leave behind and nothing else |
//! | [`summarize`](mod@summarize) | derives every figure: percentiles, intervals, ratios, growth, control |
//! | [`compare`](mod@compare) | two runs, row by row, and these as text, Markdown, JSON, JUnit XML |
//! | [`doctor`] | from facts of a machine to findings, and these as text, Markdown, JSON |
//! | [`digest_text`](mod@digest_text) | a digest in at most 2,048 bytes |
//! | [`digest_page`] | a digest as JSON, Markdown, HTML |
//! | `digest_words` | words and numbers of a digest, made safe to show |
//! | `figure` | writes numbers as precisely as their interval allows |
//! | `counts` | counts per task: what `text` and `markdown` have in common |
//! | `layout` | arranges a summary as tables: what `text` and `markdown` have in common |
//! | `granularity` | how small a task may be, arranged the same way |
//! | [`text`](mod@text) | tables for a terminal |
//! | [`markdown`](mod@markdown) | tables for a pull request |
//! | [`json`](mod@json) | `taskscale.summary/1` |

pub mod compare;
mod counts;
pub mod digest_page;
pub mod digest_text;
mod digest_words;
pub mod doctor;
mod figure;
mod granularity;
pub mod json;
mod layout;
pub mod markdown;
pub mod read;
pub mod style;
pub mod summarize;
mod table;
pub mod text;

pub use compare::{
    CompareBy, CompareOptions, compare, compare_json, compare_junit, compare_markdown, compare_sides,
    compare_text,
};
pub use digest_page::{digest_html, digest_json, digest_markdown};
pub use digest_text::digest_text;
pub use doctor::{checkup, doctor_json, doctor_markdown, doctor_text};
pub use json::json;
pub use markdown::markdown;
pub use read::{ReadError, Run, parse_run};
pub use style::Style;
pub use summarize::{among, summarize};
pub use text::text;
