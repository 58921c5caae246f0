//! Probes on this machine: the toolchains found here make commands that speak the protocol from the
//! sources that the binary carries.
//!
//! | module | holds |
//! |---|---|
//! | [`embedded`] | the sources that the binary carries |
//! | [`languages`] | one module per language: which toolchain, and how a probe is made with it |
//! | [`toolchain`] | a toolchain: where it is and what it calls itself |
//! | [`recipe`] | the steps of a build, and the command that comes out |
//! | [`shim`] | the library that counts allocations, built in the same way |
//! | [`build`] | follows a recipe, once: what is built is kept in the [`cache`] |
//! | [`content`] | whether what is kept is still what was built |

pub mod build;
pub mod cache;
pub mod content;
pub mod embedded;
pub mod languages;
pub mod recipe;
pub mod shim;
pub mod toolchain;
