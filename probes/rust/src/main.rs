//! `taskscale-probe-rust RUNTIME`: the Rust probe on standard input and output.

use std::process::ExitCode;

fn main() -> ExitCode {
    taskscale_probe_rust::main(&std::env::args().nth(1).unwrap_or_default())
}
