//! Is it the form, or the collector? What an iteration allocates grows with size too. A tracing
//! collector makes linear programs cost n^1.2 to n^1.6, since it walks what is alive, and their
//! bytes stay linear. A form that allocates more for each further task is a cliff in bytes, however
//! fast its CPU time grows.

use super::{Grade, Growth, LINEAR_MAX, MIN_SIZES, QUADRATIC_MIN, SizeCost, fit};
use crate::quantile::median;

/// The steepest exponent of CPU time that is said to be a collector's. Linear programs of .NET 10
/// at 65,536 to a million tasks had 1.2 to 1.58 under its default collector on two CPUs, and 0.98
/// to 1.14 with a young generation of 1 GiB; the flattest cliff beside them had 1.77. Node's
/// `Promise.all` had 1.34 to 1.46 (docs/evidence/growth.md).
pub const COLLECTOR_MAX: f64 = 1.6;

/// Last step from which superlinear growth that gets steeper may be a cliff too. What a collector
/// walks grows with size, so its steps are alike or fall. A square beside much that is linear had
/// 1.43 and then 1.61 and 1.71 over steps of four times, under collections of linear bytes (Go).
const STEEPENS_TO: f64 = 1.5;

/// The most that a collection takes for each byte that may be alive, in nanoseconds: an object of
/// 32 bytes in 1.6 us, or some 16 misses of all caches. Growth beyond that is not the collector's:
/// where Go collects once in four iterations of 4 MB, they grow by 190 ms each.
const WALK_NS: f64 = 50.0;

/// The fewest bytes of a task that an exponent rests on. What requests allocate beside their tasks
/// may come to 0.1 bytes of each. That is a tenth of one byte, which moves an exponent over three
/// octaves by 0.05.
const LEAST_BYTES: f64 = 1.0;

/// How what an iteration allocates grows with size.
#[derive(Debug, Clone, PartialEq)]
pub struct Bytes {
    /// The sizes that the exponent rests on, ascending.
    pub sizes: Vec<u64>,
    /// Least-squares slope of ln bytes over ln size: 1 is linear.
    pub exponent: f64,
    /// The least and the largest exponent that the counts allow, whichever of them is taken at each
    /// size. Counts are exact or nearly so, and too few for an interval with a confidence. It is
    /// `None` where a size was counted once.
    pub range: Option<(f64, f64)>,
    /// Bytes of an iteration at the largest size: no more of its own can be alive at once.
    pub largest: f64,
}

/// What bytes say of growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByBytes {
    /// Bytes are linear, there are collections, and CPU time grows no faster than a collector makes
    /// it. It is no cliff.
    Collector,
    /// The same, but the growth is superlinear and gets steeper: a collector, or a cliff that has
    /// just begun.
    Either {
        /// The size from which it is steepest.
        from: u64,
    },
    /// Bytes grow as n^[`QUADRATIC_MIN`] or more.
    CliffInBytes,
}

/// The growth of bytes over the sizes of `over`, each of which was counted. `counted` has the bytes
/// of a whole iteration by each counted process, at any number of sizes in any order. The result is
/// `None` below [`MIN_SIZES`] sizes, or where a task allocates less than a byte. O(counts).
pub fn bytes(counted: &[SizeCost<'_>], over: &[u64]) -> Option<Bytes> {
    let usable: Vec<&SizeCost<'_>> = counted.iter().filter(|cost| is_usable(cost)).collect();
    let of = |size: &u64| usable.iter().copied().find(|cost| cost.size == *size);
    let costs: Vec<&SizeCost<'_>> = over.iter().map(of).collect::<Option<_>>()?;
    if usable.len() < MIN_SIZES {
        return None;
    }
    let points: Vec<(f64, f64)> =
        costs.iter().map(|cost| Some((cost.size as f64, median(cost.totals)?))).collect::<Option<_>>()?;
    let exponent = Some(fit::exponent(&points)).filter(|exponent| exponent.is_finite())?;
    let largest = points.last()?.1;
    Some(Bytes { sizes: over.to_vec(), exponent, range: range(&costs), largest })
}

/// What bytes say of the growth of CPU time. `collections` are those of an iteration at the largest
/// size, where they are counted.
///
/// Growth without a grade may be a cliff in bytes, and is never said to be the collector's. Neither
/// is growth with a step above [`COLLECTOR_MAX`] with its whole interval: a cliff that has just
/// begun has the exponent of a collector over three octaves, and a steeper one at the end. Nor is
/// growth that so many collections cannot make: `beyond_ns` is the CPU time of an iteration at the
/// largest size beyond what that of the smallest one is in proportion.
pub fn by_bytes(row: &Growth, bytes: &Bytes, collections: Option<f64>, beyond_ns: f64) -> Option<ByBytes> {
    let (low, high) = bytes.range.unwrap_or((bytes.exponent, bytes.exponent));
    if low >= QUADRATIC_MIN {
        return Some(ByBytes::CliffInBytes);
    }
    let grows = row.grade == Grade::SoftGrowth || row.grade.is_superlinear();
    let judged = row.judged().filter(|_| grows)?;
    let first = bytes.sizes.first().copied().unwrap_or(0);
    let is_steep = |step: &super::Step| step.from >= first && step.interval.0 > COLLECTOR_MAX;
    let is_collector = (LINEAR_MAX..=COLLECTOR_MAX).contains(&judged.exponent)
        && !row.steps.iter().any(is_steep)
        && high <= LINEAR_MAX
        && collections.is_some_and(|collections| {
            collections > 0.0 && beyond_ns <= WALK_NS * collections * bytes.largest
        });
    let from = steepens(row).filter(|_| row.grade.is_superlinear());
    is_collector.then(|| from.map_or(ByBytes::Collector, |from| ByBytes::Either { from }))
}

impl Growth {
    /// Whether it is superlinear, and no faster than a collector makes CPU time grow.
    pub fn may_be_collector(&self) -> bool {
        self.grade.is_superlinear() && self.judged().is_some_and(|judged| judged.exponent <= COLLECTOR_MAX)
    }
}

/// The size from which the last step leads, where it is steep and the steepest of those over the
/// last three octaves.
fn steepens(row: &Growth) -> Option<u64> {
    let first = *row.tail.as_ref()?.sizes.first()?;
    let (last, before) = row.steps.split_last()?;
    let mut before = before.iter().filter(|step| step.from >= first);
    let steepest = before.all(|step| step.exponent < last.exponent);
    (last.exponent > STEEPENS_TO && steepest).then_some(last.from)
}

fn is_usable(cost: &SizeCost<'_>) -> bool {
    let least = LEAST_BYTES * cost.size as f64;
    cost.size > 0 && !cost.totals.is_empty() && cost.totals.iter().all(|&t| t >= least && t.is_finite())
}

/// The slope is a sum of the logarithms, each with a weight: it is least where the sizes above the
/// middle have their fewest bytes, and the sizes below it their most.
fn range(costs: &[&SizeCost<'_>]) -> Option<(f64, f64)> {
    if costs.iter().any(|cost| cost.totals.len() < 2) {
        return None;
    }
    let middle = costs.iter().map(|cost| (cost.size as f64).ln()).sum::<f64>() / costs.len() as f64;
    let end = |upper: bool| {
        let point = |cost: &&SizeCost<'_>| {
            let size = cost.size as f64;
            let most = upper == (size.ln() > middle);
            let take = if most { f64::max } else { f64::min };
            (size, cost.totals.iter().copied().fold(cost.totals[0], take))
        };
        fit::exponent(&costs.iter().map(point).collect::<Vec<_>>())
    };
    Some((end(false), end(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::{Clock, judge};

    const SIZES: u32 = 5;

    fn sizes(totals: &[(u64, Vec<f64>)]) -> Vec<SizeCost<'_>> {
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect()
    }

    fn totals(of: impl Fn(f64) -> Vec<f64>) -> Vec<(u64, Vec<f64>)> {
        (0..SIZES).map(|k| 16_384 << k).map(|n: u64| (n, of(n as f64))).collect()
    }

    fn cpu(cost: impl Fn(f64) -> f64) -> Growth {
        let totals = totals(|n| vec![cost(n); 6]);
        judge(&sizes(&totals), Clock::Cpu, None, &mut fastrand::Rng::with_seed(1))
    }

    /// Bytes over the last three octaves, by three processes that agree.
    fn allocated(cost: impl Fn(f64) -> f64, row: &Growth) -> Bytes {
        let totals = totals(|n| vec![cost(n); 3]);
        bytes(&sizes(&totals), &row.tail.as_ref().expect("three octaves").sizes).expect("bytes")
    }

    /// What bytes of 100 n^`of_bytes` say of CPU time of 50 n^`of_cpu`.
    fn told(of_cpu: f64, of_bytes: f64, collections: Option<f64>) -> Option<ByBytes> {
        let row = cpu(|n| 50.0 * n.powf(of_cpu));
        by_bytes(&row, &allocated(|n| 100.0 * n.powf(of_bytes), &row), collections, 0.0)
    }

    #[test]
    fn figures_of_dotnet_are_told_apart() {
        use ByBytes::{CliffInBytes, Collector};
        // The first five are exponents of CPU time and of bytes of .NET 10 under its default
        // collector: what continuations and cancelled waits allocate is the same for each task.
        for (name, of_cpu, of_bytes, expected) in [
            ("continuations of one task", 1.2, 1.0, Some(Collector)),
            ("a tree of WhenAll", 1.58, 1.0, Some(Collector)),
            ("n tasks that throw", 1.07, 1.0, None),
            ("an exception through n awaits", 1.77, 1.99, Some(CliffInBytes)),
            ("n waits on one task, cancelled", 1.95, 1.0, None),
            ("soft CPU time, steep bytes", 1.2, 1.99, Some(CliffInBytes)),
            ("bytes between", 1.4, 1.3, None),
        ] {
            assert_eq!(told(of_cpu, of_bytes, Some(3.0)), expected, "{name}");
        }
    }

    #[test]
    fn without_collections_nothing_is_the_collector() {
        assert_eq!(told(1.4, 1.0, Some(0.1)), Some(ByBytes::Collector));
        assert_eq!((told(1.4, 1.0, Some(0.0)), told(1.4, 1.0, None)), (None, None));
        assert_eq!(told(1.4, 2.0, None), Some(ByBytes::CliffInBytes), "bytes need none");
    }

    #[test]
    fn a_cliff_that_has_just_begun_is_not_the_collector() {
        // A parabola at a third to 2.4 times its bend: n^1.5 over three octaves, n^1.65 at the end.
        let row = cpu(|n| n + n * n / 98_304.0);
        let judged = row.judged().expect("an exponent").exponent;
        assert!(judged < COLLECTOR_MAX && row.steps.last().is_some_and(|step| step.exponent > COLLECTOR_MAX));
        assert!(row.grade.is_superlinear(), "{row:?}");
        assert_eq!(by_bytes(&row, &allocated(|n| 80.0 * n, &row), Some(3.0), 0.0), None);
    }

    #[test]
    fn superlinear_growth_that_gets_steeper_may_be_either() {
        // A channel leaves a slice of n, which costs half a nanosecond for each before it, beside
        // all else: ns a channel by ten processes of Go.
        let costs: [(u64, &[u32]); 7] = [
            (16, &[600, 463, 493, 508, 816, 881, 522, 541, 539, 535]),
            (64, &[845, 1010, 531, 1336, 1887, 1747, 982, 572, 504, 799]),
            (128, &[970, 968, 608, 659, 1687, 1665, 1899, 1126, 1176, 1090]),
            (256, &[1596, 439, 2175, 2369, 827, 1879, 1349, 1040, 2447, 1289]),
            (1_024, &[1513, 1184, 2868, 2667, 2917, 4666, 3728, 2244, 3270, 2396]),
            (4_096, &[3292, 4842, 4211, 4516, 5404, 7967, 6158, 5408, 4357, 5191]),
            (16_384, &[11124, 11268, 13920, 14109, 16238, 12089, 10124, 11295, 10078, 13020]),
        ];
        let total = |(size, each): &(u64, &[u32])| {
            (*size, each.iter().map(|&ns| f64::from(ns) * *size as f64).collect::<Vec<f64>>())
        };
        let totals: Vec<(u64, Vec<f64>)> = costs.iter().map(total).collect();
        let row = judge(&sizes(&totals), Clock::Cpu, None, &mut fastrand::Rng::with_seed(1));
        assert!(row.grade.is_superlinear() && row.steps.iter().all(|step| step.interval.0 < COLLECTOR_MAX));
        let counted: Vec<(u64, Vec<f64>)> =
            [1_024, 4_096, 16_384].map(|n| (n, vec![300.0 * n as f64; 3])).into();
        let bytes = bytes(&[&sizes(&totals)[..4], &sizes(&counted)].concat(), &[1_024, 4_096, 16_384])
            .expect("bytes");
        let told = |row: &Growth| by_bytes(row, &bytes, Some(3.0), 190e6);
        assert_eq!(told(&row), Some(ByBytes::Either { from: 4_096 }));
        for few in [0.0, 0.25] {
            assert_eq!(by_bytes(&row, &bytes, Some(few), 190e6), None, "they cannot take 190 ms");
        }
        let soft = Growth { grade: Grade::SoftGrowth, ..row.clone() };
        assert_eq!(told(&soft), Some(ByBytes::Collector), "it is no cliff by itself");
        let mut falls = row;
        falls.steps[5].exponent = falls.steps[4].exponent - 0.01;
        assert_eq!(told(&falls), Some(ByBytes::Collector));
    }

    #[test]
    fn the_range_holds_all_that_the_counts_allow() {
        // 5 % more in one process and 5 % less in another, at the least and at the largest size.
        let is_end = |n: f64| !(20_000.0..200_000.0).contains(&n);
        let totals =
            totals(|n| if is_end(n) { vec![95.0 * n, 100.0 * n, 105.0 * n] } else { vec![100.0 * n; 3] });
        let over: Vec<u64> = totals.iter().map(|(size, _)| *size).collect();
        let found = bytes(&sizes(&totals), &over).expect("bytes");
        // Of five sizes that double the ends have the weights -2 / 10 and 2 / 10 in octaves.
        let (low, high) = found.range.expect("three processes");
        let half_width = 0.2 * (1.05_f64 / 0.95).log2();
        assert!((found.exponent - 1.0).abs() < 1e-9);
        assert!(
            (low - (1.0 - half_width)).abs() < 1e-9 && (high - (1.0 + half_width)).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn the_range_decides() {
        let row = cpu(|n| 50.0 * n.powf(1.4));
        let of = |exponent, low, high| Bytes {
            sizes: vec![16_384, 262_144],
            exponent,
            range: Some((low, high)),
            largest: 1e9,
        };
        for (bytes, expected) in [
            (of(1.05, 1.0, 1.1), Some(ByBytes::Collector)),
            (of(1.05, 1.0, 1.11), None),
            (of(1.75, 1.7, 1.8), Some(ByBytes::CliffInBytes)),
            (of(1.75, 1.69, 1.8), None),
        ] {
            assert_eq!(by_bytes(&row, &bytes, Some(3.0), 0.0), expected, "{bytes:?}");
        }
    }

    #[test]
    fn few_or_hardly_any_bytes_tell_nothing() {
        let (once, none) = (totals(|n| vec![100.0 * n]), totals(|n| vec![0.9 * n; 3]));
        let over: Vec<u64> = once.iter().map(|(size, _)| *size).collect();
        assert_eq!(bytes(&sizes(&once), &over).map(|bytes| bytes.range), Some(None), "counted once");
        assert_eq!(bytes(&sizes(&none), &over), None, "less than a byte");
        assert_eq!(bytes(&sizes(&once)[1..], &over), None, "a size was not counted");
        assert_eq!(bytes(&sizes(&once)[2..], &over[2..]), None, "three sizes");
        assert!(bytes(&sizes(&once), &over[2..]).is_some(), "four, of which three are the last octaves");
    }
}
