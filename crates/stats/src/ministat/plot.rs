//! The plot of characters: which sets are in which cell, and the bars below.
//!
//! Kept is how many values of each set fall into each column, not the cells: a plot is as tall as
//! the fullest column, and drawn row by row while it is written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::bars::Bars;
use super::dataset::DataSet;
use super::fill::fill;
use super::scale::Scale;

/// The symbol of each combination of set numbers: cells hold their bitwise or, so a cell that
/// sets 1 and 2 share shows the symbol of set 3.
pub(super) const SYMBOLS: [u8; 8] = *b" x+*%#@O";

/// Why a plot cannot be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlotFailure {
    /// A single column has no scale, and none have no room.
    #[error("a plot needs a width of at least 2 columns, not {0}: use -w, or -A for no plot")]
    TooNarrow(i32),
    /// A value of this set, counted from 1, or its bar is infinite or no number.
    #[error("set {0} has a value or a standard deviation that is not finite: use -A for no plot")]
    NotFinite(usize),
    /// The limits are further apart than a double can say.
    #[error("the values are too far apart for a plot: use -A for none")]
    TooFarApart,
    /// Doubles do not resolve the columns.
    #[error("the values are too close together for a plot: use -A for none")]
    TooClose,
    /// More cells than an `int` counts.
    #[error("a plot of {width} columns and {rows} rows is too large: use -w, or -A for none")]
    TooLarge {
        /// In columns.
        width: i32,
        /// In rows.
        rows: usize,
    },
}

/// A plot, ready to be drawn.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    /// `None`: the span is zero.
    drawing: Option<Drawing>,
}

#[derive(Debug, Clone)]
struct Drawing {
    width: usize,
    /// Rows of values.
    rows: usize,
    /// The columns that have values, in ascending order.
    stacks: Vec<Stack>,
    bars: Vec<Bars>,
}

/// How high each set, by its number from 1, reaches in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stack {
    column: usize,
    heights: [usize; SYMBOLS.len()],
}

impl Plot {
    /// The plot of `sets`, at most seven, whose values are sorted.
    pub(super) fn new(
        sets: &[DataSet],
        width: i32,
        separate_bars: bool,
    ) -> Result<Self, PlotFailure> {
        let scale = Scale::new(sets, width);
        if scale.has_no_span() {
            return Ok(Self { drawing: None });
        }
        let too_narrow = PlotFailure::TooNarrow(width);
        let columns = usize::try_from(width).map_err(|_| too_narrow)?;
        if columns == 1 {
            return Err(too_narrow);
        }
        let mut counts = Vec::with_capacity(sets.len());
        let mut bars = vec![Bars::default(); if separate_bars { sets.len() } else { 1 }];
        for (index, set) in sets.iter().enumerate() {
            let row = if separate_bars { index } else { 0 };
            let drawn = scale
                .count(&set.values)
                .and_then(|count| scale.bar(set, &mut bars[row]).map(|()| count));
            counts.push(drawn.ok_or_else(|| scale.failure(sets))?);
        }
        let tallest: Vec<usize> = counts
            .iter()
            .map(|columns| columns.iter().map(|&(_, count)| count).max().unwrap_or(0))
            .collect();
        if let Some(&rows) = tallest.iter().find(|&&rows| is_too_large(columns, rows)) {
            return Err(PlotFailure::TooLarge { width, rows });
        }
        // With no column at all the original has no memory for sets that grow.
        if columns == 0 && !tallest.is_sorted_by(|earlier, later| earlier >= later) {
            return Err(too_narrow);
        }
        Ok(Self {
            drawing: Some(Drawing {
                width: columns,
                rows: tallest.last().copied().unwrap_or(0),
                stacks: stack(&counts, &tallest, columns),
                bars,
            }),
        })
    }

    /// Draws the plot.
    pub(super) fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        match &self.drawing {
            None => output.write_all(b"[no plot, span is zero width]\n"),
            Some(drawing) => drawing.write_to(output),
        }
    }
}

impl Drawing {
    fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        self.write_edge(output)?;
        for row in (1..=self.rows).rev() {
            output.write_all(b"|")?;
            let mut written = 0;
            for stack in &self.stacks {
                let symbol = stack.symbol_at(row);
                if symbol != b' ' {
                    fill(output, b' ', stack.column - written)?;
                    output.write_all(&[symbol])?;
                    written = stack.column + 1;
                }
            }
            fill(output, b' ', self.width - written)?;
            output.write_all(b"|\n")?;
        }
        for bars in &self.bars {
            output.write_all(b"|")?;
            bars.write_to(output, self.width)?;
            output.write_all(b"|\n")?;
        }
        self.write_edge(output)
    }

    fn write_edge(&self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(b"+")?;
        fill(output, b'-', self.width)?;
        output.write_all(b"+\n")
    }
}

impl Stack {
    /// The symbol in `row`, counted from 1 at the bottom.
    fn symbol_at(&self, row: usize) -> u8 {
        let sets = self
            .heights
            .iter()
            .enumerate()
            .filter(|&(_, &height)| height >= row)
            .fold(0, |sets, (number, _)| sets | number);
        SYMBOLS[sets]
    }
}

/// Whether the cells of a plot, one more row of them than there are values, are too many for the
/// original.
fn is_too_large(columns: usize, rows: usize) -> bool {
    rows.checked_add(1)
        .and_then(|rows| rows.checked_mul(columns))
        .is_none_or(|cells| i32::try_from(cells).is_err())
}

/// Puts the sets on each other. `counts` holds columns and counts of each set; `tallest` the
/// largest count of each.
///
/// The original's plot is as tall as its last set, and its memory forgets what an earlier set had
/// above the height of a later one: no set reaches higher than the tallest column of any after it.
fn stack(counts: &[Vec<(usize, usize)>], tallest: &[usize], width: usize) -> Vec<Stack> {
    let mut stacks: BTreeMap<usize, Stack> = BTreeMap::new();
    for (index, columns) in counts.iter().enumerate() {
        let limit = tallest[index..].iter().copied().min().unwrap_or(0);
        for &(column, count) in columns.iter().filter(|(column, _)| *column < width) {
            let stack = stacks.entry(column).or_insert(Stack {
                column,
                heights: [0; SYMBOLS.len()],
            });
            stack.heights[index + 1] = count.min(limit);
        }
    }
    stacks.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::dataset::Detail;
    use super::super::profile::Profile;
    use super::super::reader::Values;
    use super::*;

    fn sets(values: &[&[f64]]) -> Vec<DataSet> {
        values
            .iter()
            .map(|values| {
                let values = Values::from_slice(values);
                DataSet::new(Vec::new(), values, Profile::Newest, Detail::Exact)
            })
            .collect()
    }

    fn draw(values: &[&[f64]], width: i32, separate: bool) -> Result<String, PlotFailure> {
        let mut drawn = Vec::new();
        Plot::new(&sets(values), width, separate)?
            .write_to(&mut drawn)
            .expect("memory takes everything");
        Ok(String::from_utf8(drawn).expect("ASCII"))
    }

    #[test]
    fn an_earlier_taller_set_is_cut_off() {
        let drawn = draw(&[&[0.0, 0.0, 0.0, 9.0], &[0.0, 5.0, 9.0]], 10, false);
        let drawn = drawn.expect("a plot");
        let rows: Vec<&str> = drawn.lines().collect();
        assert_eq!(rows.len(), 4);
        assert!(rows[1].starts_with('|') && rows[1].contains('*'));
    }

    #[test]
    fn rows_gained_again_are_blank_for_earlier_sets() {
        let tall = [0.0, 0.0, 0.0, 0.0, 9.0];
        let drawn = draw(&[&tall, &[0.0, 5.0, 9.0], &[9.0, 9.0, 9.0, 0.0]], 20, false);
        let drawn = drawn.expect("a plot");
        let first_column: Vec<char> = drawn
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| {
                line.chars()
                    .find(|symbol| "x+*%#@O".contains(*symbol))
                    .unwrap_or(' ')
            })
            .collect();
        // Three rows, as the last set has three values in a column; only the lowest has x.
        assert_eq!(first_column[..3], ['*', '*', '*']);
    }

    #[test]
    fn no_span_is_said() {
        let drawn = draw(&[&[1.0, 1.0, 1.0]], 1, false);
        assert_eq!(drawn.as_deref(), Ok("[no plot, span is zero width]\n"));
    }

    #[test]
    fn what_cannot_be_drawn_is_a_failure() {
        let plain: &[f64] = &[1.0, 2.0, 3.0];
        let failure = |values: &[f64], width| draw(&[plain, values], width, false).expect_err("");
        assert_eq!(failure(plain, 1), PlotFailure::TooNarrow(1));
        assert_eq!(failure(plain, -8), PlotFailure::TooNarrow(-8));
        assert_eq!(failure(&[2.0, 2.0, 3.0, 4.0], 0), PlotFailure::TooNarrow(0));
        assert!(draw(&[plain, plain], 0, true).is_ok());
        assert_eq!(
            failure(&[1.0, f64::INFINITY, 2.0], 74),
            PlotFailure::NotFinite(2)
        );
        assert_eq!(
            failure(&[1.0, f64::NAN, 2.0], 74),
            PlotFailure::NotFinite(2)
        );
        assert_eq!(
            failure(plain, i32::MAX),
            PlotFailure::TooLarge {
                width: i32::MAX,
                rows: 1
            }
        );
        let close = [1e300, 1e300 + 2e284, 1e300];
        assert!(draw(&[&close], 74, false).is_err());
    }
}
