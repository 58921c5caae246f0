//! Arranges a summary as tables: one per suite and table, one line per runtime, variant and case, one cell per size.

use taskscale_model::{
    params,
    run_file::Role,
    summary::{Cause, Grade, Growth, Row, RowStatus, Settled, Summary},
};

use crate::style::clean;
use taskscale_analysis::{
    figure::{count, percent, rounded},
    summarize::{
        BUSIEST_THREAD_SHARE, COLD_CPU_PER_TASK, CPU_PER_TASK, CREATE_CPU_SHARE, THREADS_RAN, WALL_PER_TASK,
        counts::is_count,
    },
};

/// How to read the threads of a cell.
pub const THREADS_LEGEND: &str = "Threads are those that used at least 5 % of a sample's CPU time, told where they were \
    not always as many as the runtime's workers, with the share of the busiest.";

/// One table of the report.
pub struct Table<'a> {
    /// The suite.
    pub suite: &'a str,
    /// The title.
    pub title: &'a str,
    /// All sizes of its lines, ascending.
    pub sizes: Vec<u64>,
    /// Its lines, in the order of the plan.
    pub lines: Vec<Line<'a>>,
}

/// One line of a table.
pub struct Line<'a> {
    /// Any row of it: all but the figures is common to them.
    pub row: &'a Row,
    /// Its rows.
    pub cells: Vec<Cell<'a>>,
    /// Its growth.
    pub growth: Option<&'a Growth>,
    /// Workers of its runtime, where it can say.
    workers: Option<u64>,
}

/// One row of the summary with the metrics that belong together.
pub struct Cell<'a> {
    /// CPU time per task, or the reason why there is none.
    pub cpu: &'a Row,
    /// Wall time per task.
    pub wall: Option<&'a Row>,
    /// CPU time per task in the first sample of a fresh process.
    pub cold: Option<&'a Row>,
    /// Share of CPU time until the last task was started.
    pub create: Option<&'a Row>,
    /// Threads that ran.
    pub threads: Option<&'a Row>,
    /// Share of the busiest of them.
    pub busiest: Option<&'a Row>,
}

/// All tables of a summary, in the order of the plan.
pub fn tables(summary: &Summary) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    // Those of a sweep are shown together, by what follows from them.
    for row in summary.rows.iter().filter(|row| row.sweep.is_none()) {
        let table = match tables.iter().position(|table| table.suite == row.suite && table.title == row.table)
        {
            Some(index) => &mut tables[index],
            None => {
                tables.push(Table {
                    suite: &row.suite,
                    title: &row.table,
                    sizes: Vec::new(),
                    lines: Vec::new(),
                });
                let last = tables.len() - 1;
                &mut tables[last]
            }
        };
        if let Err(place) = table.sizes.binary_search(&row.size) {
            table.sizes.insert(place, row.size);
        }
        table.add(row);
    }
    for table in &mut tables {
        // Rows of one runtime stand together, however the plan mixed them.
        let mut order: Vec<&str> = Vec::new();
        for line in &table.lines {
            if !order.contains(&line.row.runtime.as_str()) {
                order.push(&line.row.runtime);
            }
        }
        table.lines.sort_by_key(|line| order.iter().position(|runtime| *runtime == line.row.runtime));
        for line in &mut table.lines {
            let runtime = summary.runtimes.iter().find(|runtime| runtime.id == line.row.runtime);
            line.workers = runtime.and_then(|runtime| runtime.workers);
            line.growth = summary.growth.iter().find(|growth| belongs(growth, line.row));
        }
    }
    tables
}

fn belongs(growth: &Growth, row: &Row) -> bool {
    row.role != Role::Control
        && (&growth.suite, &growth.table, &growth.runtime, &growth.variant, &growth.case)
            == (&row.suite, &row.table, &row.runtime, &row.variant, &row.case)
}

impl<'a> Table<'a> {
    fn add(&mut self, row: &'a Row) {
        let is_control = row.role == Role::Control;
        let line = self.lines.iter().position(|line| {
            let other = line.row;
            (&other.runtime, &other.variant, &other.case, other.role == Role::Control)
                == (&row.runtime, &row.variant, &row.case, is_control)
        });
        let line = match line {
            Some(index) => &mut self.lines[index],
            None => {
                self.lines.push(Line { row, cells: Vec::new(), growth: None, workers: None });
                let last = self.lines.len() - 1;
                &mut self.lines[last]
            }
        };
        match line.cells.iter_mut().find(|cell| cell.cpu.size == row.size) {
            None if row.metric == CPU_PER_TASK => line.cells.push(Cell {
                cpu: row,
                wall: None,
                cold: None,
                create: None,
                threads: None,
                busiest: None,
            }),
            Some(cell) if row.metric == WALL_PER_TASK => cell.wall = Some(row),
            Some(cell) if row.metric == COLD_CPU_PER_TASK => cell.cold = Some(row),
            Some(cell) if row.metric == THREADS_RAN => cell.threads = Some(row),
            Some(cell) if row.metric == BUSIEST_THREAD_SHARE => cell.busiest = Some(row),
            Some(cell) if row.metric == CREATE_CPU_SHARE => cell.create = Some(row),
            _ => {}
        }
    }

    /// The sizes at which at least one line has figures; the others are told of among the failed and skipped rows.
    pub fn sizes_with_figures(&self) -> Vec<u64> {
        let has = |size: u64| {
            self.lines.iter().any(|line| line.at(size).is_some_and(|cell| cell.cpu.status == RowStatus::Ok))
        };
        self.sizes.iter().copied().filter(|&size| has(size)).collect()
    }

    /// Whether a cell of it tells which threads ran.
    pub fn tells_threads(&self) -> bool {
        let sizes = self.sizes_with_figures();
        self.lines.iter().any(|line| sizes.iter().any(|&size| line.threads_at(size).is_some()))
    }

    /// The title as it is printed.
    pub fn heading(&self) -> String {
        if self.title == self.suite {
            clean(self.title)
        } else {
            clean(&format!("{}: {}", self.suite, self.title))
        }
    }
}

impl<'a> Line<'a> {
    /// The cell at a size.
    pub fn at(&self, size: u64) -> Option<&Cell<'a>> {
        self.cells.iter().find(|cell| cell.cpu.size == size)
    }

    /// The threads that ran at a size, where that was not always the runtime's number of workers: `1 thread`, or with
    /// the share of the busiest `1 to 2 threads, 93% in one`.
    pub fn threads_at(&self, size: u64) -> Option<String> {
        let cell = self.at(size)?;
        let (least, most) = (cell.threads?.p0?.round() as u64, cell.threads?.p100?.round() as u64);
        // One thread needs no mention either where nothing is known of the workers.
        let expected = self.workers.unwrap_or(1);
        if (least, most) == (expected, expected) {
            return None;
        }
        let threads = match (least, most) {
            (1, 1) => return Some("1 thread".into()),
            (least, most) if least == most => format!("{} threads", count(most)),
            (least, most) => format!("{} to {} threads", count(least), count(most)),
        };
        let busiest = cell.busiest.and_then(|busiest| busiest.p50);
        Some(busiest.map_or(threads.clone(), |share| format!("{threads}, {}% in one", percent(share))))
    }

    /// Runtime, as the user names it.
    pub fn runtime(&self) -> String {
        clean(&self.row.runtime)
    }

    /// The same for a narrow column: of a toolchain named by its path, the path's end.
    pub fn short_runtime(&self) -> String {
        short(&self.runtime())
    }

    /// Its version.
    pub fn version(&self) -> String {
        clean(&self.row.version)
    }

    /// Variant.
    pub fn variant(&self) -> String {
        clean(&self.row.variant)
    }

    /// What distinguishes the line beside its variant: case, form, control, warm-up, share of creation.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.names();
        let early = |cell: &Cell<'_>| cell.cpu.settled.is_some_and(Settled::mostly_not);
        if self.cells.iter().any(early) {
            remarks.push("not settled".to_owned());
        }
        let largest = self.cells.iter().filter(|cell| cell.create.is_some()).max_by_key(|cell| cell.cpu.size);
        if let Some(share) = largest.and_then(|cell| cell.create).and_then(|create| create.p50) {
            remarks.push(format!("create {}%", percent(share)));
        }
        remarks
    }

    /// Those of the remarks that no figure stands behind.
    pub fn names(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.row.role == Role::Control {
            remarks.push("A/A control".to_owned());
        }
        if !self.row.case.is_empty() {
            remarks.push(clean(&params::label(&self.row.case)));
        }
        if self.row.creates_task == Some(false) {
            remarks.push("no task".to_owned());
        }
        remarks
    }

    /// Whether the line is worth a place in a table: it has a figure, or failed beside figures.
    pub fn has_figures(&self) -> bool {
        self.cells.iter().any(|cell| cell.cpu.status == RowStatus::Ok)
    }
}

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

/// An exponent with half its interval: `n^1.02 ±0.01`. Growth without a grade has none that should be read.
pub fn exponent(growth: &Growth) -> Option<String> {
    let exponent = growth.exponent.filter(|_| growth.grade != Grade::CannotTell)?;
    let half_width =
        growth.exponent_ci.map(|ci| taskscale_analysis::figure::half_width(exponent, ci).max(0.01));
    let half_width =
        half_width.map(|half_width| format!(" ±{}", rounded(half_width, Some(0.01)))).unwrap_or_default();
    Some(format!("n^{exponent:.2}{half_width}"))
}

/// Rows that share a state and its cause.
pub struct Reasons {
    /// Why.
    pub reason: String,
    /// What to do, or empty.
    pub remedy: String,
    /// Which: `runtime variant` with their sizes.
    pub who: Vec<String>,
}

/// Rows without figures in a state, grouped by equal reason and remedy, in the order of the plan.
pub fn reasons(summary: &Summary, status: RowStatus) -> Vec<Reasons> {
    type Who<'a> = (String, Vec<u64>);
    let mut groups: Vec<(String, String, Vec<Who<'_>>)> = Vec::new();
    // A runtime that is not here has a section of its own.
    let not_here =
        |row: &&Row| summary.runtimes.iter().any(|one| one.id == row.runtime && one.missing.is_some());
    // So has what was not counted.
    let rows = summary.rows.iter().filter(|row| row.status == status && !is_count(row));
    for row in rows.filter(|row| !not_here(row)) {
        let text = |text: &Option<String>| clean(text.as_deref().unwrap_or_default());
        let (reason, remedy) = (text(&row.reason), text(&row.remedy));
        let index =
            groups.iter().position(|group| group.0 == reason && group.1 == remedy).unwrap_or_else(|| {
                groups.push((reason, remedy, Vec::new()));
                groups.len() - 1
            });
        let mut name = clean(&format!("{} {}", row.runtime, row.variant));
        if !row.case.is_empty() {
            name.push_str(&clean(&format!(" {}", params::label(&row.case))));
        }
        let who = &mut groups[index].2;
        match who.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sizes)) => sizes.push(row.size),
            None => who.push((name, vec![row.size])),
        }
    }
    let named = |(name, mut sizes): Who<'_>| {
        sizes.sort_unstable();
        sizes.dedup();
        let sizes: Vec<String> = sizes.into_iter().map(taskscale_analysis::figure::count).collect();
        format!("{name} at n = {}", sizes.join("; "))
    };
    groups
        .into_iter()
        .map(|(reason, remedy, who)| Reasons { reason, remedy, who: who.into_iter().map(named).collect() })
        .collect()
}

/// What is known of each series that grows superlinearly: `name: grade`, over which sizes, from which, and the size of a second.
pub fn growth_findings(summary: &Summary) -> Vec<String> {
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

/// A size that is only known roughly: two digits.
fn about(size: f64) -> String {
    rounded(size.round(), Some(size / 10.0))
}

fn name_of(growth: &Growth) -> String {
    match params::label(&growth.case) {
        case if growth.case.is_empty() || case.is_empty() => format!("{} {}", growth.runtime, growth.variant),
        case => format!("{} {} {case}", growth.runtime, growth.variant),
    }
}

/// Reasons why growth was not judged or not isolated, each with the series it concerns.
pub fn growth_reasons(summary: &Summary) -> Vec<(String, Vec<String>)> {
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

/// The machine in one line.
pub fn machine(summary: &Summary) -> String {
    taskscale_analysis::machine_words(&summary.machine)
}

/// `go@…/go1.22` of `go@/opt/go1.22`.
fn short(runtime: &str) -> String {
    match runtime.split_once('@') {
        Some((name, path)) if path.contains('/') => {
            let end = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            format!("{name}@\u{2026}/{end}")
        }
        _ => runtime.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn of_a_path_the_end_is_shown() {
        for (whole, shown) in [
            ("go@/opt/go1.22", "go@\u{2026}/go1.22"),
            ("java@/usr/lib/jvm/jdk-25/", "java@\u{2026}/jdk-25"),
            ("asyncio@python3.13", "asyncio@python3.13"),
            ("tokio", "tokio"),
        ] {
            assert_eq!(short(whole), shown);
        }
    }
}
