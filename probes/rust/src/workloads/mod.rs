//! The workloads, and what the instrumented runs of all of them count with.

pub mod count;
pub mod drain;
pub mod fanout;
pub mod graph;
pub mod latch;
pub mod nop;
pub mod spin;
