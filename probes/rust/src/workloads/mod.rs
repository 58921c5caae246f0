//! The workloads, and what their instrumented runs share.

pub mod blocking;
pub mod bytes;
pub mod cancel;
pub mod context;
pub mod count;
pub mod drain;
pub mod fanout;
pub mod graph;
pub mod idle;
pub mod interp;
pub mod latch;
pub mod nop;
pub mod parked;
pub mod pingpong;
pub mod remote;
pub mod scale;
pub mod spin;
