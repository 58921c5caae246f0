//! What a run rests on: when and how it was taken, the machine, the runtimes, the controls.

use taskscale_model::{
    figure::{self, count, percent},
    machine::Machine,
    missing::Reading,
    summary::{Finding, Summary},
};

use crate::{
    page::frame::shell,
    style::{clean, with_remedy},
};

/// A name with its value.
pub struct Fact {
    pub name: &'static str,
    pub value: String,
    /// Whether the value is the reason why there is none.
    pub is_missing: bool,
}

/// A finding in its words.
pub struct Words {
    pub kind: &'static str,
    pub text: String,
}

/// A runtime in one line.
pub struct Runtime {
    pub name: String,
    pub version: String,
    pub toolchain: String,
    pub workers: String,
    /// Why it did not take part; empty where it did.
    pub missing: String,
}

/// An A/A control.
pub struct Control {
    pub name: String,
    pub size: String,
    pub rounds: String,
    pub ratio: String,
    pub told: String,
}

/// The command that repeats the run, for a shell. The seed stands at its end where the user gave
/// none.
pub fn command(summary: &Summary) -> String {
    let mut words = summary.command.clone();
    let has_seed = words.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    if !has_seed && !words.is_empty() {
        words.extend(["--seed".to_owned(), summary.seed.to_string()]);
    }
    shell(&words)
}

/// The findings, each with what to do about it.
pub fn findings(summary: &Summary) -> Vec<Words> {
    let words = |finding: &Finding| Words {
        kind: finding.kind.word(),
        text: match finding.remedy.as_str() {
            "" => clean(&finding.text),
            remedy => clean(&format!("{}; {remedy}", finding.text)),
        },
    };
    summary.overview.findings.iter().map(words).collect()
}

/// The machine card.
pub fn machine(machine: &Machine) -> Vec<Fact> {
    fn fact<T>(name: &'static str, reading: &Reading<T>, words: impl Fn(&T) -> String) -> Fact {
        match reading.as_result() {
            Ok(value) => Fact { name, value: clean(&words(value)), is_missing: false },
            Err(missing) => {
                Fact { name, value: clean(&with_remedy(&missing.reason, &missing.remedy)), is_missing: true }
            }
        }
    }
    vec![
        fact("Processor", &machine.cpu_model, String::clone),
        fact("CPUs that the run may use", &machine.cpus_usable, |n| count(*n)),
        fact("CPUs of the machine", &machine.cpus, |n| count(*n)),
        fact("Threads per core", &machine.threads_per_core, |n| count(*n)),
        fact("NUMA nodes", &machine.numa_nodes, |n| count(*n)),
        fact("CPU quota", &machine.cpu_quota, |quota| format!("{quota} CPUs")),
        fact("Governor", &machine.governor, String::clone),
        fact("Memory", &machine.memory_bytes, |bytes| {
            format!("{:.0} GiB", *bytes as f64 / f64::from(1 << 30))
        }),
        fact("Kernel", &machine.kernel, String::clone),
        fact("Clock", &machine.clock_source, String::clone),
        fact("Load when the run began", &machine.load_1m, |load| format!("{load:.2}")),
        fact("Virtualised", &machine.virtualised, |yes| if *yes { "yes" } else { "no" }.to_owned()),
        Fact { name: "Fingerprint", value: clean(&machine.fingerprint), is_missing: false },
    ]
}

/// The runtimes that took part or could not.
pub fn runtimes(summary: &Summary) -> Vec<Runtime> {
    let one = |name: &str, facts: &Reading<taskscale_model::summary::RuntimeFacts>| match facts.as_result() {
        Ok(facts) => Runtime {
            name: clean(name),
            version: clean(&facts.version),
            toolchain: clean(&facts.toolchain),
            workers: facts.workers.map(count).unwrap_or_default(),
            missing: String::new(),
        },
        Err(missing) => Runtime {
            name: clean(name),
            version: String::new(),
            toolchain: String::new(),
            workers: String::new(),
            missing: clean(&with_remedy(&missing.reason, &missing.remedy)),
        },
    };
    summary.runtimes.iter().map(|runtime| one(&runtime.id, &runtime.facts)).collect()
}

/// The A/A controls, in the order of the plan.
pub fn controls(summary: &Summary) -> Vec<Control> {
    let controls = summary.control.rows.iter();
    controls
        .map(|control| Control {
            name: clean(&format!("{} {}", control.key.runtime, control.key.variant_and_case())),
            size: count(control.key.size),
            rounds: count(control.n),
            ratio: control.ratio.map(|ratio| figure::ratio(ratio, control.ratio_ci)).unwrap_or_default(),
            told: control
                .smallest_difference
                .map(|share| if share < 1.0 { format!("{} %", percent(share)) } else { "none".into() })
                .unwrap_or_default(),
        })
        .collect()
}

/// A moment of Unix time as a date and a time of day: `2026-02-02 02:40 UTC`.
pub fn moment(unix_s: u64) -> String {
    // The civil calendar by eras of 400 years, whose years begin in March: a leap day ends them.
    let days = unix_s / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hours, minutes) = (unix_s % 86_400 / 3_600, unix_s % 3_600 / 60);
    format!("{}-{month:02}-{day:02} {hours:02}:{minutes:02} UTC", year + 400 * era + next)
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (unix_s, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_770_000_000, "2026-02-02 02:40 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(moment(unix_s), expected);
        }
    }
}
