//! The suite `guide`: the programs of Taskflow's performance guide, from source to samples.
//!
//! | module | does |
//! |---|---|
//! | [`programs`] | which programs there are, and for which claims |
//! | [`libraries`] | the libraries beside Taskflow, and how their programs are made |
//! | [`build`] | compiles them, several at once, as probes are |
//! | [`sitting`] | starts one of them and keeps what it prints |
//! | [`schedule`] | how long each may take, and which are started again |

pub mod build;
pub mod libraries;
pub mod programs;
pub mod schedule;
pub mod sitting;

/// The name of the suite.
pub const NAME: &str = "guide";
/// The library that the guide is of.
pub const TASKFLOW: &str = "taskflow";
/// What it asks, for lists.
pub const TITLE: &str = "Taskflow's performance guide, claim by claim";
