//! Prints what each kind of program suffers from: `verdicts [SEEDS [KIND]]`.
#![allow(clippy::print_stdout)]

use std::{collections::BTreeMap, time::Instant};

use taskscale_programs::{Kind, Program, judge_execution};

fn main() {
    let mut words = std::env::args().skip(1);
    let seeds: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(20);
    let only = words.next();
    let (mut programs, begin) = (0, Instant::now());
    for kind in Kind::ALL.iter().filter(|kind| only.as_ref().is_none_or(|only| kind.name().contains(only))) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let (mut slowest, mut sum, mut spans) = (0.0f64, 0.0, 0);
        for seed in 0..seeds {
            let program = Program::draw(*kind, seed);
            let execution = program.execute();
            let start = Instant::now();
            let truth = judge_execution(&program, &execution);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            slowest = slowest.max(ms);
            sum += ms;
            spans += execution.spans.len();
            programs += 1;
            for name in &truth.acceptable {
                *counts.entry(name.as_str().to_string()).or_default() += 1;
            }
            if only.is_some() {
                let window = execution.window_ns() as f64 / 1e6;
                println!(
                    "  seed {seed}: {} workers, {} spans, {window:.1} ms, {:?}",
                    execution.workers,
                    execution.spans.len(),
                    truth.acceptable
                );
                for gain in &truth.gains {
                    println!("    {:.3} {:?} {:?} {:?}", gain.speedup, gain.class, gain.change, gain.shown);
                }
            }
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let mean = sum / seeds as f64;
        println!(
            "{:28} {mean:6.1} ms (most {slowest:.0}), {} spans: {}",
            kind.name(),
            spans as u64 / seeds,
            counts.join(", ")
        );
    }
    println!("{programs} programs in {:.1} s", begin.elapsed().as_secs_f64());
}
