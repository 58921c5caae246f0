//! What else matters in a run: one sentence each, the most important first.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use taskscale_model::{
    figure::{self, count},
    key::SeriesKey,
    missing::{Missing, Reading},
    run_file::{ANY, Role},
    suite,
    summary::{
        Control, ControlRow, Finding, FindingKind, Granularity, Growth, Interval, Metg, Ranking, Row,
        RowStatus, Scales, Settled, Shares, Standing, Streams,
    },
};

use taskscale_stats::confidence::CONFIDENCE;

use super::{
    Parts, grown,
    rank::{Cost, TIE, Table, is_asked as is_ranked, ratio},
    reaches, versions,
};
use crate::{
    grouped,
    summarize::{doubts, is_gradable, notes},
};

/// A way is called dearer than another from this ratio on.
const DEARER: f64 = 1.1;
/// So many names stand in a sentence.
const NAMES: usize = 4;

/// All findings, by kind, and within a kind the greatest first.
pub fn all(
    parts: &Parts<'_>,
    tables: &[Table<'_>],
    rankings: &[Ranking],
    (shares, scales): (&[Shares], &[Scales]),
    streams: &[Streams],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What a table asks about is told by the table.
    let asked = |row: &&Row| reaches::param(parts.run, &row.key).is_none();
    let others = || parts.rows.iter().filter(asked);
    findings.extend(without_figures(others(), RowStatus::Failed, FindingKind::Failed));
    findings.extend(notes::incomplete(parts.run, parts.samples).map(|text| plain(FindingKind::Cut, text)));
    findings.extend(parts.run.altered.clone().map(|text| plain(FindingKind::Cut, text)));
    findings.extend(grown::cliffs(parts.growth));
    let asks = |growth: &Growth| {
        let row = parts.rows.iter().find(|row| row.key.series == growth.key);
        row.and_then(|row| parts.run.block(&row.key)).is_none_or(is_gradable)
    };
    findings.extend(grown::others(parts.growth, parts.rows, asks));
    findings.extend(notes::of_musl(parts.run).map(|(text, remedy)| Finding {
        kind: FindingKind::Biased,
        text,
        remedy: remedy.to_owned(),
    }));
    let biased = |(text, remedy): (String, &str)| Finding {
        kind: FindingKind::Biased,
        text,
        remedy: remedy.to_owned(),
    };
    findings.extend(doubts::of_times(parts.samples).into_iter().map(biased));
    findings.extend(doubts::of_readings(parts.run, parts.samples).into_iter().map(biased));
    findings.extend(doubts::of_short(parts.samples).into_iter().map(biased));
    let coarse = doubts::of_coarse(parts.run, parts.samples).into_iter();
    findings.extend(coarse.map(|(text, remedy)| Finding { kind: FindingKind::Biased, text, remedy }));
    findings.extend(doubts::set_aside(parts.run).map(|text| plain(FindingKind::Busy, text)));
    let order: Vec<&str> = parts.run.runtimes.iter().map(|runtime| runtime.id.as_str()).collect();
    findings.extend(versions::of_versions(&order, tables, rankings));
    findings.extend(of_runtimes(tables));
    findings.extend(busy(parts, scales));
    findings.extend(disagreeing(parts.control));
    findings.extend(unsure(rankings));
    findings.extend(unsettled(others()));
    findings.extend(unsure_shares(shares, scales));
    findings.extend(unsure_streams(streams));
    findings.extend(without_grain(parts.granularity));
    findings.extend(left_out(parts.rows));
    findings.extend(not_here(parts));
    let mut foreseen: BTreeMap<&SeriesKey, u64> = BTreeMap::new();
    for row in others().filter(|row| is_foreseen(row)) {
        let smallest = foreseen.entry(&row.key.series).or_insert(row.key.size);
        *smallest = row.key.size.min(*smallest);
    }
    // The others have been told of, and of larger sizes the smallest tells.
    let untold = others().filter(|row| {
        // A size that a runtime does not bear stands in the table of what its tasks hold.
        let ends = row.key.is_resident() && row.key.variant != ANY;
        let smallest = foreseen.get(&row.key.series).is_none_or(|size| row.key.size <= *size);
        let is_told = is_not_here(parts, &row.key.runtime) || why_left_out(row).is_some();
        !ends && !is_told && (smallest || !is_foreseen(row))
    });
    findings.extend(without_figures(untold, RowStatus::Skipped, FindingKind::Skipped));
    findings.sort_by_key(|finding| finding.kind);
    findings
}

pub fn plain(kind: FindingKind, text: String) -> Finding {
    Finding { kind, text, remedy: String::new() }
}

/// That the machine was busy, and what it does to answers that have no CPU time to rest on.
fn busy(parts: &Parts<'_>, scales: &[Scales]) -> Option<Finding> {
    let text = notes::disturbed(parts.run, parts.growth).into_iter().next()?;
    let wall = "throughput of workers is wall time: run it again when the machine is idle";
    let remedy = if scales.is_empty() { String::new() } else { wall.to_owned() };
    Some(Finding { kind: FindingKind::Busy, text, remedy })
}

/// Rows that went wrong or were not tried, grouped by the reason.
fn without_figures<'r>(
    rows: impl Iterator<Item = &'r Row>,
    status: RowStatus,
    kind: FindingKind,
) -> Vec<Finding> {
    let rows = rows.filter(|row| row.status() == status).filter_map(|row| Some((row, row.missing()?)));
    let groups = grouped(rows, |(row, missing)| (at_any_size(row, missing), &missing.remedy));
    let names = |group: &[(&Row, &Missing)]| -> Vec<String> {
        let name = |row: &Row| format!("{} {}", row.key.runtime, row.key.variant_and_case());
        let names = grouped(group.iter().map(|(row, _)| name(row)), String::clone);
        names.into_iter().filter_map(|same| same.into_iter().next()).collect()
    };
    let reason = |group: &[(&Row, &Missing)]| {
        let (row, missing) = group[0];
        let sizes: BTreeSet<u64> = group.iter().map(|(row, _)| row.key.size).collect();
        let general = at_any_size(row, missing);
        match sizes.len() > 1 && general != missing.reason {
            true => format!("{general}, at {} sizes", sizes.len()),
            false => missing.reason.clone(),
        }
    };
    let mut groups: Vec<(&Missing, String, Vec<String>)> =
        groups.iter().map(|group| (group[0].1, reason(group), names(group))).collect();
    // The sort is stable: those that hold most rows come first.
    groups.sort_by_key(|(_, _, names)| std::cmp::Reverse(names.len()));
    let finding = |(missing, reason, names): (&Missing, String, Vec<String>)| Finding {
        kind,
        text: format!("{}: {reason}", listed(&names)),
        remedy: missing.remedy.clone(),
    };
    groups.into_iter().map(finding).collect()
}

/// Why a row has no figure, without its size: what fails at one as a rule fails at all.
fn at_any_size(row: &Row, missing: &Missing) -> String {
    let size = format!(" at size {}", row.key.size);
    match missing.reason.split_once(&size) {
        Some((before, behind)) if !behind.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{before}{behind}")
        }
        _ => missing.reason.clone(),
    }
}

/// What a suite left out for want of time, in one sentence.
fn left_out(rows: &[Row]) -> Option<Finding> {
    let mut what: Vec<&str> = rows.iter().filter_map(why_left_out).collect();
    what.sort_unstable();
    what.dedup();
    // The smallest of those went last, when most was known of what sizes take.
    let remedy = rows.iter().find(|row| why_left_out(row).is_some())?.missing()?.remedy.clone();
    // Short enough for one line: it must not give way to what is less.
    Some(Finding { kind: FindingKind::Skipped, text: format!("{}: too slow here", what.join(", ")), remedy })
}

/// Whether a row was not tried because smaller sizes say how long it may take.
fn is_foreseen(row: &Row) -> bool {
    row.missing().is_some_and(|missing| missing.reason.contains(suite::FORESEEN))
}

/// What a row that was left out for want of time belongs to.
fn why_left_out(row: &Row) -> Option<&str> {
    Some(row.missing()?.reason.split_once(suite::LEFT_OUT)?.0)
}

/// At most [`NAMES`] names, and how many more there are.
pub fn listed(names: &[String]) -> String {
    match names.len() {
        0..=NAMES => names.join(", "),
        n => format!("{} and {} more", names[..NAMES].join(", "), n - NAMES),
    }
}

/// What one runtime's ways cost beside its cheapest: the dearest of each runtime, and one that
/// ties.
fn of_runtimes(tables: &[Table<'_>]) -> Vec<Finding> {
    let mut found: Vec<(f64, Finding)> = Vec::new();
    let mut told: Vec<(String, String)> = Vec::new();
    for table in tables {
        let mut runtimes: Vec<&str> = Vec::new();
        for cost in &table.rows {
            let runtime = cost.samples.row.key.runtime.as_str();
            if !runtimes.contains(&runtime) {
                runtimes.push(runtime);
            }
        }
        for runtime in runtimes {
            let ways: Vec<&Cost<'_>> =
                table.rows.iter().filter(|cost| cost.samples.row.key.runtime == runtime).collect();
            let (Some((first, others)), true) = (ways.split_first(), ways.len() > 1) else { continue };
            let mut ratios: Vec<(&Cost<'_>, f64, Interval)> = others
                .iter()
                .filter_map(|cost| {
                    let (ratio, ci) = ratio(cost, first, table.time);
                    Some((*cost, ratio?, ci?))
                })
                .collect();
            ratios.sort_by(|a, b| b.1.total_cmp(&a.1));
            let least = first.samples.row.key.variant_and_case();
            let mut say = |weight: f64, kind: FindingKind, way: &Cost<'_>, words: String| {
                let way = way.samples.row.key.variant_and_case();
                let pair = (format!("{runtime} {way}"), least.clone());
                if !told.contains(&pair) {
                    told.push(pair);
                    found.push((weight, plain(kind, format!("{runtime} {way} {words}"))));
                }
            };
            let mut dearer = ratios.iter().filter(|(_, ratio, ci)| *ratio >= DEARER && ci.0 > 1.0);
            if let Some((way, ratio, ci)) = dearer.next() {
                let mut words = format!("{} of {least}", figure::ratio(*ratio, Some(*ci)));
                if let Some((next, ratio, ci)) = dearer.next() {
                    let next = next.samples.row.key.variant_and_case();
                    let _ = write!(words, ", {next} {}", figure::ratio(*ratio, Some(*ci)));
                }
                match dearer.count() {
                    0 => (),
                    more => {
                        let _ = write!(words, ", and {more} more");
                    }
                }
                say(*ratio, FindingKind::Dearer, way, words);
            }
            let ties = |ci: &Interval| ci.0 <= 1.0 && ci.1 >= 1.0 && ci.0 >= 1.0 - TIE && ci.1 <= 1.0 + TIE;
            if let Some((way, _, ci)) = ratios.iter().find(|(_, _, ci)| ties(ci)) {
                let words = format!("costs what {least} does (ratio {:.2} to {:.2})", ci.0, ci.1);
                say(0.0, FindingKind::Tie, way, words);
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// A/A controls whose interval leaves out 1: one by more than [`TIE`], or more of them than chance
/// gives.
fn disagreeing(control: &Control) -> Option<Finding> {
    let all = control.rows.iter().filter_map(|row| Some((row, row.ratio?, row.ratio_ci?)));
    let all: Vec<(&ControlRow, f64, Interval)> = all.collect();
    let mut differ: Vec<&(&ControlRow, f64, Interval)> =
        all.iter().filter(|(_, _, ci)| ci.0 > 1.0 || ci.1 < 1.0).collect();
    let far = |ratio: f64| ratio.ln().abs();
    differ.sort_by(|a, b| far(b.1).total_cmp(&far(a.1)));
    let (row, ratio, ci) = differ.first()?;
    // One of twenty leaves out 1 by chance.
    let by_chance = 1.0 + 2.0 * all.len() as f64 * (1.0 - CONFIDENCE);
    if far(*ratio) < (1.0 + TIE).ln() && differ.len() as f64 <= by_chance {
        return None;
    }
    Some(Finding {
        kind: FindingKind::Unsure,
        text: format!(
            "identical code differs in {} of {} A/A controls: {} {} costs {} of itself",
            count(differ.len() as u64),
            count(all.len() as u64),
            row.key.runtime,
            row.key.variant_and_case(),
            figure::ratio(*ratio, Some(*ci))
        ),
        remedy: "trust no ratio nearer to 1 than that; run it again when the machine is idle".into(),
    })
}

/// Ranked rows without an interval, and those that may be dearer or cheaper than the reference.
fn unsure(rankings: &[Ranking]) -> Vec<Finding> {
    let rows = || rankings.iter().flat_map(|ranking| &ranking.rows);
    let all = count(rows().count() as u64);
    let without = rows().filter(|row| row.ci.is_none()).count() as u64;
    let wide =
        rows().filter(|row| row.standing == Standing::CannotTell && row.ratio_ci.is_some()).count() as u64;
    let runtimes: BTreeSet<&str> = rows().map(|row| row.runtime.as_str()).collect();
    let remedy = match runtimes.len() {
        0 | 1 => "allow more with --max-time",
        _ => "name fewer with --runtime, or allow more with --max-time",
    };
    let unsure = |text: String| Finding { kind: FindingKind::Unsure, text, remedy: remedy.into() };
    let mut findings = Vec::new();
    if without > 0 {
        let without = count(without);
        findings.push(unsure(format!("{without} of {all} have no interval: fewer than six processes")));
    }
    let pooled = rows().filter(|row| row.pooled).count() as u64;
    if pooled > 0 {
        findings.push(unsure(format!(
            "{} of {all} intervals rest on the spread at all sizes: fewer than six processes each",
            count(pooled)
        )));
    }
    if wide > 0 {
        let wide = count(wide);
        let others = count(rows().filter(|row| row.standing != Standing::Reference).count() as u64);
        let text = format!("{wide} of {others}, marked ?, may be dearer or cheaper than the reference");
        findings.push(unsure(text));
    }
    findings
}

/// Rows that were mostly timed while their code was being compiled: they may cost a fraction of
/// what is shown.
fn unsettled<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<Finding> {
    let (mut shown, mut early) = (0, Vec::new());
    for row in rows.filter(|row| row.role != Role::Control) {
        let Some(figures) = row.figures() else { continue };
        shown += 1;
        if figures.settled.is_some_and(Settled::mostly_not) {
            early.push(format!("{} {}", row.key.runtime, row.key.variant_and_case()));
        }
    }
    (!early.is_empty()).then(|| Finding {
        kind: FindingKind::Unsettled,
        text: format!(
            "{} of {} were timed before fresh processes had levelled off: {}",
            count(early.len() as u64),
            count(shown),
            // One line of names: the table marks them too.
            match early.as_slice() {
                [first, _, _, ..] => format!("{first} and {} more", count(early.len() as u64 - 1)),
                few => few.join(", "),
            }
        ),
        remedy: "name fewer with --runtime or --variant, or allow more with --max-time".into(),
    })
}

/// Shares of a base, and multiples of the fewest workers, without an interval.
fn unsure_shares(shares: &[Shares], scales: &[Scales]) -> Option<Finding> {
    let shares = || shares.iter().flat_map(|one| one.rows.iter().chain(&one.subtracted));
    let multiples = || scales.iter().flat_map(|one| &one.rows);
    let without = shares().filter(|row| !row.is_base && row.ci.is_none()).count()
        + multiples().filter(|row| row.workers != row.base && row.ci.is_none()).count();
    (without > 0).then(|| Finding {
        kind: FindingKind::Unsure,
        text: format!(
            "{} of {} have no interval: fewer than six processes",
            count(without as u64),
            count((shares().count() + multiples().count()) as u64)
        ),
        remedy: "name fewer with --variant, or allow more with --max-time".into(),
    })
}

/// Multiples of the floor of a stream without an interval.
fn unsure_streams(streams: &[Streams]) -> Option<Finding> {
    let multiples = || {
        let of = |table: &'_ Streams| {
            let floor = table.floor.clone();
            table
                .rows
                .iter()
                .filter(move |row| floor.as_deref() != Some(&format!("{}:{}", row.runtime, row.variant)))
                .filter(|row| row.times_floor.is_some())
                .map(|row| row.times_floor_ci.is_none())
                .collect::<Vec<_>>()
        };
        streams.iter().flat_map(of)
    };
    let without = multiples().filter(|without| *without).count() as u64;
    (without > 0).then(|| Finding {
        kind: FindingKind::Unsure,
        text: format!(
            "{} of {} have no interval: fewer than six processes",
            count(without),
            count(multiples().count() as u64)
        ),
        remedy: "name fewer with --runtime or --variant, or allow more with --max-time".into(),
    })
}

/// Sweeps that have no smallest task to rank, grouped by the reason.
fn without_grain(granularity: &[Granularity]) -> Vec<Finding> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for one in granularity.iter().filter(|one| one.creates_task != Some(false)) {
        let reason = match &one.figures {
            Reading::Missing(missing) => missing.reason.clone(),
            Reading::Value(grains) => match grains.metg.iter().find(|metg| is_ranked(metg)) {
                Some(Metg { grain: Reading::Missing(missing), .. }) => missing.reason.clone(),
                _ => continue,
            },
        };
        let name = format!("{} {}", one.key.runtime, one.key.variant_and_case());
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    let finding = |(reason, names): (String, Vec<String>)| {
        plain(FindingKind::Unsure, format!("no smallest task for {}: {reason}", listed(&names)))
    };
    groups.into_iter().map(finding).collect()
}

fn is_not_here(parts: &Parts<'_>, id: &str) -> bool {
    let missing = |state: &taskscale_model::run_file::RuntimeState| {
        matches!(state, taskscale_model::run_file::RuntimeState::Missing(_))
    };
    parts.run.runtimes.iter().any(|runtime| runtime.id == id && missing(&runtime.state))
}

/// Runtimes that could not take part.
fn not_here(parts: &Parts<'_>) -> Vec<Finding> {
    use taskscale_model::run_file::RuntimeState;
    let missing: Vec<(&str, &taskscale_model::missing::Missing)> = parts
        .run
        .runtimes
        .iter()
        .filter_map(|runtime| match &runtime.state {
            RuntimeState::Missing(missing) => Some((runtime.id.as_str(), missing)),
            RuntimeState::Ready { .. } => None,
        })
        .collect();
    if missing.len() > 1 {
        let names: Vec<String> = missing.iter().map(|(id, _)| (*id).to_owned()).collect();
        return vec![Finding {
            kind: FindingKind::Skipped,
            text: format!("{}: not here", names.join(", ")),
            remedy: "taskscale list says what each needs".into(),
        }];
    }
    missing
        .into_iter()
        .map(|(id, missing)| Finding {
            kind: FindingKind::Skipped,
            text: format!("{id}: {}", missing.reason),
            remedy: missing.remedy.clone(),
        })
        .collect()
}
