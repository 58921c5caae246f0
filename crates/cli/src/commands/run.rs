//! `taskscale run`: from the words typed to an order for [`taskscale_bench::run`], then the figures.

use std::io::IsTerminal;

use taskscale_bench::{
    journal::Journal,
    limits::Limits,
    plan::{Found, Plan, Selection},
    probe::ProbeLauncher,
    run::{self, Order},
};
use taskscale_model::{
    params,
    run_file::{self, Header},
    suite::{self, Suite},
    summary::RowStatus,
};

use crate::{
    args::RunArgs,
    baselines,
    commands::report,
    interrupt::Interrupt,
    output::{self, Outcome, tell},
    progress::{Building, Progress},
    runtimes::{self, Shaken},
    store, suites,
    world::RealClock,
};

/// A first look: `--quick` puts these over a suite's own limits.
const QUICK: suite::Limits = suite::Limits {
    samples: Some(15),
    max_time_s: Some(3.0),
    budget_s: None,
    precision: Some(0.05),
    sample_ms: Some(4.0),
    timeout_s: Some(20.0),
    restart_every: None,
};

/// Measures, keeps the samples, prints the figures.
pub fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    let suites = suites::load(&args.suites)?;
    let interrupt = Interrupt::listen()?;
    let terminal = std::io::stderr().is_terminal();
    if terminal {
        tell("taskscale: looking for runtimes");
    }
    let mut candidates = runtimes::candidates(&args.runtime, &args.probe)?;
    candidates.retain(|candidate| candidate.asked || takes_part(&suites, &candidate.id));
    let building = Building::new(interrupt.clone());
    for candidate in &mut candidates {
        candidate.prepare(&building);
        if interrupt.came() {
            return Ok(Outcome::Interrupted);
        }
    }
    let shaken = runtimes::shake_hands(candidates);
    let mut launcher = launcher(&shaken);
    let order = order(args, suites, &shaken, &mut launcher)?;

    let names: Vec<&str> = order.header.suites.iter().map(|suite| suite.name.as_str()).collect();
    let mut kept = store::create(args.output.as_deref(), &names.join("-"), order.header.started_unix_s)?;
    let mut progress = Progress::new(terminal, interrupt.clone());
    let mut journal = Journal::new(&mut kept.file);
    let written = run::run(order, &mut launcher, &mut RealClock::new(), &mut progress, &mut journal);
    progress.clear();
    written.map_err(|error| {
        anyhow::anyhow!(
            "cannot go on writing {}: {error}; what was measured before is kept there",
            kept.path.display()
        )
    })?;

    let summary = report::summary_of(&kept.path)?;
    output::show(&summary, &args.show)?;
    tell(&format!(
        "Raw samples: {}\nTables again: taskscale report {}",
        kept.path.display(),
        kept.path.display()
    ));
    let measured = summary.rows.iter().any(|row| row.status == RowStatus::Ok);
    if let Some(name) = &args.save_baseline {
        tell(&match measured && !interrupt.came() {
            true => baselines::save(name, &kept.path)?,
            false => format!("Baseline {name}: not kept, since the run did not come to a good end"),
        });
    }
    Ok(match (interrupt.came(), measured) {
        (true, _) => Outcome::Interrupted,
        (false, true) => Outcome::Done,
        (false, false) => Outcome::Nothing,
    })
}

/// Whether a workload of these suites wants that runtime: none is built that would not be measured.
fn takes_part(suites: &[Suite], runtime: &str) -> bool {
    let blocks = suites.iter().flat_map(|suite| &suite.workloads);
    blocks
        .into_iter()
        .any(|block| block.runtimes.as_ref().is_none_or(|wanted| wanted.iter().any(|name| name == runtime)))
}

fn launcher(shaken: &[Shaken]) -> ProbeLauncher {
    ProbeLauncher::new(shaken.iter().filter_map(|one| Some((one.found.id.clone(), one.command.clone()?))))
}

fn order(
    args: &RunArgs,
    suites: Vec<Suite>,
    shaken: &[Shaken],
    launcher: &mut ProbeLauncher,
) -> anyhow::Result<Order> {
    let selection = Selection {
        sizes: args.size.clone(),
        variants: args.variant.clone(),
        baseline: args.baseline.clone(),
        params: args.param.iter().cloned().collect::<params::Params>(),
        work_ns: args.work.map(|seconds| (seconds * 1e9).round().max(1.0) as u64),
    };
    let limits: Vec<Limits> = suites.iter().map(|suite| limits_of(suite, args)).collect();
    let found: Vec<Found> = shaken.iter().map(|one| one.found.clone()).collect();
    let mut plan = Plan::new(&suites, &found, &selection)?;
    if let Some(work_ns) = selection.work_ns {
        run::calibrate_work(&mut plan, launcher, work_ns, limits[0].timeout_ns);
    }
    let machine = taskscale_sys::machine::read();
    Ok(Order {
        cpus: machine.cpus_usable.value().copied().unwrap_or(1),
        header: Header {
            schema: run_file::SCHEMA.into(),
            tool: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args().collect(),
            seed: args.seed.unwrap_or_else(|| fastrand::u64(0..=taskscale_model::protocol::MAX_SEED)),
            started_unix_s: taskscale_sys::clock::unix_time_s(),
            machine,
            suites,
        },
        runtimes: shaken.iter().map(|one| one.record.clone()).collect(),
        plan,
        limits,
    })
}

/// What is typed goes over `--quick`, that over the suite, that over the defaults.
fn limits_of(suite: &Suite, args: &RunArgs) -> Limits {
    let typed = suite::Limits {
        samples: args.samples,
        max_time_s: args.max_time,
        // Whoever says how long a cell may take has said how long the suite may take.
        budget_s: args.max_time.map(|_| f64::MAX),
        precision: args.precision,
        sample_ms: args.sample_time.map(|seconds| seconds * 1e3),
        timeout_s: args.timeout,
        restart_every: None,
    };
    let limits = Limits::default().overlaid(&suite.limits);
    let limits = if args.quick { limits.overlaid(&QUICK) } else { limits };
    limits.overlaid(&typed)
}
