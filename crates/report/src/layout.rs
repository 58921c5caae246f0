//! Arranges a summary as tables: one per suite and table, one line per runtime, variant and case,
//! one cell per size.

use std::collections::BTreeMap;

use taskscale_model::figure::{count, percent};
use taskscale_model::{
    key::SeriesKey,
    params,
    run_file::Role,
    summary::{Growth, Row, Settled, Summary},
};

use crate::style::clean;

/// The legend of the threads of a cell.
pub const THREADS_LEGEND: &str = "Threads are those that used at least 5 % of a sample's CPU time, told where they were \
    not always as many as the runtime's workers, with the share of the busiest.";

pub struct Table<'a> {
    /// What names any line of it, of which suite and table are the table's.
    pub key: &'a SeriesKey,
    /// All sizes of its lines, ascending.
    pub sizes: Vec<u64>,
    /// Its lines, in the order of the plan.
    pub lines: Vec<Line<'a>>,
    /// The place of the line of each series, and of its controls.
    places: BTreeMap<(&'a SeriesKey, bool), usize>,
}

/// One line of a table.
pub struct Line<'a> {
    /// Any row of the line: the rows differ only in their figures and sizes.
    pub row: &'a Row,
    /// The rows of the line, one for each size.
    pub cells: Vec<&'a Row>,
    pub growth: Option<&'a Growth>,
    /// Workers of its runtime, where the probe can say.
    workers: Option<u64>,
}

/// All tables of a summary, in the order of the plan.
pub fn tables(summary: &Summary) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    // Rows of a sweep are shown together, by what follows from them.
    for row in summary.rows.iter().filter(|row| row.sweep.is_none()) {
        let table = match tables
            .iter()
            .position(|table| (&table.key.suite, &table.key.table) == (&row.key.suite, &row.key.table))
        {
            Some(index) => &mut tables[index],
            None => {
                tables.push(Table {
                    key: &row.key.series,
                    sizes: Vec::new(),
                    lines: Vec::new(),
                    places: BTreeMap::new(),
                });
                let last = tables.len() - 1;
                &mut tables[last]
            }
        };
        if let Err(place) = table.sizes.binary_search(&row.key.size) {
            table.sizes.insert(place, row.key.size);
        }
        table.add(row);
    }
    let growths: BTreeMap<&SeriesKey, &Growth> =
        summary.growth.iter().rev().map(|growth| (&growth.key, growth)).collect();
    for table in &mut tables {
        // Rows of one runtime stand together, however the plan mixed them.
        let mut order: Vec<&str> = Vec::new();
        for line in &table.lines {
            if !order.contains(&line.row.key.runtime.as_str()) {
                order.push(&line.row.key.runtime);
            }
        }
        table.lines.sort_by_key(|line| order.iter().position(|runtime| *runtime == line.row.key.runtime));
        for line in &mut table.lines {
            let runtime = summary.runtimes.iter().find(|runtime| runtime.id == line.row.key.runtime);
            line.workers = runtime.and_then(|runtime| runtime.facts.value()?.workers);
            line.growth =
                growths.get(&line.row.key.series).copied().filter(|_| line.row.role != Role::Control);
        }
    }
    tables
}

impl<'a> Table<'a> {
    fn add(&mut self, row: &'a Row) {
        let is_control = row.role == Role::Control;
        let place = *self.places.entry((&row.key.series, is_control)).or_insert(self.lines.len());
        if place == self.lines.len() {
            self.lines.push(Line { row, cells: Vec::new(), growth: None, workers: None });
        }
        let line = &mut self.lines[place];
        if line.at(row.key.size).is_none() {
            line.cells.push(row);
        }
    }

    /// The sizes at which at least one line has figures. The failed and skipped rows tell of the
    /// others.
    pub fn sizes_with_figures(&self) -> Vec<u64> {
        let has = |size: u64| {
            self.lines.iter().any(|line| line.at(size).is_some_and(|row| row.figures().is_some()))
        };
        self.sizes.iter().copied().filter(|&size| has(size)).collect()
    }

    /// Whether any of its cells tells which threads ran.
    pub fn tells_threads(&self) -> bool {
        let sizes = self.sizes_with_figures();
        self.lines.iter().any(|line| sizes.iter().any(|&size| line.threads_at(size).is_some()))
    }

    /// The title as the report prints it.
    pub fn heading(&self) -> String {
        clean(&self.key.heading())
    }
}

impl<'a> Line<'a> {
    /// The row at a size.
    pub fn at(&self, size: u64) -> Option<&'a Row> {
        self.cells.iter().find(|row| row.key.size == size).copied()
    }

    /// The threads that ran at a size, where that was not always the runtime's number of workers.
    /// It reads `1 thread`, or with the share of the busiest `1 to 2 threads, 93% in one`.
    pub fn threads_at(&self, size: u64) -> Option<String> {
        let figures = self.at(size)?.figures()?;
        let threads = figures.threads?;
        let (least, most) = (threads.p0.round() as u64, threads.p100.round() as u64);
        // One thread needs no mention either where the number of workers is unknown.
        let expected = self.workers.unwrap_or(1);
        if (least, most) == (expected, expected) {
            return None;
        }
        let threads = match (least, most) {
            (1, 1) => return Some("1 thread".into()),
            (least, most) if least == most => format!("{} threads", count(most)),
            (least, most) => format!("{} to {} threads", count(least), count(most)),
        };
        Some(match figures.busiest {
            Some(busiest) => format!("{threads}, {}% in one", percent(busiest.p50)),
            None => threads,
        })
    }

    /// The runtime as the user names it.
    pub fn runtime(&self) -> String {
        clean(&self.row.key.runtime)
    }

    pub fn version(&self) -> String {
        clean(&self.row.key.version)
    }

    pub fn variant(&self) -> String {
        clean(&self.row.key.variant)
    }

    /// What distinguishes the line beside its variant: case, form, control, warm-up, share of
    /// creation.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.names();
        let figures = || self.cells.iter().filter_map(|row| Some((row.key.size, row.figures()?)));
        if figures().any(|(_, figures)| figures.settled.is_some_and(Settled::mostly_not)) {
            remarks.push("not settled".to_owned());
        }
        let created = figures().filter_map(|(size, figures)| Some((size, figures.create_cpu?)));
        if let Some((_, share)) = created.max_by_key(|(size, _)| *size) {
            remarks.push(format!("create {}%", percent(share.p50)));
        }
        remarks
    }

    /// The remarks that rest on no figure.
    pub fn names(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.row.role == Role::Control {
            remarks.push("A/A control".to_owned());
        }
        if !self.row.key.case.is_empty() {
            remarks.push(clean(&params::label(&self.row.key.case)));
        }
        if self.row.creates_task == Some(false) {
            remarks.push("no task".to_owned());
        }
        remarks
    }

    /// Whether the line is worth a place in a table: at least one of its cells has figures.
    pub fn has_figures(&self) -> bool {
        self.cells.iter().any(|row| row.figures().is_some())
    }
}
