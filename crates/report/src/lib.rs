//! Turns typed figures, verdicts and findings into what a person or a program reads. Everything
//! here is pure: no clock, no disk, no environment, nothing printed; data goes in, text comes out.
//!
//! ```text
//! Summary --overview, text, markdown, json, csv, page, strip_svg--> String
//! Comparison --compare_overview, compare_text, compare_markdown, compare_json, compare_junit--> String
//! Checkup --doctor_overview, doctor_text, doctor_markdown, doctor_json--> String
//! Verdicts --guide_overview, guide_text, guide_markdown, guide_json--> String
//! Digest --digest_text, digest_markdown, digest_json, digest_html--> String
//! ```
//!
//! | module | does |
//! |---|---|
//! | [`compare`](mod@compare) | two runs, row by row, as text, Markdown, JSON, JUnit XML |
//! | [`doctor`] | findings about a machine as text, Markdown, JSON |
//! | [`digest_text`](mod@digest_text) | a digest in at most 2,048 bytes |
//! | [`digest_markdown`](mod@digest_markdown) | a digest as Markdown and JSON |
//! | [`digest_groups`](mod@digest_groups) | digests of groups of sources, and of the whole |
//! | `digest_facts` | what is said of a digest, in sentences that its text and its page share |
//! | `digest_words` | words and numbers of a digest, made safe to show |
//! | `counts` | counts per task: what `text` and `markdown` have in common |
//! | `layout` | arranges a summary as tables: what `text` and `markdown` have in common |
//! | `granularity` | how small a task may be, arranged the same way |
//! | `growth` | growth in words |
//! | `graded` | the growth of each series, a line each, where a run was asked to grade it |
//! | [`guide`] | verdicts on the claims of Taskflow's guide |
//! | [`overview`](mod@overview) | the answer of a run on one screen |
//! | `legend` | what marks mean, which times drifted, what is not ranked |
//! | `strip` | figures with their intervals on a logarithmic axis |
//! | `reasons` | rows without figures, grouped by what they lack them for |
//! | `units` | what a figure is of: tasks, or units of n |
//! | `wrap` | breaks text into lines |
//! | [`text`](mod@text) | tables for a terminal |
//! | [`markdown`](mod@markdown) | tables for a pull request |
//! | [`json`](mod@json) | `taskscale.summary/1` |
//! | [`csv`](mod@csv) | the rows of a summary for spreadsheets |
//! | [`page`](mod@page) | a run and a digest, each as one HTML page; a run's first ranking as one SVG |

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod across;
mod asked;
pub mod compare;
mod counts;
pub mod csv;
mod digest_facts;
pub mod digest_groups;
pub mod digest_markdown;
pub mod digest_text;
mod digest_words;
pub mod doctor;
mod drawn;
mod folded;
mod graded;
mod granularity;
mod growth;
pub mod guide;
pub mod json;
mod latencies;
mod layout;
mod legend;
pub mod markdown;
pub mod overview;
pub mod page;
mod rates;
mod reaches;
mod reasons;
mod residents;
mod scales;
mod shares;
mod splits;
mod streams;
mod strip;
pub mod style;
mod table;
pub mod text;
mod toolchain;
mod units;
mod waits;
mod wrap;

pub use compare::{compare_json, compare_junit, compare_markdown, compare_overview, compare_text};
pub use csv::csv;
pub use digest_groups::{digests_json, digests_markdown, digests_text};
pub use digest_markdown::{digest_json, digest_markdown};
pub use digest_text::digest_text;
pub use doctor::{doctor_json, doctor_markdown, doctor_overview, doctor_text};
pub use guide::{guide_json, guide_markdown, guide_overview, guide_text};
pub use json::json;
pub use markdown::markdown;
pub use overview::overview;
pub use page::{digest_html, page, strip_svg};
pub use style::{Style, bounded};
pub use text::text;
pub use wrap::lines;
