//! `knobstat vm prepare`: only what is missing is done, what is broken off goes on, and what goes
//! wrong is told. Programs of the test stand for apt, tar and make.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::install::install;
use crate::support::pipe::{Pipe, watched};
use crate::support::program::{Ended, Place, output};

/// What stands for the programs that are called; each writes down that it was.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "apt-cache",
        "echo \"$2\"; echo \"  Depends: $2-6.1.0-1-amd64\" | sed 's/cloud-amd64-//'",
    ),
    (
        "apt-get",
        "if [ \"$1\" = download ]; then : >\"$2_1_amd64.deb\"; fi",
    ),
    (
        "dpkg-deb",
        "case $2 in
           *linux-image*) mkdir -p \"$3/boot\" \"$3/lib/modules/6.1.0-1\"
             echo image >\"$3/boot/vmlinuz-6.1.0-1\"
             echo CONFIG_HZ=250 >\"$3/boot/config-6.1.0-1\"
             echo module >\"$3/lib/modules/6.1.0-1/fair.ko\" ;;
           *linux-source*) mkdir -p \"$3/usr/src\"; : >\"$3/usr/src/linux-source-6.1.tar.xz\" ;;
         esac",
    ),
    ("tar", "mkdir \"$4/linux-source-6.1\""),
    (
        "make",
        "out=${3#O=}
         for goal; do :; done
         case $goal in
           tinyconfig) echo CONFIG_LEAST=y >\"$out/.config\" ;;
           olddefconfig) \"$0-olddefconfig\" \"$out\" ;;
           bzImage) \"$0-bzImage\" \"$out\" ;;
         esac",
    ),
    ("make-olddefconfig", "echo CONFIG_HZ=250 >>\"$1/.config\""),
    (
        "make-bzImage",
        "echo '  CC      init/main.o'
         mkdir -p \"$1/arch/x86/boot\"; echo built >\"$1/arch/x86/boot/bzImage\"",
    ),
    ("gcc", ""),
    ("bc", ""),
    ("bison", ""),
    ("flex", ""),
    ("lz4", ""),
    ("xz", ""),
    ("qemu-system-x86_64", ""),
];

/// A machine of Debian's whose programs are the test's.
struct Debian {
    place: Place,
}

impl Debian {
    fn new() -> Self {
        let debian = Self {
            place: Place::new(),
        };
        for (name, script) in PROGRAMS {
            debian.program(name, script);
        }
        let include = debian.path("root/usr/include");
        std::fs::create_dir_all(&include).unwrap();
        for header in ["stdlib.h", "gelf.h"] {
            std::fs::write(include.join(header), "").unwrap();
        }
        debian
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.place.path().join(relative)
    }

    fn kernels(&self) -> PathBuf {
        self.path("cache/knobstat/kernels")
    }

    fn program(&self, name: &str, script: &str) {
        let directory = self.path("bin");
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        let called = self.path("called");
        let script = format!(
            "#!/bin/sh\nset -e\necho \"{name} $*\" >>{}\n{script}\n",
            called.display()
        );
        install(&self.place.file("program.sh", &script), &path);
    }

    fn prepare(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.knobstat();
        let search = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command
            .env("PATH", search)
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("KNOBSTAT_KERNEL_CACHE")
            .arg("--root")
            .arg(self.path("root"))
            .args(["vm", "prepare"])
            .args(arguments);
        command
    }

    /// The programs that were called since this was asked last, with their arguments.
    fn called(&self) -> Vec<String> {
        let path = self.path("called");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, "").unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn there(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.kernels())
            .map(|entries| {
                entries
                    .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                    .filter(|name| name != "work.lock")
                    .collect()
            })
            .unwrap_or_default();
        names.sort();
        names
    }
}

fn calls(called: &[String], program: &str) -> usize {
    let begins = format!("{program} ");
    called
        .iter()
        .filter(|call| call.starts_with(&begins))
        .count()
}

fn must_be_in(text: &str, sentence: &str) {
    assert!(text.contains(sentence), "{sentence:?} is not in:\n{text}");
}

#[test]
fn only_what_is_missing_is_brought() {
    let debian = Debian::new();
    let json = output(&mut debian.prepare(&["debian", "--json"]))
        .must_exit(0)
        .json();
    assert_eq!(json["schema"], "knobstat.kernels/1");
    assert_eq!(json["kernels"][0]["name"], "debian");
    assert_eq!(json["kernels"][0]["hz"], 250);
    assert_eq!(json["missing"], serde_json::json!(["hz250", "hz1000"]));
    assert_eq!(
        debian.there(),
        ["bzImage-debian", "config-debian", "modules-debian"]
    );
    assert_eq!(calls(&debian.called(), "apt-get"), 1);

    output(&mut debian.prepare(&["debian", "hz250"])).must_exit(0);
    let called = debian.called();
    assert_eq!(calls(&called, "make"), 3, "{called:#?}");
    assert_eq!(
        calls(&called, "apt-get"),
        1,
        "the source alone: {called:#?}"
    );
    let config = std::fs::read_to_string(debian.kernels().join("config-hz250")).unwrap();
    must_be_in(&config, "CONFIG_LEAST=y\n");
    must_be_in(&config, "CONFIG_LOCALVERSION=\"-knobstat-hz250\"\n");

    let table = output(&mut debian.prepare(&["debian", "hz250"]))
        .must_exit(0)
        .stdout();
    assert_eq!(debian.called(), Vec::<String>::new());
    must_be_in(&table, "hz250   250  no");
    assert!(!debian.kernels().join("work").exists(), "nothing is left");
}

#[test]
fn a_dry_run_types_what_is_done_and_does_nothing() {
    let debian = Debian::new();
    let typed = output(&mut debian.prepare(&["--dry-run", "--jobs", "3"]))
        .must_exit(0)
        .stdout();
    assert_eq!(debian.called(), Vec::<String>::new());
    assert!(!debian.kernels().exists());
    must_be_in(&typed, "-j3 bzImage\n");
    // Typed into a shell it does the same.
    let script = debian.place.file("typed.sh", &typed);
    let search = format!("{}:/usr/bin:/bin", debian.path("bin").display());
    let shell = output(
        Command::new("bash")
            .args(["-eu"])
            .arg(script)
            .env("PATH", search),
    );
    shell.must_exit(0);
    let mut there = debian.there();
    there.retain(|name| name.starts_with("bzImage-"));
    assert_eq!(there, ["bzImage-debian", "bzImage-hz1000", "bzImage-hz250"]);
}

/// Starts a build that waits until the test ends or lets it, and waits for it to do so.
fn start_waiting_build(debian: &Debian) -> std::process::Child {
    let mut waiting = Pipe::new(&debian.place, "waiting");
    debian.program(
        "make-bzImage",
        &format!(
            "echo '  CC      init/main.o'; echo >{}; exec sleep 1000",
            waiting.path.display()
        ),
    );
    let front = debian
        .prepare(&["hz250"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    waiting.hear(&watched(&front));
    std::fs::remove_file(waiting.path).unwrap();
    front
}

#[test]
fn an_interrupted_build_ends_and_goes_on_later() {
    let debian = Debian::new();
    let front = start_waiting_build(&debian);
    let pid = front.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let ended = Ended(front.wait_with_output().unwrap()).must_exit(130);
    must_be_in(&ended.stderr(), "`knobstat vm prepare` goes on from there");
    assert_eq!(debian.there(), ["work"], "half a kernel is none");
    debian.called();

    for (name, script) in PROGRAMS {
        debian.program(name, script);
    }
    output(&mut debian.prepare(&["hz250"])).must_exit(0);
    assert_eq!(debian.there(), ["bzImage-hz250", "config-hz250"]);
    let called = debian.called();
    assert_eq!(calls(&called, "apt-get"), 0, "{called:#?}");
}

#[test]
fn two_do_not_work_in_one_place_at_once() {
    let debian = Debian::new();
    let front = start_waiting_build(&debian);
    let other = output(&mut debian.prepare(&["hz1000"])).must_exit(2);
    must_be_in(
        &other.stderr(),
        "another `knobstat vm prepare` is at work in",
    );
    let pid = front.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    Ended(front.wait_with_output().unwrap()).must_exit(143);
}

#[test]
fn what_goes_wrong_is_told_with_what_was_said_last() {
    let debian = Debian::new();
    debian.program("make-bzImage", "echo 'init/main.c:1: error: no'; exit 2");
    let said = output(&mut debian.prepare(&["hz250"]))
        .must_exit(1)
        .stderr();
    must_be_in(&said, "-j");
    must_be_in(&said, "    init/main.c:1: error: no\n");
    must_be_in(&said, "work/hz250.log");

    debian.program(
        "make-bzImage",
        "echo 'fatal error: x.o: No space left on device' >&2; exit 2",
    );
    let said = output(&mut debian.prepare(&["hz250"]))
        .must_exit(4)
        .stderr();
    must_be_in(&said, "found the disk full");

    debian.program(
        "make-olddefconfig",
        "sed -i 's/^CONFIG_HPET=y/# CONFIG_HPET is not set/' \"$1/.config\"",
    );
    let said = output(&mut debian.prepare(&["hz250"]))
        .must_exit(2)
        .stderr();
    must_be_in(&said, "CONFIG_HPET cannot be set");

    debian.program("apt-cache", "echo 'E: No packages found' >&2; exit 100");
    let said = output(&mut debian.prepare(&["debian"]))
        .must_exit(2)
        .stderr();
    must_be_in(&said, "apt knows no package");
    must_be_in(&said, "apt-get update");
    assert_eq!(debian.there(), ["work"]);
}

#[test]
fn what_only_root_may_install_is_said() {
    let debian = Debian::new();
    std::fs::remove_file(debian.path("root/usr/include/gelf.h")).unwrap();
    let ended = output(&mut debian.prepare(&["hz250"]));
    let called = debian.called();
    // Root installs, and anybody else is told what root would.
    if ended.code() == Some(0) {
        let install = "apt-get install -y --no-install-recommends --no-remove libelf-dev";
        assert!(called.iter().any(|call| call == install), "{called:#?}");
    } else {
        let said = ended.must_exit(2).stderr();
        must_be_in(&said, "apt-get install --no-install-recommends libelf-dev");
        assert_eq!(called, Vec::<String>::new());
    }
}

#[test]
fn where_there_is_no_apt_the_other_way_is_told() {
    let debian = Debian::new();
    let bare = debian.path("bare");
    std::fs::create_dir(&bare).unwrap();
    let env = Path::new("/usr/bin/env");
    std::os::unix::fs::symlink(env, bare.join("env")).unwrap();
    let said = output(debian.prepare(&["debian"]).env("PATH", &bare))
        .must_exit(2)
        .stderr();
    must_be_in(&said, "there is no apt-get here");
    must_be_in(&said, "bzImage-NAME");
}
