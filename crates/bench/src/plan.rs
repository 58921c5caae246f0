//! Makes a plan from suites and runtimes: cells (table and size) of rows (runtime and variant).
//! Nothing is measured here, and nothing is left out without a row that says why.
//!
//! | module | does |
//! |---|---|
//! | `found` | what a plan is made from: runtimes, and what the command line narrows |
//! | `cell` | what a plan consists of: cells of rows, and whether a row takes part |
//! | `draft` | rows of one table at one size, before they have numbers |
//! | `baselines` | which row each is divided by, and the A/A controls |
//! | `resident` | rows whose memory is read, each for itself |
//! | `sides` | the two sides of a comparison |
//! | `sweep` | a sweep over the work inside each task, and the kernel alone beside it |

mod baselines;
mod cell;
mod draft;
mod found;
mod resident;
mod sides;
mod sweep;
mod takes;

pub use cell::{Cell, PlannedRow, RowState};
pub use found::{Found, Selection};
pub use takes::Takes;

use taskscale_model::{
    missing::Missing,
    params::label,
    protocol::Workload,
    run_file::ANY,
    suite::{Block, LeaveOut, Suite},
};

use crate::{limits::Limits, meant, validate};
use draft::Draft;

/// Everything that a run will do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// The suites in the order in which they are measured.
    pub suites: Vec<PlannedSuite>,
}

/// The cells of one suite.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSuite {
    pub limits: Limits,
    /// What is left out where the budget is too short for every row, in this order.
    pub leave_out: Vec<LeaveOut>,
    /// Rows that all rankings refer to, as `runtime:variant`; they are not left out.
    pub reference: Vec<String>,
    /// The cells in the order in which they are measured.
    pub cells: Vec<Cell>,
}

/// The most rows of a cell: each has a process, and all are alive together. All runtimes with all
/// their ways make some 150; 2,000 shells took 2.2 GB.
pub const MOST_ALIVE: usize = 512;

/// Why there is nothing to plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The filters leave nothing.
    #[error("no variant is named {asked}; {known}")]
    NoSuchVariant {
        asked: String,
        /// The variant that was meant, and those that the runtimes offer.
        known: String,
    },
    /// The variant is there, but not with these parameters.
    #[error("no variant named {asked} can be run {with}; `taskscale list NAME` shows what each takes")]
    NoVariantFits { asked: String, with: String },
    /// No workload of any runtime takes a parameter that was typed.
    #[error("--param: {why}")]
    NoSuchParam { why: Missing },
    /// The baseline is not a row.
    #[error("--baseline {asked} is not a row of any table; {known}")]
    NoSuchBaseline {
        asked: String,
        /// The row that was meant, and those that could be a baseline.
        known: String,
    },
    /// More processes than a machine should bear at once.
    #[error(
        "{table} at size {size} has {rows} rows, and each has a process beside the others: {MOST_ALIVE} are the most; \
         name fewer with --runtime, --variant or --param"
    )]
    TooMany { table: String, size: u64, rows: usize },
    /// There are no rows at all.
    #[error("nothing to measure: none of the runtimes offers a workload of this suite{meant}")]
    Nothing {
        /// The workloads that the suite misspells.
        meant: String,
    },
}

impl Plan {
    /// Plans `suites` over `runtimes`. The `limits` of a suite may depend on how many rows of the
    /// plan an old side judges.
    pub fn new(
        suites: &[Suite],
        runtimes: &[Found],
        selection: &Selection,
        limits: &dyn Fn(&Suite, usize) -> Limits,
    ) -> Result<Plan, PlanError> {
        let planner = Planner { runtimes, selection };
        let (mut number, mut sweeps) = (0, 0);
        let cells: Vec<Vec<Cell>> =
            suites.iter().map(|suite| planner.suite(suite, &mut number, &mut sweeps)).collect();
        let judged = judged(cells.iter().flatten(), runtimes);
        let planned = suites.iter().zip(cells);
        let planned = planned.map(|(suite, cells)| PlannedSuite {
            limits: limits(suite, judged),
            leave_out: suite.leave_out.clone(),
            reference: suite.reference.clone(),
            cells,
        });
        let plan = Plan { suites: planned.collect() };
        plan.check(suites, selection, runtimes)?;
        plan.check_processes()?;
        Ok(plan)
    }

    /// All cells, in the order in which they are measured.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.suites.iter().flat_map(|suite| &suite.cells)
    }

    pub fn cells_mut(&mut self) -> impl Iterator<Item = &mut Cell> {
        self.suites.iter_mut().flat_map(|suite| &mut suite.cells)
    }

    /// All rows, cell by cell.
    pub fn rows(&self) -> impl Iterator<Item = &PlannedRow> {
        self.cells().flat_map(|cell| &cell.rows)
    }

    /// The number of rows that an old side judges.
    pub fn judged(&self, runtimes: &[Found]) -> usize {
        judged(self.cells(), runtimes)
    }

    fn check_processes(&self) -> Result<(), PlanError> {
        for cell in self.cells() {
            let rows = cell.rows.iter().filter(|row| row.state.takes_part()).count();
            if rows > MOST_ALIVE {
                return Err(PlanError::TooMany { table: cell.table.clone(), size: cell.size, rows });
            }
        }
        Ok(())
    }

    fn check(&self, suites: &[Suite], selection: &Selection, runtimes: &[Found]) -> Result<(), PlanError> {
        let descriptions = runtimes.iter().filter_map(|runtime| runtime.description.as_ref().ok());
        // Where no runtime could say what it offers, its row says why, and no name is wrong.
        if descriptions.clone().next().is_some() {
            let all: Vec<&Workload> = descriptions.flat_map(|description| &description.workloads).collect();
            let blocks = || suites.iter().flat_map(|suite| &suite.workloads);
            let is_asked = |workload: &&Workload| blocks().any(|block| block.name == workload.name);
            let of_suites: Vec<&Workload> = all.iter().copied().filter(is_asked).collect();
            // Of a workload that nobody offers there is nothing to name.
            let of_suites = if of_suites.is_empty() { all.clone() } else { of_suites };
            self.check_params(selection, &of_suites)?;
            self.check_variants(selection, &of_suites, &all)?;
            if self.rows().next().is_none() {
                return Err(PlanError::Nothing { meant: misspelt(blocks(), &all) });
            }
        }
        if self.rows().next().is_none() {
            return Err(PlanError::Nothing { meant: String::new() });
        }
        if let Some(asked) = &selection.baseline
            && !self.rows().any(|row| draft::names(asked, &row.record.key))
        {
            // A skipped row says why it cannot be the baseline.
            let known = self.rows().map(|row| match &row.state {
                RowState::Ready | RowState::Uncalibrated { .. } => row.record.key.full_name(),
                RowState::Skipped(missing) => format!("{} ({})", row.record.key.full_name(), missing.reason),
            });
            let known: Vec<String> = known.collect();
            let rest = format!("rows are: {}", listed(known.iter().map(String::as_str)));
            let names = self.rows().map(|row| row.record.key.full_name());
            let names: Vec<String> =
                names.chain(self.rows().map(|row| row.record.key.variant.clone())).collect();
            let known = meant::or_else(asked, names.iter().map(String::as_str), &rest);
            return Err(PlanError::NoSuchBaseline { asked: asked.clone(), known });
        }
        Ok(())
    }

    /// Refuses parameters that leave no row because no workload takes them.
    fn check_params(&self, selection: &Selection, workloads: &[&Workload]) -> Result<(), PlanError> {
        if selection.params.is_empty() || self.rows().any(|row| row.record.key.variant != ANY) {
            return Ok(());
        }
        let of = |workload: &&Workload| validate::params(workload, &selection.params).err();
        let whys: Option<Vec<Missing>> = workloads.iter().map(of).collect();
        // A workload with such a parameter tells most; one that lists others tells more than one
        // that has none.
        let telling = |why: &Missing| (!why.reason.starts_with("unknown"), why.reason.len());
        match whys.and_then(|whys| whys.into_iter().max_by_key(telling)) {
            Some(why) => Err(PlanError::NoSuchParam { why }),
            None => Ok(()),
        }
    }

    /// Refuses the first variant that was asked for and that no row has. Those of the suites'
    /// workloads are named; that one of `all` has it is another mistake.
    fn check_variants(
        &self,
        selection: &Selection,
        of_suites: &[&Workload],
        all: &[&Workload],
    ) -> Result<(), PlanError> {
        let has = |asked: &String| self.rows().any(|row| draft::is_meant(asked, &row.record.key.variant));
        let Some(asked) = selection.variants.iter().find(|asked| !has(asked)).cloned() else {
            return Ok(());
        };
        if variants(all).any(|name| draft::is_meant(&asked, name)) {
            let params = label(&selection.params);
            let with =
                if params.is_empty() { "in these suites".to_owned() } else { format!("with {params}") };
            return Err(PlanError::NoVariantFits { asked, with });
        }
        let rest = format!("the runtimes here have: {}", listed(variants(of_suites)));
        // A part between slashes is a name too.
        let parts = variants(of_suites).flat_map(|name| name.split('/'));
        let known = meant::or_else(&asked, variants(of_suites).chain(parts), &rest);
        Err(PlanError::NoSuchVariant { asked, known })
    }
}

/// The names of the variants of these workloads.
fn variants<'w>(workloads: &[&'w Workload]) -> impl Iterator<Item = &'w str> {
    workloads.iter().flat_map(|workload| &workload.variants).map(|variant| variant.name.as_str())
}

/// The workloads of suites that no runtime offers and that are near to one that it does.
fn misspelt<'s>(blocks: impl Iterator<Item = &'s Block>, all: &[&Workload]) -> String {
    let mut said = Vec::new();
    for block in blocks.filter(|block| all.iter().all(|workload| workload.name != block.name)) {
        let names = all.iter().map(|workload| workload.name.as_str());
        let words =
            meant::meant(&block.name, names).map(|name| format!("; by {} it may mean {name}", block.name));
        said.extend(words.filter(|words| !said.contains(words)));
    }
    said.concat()
}

fn judged<'c>(cells: impl Iterator<Item = &'c Cell>, runtimes: &[Found]) -> usize {
    let judged = |row: &&PlannedRow| {
        row.record.baseline.is_some()
            && runtimes.iter().any(|old| old.old_of.as_ref() == Some(&row.record.key.runtime))
    };
    cells.flat_map(|cell| &cell.rows).filter(judged).count()
}

/// What the plans of all suites share.
struct Planner<'a> {
    runtimes: &'a [Found],
    selection: &'a Selection,
}

impl Planner<'_> {
    /// The cells of a suite. The numbers of rows and sweeps continue those of the suites before.
    fn suite(&self, suite: &Suite, number: &mut u64, sweeps: &mut u64) -> Vec<Cell> {
        let mut cells = Vec::new();
        let blocks = suite.workloads.iter();
        for block in blocks.filter(|block| !draft::is_repeated(suite, block, self.selection)) {
            let asked = &self.selection.sizes;
            for &size in if asked.is_empty() { &block.sizes } else { asked } {
                for rows in self.groups(suite, block, size, sweeps) {
                    let table = draft::title(block, self.selection);
                    let rows = draft::number(rows, number);
                    let splits = block.split.is_some();
                    cells.push(Cell { table, size, rule: block.answer.rule, splits, rows });
                }
            }
        }
        cells
    }

    /// The rows of one table at one size, in the groups that are measured side by side.
    fn groups(&self, suite: &Suite, block: &Block, size: u64, sweeps: &mut u64) -> Vec<Vec<Draft>> {
        let (runtimes, selection) = (self.runtimes, self.selection);
        if block.stream.is_some()
            && !runtimes.iter().any(|runtime| draft::takes_part_whole(suite, block, runtime))
        {
            // Floors alone answer nothing.
            return Vec::new();
        }
        let taking_part = runtimes.iter().filter(|runtime| draft::takes_part(suite, block, runtime));
        let mut rows: Vec<Draft> =
            taking_part.flat_map(|runtime| draft::rows_of(suite, block, size, runtime, selection)).collect();
        // A single work that the user asks for is no sweep.
        let mut groups = if rows.iter().any(|row| row.key.is_resident()) {
            resident::groups(rows, runtimes)
        } else if block.work_ns.is_empty() || selection.work_ns.is_some() {
            // Passes over a stream last from microseconds to seconds: rows that shared a baseline
            // would share iterations.
            if block.stream.is_none() {
                baselines::choose(&mut rows, suite, runtimes, selection);
            }
            vec![rows]
        } else {
            sweep::groups(block, rows, runtimes, sweeps)
        };
        groups.retain(|rows| !rows.is_empty());
        for rows in &mut groups {
            sides::pair(rows, runtimes);
            let controls = block.controls && !rows.iter().any(|row| row.key.is_resident());
            // Verdicts on two sides need a control, whatever the table is read for.
            if controls || runtimes.iter().any(|runtime| runtime.old_of.is_some()) {
                let spared = sides::spared(rows, runtimes);
                baselines::add_controls(rows, &spared);
            }
        }
        groups
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests;
