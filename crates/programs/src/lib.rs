//! Parallel programs, executed by a simulator from scheduling first principles.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod draw;
pub mod engine;
pub mod execution;
pub mod graph;
pub mod kinds;
pub mod machine;
pub mod program;
pub mod view;

pub use execution::{Executed, Execution, Stuck};
pub use kinds::Kind;
pub use program::Program;
pub use view::{Clock, EventOrder, Observation, Observed, View, observe};
