//! The nearest valid word to one that is not.

/// The word that was probably meant, where one is near enough to be worth naming.
pub fn nearest<'w>(word: &str, valid: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let wanted = comparable(word);
    valid
        .into_iter()
        .filter_map(|candidate| {
            let offered = comparable(candidate);
            let distance = distance(&wanted, &offered);
            let longer = wanted.len().max(offered.len());
            let shorter = wanted.len().min(offered.len());
            let near = distance <= (longer / 3).max(1) && 2 * distance < longer;
            // One begins with the other: `packets` for `packet`, `size` is too little to tell.
            let begins =
                shorter >= 3 && (offered.starts_with(&wanted) || wanted.starts_with(&offered));
            (near || begins).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else the valid words.
pub fn remedy<'w>(
    word: &str,
    valid: impl IntoIterator<Item = &'w str> + Clone,
    what_they_are: &str,
) -> String {
    match nearest(word, valid.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{what_they_are}: {}", listed(valid)),
    }
}

/// The words in backquotes, with commas.
pub fn listed<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.is_empty() {
        "(none)".to_owned()
    } else {
        words.join(", ")
    }
}

/// Letters in lower case, hyphens as underscores: what does not count as a difference.
fn comparable(word: &str) -> Vec<char> {
    word.chars()
        .take(64)
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == '-' { '_' } else { letter })
        .collect()
}

/// The number of letters inserted, removed, replaced, or exchanged with their neighbour that
/// leads from one word to the other (optimal string alignment).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, &letter) in from.iter().enumerate() {
        let mut row = Vec::with_capacity(to.len() + 1);
        row.push(i + 1);
        for (j, &other) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != other);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && letter == to[j - 1] && from[i - 1] == other {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(word: &str) -> Vec<char> {
        word.chars().collect()
    }

    #[test]
    fn distances_are_the_known_ones() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("ca", "abc", 3),
            ("replicates", "replicate", 1),
        ] {
            assert_eq!(
                distance(&letters(from), &letters(to)),
                expected,
                "{from} {to}"
            );
        }
    }

    #[test]
    fn the_nearest_word_is_named_and_a_far_one_is_not() {
        let words = ["replicates", "order", "seed", "exclude"];
        assert_eq!(nearest("replicate", words), Some("replicates"));
        assert_eq!(nearest("Sede", words), Some("seed"));
        assert_eq!(nearest("randomise", words), None);
        assert_eq!(nearest("packet-size", ["packet_size"]), Some("packet_size"));
        assert_eq!(
            nearest("clock", ["turbo", "clocksource"]),
            Some("clocksource")
        );
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn short_words_must_agree_in_more_than_half() {
        assert_eq!(nearest("of", ["on", "off"]), Some("off"));
        assert_eq!(nearest("C2", ["C1", "C3"]), None);
    }

    #[test]
    fn without_a_near_word_all_are_listed() {
        assert_eq!(remedy("zzz", ["a", "b"], "the keys"), "the keys: `a`, `b`");
        assert_eq!(remedy("ab", ["abc"], "the keys"), "did you mean `abc`?");
    }
}
