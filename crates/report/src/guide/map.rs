//! Loops of several profiles by policy, as text and as Markdown.

use std::fmt::Write;

use taskscale_model::{figure::rounded, guide::HeatMap};

use crate::{
    markdown::escape,
    overview::cut,
    style::{Ink, clean, ink},
};

/// What takes no more than this times the best is as good; from the second on it is bad. The guide
/// calls a policy reasonable that takes up to a fifth more.
const WARM: (f64, f64) = (1.02, 1.2);
/// Columns of a policy's name at most.
const NAME: usize = 14;

const TITLE: &str = "Wall time over that of the best policy of each profile";

fn cell(to_best: Option<f64>) -> String {
    to_best.map_or(
        "-".to_owned(),
        |ratio| if ratio < 10.0 { format!("{ratio:.2}") } else { rounded(ratio, None) },
    )
}

/// A row for each policy, in colours. `of` says whose they are.
pub(super) fn text(map: &HeatMap, of: &str) -> String {
    let mut text = format!("  {}\n", ink(Ink::Dim, &format!("{TITLE}{of}")));
    let names: Vec<String> = map.policies.iter().map(|policy| cut(&clean(&policy.name), NAME)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let columns: Vec<String> = map.profiles.iter().map(|profile| clean(profile)).collect();
    let head: String = columns.iter().map(|profile| format!(" {profile:>10}")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", ink(Ink::Dim, &format!("  {:width$}{head}", "")));
    for (policy, name) in map.policies.iter().zip(names) {
        let cells = policy.to_best.iter().zip(&columns).map(|(to_best, profile)| {
            let wide = profile.chars().count().max(10);
            let cell = format!(" {:>wide$}", cell(*to_best));
            match *to_best {
                Some(ratio) if ratio <= WARM.0 => ink(Ink::Green, &cell),
                Some(ratio) if ratio <= WARM.1 => ink(Ink::Yellow, &cell),
                Some(_) => ink(Ink::Red, &cell),
                None => cell,
            }
        });
        let _ = writeln!(text, "  {name:width$}{}", cells.collect::<String>());
    }
    text
}

/// The same as a table; the best of each profile is bold.
pub(super) fn markdown(map: &HeatMap, of: &str) -> String {
    let heads: String =
        map.profiles.iter().map(|profile| format!(" {} |", escape(&clean(profile)))).collect();
    let mut text = format!(
        "\n{TITLE}{}:\n\n| |{heads}\n|---|{}\n",
        escape(&clean(of)),
        "--:|".repeat(map.profiles.len())
    );
    for policy in &map.policies {
        let cells: String = policy
            .to_best
            .iter()
            .map(|to_best| match *to_best {
                Some(1.0) => format!(" **{}** |", cell(*to_best)),
                _ => format!(" {} |", cell(*to_best)),
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |{cells}", escape(&clean(&policy.name)));
    }
    text
}
