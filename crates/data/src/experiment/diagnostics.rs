//! What is wrong with an experiment file: every fault at once, each with its place, the
//! offending text underlined, and a remedy.
//!
//! Knows nothing of what an experiment file may say.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// No more faults than this are rendered; of the others there is a count.
const MOST_RENDERED: usize = 100;

/// Every fault of a file, in the order of the file; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    file_name: String,
    source: String,
    faults: Vec<Diagnostic>,
}

/// One fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence.
    pub message: String,
    /// A few words for the underlined text.
    pub label: String,
    /// What to do about it, in one sentence.
    pub remedy: String,
    /// The offending text, in bytes of the file.
    pub span: Range<usize>,
    /// Other places that belong to it, each with a few words.
    pub context: Vec<(Range<usize>, String)>,
}

impl Diagnostics {
    /// The faults of a file, or nothing where there is none.
    pub(super) fn of(file_name: &str, source: &str, mut faults: Vec<Diagnostic>) -> Option<Self> {
        if faults.is_empty() {
            return None;
        }
        for fault in &mut faults {
            fault.span = within(source, &fault.span);
            for (span, _) in &mut fault.context {
                *span = within(source, span);
            }
        }
        faults.sort_by_key(|fault| (fault.span.start, fault.span.end));
        faults.dedup();
        Some(Self {
            file_name: file_name.to_owned(),
            source: source.to_owned(),
            faults,
        })
    }

    /// One fault of a file.
    pub(super) fn single(file_name: &str, source: &str, fault: Diagnostic) -> Self {
        Self {
            file_name: file_name.to_owned(),
            source: source.to_owned(),
            faults: vec![Diagnostic {
                span: within(source, &fault.span),
                ..fault
            }],
        }
    }

    /// The faults, in the order of the file.
    pub fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }

    /// The line and the column of a place in the file, both from 1, the column in characters.
    pub fn position(&self, place: usize) -> (usize, usize) {
        let before = &self.source[..floor(&self.source, place)];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[line_start..].chars().count() + 1)
    }

    /// Every fault with an excerpt of the file, for a terminal (`colour`) or as plain text.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut text = String::new();
        for fault in self.faults.iter().take(MOST_RENDERED) {
            text.push_str(&renderer.render(&[self.report(fault)]));
            text.push_str("\n\n");
        }
        let count = self.faults.len();
        if count > MOST_RENDERED {
            text.push_str(&format!("… and {} more.\n", count - MOST_RENDERED));
        }
        let noun = if count == 1 { "error" } else { "errors" };
        text.push_str(&format!("{}: {count} {noun}\n", printable(&self.file_name)));
        text
    }

    fn report<'f>(&'f self, fault: &'f Diagnostic) -> Group<'f> {
        let excerpt = Snippet::source(&self.source)
            .path(printable(&self.file_name))
            .annotation(
                AnnotationKind::Primary
                    .span(fault.span.clone())
                    .label(printable(&fault.label)),
            )
            .annotations(fault.context.iter().map(|(span, label)| {
                AnnotationKind::Context
                    .span(span.clone())
                    .label(printable(label))
            }));
        Level::ERROR
            .primary_title(printable(&fault.message))
            .element(excerpt)
            .element(Level::HELP.message(printable(&fault.remedy)))
    }
}

impl fmt::Display for Diagnostics {
    /// As plain text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// The text with its control characters spelt out, so that a file cannot send them to a
/// terminal.
fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            result.extend(character.escape_default());
        } else {
            result.push(character);
        }
    }
    result
}

/// The nearest boundary of a character at or before this place.
fn floor(source: &str, place: usize) -> usize {
    let mut place = place.min(source.len());
    while !source.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// The span cut to the source and to whole characters.
fn within(source: &str, span: &Range<usize>) -> Range<usize> {
    let start = floor(source, span.start);
    let mut end = span.end.clamp(start, source.len());
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(span: Range<usize>) -> Diagnostic {
        Diagnostic {
            message: "it is wrong".to_owned(),
            label: "here".to_owned(),
            remedy: "mend it".to_owned(),
            span,
            context: Vec::new(),
        }
    }

    #[test]
    fn positions_count_characters_from_one() {
        let diagnostics = Diagnostics::of("f", "ä = 1\nöö = 2", vec![fault(7..9)]).unwrap();
        assert_eq!(diagnostics.position(0), (1, 1));
        assert_eq!(diagnostics.position(9), (2, 2));
        assert_eq!(diagnostics.position(999), (2, 7));
    }

    #[test]
    fn spans_outside_the_file_are_rendered_all_the_same() {
        for source in ["", "ä", "a\n", "\u{feff}x"] {
            for span in [0..0, 0..99, 99..100, 1..1, 1..2] {
                let diagnostics = Diagnostics::of("f", source, vec![fault(span)]).unwrap();
                assert!(diagnostics.render(false).contains("it is wrong"));
            }
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut wrong = fault(0..1);
        wrong.message = "\u{1b}[31mred\nline".to_owned();
        let diagnostics = Diagnostics::of("f\u{7}", "a\u{1b}[2J", vec![wrong]).unwrap();
        let text = diagnostics.render(false);
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{7}'),
            "{text:?}"
        );
    }
}
