//! Checks of the repository itself, for tests only.
//!
//! Each check is a function from files to problems, so that a test can show it a repository with a
//! mistake in it. Every module tests its checks that way. `tests/house.rs` shows them this
//! repository.
//!
//! | module | holds the repository to |
//! |---|---|
//! | [`arrows`] | the layers: who may depend on whom |
//! | [`doors`] | lints that hold `unsafe`, clocks, disk and environment to their rooms, in force everywhere |
//! | [`documents`] | links, file names in documents, the commands of the README, the list of experiments |
//! | [`layout`] | the shape of probes, suites and modules, the length of files, what no file may name |
//! | [`sdk`] | the length and the shape of the SDKs of probes |
//! | [`repository`] | (its files, as the checks see them) |
//!
//! [`generated`], [`hostile`] and [`made`] are no checks of this kind: the first holds files that
//! code generates to it, the second makes input that hurts, which a test and an experiment feed to
//! the tool, and the third makes values of a schema, with such text in them.

pub mod arrows;
pub mod documents;
pub mod doors;
pub mod generated;
pub mod hostile;
pub mod layout;
pub mod made;
pub mod repository;
pub mod sdk;
