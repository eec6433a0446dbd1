//! The value in the text of a setting's file.

use knobstat_data::CpuList;
use serde::{Deserialize, Serialize};

/// How a file shows its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The text is the value.
    #[default]
    Plain,
    /// The text is every choice, the one in force in brackets of either kind: `always [madvise]
    /// never`, `none voluntary (full)`. What is written is the bare word.
    Bracketed,
    /// The text is a mask of CPUs in hexadecimal, `ff` or `00000000,0000000f`; the value is the
    /// list of those CPUs.
    CpuMask,
    /// Four bytes: microseconds as a signed number in the machine's order, the kernel's largest
    /// being no limit. A text is taken as well, as a laid-out tree may hold one.
    Microseconds,
}

/// The value of a latency that nobody limits.
pub const NO_LIMIT: &str = "none";

/// The value of a mask without a CPU.
pub const NO_CPUS: &str = "none";

/// The kernel's word for it: 2000 s (PM_QOS_CPU_LATENCY_DEFAULT_VALUE of linux/pm_qos.h).
const NO_LIMIT_MICROSECONDS: i32 = 2_000_000_000;

impl Form {
    /// The form that a text appears to have: bracketed when it is several words of which exactly
    /// one is in brackets.
    pub fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let words = || text.split_whitespace();
        let square = |word: &&str| word.starts_with('[') && in_brackets(word).is_some();
        let bracketed = words().filter(square).count();
        if bracketed == 1 && words().count() > 1 {
            Self::Bracketed
        } else {
            Self::Plain
        }
    }

    /// The value in the text of a file, runs of white space made one space.
    ///
    /// A bracketed file of a laid-out tree holds the bare word after it was written; then that is
    /// the value.
    pub fn value(self, bytes: &[u8]) -> String {
        if self == Self::Microseconds
            && let Some(microseconds) = microseconds(bytes)
        {
            return match microseconds {
                NO_LIMIT_MICROSECONDS => NO_LIMIT.to_owned(),
                limit => limit.to_string(),
            };
        }
        let text = String::from_utf8_lossy(bytes);
        if self == Self::Bracketed
            && let Some(word) = text.split_whitespace().find_map(in_brackets)
        {
            return word.to_owned();
        }
        if self == Self::CpuMask
            && let Some(list) = cpus_of_mask(text.trim())
        {
            return list;
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Every choice that the text names, where it names them.
    pub fn choices(self, bytes: &[u8]) -> Option<Vec<String>> {
        let text = String::from_utf8_lossy(bytes);
        let shown = text
            .split_whitespace()
            .any(|word| in_brackets(word).is_some());
        if self != Self::Bracketed || !shown {
            return None;
        }
        Some(
            text.split_whitespace()
                .map(|word| in_brackets(word).unwrap_or(word).to_owned())
                .collect(),
        )
    }

    /// The bytes that put an old text back. A plain text is its own; of a bracketed one the kernel
    /// takes the bare word only.
    pub fn bytes_to_write_back(self, old: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain | Self::Microseconds | Self::CpuMask => old.to_vec(),
            Self::Bracketed => self.bytes(&self.value(old)),
        }
    }

    /// A value as bytes to write: a line, which is how `echo` writes it and what every such file
    /// of the kernel takes, but for four bytes of microseconds.
    pub fn bytes(self, value: &str) -> Vec<u8> {
        if self == Self::CpuMask
            && let Some(mask) = mask_of_cpus(value)
        {
            return format!("{mask}\n").into_bytes();
        }
        let number = match value {
            NO_LIMIT => Some(NO_LIMIT_MICROSECONDS),
            number => number.parse().ok(),
        };
        match number {
            Some(microseconds) if self == Self::Microseconds => {
                i32::to_ne_bytes(microseconds).to_vec()
            }
            _ => format!("{value}\n").into_bytes(),
        }
    }
}

/// The number in four bytes that are not a text.
fn microseconds(bytes: &[u8]) -> Option<i32> {
    let four: [u8; 4] = bytes.try_into().ok()?;
    let text = four
        .iter()
        .all(|byte| byte.is_ascii_graphic() || *byte == b'\n');
    (!text).then(|| i32::from_ne_bytes(four))
}

fn in_brackets(word: &str) -> Option<&str> {
    let square = || word.strip_prefix('[')?.strip_suffix(']');
    let round = || word.strip_prefix('(')?.strip_suffix(')');
    square().or_else(round)
}

/// Bits of one group of a mask; the groups are parted by commas, the highest first (the `%*pb` of
/// the kernel's printk-formats).
const GROUP: u32 = 32;

fn cpus_of_mask(mask: &str) -> Option<String> {
    let groups: Vec<u32> = mask
        .split(',')
        .rev()
        .map(|group| u32::from_str_radix(group, 16).ok())
        .collect::<Option<_>>()?;
    let cpus: Vec<String> = (0..)
        .zip(groups)
        .flat_map(|(index, group): (u32, u32)| {
            (0..GROUP)
                .filter(move |bit| group >> bit & 1 == 1)
                .map(move |bit| (index * GROUP + bit).to_string())
        })
        .collect();
    if cpus.is_empty() {
        return Some(NO_CPUS.to_owned());
    }
    let list: CpuList = cpus.join(",").parse().ok()?;
    Some(list.to_string())
}

fn mask_of_cpus(list: &str) -> Option<String> {
    if list == NO_CPUS {
        return Some("0".to_owned());
    }
    let list: CpuList = list.parse().ok()?;
    let highest = list.cpus().last()? / GROUP;
    let groups: Vec<u32> = (0..=highest)
        .map(|index| {
            list.cpus()
                .iter()
                .filter(|cpu| *cpu / GROUP == index)
                .fold(0, |group, cpu| group | 1 << (cpu % GROUP))
        })
        .collect();
    let mut text = String::new();
    for (place, group) in groups.iter().rev().enumerate() {
        text.push_str(&if place == 0 {
            format!("{group:x}")
        } else {
            format!(",{group:08x}")
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_the_word_in_brackets() {
        let text = b"always [madvise] never\n";
        assert_eq!(Form::of(text), Form::Bracketed);
        assert_eq!(Form::Bracketed.value(text), "madvise");
        assert_eq!(
            Form::Bracketed.choices(text).unwrap(),
            ["always", "madvise", "never"]
        );
        assert_eq!(Form::Bracketed.bytes_to_write_back(text), b"madvise\n");
        assert_eq!(Form::Bracketed.value(b"always\n"), "always");
        assert_eq!(Form::Bracketed.choices(b"always\n"), None);
    }

    #[test]
    fn a_choice_may_be_in_round_brackets_where_the_catalogue_says_so() {
        let text = b"none voluntary (full)\n";
        assert_eq!(Form::of(text), Form::Plain);
        assert_eq!(Form::Bracketed.value(text), "full");
        let choices = Form::Bracketed.choices(text).unwrap();
        assert_eq!(choices, ["none", "voluntary", "full"]);
    }

    #[test]
    fn a_mask_is_a_list_of_cpus() {
        let form = Form::CpuMask;
        for (mask, list) in [
            ("f\n", "0-3"),
            ("00000000,0000000f\n", "0-3"),
            ("5,80000000\n", "31-32,34"),
            ("00000000\n", "none"),
        ] {
            assert_eq!(form.value(mask.as_bytes()), list);
            assert_eq!(form.value(&form.bytes(list)), list);
        }
        assert_eq!(form.bytes("31-32,34"), b"5,80000000\n");
        assert_eq!(form.value(b"nonsense\n"), "nonsense");
    }

    #[test]
    fn microseconds_are_four_bytes_and_the_largest_is_none() {
        let form = Form::Microseconds;
        for value in ["0", "20", "none", "1000000"] {
            assert_eq!(form.bytes(value).len(), 4);
            assert_eq!(form.value(&form.bytes(value)), value);
        }
        assert_eq!(form.bytes("none"), 2_000_000_000_i32.to_ne_bytes());
        assert_eq!(form.value(b"200\n"), "200");
    }

    #[test]
    fn a_plain_value_may_be_several_numbers() {
        let text = b"4096\t131072\t6291456\n";
        assert_eq!(Form::of(text), Form::Plain);
        assert_eq!(Form::Plain.value(text), "4096 131072 6291456");
        assert_eq!(Form::Plain.bytes_to_write_back(text), text);
        assert_eq!(Form::of(b"[tsc]\n"), Form::Plain);
    }
}
