//! The same machines laid out in trees on the disk, through the real files and the real journal.

use knobstat_data::Level;
use knobstat_data::messages::Availability;
use knobstat_sys::root::Root;
use proptest::prelude::*;

use super::machines::{Layout, amd_server, guest, hybrid, intel_laptop, lay_out, read_back};
use super::turning::{journal, turn, turn_all};
use crate::apply::{ApplyError, Turning};
use crate::files::{Files, RootedFiles};
use crate::journal::Journal;
use crate::knob::{Knob, Refused};
use crate::restore::{Options, restore};
use crate::state_directory::StateDirectory;
use crate::{state_of, states};

struct Laid {
    tree: tempfile::TempDir,
    state: tempfile::TempDir,
    files: RootedFiles,
}

fn laid(layout: &Layout) -> Laid {
    let tree = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    lay_out(layout, tree.path());
    let root = Root::laid_out(tree.path()).unwrap();
    let directory = StateDirectory::beneath(state.path(), &root).unwrap();
    Laid {
        files: RootedFiles::new(root, directory),
        tree,
        state,
    }
}

#[test]
fn every_level_that_a_laid_out_machine_offers_is_taken_and_put_back() {
    for (layout, least) in [
        (intel_laptop(), 20),
        (amd_server(), 18),
        (guest(), 6),
        (hybrid(), 10),
    ] {
        let laid = laid(&layout);
        let root = Root::laid_out(laid.tree.path()).unwrap();
        let mut taken = 0;
        for state in states(&root) {
            let knob = Knob::find(&state.name, &[]).unwrap();
            for (level, availability) in state.levels {
                if availability != Availability::Available {
                    continue;
                }
                let mut journal = journal();
                let wanted = [(knob.clone(), level.clone())];
                Turning {
                    files: &laid.files,
                    journal: &mut journal,
                    // Never meant for laid-out trees.
                    refused: Refused(true),
                    guarded: &|| true,
                }
                .turn_all(&wanted)
                .unwrap_or_else(|error| panic!("{error}"));
                if !knob.is_process() {
                    assert_eq!(knob.read(&laid.files).unwrap(), level, "{}", state.name);
                }
                // As another process would, from the disk alone.
                if let Some(mut journal) = Journal::load(&laid.files).unwrap() {
                    let restoration =
                        restore(&laid.files, &mut journal, Options::default()).unwrap();
                    assert_eq!(restoration.failed, []);
                }
                assert_eq!(read_back(&layout, laid.tree.path()), layout);
                taken += 1;
            }
        }
        assert!(taken >= least, "only {taken} levels were taken");
        // Nothing is left of the journal.
        assert_eq!(std::fs::read_dir(laid.state.path()).unwrap().count(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_treatments_on_a_laid_out_machine_are_put_back(
        index in 0usize..4,
        draws in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
    ) {
        let layout = [intel_laptop, amd_server, guest, hybrid][index]();
        let laid = laid(&layout);
        let root = Root::laid_out(laid.tree.path()).unwrap();
        let mut journal = journal();
        let states = states(&root);
        for (knob, level) in draws {
            let state = knob.get(&states);
            let offered: Vec<&Level> = state
                .levels
                .iter()
                .filter(|(_, availability)| *availability == Availability::Available)
                .map(|(level, _)| level)
                .collect();
            if offered.is_empty() {
                continue;
            }
            let wanted = [(
                Knob::find(&state.name, &[]).unwrap(),
                (*level.get(&offered)).clone(),
            )];
            let turned = turn_all(&laid.files, &mut journal, &wanted);
            prop_assert!(turned.is_ok(), "{}", turned.unwrap_err());
        }
        if let Some(mut left) = Journal::load(&laid.files).unwrap() {
            let restoration = restore(&laid.files, &mut left, Options::default()).unwrap();
            prop_assert_eq!(restoration.failed, []);
            prop_assert_eq!(restoration.left_alone, Vec::<String>::new());
        }
        prop_assert_eq!(read_back(&layout, laid.tree.path()), layout);
    }
}

#[test]
fn a_file_that_shows_choices_gets_them_back_byte_for_byte() {
    let layout = guest();
    let laid = laid(&layout);
    let mut journal = journal();
    turn(&laid.files, &mut journal, &[("thp", "never")]).unwrap();
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    assert_eq!(laid.files.read(path).unwrap(), b"never\n");
    restore(&laid.files, &mut journal, Options::default()).unwrap();
    assert_eq!(read_back(&layout, laid.tree.path()), layout);
}

#[test]
fn the_real_machine_refuses_before_anything_is_written() {
    let state = tempfile::tempdir().unwrap();
    let root = Root::real();
    let directory = StateDirectory::beneath(state.path(), &root).unwrap();
    let files = RootedFiles::new(root, directory);
    let knob = Knob::find("sysctl:kernel.randomize_va_space", &[]).unwrap();
    let present = knob.read(&files).unwrap();
    let other = Level::text(if present == Level::text("1") {
        "2"
    } else {
        "1"
    });
    let availability = knob.availability(&files, &other, Refused(true));
    let Availability::Unavailable { reason, .. } = availability else {
        panic!("the machine's own settings are not to be had");
    };
    assert!(reason.contains("KNOBSTAT_NO_KNOBS"), "{reason}");
    let error = Turning {
        files: &files,
        journal: &mut journal(),
        refused: Refused(true),
        guarded: &|| true,
    }
    .turn_all(&[(knob.clone(), other)])
    .unwrap_err();
    assert!(matches!(error, ApplyError::Unavailable { .. }), "{error}");
    assert_eq!(knob.read(&files).unwrap(), present);
    // Not even a journal was begun.
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn a_file_outside_the_kernels_own_is_no_setting() {
    let root = Root::real();
    let files = RootedFiles::to_look_at(root.clone());
    assert!(files.is_setting("/proc/sys/kernel/osrelease"));
    assert!(!files.is_setting("/etc/passwd"));
    assert!(state_of(&root, "sysfs:../etc/passwd").is_none());
}

#[test]
fn the_states_of_this_machine_can_be_told() {
    for state in states(&Root::real()) {
        // Whatever machine this is: every knob has a value or a reason.
        match &state.value {
            Ok(level) => assert!(!level.to_string().is_empty()),
            Err(reason) => assert!(!reason.is_empty()),
        }
        assert!(!state.summary.is_empty());
    }
}
