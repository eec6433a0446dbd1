//! Every value as a sign over one axis, ministat's way, with the interval of each mean below.

use knobstat_analysis::phrase::resolved;

/// The signs of the series, in order; further series have letters.
pub const SIGNS: [char; 7] = ['x', '+', '*', '%', '#', '@', 'O'];

/// The sign of a series.
pub fn sign(place: usize) -> char {
    SIGNS.get(place).copied().unwrap_or_else(|| {
        let letter = (place - SIGNS.len()) % 26;
        char::from(b'a' + u8::try_from(letter).unwrap_or(0))
    })
}

/// One set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<'a> {
    /// The sign of its values.
    pub sign: char,
    /// Its values.
    pub values: &'a [f64],
    /// The mean and both ends of its interval, where there is one.
    pub interval: Option<(f64, f64, f64)>,
}

/// Columns are no higher than this; beyond it a sign stands for several values.
const HEIGHT: usize = 12;

/// The plot in lines of `width` columns, its frame included; none where there are no values or
/// all lie on one spot.
pub fn plot(series: &[Series], width: usize) -> Option<Vec<String>> {
    let inner = width.checked_sub(2).filter(|inner| *inner >= 8)?;
    let all = || {
        let ends = |series: &Series<'_>| {
            series
                .interval
                .map_or(vec![], |(_, low, high)| vec![low, high])
        };
        series
            .iter()
            .flat_map(move |series| series.values.iter().copied().chain(ends(series)))
            .filter(|value| value.is_finite())
    };
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return None;
    }
    let column = |value: f64| {
        let place = (value - low) / span * (inner - 1) as f64;
        (place.round() as usize).min(inner - 1)
    };

    // How often each sign falls on each column; stacked, the first series at the bottom.
    let mut counts = vec![vec![0_usize; series.len()]; inner];
    for (place, series) in series.iter().enumerate() {
        for value in series.values.iter().filter(|value| value.is_finite()) {
            counts[column(*value)][place] += 1;
        }
    }
    let tallest = counts
        .iter()
        .map(|column| column.iter().sum::<usize>())
        .max()?;
    let per_sign = tallest.div_ceil(HEIGHT).max(1);
    let stacks: Vec<Vec<char>> = counts
        .iter()
        .map(|column| {
            column
                .iter()
                .enumerate()
                .flat_map(|(place, count)| {
                    std::iter::repeat_n(series[place].sign, count.div_ceil(per_sign))
                })
                .collect()
        })
        .collect();
    let height = stacks.iter().map(Vec::len).max()?;

    let border = format!("+{}+", "-".repeat(inner));
    let mut lines = vec![border.clone()];
    for row in (0..height).rev() {
        let cells: String = stacks
            .iter()
            .map(|stack| stack.get(row).copied().unwrap_or(' '))
            .collect();
        lines.push(format!("|{cells}|"));
    }
    for series in series {
        if let Some((mean, low, high)) = series.interval {
            let mut bar = vec![' '; inner];
            let (low, mean, high) = (column(low), column(mean), column(high));
            bar[low..=high].fill('_');
            bar[low] = '|';
            bar[high] = '|';
            bar[mean] = series.sign;
            lines.push(format!("|{}|", bar.into_iter().collect::<String>()));
        }
    }
    lines.push(border);
    let (low, high) = (resolved(low, span), resolved(high, span));
    let gap = width.saturating_sub(low.len() + high.len()).max(1);
    lines.push(format!("{low}{}{high}", " ".repeat(gap)));
    if per_sign > 1 {
        lines.push(format!("(a sign stands for up to {per_sign} values)"));
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(sign: char, values: &[f64], interval: Option<(f64, f64, f64)>) -> Series<'_> {
        Series {
            sign,
            values,
            interval,
        }
    }

    #[test]
    fn values_stack_and_hide_nothing() {
        let lines = plot(
            &[
                series('x', &[0.0, 0.0, 10.0], None),
                series('+', &[0.0], Some((5.0, 0.0, 10.0))),
            ],
            13,
        )
        .unwrap();
        assert_eq!(
            lines,
            [
                "+-----------+",
                "|+          |",
                "|x          |",
                "|x         x|",
                "||____+____||",
                "+-----------+",
                "0          10",
            ]
        );
    }

    #[test]
    fn many_values_keep_to_a_screenful() {
        let lines = plot(
            &[series('x', &[1.0; 1000], None), series('+', &[2.0], None)],
            40,
        )
        .unwrap();
        assert!(lines.len() < 20, "{}", lines.len());
        assert!(lines.last().unwrap().contains("up to 84 values"));
    }

    #[test]
    fn the_ends_of_the_axis_are_told_apart_whatever_their_size() {
        for (values, ends) in [
            ([1.0, 1.7e308], "1               1.7e308"),
            ([1e-15, 5e-15], "1.0e-15         5.0e-15"),
            ([1000.25, 1000.5], "1000.25         1000.50"),
        ] {
            let lines = plot(&[series('x', &values, None)], 23).unwrap();
            assert_eq!(lines.last().unwrap(), ends);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_not() {
        assert_eq!(plot(&[series('x', &[1.0, 1.0], None)], 40), None);
        assert_eq!(plot(&[], 40), None);
        assert_eq!(plot(&[series('x', &[1.0, 2.0], None)], 5), None);
        assert_eq!(plot(&[series('x', &[f64::MIN, f64::MAX], None)], 40), None);
    }
}
