//! How throughput grows with workers: the Universal Scalability Law (N. J. Gunther, "Guerrilla
//! Capacity Planning", Springer 2007).
//!
//! N workers do X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)) a second. `lambda` is what
//! one does, `sigma` the share of the work that only one can do at a time (contention), and `kappa`
//! what each pair of workers costs (coherency). With `kappa` there is a peak, and more workers than
//! that do less.
//!
//! N / X is linear in 1 / lambda, sigma / lambda and kappa / lambda. That is the published way to a
//! first solution, which steps of Gauss and Newton then refine, on the logarithm of X: errors of
//! throughput are shares of it. Neither coefficient is below 0.

use fastrand::Rng;

use crate::{bootstrap, quantile::median};

/// The fewest counts of workers for a fit: three coefficients, and one more to be wrong about.
pub const FEWEST: usize = 4;

/// The fewest processes for an interval.
pub const PROCESSES: usize = 6;

/// The most steps of a fit. A fit without noise takes three to six.
const STEPS: usize = 60;

/// Throughput with a number of workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub workers: f64,
    pub rate: f64,
    /// How much it counts beside the others.
    pub weight: f64,
}

/// The law with its coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// What one worker does a second.
    pub lambda: f64,
    /// Contention, at least 0.
    pub sigma: f64,
    /// Coherency, at least 0.
    pub kappa: f64,
}

impl Law {
    /// What so many workers do a second.
    pub fn rate(&self, workers: f64) -> f64 {
        let pairs = workers * (workers - 1.0);
        self.lambda * workers / (1.0 + self.sigma * (workers - 1.0) + self.kappa * pairs)
    }

    /// The number of workers that does most, at least 1; infinite where more always do more.
    pub fn peak(&self) -> f64 {
        1.0 / self.inverse_peak()
    }

    /// 1 / [`Law::peak`], which is finite: from 0 to 1.
    fn inverse_peak(&self) -> f64 {
        match self.sigma >= 1.0 {
            true => 1.0,
            false => (self.kappa / (1.0 - self.sigma)).sqrt().min(1.0),
        }
    }
}

/// An interval of each figure of a law, the ends in order. The upper end of a peak may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    pub lambda: (f64, f64),
    pub sigma: (f64, f64),
    pub kappa: (f64, f64),
    pub peak: (f64, f64),
}

/// The law nearest to the points, by weighted least squares. It is `None` with fewer than
/// [`FEWEST`] counts of workers, or where a number is not finite and above zero. O(points).
///
/// ```
/// use taskscale_stats::usl::{Law, Point, fit};
/// let law = Law { lambda: 1_000.0, sigma: 0.05, kappa: 0.002 };
/// let points = [1.0, 2.0, 4.0, 8.0, 16.0].map(|n| Point { workers: n, rate: law.rate(n), weight: 1.0 });
/// let found = fit(&points).expect("five counts");
/// assert!((found.sigma - 0.05).abs() < 1e-6 && (found.kappa - 0.002).abs() < 1e-7);
/// assert!((found.peak() - 21.79).abs() < 0.01);
/// assert_eq!(fit(&points[..3]), None);
/// ```
pub fn fit(points: &[Point]) -> Option<Law> {
    let is_number = |value: f64| value.is_finite() && value > 0.0;
    let sound =
        points.iter().all(|one| is_number(one.workers) && is_number(one.rate) && is_number(one.weight));
    let mut counts: Vec<f64> = points.iter().map(|one| one.workers).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    if !sound || counts.len() < FEWEST {
        return None;
    }
    // A coefficient that would be below 0 is 0: the best of the solutions that have some at 0.
    let solutions = [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0]];
    let solutions = solutions.iter().filter_map(|free| solve(points, free));
    let best = solutions.min_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let [one, contention, coherency] = best.0;
    Some(Law { lambda: 1.0 / one, sigma: contention / one, kappa: coherency / one })
}

/// N / X as a sum: of 1, N - 1 and N (N - 1), times these.
#[derive(Clone, Copy)]
struct Line([f64; 3]);

impl Line {
    fn basis(workers: f64) -> [f64; 3] {
        [1.0, workers - 1.0, workers * (workers - 1.0)]
    }

    fn at(&self, workers: f64) -> f64 {
        Self::basis(workers).iter().zip(self.0).map(|(basis, times)| basis * times).sum()
    }

    /// The weighted sum of squares of what the logarithm of a rate is off by; infinite where the
    /// line gives no rate.
    fn loss(&self, points: &[Point]) -> f64 {
        let off = |point: &Point| point.weight * residual(point, self.at(point.workers)).powi(2);
        let loss: f64 = points.iter().map(off).sum();
        if loss.is_nan() { f64::INFINITY } else { loss }
    }
}

/// What the logarithm of a rate is off by, where N / X is `line`; not a number below 0.
fn residual(point: &Point, line: f64) -> f64 {
    (point.rate / point.workers * line).ln()
}

/// The best line with these terms free and the others 0, and its loss. It is `None` where a
/// coefficient is below 0.
fn solve(points: &[Point], free: &[usize]) -> Option<(f64, Line)> {
    // To begin with: least squares of N / X, whose errors are shares of it too.
    let start = points.iter().map(|point| {
        let line = point.workers / point.rate;
        (Line::basis(point.workers).map(|basis| basis / line), 1.0, point.weight)
    });
    let mut line = Line(least_squares(start, free)?);
    let mut loss = line.loss(points);
    if loss.is_infinite() {
        // A line that falls below 0 somewhere: begin with the best one that is flat.
        line = Line(least_squares(
            points.iter().map(|point| ([point.rate / point.workers, 0.0, 0.0], 1.0, point.weight)),
            &[0],
        )?);
        loss = line.loss(points);
    }
    for _ in 0..STEPS {
        let linear = points.iter().map(|point| {
            let at = line.at(point.workers);
            (Line::basis(point.workers).map(|basis| basis / at), -residual(point, at), point.weight)
        });
        let step = least_squares(linear, free)?;
        // A step that leads uphill is halved.
        let taken = (0..30).map(|halved| 0.5_f64.powi(halved)).find_map(|part| {
            let next = Line(std::array::from_fn(|term| line.0[term] + part * step[term]));
            let loss_there = next.loss(points);
            (loss_there < loss).then_some((next, loss_there))
        });
        let Some((next, loss_there)) = taken else { break };
        let gained = loss - loss_there;
        (line, loss) = (next, loss_there);
        if gained <= 1e-12 * loss {
            break;
        }
    }
    let [one, contention, coherency] = line.0;
    let is_law = loss.is_finite() && one > 0.0 && contention >= 0.0 && coherency >= 0.0;
    is_law.then_some((loss, line))
}

/// The coefficients of the free terms that bring each row nearest to its value, the others 0: rows
/// of terms, value and weight. It is `None` where they are not determined.
fn least_squares(rows: impl Iterator<Item = ([f64; 3], f64, f64)>, free: &[usize]) -> Option<[f64; 3]> {
    let k = free.len();
    // The normal equations, with the right side behind.
    let mut normal = [[0.0; 4]; 3];
    for (terms, value, weight) in rows {
        for (i, row) in normal.iter_mut().enumerate().take(k) {
            for (j, cell) in row.iter_mut().enumerate().take(k) {
                *cell += weight * terms[free[i]] * terms[free[j]];
            }
            row[3] += weight * terms[free[i]] * value;
        }
    }
    // Terms of many workers are thousands of times those of one: each is taken in units of itself.
    let mut units = [1.0; 3];
    for (i, unit) in units.iter_mut().enumerate().take(k) {
        *unit = normal[i][i].sqrt();
    }
    for (i, row) in normal.iter_mut().enumerate().take(k) {
        for (j, cell) in row.iter_mut().enumerate().take(k) {
            *cell /= units[i] * units[j];
        }
        row[3] /= units[i];
    }
    for at in 0..k {
        let pivot = (at..k).max_by(|&a, &b| normal[a][at].abs().total_cmp(&normal[b][at].abs()))?;
        normal.swap(at, pivot);
        let top = normal[at];
        // Terms that say the same cannot be told apart.
        if top[at].is_nan() || top[at].abs() < 1e-12 {
            return None;
        }
        for row in normal.iter_mut().take(k).skip(at + 1) {
            let times = row[at] / top[at];
            row.iter_mut().zip(top).for_each(|(cell, above)| *cell -= times * above);
        }
    }
    let mut found = [0.0; 3];
    for at in (0..k).rev() {
        let known: f64 = (at + 1..k).map(|j| normal[at][j] * found[j]).sum();
        found[at] = (normal[at][3] - known) / normal[at][at];
    }
    let mut all = [0.0; 3];
    for (i, &term) in free.iter().enumerate() {
        all[term] = found[i] / units[i];
    }
    Some(all)
}

/// The law of `rates`, which has for each process what each count of `workers` did a second: that
/// of the medians over processes. O(processes x counts).
pub fn of_processes(workers: &[f64], rates: &[Vec<f64>]) -> Option<Law> {
    let all: Vec<&Vec<f64>> = rates.iter().collect();
    fit(&points(workers, &all)?)
}

/// The medians over processes, each beside its own mean over all counts: what makes one process
/// slower at all of them leaves the shape of the curve as it is. A count whose processes are
/// missing has none.
fn points(workers: &[f64], rates: &[&Vec<f64>]) -> Option<Vec<Point>> {
    let level = |process: &&Vec<f64>| {
        let logs: f64 = process.iter().map(|rate| rate.ln()).sum();
        (logs / process.len() as f64).exp()
    };
    let levels: Vec<f64> = rates.iter().map(level).collect();
    let all = median(&levels)?;
    let point = |(place, &workers): (usize, &f64)| {
        let beside = |(process, level): (&&Vec<f64>, &f64)| process.get(place).map(|rate| rate / level);
        let of: Option<Vec<f64>> = rates.iter().zip(&levels).map(beside).collect();
        Some(Point { workers, rate: all * median(&of?)?, weight: 1.0 })
    };
    workers.iter().enumerate().map(point).collect()
}

/// Intervals of [`of_processes`], by the bootstrap: processes are drawn with replacement, each with
/// all its counts, so that what disturbs all counts of a process alike moves none of the shares. It
/// is `None` with fewer than [`PROCESSES`] or where some draw has no law. O(resamples x processes x
/// counts).
///
/// On curves of ten counts with known coefficients the intervals of 6, 9 and 20 processes hold them
/// 95 to 98 times in 100 (`tests/usl.rs`): the bootstrap of a median of few is rather wide, and so
/// makes up for the bootstrap of few, which is rather narrow.
pub fn intervals(
    workers: &[f64],
    rates: &[Vec<f64>],
    resamples: usize,
    confidence: f64,
    rng: &mut Rng,
) -> Option<Intervals> {
    let n = rates.len();
    if n < PROCESSES {
        return None;
    }
    let draw = |_| {
        let drawn: Vec<&Vec<f64>> = (0..n).map(|_| &rates[rng.usize(..n)]).collect();
        fit(&points(workers, &drawn)?)
    };
    let laws: Vec<Law> = (0..resamples).map(draw).collect::<Option<_>>()?;
    let of = |figure: fn(&Law) -> f64| bootstrap::middle(laws.iter().map(figure).collect(), confidence);
    let peak = of(Law::inverse_peak)?;
    Some(Intervals {
        lambda: of(|law| law.lambda)?,
        sigma: of(|law| law.sigma)?,
        kappa: of(|law| law.kappa)?,
        peak: (1.0 / peak.1, 1.0 / peak.0),
    })
}
