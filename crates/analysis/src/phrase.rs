//! How numbers, levels and lists read in a sentence.

use knobstat_data::Treatment;

/// A number with this many significant digits, without an exponent where it can be read without.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let digits = digits.clamp(1, 17);
    let magnitude = order_of_magnitude(value, digits);
    if (-5..15).contains(&magnitude) {
        let decimals = digits as i32 - 1 - magnitude;
        format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
    } else {
        format!("{value:.*e}", digits - 1)
    }
}

/// The power of ten of a number's first digit once it is rounded to this many digits.
fn order_of_magnitude(value: f64, digits: usize) -> i32 {
    let text = format!("{value:.*e}", digits - 1);
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

/// A number with so many digits that two digits of an uncertainty, or of a span, show beside it:
/// 11.611 beside 0.082. Without an exponent where that reads well.
pub fn resolved(value: f64, uncertainty: f64) -> String {
    if uncertainty == 0.0 || !uncertainty.is_finite() || !value.is_finite() {
        return short(value, 4);
    }
    let magnitude = order_of_magnitude(uncertainty, 2);
    // 12 decimals are read, and so are 12 digits before the point.
    if (-11..12).contains(&magnitude) && value.abs() < 1e12 {
        return fixed(value, usize::try_from(1 - magnitude).unwrap_or(0));
    }
    let digits = order_of_magnitude(value, 17) - magnitude + 2;
    significant(value, usize::try_from(digits).unwrap_or(0))
}

/// A number with a fixed count of decimals, and no minus sign before zero.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => rest.to_owned(),
        _ => text,
    }
}

/// A number and its uncertainty, "11.611 ± 0.082": two digits of the latter, and the former with
/// as many decimals.
pub fn with_uncertainty(value: f64, uncertainty: f64, unit: &str) -> String {
    let (value, uncertainty) = (
        resolved(value, uncertainty),
        resolved(uncertainty, uncertainty),
    );
    format!("{value}{unit} ± {uncertainty}{unit}")
}

/// A share in percent with its sign, to three digits: "+3.49 %".
pub fn signed_percent(percent: f64) -> String {
    let text = significant(percent, 3);
    if percent > 0.0 {
        format!("+{text} %")
    } else {
        format!("{text} %")
    }
}

/// A p-value: two digits, and never zero.
pub fn probability(p: f64) -> String {
    if p >= 0.0001 {
        significant(p, 2)
    } else if p > 0.0 {
        format!("{p:.1e}")
    } else {
        "less than 1e-300".to_owned()
    }
}

/// "a, b and c".
pub fn list<T: ToString>(items: &[T], conjunction: &str) -> String {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    match texts.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

/// "at packet_size=64, ", or nothing where nothing is held.
pub fn at(held: &Treatment) -> String {
    if held.settings.is_empty() {
        String::new()
    } else {
        format!("At {}, ", list(&held.settings, "and"))
    }
}

/// "1 block", "2 blocks".
pub fn count(number: impl Into<u64>, noun: &str) -> String {
    match number.into() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// Levels that hold together: "cstate=C2 with idletick=0". From three on they stand side by side,
/// as a treatment does: so many "with" read badly.
pub fn levels(levels: &Treatment) -> String {
    match levels.settings.as_slice() {
        [one, other] => format!("{one} with {other}"),
        _ => levels.to_string(),
    }
}

/// No sentence lists more than this.
pub(crate) const MOST_IN_A_SENTENCE: usize = 12;

/// "a, b and c", or where there are too many for a sentence, the first of them and how many others.
pub fn list_of_some<T: ToString>(items: &[T], conjunction: &str) -> String {
    if items.len() <= MOST_IN_A_SENTENCE {
        return list(items, conjunction);
    }
    let (named, others) = items.split_at(MOST_IN_A_SENTENCE / 2);
    let mut texts: Vec<String> = named.iter().map(T::to_string).collect();
    texts.push(format!("{} others", others.len()));
    list(&texts, conjunction)
}

/// A stretch of nanoseconds in the unit that reads best: "4 ms".
pub fn nanoseconds(nanoseconds: f64) -> String {
    let (unit, scale) = match nanoseconds.abs() {
        size if size >= 1e9 => ("s", 1e9),
        size if size >= 1e6 => ("ms", 1e6),
        size if size >= 1e3 => ("us", 1e3),
        _ => ("ns", 1.0),
    };
    format!("{} {unit}", short(nanoseconds / scale, 3))
}

/// A number with at most this many significant digits, without zeros at the end of a fraction.
pub fn short(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    let (number, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    if number.contains('.') {
        let number = number.trim_end_matches('0').trim_end_matches('.');
        format!("{number}{exponent}")
    } else {
        text
    }
}

/// A sentence's first letter in upper case, unless it begins with a setting, whose name is kept.
pub fn capitalised(text: &str) -> String {
    if text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.contains('='))
    {
        return text.to_owned();
    }
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use knobstat_data::words::Setting;

    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (72.7096, "72.7"),
            (-10.6597, "-10.7"),
            (9.999, "10.0"),
            (12_345.6, "12346"),
            (0.000_012_34, "0.0000123"),
            (1.5e300, "1.50e300"),
        ] {
            assert_eq!(significant(value, 3), text);
        }
        assert_eq!(nanoseconds(4e6), "4 ms");
        assert_eq!(short(400.0, 4), "400");
        assert_eq!(short(1.5e300, 4), "1.5e300");
        assert_eq!(nanoseconds(279.4), "279 ns");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(with_uncertainty(-3.49091, 0.677, " %"), "-3.49 % ± 0.68 %");
        assert_eq!(with_uncertainty(268.3, 18.2, ""), "268 ± 18");
        assert_eq!(with_uncertainty(513.0, 0.0, ""), "513 ± 0");
        // Neither is lost, however large or small both are.
        assert_eq!(with_uncertainty(1.5e300, 2e299, ""), "1.50e300 ± 2.0e299");
        assert_eq!(with_uncertainty(3.4e-15, 2e-16, ""), "3.40e-15 ± 2.0e-16");
        assert_eq!(with_uncertainty(0.25, 0.0, ""), "0.25 ± 0");
        assert_eq!(resolved(5e-16, 5.0), "0.0");
        assert_eq!(resolved(1e-9, 3e-13), "1.00000e-9");
        assert_eq!(probability(0.0), "less than 1e-300");
        assert_eq!(list(&["a", "b", "c"], "and"), "a, b and c");
    }

    #[test]
    fn a_sentence_names_no_more_than_can_be_read() {
        let twelve: Vec<usize> = (1..=12).collect();
        assert_eq!(list_of_some(&twelve, "and"), list(&twelve, "and"));
        let hundred: Vec<usize> = (1..=100).collect();
        assert_eq!(
            list_of_some(&hundred, "and"),
            "1, 2, 3, 4, 5, 6 and 94 others"
        );
    }

    #[test]
    fn levels_of_three_factors_stand_side_by_side() {
        let of = |factors: &[&str]| {
            let settings = factors.iter().map(|factor| Setting::new(*factor, 1));
            levels(&Treatment::new(settings))
        };
        assert_eq!(of(&["a"]), "a=1");
        assert_eq!(of(&["a", "b"]), "a=1 with b=1");
        assert_eq!(of(&["a", "b", "c"]), "a=1 b=1 c=1");
    }
}
