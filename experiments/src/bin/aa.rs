//! How often does this tool see a difference that is not there, and how often does it find one of 1
//! %?
//!
//! ```sh
//! # 200 comparisons of 20 rounds, about ten minutes; then on tasks that do nothing, the hardest case; then a first look
//! cargo run --release -p taskscale-experiments --bin aa
//! cargo run --release -p taskscale-experiments --bin aa -- --work-us 0
//! cargo run --release -p taskscale-experiments --bin aa -- --comparisons 20
//! ```
//!
//! Each comparison is a run of its own, by the code that `taskscale run` uses. It has three rows in
//! three fresh processes: one variant, the same variant entered a second time (A/A), and the same
//! variant with a planted slow-down (a calibrated extra spin). They are interleaved in mirrored
//! random rounds.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an experiment prints its figures")]

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use taskscale_bench::{
    journal::Journal,
    launcher::ProbeLauncher,
    limits::Limits,
    link::{Launcher, Link, Silent},
    plan::{Found, Plan, Selection},
    run::run,
};
use taskscale_experiments::runs;
use taskscale_model::{
    params::{ParamValue, Params},
    protocol::Description,
    run_file::{self, Kind, Record, Role},
};
use taskscale_stats::{paired::PairedRatio, quantile};
use taskscale_sys::process::Command;

#[derive(Debug, Parser)]
#[command(about = "False alarms on identical code, and power against a planted slow-down")]
struct Args {
    /// Comparisons of each kind
    #[arg(long, default_value_t = 200)]
    comparisons: u64,
    /// Rounds of each comparison
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Length of a sample
    #[arg(long, default_value_t = 10.0)]
    sample_ms: f64,
    /// The planted slow-down, as a share
    #[arg(long, default_value_t = 0.01)]
    planted: f64,
    /// A probe's command instead of the built-in tokio one; it must offer `fanout` with
    /// `extra_spin`, and `spin`
    #[arg(long)]
    probe: Option<String>,
    /// The variant of `fanout`
    #[arg(long, default_value = "current_thread/spawn")]
    variant: String,
    /// Number of tasks
    #[arg(long, default_value_t = 2048)]
    size: u64,
    /// CPU time of the work inside each task, in microseconds; 0 for tasks that do nothing
    #[arg(long, default_value_t = 5.0)]
    work_us: f64,
    /// Rounds between fresh processes; 0 keeps one process per row for the whole comparison
    #[arg(long, default_value_t = 1)]
    restart_every: u64,
    /// From which all orders, seeds and layouts follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some("serve") {
        return taskscale_probe_rust::main(&words.next().unwrap_or_default());
    }
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("aa: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The result of one comparison, for the control and for the planted row.
struct Said {
    control: PairedRatio,
    planted: PairedRatio,
}

fn measure(args: &Args) -> anyhow::Result<()> {
    let command = match &args.probe {
        Some(command) => {
            let words = shlex::split(command).filter(|words| !words.is_empty()).context("not a command")?;
            Command::new(words[0].clone(), words[1..].to_vec())
        }
        None => Command::new(std::env::current_exe()?.to_string_lossy(), ["serve", "tokio"]),
    };
    let mut launcher = ProbeLauncher::new([("probe".to_owned(), command)]);
    let mut link = launcher.launch("probe", 0)?;
    let description = link.shake_hands(taskscale_bench::probe::HANDSHAKE_NS)?;
    let Steps { work, planted: steps } = calibrate(args, link.as_mut())?;
    link.end();
    println!(
        "{} {} {} at n = {}, {} us of work a task; planted: {} steps of spin an iteration, meant to be {:.2} %",
        description.runtime.name,
        description.runtime.version,
        args.variant,
        args.size,
        args.work_us,
        steps,
        100.0 * args.planted
    );
    let mut said = Vec::new();
    let mut noise = Noise::default();
    for number in 0..args.comparisons {
        said.push(compare(
            args,
            &Steps { work, planted: steps },
            number,
            &description,
            &mut launcher,
            &mut noise,
        )?);
        if (number + 1) % 20 == 0 {
            eprintln!("{} of {}: {}", number + 1, args.comparisons, verdict(&said));
        }
    }
    println!("{}", verdict(&said));
    let widths: Vec<f64> = said.iter().map(PairedRatioOf::half_width).collect();
    let planted: Vec<f64> = said.iter().map(|said| said.planted.ratio).collect();
    println!(
        "half-width of the A/A intervals: {}; measured effect of the plant: {}",
        spread(&widths, |width| format!("{:.2} %", 100.0 * width)),
        spread(&planted, |ratio| format!("{:+.2} %", 100.0 * (ratio - 1.0)))
    );
    println!("noise met: {}", noise.words());
    Ok(())
}

trait PairedRatioOf {
    fn half_width(&self) -> f64;
}

impl PairedRatioOf for Said {
    fn half_width(&self) -> f64 {
        self.control.half_width
    }
}

/// Steps of the kernel: inside each task (`work`), and planted once an iteration (`planted`).
struct Steps {
    work: u64,
    planted: u64,
}

/// Weighs the kernel and the tasks, in one process and in turns. The work then takes `work_us` of
/// CPU time, and the plant takes the share `planted` of an iteration's CPU time.
fn calibrate(args: &Args, link: &mut dyn Link) -> anyhow::Result<Steps> {
    const SPIN: u64 = 10_000_000;
    let mut spin = || runs::cpu_ns(link, ("spin", "loop"), (SPIN, 1), Params::new());
    let middle = |values: &[f64]| quantile::median(values).unwrap_or(f64::NAN);
    let spins: Vec<f64> = (0..15).map(|_| spin()).collect::<Result<_, _>>()?;
    let step_ns = middle(&spins) / SPIN as f64;
    let work = (args.work_us * 1e3 / step_ns).round() as u64;
    let with_work = Params::from([("work".to_owned(), ParamValue::Integer(work))]);
    let mut fanout = || runs::cpu_ns(link, ("fanout", &args.variant), (args.size, 20), with_work.clone());
    let tasks: Vec<f64> = (0..15).map(|_| fanout()).collect::<Result<_, _>>()?;
    Ok(Steps { work, planted: (args.planted * middle(&tasks) / step_ns).round() as u64 })
}

fn compare(
    args: &Args,
    steps: &Steps,
    number: u64,
    description: &Description,
    launcher: &mut ProbeLauncher,
    noise: &mut Noise,
) -> anyhow::Result<Said> {
    let mut suite = runs::fanout("aa", args.size)?;
    suite.workloads[0].params.insert("work".into(), ParamValue::Integer(steps.work));
    suite.workloads[0].cases = vec![[("extra_spin".to_owned(), ParamValue::Integer(steps.planted))].into()];
    let found = Found {
        id: "probe".into(),
        asked: true,
        by_name: false,
        only_floors: false,
        old_of: None,
        description: Ok(description.clone()),
    };
    let selection = Selection { variants: vec![args.variant.clone()], ..Selection::default() };
    let limits = |_: &_, _| Limits {
        samples: args.rounds,
        max_time_ns: 600_000_000_000,
        precision: 0.0,
        sample_ns: (args.sample_ms * 1e6) as u64,
        restart_every: args.restart_every,
        ..Limits::default()
    };
    let plan = Plan::new(std::slice::from_ref(&suite), &[found], &selection, &limits)?;
    let order = runs::order((args.seed, number), suite, vec![], plan);
    let mut out = Vec::new();
    let mut clock = taskscale_bench::clock::RealClock::start();
    run(order, launcher, &mut clock, &mut Silent, &mut Journal::new(&mut out))?;
    let records: Vec<Record> =
        String::from_utf8(out)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    noise.take(&records);
    let of = |wanted: &dyn Fn(&run_file::RowRecord) -> bool| -> anyhow::Result<Vec<f64>> {
        let row = records.iter().find_map(|record| match record {
            Record::Row(row) if wanted(row) => Some(row.row),
            _ => None,
        });
        let row = row.context("the probe does not offer what this needs: fanout with extra_spin")?;
        Ok(timed(&records, row))
    };
    let base = of(&|row| row.role == Role::Baseline)?;
    let processes: Vec<u64> =
        (0..base.len() as u64).map(|round| round.checked_div(args.restart_every).unwrap_or(0)).collect();
    let ratio = |other: Vec<f64>| match PairedRatio::of_processes(&processes, &base, &other, 0.95) {
        Some(ratio) => Ok(ratio),
        None => bail!("a comparison has too few samples; a row failed: {:?}", records.last()),
    };
    Ok(Said {
        control: ratio(of(&|row| row.role == Role::Control)?)?,
        planted: ratio(of(&|row| row.role == Role::Row)?)?,
    })
}

/// The CPU time per iteration of a row's timed samples, by round.
fn timed(records: &[Record], row: u64) -> Vec<f64> {
    let samples = records.iter().filter_map(|record| match record {
        Record::Sample(sample) if sample.row == row && sample.kind == Kind::Timed => Some(sample),
        _ => None,
    });
    samples.map(|sample| sample.cpu_ns as f64 / sample.iterations as f64).collect()
}

fn verdict(said: &[Said]) -> String {
    let alarms = said.iter().filter(|said| said.control.excludes_one()).count();
    let found = said.iter().filter(|said| said.planted.low > 1.0).count();
    let n = said.len().max(1) as f64;
    format!(
        "false alarms on identical code: {alarms} of {} ({:.1} %); planted slow-down found: {found} of {} ({:.1} %)",
        said.len(),
        100.0 * alarms as f64 / n,
        said.len(),
        100.0 * found as f64 / n
    )
}

fn spread(values: &[f64], show: impl Fn(f64) -> String) -> String {
    let sorted = quantile::sorted(values);
    let at = |p| quantile::quantile(&sorted, p).map_or_else(|| "none".into(), &show);
    format!("median {} (5th to 95th percentile {} to {})", at(0.5), at(0.05), at(0.95))
}

/// The disturbance during all comparisons.
#[derive(Default)]
struct Noise {
    pressure_us: u64,
    steal_ticks: u64,
    rounds: u64,
    wall_over_cpu: Vec<f64>,
    variation: Vec<f64>,
}

impl Noise {
    fn take(&mut self, records: &[Record]) {
        for record in records {
            match record {
                Record::Round(round) => {
                    self.rounds += 1;
                    self.pressure_us += round.disturbance.cpu_pressure_us.unwrap_or(0);
                    self.steal_ticks += round.disturbance.steal_ticks.unwrap_or(0);
                }
                Record::Sample(sample) if sample.kind == Kind::Timed => {
                    self.wall_over_cpu.push(sample.wall_ns as f64 / sample.cpu_ns.max(1) as f64);
                }
                _ => (),
            }
        }
        let base = timed(records, 0);
        let mean = base.iter().sum::<f64>() / base.len().max(1) as f64;
        let variance =
            base.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / base.len().max(1) as f64;
        self.variation.push(variance.sqrt() / mean);
    }

    fn words(&self) -> String {
        format!(
            "CPU time of one row varies by {}; wall over CPU {}; CPU pressure {:.1} ms and steal {:.1} ms a round",
            spread(&self.variation, |share| format!("{:.2} %", 100.0 * share)),
            spread(&self.wall_over_cpu, |ratio| format!("{ratio:.2}")),
            self.pressure_us as f64 / 1e3 / self.rounds.max(1) as f64,
            self.steal_ticks as f64 * 10.0 / self.rounds.max(1) as f64
        )
    }
}
