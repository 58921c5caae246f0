//! Whether the growth of every series is certain, so that a suite which is measured for it can end
//! before its time.

use std::collections::{BTreeMap, BTreeSet};

use taskscale_model::{key::SeriesKey, missing::Missing, suite::LEFT_OUT};
use taskscale_stats::growth::{self, Clock, Grade, Growth, LINEAR_MAX, MIN_SIZES, QUADRATIC_MIN, SizeCost};

/// Processes of every size before the first look. The grade needs five, and an interval over fewer
/// than eight is narrow by luck.
pub(crate) const FIRST: u64 = 8;

/// The times of whole iterations at one size, in nanoseconds, one for each process.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Total {
    pub cpu: Vec<f64>,
    pub wall: Vec<f64>,
    /// Whether the iterations wait for most of their time.
    pub waits: bool,
}

/// The times of whole iterations, by size.
type Sizes = BTreeMap<u64, Total>;

/// The same of each series.
#[derive(Debug, Default)]
pub(crate) struct Totals(BTreeMap<SeriesKey, Sizes>);

impl Totals {
    /// Takes in the observations of a series at a size.
    pub fn learn(&mut self, series: &SeriesKey, size: u64, total: Total) {
        self.0.entry(series.clone()).or_default().insert(size, total);
    }

    /// Whether each of these series has a grade, and an interval that lies wholly within what the
    /// grade is given for. The rule sees no difference between series, and a grade that is near its
    /// bounds is measured until the time is up. It is never so for no series at all.
    /// O(series x resamples x observations), with the resamples of [`growth::judge`].
    pub fn are_certain(&self, series: &BTreeSet<&SeriesKey>, rng: &mut fastrand::Rng) -> bool {
        !series.is_empty()
            && series.iter().all(|key| self.0.get(key).is_some_and(|sizes| is_certain(sizes, rng)))
    }

    /// The sizes of each series whose growth a collector could explain, ascending: those that the
    /// growth of its bytes rests on. A steeper one is no collector's, and a linear one needs none.
    pub fn may_be_collector<'k>(&'k self, rng: &mut fastrand::Rng) -> BTreeMap<&'k SeriesKey, Vec<u64>> {
        let of = |(key, sizes): (&'k SeriesKey, &Sizes)| {
            let growth = judge(sizes, rng);
            let exponent = growth.judged()?.exponent;
            let tail = growth.tail.as_ref()?.sizes.len();
            let from = growth.sizes.len().checked_sub(tail.max(MIN_SIZES))?;
            (LINEAR_MAX..QUADRATIC_MIN).contains(&exponent).then(|| (key, growth.sizes[from..].to_vec()))
        };
        self.0.iter().filter(|(_, sizes)| !wait(sizes)).filter_map(of).collect()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The series of which something is known.
    pub fn series(&self) -> impl Iterator<Item = &SeriesKey> {
        self.0.keys()
    }

    /// The growth of each series.
    pub fn growths(&self, rng: &mut fastrand::Rng) -> Vec<(&SeriesKey, Growth)> {
        self.0.iter().map(|(key, sizes)| (key, judge(sizes, rng))).collect()
    }
}

/// When the growth is looked at: after [`FIRST`] processes of every size, and then each time that
/// cells have had two turns more on average.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// Turns of all cells at the last look.
    turns: u64,
}

impl Looks {
    /// Whether it is time for a look, where cells that are still measured have had these turns.
    pub fn is_due(&mut self, turns: &[u64]) -> bool {
        let all: u64 = turns.iter().sum();
        // The turns of a cell that has ended since are no longer among them.
        self.turns = self.turns.min(all);
        let is_due = turns.iter().all(|&turns| turns >= FIRST) && all >= self.turns + 2 * turns.len() as u64;
        if is_due {
            self.turns = all;
        }
        is_due
    }
}

/// A size of a table that is measured for growth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned<'c> {
    pub table: &'c str,
    pub size: u64,
    /// Processes of each row that it has had.
    pub turns: u64,
    /// What one process of each row takes; where it has had none it is what the size before took.
    pub turn_ns: u64,
}

impl Planned<'_> {
    /// What is left to do until it has [`FIRST`] processes of each row.
    fn needs_ns(&self) -> u64 {
        FIRST.saturating_sub(self.turns).saturating_mul(self.turn_ns)
    }
}

/// How many times as much as the smallest size the largest of a table has to take for its size to
/// be what makes it dear. Below that a process takes what starting it takes, and the smallest size,
/// which says least of growth, frees as much time.
const TIMES_DEARER: u64 = 2;

/// Which sizes do not fit: sizes of a table go as long as not all that are left can have [`FIRST`]
/// processes in `left_ns`, and the table has more than a grade needs. The largest goes where it
/// takes [`TIMES_DEARER`] times as much as the smallest, else the smallest: on a machine that is
/// busy with others, where each start takes a second, four sizes up to 65,536 tell a cliff, and the
/// four up to 256 do not. O(sizes^2).
pub(crate) fn too_dear(sizes: &[Planned<'_>], left_ns: u64) -> Vec<usize> {
    let mut gone: Vec<usize> = Vec::new();
    loop {
        let stays = |at: &usize| !gone.contains(at);
        let needs_ns =
            (0..sizes.len()).filter(stays).fold(0, |sum: u64, at| sum.saturating_add(sizes[at].needs_ns()));
        if needs_ns <= left_ns {
            return gone;
        }
        let tables: BTreeSet<&str> = sizes.iter().map(|size| size.table).collect();
        let may_go = tables.into_iter().filter_map(|table| {
            let of: Vec<usize> =
                (0..sizes.len()).filter(stays).filter(|&at| sizes[at].table == table).collect();
            if of.len() <= MIN_SIZES {
                return None;
            }
            let largest = of.iter().copied().max_by_key(|&at| sizes[at].size)?;
            // What has had its processes frees no time.
            let waiting = of.into_iter().filter(|&at| sizes[at].turns < FIRST);
            let smallest = waiting.min_by_key(|&at| sizes[at].size)?;
            let is_dear = sizes[largest].turn_ns >= TIMES_DEARER.saturating_mul(sizes[smallest].turn_ns);
            Some(if is_dear { largest } else { smallest })
        });
        let Some(dearest) = may_go.max_by_key(|&at| sizes[at].turn_ns) else { return gone };
        gone.push(dearest);
    }
}

/// How many times the processes of tables come up until all sizes have had [`FIRST`] of them, where
/// those of one size go on to the others.
pub(crate) fn passes(sizes: &[Planned<'_>]) -> u64 {
    let mut by_table: BTreeMap<&str, u64> = BTreeMap::new();
    for size in sizes {
        let passes = by_table.entry(size.table).or_default();
        *passes = FIRST.saturating_sub(size.turns).max(*passes);
    }
    by_table.values().sum()
}

/// Says that the size `at` went, one of those that are `gone`, and in about which time all would
/// have their processes. Of a size that has had none, what it takes beyond the smallest is taken to
/// grow with size.
pub(crate) fn left_out(sizes: &[Planned<'_>], gone: &[usize], at: usize, elapsed_ns: u64) -> Missing {
    let smallest_ns = |table: &str| {
        let same = sizes.iter().filter(|size| size.table == table && size.turns > 0);
        same.map(|size| size.turn_ns).min().unwrap_or(0)
    };
    let largest = |table: &str| {
        let same = sizes.iter().filter(|size| size.table == table && size.turns > 0);
        same.max_by_key(|size| size.size)
    };
    let needs_ns = |size: &Planned<'_>| match largest(size.table) {
        Some(known) if size.turns == 0 => {
            let least_ns = smallest_ns(size.table) as f64;
            let grows_ns = known.turn_ns as f64 - least_ns;
            (FIRST as f64 * (least_ns + grows_ns * size.size as f64 / known.size.max(1) as f64)) as u64
        }
        _ => size.needs_ns(),
    };
    let needed_ns = sizes.iter().fold(elapsed_ns, |sum, size| sum.saturating_add(needs_ns(size)));
    // To the next ten seconds: a forecast has no more digits.
    let seconds = needed_ns.div_ceil(10_000_000_000) * 10;
    let (table, size) = (sizes[at].table, sizes[at].size);
    let is_beyond = |other: &usize| sizes[*other].table == table && sizes[*other].size > size;
    let stays_beyond = (0..sizes.len()).filter(is_beyond).any(|other| !gone.contains(&other));
    let which = if stays_beyond { "smaller" } else { "larger" };
    Missing::new(
        format!("{which} sizes{LEFT_OUT}with {FIRST} processes of each row all take some {seconds} s here"),
        format!("--grade --max-time {seconds}s, fewer ways with --variant, or smaller sizes with --size"),
    )
}

/// Whether iterations of the largest size wait, so that wall time is what grows.
fn wait(sizes: &Sizes) -> bool {
    sizes.last_key_value().is_some_and(|(_, total)| total.waits)
}

fn judge(sizes: &Sizes, rng: &mut fastrand::Rng) -> Growth {
    let waits = wait(sizes);
    let costs: Vec<SizeCost<'_>> = sizes
        .iter()
        .map(|(&size, total)| SizeCost { size, totals: if waits { &total.wall } else { &total.cpu } })
        .collect();
    growth::judge(&costs, if waits { Clock::Waits } else { Clock::Cpu }, None, rng)
}

fn is_certain(sizes: &Sizes, rng: &mut fastrand::Rng) -> bool {
    let growth = judge(sizes, rng);
    let Some((low, high)) = growth.judged().map(|judged| judged.interval) else { return false };
    match growth.grade {
        Grade::Linear => high <= LINEAR_MAX,
        Grade::QuadraticOrWorse => low >= QUADRATIC_MIN,
        Grade::Superlinear => high < QUADRATIC_MIN,
        // What a collector explains may be a cliff after more processes.
        Grade::SoftGrowth | Grade::CannotTell(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals of n^exponent at seven sizes, processes spread by `noise`.
    fn totals(exponent: f64, noise: f64, processes: usize) -> Totals {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut totals = Totals::default();
        for at in 2..9 {
            let size = 4_u64.pow(at);
            let mut cost = || (size as f64).powf(exponent) * 50.0 * (1.0 + noise * (rng.f64() - 0.5));
            let cpu = (0..processes).map(|_| cost()).collect();
            totals.learn(&SeriesKey::default(), size, Total { cpu, ..Total::default() });
        }
        totals
    }

    fn are_certain(exponent: f64, noise: f64, processes: usize) -> bool {
        let rng = &mut fastrand::Rng::with_seed(1);
        totals(exponent, noise, processes).are_certain(&[&SeriesKey::default()].into(), rng)
    }

    #[test]
    fn a_grade_far_from_its_bounds_is_certain() {
        assert!(are_certain(1.0, 0.1, 8) && are_certain(0.0, 0.1, 8), "linear");
        assert!(are_certain(2.0, 0.1, 8) && are_certain(3.0, 0.1, 8), "a power");
        assert!(are_certain(1.5, 0.1, 8), "superlinear");
        assert!(!are_certain(1.2, 0.1, 8), "soft growth");
        assert!(!are_certain(1.69, 1.0, 8), "near a bound");
        assert!(!are_certain(1.0, 0.1, 4), "too few processes");
    }

    #[test]
    fn where_the_largest_size_waits_wall_time_is_what_is_certain() {
        let rng = &mut fastrand::Rng::with_seed(1);
        let mut are_certain = |waits: [bool; 2]| {
            let mut totals = Totals::default();
            for at in 2..9 {
                let size = 4_u64.pow(at);
                let cpu = vec![(size as f64).powf(1.2); 8];
                let wall = vec![(size as f64).powi(2); 8];
                let waits = waits[usize::from(at == 8)];
                totals.learn(&SeriesKey::default(), size, Total { cpu, wall, waits });
            }
            totals.are_certain(&[&SeriesKey::default()].into(), rng)
        };
        assert!(are_certain([false, true]) && are_certain([true, true]));
        assert!(
            !are_certain([false, false]) && !are_certain([true, false]),
            "soft growth of CPU time is never certain"
        );
    }

    #[test]
    fn a_series_that_is_not_known_is_not_certain() {
        let other = SeriesKey { variant: "other".to_owned(), ..SeriesKey::default() };
        let rng = &mut fastrand::Rng::with_seed(1);
        assert!(!totals(1.0, 0.1, 8).are_certain(&[&SeriesKey::default(), &other].into(), rng));
        assert!(!Totals::default().are_certain(&BTreeSet::new(), rng), "no series at all");
    }

    #[test]
    fn the_largest_sizes_go_until_the_rest_fits_and_four_stay() {
        let table = |name: &'static str, turns_ns: &[u64]| -> Vec<Planned<'static>> {
            let size = |(at, turn_ns): (usize, &u64)| Planned {
                table: name,
                size: 4 << (2 * at),
                turns: 1,
                turn_ns: *turn_ns,
            };
            turns_ns.iter().enumerate().map(size).collect()
        };
        let one = table("a", &[1, 1, 1, 1, 10, 100]);
        assert!(too_dear(&one, 7 * 114).is_empty(), "all fit");
        assert_eq!(too_dear(&one, 7 * 114 - 1), [5]);
        assert_eq!(too_dear(&one, 0), [5, 4], "four stay");
        let two: Vec<Planned<'_>> = [one.clone(), table("b", &[1, 1, 1, 1, 50])].concat();
        assert_eq!(too_dear(&two, 7 * 20), [5, 10], "the dearest of all tables first");
        let late = Planned { turns: FIRST, ..one[5].clone() };
        assert!(too_dear(&[&one[..5], &[late]].concat(), 7 * 14).is_empty(), "it has had its processes");
        assert_eq!(
            left_out(&one, &[5], 5, 0).remedy,
            "--grade --max-time 10s, fewer ways with --variant, or smaller sizes with --size",
            "not to the nanosecond"
        );
        // 4 and 16 are known, by 1 s and 2 s: beyond the start, a second for each 16. What is left
        // is 7 s, 14 s, and eight processes of 5 s and of 17 s.
        let s =
            |size, turns, seconds: u64| Planned { table: "a", size, turns, turn_ns: seconds * 1_000_000_000 };
        let four = [s(4, 1, 1), s(16, 1, 2), s(64, 0, 2), s(256, 0, 2)];
        let said = left_out(&four, &[3], 3, 0);
        let words = "larger sizes are left out: with 8 processes of each row all take some 200 s here";
        assert_eq!(
            (&*said.reason, &*said.remedy),
            (words, "--grade --max-time 200s, fewer ways with --variant, or smaller sizes with --size")
        );
        let begins = |gone: &[usize], at, word: &str| {
            let reason = left_out(&four, gone, at, 0).reason;
            assert!(reason.starts_with(&format!("{word} sizes are left out: ")), "{reason}");
        };
        begins(&[0], 0, "smaller");
        begins(&[1, 2], 1, "smaller");
        begins(&[1, 2], 2, "smaller");
        begins(&[2, 3], 2, "larger");
    }

    #[test]
    fn where_a_start_takes_most_the_smallest_sizes_go() {
        let size = |at: usize, turns, turn_ns| Planned { table: "a", size: 4 << (2 * at), turns, turn_ns };
        // The first of eight sizes was measured on a busy machine; nothing is known of the others.
        let first: Vec<Planned<'_>> = (0..8).map(|at| size(at, u64::from(at == 0), 10)).collect();
        assert!(too_dear(&first, 63 * 10).is_empty(), "all fit");
        assert_eq!(too_dear(&first, 50 * 10), [0, 1]);
        assert_eq!(too_dear(&first, 0), [0, 1, 2, 3], "four stay, with the largest");
        // Two have had their processes, which frees nothing; the largest is not dear, or is.
        let turns = |at| if at < 2 { FIRST } else { 1 };
        let late: Vec<Planned<'_>> = (0..8).map(|at| size(at, turns(at), 10 + at as u64)).collect();
        assert_eq!(too_dear(&late, 500), [2, 3]);
        let mut dear = late.clone();
        dear[7].turn_ns = 24;
        assert_eq!(too_dear(&dear, 500), [7]);
    }

    #[test]
    fn looks_come_after_eight_processes_and_then_two_turns_a_cell() {
        let mut looks = Looks::default();
        assert!(!looks.is_due(&[8, 7, 9]));
        assert!(looks.is_due(&[8, 8, 9]));
        assert!(!looks.is_due(&[9, 10, 11]), "thirty of thirty-one");
        assert!(looks.is_due(&[9, 11, 11]));
        // The first cell ends: its turns are gone, and two more of each of the others are enough.
        assert!(!looks.is_due(&[11, 11]));
        assert!(looks.is_due(&[13, 13]));
    }
}
