//! A histogram in characters: a row for each range of values, the ranges widening with the value,
//! so that the body and the tail of a distribution of times are seen together.

/// Values from `from` to below `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The smallest value.
    pub from: f64,
    /// The smallest value above it.
    pub to: f64,
    /// How many values.
    pub count: u64,
}

/// No more rows than this.
const HEIGHT: usize = 20;

/// How many rows a factor of ten may have; the finest that fits is taken.
const ROWS_PER_DECADE: [u32; 7] = [96, 48, 24, 12, 6, 3, 1];

/// A row: where it begins, and how many values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    from: f64,
    count: u64,
}

/// The lines of the histogram of these bins, `width` columns wide, each row headed by the value
/// that it begins at as `label` writes it; none where there is nothing to draw or no room.
///
/// Every row that has a value has a sign, so that one value among millions is seen.
pub fn plot(bins: &[Bin], width: usize, label: impl Fn(f64) -> String) -> Option<Vec<String>> {
    let rows = rows(bins)?;
    let most = rows.iter().map(|row| row.count).max()?;
    let labels: Vec<String> = rows.iter().map(|row| label(row.from)).collect();
    let counts: Vec<String> = rows.iter().map(|row| row.count.to_string()).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
    let (label_width, count_width) = (widest(&labels)?, widest(&counts)?);
    let room = width
        .checked_sub(label_width + count_width + 4)
        .filter(|room| *room >= 8)?;
    let mut lines = Vec::with_capacity(rows.len());
    let mut empty = 0;
    for ((row, label), count) in rows.iter().zip(&labels).zip(&counts) {
        if row.count == 0 {
            empty += 1;
            continue;
        }
        if empty > 0 {
            lines.push(format!("{:>label_width$}", "…"));
            empty = 0;
        }
        let signs = (row.count as f64 / most as f64 * room as f64).round() as usize;
        let bar = "#".repeat(signs.clamp(1, room));
        lines.push(format!(
            "{label:>label_width$}  {count:>count_width$}  {bar}"
        ));
    }
    Some(lines)
}

/// The rows from the first to the last that has a value, those between them included.
fn rows(bins: &[Bin]) -> Option<Vec<Row>> {
    let filled = || {
        bins.iter()
            .filter(|bin| bin.count > 0 && bin.from.is_finite() && bin.to.is_finite())
    };
    // What is smaller than the smallest value above zero is drawn with it.
    let floor = filled()
        .map(|bin| if bin.from > 0.0 { bin.from } else { bin.to })
        .filter(|value| *value > 0.0)
        .reduce(f64::min)?;
    let place = |bin: &Bin, per_decade: u32| {
        let value = bin.from.max(floor);
        (value.log10() * f64::from(per_decade) + 1e-9).floor() as i64
    };
    let ends = |per_decade| {
        let first = filled().map(|bin| place(bin, per_decade)).min()?;
        let last = filled().map(|bin| place(bin, per_decade)).max()?;
        Some((first, last, usize::try_from(last - first + 1).ok()?))
    };
    let per_decade = ROWS_PER_DECADE
        .into_iter()
        .find(|per_decade| ends(*per_decade).is_some_and(|(.., height)| height <= HEIGHT))?;
    let (first, _, height) = ends(per_decade)?;
    let mut rows: Vec<Row> = (first..)
        .take(height)
        .map(|place| Row {
            from: 10_f64.powf(place as f64 / f64::from(per_decade)),
            count: 0,
        })
        .collect();
    for bin in filled() {
        let row = usize::try_from(place(bin, per_decade) - first).ok()?;
        rows.get_mut(row)?.count += bin.count;
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(from: f64, count: u64) -> Bin {
        Bin {
            from,
            to: from * 1.01,
            count,
        }
    }

    fn whole(value: f64) -> String {
        format!("{value:.0}")
    }

    #[test]
    fn the_body_and_one_value_far_out_are_both_seen() {
        let bins = [
            bin(10.0, 500),
            bin(20.0, 1000),
            bin(50.0, 30),
            bin(9_000.0, 1),
        ];
        assert_eq!(
            plot(&bins, 40, whole).unwrap(),
            [
                "  10   500  ##############",
                "  15  1000  ############################",
                "   …",
                "  46    30  #",
                "   …",
                "6813     1  #",
            ]
        );
    }

    #[test]
    fn nothing_is_lost_whatever_the_range() {
        for factor in [1.001, 1.1, 3.0, 50.0] {
            let bins: Vec<Bin> = (0..12)
                .map(|power| bin(7.0 * f64::powi(factor, power), 5))
                .collect();
            let rows = rows(&bins).unwrap();
            assert!(rows.len() <= HEIGHT, "{factor}");
            assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 60);
        }
    }

    #[test]
    fn zero_is_drawn_with_the_smallest() {
        let zero = Bin {
            from: 0.0,
            to: 1.0,
            count: 3,
        };
        let lines = plot(&[zero, bin(1.0, 3)], 40, whole).unwrap();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("1  6  #"), "{lines:?}");
    }

    #[test]
    fn what_cannot_be_drawn_is_not() {
        assert_eq!(plot(&[], 40, whole), None);
        assert_eq!(plot(&[bin(5.0, 0)], 40, whole), None);
        assert_eq!(plot(&[bin(5.0, 1)], 8, whole), None);
        assert_eq!(plot(&[bin(f64::INFINITY, 1)], 40, whole), None);
    }
}
