//! Which row each row is divided by, and the A/A controls.

use taskscale_model::{run_file::Role, suite::Suite};

use super::{
    draft::{Draft, names, runtime_name},
    found::{Found, Selection},
};

/// Gives every row its baseline: the one asked for, or else the suite's for its runtime, or else
/// the first row of its runtime.
pub fn choose(rows: &mut [Draft], suite: &Suite, runtimes: &[Found], selection: &Selection) {
    let mut chosen = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let plain = |asked: &str| {
            let same_runtime = |candidate: &&(usize, &Draft)| candidate.1.key.runtime == row.key.runtime;
            let candidates: Vec<(usize, &Draft)> = rows
                .iter()
                .enumerate()
                .filter(|(_, other)| other.state.takes_part() && other.key.case.is_empty())
                .filter(|(_, other)| names(asked, &other.key))
                .collect();
            // `variant` alone means the one of the same runtime, where there is one.
            candidates
                .iter()
                .find(same_runtime)
                .or(candidates.first().filter(|_| asked.contains(':')))
                .map(|c| c.0)
        };
        let name = runtimes.iter().find(|found| found.id == row.key.runtime).map(runtime_name);
        let of_suite = name.and_then(|name| suite.baseline.get(&name)).into_iter().flatten();
        let of_user = selection.baseline.iter();
        let first = rows.iter().position(|other| {
            other.state.takes_part() && other.key.runtime == row.key.runtime && other.key.case.is_empty()
        });
        let found = of_user.chain(of_suite).find_map(|asked| plain(asked)).or(first);
        chosen.push(if !row.state.takes_part() { None } else { found });
    }
    for index in 0..rows.len() {
        if chosen[index] == Some(index) || chosen.contains(&Some(index)) {
            rows[index].role = Role::Baseline;
        }
        rows[index].baseline = chosen[index].filter(|baseline| *baseline != index);
    }
}

/// Enters each baseline that others are divided by a second time, with the role of control, except
/// those that are `spared`. A cell in which nothing is divided gets one control too, so that every
/// figure stands beside what this run could tell.
pub fn add_controls(rows: &mut Vec<Draft>, spared: &[usize]) {
    let divided = |index: usize| rows.iter().any(|row| row.baseline == Some(index));
    let mut bases: Vec<usize> =
        (0..rows.len()).filter(|index| divided(*index) && !spared.contains(index)).collect();
    if bases.is_empty() {
        bases.extend(rows.iter().position(|row| row.state.takes_part()));
    }
    for base in bases {
        let mut control = rows[base].clone();
        control.role = Role::Control;
        control.baseline = Some(base);
        rows.push(control);
    }
}
