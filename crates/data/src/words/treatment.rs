//! A treatment: one level of each factor.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Level;

/// One factor held at one level.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Setting {
    /// The factor's name: a knob's, or a parameter's of the workload.
    pub factor: String,
    /// The level that it is held at.
    pub level: Level,
}

impl Setting {
    /// A factor at a level.
    pub fn new(factor: impl Into<String>, level: impl Into<Level>) -> Self {
        Self {
            factor: factor.into(),
            level: level.into(),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.factor, self.level)
    }
}

/// One level of each factor, in the order in which the factors were written.
///
/// A treatment that leaves factors out is *partial* and stands for all that agree with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Treatment {
    /// The settings, in the order of the factors.
    pub settings: Vec<Setting>,
}

impl Treatment {
    /// A treatment of these settings.
    pub fn new(settings: impl IntoIterator<Item = Setting>) -> Self {
        Self {
            settings: settings.into_iter().collect(),
        }
    }

    /// The level of a factor, where the treatment sets it.
    pub fn level(&self, factor: &str) -> Option<&Level> {
        self.settings
            .iter()
            .find(|setting| setting.factor == factor)
            .map(|setting| &setting.level)
    }

    /// Whether this treatment has every setting of a partial one.
    pub fn agrees_with(&self, partial: &Treatment) -> bool {
        partial
            .settings
            .iter()
            .all(|wanted| self.level(&wanted.factor) == Some(&wanted.level))
    }

    /// The settings whose factor is not among these: what stays equal in a comparison.
    pub fn without(&self, factors: &[&str]) -> Treatment {
        Self::new(
            self.settings
                .iter()
                .filter(|setting| !factors.contains(&setting.factor.as_str()))
                .cloned(),
        )
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, setting) in self.settings.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{setting}")?;
        }
        Ok(())
    }
}
