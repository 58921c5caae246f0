//! Grids that are folded to the width of a terminal.

use comfy_table::{Cell as GridCell, CellAlignment, ContentArrangement, Table as Grid, presets};

use taskscale_model::plain;

use crate::wrap::broken;

/// The most columns of a runtime's name and version, of a variant with its remarks, and of a
/// metric.
pub(crate) const NAMES: [usize; 3] = [18, 32, 20];

/// The lines of a grid without blanks at their ends.
pub(crate) fn drawn(grid: &Grid) -> String {
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Draws a grid in as many pieces as keep it within `width`. Each piece begins with the first
/// `names` columns and has at least one of the others. Where not even one fits, long names take
/// more lines.
pub(crate) fn folded(header: &[GridCell], rows: &[Vec<GridCell>], names: usize, width: usize) -> String {
    let piece = |columns: std::ops::Range<usize>| {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let of = |cells: &[GridCell]| [&cells[..names], &cells[columns.clone()]].concat();
        grid.set_header(of(header));
        for row in rows {
            grid.add_row(of(row));
        }
        grid
    };
    // A column is as wide beside others as alone, so their sum tells nearly how many fit. Drawing
    // each number of columns made a wide table cost as many drawings as it has columns.
    let widths = piece(names..header.len()).column_max_content_widths();
    let padded = |columns: &[u16]| columns.iter().map(|&column| usize::from(column) + 2).sum::<usize>();
    let (mut first, mut text) = (names, String::new());
    while first < header.len() {
        let fits = |end: &usize| piece(first..*end).lines().all(|line| columns(&line) <= width);
        let is_narrow = |end: &usize| padded(&widths[..names]) + padded(&widths[first..*end]) <= width + 1;
        let near = (first + 1..=header.len()).rev().find(is_narrow).unwrap_or(first);
        let more = (near + 1..=header.len()).take_while(fits).last();
        let fitting = more.or_else(|| (first + 1..=near).rev().find(fits));
        let end = fitting.unwrap_or(first + 1);
        let mut grid = piece(first..end);
        if fitting.is_none() {
            // The blank at the end of each line is not drawn.
            let width = u16::try_from(width + 1).unwrap_or(u16::MAX);
            grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&drawn(&grid));
        first = end;
    }
    text
}

/// A name in as many lines as keep it within the columns of its place.
pub(crate) fn name(text: &str, place: usize) -> String {
    broken(text, NAMES[place]).join("\n")
}

/// The columns that a line takes on a terminal. Colour marks take none.
pub(crate) fn columns(line: &str) -> usize {
    plain::columns(crate::style::render(line, false).trim_end())
}

/// A cell whose text begins at its left end.
pub(crate) fn left(text: impl ToString) -> GridCell {
    GridCell::new(text).set_alignment(CellAlignment::Left)
}

/// A cell whose text ends at its right end.
pub(crate) fn right(text: impl ToString) -> GridCell {
    GridCell::new(text).set_alignment(CellAlignment::Right)
}
