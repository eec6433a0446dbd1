//! Boots that do not come up, or come up otherwise than they were asked to.

use std::os::unix::fs::symlink;

use knobstat_lab::kernels::Cache;

use crate::Test;
use crate::needs;
use crate::support::program::{Place, output};

pub const TESTS: &[Test] = &[
    (
        "a_boot_that_panics_is_recorded_and_the_others_go_on",
        a_boot_that_panics,
    ),
    (
        "a_boot_that_is_not_what_was_asked_for_has_failed",
        a_boot_that_is_not_what_was_asked_for,
    ),
    (
        "a_guest_that_turns_itself_off_has_said_why",
        a_guest_that_turns_itself_off,
    ),
    (
        "a_boot_without_a_module_that_was_asked_for_has_failed",
        a_boot_without_a_module,
    ),
    (
        "a_first_level_that_cannot_be_had_is_left_out_as_any_other",
        a_first_level_that_cannot_be_had,
    ),
];

/// Waits for its deadline, three times.
pub const LONG_TESTS: &[Test] = &[(
    "a_boot_that_hangs_is_ended_at_its_deadline",
    a_boot_that_hangs,
)];

/// A kernel whose configuration says 1000 ticks a second and that has 250: what counts is what
/// the guest itself says.
fn a_boot_that_is_not_what_was_asked_for() {
    let place = Place::new();
    let cache = Cache::locate(std::env::var_os).unwrap();
    let image = cache.find(needs::kernel()).unwrap().image;
    for hz in [250, 1000] {
        let name = format!("hz{hz}");
        symlink(&image, Cache::image_in(place.path(), &name)).unwrap();
        let config = format!("CONFIG_HZ={hz}\n");
        std::fs::write(Cache::config_in(place.path(), &name), config).unwrap();
    }
    let text = experiment("hz = [250, 1000]", "")
        .replace(needs::kernel(), "hz250")
        .replace("replicates = 2", "replicates = 1");
    let file = place.file("hz.toml", &text);
    let mut command = place.knobstat();
    command
        .env("KNOBSTAT_KERNEL_CACHE", place.path())
        .args(["run", "--json"])
        .arg(file);
    let ended = output(&mut command).must_exit(1);
    let said = ended.stderr();
    assert!(said.contains("did not come up as it was booted"), "{said}");
    assert!(said.contains("CONFIG_HZ=250"), "{said}");
    let runs: Vec<_> = ended.json()["treatments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|treatment| treatment["runs"]["ok"].as_u64())
        .collect();
    assert_eq!(runs, [Some(1), Some(0)]);
}

fn experiment(factor: &str, more: &str) -> String {
    format!(
        "name = \"boots\"\n\n\
         [workload]\nkind = \"clock\"\nduration = \"20ms\"\n\n\
         [factors]\n{factor}\n\n\
         [design]\nreplicates = 2\nseed = 7\n\n\
         [target]\nkind = \"vm\"\nkernel = \"{}\"\n{more}",
        needs::kernel()
    )
}

fn a_boot_that_panics() {
    let place = Place::new();
    // There is no such program in the guest, and a kernel without its first process panics.
    let file = place.file(
        "panic.toml",
        &experiment("\"cmdline:rdinit\" = [\"/init\", \"/nowhere\"]", ""),
    );
    let ended = output(place.knobstat().args(["run", "--json"]).arg(file)).must_exit(1);
    let said = ended.stderr();
    assert!(
        said.contains("attempt 3 of 3 with cmdline:rdinit=/nowhere failed"),
        "{said}"
    );
    assert!(
        said.contains("Kernel panic"),
        "the last lines of the console are kept: {said}"
    );
    let report = ended.json();
    let runs: Vec<_> = report["treatments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|treatment| (&treatment["runs"]["ok"], &treatment["runs"]["failed"]))
        .map(|(ok, failed)| (ok.as_u64(), failed.as_u64()))
        .collect();
    assert_eq!(runs, [(Some(2), Some(0)), (Some(0), Some(2))]);
    let caveats = report["caveats"].to_string();
    assert!(caveats.contains("failed-boots"), "{caveats}");
}

fn a_guest_that_turns_itself_off() {
    let place = Place::new();
    let file = place.file(
        "off.toml",
        &experiment("\"cmdline:knobstat.init\" = [\"agent\", \"nothing\"]", "")
            .replace("replicates = 2", "replicates = 1"),
    );
    let ended = output(place.knobstat().args(["run"]).arg(file)).must_exit(1);
    let said = ended.stderr();
    assert!(
        said.contains("cmdline:knobstat.init=nothing failed"),
        "{said}"
    );
    assert!(said.contains("which it cannot do"), "{said}");
}

fn a_boot_without_a_module() {
    let place = Place::new();
    place.file("broken.ko", "no module");
    let text = experiment("nohz = [\"on\", \"off\"]", "modules = [\"broken.ko\"]\n");
    let file = place.file("module.toml", &text);
    let ended = output(place.knobstat().args(["run"]).arg(file));
    let said = ended.stderr();
    assert!(
        said.contains("the module broken.ko cannot be loaded"),
        "{said}"
    );
    ended.must_exit(1);
}

fn a_first_level_that_cannot_be_had() {
    let place = Place::new();
    let text = experiment("kernel = [\"none-such\", \"base\"]", "");
    let file = place.file("first.toml", &text);
    let report = output(place.knobstat().args(["run", "--json"]).arg(file))
        .must_exit(0)
        .json();
    assert_eq!(report["omitted"][0]["level"], "none-such");
    let treatments = report["treatments"].as_array().unwrap();
    assert_eq!(treatments.len(), 1);
    assert_eq!(treatments[0]["runs"]["ok"], 2);
}

/// A kernel that panics and stays where it is.
fn a_boot_that_hangs() {
    let place = Place::new();
    let file = place.file(
        "hang.toml",
        &experiment(
            "\"cmdline:rdinit\" = [\"/init\", \"/nowhere\"]",
            "boot_timeout = \"60s\"\nappend = \"panic=0\"\n",
        )
        .replace("replicates = 2", "replicates = 1"),
    );
    let ended = output(place.knobstat().args(["run"]).arg(file)).must_exit(1);
    let said = ended.stderr();
    assert!(said.contains("did not answer within 60s"), "{said}");
    assert!(said.contains("Kernel panic"), "{said}");
}
