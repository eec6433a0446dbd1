//! Names, levels and texts as TOML writes them.

use crate::words::Level;

/// A key as TOML writes it.
pub fn toml_key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        toml_text(name)
    }
}

/// A level as TOML writes it.
pub fn toml_level(level: &Level) -> String {
    match level {
        Level::Text(text) => toml_text(text),
        Level::Number(number) => format!("{number:?}"),
        other => other.to_string(),
    }
}

/// A text as TOML writes it, in double quotes.
pub fn toml_text(text: &str) -> String {
    let mut result = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => result.extend(['\\', letter]),
            '\n' => result.push_str("\\n"),
            '\t' => result.push_str("\\t"),
            control if control.is_control() => {
                result.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            other => result.push(other),
        }
    }
    result.push('"');
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeValue;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "",
            "plain",
            "a \"b\" \\c",
            "tab\tline\nbell\u{7}",
            "ä€😀",
            "\u{7f}\u{85}",
        ] {
            let written = toml_text(text);
            let read = DeValue::parse(&written).unwrap();
            assert_eq!(read.get_ref().as_str(), Some(text), "{written}");
        }
        assert_eq!(toml_key("packet_size"), "packet_size");
        assert_eq!(toml_key("sysctl:vm.swappiness"), "\"sysctl:vm.swappiness\"");
        assert_eq!(toml_level(&Level::Number(2.0)), "2.0");
        assert_eq!(toml_level(&Level::text("2")), "\"2\"");
    }
}
