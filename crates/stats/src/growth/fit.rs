//! The fits behind a grade of growth: a slope in log-log space, and two polynomials compared by AIC.

/// Relative residual below which a fit is perfect; no clock reads costs more finely than a millionth.
const PERFECT: f64 = 1e-6;

/// Least-squares slope of ln cost over ln size; of two points, the local exponent. NaN below two distinct sizes.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x.ln()).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y.ln()).sum::<f64>() / n;
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x.ln() - mean_x) * (y.ln() - mean_y);
        xx += (x.ln() - mean_x).powi(2);
    }
    xy / xx
}

/// Whether a + b n + c n^2 with c > 0 describes the costs better than a + b n by Akaike's criterion (1974), at least
/// squares of the relative residuals, so that small sizes count as much as large ones.
pub fn quadratic_wins(points: &[(f64, f64)]) -> bool {
    let Some(largest) = points.iter().map(|(x, _)| *x).reduce(f64::max) else { return false };
    // Dividing the equation y = f(x) by y makes the residuals relative; x in 0..1 keeps the powers comparable.
    let column = |power: i32| points.iter().map(|(x, y)| (x / largest).powi(power) / y).collect::<Vec<f64>>();
    let target = vec![1.0; points.len()];
    let (Some(line), Some(parabola)) = (
        least_squares([column(0), column(1)], &target),
        least_squares([column(0), column(1), column(2)], &target),
    ) else {
        return false;
    };
    let count = points.len() as f64;
    let akaike = |squares: f64, parameters: f64| {
        count * (squares / count).max(PERFECT * PERFECT).ln() + 2.0 * parameters
    };
    parabola.last_coefficient > 0.0 && akaike(parabola.squares, 3.0) < akaike(line.squares, 2.0)
}

/// What the comparison needs of a fit.
struct Fit {
    /// Sum of the squared residuals.
    squares: f64,
    /// Coefficient of the last column.
    last_coefficient: f64,
}

/// Fits `target` by the columns, by modified Gram-Schmidt (Golub and Van Loan, "Matrix Computations", 5.2.8); `None`
/// where a column depends on those before it.
fn least_squares<const P: usize>(mut columns: [Vec<f64>; P], target: &[f64]) -> Option<Fit> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let subtract = |from: &mut [f64], factor: f64, unit: &[f64]| {
        from.iter_mut().zip(unit).for_each(|(from, unit)| *from -= factor * unit);
    };
    let mut residual = target.to_vec();
    let mut last_coefficient = 0.0;
    for k in 0..P {
        let (done, rest) = columns.split_at_mut(k);
        let column = &mut rest[0];
        let length = dot(column, column).sqrt();
        for unit in done {
            let factor = dot(unit, column);
            subtract(column, factor, unit);
        }
        let independent = dot(column, column).sqrt();
        if independent.is_nan() || independent <= 1e-10 * length {
            return None;
        }
        column.iter_mut().for_each(|x| *x /= independent);
        let along = dot(column, &residual);
        subtract(&mut residual, along, column);
        // The last column of R has its own diagonal entry only.
        last_coefficient = along / independent;
    }
    Some(Fit { squares: dot(&residual, &residual), last_coefficient })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cost: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (6..=12).map(|k| f64::from(1 << k)).map(|n| (n, cost(n))).collect()
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        for e in [0.5, 1.0, 1.7, 3.0] {
            assert!((exponent(&curve(|n| 7.0 * n.powf(e))) - e).abs() < 1e-12);
        }
    }

    #[test]
    fn a_parabola_is_recovered() {
        let points = curve(|n| 500.0 + 3.0 * n + 0.25 * n * n);
        let column = |power: i32| points.iter().map(|(x, y)| x.powi(power) / y).collect::<Vec<f64>>();
        let target = vec![1.0; points.len()];
        let fit = least_squares([column(0), column(1), column(2)], &target).expect("independent");
        assert!((fit.last_coefficient - 0.25).abs() < 1e-9 && fit.squares < 1e-18);
    }

    #[test]
    fn the_quadratic_model_wins_only_where_it_should() {
        assert!(quadratic_wins(&curve(|n| n + 0.001 * n * n)));
        assert!(!quadratic_wins(&curve(|n| 900.0 + 5.0 * n)));
        assert!(!quadratic_wins(&curve(|n| 1e6 + 5.0 * n - 0.0001 * n * n)), "bends downwards");
        assert!(!quadratic_wins(&[(1.0, 1.0), (2.0, 2.0)]), "two points");
    }
}
