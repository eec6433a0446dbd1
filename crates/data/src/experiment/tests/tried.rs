//! Experiments without a file.

use super::{right, vocabulary::vocabulary};
use crate::experiment::{Experiment, TryError, TryRequest};
use crate::words::Level;

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn request(factors: &[&str], command: &[&str]) -> TryRequest {
    TryRequest {
        factors: strings(factors),
        command: strings(command),
        ..TryRequest::default()
    }
}

#[test]
fn a_request_is_the_file_that_says_the_same() {
    let request = TryRequest {
        replicates: Some(8),
        seed: Some(3),
        ..request(
            &["turbo=on,off", "cstate=C1,C3"],
            &["make", "-s", "a \"b\""],
        )
    };
    let (experiment, source) = Experiment::from_try(&request, &vocabulary()).unwrap();
    assert_eq!(
        source,
        "name = \"make -s 'a \\\"b\\\"'\"\n\n\
         [workload]\nkind = \"command\"\ncommand = [\"make\", \"-s\", \"a \\\"b\\\"\"]\n\n\
         [factors]\nturbo = [\"on\", \"off\"]\ncstate = [\"C1\", \"C3\"]\n\n\
         [design]\nreplicates = 8\nseed = 3\n"
    );
    assert_eq!(experiment, right(&source));
    assert_eq!(experiment.design.replicates, 8);
    assert_eq!(experiment.design.seed, Some(3));
}

#[test]
fn everything_that_a_request_may_say_is_in_the_file() {
    let request = TryRequest {
        name: Some("sorting".to_owned()),
        cpus: Some("1".to_owned()),
        shell: true,
        warmup_runs: Some(2),
        setup: Some("make".to_owned()),
        prepare: Some("sync; sleep 1".to_owned()),
        cleanup: Some("rm -f out".to_owned()),
        teardown: Some("make clean".to_owned()),
        timeout: Some("10s".to_owned()),
        allowed_exit: vec![0, 1],
        margin: Some("1%".to_owned()),
        ..request(&["how=sort -u,sort | uniq"], &["{how}", "<words"])
    };
    let (experiment, source) = Experiment::from_try(&request, &vocabulary()).unwrap();
    assert_eq!(
        source,
        "name = \"sorting\"\n\n\
         [workload]\nkind = \"command\"\ncommand = \"{how} <words\"\nshell = true\n\
         warmup_runs = 2\nsetup = \"make\"\nprepare = \"sync; sleep 1\"\n\
         cleanup = \"rm -f out\"\nteardown = \"make clean\"\ncpus = \"1\"\n\
         timeout = \"10s\"\nallowed_exit = [0, 1]\n\n\
         [factors]\nhow = [\"sort -u\", \"sort | uniq\"]\n\n\
         [analysis]\nmargin = \"1%\"\n"
    );
    assert_eq!(experiment, right(&source));
}

#[test]
fn a_name_made_of_a_command_can_be_given_to_a_shell() {
    let name = |command: &[&str]| {
        let request = request(&["turbo=on,off"], command);
        Experiment::from_try(&request, &vocabulary())
            .unwrap()
            .0
            .name
    };
    assert_eq!(
        name(&["sh", "-c", "head -c 1k /dev/zero | gzip", "it's", ""]),
        r"sh -c 'head -c 1k /dev/zero | gzip' 'it'\''s' ''"
    );
    assert_eq!(name(&["make", "-j2", "CC=clang"]), "make -j2 CC=clang");
}

#[test]
fn levels_are_numbers_where_they_read_back_as_written() {
    let request = request(
        &[
            r"n=64,064,0.5,1e3,true,a b,1\,2",
            "sysctl:vm.swappiness=10,60",
        ],
        &["echo", "{n}"],
    );
    let (experiment, _) = Experiment::from_try(&request, &vocabulary()).unwrap();
    let kinds: Vec<String> = experiment.factors[0]
        .levels
        .iter()
        .map(|level| format!("{level:?}"))
        .collect();
    let expected = [
        Level::Integer(64),
        Level::text("064"),
        Level::Number(0.5),
        Level::text("1e3"),
        Level::Boolean(true),
        Level::text("a b"),
        Level::text("1,2"),
    ];
    assert_eq!(kinds, expected.map(|level| format!("{level:?}")));
    assert_eq!(experiment.factors[1].name, "sysctl:vm.swappiness");
}

#[test]
fn what_is_wrong_with_a_request_is_said() {
    let error = |factors: &[&str], command: &[&str]| {
        Experiment::from_try(&request(factors, command), &vocabulary())
            .unwrap_err()
            .to_string()
    };
    assert!(error(&["turbo"], &["x"]).contains("has no `=`"));
    assert!(error(&["=on"], &["x"]).contains("has no name"));
    assert!(error(&["turbo=on,,off"], &["x"]).contains("empty level"));
    assert!(error(&["turbo=on,off", "turbo=on"], &["x"]).contains("given twice"));
    assert!(error(&["trubo=on,off"], &["x"]).contains("did you mean `turbo`?"));
    assert!(error(&["turbo=on"], &["x"]).contains("does not vary"));
    assert!(error(&[], &["x"]).contains("has no factor"));
    assert!(error(&["turbo=on,off"], &[]).contains("`command` is empty"));
    assert!(error(&["turbo=on,off"], &["awk", "{print $1}"]).contains("not a template"));
    assert!(matches!(
        Experiment::from_try(&request(&["x=1,2"], &["true"]), &vocabulary()),
        Err(TryError::Experiment(_))
    ));
}

#[test]
fn a_long_command_has_a_short_name() {
    let long = "word ".repeat(40);
    let (experiment, _) = Experiment::from_try(
        &request(&["turbo=on,off"], &["echo", &long, "a\nb"]),
        &vocabulary(),
    )
    .unwrap();
    assert_eq!(experiment.name.chars().count(), 60);
    assert!(experiment.name.ends_with('…'));
}
