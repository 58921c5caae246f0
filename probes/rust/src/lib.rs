//! The Rust probe.
