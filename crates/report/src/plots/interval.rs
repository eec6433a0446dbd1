//! An interval as a line over an axis that it shares with others, zero marked.

/// The axis that several intervals share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    /// An axis over all these intervals and zero; none where they have no width together.
    pub fn over(intervals: impl Iterator<Item = (f64, f64)>, columns: usize) -> Option<Self> {
        let (low, high) = intervals
            .filter(|(low, high)| low.is_finite() && high.is_finite())
            .fold((0.0_f64, 0.0_f64), |(low, high), (l, h)| {
                (low.min(l), high.max(h))
            });
        (columns >= 5 && high > low && (high - low).is_finite()).then_some(Self {
            low,
            high,
            columns,
        })
    }

    fn column(self, value: f64) -> usize {
        let last = self.columns - 1;
        let place = (value - self.low) / (self.high - self.low) * last as f64;
        (place.round().max(0.0) as usize).min(last)
    }

    /// The line of one interval: `-` from end to end, `o` at the estimate, `|` at zero.
    pub fn line(self, low: f64, estimate: f64, high: f64) -> String {
        let mut cells = vec![' '; self.columns];
        cells[self.column(low)..=self.column(high)].fill('-');
        cells[self.column(0.0)] = '|';
        cells[self.column(estimate)] = 'o';
        cells.into_iter().collect()
    }

    /// The line where there is no interval: zero alone.
    pub fn empty(self) -> String {
        let mut cells = vec![' '; self.columns];
        cells[self.column(0.0)] = '|';
        cells.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_share_an_axis_with_zero() {
        let axis = Axis::over([(2.0, 10.0), (-5.0, 1.0)].into_iter(), 16).unwrap();
        assert_eq!(axis.line(2.0, 6.0, 10.0), "     | ----o----");
        assert_eq!(axis.line(-5.0, -2.0, 1.0), "---o-|-         ");
        assert_eq!(axis.empty(), "     |          ");
    }

    #[test]
    fn an_axis_without_width_is_none() {
        assert_eq!(Axis::over([(0.0, 0.0)].into_iter(), 16), None);
        assert_eq!(Axis::over(std::iter::empty(), 16), None);
    }
}
