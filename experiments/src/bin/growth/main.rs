//! What a grade of growth is worth, on synthetic curves of known growth with the noise of real runs
//! (`residuals.txt`, and of a loaded machine `residuals-loaded.txt`).
//!
//! `cargo run --release -p taskscale-experiments --bin growth [-- CURVES_PER_CLASS SEED [loaded]]`
//! prints the confusion matrix of docs/evidence/growth.md, recall and precision of "superlinear or
//! worse", and the error of the bend. With `loaded` the noise is that of a loaded machine. The
//! rules were made on seeds below 1,000,000 and on the noise of a machine at rest. Curve k of a
//! class is drawn from seed SEED + k. 50 curves take about two seconds.
#![allow(clippy::print_stdout, reason = "an experiment prints its figures")]

mod curves;
mod noise;

use curves::{Class, Synthetic};
use fastrand::Rng;
use noise::Noise;
use taskscale_stats::{
    growth::{self, Clock, Grade, Growth, Reason, SizeCost},
    quantile::{quantile, sorted},
};

const GRADES: [&str; 5] = ["linear", "soft growth", "superlinear", "quadratic or worse", "cannot tell"];

fn column(grade: Grade) -> usize {
    match grade {
        Grade::Linear => 0,
        Grade::SoftGrowth => 1,
        Grade::Superlinear => 2,
        Grade::QuadraticOrWorse => 3,
        Grade::CannotTell(_) => 4,
    }
}

/// Why a curve has no grade, in the order of [`REASONS`].
const REASONS: [&str; 4] = ["steep at the end", "two kinds", "too noisy", "other"];

fn reason(grade: Grade) -> Option<usize> {
    match grade {
        Grade::CannotTell(Reason::SteepAtTheEnd { .. }) => Some(0),
        Grade::CannotTell(Reason::TwoKinds { .. }) => Some(1),
        Grade::CannotTell(Reason::TooNoisy { .. }) => Some(2),
        Grade::CannotTell(_) => Some(3),
        _ => None,
    }
}

fn judge(series: &Synthetic, rng: &mut Rng) -> Growth {
    let costs: Vec<SizeCost<'_>> =
        series.rounds.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    growth::judge(&costs, Clock::Cpu, None, rng)
}

fn main() {
    let (words, numbers): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "loaded");
    let mut numbers = numbers.iter().map(|word| word.parse::<u64>().expect("a number, or `loaded`"));
    let curves = numbers.next().unwrap_or(50);
    let seed = numbers.next().unwrap_or(0);
    let noise = Noise::measured(!words.is_empty());
    let mut matrix = [[0_u64; 5]; Class::ALL.len()];
    // Of each runtime: quadratic curves, those that are found, and false alarms.
    let mut of_family = vec![[0_u64; 3]; noise.families().len()];
    let mut unsaid = [0_u64; REASONS.len()];
    let mut bends: Vec<(f64, bool)> = Vec::new();
    let mut without_bend = 0;
    for (line, class) in Class::ALL.into_iter().enumerate() {
        for k in 0..curves {
            // Each class draws from a stream of its own, so a change to one leaves the others
            // unchanged.
            let mut rng = Rng::with_seed((seed + k) * 64 + line as u64);
            let series = curves::draw(class, &noise, &mut rng);
            let found = judge(&series, &mut rng);
            matrix[line][column(found.grade)] += 1;
            let superlinear = found.grade.is_superlinear();
            let counts = &mut of_family[series.family];
            match class {
                Class::Quadratic => {
                    counts[0] += 1;
                    counts[1] += u64::from(superlinear);
                    reason(found.grade).into_iter().for_each(|why| unsaid[why] += 1);
                }
                Class::LateQuadratic => {}
                _ => counts[2] += u64::from(superlinear),
            }
            if let (true, Some(truth)) = (superlinear, series.bend) {
                match found.bend {
                    Some(bend) => bends.push((
                        (bend.size / truth).log2(),
                        bend.interval.0 <= truth && truth <= bend.interval.1,
                    )),
                    None => without_bend += 1,
                }
            }
        }
    }
    println!("{:32}{}", "", GRADES.map(|grade| format!("{grade:>20}")).concat());
    for (class, counts) in Class::ALL.into_iter().zip(&matrix) {
        println!("{:32}{}", class.name(), counts.map(|count| format!("{count:>20}")).concat());
    }
    let flagged = |class: Class| {
        let counts = &matrix[Class::ALL.iter().position(|&other| other == class).expect("one of all")];
        counts[2] + counts[3]
    };
    let right = flagged(Class::Quadratic);
    let wrong: u64 = Class::ALL
        .into_iter()
        .filter(|class| !matches!(class, Class::Quadratic | Class::LateQuadratic))
        .map(flagged)
        .sum();
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    println!("\nsuperlinear or worse, bends with three octaves behind them and all that do not bend:");
    println!("recall {:.1} % ({right} of {curves})", percent(right, curves));
    println!("precision {:.1} % ({wrong} false alarms)", percent(right, right + wrong));
    println!("late bends: {} of {curves} called superlinear, which they are", flagged(Class::LateQuadratic));
    let reasons: Vec<String> =
        REASONS.iter().zip(unsaid).map(|(name, count)| format!("{name} {count}")).collect();
    println!("of the {curves}, cannot tell: {}", reasons.join(", "));
    for (name, [all, found, alarms]) in noise.families().iter().zip(&of_family) {
        println!("with the noise of {name}: {found} of {all} found, {alarms} false alarms");
    }
    let errors = sorted(&bends.iter().map(|bend| bend.0.abs()).collect::<Vec<f64>>());
    let at = |p| quantile(&errors, p).unwrap_or(f64::NAN);
    let covered = bends.iter().filter(|bend| bend.1).count() as u64;
    println!(
        "bend: {} located ({without_bend} superlinear curves without), off by {:.2} octaves (median), {:.2} (nine of ten); \
         its interval holds the truth in {:.0} %",
        bends.len(),
        at(0.5),
        at(0.9),
        percent(covered, bends.len() as u64)
    );
}
