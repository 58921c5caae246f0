//! What the A/A controls of a run say: the smallest difference that the run could tell, and how
//! often it told a difference that does not exist.

use taskscale_model::{
    figure::percent,
    run_file::{Role, Time},
    summary::{Control, ControlRow, Interval},
};
use taskscale_stats::{confidence::CONFIDENCE, paired::PairedRatio, quantile::median, rounds::Rounds, sign};

use super::samples::{RowSamples, by_number};
use crate::read::Run;

/// Judges all control rows that have figures, by CPU time.
pub fn judge(run: &Run, series: &[RowSamples<'_>]) -> Control {
    let planned = run.rows.iter().filter(|row| row.role == Role::Control).count();
    let by_number = by_number(series);
    let comparisons: Vec<(&RowSamples<'_>, Rounds)> = series
        .iter()
        .filter(|one| one.row.role == Role::Control && one.is_ok())
        .filter_map(|one| {
            let number = one.row.baseline?;
            let baseline = by_number.get(&number).copied().filter(|other| other.is_ok())?;
            Some((one, one.against(baseline, Time::Cpu)))
        })
        .collect();
    let rows: Vec<ControlRow> = comparisons.iter().map(|(one, comparison)| row(one, comparison)).collect();
    let judged: Vec<PairedRatio> =
        comparisons.iter().filter_map(|(_, comparison)| comparison.paired(CONFIDENCE)).collect();
    let alarms = judged.iter().filter(|paired| paired.excludes_one()).count();
    let differences: Vec<f64> = judged.iter().map(PairedRatio::smallest_difference).collect();
    let confirmed =
        comparisons.iter().filter(|(_, comparison)| comparison.differ_among(judged.len())).count();
    Control {
        rows,
        false_alarms: alarms as u64,
        smallest_difference: median(&differences),
        verdict: verdict(planned, &comparisons, alarms, confirmed, &differences),
    }
}

fn row(one: &RowSamples<'_>, comparison: &Rounds) -> ControlRow {
    let paired = comparison.paired(CONFIDENCE);
    ControlRow {
        key: one.row.key.clone(),
        n: comparison.n() as u64,
        ratio: comparison.ratio(),
        ratio_ci: paired.map(|paired| Interval(paired.low, paired.high)),
        smallest_difference: paired.map(|paired| paired.smallest_difference()),
    }
}

fn verdict(
    planned: usize,
    comparisons: &[(&RowSamples<'_>, Rounds)],
    alarms: usize,
    confirmed: usize,
    differences: &[f64],
) -> String {
    let Some(middle) = median(differences) else {
        return match (planned, comparisons) {
            (0, _) => "cannot tell: this run has no A/A comparison".into(),
            (_, []) => "cannot tell: no A/A comparison was measured".into(),
            (_, all) if all.iter().all(|(_, comparison)| comparison.n() < sign::FEWEST) => {
                "cannot tell: fewer than six rounds".into()
            }
            (_, all) if all.iter().all(|(_, comparison)| comparison.observations() < sign::FEWEST) => {
                "cannot tell: fewer than six processes a row; allow more with --max-time or --samples".into()
            }
            _ => "cannot tell: the CPU clock showed 0 ns in the A/A comparisons".into(),
        };
    };
    let n = differences.len();
    let in_words = if n == 1 { "1 A/A comparison".to_owned() } else { format!("{n} A/A comparisons") };
    let alarms_in_words = match alarms {
        0 => "no false alarm".to_owned(),
        1 => "1 false alarm".to_owned(),
        _ => format!("{alarms} false alarms"),
    };
    let expected = match (alarms, n as f64 * 0.05) {
        (0, _) => String::new(),
        (_, expected) => format!(" ({expected:.1} expected by chance)"),
    };
    let (least, most) = differences.iter().fold((f64::MAX, 0.0_f64), |(l, m), &d| (l.min(d), m.max(d)));
    let range = if n == 1 {
        String::new()
    } else {
        format!(" (median; {} % to {} %)", percent(least), percent(most))
    };
    let warning = match confirmed {
        0 => "",
        _ => {
            ". A control differs even after correction for the number of controls: take no small difference in this run as shown"
        }
    };
    let told = match middle < 1.0 {
        true => format!("this run can tell differences of about {} % in CPU time{range}", percent(middle)),
        false => {
            "this run can tell no difference in CPU time: rows of the same code may differ twofold".into()
        }
    };
    format!("{in_words}: {alarms_in_words}{expected}; {told}{warning}")
}
