//! The size of the terminal.

use std::os::fd::AsFd;

/// The columns of the terminal that standard output is, where it is one.
pub fn columns() -> Option<u16> {
    columns_of(std::io::stdout())
}

/// The columns of the terminal that standard error is, where it is one.
pub fn columns_of_messages() -> Option<u16> {
    columns_of(std::io::stderr())
}

fn columns_of(stream: impl AsFd) -> Option<u16> {
    rustix::termios::tcgetwinsize(stream)
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_terminal() {
        assert_eq!(columns_of(std::fs::File::open("/dev/null").unwrap()), None);
    }
}
