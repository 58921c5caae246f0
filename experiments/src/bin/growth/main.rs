//! What a grade of growth is worth, on synthetic curves of known growth with the noise of real runs
//! (`residuals.txt`, and of a loaded machine `residuals-loaded.txt`).
//!
//! `cargo run --release -p taskscale-experiments --bin growth [-- CURVES_PER_CLASS SEED [loaded]]`
//! prints the confusion matrix of docs/evidence/growth.md, recall and precision of "superlinear or
//! worse", and the error of the bend: of the curves as they are, and once more where each `cannot
//! tell` is measured further, once and up to three times. With `loaded` the noise is that of a
//! loaded machine. The rules were made on seeds below 1,000,000. Curve k of a class is drawn from
//! seed SEED + k. 50 curves take about six seconds.
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
        series.sizes.iter().map(|size| SizeCost { size: size.size, totals: &size.totals }).collect();
    growth::judge(&costs, Clock::Cpu, None, rng)
}

/// Processes of a further size, as a graded run has them.
const PROCESSES: usize = 8;

/// What the tool does by itself where time is left, and else tells the user to do: sizes that show
/// whether growth lasts; where none would, as many processes as make the interval narrow enough.
fn longer(series: &mut Synthetic, found: &Growth, reason: Reason, noise: &Noise, rng: &mut Rng) {
    let most = series.sizes.iter().map(|size| size.size).max().unwrap_or(1);
    let mut further = found.further(most);
    further.retain(|size| series.sizes.iter().all(|known| known.size != *size));
    further.iter().for_each(|size| series.measure(*size, PROCESSES, noise, rng));
    if let Reason::TooNoisy { width } = reason {
        let times = (width / growth::MAX_WIDTH).powi(2) - 1.0;
        let more = |known: &curves::Size| (known.size, (times * known.totals.len() as f64).ceil() as usize);
        let known: Vec<(u64, usize)> = series.sizes.iter().map(more).collect();
        known.into_iter().for_each(|(size, more)| series.measure(size, more, noise, rng));
    }
}

/// How often a curve that cannot be told is measured further. The tool adds sizes three times.
const LONGER: [usize; 3] = [0, 1, 3];

/// What became of the curves of all classes.
struct Tally {
    matrix: [[u64; 5]; Class::ALL.len()],
    /// Of each runtime: quadratic curves, those that are found, and false alarms.
    of_family: Vec<[u64; 3]>,
    unsaid: [u64; REASONS.len()],
    /// By how many octaves a bend is off, and whether its interval holds the truth.
    bends: Vec<(f64, bool)>,
    without_bend: u64,
}

/// Draws and judges `curves` of each class from `seed` on. Those that cannot be told are measured
/// further up to so many `times`.
fn tally(noise: &Noise, curves: u64, seed: u64, times: usize) -> Tally {
    let mut tally = Tally {
        matrix: [[0; 5]; Class::ALL.len()],
        of_family: vec![[0; 3]; noise.families().len()],
        unsaid: [0; REASONS.len()],
        bends: Vec::new(),
        without_bend: 0,
    };
    for (line, class) in Class::ALL.into_iter().enumerate() {
        for k in 0..curves {
            // Each class draws from a stream of its own, so a change to one leaves the others
            // unchanged.
            let mut rng = Rng::with_seed((seed + k) * 64 + line as u64);
            let mut series = curves::draw(class, noise, &mut rng);
            let mut found = judge(&series, &mut rng);
            for _ in 0..times {
                let Grade::CannotTell(reason) = found.grade else { break };
                longer(&mut series, &found, reason, noise, &mut rng);
                found = judge(&series, &mut rng);
            }
            tally.add(line, class, &series, &found);
        }
    }
    tally
}

impl Tally {
    fn add(&mut self, line: usize, class: Class, series: &Synthetic, found: &Growth) {
        self.matrix[line][column(found.grade)] += 1;
        let superlinear = found.grade.is_superlinear();
        let counts = &mut self.of_family[series.family];
        match class {
            Class::Quadratic => {
                counts[0] += 1;
                counts[1] += u64::from(superlinear);
                reason(found.grade).into_iter().for_each(|why| self.unsaid[why] += 1);
            }
            Class::LateQuadratic => {}
            _ => counts[2] += u64::from(superlinear),
        }
        if let (true, Some(truth)) = (superlinear, series.bend) {
            match found.bend {
                Some(bend) => self
                    .bends
                    .push(((bend.size / truth).log2(), bend.interval.0 <= truth && truth <= bend.interval.1)),
                None => self.without_bend += 1,
            }
        }
    }

    fn print(&self, noise: &Noise) {
        println!("{:32}{}", "", GRADES.map(|grade| format!("{grade:>20}")).concat());
        for (class, counts) in Class::ALL.into_iter().zip(&self.matrix) {
            println!("{:32}{}", class.name(), counts.map(|count| format!("{count:>20}")).concat());
        }
        let place = |class: Class| Class::ALL.iter().position(|&other| other == class).expect("one of all");
        let flagged = |class: Class| {
            let counts = &self.matrix[place(class)];
            counts[2] + counts[3]
        };
        let curves: u64 = self.matrix[place(Class::Quadratic)].iter().sum();
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
        println!(
            "late bends: {} of {curves} called superlinear, which they are",
            flagged(Class::LateQuadratic)
        );
        let reasons: Vec<String> =
            REASONS.iter().zip(self.unsaid).map(|(name, count)| format!("{name} {count}")).collect();
        println!("of the {curves}, cannot tell: {}", reasons.join(", "));
        for (name, [all, found, alarms]) in noise.families().iter().zip(&self.of_family) {
            println!("with the noise of {name}: {found} of {all} found, {alarms} false alarms");
        }
        let errors = sorted(&self.bends.iter().map(|bend| bend.0.abs()).collect::<Vec<f64>>());
        let at = |p| quantile(&errors, p).unwrap_or(f64::NAN);
        let covered = self.bends.iter().filter(|bend| bend.1).count() as u64;
        println!(
            "bend: {} located ({} superlinear curves without), off by {:.2} octaves (median), {:.2} (nine of ten); \
             its interval holds the truth in {:.0} %",
            self.bends.len(),
            self.without_bend,
            at(0.5),
            at(0.9),
            percent(covered, self.bends.len() as u64)
        );
    }
}

fn main() {
    let (words, numbers): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "loaded");
    let mut numbers = numbers.iter().map(|word| word.parse::<u64>().expect("a number, or `loaded`"));
    let curves = numbers.next().unwrap_or(50);
    let seed = numbers.next().unwrap_or(0);
    let noise = Noise::measured(!words.is_empty());
    for times in LONGER {
        match times {
            0 => println!("as measured:"),
            1 => println!("\nwhere that cannot be told, measured further as the tool says:"),
            _ => println!("\nthe same, up to {times} times:"),
        }
        tally(&noise, curves, seed, times).print(&noise);
    }
}
