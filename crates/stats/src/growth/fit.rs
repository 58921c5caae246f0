//! Least squares for curves of cost over size: the slope in log-log space, and up to three
//! non-negative parts at relative residuals.

/// Slope of ln cost over ln size; for two points, the local exponent. It is NaN below two distinct
/// sizes. O(n).
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

/// A fit of parts that are never negative, since a cost is a sum of costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit<const P: usize> {
    /// The factor of each part; zero for a part that does not help.
    pub factors: [f64; P],
    /// Sum of the squared relative residuals.
    pub squares: f64,
}

impl<const P: usize> Fit<P> {
    /// The number of parts that are not zero.
    pub fn parts(&self) -> usize {
        self.factors.iter().filter(|&&factor| factor > 0.0).count()
    }
}

/// Fits `costs` by the columns with least squares and factors of at least zero. Residuals are
/// *relative*, so that small sizes count as much as large ones.
///
/// The fit is exact. It solves every subset of the columns (at most 2^P - 1, where P is 3 here) and
/// takes the best feasible one; Lawson and Hanson, "Solving least squares problems", 1974, chapter
/// 23, shows that the answer is among them. The result is `None` where no column fits. O(2^P x P^2
/// x n).
pub fn non_negative<const P: usize>(columns: &[Vec<f64>; P], costs: &[f64]) -> Option<Fit<P>> {
    // Dividing the equation y = f(x) by y makes the residuals relative. Columns of length 1 keep
    // the matrix well scaled.
    let relative = |column: &Vec<f64>| {
        let mut relative: Vec<f64> = column.iter().zip(costs).map(|(x, y)| x / y).collect();
        let length = relative.iter().map(|x| x * x).sum::<f64>().sqrt();
        relative.iter_mut().for_each(|x| *x /= length);
        (relative, length)
    };
    let scaled: Vec<(Vec<f64>, f64)> = columns.iter().map(relative).collect();
    let usable = |k: usize| scaled[k].1.is_normal();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut gram = [[0.0; P]; P];
    let mut right = [0.0; P];
    for i in 0..P {
        for j in 0..P {
            gram[i][j] = dot(&scaled[i].0, &scaled[j].0);
        }
        right[i] = scaled[i].0.iter().sum();
    }
    let mut best: Option<Fit<P>> = None;
    for subset in 1_usize..1 << P {
        let chosen: Vec<usize> = (0..P).filter(|k| subset >> k & 1 == 1).collect();
        if !chosen.iter().all(|&k| usable(k)) {
            continue;
        }
        let Some(solved) = solve(&gram, &right, &chosen) else { continue };
        let squares: f64 = (0..costs.len())
            .map(|row| {
                let fitted: f64 = chosen.iter().map(|&k| solved[k] * scaled[k].0[row]).sum();
                (1.0 - fitted).powi(2)
            })
            .sum();
        if squares.is_finite() && best.is_none_or(|best| squares < best.squares) {
            let mut factors = [0.0; P];
            chosen.iter().for_each(|&k| factors[k] = solved[k] / scaled[k].1);
            best = Some(Fit { factors, squares });
        }
    }
    best
}

/// The factors of the chosen columns, by Gaussian elimination. The matrix is symmetric and positive
/// definite, so no pivoting is needed. The result is `None` where a column depends on the others or
/// a factor is negative.
fn solve<const P: usize>(gram: &[[f64; P]; P], right: &[f64; P], chosen: &[usize]) -> Option<[f64; P]> {
    let (mut matrix, mut right) = (*gram, *right);
    for (step, &pivot) in chosen.iter().enumerate() {
        // Columns have length 1. What is left of one is its squared sine to the columns before it.
        if matrix[pivot][pivot].is_nan() || matrix[pivot][pivot] < 1e-9 {
            return None;
        }
        for &row in &chosen[step + 1..] {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            for &column in &chosen[step..] {
                matrix[row][column] -= factor * matrix[pivot][column];
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; P];
    for (step, &row) in chosen.iter().enumerate().rev() {
        let known: f64 = chosen[step + 1..].iter().map(|&k| matrix[row][k] * solution[k]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
        if solution[row].is_nan() || solution[row] < 0.0 {
            return None;
        }
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Vec<f64> {
        (6..=12).map(|k| f64::from(1 << k)).collect()
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        for e in [0.5, 1.0, 1.7, 3.0] {
            let points: Vec<(f64, f64)> = sizes().into_iter().map(|n| (n, 7.0 * n.powf(e))).collect();
            assert!((exponent(&points) - e).abs() < 1e-12);
        }
    }

    #[test]
    fn a_parabola_is_recovered() {
        let columns = [0, 1, 2].map(|power| sizes().iter().map(|n| n.powi(power)).collect::<Vec<f64>>());
        let costs: Vec<f64> = sizes().iter().map(|n| 500.0 + 3.0 * n + 0.25 * n * n).collect();
        let fit = non_negative(&columns, &costs).expect("independent");
        let [a, b, c] = fit.factors;
        assert!((a - 500.0).abs() < 1e-5 && (b - 3.0).abs() < 1e-7 && (c - 0.25).abs() < 1e-9, "{fit:?}");
        assert!(fit.squares < 1e-18 && fit.parts() == 3);
    }

    #[test]
    fn a_part_that_would_be_negative_is_left_out() {
        let columns = [0, 1, 2].map(|power| sizes().iter().map(|n| n.powi(power)).collect::<Vec<f64>>());
        let costs: Vec<f64> = sizes().iter().map(|n| 1e6 + 5.0 * n - 0.0001 * n * n).collect();
        let fit = non_negative(&columns, &costs).expect("a line");
        assert_eq!((fit.factors[2], fit.parts()), (0.0, 2));
    }

    #[test]
    fn columns_that_depend_on_each_other_are_not_both_used() {
        let one = sizes();
        let twice = one.iter().map(|n| 2.0 * n).collect();
        let fit = non_negative(&[one.clone(), twice, vec![0.0; one.len()]], &one).expect("one of them");
        assert!(fit.parts() == 1 && fit.squares < 1e-18, "{fit:?}");
    }
}
