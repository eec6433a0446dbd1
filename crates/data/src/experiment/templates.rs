//! Templates: texts in which `{factor}` stands for the factor's level. `{{` and `}}` stand for
//! the braces themselves.

use thiserror::Error;

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A `{` without its `}`.
    #[error("a {{ is never closed")]
    Unclosed,
    /// A `}` without its `{`.
    #[error("a }} was never opened")]
    Unopened,
    /// Nothing between the braces, or what cannot be a factor's name.
    #[error("{{{0}}} names no factor")]
    NoName(String),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// The level of the factor of this name.
    Placeholder(String),
}

/// The parts of a template, in order.
///
/// # Errors
/// When its braces do not pair, or hold no name.
pub fn pieces(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from_brace) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from_brace.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = from_brace.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some(after) = from_brace.strip_prefix('{') {
            let (name, after) = after.split_once('}').ok_or(TemplateError::Unclosed)?;
            if name.is_empty() || name.contains('{') || name.contains(char::is_whitespace) {
                return Err(TemplateError::NoName(name.to_owned()));
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Placeholder(name.to_owned()));
            rest = after;
        } else {
            return Err(TemplateError::Unopened);
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The names in a template's placeholders, in order, as often as they stand there.
///
/// # Errors
/// As [`pieces`].
pub fn names(template: &str) -> Result<Vec<String>, TemplateError> {
    Ok(pieces(template)?
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Placeholder(name) => Some(name),
            Piece::Text(_) => None,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_pair_or_stand_for_themselves() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let place = |name: &str| Piece::Placeholder(name.to_owned());
        assert_eq!(pieces(""), Ok(vec![]));
        assert_eq!(
            pieces("-j{jobs} {{print}} {a}{b}"),
            Ok(vec![
                text("-j"),
                place("jobs"),
                text(" {print} "),
                place("a"),
                place("b")
            ])
        );
        assert_eq!(
            pieces("{{{x}}}"),
            Ok(vec![text("{"), place("x"), text("}")])
        );
    }

    #[test]
    fn what_does_not_pair_is_refused() {
        assert_eq!(pieces("a{b"), Err(TemplateError::Unclosed));
        assert_eq!(pieces("a}b"), Err(TemplateError::Unopened));
        assert_eq!(pieces("{}"), Err(TemplateError::NoName(String::new())));
        assert_eq!(
            pieces("{print $1}"),
            Err(TemplateError::NoName("print $1".to_owned()))
        );
    }
}
