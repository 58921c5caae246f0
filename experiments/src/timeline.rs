//! Writes a made-up timeline in the form of Taskflow's Chrome trace, as a stream.

use std::io::{self, Write};

/// The form of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As Taskflow writes them: worker by worker, integer microseconds, no args.
    Flat,
    /// Events with an object of args that holds a list and another object.
    Args,
    /// Flat events, every fourth of which holds the next three.
    Nested,
}

impl Form {
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "flat" => Form::Flat,
            "args" => Form::Args,
            "nested" => Form::Nested,
            _ => return None,
        })
    }
}

const WORKERS: u64 = 8;

/// Writes `events` events. Returns the sum of their durations in microseconds.
pub fn write(out: &mut impl Write, events: u64, form: Form, seed: u64) -> io::Result<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut total = 0;
    let mut written = 0;
    write!(out, "[")?;
    for worker in 0..WORKERS {
        let share = events / WORKERS + u64::from(worker < events % WORKERS);
        let mut now = random.u64(0..50);
        for index in 0..share {
            let dur = random.u64(1..85);
            let (ts, dur) = match (form, index % 4) {
                // The first of four lasts longer than the next two and their gaps can take.
                (Form::Nested, 0) => (now, 300),
                (Form::Nested, 3) => {
                    let start = now;
                    now += 140;
                    (start, dur)
                }
                _ => {
                    let start = now;
                    now += dur + random.u64(0..10);
                    (start, dur)
                }
            };
            total += dur;
            let comma = if written == 0 { "" } else { ",\n" };
            written += 1;
            write!(
                out,
                "{comma}{{\"cat\":\"ChromeObserver\",\"name\":\"{worker}_{index}\",\"ph\":\"X\",\"pid\":1,\"tid\":{worker},\"ts\":{ts},\"dur\":{dur}"
            )?;
            if form == Form::Args {
                let (a, b) = (random.u32(..), random.u8(..));
                write!(
                    out,
                    ",\"args\":{{\"id\":{a},\"path\":[\"src/solve.cpp\",{b}],\"in\":{{\"rows\":{b},\"kind\":\"dense\"}}}}"
                )?;
            }
            write!(out, "}}")?;
        }
    }
    writeln!(out, "]")?;
    Ok(total)
}
