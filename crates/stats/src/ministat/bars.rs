//! A row of bars below a plot: average, median and standard deviation of one or more sets.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use super::fill::fill;

/// Where the bars of one row are. Marks hide strokes, and later marks hide earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Bars {
    marks: BTreeMap<usize, u8>,
    strokes: Vec<Range<usize>>,
}

impl Bars {
    /// Puts `symbol` in `column`.
    pub(super) fn mark(&mut self, column: usize, symbol: u8) {
        self.marks.insert(column, symbol);
    }

    /// Underlines `columns` where there is no mark.
    pub(super) fn stroke(&mut self, columns: Range<usize>) {
        if !columns.is_empty() {
            self.strokes.push(columns);
        }
    }

    /// Draws the first `width` columns.
    pub(super) fn write_to(&self, output: &mut impl Write, width: usize) -> io::Result<()> {
        let mut position = 0;
        for (&column, &symbol) in self.marks.range(..width) {
            self.write_between(output, position..column)?;
            output.write_all(&[symbol])?;
            position = column + 1;
        }
        self.write_between(output, position..width)
    }

    /// Draws `columns`, in which there is no mark.
    fn write_between(&self, output: &mut impl Write, columns: Range<usize>) -> io::Result<()> {
        let mut position = columns.start;
        while position < columns.end {
            let covered_to = self
                .strokes
                .iter()
                .filter(|stroke| stroke.contains(&position))
                .map(|stroke| stroke.end)
                .max();
            let next = match covered_to {
                Some(end) => end,
                None => self
                    .strokes
                    .iter()
                    .map(|stroke| stroke.start)
                    .filter(|&start| start > position)
                    .min()
                    .unwrap_or(columns.end),
            }
            .min(columns.end);
            let symbol = if covered_to.is_some() { b'_' } else { b' ' };
            fill(output, symbol, next - position)?;
            position = next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_hide_strokes() -> io::Result<()> {
        let mut bars = Bars::default();
        for (from, to, median, average) in [(1, 6, 3, 4), (4, 9, 8, 3)] {
            bars.mark(to, b'|');
            bars.mark(from, b'|');
            bars.stroke(from + 1..to);
            bars.mark(median, b'M');
            bars.mark(average, b'A');
        }
        let mut drawn = Vec::new();
        bars.write_to(&mut drawn, 12)?;
        assert_eq!(drawn, b" |_A|_|_M|  ");
        Ok(())
    }

    #[test]
    fn nothing_is_blank() -> io::Result<()> {
        let mut drawn = Vec::new();
        Bars::default().write_to(&mut drawn, 3)?;
        assert_eq!(drawn, b"   ");
        let mut bars = Bars::default();
        bars.mark(0, b'A');
        bars.write_to(&mut drawn, 0)?;
        assert_eq!(drawn, b"   ");
        Ok(())
    }
}
