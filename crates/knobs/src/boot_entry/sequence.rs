//! What to do about a boot that an experiment wants, given what was asked for before and the boot
//! that the machine is in: pure.

use knobstat_data::messages::BootName;
use serde::{Deserialize, Serialize};

/// How often a boot is asked for.
pub const LARGEST_TRY: u32 = 3;

/// The boot that was asked for last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The index of its block.
    pub block: usize,
    /// Its index within the block.
    pub boot: usize,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// The marker on its command line.
    pub marker: String,
    /// The identity of the boot in which it was asked for.
    pub from: String,
    /// Whether the machine came up in it.
    pub reached: bool,
}

/// The boot that the machine is in.
#[derive(Clone, Copy, Debug)]
pub struct Present<'p> {
    /// Its identity.
    pub id: &'p str,
    /// The marker on its command line.
    pub marker: Option<&'p str>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The machine is in the boot.
    Here,
    /// It is to be asked for.
    Ask(Asked),
    /// It was asked for too often.
    GiveUp {
        /// How often.
        tries: u32,
        /// Whether the machine had come up in it the last time, and did not stay in it.
        reached: bool,
    },
}

/// What to do about a boot that is wanted.
///
/// A boot that did not come up counts, and so does one that came up and ended before its runs
/// were done: a setting that a machine does not survive would else reboot it for ever. A reboot
/// that never took place does not count.
pub fn next(asked: Option<&Asked>, wanted: &BootName, present: Present<'_>) -> Next {
    let attempt = match asked.filter(|asked| asked.is(wanted)) {
        None => 1,
        Some(asked) if present.marker == Some(asked.marker.as_str()) => return Next::Here,
        Some(asked) if present.id == asked.from => asked.attempt,
        Some(asked) if asked.attempt >= LARGEST_TRY => {
            return Next::GiveUp {
                tries: asked.attempt,
                reached: asked.reached,
            };
        }
        Some(asked) => asked.attempt + 1,
    };
    Next::Ask(Asked {
        block: wanted.block,
        boot: wanted.boot,
        attempt,
        marker: format!(
            "{}-{}-{}-{attempt}",
            wanted.experiment, wanted.block, wanted.boot
        ),
        from: present.id.to_owned(),
        reached: false,
    })
}

impl Asked {
    fn is(&self, name: &BootName) -> bool {
        (self.block, self.boot) == (name.block, name.boot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(block: usize, boot: usize) -> BootName {
        BootName {
            experiment: "0123456789ab".parse().unwrap(),
            block,
            boot,
        }
    }

    fn ask(asked: Option<&Asked>, wanted: &BootName, id: &str) -> Asked {
        let present = Present { id, marker: None };
        match next(asked, wanted, present) {
            Next::Ask(asked) => asked,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_marker_tells_the_boot() {
        let asked = ask(None, &name(2, 1), "a");
        assert_eq!(asked.marker, "0123456789ab-2-1-1");
        let present = Present {
            id: "b",
            marker: Some(&asked.marker),
        };
        assert_eq!(next(Some(&asked), &name(2, 1), present), Next::Here);
        // The same settings in the next block are another boot.
        assert!(matches!(
            next(Some(&asked), &name(3, 1), present),
            Next::Ask(Asked { attempt: 1, .. })
        ));
    }

    #[test]
    fn three_failed_boots_end_it() {
        let mut asked = ask(None, &name(0, 0), "boot 0");
        for attempt in 2..=3 {
            asked = ask(Some(&asked), &name(0, 0), &format!("boot {attempt}"));
            assert_eq!(asked.attempt, attempt);
        }
        let wrong = Present {
            id: "boot 4",
            marker: Some("0123456789ab-0-0-2"),
        };
        assert_eq!(
            next(Some(&asked), &name(0, 0), wrong),
            Next::GiveUp {
                tries: 3,
                reached: false
            }
        );
        // Another boot begins to count anew.
        assert_eq!(ask(Some(&asked), &name(0, 1), "boot 4").attempt, 1);
    }

    #[test]
    fn a_reboot_that_never_took_place_does_not_count() {
        let asked = ask(None, &name(0, 0), "boot 0");
        assert_eq!(ask(Some(&asked), &name(0, 0), "boot 0"), asked);
    }
}
