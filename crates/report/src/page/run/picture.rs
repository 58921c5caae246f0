//! The first ranking as a drawing of its own, for a README. It brings its own background, so that
//! it reads on any other, and follows the reader's choice of light or dark.

use std::fmt::Write;

use taskscale_model::{
    figure::time,
    summary::{Ranked, Ranking, Standing, Summary},
};

use super::strip;
use crate::{
    overview::{variant, what},
    page::{
        axis::Axis,
        marks,
        markup::{escape, number},
    },
};

/// The width of the drawing.
const WIDTH: f64 = 840.0;
/// The margin around everything.
const MARGIN: f64 = 16.0;
/// A heading, and the labels of the axis below it.
const HEAD: f64 = 54.0;
/// The width of the ratios.
const RATIO: f64 = 170.0;
/// The width of the figures.
const FIGURE: f64 = 72.0;
/// The width of a letter of 13 pixels, on average and rather wide.
const LETTER: f64 = 7.4;
/// The most letters of a runtime's name and of a variant's.
const NAMES: (usize, usize) = (18, 26);

const STYLE: &str = "
.card{fill:#fff;stroke:#c8ccd2}
text{font:13px system-ui,sans-serif;fill:#1c2126}.head{font-weight:600}.tick,.dim{fill:#59626d;font-size:12px}
.grid{stroke:#e1e4e8}.ci{stroke-width:2;stroke:#59626d}.dot{fill:#59626d}.ring{stroke:#59626d;stroke-width:2}
line.ref{stroke:#1c2126}.dot.ref{fill:#1c2126}text.ref{font-weight:600}
line.less{stroke:#0a5cad}.dot.less,text.less{fill:#0a5cad}
line.more{stroke:#a8400d}.dot.more,text.more{fill:#a8400d}.dot.ring{fill:#fff}
@media(prefers-color-scheme:dark){
.card{fill:#14181d;stroke:#3a424c}text{fill:#e6e9ed}.tick,.dim{fill:#a4adb8}
.grid{stroke:#2b323a}.ci{stroke:#a4adb8}.dot{fill:#a4adb8}.ring{stroke:#a4adb8}
line.ref{stroke:#e6e9ed}.dot.ref{fill:#e6e9ed}
line.less{stroke:#6cb2f7}.dot.less,text.less{fill:#6cb2f7}
line.more{stroke:#f59d6b}.dot.more,text.more{fill:#f59d6b}.dot.ring{fill:#14181d}}
";

/// Draws the first ranking. A summary without one makes a drawing that says so.
pub fn strip_svg(summary: &Summary) -> String {
    match summary.overview.rankings.first() {
        Some(ranking) => draw(ranking),
        None => card(HEAD, "No row has figures", &text(MARGIN, 28.0, "head", "start", "No row has figures")),
    }
}

/// The drawing around its content.
fn card(height: f64, title: &str, content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 \
         {WIDTH} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<rect class=\"card\" \
         x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n{content}</svg>",
        escape(title),
        WIDTH - 1.0,
        height - 1.0
    )
}

fn draw(ranking: &Ranking) -> String {
    let named = |row: &Ranked| variant(ranking, row);
    let widest = |name: &dyn Fn(&Ranked) -> String, most: usize| {
        let letters = ranking.rows.iter().map(|row| name(row).chars().count()).max().unwrap_or_default();
        letters.min(most) as f64 * LETTER + 12.0
    };
    let (runtime, names) = (widest(&|row| row.runtime.clone(), NAMES.0), widest(&named, NAMES.1));
    let left = MARGIN + runtime + names + FIGURE + 12.0;
    let width = WIDTH - MARGIN - RATIO - 16.0 - left;
    let rows = ranking.rows.len() as f64;
    let axis = Axis::over(ranking.rows.iter().flat_map(|row| {
        let ends = row.ci.map_or([row.ns; 2], |ci| [ci.0, ci.1]);
        [row.ns, ends[0], ends[1]]
    }));
    let heading = what(ranking, 110);
    let mut drawn = text(MARGIN, 26.0, "head", "start", &heading);
    let _ = writeln!(
        drawn,
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"20\" overflow=\"visible\">{}</svg>",
        number(left),
        HEAD - 20.0,
        number(width),
        marks::labels(&axis)
    );
    if ranking.rows.iter().any(|row| row.ratio.is_some()) {
        drawn += &text(WIDTH - MARGIN - RATIO, HEAD - 5.0, "dim", "start", "ratio [95 %]");
    }
    for (index, row) in ranking.rows.iter().enumerate() {
        let top = HEAD + index as f64 * marks::HEIGHT;
        let base = top + 15.5;
        let class = marks::class(Some(row.standing));
        let weight = if row.standing == Standing::Reference { "head" } else { "" };
        drawn += &text(MARGIN, base, weight, "start", &fit(&row.runtime, NAMES.0));
        drawn += &text(MARGIN + runtime, base, weight, "start", &fit(&named(row), NAMES.1));
        drawn += &text(left - 12.0, base, weight, "end", &time(row.ns));
        let _ = writeln!(
            drawn,
            "<svg x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" overflow=\"visible\">{}{}</svg>",
            number(left),
            number(width),
            marks::HEIGHT,
            marks::grid(&axis),
            marks::point(&axis, row.ns, row.ci, Some(row.standing))
        );
        drawn += &text(WIDTH - MARGIN - RATIO, base, class, "start", &strip::words(row));
    }
    card(HEAD + rows * marks::HEIGHT + MARGIN / 2.0, &heading, &drawn)
}

fn text(x: f64, y: f64, class: &str, anchor: &str, text: &str) -> String {
    let (x, y) = (number(x), number(y));
    format!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"{anchor}\">{}</text>\n", escape(text))
}

/// Cuts the end of a name that has no room.
fn fit(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
}
