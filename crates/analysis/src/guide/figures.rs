//! A bound's figure from the samples of its arms, with a 95 % interval over sittings: the rounds of
//! one process share its heap and its place in memory, so that a process is one observation.

use std::collections::BTreeMap;

use fastrand::Rng;
use taskscale_model::{
    guide::{Bound, Claim, Figure, Of, Per, Sample},
    missing::Missing,
};
use taskscale_stats::{
    bootstrap::{self, RESAMPLES},
    confidence::CONFIDENCE,
    quantile::{median, quantile, sorted},
    sign::{FEWEST, sign_interval},
    student,
};

/// A round by the sitting and its number in it.
pub(super) type Round = (u64, u64);

/// What each round says.
type Series = BTreeMap<Round, f64>;

/// An interval; an end beyond what was measured is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
}

type Outcome = Result<(Figure, Option<Interval>), Missing>;

/// The samples of a program by arm and round.
#[derive(Debug, Default)]
pub struct Rounds<'a> {
    arms: BTreeMap<&'a str, BTreeMap<Round, &'a Sample>>,
}

impl<'a> Rounds<'a> {
    /// Takes a sample of a sitting. Of two with one name the later counts.
    pub(super) fn add(&mut self, sitting: u64, sample: &'a Sample) {
        self.arms.entry(&sample.arm).or_default().insert((sitting, sample.round), sample);
    }

    /// Rounds in which an arm has a sample.
    pub(super) fn count(&self, arm: &str) -> u64 {
        self.arms.get(arm).map_or(0, |rounds| rounds.len() as u64)
    }

    /// The metric of an arm by round.
    fn series(&self, arm: &str, metric: &str, per: Per) -> Series {
        let of = |sample: &Sample| {
            let value = sample.metric(metric)?;
            let value = if per == Per::Task { value / sample.tasks.max(1) as f64 } else { value };
            value.is_finite().then_some(value)
        };
        let rounds = self.arms.get(arm).into_iter().flatten();
        rounds.filter_map(|(round, sample)| Some((*round, of(sample)?))).collect()
    }

    pub(super) fn median(&self, arm: &str, metric: &str, per: Per) -> Option<f64> {
        median(&self.series(arm, metric, per).into_values().collect::<Vec<_>>())
    }
}

/// The figure of a bound, and its interval where there are enough rounds.
pub(super) fn of(bound: &Bound, claim: &Claim, rounds: &Rounds<'_>) -> Outcome {
    let series = |arm: &str| rounds.series(arm, &bound.metric, bound.per);
    match &bound.of {
        Of::Value { one } if bound.metric == "hit" => {
            share(&some(series(one), bound)?.into_values().collect::<Vec<_>>())
        }
        Of::Value { one } => {
            let values = some(series(one), bound)?;
            // What cannot be below nothing is spread by factors, and so is its interval. Logarithms
            // would not give back exactly what is always the same.
            let (least, most) = values
                .values()
                .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
            match least > 0.0 && least < most {
                true => by_factors(&values.iter().map(|(round, value)| (*round, value.ln())).collect()),
                false => middle(&values),
            }
        }
        Of::Ratio { one, other } | Of::Effect { one, other } => ratio(&series(one), &series(other)),
        Of::Difference { one, other } => middle(&by_round(&series(one), &series(other), |a, b| a - b)),
        Of::Spread { one, other } => {
            spread(&by_round(&series(one), &series(other), |a, b| (a / b - 1.0).abs()))
        }
        Of::Slope { arms } => {
            let places = places(claim, arms)?;
            middle(&slopes(&places, &arms.iter().map(|arm| series(arm)).collect::<Vec<_>>()))
        }
        Of::Crossover { ones, others, scale, level } => {
            let places = places(claim, ones)?;
            let of = |a: f64, b: f64| scale * a / b;
            let pairs = ones.iter().zip(others);
            let curves: Vec<Series> =
                pairs.map(|(one, other)| by_round(&series(one), &series(other), of)).collect();
            crossover(&places, &curves, *level)
        }
        Of::Report { arms } => {
            let all = arms.iter().filter_map(|arm| median(&series(arm).into_values().collect::<Vec<_>>()));
            let most = all.reduce(f64::max).ok_or_else(|| nothing(bound))?;
            Ok((Figure { value: Some(most), low: None, high: None, has_interval: false, rounds: 0 }, None))
        }
    }
}

fn nothing(bound: &Bound) -> Missing {
    Missing::new(format!("no sample has {}", bound.metric), "")
}

fn some(series: Series, bound: &Bound) -> Result<Series, Missing> {
    if series.is_empty() { Err(nothing(bound)) } else { Ok(series) }
}

/// What is made of two arms in the rounds that have both.
fn by_round(one: &Series, other: &Series, of: impl Fn(f64, f64) -> f64) -> Series {
    one.iter().filter_map(|(round, value)| Some((*round, of(*value, *other.get(round)?)))).collect()
}

/// The values of each sitting.
fn sittings(series: &Series) -> Vec<Vec<f64>> {
    let mut sittings: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    series.iter().for_each(|((sitting, _), value)| sittings.entry(*sitting).or_default().push(*value));
    sittings.into_values().collect()
}

/// The interval of what a statistic says of each sitting, around its value over all rounds. What is
/// the same in all rounds is so in one sitting too.
fn around(value: f64, series: &Series, of: impl Fn(&[f64]) -> Option<f64>) -> Option<Interval> {
    if series.len() < FEWEST {
        return None;
    }
    if series.values().all(|other| *other == value) {
        return Some(Interval { low: value, high: value });
    }
    let each: Option<Vec<f64>> = sittings(series).iter().map(|sitting| of(sitting)).collect();
    let (low, high) = student::interval(&each?, CONFIDENCE)?;
    Some(Interval { low: low.min(value), high: high.max(value) })
}

fn figure(value: Option<f64>, interval: Option<Interval>, rounds: usize) -> (Figure, Option<Interval>) {
    let end = |end: f64| end.is_finite().then_some(end);
    let value = value.and_then(end);
    let low = interval.and_then(|interval| end(interval.low));
    let high = interval.and_then(|interval| end(interval.high));
    (Figure { value, low, high, has_interval: interval.is_some(), rounds: rounds as u64 }, interval)
}

/// The median over all rounds, with the interval of the sittings' medians. It is no narrower than
/// that of the rounds, were they independent: medians of a few rounds may be alike by chance.
fn middle(series: &Series) -> Outcome {
    let sorted = sorted(&series.values().copied().collect::<Vec<_>>());
    let Some(value) = quantile(&sorted, 0.5) else { return Err(no_round()) };
    let (least, most) = sign_interval(&sorted, CONFIDENCE).unwrap_or((value, value));
    let interval = around(value, series, median);
    let interval = interval.map(|of| Interval { low: of.low.min(least), high: of.high.max(most) });
    Ok(figure(Some(value), interval, series.len()))
}

fn no_round() -> Missing {
    Missing::new("no round has all of its arms", super::MORE_TIME)
}

/// The share of ones with Wilson's interval (Wilson 1927), which holds for shares near 1 too.
fn share(values: &[f64]) -> Outcome {
    let n = values.len() as f64;
    let share = values.iter().filter(|value| **value > 0.5).count() as f64 / n;
    // The quantile of the normal distribution for 95 %.
    let z = 1.959_964;
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
    let interval = (values.len() >= FEWEST).then_some(Interval { low: centre - half, high: centre + half });
    Ok(figure(Some(share), interval, values.len()))
}

/// The ratio of two arms by the rounds that have both, with the interval of the sittings' medians
/// on a logarithmic scale.
fn ratio(one: &Series, other: &Series) -> Outcome {
    let logs = by_round(one, other, |a, b| (a / b).ln());
    if logs.is_empty() {
        return Err(no_round());
    }
    if logs.values().any(|log| !log.is_finite()) {
        return Err(Missing::new("a sample took no time that the clock sees", ""));
    }
    by_factors(&logs)
}

/// The median of what these are the logarithms of, with the interval of the sittings' medians on
/// their scale.
fn by_factors(logs: &Series) -> Outcome {
    let (of, interval) = middle(logs)?;
    let interval = interval.map(|of| Interval { low: of.low.exp(), high: of.high.exp() });
    Ok(figure(of.value.map(f64::exp), interval, logs.len()))
}

/// The 90th percentile over all rounds, with the interval of those of the sittings.
fn spread(shares: &Series) -> Outcome {
    if shares.values().any(|share| !share.is_finite()) {
        return Err(Missing::new("a sample took no time that the clock sees", ""));
    }
    let of = |values: &[f64]| quantile(&sorted(values), 0.9);
    let Some(value) = of(&shares.values().copied().collect::<Vec<_>>()) else { return Err(no_round()) };
    // By logarithm, since no difference is below nothing; as it is where one is nothing.
    let log = |values: &[f64]| of(values).map(f64::ln).filter(|log| log.is_finite());
    let interval = match around(value.ln(), shares, log).filter(|_| value > 0.0) {
        Some(of) => Some(Interval { low: of.low.exp(), high: of.high.exp() }),
        None => around(value, shares, of).map(|of| Interval { low: of.low.max(0.0), high: of.high }),
    };
    Ok(figure(Some(value), interval, shares.len()))
}

/// Where arms stand on the axis.
fn places(claim: &Claim, arms: &[String]) -> Result<Vec<f64>, Missing> {
    let place = |name: &String| claim.arms.iter().find(|arm| arm.name == *name)?.x;
    let places: Option<Vec<f64>> = arms.iter().map(place).collect();
    places.ok_or_else(|| Missing::new("an arm has no place on the axis", ""))
}

/// The least squares slope of each round that has all arms.
fn slopes(places: &[f64], series: &[Series]) -> Series {
    let Some(first) = series.first() else { return Series::new() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let x_mean = mean(places);
    let square: f64 = places.iter().map(|x| (x - x_mean).powi(2)).sum();
    let of = |round: &Round| {
        let values: Option<Vec<f64>> = series.iter().map(|one| one.get(round).copied()).collect();
        let values = values?;
        let y_mean = mean(&values);
        let product: f64 = places.iter().zip(&values).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        (square > 0.0).then(|| (*round, product / square))
    };
    first.keys().filter_map(of).collect()
}

/// The place from which on the efficiency is at least `level`, with a bootstrapped interval: of
/// each place sittings are drawn anew, and of these their rounds. The interval reaches to the place
/// itself, since draws of few sittings may all lie on one side of it.
fn crossover(places: &[f64], curves: &[Series], level: f64) -> Outcome {
    if curves.iter().any(|curve| curve.is_empty() || curve.values().any(|ratio| !ratio.is_finite())) {
        return Err(no_round());
    }
    let fewest = curves.iter().map(BTreeMap::len).min().unwrap_or_default();
    let sat: Vec<Vec<Vec<f64>>> = curves.iter().map(sittings).collect();
    let fewest_sittings = sat.iter().map(Vec::len).min().unwrap_or_default();
    let all = |sat: &Vec<Vec<f64>>| median(&sat.concat());
    let Some(efficiencies): Option<Vec<f64>> = sat.iter().map(all).collect() else { return Err(no_round()) };
    let value = place(places, &efficiencies, level);
    let has_interval = fewest >= FEWEST && fewest_sittings >= student::FEWEST;
    let mut rng = Rng::with_seed(1);
    let mut draws: Vec<f64> = Vec::new();
    for _ in 0..if has_interval { RESAMPLES } else { 0 } {
        let mut drawn = |sat: &Vec<Vec<f64>>| {
            let mut into = Vec::new();
            for _ in 0..sat.len() {
                let sitting = &sat[rng.usize(..sat.len())];
                let from = into.len();
                into.resize(from + sitting.len(), 0.0);
                bootstrap::resample(sitting, &mut into[from..], &mut rng);
            }
            median(&into)
        };
        let Some(efficiencies): Option<Vec<f64>> = sat.iter().map(&mut drawn).collect() else {
            return Err(no_round());
        };
        draws.push(place(places, &efficiencies, level));
    }
    draws.sort_by(f64::total_cmp);
    // Ranks, and no interpolation: an end may be infinite.
    let outside = ((1.0 - CONFIDENCE) / 2.0 * draws.len() as f64) as usize;
    let interval = draws.get(outside).zip(draws.iter().rev().nth(outside));
    let interval = interval.map(|(low, high)| Interval { low: low.min(value), high: high.max(value) });
    Ok(figure(Some(value), interval, fewest))
}

/// Where a curve comes to stay at or above a level: between two places by logarithm, minus infinity
/// where it always is, infinity where it is not at the last place.
fn place(places: &[f64], efficiencies: &[f64], level: f64) -> f64 {
    let Some(last) = efficiencies.iter().rposition(|efficiency| *efficiency < level) else {
        return f64::NEG_INFINITY;
    };
    let Some((next, far)) = efficiencies.get(last + 1).zip(places.get(last + 1)) else {
        return f64::INFINITY;
    };
    let part = (level - efficiencies[last]) / (next - efficiencies[last]);
    (places[last].ln() + part * (far.ln() - places[last].ln())).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_crosses_between_two_places_by_logarithm() {
        let places = [100.0, 1_000.0, 10_000.0];
        assert!((place(&places, &[0.2, 0.8, 0.9], 0.5) - 10f64.powf(2.5)).abs() < 1e-6);
        assert_eq!(place(&places, &[0.6, 0.8, 0.9], 0.5), f64::NEG_INFINITY);
        assert_eq!(place(&places, &[0.2, 0.3, 0.4], 0.5), f64::INFINITY);
        // A dip counts: from its end on the level is kept.
        assert!(place(&places, &[0.9, 0.4, 0.6], 0.5) > 1_000.0);
    }

    #[test]
    fn a_share_near_one_has_an_interval_below_it() {
        let (figure, interval) = share(&[1.0; 30]).expect("a figure");
        let interval = interval.expect("thirty rounds");
        // Wilson for 30 of 30: 0.8865 to 1.
        assert!((interval.low - 0.8865).abs() < 1e-4 && (interval.high - 1.0).abs() < 1e-9, "{interval:?}");
        assert_eq!(figure.value, Some(1.0));
        assert_eq!(share(&[1.0; 5]).expect("a figure").1, None);
    }

    #[test]
    fn rounds_of_one_process_are_one_observation() {
        // Three processes that differ by 10 %, each alike in all of its rounds.
        let series: Series = (0..90).map(|n| ((n / 30, n), 100.0 + 10.0 * (n / 30) as f64)).collect();
        let interval = middle(&series).expect("a figure").1.expect("three sittings");
        // Student's factor for 3 is 4.303; the standard deviation is 10.
        assert!((interval.low - (110.0 - 24.84)).abs() < 0.01 && (interval.high - 134.84).abs() < 0.01);
        let one: Series =
            series.iter().filter(|((sitting, _), _)| *sitting == 0).map(|(r, v)| (*r, *v)).collect();
        assert_eq!(middle(&one).expect("a figure").1, Some(Interval { low: 100.0, high: 100.0 }), "always");
        let two: Series = series.into_iter().filter(|((sitting, _), _)| *sitting < 2).collect();
        assert_eq!(middle(&two).expect("a figure").1, None);
        let slow: Series = two.iter().map(|(round, value)| (*round, 2.0 * value)).collect();
        let (figure, interval) = ratio(&slow, &two).expect("a figure");
        assert!((figure.value.expect("a ratio") - 2.0).abs() < 1e-12 && interval.is_some(), "always 2");
    }

    #[test]
    fn the_interval_of_a_crossing_holds_the_crossing() {
        // Sittings differ so much that most draws lie on one side of the median over all rounds.
        let places = [100.0, 1_000.0, 10_000.0];
        let curve = |shares: [f64; 3]| -> Series {
            (0..18).map(|n| ((n / 6, n), shares[(n / 6) as usize])).collect()
        };
        for far in [[0.6, 0.6, 0.1], [0.1, 0.6, 0.1], [0.9, 0.1, 0.1]] {
            let curves = [curve([0.1, 0.2, 0.3]), curve(far), curve([0.9, 0.9, 0.9])];
            let (figure, interval) = crossover(&places, &curves, 0.5).expect("a figure");
            let (value, interval) = (figure.value.expect("a place"), interval.expect("three sittings"));
            assert!(interval.low <= value && value <= interval.high, "{value} {interval:?}");
        }
    }

    #[test]
    fn no_interval_of_times_reaches_below_nothing() {
        // Three processes of 1, 4 and 200 us.
        let times: Series =
            (0..30).map(|n| ((n / 10, n), [1e3_f64, 4e3, 2e5][(n / 10) as usize].ln())).collect();
        let (figure, interval) = by_factors(&times).expect("a figure");
        let interval = interval.expect("three sittings");
        assert!((figure.value.expect("a time") - 4e3).abs() < 1e-6);
        assert!(interval.low > 0.0 && interval.low < 1e3 && interval.high > 2e5, "{interval:?}");
    }

    #[test]
    fn no_interval_of_differences_reaches_below_nothing() {
        // Three processes whose differences are of 1, 4 and 20 %.
        let shares = |least: f64| -> Series {
            (0..30).map(|n| ((n / 10, n), [least, 0.04, 0.2][(n / 10) as usize])).collect()
        };
        let interval = spread(&shares(0.01)).expect("a figure").1.expect("three sittings");
        assert!(interval.low > 0.0 && interval.low < 0.01 && interval.high > 0.2, "{interval:?}");
        let nothing = spread(&shares(0.0)).expect("a figure").1.expect("three sittings");
        assert!(nothing.low == 0.0 && nothing.high > 0.2, "{nothing:?}");
        assert_eq!(spread(&shares(0.01).into_iter().take(20).collect()).expect("a figure").1, None);
    }

    #[test]
    fn slopes_are_those_of_least_squares() {
        let series = |factor: f64| Series::from([((0, 0), factor * 2.0), ((0, 1), factor * 3.0)]);
        let found = slopes(&[1.0, 2.0, 3.0], &[series(1.0), series(2.0), series(3.0)]);
        assert_eq!(found, series(1.0));
        assert!(slopes(&[1.0, 1.0], &[series(1.0), series(2.0)]).is_empty(), "one place has no slope");
    }
}
