//! Least privilege: under sudo the workload runs as the invoking user, the store is that user's,
//! and the journal and the guardian are root's.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use knobstat_sys::processes;
use knobstat_sys::user::{self, User};

use crate::Test;
use crate::needs::Need;
use crate::support::guardian::guardian_of;
use crate::support::machine::Machine;
use crate::support::pipe::{Pipe, watched};
use crate::support::processes::{children, kill, wait_until_gone};
use crate::support::program::{Place, output};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "under_sudo_only_the_agent_and_the_guardian_are_root",
        &[Need::Root, Need::Nobody],
        under_sudo_only_the_agent_and_the_guardian_are_root,
    ),
    (
        "under_sudo_store_and_kernels_are_those_of_the_user",
        &[Need::Root, Need::Nobody],
        under_sudo_store_and_kernels_are_those_of_the_user,
    ),
    (
        "commands_of_a_file_that_others_wrote_need_a_yes",
        &[Need::Root, Need::Nobody],
        commands_of_a_file_that_others_wrote_need_a_yes,
    ),
    (
        "settings_outside_the_catalogue_need_a_yes",
        &[Need::Root, Need::Nobody],
        settings_outside_the_catalogue_need_a_yes,
    ),
];

/// A directory that anybody may enter.
fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A directory of a user's own in a place.
fn directory_of(user: &User, place: &Place) -> PathBuf {
    open_to_all(place.path());
    let directory = place.path().join("own");
    std::fs::create_dir(&directory).unwrap();
    let ids = &user.credentials;
    chown(&directory, Some(ids.uid), Some(ids.gid)).unwrap();
    directory
}

fn journals(beneath: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![beneath.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

fn uid_of(pid: u32) -> u32 {
    std::fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

fn under_sudo_only_the_agent_and_the_guardian_are_root() {
    let nobody = user::named("nobody").unwrap();
    let (place, machine) = (Place::new(), Machine::desktop());
    let own = directory_of(&nobody, &place);
    let before = machine.bytes();
    let [mut ready, mut go] = ["own/ready", "own/go"].map(|name| {
        let pipe = Pipe::new(&place, name);
        let ids = &nobody.credentials;
        chown(&pipe.path, Some(ids.uid), Some(ids.gid)).unwrap();
        pipe
    });
    let script = place.file(
        "who.sh",
        &format!(
            "cd {} || exit 1\necho $$ $(id -u) $(id -g) $(id -G | tr ' ' ,) $HOME $USER >ready\nread answer <go\n",
            own.display()
        ),
    );
    let file = place.file(
        "privileges.toml",
        &format!(
            "name = \"privileges\"\n[workload]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\nwarmup_runs = 0\n[factors]\nthp = [\"always\", \"never\"]\n[fixed]\nclocksource = \"hpet\"\n[design]\nreplicates = 1\n",
            script.display()
        ),
    );
    for readable in [&script, &file] {
        std::fs::set_permissions(readable, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let store = own.join("store.sqlite");
    let mut front = place
        .knobstat_on(&machine)
        .args(["run", "--quiet"])
        .arg(&file)
        .env("SUDO_UID", nobody.credentials.uid.to_string())
        .env("SUDO_GID", nobody.credentials.gid.to_string())
        .env("SUDO_USER", "nobody")
        .env("KNOBSTAT_STORE", &store)
        .env("HOME", "/root")
        .env("USER", "root")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let program = watched(&front);
    let line = ready.hear(&program);
    let words: Vec<&str> = line.split(' ').collect();
    let ids = &nobody.credentials;
    let groups: Vec<String> = ids.groups.iter().map(u32::to_string).collect();
    let home = nobody.home.as_deref().unwrap().display().to_string();
    assert_eq!(
        words[1..6],
        [
            ids.uid.to_string().as_str(),
            &ids.gid.to_string(),
            &groups.join(","),
            &home,
            "nobody"
        ],
        "{line}"
    );

    // While it runs: who is who.
    let workload: u32 = words[0].parse().unwrap();
    assert_eq!(uid_of(workload), ids.uid);
    assert_eq!(uid_of(front.id()), ids.uid, "the front has given root up");
    let guardian = guardian_of(machine.path()).expect("a guardian");
    let agent = children(front.id())[0];
    for process in [agent, guardian] {
        assert_eq!(uid_of(u32::try_from(process).unwrap()), 0);
    }
    // Not to be ended politely.
    kill("TERM", guardian);
    assert!(processes::command_line(u32::try_from(guardian).unwrap()).is_some());
    assert_eq!(machine.clock_source(), "hpet");
    let found = journals(&place.path().join("state"));
    assert_eq!(found.len(), 1, "{found:?}");
    let journal = std::fs::metadata(&found[0]).unwrap();
    assert_eq!((journal.uid(), journal.mode() & 0o777), (0, 0o600));
    let folder = std::fs::metadata(found[0].parent().unwrap()).unwrap();
    assert_eq!((folder.uid(), folder.mode() & 0o777), (0, 0o700));

    go.say();
    // The other treatment.
    assert_ne!(ready.hear(&program), line);
    go.say();
    assert!(front.wait().unwrap().success());
    wait_until_gone(guardian);
    assert_eq!(machine.bytes(), before);
    for entry in std::fs::read_dir(&own).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(
            path.metadata().unwrap().uid(),
            ids.uid,
            "{}",
            path.display()
        );
    }
    assert!(store.exists());
}

/// Where nobody says where they are, and HOME is root's, as sudo leaves it. The user here has a home
/// that is not there, which is named.
fn under_sudo_store_and_kernels_are_those_of_the_user() {
    let nobody = user::named("nobody").unwrap();
    let home = nobody.home.clone().unwrap();
    let (place, machine) = (Place::new(), Machine::desktop());
    // One that is only looked for.
    let qemu = place.file("qemu-system-x86_64", "");
    for (target, kept) in [
        ("local", ".local/share/knobstat"),
        ("vm", ".cache/knobstat/kernels"),
    ] {
        let file = place.file(
            "experiment.toml",
            &format!(
                "name = \"whose\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\n[factors]\nthp = [\"always\", \"never\"]\n[target]\nkind = \"{target}\"\n"
            ),
        );
        for readable in [place.path(), &qemu, &file] {
            std::fs::set_permissions(readable, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = place.knobstat_on(&machine);
        command
            .args(["run", "--quiet"])
            .arg(&file)
            .env("SUDO_UID", nobody.credentials.uid.to_string())
            .env("SUDO_GID", nobody.credentials.gid.to_string())
            .env("HOME", "/root")
            .env("PATH", format!("{}:/usr/bin:/bin", place.path().display()));
        for variable in [
            "KNOBSTAT_STORE",
            "KNOBSTAT_KERNEL_CACHE",
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
        ] {
            command.env_remove(variable);
        }
        let ended = output(&mut command);
        let said = ended.stderr();
        let place = home.join(kept).display().to_string();
        assert!(said.contains(&place), "{place}: {said}");
    }
}

fn commands_of_a_file_that_others_wrote_need_a_yes() {
    let nobody = user::named("nobody").unwrap();
    let (place, machine) = (Place::new(), Machine::desktop());
    let value = place.file("value", "1\n");
    let touched = place.path().join("touched");
    let file = place.file(
        "commands.toml",
        &format!(
            "name = \"commands\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[knobs.own]\nget = [\"sh\", \"-c\", \"touch {touched}; cat {value}\"]\nset = [\"sh\", \"-c\", \"echo {{value}} >{value}\"]\nrestore = [\"sh\", \"-c\", \"echo {{value}} >{value}\"]\n[factors]\nown = [1, 2]\n[design]\nreplicates = 1\n",
            touched = touched.display(),
            value = value.display()
        ),
    );
    let ids = &nobody.credentials;
    chown(&file, Some(ids.uid), Some(ids.gid)).unwrap();
    for more in [&["--check"][..], &[]] {
        let mut command = place.knobstat_on(&machine);
        let refused = output(command.arg("run").args(more).arg(&file)).must_exit(2);
        assert!(
            refused.stderr().contains("the commands of own"),
            "{}",
            refused.stderr()
        );
        assert!(refused.stderr().contains("--yes"), "{}", refused.stderr());
    }
    assert!(!touched.exists(), "nothing of it was run");
    output(
        place
            .knobstat_on(&machine)
            .args(["run", "--yes"])
            .arg(&file),
    )
    .must_exit(0);
    assert!(touched.exists());
    // One that only root can write was read by root.
    chown(&file, Some(0), Some(0)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    output(
        place
            .knobstat_on(&machine)
            .args(["run", "--new"])
            .arg(&file),
    )
    .must_exit(0);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o664)).unwrap();
    output(
        place
            .knobstat_on(&machine)
            .args(["run", "--new"])
            .arg(&file),
    )
    .must_exit(2);
}

fn settings_outside_the_catalogue_need_a_yes() {
    let place = Place::new();
    // On the machine itself, which KNOBSTAT_NO_KNOBS keeps from being turned in any case.
    let mut command = place.knobstat();
    command.args([
        "try",
        "-k",
        "sysctl:kernel.core_pattern=core,|/bin/sh",
        "-n",
        "1",
        "--",
        "true",
    ]);
    let refused = output(&mut command).must_exit(2);
    assert!(
        refused
            .stderr()
            .contains("outside the catalogue of knobs: sysctl:kernel.core_pattern"),
        "{}",
        refused.stderr()
    );
    let mut command = place.knobstat();
    command.args([
        "try",
        "--yes",
        "-k",
        "sysctl:kernel.core_pattern=core,|/bin/sh",
        "-n",
        "1",
        "--",
        "true",
    ]);
    let refused = output(&mut command);
    assert!(
        refused.stderr().contains("KNOBSTAT_NO_KNOBS"),
        "{}",
        refused.stderr()
    );
}
