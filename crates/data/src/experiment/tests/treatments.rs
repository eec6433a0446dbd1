//! The parameters of a treatment, and the programs that it starts.

use super::right;
use crate::experiment::ParametersError;
use crate::messages::PlannedStart;
use crate::plan::full_factorial;
use crate::words::{Bytes, Setting, Treatment, Value};

fn words(words: &[&str]) -> Value {
    Value::List(
        words
            .iter()
            .map(|word| Value::Text((*word).to_owned()))
            .collect(),
    )
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn levels_go_where_they_belong() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'udp'\n[factors]\nclocksource = ['tsc', 'hpet']\n\
         packet_size = [64, '4KiB']\nmethod = ['send', 'gso']\n",
    );
    let treatment = Treatment::new([
        Setting::new("clocksource", "hpet"),
        Setting::new("packet_size", "4KiB"),
        Setting::new("method", "gso"),
    ]);
    let parameters = experiment.parameters_for(&treatment).unwrap();
    assert_eq!(parameters["packet_size"], Value::Size(Bytes(4096)));
    assert_eq!(parameters["method"], text("gso"));
    assert_eq!(parameters["pacer"], text("schedule"));
    assert!(!parameters.contains_key("clocksource"));
    assert_eq!(
        experiment.knob_settings(&treatment),
        [Setting::new("clocksource", "hpet")]
    );
}

#[test]
fn placeholders_are_filled_everywhere_and_words_stay_words() {
    let experiment = right(include_str!("full.toml"));
    let treatment = Treatment::new([
        Setting::new("turbo", "off"),
        Setting::new("threads", 4),
        Setting::new("fan", "high"),
        Setting::new("sysctl:vm.swappiness", 10),
    ]);
    let parameters = experiment.parameters_for(&treatment).unwrap();
    assert_eq!(
        parameters["command"],
        words(&["sort", "--parallel=4", "-S", "{4M}", "in put"])
    );
    assert_eq!(parameters["prepare"], words(&["cp", "-r", "high", "work"]));
    assert_eq!(parameters["working_directory"], text("/tmp/4"));
    assert_eq!(parameters["input"], text("file:in-4"));
    let Value::Table(environment) = &parameters["environment"] else {
        panic!("the environment is a table");
    };
    assert_eq!(environment["THREADS"], text("4"));
    // A regular expression has braces of its own.
    let Value::Table(metrics) = &parameters["metrics"] else {
        panic!("the metrics are a table");
    };
    let Value::Table(rate) = &metrics["rate"] else {
        panic!("a metric is a table");
    };
    assert_eq!(rate["regex"], text("([0-9.]{1,9}) Mbit/s"));
    let settings: Vec<String> = experiment
        .knob_settings(&treatment)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        settings,
        [
            "governor=performance",
            "cmdline:nohz=off",
            "turbo=off",
            "fan=high",
            "sysctl:vm.swappiness=10"
        ]
    );
}

#[test]
fn a_level_with_spaces_stays_in_its_word() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'command'\ncommand = 'echo {what}'\n\
         [factors]\nwhat = ['a b', \"c 'd'; rm -r /\", '{braces}']\n",
    );
    let commands: Vec<Value> = full_factorial(&experiment.factors)
        .iter()
        .map(|treatment| experiment.parameters_for(treatment).unwrap()["command"].clone())
        .collect();
    assert_eq!(
        commands,
        [
            words(&["echo", "a b"]),
            words(&["echo", "c 'd'; rm -r /"]),
            words(&["echo", "{braces}"])
        ]
    );
}

#[test]
fn a_command_may_vary_and_hold_other_factors() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'command'\n\
         [factors]\ncommand = ['gzip -{level} f', 'xz -{level} f']\nlevel = [1, 9]\n",
    );
    let treatments = full_factorial(&experiment.factors);
    let last = experiment.parameters_for(&treatments[3]).unwrap();
    assert_eq!(last["command"], words(&["xz", "-9", "f"]));
    let names: Vec<String> = experiment
        .starts(&treatments)
        .unwrap()
        .into_iter()
        .map(|start| start.program)
        .collect();
    assert_eq!(names, ["gzip", "xz"]);
}

#[test]
fn starts_say_what_they_need() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'command'\ncommand = './run'\nprepare = 'cp a b'\n\
         cleanup = 'cp b a'\nworking_directory = '/srv/{copy}'\nenvironment = { PATH = '/opt' }\n\
         cpus = '0-1'\nuser = 'nobody'\ninput = 'file:in'\noutput = 'file:out'\n\
         [factors]\ncopy = ['a', 'b']\n",
    );
    let step = |directory: &str, follows_steps: bool| PlannedStart {
        program: "cp".to_owned(),
        working_directory: Some(directory.to_owned()),
        path: Some("/opt".to_owned()),
        user: Some("nobody".to_owned()),
        cpus: None,
        input: None,
        output: None,
        follows_steps,
    };
    let measured = |directory: &str| PlannedStart {
        program: "./run".to_owned(),
        cpus: Some("0-1".parse().unwrap()),
        input: Some("in".to_owned()),
        output: Some("out".to_owned()),
        ..step(directory, true)
    };
    let treatments = full_factorial(&experiment.factors);
    let of = |directory| {
        [
            measured(directory),
            step(directory, false),
            step(directory, true),
        ]
    };
    assert_eq!(
        experiment.starts(&treatments).unwrap(),
        [of("/srv/a"), of("/srv/b")].concat()
    );
}

#[test]
fn under_a_shell_the_program_is_the_shell_and_the_text_is_whole() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'command'\nshell = true\n\
         command = \"a <{n} | awk '{{print $1}}'\"\nprepare = ['echo \"$1\"', '{n}']\n\
         [factors]\nn = [1, 2]\n",
    );
    let treatments = full_factorial(&experiment.factors);
    let parameters = experiment.parameters_for(&treatments[1]).unwrap();
    assert_eq!(parameters["command"], text("a <2 | awk '{print $1}'"));
    assert_eq!(parameters["prepare"], words(&["echo \"$1\"", "2"]));
    let starts = experiment.starts(&treatments).unwrap();
    assert!(starts.iter().all(|start| start.program == "sh"));
    assert_eq!(starts.len(), 2, "{starts:?}");
}

#[test]
fn a_treatment_of_another_experiment_is_an_error() {
    let experiment =
        right("name = 'x'\n[workload]\nkind = 'udp'\n[factors]\npacket_size = [64, 128]\n");
    assert_eq!(
        experiment.parameters_for(&Treatment::default()),
        Err(ParametersError::NoLevel {
            factor: "packet_size".to_owned(),
            treatment: String::new()
        })
    );
    let unknown = Treatment::new([Setting::new("packet_size", 65)]);
    assert!(matches!(
        experiment.parameters_for(&unknown),
        Err(ParametersError::UnknownLevel { .. })
    ));
}
