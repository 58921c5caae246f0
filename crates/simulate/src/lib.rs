//! A simulator of workers that execute tasks, with one cause of loss, two or none planted in it at
//! random strength.
//!
//! It is for tests and experiments only: no crate of the tool depends on it.
//! `experiments/src/bin/diagnose.rs` validates the diagnosis against it.
//!
//! A [`Case`] says what the program does (phases of tasks, serial stages, pauses) and what the
//! runtime does (workers, dispatch cost, how tasks are handed out). [`run`] executes it by discrete
//! events and sends spans; [`observe`] also sends run delay, as a live observer does.
//! [`Case::without`] is the same case with one cause removed. The two times tell what a fix would
//! truly win.
//!
//! | module | does |
//! |---|---|
//! | [`ambiguous`] | cases by hand that can be read in more than one way |
//! | [`case`] | cases, drawn from seeds; causes, and cases without them |
//! | [`preemption`] | losing the CPU at random moments |
//! | [`schedule`] | list scheduling, static division, chains; spans out |
//! | [`trial`](mod@trial) | one seed: the truth, the digest's word, right or wrong |

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ambiguous;
pub mod case;
pub mod preemption;
pub mod schedule;
pub mod trial;

pub use case::{Case, Cause};
pub use preemption::Preemption;
pub use schedule::{observe, run};
pub use trial::{Trial, trial};
