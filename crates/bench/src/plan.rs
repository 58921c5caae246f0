//! Suites and runtimes in, a plan out: cells (table and size) of rows (runtime and variant). Nothing is measured
//! here, and nothing is left out without a row that says why.

mod sides;

use taskscale_model::{
    answer::Rule,
    key::{RowKey, SeriesKey},
    missing::Missing,
    params::Params,
    protocol::{Description, Variant, Workload},
    run_file::{ANY, Part, Role, RowRecord},
    suite::{Block, Suite},
};

use crate::sweep;

/// A runtime that was looked for: its description, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// As the user names it: `asyncio`, `asyncio@python3.8`.
    pub id: String,
    /// Whether the user asked for it by name; then whatever it cannot do is a skipped row.
    pub asked: bool,
    /// Whether only tables that name it want it, where the user did not ask for it.
    pub by_name: bool,
    /// The runtime whose rows are judged against this one's: this is the old side of a comparison.
    pub old_of: Option<String>,
    /// What the probe says of itself.
    pub description: Result<Description, Missing>,
}

/// What the command line narrows or changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Sizes instead of the suite's; empty keeps those.
    pub sizes: Vec<u64>,
    /// Variants to keep: a whole name, or one part of it between slashes; empty keeps all.
    pub variants: Vec<String>,
    /// The baseline instead of the suite's: `variant` or `runtime:variant`.
    pub baseline: Option<String>,
    /// Parameters put over those of every table.
    pub params: Params,
    /// CPU time of the work inside each task, in nanoseconds; becomes a number of steps for each runtime by
    /// [`crate::run::calibrate_work`].
    pub work_ns: Option<u64>,
}

/// Everything that a run will do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// In the order in which they are measured.
    pub cells: Vec<Cell>,
}

/// One workload at one size: rows that are measured side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Index of the suite it came from.
    pub suite: usize,
    /// The table.
    pub table: String,
    /// The size.
    pub size: u64,
    /// Which answer is right.
    pub rule: Rule,
    /// The rows, those that cannot be measured included.
    pub rows: Vec<PlannedRow>,
}

impl Cell {
    /// The rule of one of its rows: beside the tasks of a sweep stands the kernel alone.
    pub fn rule_of(&self, row: &RowRecord) -> Rule {
        match row.sweep.map(|sweep| sweep.part) {
            Some(Part::Kernel) => Rule::Spin,
            Some(Part::Tasks) | None => self.rule,
        }
    }
}

/// A row and, if it will not be measured, why.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRow {
    /// The row.
    pub record: RowRecord,
    /// Why it is skipped.
    pub skip: Option<Missing>,
}

/// Why there is nothing to plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The filters leave nothing.
    #[error("no variant is named {asked}; the runtimes here have: {known}")]
    NoSuchVariant {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// A baseline that is not a row.
    #[error("--baseline {asked} is not a row of any table; rows are: {known}")]
    NoSuchBaseline {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// No rows at all.
    #[error("nothing to measure: none of the runtimes offers a workload of this suite")]
    Nothing,
}

impl Plan {
    /// Plans `suites` over `runtimes`.
    pub fn new(suites: &[Suite], runtimes: &[Found], selection: &Selection) -> Result<Plan, PlanError> {
        let mut plan = Plan::default();
        let (mut number, mut sweeps) = (0, 0);
        for (index, suite) in suites.iter().enumerate() {
            for block in &suite.workloads {
                let sizes = if selection.sizes.is_empty() { &block.sizes } else { &selection.sizes };
                for &size in sizes {
                    let mut cell = Cell {
                        suite: index,
                        table: title(block, selection),
                        size,
                        rule: block.answer.rule,
                        rows: Vec::new(),
                    };
                    for runtime in runtimes.iter().filter(|runtime| takes_part(suite, block, runtime)) {
                        cell.rows.extend(rows_of(suite, block, size, runtime, selection));
                    }
                    // One work that was asked for is no sweep.
                    let cells = if block.work_ns.is_empty() || selection.work_ns.is_some() {
                        choose_baselines(&mut cell.rows, suite, runtimes, selection);
                        vec![cell]
                    } else {
                        let rows = std::mem::take(&mut cell.rows);
                        sweep::cells(block, &cell, rows, runtimes, &mut sweeps)
                    };
                    for mut cell in cells.into_iter().filter(|cell| !cell.rows.is_empty()) {
                        sides::pair(&mut cell.rows, runtimes);
                        // Verdicts on two sides need a control whatever the table is read for.
                        if block.controls || runtimes.iter().any(|runtime| runtime.old_of.is_some()) {
                            let spared = sides::spared(&cell.rows, runtimes);
                            add_controls(&mut cell.rows, &spared);
                        }
                        number_rows(&mut cell.rows, &mut number);
                        plan.cells.push(cell);
                    }
                }
            }
        }
        plan.check(selection, runtimes)?;
        Ok(plan)
    }

    /// All rows, cell by cell.
    pub fn rows(&self) -> impl Iterator<Item = &PlannedRow> {
        self.cells.iter().flat_map(|cell| &cell.rows)
    }

    /// Rows that are judged by an old side.
    pub fn judged(&self, runtimes: &[Found]) -> usize {
        let judged = |row: &&PlannedRow| {
            row.record.baseline.is_some()
                && runtimes.iter().any(|old| old.old_of.as_ref() == Some(&row.record.key.runtime))
        };
        self.rows().filter(judged).count()
    }

    fn check(&self, selection: &Selection, runtimes: &[Found]) -> Result<(), PlanError> {
        let described = self.rows().any(|row| row.record.key.variant != ANY);
        if !described && !selection.variants.is_empty() {
            let known = runtimes
                .iter()
                .filter_map(|runtime| runtime.description.as_ref().ok())
                .flat_map(|description| &description.workloads)
                .flat_map(|workload| &workload.variants)
                .map(|variant| variant.name.as_str());
            return Err(PlanError::NoSuchVariant {
                asked: selection.variants.join(", "),
                known: listed(known),
            });
        }
        if self.cells.is_empty() {
            return Err(PlanError::Nothing);
        }
        if let Some(asked) = &selection.baseline
            && !self.rows().any(|row| names(asked, &row.record))
        {
            // A row that is skipped says why it cannot be the baseline.
            let known = self.rows().map(|row| match &row.skip {
                None => row.record.key.full_name(),
                Some(missing) => format!("{} ({})", row.record.key.full_name(), missing.reason),
            });
            let known: Vec<String> = known.collect();
            let known = listed(known.iter().map(String::as_str));
            return Err(PlanError::NoSuchBaseline { asked: asked.clone(), known });
        }
        Ok(())
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Whether `asked` (`variant` or `runtime:variant`) names this row.
fn names(asked: &str, row: &RowRecord) -> bool {
    asked == row.key.variant || asked == row.key.full_name()
}

/// The table's title, with what the command line puts over its parameters.
fn title(block: &Block, selection: &Selection) -> String {
    let work = selection.work_ns.map(|ns| format!("work={}us", ns as f64 / 1e3));
    let params = Some(taskscale_model::params::label(&selection.params)).filter(|label| !label.is_empty());
    let added: Vec<String> = params.into_iter().chain(work).collect();
    if added.is_empty() { block.title() } else { format!("{}, {}", block.title(), added.join(" ")) }
}

/// A block that names runtimes is for them; one that was asked for and that no block of the suite names (a user's own) takes
/// part in all.
fn takes_part(suite: &Suite, block: &Block, runtime: &Found) -> bool {
    let name = runtime_name(runtime);
    let is_named = |block: &Block| block.runtimes.as_ref().is_some_and(|names| names.contains(&name));
    (block.runtimes.is_none() && !runtime.by_name)
        || is_named(block)
        || (runtime.asked && !suite.workloads.iter().any(is_named))
}

/// `asyncio` for `asyncio@python3.8` and for any probe that says it is asyncio.
fn runtime_name(runtime: &Found) -> String {
    match &runtime.description {
        Ok(description) => description.runtime.name.clone(),
        Err(_) => runtime.id.split('@').next().unwrap_or_default().to_owned(),
    }
}

fn rows_of(
    suite: &Suite,
    block: &Block,
    size: u64,
    runtime: &Found,
    selection: &Selection,
) -> Vec<PlannedRow> {
    let mut base = block.params.clone();
    base.extend(selection.params.clone());
    let series = SeriesKey {
        suite: suite.name.clone(),
        table: title(block, selection),
        workload: block.name.clone(),
        runtime: runtime.id.clone(),
        version: String::new(),
        variant: ANY.into(),
        case: Params::new(),
        params: base.clone(),
    };
    let blank = RowRecord {
        row: 0,
        key: RowKey { series, size },
        creates_task: None,
        jit: false,
        sweep: None,
        role: Role::Row,
        baseline: None,
    };
    let skipped = |missing: Missing| vec![PlannedRow { record: blank.clone(), skip: Some(missing) }];
    let description = match &runtime.description {
        Ok(description) => description,
        Err(missing) => return skipped(missing.clone()),
    };
    let workload = description.workload(&block.name).filter(|workload| workload.accepts(&base));
    let Some(workload) = workload else {
        if !runtime.asked {
            return Vec::new();
        }
        let what =
            format!("{} does not offer {} {}", runtime.id, block.name, taskscale_model::params::label(&base));
        return skipped(Missing::new(what.trim_end(), "`taskscale list` shows what each runtime offers"));
    };
    let mut rows = Vec::new();
    for variant in wanted(workload, block, selection) {
        let cases = std::iter::once(Params::new()).chain(block.cases.iter().cloned());
        for case in cases {
            let mut params = base.clone();
            params.extend(case.clone());
            if !workload.accepts(&params) || !variant.allows(&with_defaults(workload, &params)) {
                continue;
            }
            let series = SeriesKey {
                version: description.runtime.version.clone(),
                variant: variant.name.clone(),
                case,
                params,
                ..blank.key.series.clone()
            };
            let record = RowRecord {
                key: RowKey { series, size },
                creates_task: Some(variant.creates_task),
                jit: description.jit,
                ..blank.clone()
            };
            rows.push(PlannedRow { skip: why_not(variant, size), record });
        }
    }
    rows
}

fn with_defaults(workload: &Workload, params: &Params) -> Params {
    let defaults = workload.params.iter().map(|param| (param.name.clone(), param.default.clone()));
    let mut all: Params = defaults.collect();
    all.extend(params.clone());
    all
}

fn wanted<'a>(
    workload: &'a Workload,
    block: &'a Block,
    selection: &'a Selection,
) -> impl Iterator<Item = &'a Variant> {
    let matches = |asked: &String, name: &str| asked == name || name.split('/').any(|part| part == asked);
    workload.variants.iter().filter(move |variant| {
        let asked = &selection.variants;
        if asked.is_empty() {
            block.variants.as_ref().is_none_or(|names| names.iter().any(|name| matches(name, &variant.name)))
        } else {
            asked.iter().any(|name| matches(name, &variant.name))
        }
    })
}

fn why_not(variant: &Variant, size: u64) -> Option<Missing> {
    if let Some(missing) = &variant.unavailable {
        return Some(missing.clone());
    }
    let limit = variant.max_size.filter(|limit| size > *limit)?;
    let note = if variant.note.is_empty() { String::new() } else { format!(": {}", variant.note) };
    Some(Missing::new(
        format!("can bear at most {limit} tasks{note}"),
        format!("choose --size {limit} or less"),
    ))
}

/// Gives every row its baseline: the one asked for, else the suite's for its runtime, else its runtime's first row.
/// Until rows are numbered, `baseline` holds an index into `rows`.
fn choose_baselines(rows: &mut [PlannedRow], suite: &Suite, runtimes: &[Found], selection: &Selection) {
    let mut chosen = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let plain = |asked: &str| {
            let same_runtime =
                |candidate: &&(usize, &PlannedRow)| candidate.1.record.key.runtime == row.record.key.runtime;
            let candidates: Vec<(usize, &PlannedRow)> = rows
                .iter()
                .enumerate()
                .filter(|(_, other)| other.skip.is_none() && other.record.key.case.is_empty())
                .filter(|(_, other)| names(asked, &other.record))
                .collect();
            // `variant` alone means the one of the same runtime, where there is one.
            candidates
                .iter()
                .find(same_runtime)
                .or(candidates.first().filter(|_| asked.contains(':')))
                .map(|c| c.0)
        };
        let name = runtimes.iter().find(|found| found.id == row.record.key.runtime).map(runtime_name);
        let of_suite = name.and_then(|name| suite.baseline.get(&name)).into_iter().flatten();
        let of_user = selection.baseline.iter();
        let first = rows.iter().position(|other| {
            other.skip.is_none()
                && other.record.key.runtime == row.record.key.runtime
                && other.record.key.case.is_empty()
        });
        let found = of_user.chain(of_suite).find_map(|asked| plain(asked)).or(first);
        chosen.push(if row.skip.is_some() { None } else { found });
    }
    for index in 0..rows.len() {
        if chosen[index] == Some(index) || chosen.contains(&Some(index)) {
            rows[index].record.role = Role::Baseline;
        }
        rows[index].record.baseline =
            chosen[index].filter(|baseline| *baseline != index).map(|index| index as u64);
    }
}

/// Enters each baseline that others are divided by a second time, under the role of control, but those that are `spared`. A
/// cell in which nothing is divided gets one control all the same, so that no figure stands without what this run could
/// tell.
fn add_controls(rows: &mut Vec<PlannedRow>, spared: &[usize]) {
    let divided = |index: usize| rows.iter().any(|row| row.record.baseline == Some(index as u64));
    let mut bases: Vec<usize> =
        (0..rows.len()).filter(|index| divided(*index) && !spared.contains(index)).collect();
    if bases.is_empty() {
        bases.extend(rows.iter().position(|row| row.skip.is_none()));
    }
    for base in bases {
        let mut control = rows[base].clone();
        control.record.role = Role::Control;
        control.record.baseline = Some(base as u64);
        rows.push(control);
    }
}

fn number_rows(rows: &mut [PlannedRow], next: &mut u64) {
    let first = *next;
    for row in rows.iter_mut() {
        row.record.row = *next;
        *next += 1;
        row.record.baseline = row.record.baseline.map(|index| first + index);
    }
}

#[cfg(test)]
mod tests;
