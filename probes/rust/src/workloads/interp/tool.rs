//! What a server and the tool say to each other (`probes/PROTOCOL.md`, "A server").

use std::{
    io::{self, BufRead, Write},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use serde_json::{Value, json};

use crate::sdk::{CPU, PROTOCOL, Run, Timing, WALL, now_ns};

/// Says that a server listens on `port` of 127.0.0.1, and waits until the tool stops it. `answered`
/// counts right responses, and begins anew with the timed part.
pub fn served(run: &Run, port: u16, server: &str, answered: &AtomicU64) -> io::Result<Timing> {
    say(&json!({"type": "serving", "id": run.id, "port": port, "server": server}))?;
    let mut line = Vec::new();
    let (mut wall, mut cpu) = (now_ns(WALL), now_ns(CPU));
    while io::stdin().lock().read_until(b'\n', &mut line)? > 0 {
        let request: Value = serde_json::from_slice(&std::mem::take(&mut line)).unwrap_or_default();
        match request["type"].as_str() {
            Some("begin") => {
                answered.store(0, Relaxed);
                (wall, cpu) = (now_ns(WALL), now_ns(CPU));
                say(&json!({"type": "began", "id": run.id}))?;
            }
            Some("stop") => {
                let cpu_ns = now_ns(CPU) - cpu;
                let wall_ns = now_ns(WALL) - wall;
                return Ok(Timing { wall_ns, cpu_ns, answer: answered.load(Relaxed), ..Timing::default() });
            }
            _ => {
                let why = "a server is running: say begin or stop";
                say(&json!({"type": "error", "message": why, "protocol": PROTOCOL}))?;
            }
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

fn say(reply: &Value) -> io::Result<()> {
    writeln!(io::stdout(), "{reply}")
}
