//! Growth in words: a grade for a table, a sentence for what grows superlinearly, and why the rest
//! was not judged.

use taskscale_model::figure::{count, half_width, rounded};
use taskscale_model::run_file::Time;
use taskscale_model::summary::{BytesGrowth, Cause, Check, Grade, Growth, Interval, Summary};

use crate::style::clean;

/// A grade in words.
pub fn grade(growth: &Growth) -> &'static str {
    match growth.grade {
        Grade::Linear => "linear",
        Grade::SoftGrowth => "soft growth",
        Grade::Superlinear => "SUPERLINEAR",
        Grade::QuadraticOrWorse => "QUADRATIC+",
        Grade::CannotTell => "cannot tell",
    }
}

/// Writes an exponent with half its interval: `n^1.02 ±0.01`, and that it is of wall time where it
/// is. Growth without a grade has no exponent that should be read.
pub fn exponent(growth: &Growth) -> Option<String> {
    let exponent = growth.exponent.filter(|_| growth.grade != Grade::CannotTell)?;
    let half_width = growth.exponent_ci.map(|ci| half_width(exponent, ci).max(0.01));
    let half_width =
        half_width.map(|half_width| format!(" ±{}", rounded(half_width, Some(0.01)))).unwrap_or_default();
    let time = match growth.time {
        Time::Cpu => "",
        Time::Wall => " wall",
    };
    Some(format!("n^{exponent:.2}{half_width}{time}"))
}

/// Writes how bytes grow: `bytes n^1.00`.
pub fn bytes(growth: &Growth) -> Option<String> {
    Some(format!("bytes n^{:.2}", growth.bytes.as_ref()?.exponent))
}

/// What is known of each series that is a cliff: `name: grade`, its sizes, its bend, and the size
/// of a second; and of each whose growth is the collector's, with what checks it.
pub fn findings(summary: &Summary) -> Vec<String> {
    let is_told = |growth: &&Growth| growth.is_cliff() || growth.cause == Some(Cause::Collector);
    let told = summary.growth.iter().filter(is_told);
    told.map(|growth| clean(&finding(growth, &summary.command))).collect()
}

fn finding(growth: &Growth, command: &[String]) -> String {
    let is_steep = matches!(growth.grade, Grade::Superlinear | Grade::QuadraticOrWorse);
    let grade = match growth.grade {
        Grade::QuadraticOrWorse => "quadratic or worse",
        Grade::Superlinear => "superlinear",
        _ => grade(growth),
    };
    let mut parts = vec![format!("{}: {grade}", name_of(growth))];
    if let (Some(exponent), Some(first), Some(last)) =
        (exponent(growth), growth.sizes.first(), growth.sizes.last())
    {
        parts[0].push_str(&format!(", {exponent} from {} to {}", count(*first), count(*last)));
    }
    if growth.time == Time::Wall {
        parts.push("it waits for most of its time, in fresh processes: CPU time does not tell".to_owned());
    }
    match (growth.bend, growth.bend_ci) {
        (Some(bend), Some(ci)) => {
            parts.push(format!("bends at about {} ({} to {})", about(bend), about(ci.0), about(ci.1)));
        }
        _ if is_steep => {
            parts.push("no bend: it grows so from the smallest size on, or nearly".to_owned());
        }
        _ => {}
    }
    if let Some(second) = growth.one_second {
        parts.push(if second.measured {
            format!("takes a second at about {}", about(second.size))
        } else {
            format!(
                "will take a second at about {}, should n^{:.2} of the last octave go on",
                about(second.size),
                second.exponent
            )
        });
    }
    let control = growth.growth_control.as_deref();
    if let (Some(Cause::Isolated), Some(control)) = (growth.cause, control) {
        parts.push(format!("{control} does not grow so, which isolates the cause"));
    }
    let is_collector = growth.cause == Some(Cause::Collector);
    if let Some(bytes) = &growth.bytes {
        let what = match (is_collector, bytes.is_cliff) {
            (true, _) => "the collector, no cliff: ",
            (_, true) => "a cliff in bytes: ",
            _ => "",
        };
        parts.push(format!("{what}bytes grow as {}", exponent_of(bytes)));
    }
    if let Some(check) = &growth.check {
        let why = match is_collector {
            true => "a larger young generation makes it linear if that is so",
            false => "to tell a collector from a cliff",
        };
        parts.push(format!("{why}: {}", again(check, command)));
    }
    parts.join("; ")
}

/// Writes the exponent of bytes with what the counts allow:
/// `n^1.00 (1.00 to 1.01 by its processes)`.
fn exponent_of(bytes: &BytesGrowth) -> String {
    let range = match bytes.range {
        Some(Interval(low, high)) => format!(" ({low:.2} to {high:.2} by its processes)"),
        None => " (counted once)".to_owned(),
    };
    format!("n^{:.2}{range}", bytes.exponent)
}

/// The command of the run with what a check adds to it. The file that the run is in stays as it is.
fn again(check: &Check, command: &[String]) -> String {
    let is_output = |word: &str| ["-o", "--output"].contains(&word);
    let is_kept = |(at, word): &(usize, &str)| {
        let is_value = *at > 0 && is_output(&command[at - 1]);
        !is_output(word) && !is_value && !word.starts_with("--output=")
    };
    let words = command.iter().map(String::as_str).enumerate().filter(is_kept).map(|(_, word)| word);
    let words = shlex::try_join(words.clone()).unwrap_or_else(|_| words.collect::<Vec<_>>().join(" "));
    let parts = [&*check.before, &*words, &*check.behind];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Writes a size that is only known roughly, in two digits.
fn about(size: f64) -> String {
    rounded(size.round(), Some(size / 10.0))
}

fn name_of(growth: &Growth) -> String {
    format!("{} {}", growth.key.runtime, growth.key.variant_and_case())
}

/// Why growth was not judged or not isolated, each reason with its series.
pub fn reasons(summary: &Summary) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for growth in &summary.growth {
        let Some(reason) = &growth.reason else { continue };
        let name = clean(&name_of(growth));
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((clean(reason), vec![name])),
        }
    }
    groups
}
