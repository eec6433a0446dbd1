//! The commands that look and do not touch, and those that only print.

use std::process::{Command, Stdio};

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

#[test]
fn knobs_lists_every_knob_with_its_value_levels_and_why_not() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let text = output(place.knobstat_on(&machine).arg("knobs"))
        .must_exit(0)
        .stdout();
    for name in [
        "clocksource",
        "governor",
        "turbo",
        "cstate",
        "smt",
        "thp",
        "aslr",
    ] {
        assert!(text.contains(name), "{name} is missing in\n{text}");
    }
    let json = output(place.knobstat_on(&machine).args(["knobs", "--json"]))
        .must_exit(0)
        .json();
    let clock_source = json
        .as_array()
        .expect("knobs")
        .iter()
        .find(|knob| knob["name"] == "clocksource")
        .expect("clocksource");
    assert_eq!(clock_source["value"], "tsc");
    assert!(
        clock_source["levels"]
            .as_array()
            .is_some_and(|levels| levels.len() >= 3)
    );
    let one = output(place.knobstat_on(&machine).args(["knobs", "clocksource"]))
        .must_exit(0)
        .stdout();
    assert!(one.contains("current_clocksource"), "{one}");
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_knob_whose_name_says_where_it_is_is_shown_as_well() {
    let (place, machine) = (Place::new(), Machine::desktop());
    for (name, shown) in [
        ("sysctl:vm.swappiness", "60"),
        ("sysfs:/sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        ("cmdline:no_such_word", "absent"),
        (
            "irq:4000",
            "/proc/irq/4000/smp_affinity does not exist here",
        ),
    ] {
        let one = output(place.knobstat_on(&machine).args(["knobs", name]))
            .must_exit(0)
            .stdout();
        assert!(one.contains(shown) && one.contains(name), "{one}");
    }
}

#[test]
fn an_unknown_knob_is_named_with_the_nearest() {
    let place = Place::new();
    let ended = output(place.knobstat().args(["knobs", "clocksorce"])).must_exit(2);
    assert!(ended.stderr().contains("clocksource"), "{}", ended.stderr());
    let ended = output(place.knobstat().args(["knobs", "sysfs:../etc"])).must_exit(2);
    assert!(ended.stderr().contains("sysctl:NAME"), "{}", ended.stderr());
}

#[test]
fn the_doctor_finds_and_advises_on_a_laid_out_machine_and_on_this_one() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let findings = output(place.knobstat_on(&machine).args(["doctor", "--json"]))
        .must_exit(0)
        .json();
    let governor = findings
        .as_array()
        .expect("findings")
        .iter()
        .find(|finding| finding["topic"] == "governor")
        .expect("governor");
    assert_eq!(governor["grade"], "notice");
    assert!(
        governor["evidence"]
            .as_str()
            .is_some_and(|text| text.contains("powersave"))
    );
    let here = output(place.knobstat().arg("doctor")).must_exit(0).stdout();
    assert!(here.contains("clock source"), "{here}");
}

#[test]
fn restore_with_nothing_to_do_says_so() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let ended = output(place.knobstat_on(&machine).arg("restore")).must_exit(0);
    assert!(ended.stdout().contains("othing"), "{}", ended.stdout());
}

#[test]
fn an_experiment_that_does_not_exist_is_said_so() {
    let place = Place::new();
    for command in ["show", "report", "export"] {
        let ended = output(place.knobstat().args([command, "ffffff"])).must_exit(2);
        assert!(ended.stderr().contains("ffffff"), "{}", ended.stderr());
    }
    assert_eq!(
        output(place.knobstat().args(["list", "--json"]))
            .must_exit(0)
            .json(),
        serde_json::json!([])
    );
}

#[test]
fn the_manual_of_the_knobs_names_every_knob() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let manual = output(place.knobstat().args(["manual", "knobs"]))
        .must_exit(0)
        .stdout();
    let knobs = output(place.knobstat_on(&machine).args(["knobs", "--json"]))
        .must_exit(0)
        .json();
    let knobs = knobs.as_array().expect("knobs");
    assert!(knobs.len() > 70, "{}", knobs.len());
    for knob in knobs {
        let name = knob["name"].as_str().unwrap().replace('-', "\\-");
        assert!(manual.contains(&format!("\\fB{name}\\fR")), "{name}");
    }
    assert!(manual.contains("KNOBS OF FREEBSD"), "{manual}");
}

#[test]
fn help_manual_and_completions_name_every_command() {
    let place = Place::new();
    let help = output(place.knobstat().arg("--help")).must_exit(0).stdout();
    let manual = output(place.knobstat().arg("manual")).must_exit(0).stdout();
    let completions = output(place.knobstat().args(["completions", "bash"]))
        .must_exit(0)
        .stdout();
    for command in [
        "run", "try", "list", "show", "report", "export", "import", "knobs", "doctor", "restore",
        "resume", "compare", "ministat",
    ] {
        for text in [&help, &manual, &completions] {
            assert!(text.contains(command), "{command}");
        }
        if command != "ministat" {
            let own = output(place.knobstat().args([command, "--help"]))
                .must_exit(0)
                .stdout();
            assert!(own.contains("Usage"), "{own}");
            let page = output(place.knobstat().args(["manual", command]))
                .must_exit(0)
                .stdout();
            assert!(page.contains(".TH"), "{page}");
        }
    }
}

#[test]
fn commands_of_two_words_have_a_page_each() {
    let place = Place::new();
    for words in [
        ["udp", "send"],
        ["udp", "recv"],
        ["vm", "prepare"],
        ["vm", "shell"],
    ] {
        let page = output(place.knobstat().arg("manual").args(words))
            .must_exit(0)
            .stdout();
        let title = format!(".TH knobstat-{} 1", words.join("-"));
        assert!(page.contains(&title), "{page}");
        assert!(page.contains("knobstat 0."), "{page}");
    }
    let unknown = output(place.knobstat().args(["manual", "udp", "fly"])).must_exit(2);
    assert!(
        unknown.stderr().contains("\"udp fly\""),
        "{}",
        unknown.stderr()
    );
    let ministat = output(place.knobstat().args(["help", "ministat"])).must_exit(0);
    assert!(
        ministat.stdout().contains("--compat"),
        "{}",
        ministat.stdout()
    );
}

/// Without an experiment, the one begun last is meant.
#[test]
fn the_experiment_begun_last_needs_no_name() {
    let (place, machine) = (Place::new(), Machine::desktop());
    for command in ["report", "show", "export"] {
        let ended = output(place.knobstat().arg(command)).must_exit(2);
        assert!(
            ended.stderr().contains("there is no experiment"),
            "{}",
            ended.stderr()
        );
    }
    for name in ["the first", "the last"] {
        let made = [
            "try", "-k", "a=1,2", "-n", "2", "--quiet", "--name", name, "--",
        ];
        output(place.knobstat_on(&machine).args(made).args(["true", "{a}"])).must_exit(0);
    }
    for command in ["report", "show", "export"] {
        let text = output(place.knobstat().arg(command)).must_exit(0).stdout();
        assert!(
            text.contains("the last") && !text.contains("the first"),
            "{text}"
        );
    }
}

#[test]
fn called_as_ministat_it_is_ministat() {
    let place = Place::new();
    let link = place.path().join("ministat");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_knobstat"), &link).unwrap();
    let one = place.file("one", "1\n2\n3\n");
    let linked = output(std::process::Command::new(link).arg("-n").arg(&one)).must_exit(0);
    let named = output(place.knobstat().args(["ministat", "-n"]).arg(&one)).must_exit(0);
    assert_eq!(linked.stdout(), named.stdout());
    assert!(linked.stdout().contains("Stddev"), "{}", linked.stdout());
}

#[test]
fn wrong_arguments_exit_with_two() {
    let place = Place::new();
    output(place.knobstat().arg("frobnicate")).must_exit(2);
    output(place.knobstat().args(["try", "-n", "3", "--", "true"])).must_exit(2);
    output(
        place
            .knobstat()
            .args(["--root", "/no/such/directory", "knobs"]),
    )
    .must_exit(2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut child = place
        .knobstat()
        .arg("manual")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

#[test]
fn an_empty_variable_for_the_store_is_as_good_as_none() {
    let place = Place::new();
    let ended = output(
        place
            .knobstat()
            .env("KNOBSTAT_STORE", "")
            .args(["list", "--json"]),
    );
    assert_eq!(ended.must_exit(0).json(), serde_json::json!([]));
}

#[test]
fn without_a_command_there_is_the_help_and_nothing_that_is_hidden() {
    let ended = output(&mut Place::new().knobstat()).must_exit(2);
    let said = ended.stderr();
    assert!(said.contains("Usage: knobstat"), "{said}");
    for hidden in ["agent", "guardian", "workload"] {
        let listed = said
            .lines()
            .any(|line| line.split_whitespace().next() == Some(hidden));
        assert!(!listed, "{hidden} is listed in\n{said}");
    }
    assert!(!said.contains("subcommands:"), "{said}");
}

#[test]
fn colour_is_for_a_terminal_that_wants_it() {
    let place = Place::new();
    let file = place.file("wrong.toml", "name = 1\n");
    let coloured = |command: &mut Command| {
        let ended = output(command);
        let said = format!("{}{}", ended.stdout(), ended.stderr());
        assert!(said.contains("name"), "{said}");
        said.contains('\u{1b}')
    };
    for (variables, wanted) in [
        ("TERM=xterm", true),
        ("TERM=dumb", false),
        ("TERM=xterm NO_COLOR=1", false),
    ] {
        let mut terminal = Command::new("script");
        terminal.arg("-qec").arg(format!(
            "env -u NO_COLOR {variables} {} run {}",
            env!("CARGO_BIN_EXE_knobstat"),
            file.display()
        ));
        assert_eq!(
            coloured(terminal.arg("/dev/null").stdin(Stdio::null())),
            wanted,
            "{variables}"
        );
    }
    let mut pipe = place.knobstat();
    pipe.env_remove("NO_COLOR").args(["run"]).arg(&file);
    assert!(!coloured(&mut pipe), "a pipe");
}
