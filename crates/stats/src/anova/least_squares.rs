//! Least squares by Householder's orthogonalisation.

/// A fitted linear model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    /// The upper triangle R, by columns.
    triangle: Vec<Vec<f64>>,
    /// The values as far as the columns reach them, in the directions that R is written in.
    rotated: Vec<f64>,
    /// The coefficients.
    pub(super) coefficients: Vec<f64>,
    /// The sum of squares of the residuals.
    pub(super) residual_sum: f64,
    /// The number of values less the number of columns.
    pub(super) residual_df: usize,
}

/// A column that the columns before it determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dependent {
    pub(super) column: usize,
}

/// A column whose part outside the space of those before it is smaller than this share of it
/// depends on them.
const DEPENDENT: f64 = 1e-9;

/// Fits `values` by `columns`, of which there may be at most as many as values.
pub(super) fn fit(columns: &[Vec<f64>], values: &[f64]) -> Result<Fit, Dependent> {
    let (n, p) = (values.len(), columns.len());
    if p > n {
        return Err(Dependent { column: n });
    }
    let mut work = columns.to_vec();
    let mut rotated = values.to_vec();
    let mut triangle = Vec::with_capacity(p);
    for j in 0..p {
        let whole = norm(&work[j]);
        let rest = norm(&work[j][j..]);
        if rest <= DEPENDENT * whole || whole == 0.0 {
            return Err(Dependent { column: j });
        }
        // Reflect the rest of the column onto its first place, away from cancellation.
        let mut reflector = work[j][j..].to_vec();
        let diagonal = if reflector[0] > 0.0 { -rest } else { rest };
        reflector[0] -= diagonal;
        let square: f64 = reflector.iter().map(|x| x * x).sum();
        for column in work.iter_mut().skip(j + 1) {
            reflect(&reflector, square, &mut column[j..]);
        }
        reflect(&reflector, square, &mut rotated[j..]);
        let mut upper = work[j][..j].to_vec();
        upper.push(diagonal);
        triangle.push(upper);
    }
    let mut coefficients = rotated[..p].to_vec();
    for j in (0..p).rev() {
        coefficients[j] /= triangle[j][j];
        let solved = coefficients[j];
        for (i, coefficient) in coefficients[..j].iter_mut().enumerate() {
            *coefficient -= triangle[j][i] * solved;
        }
    }
    Ok(Fit {
        triangle,
        coefficients,
        residual_sum: rotated[p..].iter().map(|x| x * x).sum(),
        residual_df: n - p,
        rotated: {
            rotated.truncate(p);
            rotated
        },
    })
}

impl Fit {
    /// By how much the sum of squares of the residuals grows where only those columns are kept
    /// that `keep` wants. It takes R in place of the columns, which is as many values shorter as
    /// there are degrees of freedom left.
    pub(super) fn growth_with(&self, keep: impl Fn(usize) -> bool) -> Result<f64, Dependent> {
        let kept: Vec<Vec<f64>> = self
            .triangle
            .iter()
            .enumerate()
            .filter(|(place, _)| keep(*place))
            .map(|(_, column)| {
                let mut column = column.clone();
                column.resize(self.rotated.len(), 0.0);
                column
            })
            .collect();
        fit(&kept, &self.rotated).map(|fit| fit.residual_sum)
    }

    /// The value of a linear combination of the coefficients.
    pub(super) fn combination(&self, weights: &[f64]) -> f64 {
        self.coefficients
            .iter()
            .zip(weights)
            .map(|(c, w)| c * w)
            .sum()
    }

    /// The variance of that combination, in units of the error variance: `w' (X'X)⁻¹ w`.
    pub(super) fn combination_variance(&self, weights: &[f64]) -> f64 {
        // With X'X = R'R it is the square of the solution of R' s = w.
        let mut solution: Vec<f64> = Vec::with_capacity(weights.len());
        for (column, weight) in self.triangle.iter().zip(weights) {
            let known: f64 = column.iter().zip(&solution).map(|(r, s)| r * s).sum();
            solution.push((weight - known) / column[column.len() - 1]);
        }
        solution.iter().map(|s| s * s).sum()
    }

    /// `ln det(X'X)`.
    pub(super) fn log_determinant(&self) -> f64 {
        self.triangle
            .iter()
            .map(|column| 2.0 * libm::log(column[column.len() - 1].abs()))
            .sum()
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn reflect(reflector: &[f64], square: f64, column: &mut [f64]) {
    let product = product(reflector, column);
    let factor = 2.0 * product / square;
    for (x, r) in column.iter_mut().zip(reflector) {
        *x -= factor * r;
    }
}

/// The sum of the products, in several sums side by side: processors add them at once.
fn product(one: &[f64], other: &[f64]) -> f64 {
    const SIDE_BY_SIDE: usize = 8;
    let (mut chunks, mut others) = (
        one.chunks_exact(SIDE_BY_SIDE),
        other.chunks_exact(SIDE_BY_SIDE),
    );
    let mut sums = [0.0; SIDE_BY_SIDE];
    for (a, b) in chunks.by_ref().zip(others.by_ref()) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = chunks.remainder().iter().zip(others.remainder());
    sums.iter().sum::<f64>() + rest.map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_three_points() {
        let columns = [vec![1.0; 3], vec![0.0, 1.0, 2.0]];
        let found = fit(&columns, &[1.0, 2.0, 4.0]).unwrap();
        assert!((found.coefficients[0] - 5.0 / 6.0).abs() < 1e-14);
        assert!((found.coefficients[1] - 1.5).abs() < 1e-14);
        assert!((found.residual_sum - 1.0 / 6.0).abs() < 1e-14);
        assert_eq!(found.residual_df, 1);
        // (X'X)⁻¹ = [5/6 -1/2; -1/2 1/2]
        assert!((found.combination_variance(&[1.0, 0.0]) - 5.0 / 6.0).abs() < 1e-14);
        assert!((found.combination_variance(&[1.0, 1.0]) - 1.0 / 3.0).abs() < 1e-14);
        assert!((found.log_determinant() - 6.0_f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn what_a_column_explains_is_what_a_fit_without_it_leaves() {
        let n = 40;
        let column = |f: fn(f64) -> f64| (0..n).map(|x| f(f64::from(x))).collect::<Vec<f64>>();
        let columns = [
            column(|_| 1.0),
            column(|x| x),
            column(|x| (x - 7.0) * x),
            column(libm::sin),
        ];
        let values = column(|x| 3.0 + 0.5 * x + libm::cos(x * x));
        let whole = fit(&columns, &values).unwrap();
        for dropped in 0..columns.len() {
            let mut rest = columns.to_vec();
            rest.remove(dropped);
            let grown = fit(&rest, &values).unwrap().residual_sum - whole.residual_sum;
            let growth = whole.growth_with(|place| place != dropped).unwrap();
            // The difference of two sums has the rounding of both.
            let rounding = 1e-12 * (whole.residual_sum + grown);
            assert!((growth - grown).abs() < rounding, "{growth} {grown}");
        }
        assert!(whole.growth_with(|_| true).unwrap() < 1e-20);
    }

    #[test]
    fn a_dependent_column_is_named() {
        let columns = [vec![1.0; 3], vec![0.0, 1.0, 2.0], vec![1.0, 2.0, 3.0]];
        assert_eq!(
            fit(&columns, &[1.0, 2.0, 4.0]),
            Err(Dependent { column: 2 })
        );
    }
}
