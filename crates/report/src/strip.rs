//! A strip of figures with their intervals on a logarithmic axis, which all lines of a ranking
//! share.

use taskscale_model::{figure::time, summary::Interval};

/// The axis: from which nanoseconds to which, on how many columns.
pub struct Strip {
    low: f64,
    high: f64,
    columns: usize,
}

impl Strip {
    /// An axis over whole decades that holds all of these figures.
    pub fn over(figures: impl Iterator<Item = (f64, Option<Interval>)>, columns: usize) -> Self {
        let known = figures.map(|(ns, _)| ns).filter(|ns| ns.is_finite() && *ns > 0.0);
        let (least, most) =
            known.fold((f64::MAX, 0.0_f64), |(least, most), ns| (least.min(ns), most.max(ns)));
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 1.0) };
        let low = least.log10().floor();
        let high = most.log10().ceil().max(low + 1.0);
        Strip { low, high, columns: columns.max(2) }
    }

    /// The column of a figure, the nearest one where it lies outside.
    fn column(&self, ns: f64) -> usize {
        let part = (ns.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        (part.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }

    /// The decades, with as many labels as there is room for. It is as wide as a strip, or wider by
    /// the end of the last label.
    pub fn axis(&self) -> String {
        let mut axis: Vec<char> = Vec::new();
        let mut decade = self.low;
        while decade <= self.high {
            let label = time(10_f64.powf(decade)).replace(".00", "").replace(".0 ", " ");
            let at = self.column(10_f64.powf(decade));
            if axis.is_empty() || axis.len() < at {
                axis.resize(at, ' ');
                axis.extend(label.chars());
            }
            decade += 1.0;
        }
        axis.into_iter().collect()
    }

    /// One figure with its interval.
    pub fn draw(&self, ns: f64, ci: Option<Interval>) -> String {
        let mut cells = vec![' '; self.columns];
        let mut decade = self.low;
        while decade <= self.high {
            cells[self.column(10_f64.powf(decade))] = '\u{b7}';
            decade += 1.0;
        }
        if let Some(Interval(low, high)) = ci {
            draw_interval(&mut cells, [self.column(low), self.column(high)]);
        }
        cells[self.column(ns)] = if ci.is_some() { '\u{25cf}' } else { '\u{25cb}' };
        cells.into_iter().collect()
    }
}

/// Draws an interval between two columns, in whatever order a file has its ends.
pub fn draw_interval(cells: &mut [char], [one, other]: [usize; 2]) {
    let (low, high) = (one.min(other), one.max(other));
    cells[low..=high].fill('\u{2500}');
    if low < high {
        (cells[low], cells[high]) = ('\u{251c}', '\u{2524}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_where_the_axis_says() {
        let strip = Strip::over([(150.0, None), (90_000.0, None)].into_iter(), 21);
        assert_eq!(strip.axis(), "100 ns 1 us  10 us  100 us");
        assert_eq!(strip.draw(100.0, None).chars().position(|c| c == '\u{25cb}'), Some(0));
        assert_eq!(strip.draw(1_000.0, None).chars().position(|c| c == '\u{25cb}'), Some(7));
        assert_eq!(strip.draw(100_000.0, None).chars().position(|c| c == '\u{25cb}'), Some(20));
        let drawn = strip.draw(1_000.0, Some(Interval(300.0, 3_000.0)));
        assert_eq!(
            drawn,
            "\u{b7}  \u{251c}\u{2500}\u{2500}\u{2500}\u{25cf}\u{2500}\u{2500}\u{2524}  \u{b7}      \u{b7}"
        );
    }

    #[test]
    fn the_ends_of_an_interval_may_be_the_wrong_way_round() {
        let strip = Strip::over([(150.0, None), (90_000.0, None)].into_iter(), 21);
        let [drawn, turned] =
            [[300.0, 3_000.0], [3_000.0, 300.0]].map(|[a, b]| strip.draw(1_000.0, Some(Interval(a, b))));
        assert_eq!(drawn, turned);
    }

    #[test]
    fn any_figure_is_drawn_within_the_strip() {
        for ns in [0.0, f64::NAN, f64::INFINITY, -5.0, 1e300, 1.0] {
            let strip = Strip::over([(ns, None)].into_iter(), 20);
            assert_eq!(strip.draw(ns, Some(Interval(-1.0, 1e301))).chars().count(), 20, "{ns}");
        }
    }
}
