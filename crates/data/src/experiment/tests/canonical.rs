//! The same meaning, the same canonical text; another meaning, another.

use super::right;

const FILE: &str = r#"
name = "canonical"
[workload]
kind = "command"
command = "make -j2"
timeout = "2m"
environment = { A = "1", B = "2" }
[factors]
turbo = ["on", "off"]
cstate = ["C1", "C3"]
[fixed]
governor = "performance"
clocksource = "tsc"
[analysis]
baseline = { turbo = "on", cstate = "C1" }
"#;

#[test]
fn the_canonical_text_is_known() {
    insta::assert_snapshot!(right(FILE).canonical());
}

#[test]
fn what_means_the_same_has_the_same_text() {
    let original = right(FILE).canonical();
    for (what, other) in [
        ("a comment", format!("# hello\n{FILE}# bye\n")),
        ("line ends", FILE.replace('\n', "\r\n")),
        ("a duration", FILE.replace("\"2m\"", "\"120s\"")),
        ("quotes", FILE.replace("\"make -j2\"", "'make   -j2'")),
        (
            "a list of words",
            FILE.replace("\"make -j2\"", "[\"make\", \"-j2\"]"),
        ),
        (
            "the order of keys",
            FILE.replace(
                "command = \"make -j2\"\ntimeout = \"2m\"",
                "timeout = \"2m\"\ncommand = \"make -j2\"",
            ),
        ),
        (
            "the order in [fixed]",
            FILE.replace(
                "governor = \"performance\"\nclocksource = \"tsc\"",
                "clocksource = \"tsc\"\ngovernor = \"performance\"",
            ),
        ),
        (
            "the order in a treatment",
            FILE.replace(
                "turbo = \"on\", cstate = \"C1\"",
                "cstate = \"C1\", turbo = \"on\"",
            ),
        ),
        (
            "a default left out",
            FILE.replace(
                "[analysis]\nbaseline = { turbo = \"on\", cstate = \"C1\" }\n",
                "",
            ),
        ),
        (
            "defaults written out",
            format!(
                "{FILE}metric = 'wall'\nbetter = 'lower'\nconfidence = 95.0\ncorrection = 'holm'\n\
                 trust_self_timed = false\n[design]\nreplicates = 6\norder = 'randomized-blocks'\n\
                 exclude = []\nunavailable = 'skip'\nmax_repeats = 3\non_failure = 'continue'\n\
                 [target]\nkind = 'local'\n"
            ),
        ),
    ] {
        assert_eq!(right(&other).canonical(), original, "{what}");
    }
}

#[test]
fn what_means_something_else_has_another_text() {
    let mut texts = vec![right(FILE).canonical()];
    for other in [
        FILE.replace("canonical", "another name"),
        FILE.replace("make -j2", "make -j3"),
        FILE.replace("make -j2", "make '-j2 '"),
        FILE.replace("\"2m\"", "\"3m\""),
        FILE.replace("[\"on\", \"off\"]", "[\"off\", \"on\"]"),
        FILE.replace(
            "turbo = [\"on\", \"off\"]\ncstate = [\"C1\", \"C3\"]",
            "cstate = [\"C1\", \"C3\"]\nturbo = [\"on\", \"off\"]",
        ),
        FILE.replace("performance", "powersave"),
        FILE.replace("B = \"2\"", "B = \"3\""),
        FILE.replace(", cstate = \"C1\" }", " }"),
        format!("{FILE}confidence = 99\n"),
        format!("{FILE}[target]\nkind = 'model'\nmachine = 'a.toml'\n"),
        format!("{FILE}[target]\nkind = 'model'\nmachine = 'b.toml'\n"),
        format!("{FILE}margin = '1%'\n"),
        format!("{FILE}better = 'higher'\n"),
        format!("{FILE}[design]\nseed = 1\n"),
        format!("{FILE}[design]\nsettle = '0s'\n"),
        format!("{FILE}[design]\nreplicates = 7\n"),
        format!("{FILE}[design]\ncool_below = '60C'\n"),
        format!("{FILE}[design]\nexclude = [{{ turbo = 'off', cstate = 'C1' }}]\n"),
        FILE.replace("timeout", "metrics.m = { json = '/a' }\ntimeout"),
        FILE.replace("timeout", "metrics.m = { json = '/b' }\ntimeout"),
        FILE.replace(
            "timeout",
            "metrics.m = { json = '/a', unit = 'ms' }\ntimeout",
        ),
        FILE.replace(
            "timeout",
            "metrics.m = { json = '/a', self_timed = false }\ntimeout",
        ),
        format!("description = 'x'\n{FILE}"),
        format!("tags = ['x']\n{FILE}"),
    ] {
        texts.push(right(&other).canonical());
    }
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count);
}
