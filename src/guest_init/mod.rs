//! The first process of a guest: this program as `/init` of an initramfs.
//!
//! It makes what every program expects to find, then does what the kernel's command line asks
//! for, and turns the guest off. What goes wrong is said on the console, whose last lines the
//! host keeps.

mod agent;
mod shell;
mod surroundings;

use std::ffi::OsStr;
use std::fs;

use knobstat_sys::power;

/// The name by which the kernel starts the first process of an initramfs.
const INIT: &str = "/init";

/// Where the directories are in which programs are looked for.
const SEARCH_PATH: &str = "/knobstat/path";

/// The word of the kernel's command line that says what for.
const WORD: &str = "knobstat.init=";

/// Whether this process is the first of a guest.
pub fn is_wanted(called: &OsStr) -> bool {
    called == INIT && std::process::id() == 1
}

/// Does what the guest is there for, and turns it off.
pub fn main() -> ! {
    for trouble in surroundings::make() {
        eprintln!("knobstat: {trouble}");
    }
    let loaded = surroundings::load_modules();
    let line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let done = match wanted(&line) {
        // What is measured without a module that was asked for is not what was asked for.
        "agent" => loaded.and_then(|()| agent::serve()),
        "shell" => {
            if let Err(trouble) = loaded {
                eprintln!("knobstat: {trouble}");
            }
            shell::open()
        }
        other => Err(format!(
            "the guest is asked for \"{other}\", which it cannot do"
        )),
    };
    if let Err(trouble) = done {
        eprintln!("knobstat: {trouble}");
    }
    if let Err(error) = power::off() {
        eprintln!("knobstat: the guest cannot be turned off ({error})");
    }
    // The kernel takes the end of its first process for a panic, and ends the guest as well.
    std::process::exit(1);
}

/// What the command line asks for: the agent where it does not say.
fn wanted(line: &str) -> &str {
    line.split_whitespace()
        .rev()
        .find_map(|word| word.strip_prefix(WORD))
        .unwrap_or("agent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_says_what_the_guest_is_for() {
        assert_eq!(wanted("quiet panic=-1\n"), "agent");
        assert_eq!(
            wanted("knobstat.init=agent knobstat.init=resume x\n"),
            "resume"
        );
    }

    #[test]
    fn only_the_first_process_is_one() {
        assert!(!is_wanted(OsStr::new("knobstat")));
        // In a container a test may be the first process itself.
        let is_first = std::process::id() == 1;
        assert_eq!(is_wanted(OsStr::new("/init")), is_first);
    }
}
