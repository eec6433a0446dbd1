//! What a child can fail at before it has become the program.

use std::io;

use thiserror::Error;

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident = $words:literal,)*) => {
        /// What a child does between its creation and the program, in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Step {
            $($(#[$doc])* $name,)*
        }

        impl Step {
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The step in words that follow "cannot".
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }
    };
}

steps! {
    /// clone(2) itself, in the parent.
    Clone = "make a process",
    /// SIGPIPE and the like set back to what they do by default.
    Signals = "set its signals back",
    /// A process group of its own.
    Group = "make it a process group",
    /// Standard input, output and error.
    Streams = "give it its standard streams",
    /// No address space randomisation.
    Personality = "switch address space randomisation off",
    /// The CPUs that it may run on.
    Affinity = "bind it to its CPUs",
    /// Nice value or real-time priority.
    Scheduling = "give it its priority",
    /// Resource limits.
    Limits = "give it its limits",
    /// User, group and further groups.
    Credentials = "give it the rights of its user",
    /// The working directory.
    WorkingDirectory = "enter its working directory",
    /// The signal that it gets when its parent ends.
    ParentDeathSignal = "make it end with the harness",
    /// Whether the parent is still there.
    ParentGone = "start it, because the harness has ended",
    /// execve(2).
    Execute = "execute it",
}

impl Step {
    /// The step of this number, where there is one.
    pub(super) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

/// Why a process could not be started.
#[derive(Debug, Error)]
#[error("cannot {}: {error}", step.words())]
pub struct SpawnError {
    /// What failed.
    pub step: Step,
    /// With which error of the kernel.
    pub error: io::Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_comes_back_from_its_number() {
        for step in Step::ALL {
            assert_eq!(Step::from_number(*step as u32), Some(*step));
        }
        assert_eq!(Step::from_number(Step::ALL.len() as u32), None);
    }
}
