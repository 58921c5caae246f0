//! A bound's figure from the samples of its arms, with a 95 % interval over rounds.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use taskscale_model::{
    guide::{Bound, Claim, Figure, Of, Per, Sample},
    missing::Missing,
};
use taskscale_stats::{
    bootstrap::{self, RESAMPLES},
    confidence::CONFIDENCE,
    paired::{self, PairedRatio},
    quantile::{median, quantile, sorted},
    sign::{FEWEST, sign_interval},
};

/// A round by the sitting and its number in it.
pub(super) type Round = (u64, u64);

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
    fn series(&self, arm: &str, metric: &str, per: Per) -> BTreeMap<Round, f64> {
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
    let pair = |one: &str, other: &str| paired(&series(one), &series(other));
    match &bound.of {
        Of::Value { one } if bound.metric == "hit" => share(&values(series(one), bound)?),
        Of::Value { one } => middle(&values(series(one), bound)?),
        Of::Ratio { one, other } | Of::Effect { one, other } => {
            let (one, other) = pair(one, other);
            ratio(&one, &other)
        }
        Of::Difference { one, other } => {
            let (one, other) = pair(one, other);
            middle(&one.iter().zip(&other).map(|(one, other)| one - other).collect::<Vec<_>>())
        }
        Of::Spread { one, other } => {
            let (one, other) = pair(one, other);
            spread(&one.iter().zip(&other).map(|(one, other)| (one / other - 1.0).abs()).collect::<Vec<_>>())
        }
        Of::Slope { arms } => {
            let places = places(claim, arms)?;
            middle(&slopes(&places, &arms.iter().map(|arm| series(arm)).collect::<Vec<_>>()))
        }
        Of::Crossover { ones, others, scale, level } => {
            let places = places(claim, ones)?;
            let curves: Vec<(Vec<f64>, Vec<f64>)> =
                ones.iter().zip(others).map(|(one, other)| pair(one, other)).collect();
            crossover(&places, &curves, *scale, *level)
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

fn values(series: BTreeMap<Round, f64>, bound: &Bound) -> Result<Vec<f64>, Missing> {
    let values: Vec<f64> = series.into_values().collect();
    if values.is_empty() { Err(nothing(bound)) } else { Ok(values) }
}

/// The values of two arms in the rounds that have both.
fn paired(one: &BTreeMap<Round, f64>, other: &BTreeMap<Round, f64>) -> (Vec<f64>, Vec<f64>) {
    one.iter().filter_map(|(round, value)| Some((*value, *other.get(round)?))).unzip()
}

fn figure(value: Option<f64>, interval: Option<Interval>, rounds: usize) -> (Figure, Option<Interval>) {
    let end = |end: f64| end.is_finite().then_some(end);
    let value = value.and_then(end);
    let low = interval.and_then(|interval| end(interval.low));
    let high = interval.and_then(|interval| end(interval.high));
    (Figure { value, low, high, has_interval: interval.is_some(), rounds: rounds as u64 }, interval)
}

/// The median with its sign interval.
fn middle(values: &[f64]) -> Outcome {
    let sorted = sorted(values);
    let Some(value) = quantile(&sorted, 0.5) else { return Err(no_round()) };
    let interval = sign_interval(&sorted, CONFIDENCE).map(|(low, high)| Interval { low, high });
    Ok(figure(Some(value), interval, values.len()))
}

fn no_round() -> Missing {
    Missing::new("no round has all of its arms", "allow more with --max-time")
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

fn ratio(one: &[f64], other: &[f64]) -> Outcome {
    if one.is_empty() {
        return Err(no_round());
    }
    let Some(value) = paired::ratio(other, one) else {
        return Err(Missing::new("a sample took no time that the clock sees", ""));
    };
    let paired = PairedRatio::of(other, one, CONFIDENCE);
    let interval = paired.map(|paired| Interval { low: paired.low, high: paired.high });
    Ok(figure(Some(value), interval, one.len()))
}

/// The 90th percentile with a bootstrapped interval.
fn spread(shares: &[f64]) -> Outcome {
    if shares.iter().any(|share| !share.is_finite()) {
        return Err(Missing::new("a sample took no time that the clock sees", ""));
    }
    let of = |values: &[f64]| quantile(&sorted(values), 0.9);
    let Some(value) = of(shares) else { return Err(no_round()) };
    let mut rng = Rng::with_seed(1);
    let interval = (shares.len() >= FEWEST)
        .then(|| {
            let draw = |draw: &mut [f64]| of(draw).unwrap_or(f64::NAN);
            bootstrap::interval(shares, draw, RESAMPLES, CONFIDENCE, &mut rng)
        })
        .flatten();
    Ok(figure(Some(value), interval.map(|(low, high)| Interval { low, high }), shares.len()))
}

/// Where arms stand on the axis.
fn places(claim: &Claim, arms: &[String]) -> Result<Vec<f64>, Missing> {
    let place = |name: &String| claim.arms.iter().find(|arm| arm.name == *name)?.x;
    let places: Option<Vec<f64>> = arms.iter().map(place).collect();
    places.ok_or_else(|| Missing::new("an arm has no place on the axis", ""))
}

/// The least squares slope of each round that has all arms.
fn slopes(places: &[f64], series: &[BTreeMap<Round, f64>]) -> Vec<f64> {
    let Some(first) = series.first() else { return Vec::new() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let x_mean = mean(places);
    let square: f64 = places.iter().map(|x| (x - x_mean).powi(2)).sum();
    let of = |round: &Round| {
        let values: Option<Vec<f64>> = series.iter().map(|one| one.get(round).copied()).collect();
        let values = values?;
        let y_mean = mean(&values);
        let product: f64 = places.iter().zip(&values).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        (square > 0.0).then(|| product / square)
    };
    first.keys().filter_map(of).collect()
}

/// The place from which on the efficiency is at least `level`, with a bootstrapped interval: the
/// rounds of each place are drawn anew.
fn crossover(places: &[f64], curves: &[(Vec<f64>, Vec<f64>)], scale: f64, level: f64) -> Outcome {
    let of = |pair: &(Vec<f64>, Vec<f64>)| -> Option<Vec<f64>> {
        let ratios: Vec<f64> = pair.0.iter().zip(&pair.1).map(|(one, other)| scale * one / other).collect();
        (!ratios.is_empty() && ratios.iter().all(|ratio| ratio.is_finite())).then_some(ratios)
    };
    let Some(ratios) = curves.iter().map(of).collect::<Option<Vec<_>>>() else { return Err(no_round()) };
    let by_place: BTreeSet<usize> = ratios.iter().map(Vec::len).collect();
    let fewest = by_place.first().copied().unwrap_or_default();
    let medians = |of: &mut dyn FnMut(&[f64]) -> Option<f64>| ratios.iter().map(|one| of(one)).collect();
    let Some(efficiencies): Option<Vec<f64>> = medians(&mut median) else { return Err(no_round()) };
    let value = place(places, &efficiencies, level);
    let mut rng = Rng::with_seed(1);
    let mut draws: Vec<f64> = Vec::new();
    for _ in 0..if fewest >= FEWEST { RESAMPLES } else { 0 } {
        let mut drawn = |from: &[f64]| {
            let mut into = vec![0.0; from.len()];
            bootstrap::resample(from, &mut into, &mut rng);
            median(&into)
        };
        let Some(efficiencies): Option<Vec<f64>> = medians(&mut drawn) else { return Err(no_round()) };
        draws.push(place(places, &efficiencies, level));
    }
    draws.sort_by(f64::total_cmp);
    // Ranks, and no interpolation: an end may be infinite.
    let outside = ((1.0 - CONFIDENCE) / 2.0 * draws.len() as f64) as usize;
    let interval = draws.get(outside).zip(draws.iter().rev().nth(outside));
    let interval = interval.map(|(low, high)| Interval { low: *low, high: *high });
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
    fn slopes_are_those_of_least_squares() {
        let series = |factor: f64| [((0, 0), factor * 2.0), ((0, 1), factor * 3.0)].into();
        let found = slopes(&[1.0, 2.0, 3.0], &[series(1.0), series(2.0), series(3.0)]);
        assert_eq!(found, [2.0, 3.0]);
        assert!(slopes(&[1.0, 1.0], &[series(1.0), series(2.0)]).is_empty(), "one place has no slope");
    }
}
