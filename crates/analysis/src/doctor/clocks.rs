//! Clocks and system calls: their cost and their resolution.

use taskscale_model::{
    doctor::{
        Figures::{Cpu, Wall},
        Finding, Severity,
        facts::{Clock, ClockCost, Facts},
    },
    missing::Reading,
};

use super::finding::{Draft, grade, unknown};
use taskscale_model::figure::{grouped, percent};

/// Length of a sample where the suite does not name one.
const SAMPLE_NS: f64 = 20e6;
/// Largest step of a clock before a note and before a warning. A sample should last 1,000 times the
/// step of its clock, and must last 50 times (METHODOLOGY.md, "Length of a sample").
const STEPS: (f64, f64) = (SAMPLE_NS / 1_000.0, SAMPLE_NS / 50.0);
/// Cost of a reading in ns that earns a note, and a warning. A reading takes 20 to 50 ns without a
/// system call, several hundred with one, and a microsecond from a slow device.
const COST: (f64, f64) = (150.0, 1_000.0);
/// Clock sources that the kernel reads slowly, from a device.
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// Findings on the wall clock, the CPU clock and system calls.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![wall(facts)];
    findings.extend(cpu(facts));
    findings.push(system_calls(facts));
    findings
}

fn cost(facts: &Facts, clock: Clock) -> Option<&ClockCost> {
    facts.measured.clocks.iter().find(|cost| cost.clock == clock)
}

fn wall(facts: &Facts) -> Finding {
    const SUBJECT: &str = "clock source";
    let source = match &facts.machine.clock_source {
        Reading::Value(source) => source.as_str(),
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Wall]),
    };
    let mut severity = if SLOW.contains(&source) { Severity::Warning } else { Severity::Ok };
    let mut draft = None;
    if let Some(cost) = cost(facts, Clock::Wall) {
        severity = severity.min(grade(cost.cost_ns, COST.0, COST.1)).min(grade_step(cost));
        draft = Some(reading(SUBJECT, severity, source, cost));
    }
    let faster =
        facts.load.other_clocks.value().is_some_and(|others| others.iter().any(|other| other == "tsc"));
    let remedy = match faster {
        true => "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
        false => {
            "what reads the clock for each task (live observers, traces) costs more here: use longer tasks"
        }
    };
    draft.unwrap_or_else(|| Draft::new(SUBJECT, severity, source)).affects(&[Wall]).remedy(remedy).done()
}

fn cpu(facts: &Facts) -> Option<Finding> {
    let cost = cost(facts, Clock::ProcessCpu)?;
    Some(
        reading("CPU clock", grade_step(cost), "of a process", cost)
            .affects(&[Cpu])
            .remedy("use longer samples: --sample-time, 1,000 times the step")
            .done(),
    )
}

fn grade_step(cost: &ClockCost) -> Severity {
    grade(cost.step_ns as f64, STEPS.0, STEPS.1)
}

fn reading(subject: &str, severity: Severity, what: &str, cost: &ClockCost) -> Draft {
    let step = grouped(&cost.step_ns.to_string());
    let cost_ns = grouped(&format!("{:.0}", cost.cost_ns));
    let found = format!("{what}: a reading costs {cost_ns} ns, its steps are {step} ns or less");
    // A sample lies between two readings.
    let share = 2.0 * cost.cost_ns / SAMPLE_NS;
    let share = if share < 1e-4 { "less than 0.01".to_owned() } else { percent(share) };
    let says = format!(
        "two readings are {share} % of a sample of 20 ms; who reads it for each task pays it for each"
    );
    Draft::new(subject, severity, found).measured(cost.cost_ns, "ns", says)
}

fn system_calls(facts: &Facts) -> Finding {
    const SUBJECT: &str = "system calls";
    let (severity, found) = match &facts.kernel.mitigations {
        Reading::Value(names) if names.is_empty() => {
            (Severity::Ok, "the kernel works around no weakness of the processor".to_owned())
        }
        Reading::Value(names) => (
            Severity::Note,
            format!("the kernel works around weaknesses of the processor: {}", names.join(", ")),
        ),
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall]),
    };
    let mut draft = Draft::new(SUBJECT, severity, found).affects(&[Cpu, Wall]);
    if let Some(cost) = facts.measured.system_call_ns {
        let says =
            format!("{cost:.0} ns for the cheapest system call; to park and wake a worker takes several");
        draft = draft.measured(cost, "ns", says);
    }
    draft
        .remedy("nothing, if production has them too: runtimes that call the kernel often do cost more there")
        .done()
}
