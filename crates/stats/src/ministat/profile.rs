//! Which ministat to be: the differences between its two ages, as data.

/// An age of the program whose output is reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Debian's package `ministat`, version 20150715, on x86-64.
    Debian2015,
    /// FreeBSD's current program.
    #[default]
    Newest,
}

impl Profile {
    /// The profile called `name` on the command line: `2015` or `newest`.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"2015" => Some(Self::Debian2015),
            b"newest" => Some(Self::Newest),
            _ => None,
        }
    }

    /// Bytes a line buffer holds, its terminating NUL included (C's `BUFSIZ`): a longer line is
    /// read as several.
    pub(super) fn line_buffer(self) -> usize {
        match self {
            Self::Debian2015 => 8192,
            Self::Newest => 1024,
        }
    }

    /// Whether the first comma of a number is its decimal point.
    pub(super) fn comma_is_decimal_point(self) -> bool {
        self == Self::Newest
    }

    /// Whether `-q` exists.
    pub(super) fn has_quiet(self) -> bool {
        self == Self::Newest
    }

    /// Whether every input is opened before the first is read.
    pub(super) fn opens_all_first(self) -> bool {
        self == Self::Newest
    }

    /// The name under which the operand `-` appears in messages and reports.
    pub(super) fn name_of_dash(self) -> &'static str {
        match self {
            Self::Debian2015 => "<stdin>",
            Self::Newest => "-",
        }
    }

    /// Whether the C library of that system prints the sign of a NaN.
    pub(super) fn prints_sign_of_nan(self) -> bool {
        self == Self::Debian2015
    }

    /// The exit code after an input that cannot be opened.
    pub(super) fn cannot_open_exit_code(self) -> u8 {
        match self {
            Self::Debian2015 => 1,
            Self::Newest => 2,
        }
    }
}
