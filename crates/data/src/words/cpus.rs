//! A list of CPUs, as the kernel and `taskset` write it: `0,2-5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A non-empty set of CPU numbers, ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct CpuList(Vec<u32>);

/// The largest CPU number that a Linux affinity mask of the usual width can name.
const LARGEST_CPU: u32 = 8191;

/// Why a text is not a CPU list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not a list of CPUs such as \"1\" or \"0,2-5\" (at most {LARGEST_CPU})")]
pub struct CpuListError {
    /// The text as given.
    pub text: String,
}

impl CpuList {
    /// The list of one CPU.
    pub fn one(cpu: u32) -> Self {
        Self(vec![cpu])
    }

    /// The CPU numbers, ascending.
    pub fn cpus(&self) -> &[u32] {
        &self.0
    }

    /// The first CPU of the list.
    pub fn first(&self) -> u32 {
        self.0[0]
    }
}

impl TryFrom<Vec<u32>> for CpuList {
    type Error = CpuListError;

    fn try_from(mut cpus: Vec<u32>) -> Result<Self, CpuListError> {
        if cpus.is_empty() || cpus.iter().any(|cpu| *cpu > LARGEST_CPU) {
            return Err(CpuListError {
                text: format!("{cpus:?}"),
            });
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

impl From<CpuList> for Vec<u32> {
    fn from(list: CpuList) -> Self {
        list.0
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let error = || CpuListError {
            text: text.to_owned(),
        };
        let number = |digits: &str| -> Result<u32, CpuListError> {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(error());
            }
            digits
                .parse()
                .ok()
                .filter(|cpu| *cpu <= LARGEST_CPU)
                .ok_or_else(error)
        };
        let mut cpus = Vec::new();
        for part in text.trim().split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(error());
            }
            cpus.extend(first..=last);
        }
        Self::try_from(cpus)
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let length = rest
                .iter()
                .zip(first..)
                .take_while(|(cpu, expected)| *cpu == expected)
                .count();
            let last = rest[length - 1];
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
            rest = &rest[length..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_print_as_the_kernel_prints_them() {
        for (text, canonical) in [
            ("1", "1"),
            ("3,1,2", "1-3"),
            ("0,2-5,4", "0,2-5"),
            ("7-7", "7"),
        ] {
            assert_eq!(text.parse::<CpuList>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn a_list_that_came_over_a_stream_is_a_list() {
        let read = |json: &str| serde_json::from_str::<CpuList>(json);
        assert_eq!(read("[3,1,1]").unwrap().to_string(), "1,3");
        assert!(read("[]").is_err());
        assert!(read("[9000]").is_err());
        assert_eq!(serde_json::to_string(&CpuList::one(2)).unwrap(), "[2]");
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in [
            "",
            "a",
            "1-",
            "-1",
            "5-2",
            "1,,2",
            "+1",
            "8192",
            "99999999999",
            "1 2",
        ] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}
