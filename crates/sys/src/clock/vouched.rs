//! A counter that the processor promises nothing of, and the host of the guest does.
//!
//! An emulator that advances the time of its guest with the instructions executed gives it a time
//! stamp counter of constant rate by construction, yet a processor model that does not say so. Who
//! starts the guest knows, and says it on the kernel's command line, where every report shows it.

/// The word on the kernel's command line of the guest.
const WORD: &str = "knobstat.counter=vouched";

/// Whether the host vouches for the counter.
pub(super) fn by_host() -> bool {
    std::fs::read_to_string("/proc/cmdline").is_ok_and(|line| is_on(&line))
}

fn is_on(line: &str) -> bool {
    line.split_whitespace().any(|word| word == WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_word_counts() {
        assert!(is_on("quiet knobstat.counter=vouched panic=-1\n"));
        assert!(!is_on("quiet knobstat.counter=vouchedfor"));
        assert!(!is_on(""));
    }
}
