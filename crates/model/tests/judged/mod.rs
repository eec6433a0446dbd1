//! How far a prediction is from what was published.

use crate::published::Cell;

/// The relative error; a cell with a range counts as right inside it.
pub fn error(cell: &Cell, predicted: f64) -> f64 {
    let low = cell.runs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = cell.runs.iter().copied().fold(0.0, f64::max);
    if low < high && (low..=high).contains(&predicted) {
        0.0
    } else {
        predicted / cell.mean() - 1.0
    }
}
