//! Loads an HTTP server on this machine and measures what it does.
//!
//! | loop | sends | measures |
//! |---|---|---|
//! | [`Client::closed`] | the next request of a connection when its last one is answered | throughput |
//! | [`Client::open`] | at a fixed rate, whatever the server does | latency |
//!
//! A closed loop waits where the server stalls, and so asks nothing while the answer would be slow:
//! what it sees as latency is connections / throughput. An open loop counts from the moment at
//! which a request was to start, so a stall is in the latency of all requests that it delays.
//!
//! The client runs on the caller's thread, without threads and without async: a generator that is
//! cheap leaves the machine to the server. It waits in `ppoll`, whose timeout is in nanoseconds;
//! timers of async runtimes have steps of 1 ms, which is more than most latencies. Memory is
//! bounded whatever the server sends.

mod client;
mod connection;
mod problem;
mod ready;
mod tally;

pub use client::Client;
pub use connection::{MOST_BYTES, Wanted};
pub use problem::Problem;
pub use tally::{Buckets, Tally};
