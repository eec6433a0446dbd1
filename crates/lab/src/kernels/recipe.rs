//! The kernels that can be made where the cache lacks them, and what they are made of.

use std::fmt;
use std::str::FromStr;

use super::cache::DEBIAN;

/// The tick rates that the kernel can be built for (`kernel/Kconfig.hz`).
pub const TICK_RATES: [u32; 4] = [100, 250, 300, 1000];

/// How a kernel comes into the cache. Its text is the kernel's name: `debian`, `hz1000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recipe {
    /// Debian's ready-made kernel for virtual machines, fetched.
    Debian,
    /// A kernel of a tick rate, built from Debian's kernel source.
    TickRate(u32),
}

impl Recipe {
    /// What an experiment can ask for without more: the ready-made kernel and the tick rates of
    /// the two experiments that this program comes from.
    pub const USUAL: [Self; 3] = [Self::Debian, Self::TickRate(250), Self::TickRate(1000)];

    /// The options of a kernel that is built, as `.config` has them; `None` for one that is not.
    pub fn configuration(self) -> Option<String> {
        let Self::TickRate(hz) = self else {
            return None;
        };
        let fragment = include_str!("../../guest/kernel.fragment");
        Some(format!(
            "{fragment}\n# What this one is built for.\nCONFIG_HZ_{hz}=y\nCONFIG_LOCALVERSION=\"-knobstat-{self}\"\n"
        ))
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Debian => f.write_str(DEBIAN),
            Self::TickRate(hz) => write!(f, "hz{hz}"),
        }
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rates = TICK_RATES.map(Self::TickRate);
        let all = [Self::Debian].into_iter().chain(rates);
        all.clone()
            .find(|recipe| recipe.to_string() == text)
            .ok_or_else(|| {
                let names: Vec<String> = all.map(|recipe| recipe.to_string()).collect();
                format!("the kernels that can be prepared are {}", names.join(", "))
            })
    }
}

/// The options that were asked for with `=y` and that a finished configuration does not have so.
pub fn lacking<'a>(asked: &'a str, finished: &str) -> Vec<&'a str> {
    let has = |wanted: &str| finished.lines().any(|line| line == wanted);
    asked
        .lines()
        .filter(|line| line.starts_with("CONFIG_") && line.ends_with("=y") && !has(line))
        .filter_map(|line| line.split('=').next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for recipe in Recipe::USUAL {
            assert_eq!(recipe.to_string().parse(), Ok(recipe));
        }
        assert_eq!("hz300".parse(), Ok(Recipe::TickRate(300)));
        for text in ["hz250 ", "hz0250", "hz1024", "HZ250", ""] {
            let error = text.parse::<Recipe>().unwrap_err();
            assert!(
                error.contains("debian, hz100, hz250, hz300, hz1000"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_kernel_is_configured_for_its_tick_rate_and_carries_its_name() {
        assert_eq!(Recipe::Debian.configuration(), None);
        for hz in TICK_RATES {
            let configuration = Recipe::TickRate(hz).configuration().unwrap();
            let rates: Vec<&str> = configuration
                .lines()
                .filter(|line| line.starts_with("CONFIG_HZ_"))
                .collect();
            assert_eq!(rates, [format!("CONFIG_HZ_{hz}=y")]);
            assert!(configuration.contains(&format!("CONFIG_LOCALVERSION=\"-knobstat-hz{hz}\"\n")));
        }
    }

    #[test]
    fn every_line_of_the_fragment_is_an_option_or_a_comment_and_none_is_there_twice() {
        let configuration = Recipe::TickRate(250).configuration().unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for line in configuration.lines().filter(|line| !line.is_empty()) {
            if line.starts_with("# ") {
                continue;
            }
            let (option, value) = line.split_once('=').expect("an option");
            assert!(option.starts_with("CONFIG_"), "{line}");
            assert!(!value.is_empty(), "{line}");
            assert!(seen.insert(option), "{option} is there twice");
        }
    }

    #[test]
    fn an_option_that_the_source_dropped_is_named() {
        let asked = "# a comment\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\nCONFIG_D=8\n";
        assert_eq!(
            lacking(asked, "CONFIG_A=y\nCONFIG_B=y\n"),
            Vec::<&str>::new()
        );
        assert_eq!(
            lacking(asked, "CONFIG_A=m\n# CONFIG_B is not set\n"),
            ["CONFIG_A", "CONFIG_B"]
        );
    }
}
