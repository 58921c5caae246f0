//! Checks of the repository itself, for tests only.
//!
//! Each check is a function from files to problems, so that it can be shown a repository with a mistake in it: every
//! module tests its checks that way. `tests/house.rs` shows them this repository.
//!
//! | module | holds the repository to |
//! |---|---|
//! | [`arrows`] | the layers: who may depend on whom |
//! | [`doors`] | where `unsafe`, printing, exiting, clocks, disk and environment may be used |
//! | [`documents`] | links, file names in documents, the commands of the README |
//! | [`layout`] | the shape of probes and suites, the length of files, what no file may name |
//! | [`sdk`] | the length and the shape of the SDKs of probes |
//! | [`repository`] | (its files, as the checks see them) |
//! | [`rust_code`] | (Rust without comments, texts and test modules) |
//!
//! [`simulate`] is of another kind: a simulator of workers and tasks with a known cause of loss, which `examples/diagnose.rs`
//! validates the diagnosis against.

pub mod arrows;
pub mod documents;
pub mod doors;
pub mod layout;
pub mod repository;
pub mod rust_code;
pub mod sdk;
pub mod simulate;
