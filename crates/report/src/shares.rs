//! Tables of shares: what remains of each runtime's base, on one axis from nothing to all of it.

use taskscale_model::{
    figure::{count, time},
    summary::{ClaimVerdict, Interval, Judged, Share, Shares},
};

use crate::{
    overview::{COLUMNS, cut, fitted, plural, width},
    rates,
    strip::draw_interval,
    style::{Ink, clean, ink},
    toolchain,
    wrap::hanging,
};

/// The most columns of a runtime's and of a variant's name.
const NAMES: (usize, usize) = (9, 22);
/// Columns of the figures: `  97 % [95, 99]` and `  +1.02 ns`.
const FIGURES: usize = 16 + 11;
/// Columns of a published figure.
const PUBLISHED: usize = 7;
/// Columns of a share without what is subtracted, and of requests a second.
const LOADED: usize = 9 + 9;
/// The most columns of the name of what is subtracted.
const TAKEN: usize = 22;
/// The most columns of a variant's name where they are shown, in the place of a strip.
const WIDE: usize = 24;
/// The most columns of a strip.
const STRIP: usize = 24;
/// The word before a claim, with the blank behind it.
const WORD: usize = 14;

/// A table in at most `room` rows, with its heading and its axis.
pub fn lines(shares: &Shares, room: usize) -> Vec<String> {
    let shown = &shares.rows[..shares.rows.len().min(room)];
    let ids: Vec<&str> = shown.iter().map(|row| &*row.runtime).collect();
    let runtime_of = |row: &Share| toolchain::short(&row.runtime, &ids, NAMES.0);
    let runtime = width(shown, runtime_of, NAMES.0);
    let loaded = is_loaded(shares);
    let variant = width(shown, |row| clean(&row.variant), if loaded { WIDE } else { NAMES.1 });
    let published = shown.iter().any(|row| row.published.is_some());
    let behind = FIGURES + if published { PUBLISHED } else { 0 } + if loaded { LOADED } else { 0 };
    let columns = COLUMNS.saturating_sub(runtime + variant + 3 + behind).min(if loaded { 0 } else { STRIP });
    let most =
        shown.iter().map(|row| row.percent).filter(|percent| percent.is_finite()).fold(100.0, f64::max);
    let axis = Axis { most, columns };
    let indent = runtime + 1 + variant + 1;
    let unit = format!("a {}", clean(&shares.unit));
    let mut head = format!("{:indent$}{:columns$}  {:<14}{unit:>10}", "", axis.labels(), "% of base");
    if loaded {
        head.push_str("  without    req/s");
    }
    if published {
        head.push_str("  publ.");
    }
    let mut lines = vec![ink(Ink::Bold, &what(shares, COLUMNS)), ink(Ink::Dim, head.trim_end())];
    for row in shown {
        let names =
            format!("{} {}", fitted(&runtime_of(row), runtime), fitted(&clean(&row.variant), variant));
        let cost = cost(row);
        let publ = row.published.map(|percent| format!("  {percent:>4} %")).unwrap_or_default();
        let load = if loaded { format!("{:>9}{:>9}", without(row), per_s(row)) } else { String::new() };
        let line = format!("{names} {}  {:<14}{cost:>10}{load}{publ}", axis.draw(row), figure(row));
        lines.push(if row.is_base { ink(Ink::Bold, line.trim_end()) } else { line.trim_end().to_owned() });
    }
    let left_out = shares.rows.len() - shown.len();
    if left_out > 0 {
        lines.push(ink(Ink::Dim, &format!("and {}: --details", plural(left_out, "more row"))));
    }
    lines.extend(shares.subtracted.iter().map(|row| ink(Ink::Dim, &taken(row, &shares.unit))));
    lines
}

/// Whether servers were measured.
pub fn is_loaded(shares: &Shares) -> bool {
    shares.rows.iter().any(|row| row.served.is_some())
}

/// The share without what is subtracted.
pub fn without(row: &Share) -> String {
    match (row.is_base, row.percent_without) {
        (true, Some(_)) => "base".to_owned(),
        (_, percent) => percent.map(short).unwrap_or_default(),
    }
}

/// Requests a second.
pub fn per_s(row: &Share) -> String {
    row.served.as_ref().map(|served| rates::per_s(served.per_s)).unwrap_or_default()
}

/// What is subtracted, and what the generator of a server's load reached with it.
fn taken(row: &Share, unit: &str) -> String {
    let names = format!("{} {}", clean(&row.runtime), clean(&row.variant));
    let names = format!("without: {}", cut(&names, TAKEN));
    let each = format!("{} a {}", time(row.unit_ns), clean(unit));
    match &row.served {
        None => format!("{names}, {each}"),
        Some(served) => format!(
            "{names}, {each}, {}/s, generator {:.0} % CPU",
            rates::per_s(served.per_s),
            100.0 * served.generator_share
        ),
    }
}

/// What a table shows, in one line.
pub fn what(shares: &Shares, columns: usize) -> String {
    let what = "throughput, % of base: ";
    let behind = match shares.size {
        1 => String::new(),
        size => format!(", {} at a time", count(size)),
    };
    let room = columns.saturating_sub(what.chars().count() + behind.chars().count());
    format!("{what}{}{behind}", cut(&clean(&shares.table), room))
}

/// A share with its interval, or what it is: `base`, `97 [95, 99]`, `97 no interval`.
pub fn figure(row: &Share) -> String {
    match (row.is_base, row.ci) {
        (true, _) => "base".to_owned(),
        (_, Some(Interval(low, high))) => format!("{} [{}, {}]", short(row.percent), short(low), short(high)),
        (_, None) => format!("{} no interval", short(row.percent)),
    }
}

/// What a unit takes in a base, or what it takes more or less than there: `18.2 ns`, `+1.02 ns`.
pub fn cost(row: &Share) -> String {
    let fine = |ns: f64| match ns {
        ns if ns < 9.995 => format!("{ns:.2} ns"),
        ns if ns < 99.95 => format!("{ns:.1} ns"),
        ns => time(ns),
    };
    match row.is_base {
        true => fine(row.unit_ns),
        false => format!("{}{}", if row.added_ns < 0.0 { '-' } else { '+' }, fine(row.added_ns.abs())),
    }
}

/// A claim and the figures that it is held to.
pub fn claimed(judged: &Judged) -> String {
    let figures = match (judged.percent, judged.ci) {
        (Some(percent), Some(Interval(low, high))) => {
            format!("{} % [{}, {}], ", short(percent), short(low), short(high))
        }
        (Some(percent), None) => format!("{} %, no interval, ", short(percent)),
        _ => String::new(),
    };
    format!("{}: {figures}{}", clean(&judged.text), clean(&judged.of))
}

/// A claim behind its verdict, in lines.
pub fn claim(judged: &Judged) -> Vec<String> {
    let word = format!("{:WORD$}", judged.verdict.word());
    let word = match judged.verdict {
        ClaimVerdict::Confirmed => ink(Ink::Green, &word),
        ClaimVerdict::Refuted => ink(Ink::Red, &word),
        ClaimVerdict::CannotTell => ink(Ink::Yellow, &word),
        ClaimVerdict::NotMeasured => ink(Ink::Dim, &word),
    };
    let text = hanging(&claimed(judged), WORD, COLUMNS);
    format!("{word}{text}").lines().map(str::to_owned).collect()
}

/// A percentage in at most four characters: `2.3`, `85`, `102`.
fn short(percent: f64) -> String {
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// An axis from nothing to the largest share.
struct Axis {
    most: f64,
    columns: usize,
}

impl Axis {
    fn column(&self, percent: f64) -> usize {
        let part = if percent.is_finite() { (percent / self.most).clamp(0.0, 1.0) } else { 0.0 };
        (part * self.columns.saturating_sub(1) as f64).round() as usize
    }

    fn labels(&self) -> String {
        if self.columns == 0 {
            return String::new();
        }
        let mut axis = vec![' '; self.columns + 3];
        for percent in [0, 50, 100] {
            let label = percent.to_string();
            let end = (self.column(f64::from(percent)) + 1).max(label.len());
            for (at, letter) in label.chars().enumerate() {
                axis[end - label.len() + at] = letter;
            }
        }
        axis.into_iter().collect::<String>().trim_end().to_owned()
    }

    fn draw(&self, row: &Share) -> String {
        if self.columns == 0 {
            return String::new();
        }
        let mut cells = vec![' '; self.columns];
        for percent in [0.0, 50.0, 100.0] {
            cells[self.column(percent)] = '\u{b7}';
        }
        if let Some(Interval(low, high)) = row.ci {
            draw_interval(&mut cells, [self.column(low), self.column(high)]);
            if low.max(high) > self.most {
                // It goes on where the axis ends.
                cells[self.column(low.max(high))] = '>';
            }
        }
        let known = row.ci.is_some() || row.is_base;
        cells[self.column(row.percent)] = if known { '\u{25cf}' } else { '\u{25cb}' };
        cells.into_iter().collect()
    }
}
