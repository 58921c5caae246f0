//! How the cost of each series grows, where a run was asked to grade it: a line for each, with its
//! time at three of its sizes.

use taskscale_model::{
    figure::{count, time},
    run_file::{Role, Time},
    summary::{Grade, Growth, Row, Summary},
};

use crate::{
    growth::exponent,
    legend,
    overview::{COLUMNS, cut, fitted, plural, width},
    style::{Ink, clean, ink},
    toolchain, units,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (12, 22);
/// The columns of a time, with the blank before it.
const TIME: usize = 10;

/// The series of one table that were graded.
pub(crate) struct Section<'s> {
    table: &'s str,
    /// What a time is of.
    unit: &'static str,
    /// The steepest first, those that cannot be told last.
    series: Vec<&'s Growth>,
    /// The least of the sizes, one in the middle, and the largest.
    sizes: Vec<u64>,
    rows: Vec<&'s Row>,
}

/// A section for each table, in the order of the run; none where no grade was asked for.
/// O(rows x series).
pub(crate) fn sections(summary: &Summary) -> Vec<Section<'_>> {
    if !summary.command.iter().any(|word| word == "--grade") {
        return Vec::new();
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    for growth in &summary.growth {
        let key = &growth.key;
        let is_here = |section: &&mut Section<'_>| {
            let here = &section.series[0].key;
            (&here.suite, &here.table) == (&key.suite, &key.table)
        };
        match sections.iter_mut().find(is_here) {
            Some(section) => section.series.push(growth),
            None => sections.push(Section {
                table: &key.table,
                unit: units::one(summary, &key.suite, &key.table),
                series: vec![growth],
                sizes: Vec::new(),
                rows: Vec::new(),
            }),
        }
    }
    for section in &mut sections {
        let steep = |growth: &Growth| growth.exponent.filter(|_| growth.grade != Grade::CannotTell);
        section.series.sort_by(|one, other| {
            let of = |growth: &Growth| steep(growth).unwrap_or(f64::NEG_INFINITY);
            of(other).total_cmp(&of(one))
        });
        let is_row = |row: &&Row| {
            row.role != Role::Control
                && row.figures().is_some()
                && section.series.iter().any(|growth| growth.key == row.key.series)
        };
        section.rows = summary.rows.iter().filter(is_row).collect();
        let mut sizes: Vec<u64> = section.rows.iter().map(|row| row.key.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        section.sizes = match &sizes[..] {
            [] => Vec::new(),
            [first, .., last] if sizes.len() > 2 => vec![*first, sizes[sizes.len() / 2], *last],
            few => few.to_vec(),
        };
    }
    sections.retain(|section| !section.sizes.is_empty());
    sections
}

impl Section<'_> {
    /// The lines, the heading first, with at most `room` series.
    pub(crate) fn lines(&self, room: usize) -> Vec<String> {
        let shown = &self.series[..self.series.len().min(room)];
        let variant_of = |growth: &Growth| clean(&growth.key.variant_and_case());
        let ids: Vec<&str> = shown.iter().map(|growth| growth.key.runtime.as_str()).collect();
        let runtime_of = |growth: &Growth| clean(&toolchain::short(&growth.key.runtime, &ids, NAMES.0));
        let runtime = width(shown.iter().copied(), runtime_of, NAMES.0);
        let variant = width(shown.iter().copied(), variant_of, NAMES.1);
        let is_cpu = shown.iter().all(|growth| growth.time == Time::Cpu);
        let time_of = if is_cpu { "CPU time" } else { "time" };
        // A time of n units is n times what stands here, so its exponent is one more.
        let heading = format!("Growth of the whole, and {time_of} per {}: {}", self.unit, clean(self.table));
        let sizes: String = self.sizes.iter().map(|size| format!("{:>TIME$}", count(*size))).collect();
        let mut lines = vec![
            ink(Ink::Bold, &cut(&heading, COLUMNS)),
            ink(Ink::Dim, &format!("{:runtime$} {:variant$}{sizes}  the whole", "", "")),
        ];
        for growth in shown {
            let at = |size: u64| {
                let mut rows = self.rows.iter().filter(|row| row.key.series == growth.key);
                rows.find(|row| row.key.size == size)?.figures().map(|figures| {
                    let of = if growth.time == Time::Wall { &figures.wall } else { &figures.cpu };
                    time(of.of.p50)
                })
            };
            let times: String = self
                .sizes
                .iter()
                .map(|size| format!("{:>TIME$}", at(*size).unwrap_or_else(|| "-".to_owned())))
                .collect();
            let (colour, grade) = match growth.grade {
                _ if growth.is_cliff() => (Ink::Red, exponent(growth)),
                Grade::Linear => (Ink::Green, exponent(growth)),
                Grade::SoftGrowth => (Ink::Yellow, exponent(growth)),
                _ => (Ink::Dim, None),
            };
            let grade = ink(colour, grade.as_deref().unwrap_or("cannot tell"));
            let (of_runtime, of_variant) =
                (fitted(&runtime_of(growth), runtime), fitted(&variant_of(growth), variant));
            lines.push(format!("{of_runtime} {of_variant}{times}  {grade}"));
        }
        let left_out = &self.series[shown.len()..];
        let names =
            left_out.iter().map(|growth| clean(&format!("{} {}", growth.key.runtime, variant_of(growth))));
        if !left_out.is_empty() {
            let text = format!("and {}: --details; ", plural(left_out.len(), "more row"));
            lines.extend(legend::listed(&text, names.collect(), COLUMNS).map(|line| ink(Ink::Dim, &line)));
        }
        lines
    }
}
