//! How often does `taskscale run --against` call identical code worse or better, and how often does
//! it find a slow-down of 3 %?
//!
//! ```sh
//! cargo build --release
//! target/release/taskscale run fanout --runtime asyncio --runtime tokio --runtime go --runtime node \
//!     --size 64 --samples 2 -o probes.taskscale.jsonl        # builds the probes and writes down how they are started
//! # 20 runs of a minute at most; then one runtime, A/A alone
//! cargo run --release -p taskscale-experiments --bin against -- probes.taskscale.jsonl
//! cargo run --release -p taskscale-experiments --bin against -- probes.taskscale.jsonl \
//!     --planted 0 --only go --max-time 15
//! ```
//!
//! Each run is one of `--against` by the code that `taskscale run` uses: every runtime against
//! itself. In one runtime, another in each run, the new side does an extra spin that is calibrated
//! to the planted share. All other rows are A/A.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an experiment prints its figures")]

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use clap::Parser;
use taskscale_analysis::{CompareOptions, compare_sides, parse_run};
use taskscale_bench::{
    fault::Fault,
    journal::Journal,
    launcher::ProbeLauncher,
    limits::Limits,
    link::{Launcher, Link, Observed, Silent},
    plan::{Found, Plan, Selection},
    run::run,
};
use taskscale_experiments::runs;
use taskscale_model::{
    compare::{ComparedRow, Verdict},
    params::{ParamValue, Params},
    protocol::{Description, RunRequest},
    run_file::{RuntimeRecord, RuntimeState, Time},
    suite::LimitsAsked,
};
use taskscale_stats::confidence::gate;
use taskscale_stats::quantile;
use taskscale_sys::process::Command;

#[derive(Debug, Parser)]
#[command(about = "False alarms and power of taskscale run --against, on real probes")]
struct Args {
    /// A run file whose runtimes are to be compared with themselves
    probes: PathBuf,
    /// Runs
    #[arg(long, default_value_t = 20)]
    runs: u64,
    /// Time at most for each, in seconds
    #[arg(long, default_value_t = 60.0)]
    max_time: f64,
    /// Only this runtime of the file; repeat for several
    #[arg(long)]
    only: Vec<String>,
    /// The planted slow-down, as a share; 0 plants none
    #[arg(long, default_value_t = 0.03)]
    planted: f64,
    /// Up to this difference rows count as the same
    #[arg(long, default_value_t = 0.01)]
    threshold: f64,
    /// Number of tasks
    #[arg(long, default_value_t = 2048)]
    size: u64,
    /// The variant of `fanout` for each runtime, NAME=VARIANT [default: what a newcomer would
    /// write]
    #[arg(long)]
    variant: Vec<String>,
    /// How long a sample lasts, in milliseconds [default: as in `taskscale run --against`]
    #[arg(long)]
    sample_ms: Option<f64>,
    /// Rounds of one process [default: as in `taskscale run --against`]
    #[arg(long)]
    restart_every: Option<u64>,
    /// Warm-up samples of a process after a row's first, where nothing is compiled [default: as in
    /// `taskscale run --against`]
    #[arg(long)]
    restart_warmup: Option<u64>,
    /// A folder that keeps the run file of each run, N.taskscale.jsonl
    #[arg(long)]
    keep: Option<PathBuf>,
    /// From which all orders, seeds and layouts follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The variant of each runtime that its own documentation shows first.
const USUAL: [(&str, &str); 4] = [
    ("asyncio", "await_each"),
    ("tokio", "current_thread/spawn"),
    ("go", "WaitGroup"),
    ("node", "Promise.all"),
];

/// A path as it was before the run file left the user's home folder out.
fn at_home(word: &str) -> String {
    match (word.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => word.to_owned(),
    }
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("against: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// A runtime that is compared with itself.
struct Side {
    record: RuntimeRecord,
    description: Description,
    variant: String,
    /// Steps of the kernel that make an iteration dearer by the planted share.
    steps: u64,
}

fn measure(args: &Args) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(&args.probes).context("cannot read the run file")?;
    let records = parse_run(&text)?.runtimes;
    let wanted = |record: &&RuntimeRecord| args.only.is_empty() || args.only.contains(&record.id);
    let ready =
        records.iter().filter(wanted).filter(|record| matches!(record.state, RuntimeState::Ready { .. }));
    let commands = ready.clone().flat_map(|record| {
        let words: Vec<String> = record.command.iter().map(|word| at_home(word)).collect();
        let command = Command::new(words[0].clone(), words[1..].to_vec());
        [(record.id.clone(), command.clone()), (old(&record.id), command)]
    });
    let mut launcher = Planting { real: ProbeLauncher::new(commands), planted: None };
    let sides: Vec<Side> =
        ready.map(|record| calibrate(args, record, &mut launcher)).collect::<Result<_, _>>()?;
    ensure!(!sides.is_empty(), "no runtime is ready in that file");
    let mut rows: Vec<(bool, ComparedRow)> = Vec::new();
    for number in 0..args.runs {
        let side = &sides[number as usize % sides.len()];
        launcher.planted = (side.steps > 0).then(|| (side.record.id.clone(), side.steps));
        let judged = compare(args, number, &sides, &mut launcher)?;
        for row in &judged {
            let interval = row.ratio_ci.map_or_else(String::new, |ci| format!("{:.4} to {:.4}", ci.0, ci.1));
            eprintln!(
                "  {} {:?} {interval} {}",
                row.key.runtime,
                row.verdict,
                row.why.as_ref().map(|why| &*why.reason).unwrap_or_default()
            );
        }
        rows.extend(judged.into_iter().map(|row| (side.steps > 0 && row.key.runtime == side.record.id, row)));
        eprintln!("{} of {}: {}", number + 1, args.runs, words(&rows));
    }
    println!("{}", words(&rows));
    for side in &sides {
        let of = |planted: bool| {
            rows.iter()
                .filter(move |(is, row)| *is == planted && row.key.runtime == side.record.id)
                .map(|(_, row)| row)
        };
        let middle = |values: Vec<f64>, show: &dyn Fn(f64) -> String| {
            quantile::median(&values).map_or_else(|| "none".to_owned(), show)
        };
        let widths = of(false).filter_map(|row| row.ratio_ci).map(|ci| (ci.1 / ci.0).ln() / 2.0).collect();
        let effects = of(true).filter_map(|row| row.ratio).collect();
        let processes =
            of(false).filter_map(|row| row.new.as_ref()).map(|new| new.processes as f64).collect();
        println!(
            "{} {} {}: half-width {} over {} pairs of processes; the plant measured as {}; {}",
            side.record.id,
            side.description.runtime.version,
            side.variant,
            middle(widths, &|width| format!("{:.2} %", 100.0 * width)),
            middle(processes, &|n| format!("{n:.0}")),
            middle(effects, &|ratio| format!("{:+.2} %", 100.0 * (ratio - 1.0))),
            words(
                &rows
                    .iter()
                    .filter(|(_, row)| row.key.runtime == side.record.id)
                    .cloned()
                    .collect::<Vec<_>>()
            ),
        );
    }
    Ok(())
}

fn old(id: &str) -> String {
    format!("{id}#old")
}

fn words(rows: &[(bool, ComparedRow)]) -> String {
    let count = |planted: bool, verdicts: &[Verdict]| {
        rows.iter().filter(|(is, row)| *is == planted && verdicts.contains(&row.verdict)).count()
    };
    let all = |planted: bool| rows.iter().filter(|(is, _)| *is == planted).count();
    format!(
        "false alarms {} of {}, called the same {}; the plant found {} of {}, missed as the same or better {}",
        count(false, &[Verdict::Worse, Verdict::Better]),
        all(false),
        count(false, &[Verdict::Same]),
        count(true, &[Verdict::Worse]),
        all(true),
        count(true, &[Verdict::Same, Verdict::Better]),
    )
}

/// Weighs the kernel and the tasks, in one process and in turns.
fn calibrate(args: &Args, record: &RuntimeRecord, launcher: &mut Planting) -> anyhow::Result<Side> {
    const SPIN: u64 = 2_000_000;
    let asked = args.variant.iter().find_map(|pair| pair.strip_prefix(&format!("{}=", record.id)));
    let usual = USUAL.iter().find(|(name, _)| *name == record.id).map(|(_, variant)| *variant);
    let variant = asked.or(usual).with_context(|| format!("say --variant {}=VARIANT", record.id))?.to_owned();
    let mut link = launcher.launch(&record.id, 0)?;
    let mut description = link.shake_hands(taskscale_bench::probe::HANDSHAKE_NS)?;
    let (mut spins, mut tasks) = (Vec::new(), Vec::new());
    // The first half warms up.
    for _ in 0..30 {
        spins.push(runs::cpu_ns(link.as_mut(), ("spin", "loop"), (SPIN, 1), Params::new())?);
        tasks.push(runs::cpu_ns(link.as_mut(), ("fanout", &variant), (args.size, 20), Params::new())?);
    }
    link.end();
    // Each runtime has one row: `Promise.all` alone would also name `Promise.all/suspend`.
    for workload in &mut description.workloads {
        workload.variants.retain(|other| other.name == variant);
    }
    let middle = |values: &[f64]| quantile::median(&values[15..]).unwrap_or(f64::NAN);
    let steps = (args.planted * middle(&tasks) / (middle(&spins) / SPIN as f64)).round() as u64;
    Ok(Side { record: record.clone(), description, variant, steps })
}

fn compare(
    args: &Args,
    number: u64,
    sides: &[Side],
    launcher: &mut Planting,
) -> anyhow::Result<Vec<ComparedRow>> {
    let suite = runs::fanout("against", args.size)?;
    let found = |side: &Side, id: String, old_of: Option<String>| Found {
        id,
        asked: true,
        by_name: true,
        only_floors: false,
        old_of,
        description: Ok(side.description.clone()),
    };
    let both = |side: &Side| {
        let id = &side.record.id;
        [found(side, id.clone(), None), found(side, old(id), Some(id.clone()))]
    };
    let runtimes: Vec<Found> = sides.iter().flat_map(both).collect();
    let selection = Selection {
        variants: sides.iter().map(|side| side.variant.clone()).collect(),
        ..Selection::default()
    };
    let limits = |_: &_, judged| Limits {
        judged_at: Some(gate(judged)),
        ..Limits::default().judged().overlaid(&LimitsAsked {
            max_time_s: Some(args.max_time),
            precision: Some(args.threshold / 2.0),
            sample_ms: args.sample_ms,
            restart_every: args.restart_every,
            restart_warmup: args.restart_warmup,
            ..LimitsAsked::default()
        })
    };
    let plan = Plan::new(std::slice::from_ref(&suite), &runtimes, &selection, &limits)?;
    let records = sides.iter().flat_map(|side| {
        let id = &side.record.id;
        let old_side = RuntimeRecord { id: old(id), old_of: Some(id.clone()), ..side.record.clone() };
        [side.record.clone(), old_side]
    });
    let order = runs::order((args.seed, number), suite, records.collect(), plan);
    let mut out = Vec::new();
    run(
        order,
        launcher,
        &mut taskscale_bench::clock::RealClock::start(),
        &mut Silent,
        &mut Journal::new(&mut out),
    )?;
    if let Some(folder) = &args.keep {
        std::fs::create_dir_all(folder).context("cannot make the folder of --keep")?;
        std::fs::write(folder.join(format!("{number}.taskscale.jsonl")), &out)
            .context("cannot write the run file")?;
    }
    let options = CompareOptions { time: Time::Cpu, threshold: args.threshold };
    let comparison = compare_sides(&parse_run(&String::from_utf8(out)?)?, &options);
    Ok(comparison.context("the run has two sides")?.rows)
}

/// Launches the real probes and makes one of them slower without the plan's knowledge.
struct Planting {
    real: ProbeLauncher,
    /// The runtime, and the extra steps of each of its iterations.
    planted: Option<(String, u64)>,
}

impl Launcher for Planting {
    fn launch(&mut self, runtime: &str, layout: u64) -> Result<Box<dyn Link>, Fault> {
        let link = self.real.launch(runtime, layout)?;
        let steps = self.planted.as_ref().filter(|(name, _)| name == runtime).map_or(0, |(_, steps)| *steps);
        Ok(Box::new(Planted { link, steps }))
    }
}

struct Planted {
    link: Box<dyn Link>,
    steps: u64,
}

impl Link for Planted {
    fn shake_hands(&mut self, timeout_ns: u64) -> Result<Description, Fault> {
        self.link.shake_hands(timeout_ns)
    }

    fn run(&mut self, request: &RunRequest, timeout_ns: u64) -> Result<Observed, Fault> {
        let mut request = request.clone();
        if self.steps > 0 && request.workload == "fanout" {
            request.params.insert("extra_spin".into(), ParamValue::Integer(self.steps));
        }
        self.link.run(&request, timeout_ns)
    }

    fn keep_on(&mut self, place: u64) -> Option<u32> {
        self.link.keep_on(place)
    }

    fn dismiss(&mut self) {
        self.link.dismiss();
    }

    fn end(&mut self) {
        self.link.end();
    }
}
