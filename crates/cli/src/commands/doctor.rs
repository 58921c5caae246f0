//! `taskscale doctor`: says what on this machine blurs or biases the figures.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use taskscale_sys::doctor::{Step, examine};

use crate::{
    args::{DoctorArgs, DoctorFormat},
    output::{self, Outcome},
};

/// Reads and measures the machine, and prints what follows. Nothing that it finds is a failure.
pub fn doctor(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let target =
        if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let progress = ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner());
    let facts = examine(|step| {
        progress.set_message(words(step));
        // The bar is drawn here: a thread of its own would disturb what is measured.
        progress.tick();
    });
    progress.finish_and_clear();
    let checkup = taskscale_analysis::checkup(&facts, env!("CARGO_PKG_VERSION"));
    output::print(&match args.format {
        DoctorFormat::Text if !args.details => {
            taskscale_report::doctor_overview(&checkup, &output::style(false))
        }
        DoctorFormat::Text => taskscale_report::doctor_text(&checkup, &output::style(false)),
        DoctorFormat::Md => taskscale_report::doctor_markdown(&checkup),
        DoctorFormat::Json => taskscale_report::doctor_json(&checkup),
    })?;
    Ok(Outcome::Done)
}

fn words(step: Step) -> &'static str {
    match step {
        Step::Reading => "reading what the kernel says",
        Step::Clocks => "timing clocks and system calls",
        Step::Work => "repeating a fixed piece of work, for up to 3 s",
        Step::Neighbours => "the same beside a busy CPU, for up to 2 s",
    }
}
