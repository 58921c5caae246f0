//! What several tests of this crate share.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod digests;
pub mod html;
pub mod shown;
