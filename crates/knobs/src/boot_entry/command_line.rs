//! A kernel's command line as words, and what an experiment adds to that of its machine.

use std::fmt;

use super::error::BootError;
use crate::special::kernel_fact::words;

/// The word that tells a boot of an experiment from any other. The kernel passes over words with
/// a dot that name no module of its own.
pub const MARKER: &str = "knobstat.boot";

/// What a boot loader puts there itself.
const OF_THE_LOADER: [&str; 2] = ["BOOT_IMAGE", "initrd"];

/// Seconds after which a kernel that panicked starts the machine anew: the console can be read
/// for that long.
const PANIC_SECONDS: &str = "10";

/// COMMAND_LINE_SIZE of x86 and of arm64, less the zero byte.
const LARGEST: usize = 2047;

/// The words of a kernel's command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// The words of a text; quotes may hold spaces.
    pub fn parse(text: &str) -> Self {
        Self(words(text).into_iter().map(str::to_owned).collect())
    }

    /// What a machine boots with by itself: without what its loader adds.
    pub fn of_machine(text: &str) -> Self {
        let mut line = Self::parse(text);
        for name in OF_THE_LOADER {
            line.remove(name);
        }
        line
    }

    /// The words.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// The value of a word, the last one of its name.
    pub fn value(&self, name: &str) -> Option<&str> {
        let of_name = |word: &&String| is_named(word, name);
        let word = self.0.iter().rev().find(of_name)?;
        word.split_once('=').map(|(_, value)| value)
    }

    /// Takes every word of a name away.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|word| !is_named(word, name));
    }

    /// Puts a word at the end, in place of every other of its name.
    ///
    /// # Errors
    /// For a value that is no plain word.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), BootError> {
        let word = match value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        };
        let is_plain = |character: char| {
            character.is_ascii_graphic() && !"\"'\\$`;&|<>{}#".contains(character)
        };
        if word.is_empty() || !word.chars().all(is_plain) {
            return Err(BootError::BadWord(word));
        }
        self.remove(name);
        self.0.push(word);
        Ok(())
    }

    /// The same with a marker, and with the machine starting anew after a panic unless the
    /// experiment itself says what it does then.
    ///
    /// # Errors
    /// When it would be longer than the kernel reads.
    pub fn marked(mut self, marker: &str, keeps_panic: bool) -> Result<Self, BootError> {
        if !keeps_panic {
            self.set("panic", Some(PANIC_SECONDS))?;
        }
        self.set(MARKER, Some(marker))?;
        let length = self.to_string().len();
        if length > LARGEST {
            return Err(BootError::TooLong(length));
        }
        Ok(self)
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join(" "))
    }
}

/// Whether a word has a name; `-` and `_` are the same to the kernel.
fn is_named(word: &str, name: &str) -> bool {
    let own = word.split_once('=').map_or(word, |(own, _)| own);
    own.replace('-', "_") == name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machines_own_words_stay_as_they_are() {
        let text = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro dyndbg=\"file x +p\" initrd=\\i.img quiet";
        let line = CommandLine::of_machine(text);
        assert_eq!(
            line.to_string(),
            "root=UUID=1-2 ro dyndbg=\"file x +p\" quiet"
        );
    }

    #[test]
    fn a_word_takes_the_place_of_every_other_of_its_name() {
        let mut line = CommandLine::parse("nohz=on quiet nohz=off intel-pstate=x");
        line.set("nohz", Some("off")).unwrap();
        line.set("intel_pstate", None).unwrap();
        assert_eq!(line.to_string(), "quiet nohz=off intel_pstate");
        assert_eq!(line.value("nohz"), Some("off"));
        assert_eq!(line.value("quiet"), None);
        line.remove("quiet");
        let marked = line.marked("e-0-1-1", false).unwrap();
        assert_eq!(
            marked.to_string(),
            "nohz=off intel_pstate panic=10 knobstat.boot=e-0-1-1"
        );
        assert_eq!(marked.value(MARKER), Some("e-0-1-1"));
    }

    #[test]
    fn an_experiment_may_say_itself_what_a_panic_does() {
        let line = CommandLine::parse("panic=0").marked("m", true).unwrap();
        assert_eq!(line.to_string(), "panic=0 knobstat.boot=m");
    }

    #[test]
    fn what_a_shell_would_read_is_refused() {
        let mut line = CommandLine::parse("quiet");
        for value in ["a b", "'", "\"", "$(x)", "a;b", "{", "\\", "\u{e9}", "a\nb"] {
            let refused = line.set("name", Some(value));
            assert!(matches!(refused, Err(BootError::BadWord(_))), "{value}");
        }
        assert_eq!(line.to_string(), "quiet");
        let long = CommandLine::parse(&"w ".repeat(1100));
        assert!(matches!(
            long.marked("m", false),
            Err(BootError::TooLong(_))
        ));
    }
}
