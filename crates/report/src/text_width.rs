//! Text in columns of a terminal: what it takes, how it is padded, cut and wrapped.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text without control characters, which would move the cursor or change colours.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect()
}

/// Padded with blanks on the right.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Padded with blanks on the left.
pub(crate) fn right(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(blanks))
}

/// Cut to at most this many columns, the last of them an ellipsis where something was cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(character);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text in lines of at most this many columns, broken at blanks; a word that is longer than
/// a line stands alone. The first line begins with `first`, the others with `rest`.
pub(crate) fn wrapped(text: &str, columns: usize, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in words(text) {
        if !empty && width(&line) + 1 + width(word) > columns {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

/// The words of a text; a percent sign, whatever follows it, is not parted from its number.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        let is_blank = |at: &(usize, char)| at.1.is_whitespace();
        let end = rest
            .char_indices()
            .filter(is_blank)
            .find(|(at, _)| !rest[*at..].trim_start().starts_with('%'))
            .map_or(rest.len(), |(at, _)| at);
        let (word, following) = rest.split_at(end);
        rest = following.trim_start();
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_stays_with_its_number() {
        let text = wrapped("lies between -1 % and +51 %.", 16, "", "");
        assert_eq!(text, "lies between\n-1 % and +51 %.\n");
        let text = wrapped("(between -15.3 %) of it", 15, "", "");
        assert_eq!(text, "(between\n-15.3 %) of it\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("日本"), 4);
        assert_eq!(right("日本", 6), "  日本");
        assert_eq!(cut("日本語の名前", 6), "日本…");
        assert_eq!(cut("clocksource", 6), "clock…");
        assert_eq!(cut("tsc", 6), "tsc");
    }

    #[test]
    fn lines_keep_to_the_width() {
        let text = wrapped("one two three four", 9, "- ", "  ");
        assert_eq!(text, "- one two\n  three\n  four\n");
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\n"), "a [31mb ");
    }
}
