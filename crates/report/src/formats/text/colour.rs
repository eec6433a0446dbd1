//! Colour, where it is asked for.

/// Puts text in colour, or leaves it as it is.
#[derive(Clone, Copy)]
pub(super) struct Colour {
    wanted: bool,
}

impl Colour {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted }
    }

    fn paint(self, text: &str, code: &str) -> String {
        if self.wanted {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint(text, "1")
    }

    /// A verdict: green for the better, red for the worse, blue for equivalent, yellow for
    /// undecided.
    pub(super) fn verdict(self, text: &str, verdict: &str, better: Option<bool>) -> String {
        let code = match (verdict, better) {
            (_, Some(true)) => "32",
            (_, Some(false)) => "31",
            ("equivalent", _) => "34",
            _ => "33",
        };
        self.paint(text, code)
    }
}
