//! What changes the speed of a CPU: governor, boost, heat, battery, a hypervisor.

use taskscale_model::{
    doctor::{
        Figures::{Cpu, Wall},
        Finding, Severity,
        facts::{self, Facts},
    },
    missing::Reading,
};

use super::finding::{Draft, unknown};
use taskscale_model::figure::count;

/// Findings on governor, boost, heat, battery and hypervisor.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![governor(facts), boost(facts), heat(facts)];
    findings.extend(battery(facts));
    findings.push(hypervisor(facts));
    findings
}

fn governor(facts: &Facts) -> Finding {
    const SUBJECT: &str = "governor";
    let governor = match &facts.machine.governor {
        Reading::Value(governor) => governor.as_str(),
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall]),
    };
    let driver = facts.processors.driver.value().map(String::as_str);
    // The drivers of Intel and AMD call the mode that adapts to the load `powersave`. With other
    // drivers `powersave` is the lowest clock.
    let own = driver.is_some_and(|driver| {
        driver == "intel_pstate" || driver.starts_with("amd-pstate-epp") || driver == "amd_pstate_epp"
    });
    let (severity, does) = match governor {
        "performance" => (Severity::Ok, "the clock stays high"),
        "powersave" if !own => (Severity::Warning, "the clock stays at its lowest"),
        _ => (Severity::Note, "the clock follows the load: work after a pause starts slowly"),
    };
    let driver = driver.map_or(String::new(), |driver| format!(" ({driver})"));
    let draft = Draft::new(SUBJECT, severity, format!("{governor}{driver}: {does}")).affects(&[Cpu, Wall]);
    let draft = match range(&facts.processors.cpus, |cpu| cpu.min_khz) {
        Some(ratio) => {
            let says = match severity {
                Severity::Warning => format!("the highest clock would be {ratio:.1} times as fast"),
                _ => format!(
                    "a factor of {ratio:.1} between the lowest and the highest clock; warm-up hides most of it"
                ),
            };
            draft.stated(ratio, "times", says)
        }
        None => draft,
    };
    draft.remedy("sudo cpupower frequency-set -g performance").done()
}

/// The largest ratio of a CPU's highest frequency to its `lower` one.
fn range(cpus: &[facts::Cpu], lower: impl Fn(&facts::Cpu) -> Option<u64>) -> Option<f64> {
    let ratio = |cpu: &facts::Cpu| Some(cpu.max_khz? as f64 / lower(cpu).filter(|khz| *khz > 0)? as f64);
    cpus.iter().filter_map(ratio).reduce(f64::max)
}

fn boost(facts: &Facts) -> Finding {
    const SUBJECT: &str = "boost";
    let boost = match &facts.processors.boost {
        Reading::Value(boost) => *boost,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall]),
    };
    if !boost {
        return Draft::new(SUBJECT, Severity::Ok, "off").affects(&[Cpu, Wall]).done();
    }
    let found = "on: the clock depends on how many CPUs are busy, and on heat";
    let draft = Draft::new(SUBJECT, Severity::Note, found).affects(&[Cpu, Wall]);
    let draft = match range(&facts.processors.cpus, |cpu| cpu.base_khz) {
        Some(ratio) => {
            let says = format!("up to {ratio:.2} times the nominal clock with few CPUs busy, less with many");
            draft.stated(ratio, "times", says)
        }
        None => draft,
    };
    let pstate = facts.processors.driver.value().is_some_and(|driver| driver.starts_with("intel"));
    draft
        .remedy(match pstate {
            true => "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, for figures that are to be repeated",
            false => "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost, for figures that are to be repeated",
        })
        .done()
}

fn heat(facts: &Facts) -> Finding {
    const SUBJECT: &str = "heat";
    let events = match &facts.processors.heat_events {
        Reading::Value(events) => *events,
        Reading::Missing(missing) => return unknown(SUBJECT, missing, &[Cpu, Wall]),
    };
    let now = facts.measured.moved.heat_events.unwrap_or(0);
    let (severity, found) = match (now, events) {
        (0, 0) => (Severity::Ok, "never slowed down for it since boot".to_owned()),
        (0, _) => {
            (Severity::Note, format!("slowed down for it {} times since boot, not just now", count(events)))
        }
        _ => (Severity::Warning, format!("slowed down for it {} times just now", count(now))),
    };
    let mut draft = Draft::new(SUBJECT, severity, found).affects(&[Cpu, Wall]);
    if now > 0 {
        draft = draft.measured(now as f64, "times", format!("{} times the clock was lowered", count(now)));
    }
    draft.remedy("let it cool, clear its fans; keep runs short, and compare within one run only").done()
}

fn battery(facts: &Facts) -> Option<Finding> {
    let on_battery = *facts.processors.on_battery.value()?;
    let (severity, found) = match on_battery {
        true => (Severity::Warning, "the machine runs on battery: its firmware lowers the clock as it likes"),
        false => (Severity::Ok, "not in use"),
    };
    Some(Draft::new("battery", severity, found).affects(&[Cpu, Wall]).remedy("plug it in").done())
}

fn hypervisor(facts: &Facts) -> Finding {
    const SUBJECT: &str = "hypervisor";
    let product = facts.processors.product.value().map_or(String::new(), |product| format!(" ({product})"));
    match &facts.machine.virtualised {
        Reading::Missing(missing) => unknown(SUBJECT, missing, &[Cpu, Wall]),
        Reading::Value(false) => {
            Draft::new(SUBJECT, Severity::Ok, format!("none{product}")).affects(&[Cpu, Wall]).done()
        }
        Reading::Value(true) => {
            Draft::new(SUBJECT, Severity::Note, format!("this is a virtual machine{product}: others may share its cores"))
                .affects(&[Cpu, Wall])
                .remedy("steal, unaccounted time and busy neighbour show what can be seen of them from here; compare within one run only")
                .done()
        }
    }
}
