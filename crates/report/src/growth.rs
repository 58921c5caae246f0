//! Growth in words: a grade for a table, a sentence for what grows superlinearly, and why the rest
//! was not judged.

use taskscale_model::figure::{count, half_width, rounded};
use taskscale_model::summary::{Cause, Grade, Growth, Summary};

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

/// Writes an exponent with half its interval: `n^1.02 ±0.01`. Growth without a grade has no
/// exponent that should be read.
pub fn exponent(growth: &Growth) -> Option<String> {
    let exponent = growth.exponent.filter(|_| growth.grade != Grade::CannotTell)?;
    let half_width = growth.exponent_ci.map(|ci| half_width(exponent, ci).max(0.01));
    let half_width =
        half_width.map(|half_width| format!(" ±{}", rounded(half_width, Some(0.01)))).unwrap_or_default();
    Some(format!("n^{exponent:.2}{half_width}"))
}

/// What is known of each series that grows superlinearly: `name: grade`, its sizes, its bend, and
/// the size of a second.
pub fn findings(summary: &Summary) -> Vec<String> {
    let superlinear = |growth: &&Growth| matches!(growth.grade, Grade::Superlinear | Grade::QuadraticOrWorse);
    summary.growth.iter().filter(superlinear).map(|growth| clean(&finding(growth))).collect()
}

fn finding(growth: &Growth) -> String {
    let grade = match growth.grade {
        Grade::QuadraticOrWorse => "quadratic or worse",
        _ => "superlinear",
    };
    let mut parts = vec![format!("{}: {grade}", name_of(growth))];
    if let (Some(exponent), Some(first), Some(last)) =
        (exponent(growth), growth.sizes.first(), growth.sizes.last())
    {
        parts[0].push_str(&format!(", {exponent} from {} to {}", count(*first), count(*last)));
    }
    parts.push(match (growth.bend, growth.bend_ci) {
        (Some(bend), Some(ci)) => {
            format!("bends at about {} ({} to {})", about(bend), about(ci.0), about(ci.1))
        }
        _ => "no bend: it grows so from the smallest size on, or nearly".to_owned(),
    });
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
    parts.join("; ")
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
