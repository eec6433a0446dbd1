//! From values to columns.

use super::bars::Bars;
use super::dataset::DataSet;
use super::plot::PlotFailure;

/// The limits before a value moves them.
const BEYOND_VALUES: f64 = 999e99;

/// The plot's horizontal scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    span: f64,
    /// The left edge of the first column.
    left: f64,
    /// The width of a column.
    step: f64,
    columns: i32,
}

impl Scale {
    /// The scale on which the least and greatest value and the bar of every set have a place.
    pub(super) fn new(sets: &[DataSet], columns: i32) -> Self {
        let (mut low, mut high) = (BEYOND_VALUES, -BEYOND_VALUES);
        for set in sets {
            let deviation = set.standard_deviation();
            for value in [
                set.minimum,
                set.maximum,
                set.average - deviation,
                set.average + deviation,
            ] {
                // A NaN moves neither.
                if value < low {
                    low = value;
                }
                if value > high {
                    high = value;
                }
            }
        }
        let span = high - low;
        let step = span / (f64::from(columns) - 1.0);
        Self {
            span,
            left: low - 0.5 * step,
            step,
            columns,
        }
    }

    /// Whether all there is to plot is in one place.
    pub(super) fn has_no_span(&self) -> bool {
        self.span == 0.0
    }

    /// The column of `value`; `None` outside the plot, where the original writes to other memory.
    fn column(&self, value: f64) -> Option<usize> {
        let column = ((value - self.left) / self.step).trunc();
        // With no columns every value is in column 0, which is not drawn.
        let end = f64::from(self.columns.max(1));
        // Checked: not negative, and less than an i32.
        (column >= 0.0 && column < end).then_some(column as usize)
    }

    /// The columns of `values`, which are sorted, and how many of them each has.
    pub(super) fn count(&self, values: &[f64]) -> Option<Vec<(usize, usize)>> {
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for &value in values {
            let column = self.column(value)?;
            match counts.last_mut() {
                Some((last, count)) if *last == column => *count += 1,
                _ => counts.push((column, 1)),
            }
        }
        Some(counts)
    }

    /// Draws the bar of `set`: one standard deviation around the average, unless that is NaN, and
    /// over it the median and the average.
    pub(super) fn bar(&self, set: &DataSet, bars: &mut Bars) -> Option<()> {
        let deviation = set.standard_deviation();
        if !deviation.is_nan() {
            let from = self.column(set.average - deviation)?;
            let to = self.column(set.average + deviation)?;
            bars.mark(to, b'|');
            bars.mark(from, b'|');
            bars.stroke(from + 1..to);
        }
        bars.mark(self.column(set.median)?, b'M');
        bars.mark(self.column(set.average)?, b'A');
        Some(())
    }

    /// Why something of `sets` has no column.
    pub(super) fn failure(&self, sets: &[DataSet]) -> PlotFailure {
        let is_infinite = |set: &DataSet| {
            !set.values.iter().all(|value| value.is_finite())
                || !set.average.is_finite()
                || set.standard_deviation().is_infinite()
        };
        match sets.iter().position(is_infinite) {
            Some(index) => PlotFailure::NotFinite(index + 1),
            None if !self.span.is_finite() => PlotFailure::TooFarApart,
            None => PlotFailure::TooClose,
        }
    }
}
