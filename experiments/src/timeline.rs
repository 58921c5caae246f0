//! A made-up timeline in the form of Taskflow's Chrome trace, written as a stream.

use std::io::{self, Write};

/// What the events look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As Taskflow writes them: worker by worker, integer microseconds, no args.
    Flat,
    /// With an object of args that holds a list and another object.
    Args,
    /// Flat events, of which every fourth holds the next three.
    Nested,
}

impl Form {
    /// The form of this name.
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

/// Writes `events` events and gives the sum of their durations in microseconds.
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
                // The first of four lasts as long as three of the longest.
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
