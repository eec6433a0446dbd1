//! Plain tables: columns that line up, numbers to the right. A number that there is not is `-`.

/// Lays rows out in columns; the first row is the header.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let numeric = |column: usize| {
        let is_number = |row: &[String; N]| row[column].parse::<f64>().is_ok();
        rows.iter().skip(1).any(is_number)
            && rows
                .iter()
                .skip(1)
                .all(|row| row[column] == "-" || is_number(row))
    };
    let shapes: Vec<(usize, bool)> = (0..N)
        .map(|column| (width(column), numeric(column)))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &(width, right)) in row.iter().zip(&shapes) {
            let padding = " ".repeat(width - cell.chars().count());
            if right {
                line.push_str(&padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&padding);
            }
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_the_left_and_numbers_to_the_right() {
        let rows = [["name", "runs"], ["a", "7"], ["bcd", "120"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "name  runs\na        7\nbcd    120\n");
    }

    #[test]
    fn a_number_that_there_is_not_stands_to_the_right_too() {
        let rows = [["runs", "why"], ["-", "-"], ["120", "-"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "runs  why\n   -  -\n 120  -\n");
    }
}
