//! Parallel programs, executed by a simulator from scheduling first principles.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod change;
pub mod draw;
pub mod engine;
pub mod execution;
pub mod graph;
pub mod judge;
pub mod kinds;
pub mod machine;
pub mod program;
pub mod view;

pub use change::Change;
pub use execution::{Executed, Execution, Stuck};
pub use judge::{Gain, Shown, Truth, judge, judge_execution, speedup};
pub use kinds::Kind;
pub use program::Program;
pub use view::{Clock, EventOrder, Observation, Observed, View, observe};
