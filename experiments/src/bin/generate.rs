//! Writes a made-up Taskflow trace to standard output:
//! `cargo run --release -p taskscale-experiments --bin generate -- EVENTS [flat|args|nested] [SEED]`.
//!
//! 5,000,000 flat events are about 452 MB. The same seed gives the same bytes.

use std::io::{BufWriter, Error, Write, stdout};

use taskscale_experiments::timeline::{self, Form};

fn main() -> std::io::Result<()> {
    let usage = || Error::other("usage: generate EVENTS [flat|args|nested] [SEED]");
    let mut words = std::env::args().skip(1);
    let events = words.next().and_then(|word| word.parse().ok()).ok_or_else(usage)?;
    let shape = words.next().map_or(Some(Form::Flat), |word| Form::of(&word)).ok_or_else(usage)?;
    let seed = words.next().map_or(Some(1), |word| word.parse().ok()).ok_or_else(usage)?;
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    timeline::write(&mut out, events, shape, seed)?;
    out.flush()
}
