//! How far off sampling is. Every pattern is observed twice by a clock that is set, once with all
//! tasks timed and once sampled, and the two digests are compared. No time is measured, so the
//! table is the same on every machine.
//! `cargo run --release -p taskscale-experiments --bin sampling`

#![allow(clippy::print_stdout, reason = "this experiment prints a table")]

mod patterns;
mod play;

use patterns::patterns;
use play::play;
use taskscale_model::digest::Digest;

fn main() {
    println!("{:<46} rim      timed unknown   work dispatch others  diagnosis", "pattern");
    let mut worst = [0.0f64; 3];
    let mut wrong = 0;
    for pattern in patterns() {
        for rim in pattern.rims {
            let (exact, sampled) = (play(&pattern, *rim, true), play(&pattern, *rim, false));
            assert_eq!(exact.tasks, sampled.tasks, "{}: the number of tasks is exact", pattern.name);
            let errors = errors(&exact, &sampled);
            let names = [&exact, &sampled].map(|digest| digest.patterns[0].name);
            let diagnosis = if names[0] == names[1] {
                names[0].to_string()
            } else {
                format!("{} for {}", names[1], names[0])
            };
            println!(
                "{:<46} {:<7} {:>5.1}% {:>6.1}% {:>+5.1}% {:>+7.1}% {:>5.1}%  {diagnosis}",
                pattern.name,
                rim.name(),
                timed(&sampled) * 100.0,
                sampled.unknown * 100.0,
                errors[0] * 100.0,
                errors[1] * 100.0,
                errors[2] * 100.0,
            );
            wrong += u32::from(names[0] != names[1]);
            worst = std::array::from_fn(|at| worst[at].max(errors[at].abs()));
        }
    }
    let [work, dispatch, others] = worst.map(|error| error * 100.0);
    println!("worst: work {work:.1}%, dispatch {dispatch:.1}%, others {others:.1}%; {wrong} other diagnoses");
}

/// The errors of work and dispatch, as shares of *workers x window*, and the largest error of the
/// other terms.
fn errors(exact: &Digest, sampled: &Digest) -> [f64; 3] {
    let mut off = exact
        .losses
        .terms()
        .into_iter()
        .zip(sampled.losses.terms())
        .map(|(exact, sampled)| sampled.1 - exact.1);
    let (work, dispatch) = (off.next().unwrap_or(0.0), off.next().unwrap_or(0.0));
    [work, dispatch, off.map(f64::abs).fold(0.0, f64::max)]
}

/// The share of tasks that were timed, which is the cost of observing.
fn timed(sampled: &Digest) -> f64 {
    let note = sampled.notes.iter().find(|note| note.starts_with("timed 1 of "));
    let untimed = note.and_then(|note| note.split(": ").nth(1)?.split(' ').next()?.parse::<u64>().ok());
    1.0 - untimed.unwrap_or(0) as f64 / sampled.tasks as f64
}
