//! Experiments on simulated machines, through the program: both posts, labelled as what they are,
//! and rehearsals.

use serde_json::Value;

use crate::support::program::{Place, output};

const CORE_I7_870: &str = "crates/model/machines/core-i7-870.toml";
const OPTERON_TG3: &str = "crates/model/machines/opteron-tg3.toml";

/// The report of an example as JSON.
fn report(place: &Place, example: &str) -> Value {
    output(
        place
            .knobstat()
            .args(["run", "--new", "--json", "--quiet"])
            .arg(format!("examples/{example}")),
    )
    .must_exit(0)
    .json()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn the_experiment_of_2010_finds_the_interaction_and_says_why() {
    let place = Place::new();
    let report = report(&place, "turboboost-model.toml");
    let comparisons = list(&report, "comparisons");
    assert_eq!(comparisons.len(), 5);
    for comparison in comparisons {
        assert_eq!(comparison["verdict"], "different");
        let cause = comparison["cause"].as_str().expect("a cause");
        assert!(cause.contains("idle cores are awake for"), "{cause}");
        assert!(cause.contains("GHz on average"), "{cause}");
    }
    let percent = |index: usize| comparisons[index]["percent"].as_f64().expect("a share");
    // C1 off, C2 on, C2 off, C3 on, C3 off: the post's -0.97, -3.49, -10.66, -4.22 and -10.36.
    for (index, post) in [-0.97, -3.49, -10.66, -4.22, -10.36]
        .into_iter()
        .enumerate()
    {
        assert!(
            (percent(index) - post).abs() < 1.0,
            "{index}: {}",
            percent(index)
        );
    }
    let interaction = list(&report, "effects")
        .iter()
        .find(|effect| effect["kind"] == "interaction")
        .expect("an interaction");
    assert_eq!(interaction["found"], true);
}

#[test]
fn a_simulated_machine_is_called_one_everywhere() {
    let place = Place::new();
    let report = report(&place, "turboboost-model.toml");
    let virtualization = report["machine"]["virtualization"]
        .as_str()
        .expect("a word");
    assert!(
        virtualization.starts_with("simulated: "),
        "{virtualization}"
    );
    let kinds: Vec<&str> = list(&report, "caveats")
        .iter()
        .filter_map(|caveat| caveat["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"simulated-machine"), "{kinds:?}");
    assert!(!kinds.contains(&"virtual-machine"), "{kinds:?}");
    let text = output(
        place
            .knobstat()
            .args(["report", "TurboBoost in practice, simulated"]),
    )
    .must_exit(0);
    assert!(text.stdout().contains("simulated"), "{}", text.stdout());
}

#[test]
fn the_experiment_of_2007_shows_the_line_rate_and_the_ticks() {
    let place = Place::new();
    let report = report(&place, "clock-sources-model.toml");
    let treatments = list(&report, "treatments");
    assert_eq!(treatments.len(), 32);
    let throughput = |hz: u64, clock: &str, size: u64| {
        let levels = |treatment: &&Value| {
            let levels = &treatment["levels"];
            levels["hz"] == hz && levels["clocksource"] == clock && levels["packet_size"] == size
        };
        &treatments.iter().find(levels).expect("a treatment")["metrics"]["throughput"]
    };
    let jiffies = throughput(250, "jiffies", 1280)["mean"]
        .as_f64()
        .expect("a mean");
    assert!((jiffies - 684.0).abs() < 2.0, "{jiffies}");
    let at_line_rate = throughput(1000, "tsc", 1280);
    assert_eq!(at_line_rate["limited_by"], "link");
    // The clock source of the baseline does not matter for who timed the runs.
    let kinds: Vec<&Value> = list(&report, "caveats")
        .iter()
        .map(|one| &one["kind"])
        .collect();
    assert!(
        !kinds.iter().any(|kind| **kind == "stopwatch-under-test"),
        "{kinds:?}"
    );
    let ticking = list(&report, "comparisons")
        .iter()
        .find(|one| {
            one["levels"]["clocksource"] == "jiffies" && one["levels"]["packet_size"] == 512
        })
        .expect("a comparison");
    let cause = ticking["cause"].as_str().expect("a cause");
    assert!(cause.contains("stands still between ticks"), "{cause}");
    // At 128 bytes a datagram takes longer than the microsecond that the loop gives it: it may
    // have waited once at the beginning, and is not paced.
    let unpaced = list(&report, "comparisons")
        .iter()
        .find(|one| one["levels"]["clocksource"] == "hpet" && one["levels"]["packet_size"] == 128)
        .expect("a comparison");
    let cause = unpaced["cause"].as_str().expect("a cause");
    assert!(!cause.contains("paced one by one"), "{cause}");
    assert!(cause.contains("most packets take longer"), "{cause}");
}

#[test]
fn a_plan_says_that_the_time_is_simulated() {
    let place = Place::new();
    let plan = |example: &str| {
        output(
            place
                .knobstat()
                .args(["run", "--check"])
                .arg(format!("examples/{example}")),
        )
        .must_exit(0)
        .stdout()
    };
    assert!(plan("clock-sources-model.toml").contains("of simulated time"));
    assert!(plan("turboboost-model.toml").contains("the first run will tell"));
}

/// Two carryings out of one request are two experiments with the same numbers.
#[test]
fn the_same_file_gives_the_same_numbers() {
    let place = Place::new();
    let values = || -> Vec<Value> {
        list(&report(&place, "turboboost-model.toml"), "treatments")
            .iter()
            .map(|treatment| treatment["metrics"]["wall"]["values"].clone())
            .collect()
    };
    assert_eq!(values(), values());
}

#[test]
fn a_rehearsal_says_how_long_and_what_can_be_seen_and_keeps_nothing() {
    let place = Place::new();
    let rehearse = |example: &str, machine: &str, arguments: &[&str]| {
        output(
            place
                .knobstat()
                .arg("run")
                .arg(format!("examples/{example}"))
                .args(["--rehearse", machine])
                .args(arguments),
        )
    };
    let found = rehearse("turboboost.toml", CORE_I7_870, &["--json"])
        .must_exit(0)
        .json();
    assert_eq!(found["schema"], "knobstat.rehearsal/1");
    assert_eq!(found["runs"], 96);
    let seconds = found["seconds"].as_f64().expect("seconds");
    // 96 runs, half of them warm-ups, of 10.8 to 12 seconds.
    assert!((96.0 * 10.5..96.0 * 12.5).contains(&seconds), "{seconds}");
    for comparison in list(&found, "comparisons") {
        assert_eq!(comparison["expectation"], "should be seen");
        let smallest = comparison["smallest_percent"].as_f64().expect("a share");
        assert!((0.1..1.0).contains(&smallest), "{smallest}");
    }
    let text = rehearse("clock-sources.toml", OPTERON_TG3, &[])
        .must_exit(0)
        .stdout();
    assert!(
        text.contains("cannot be seen (both limited by the link)"),
        "{text}"
    );
    assert!(text.contains("against clocksource=tsc\n"), "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(120), "{text}");
    let unknown = rehearse("timer-latency.toml", CORE_I7_870, &[]).must_exit(2);
    assert!(
        unknown
            .stderr()
            .contains("kind=timer (a model cannot run the workload timer)"),
        "{}",
        unknown.stderr()
    );
    let refused = rehearse("turboboost.toml", OPTERON_TG3, &[]).must_exit(2);
    assert!(refused.stderr().contains("[job]"), "{}", refused.stderr());
    let listed = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert_eq!(listed.as_array().map(Vec::len), Some(0), "{listed}");
}

#[test]
fn what_is_no_machine_file_is_refused_with_its_place() {
    let place = Place::new();
    let experiment = std::fs::read_to_string("examples/turboboost-model.toml")
        .expect("an example")
        .replace("../crates/model/machines/core-i7-870.toml", "machine.toml");
    let file = place.file("experiment.toml", &experiment);
    let run = || {
        output(place.knobstat().arg("run").arg(&file))
            .must_exit(2)
            .stderr()
    };
    assert!(run().contains("machine.toml cannot be read"));
    place.file("machine.toml", "name = \"half a machine\"\nseed = 1\n");
    assert!(run().contains("missing field"));
    let whole = std::fs::read_to_string(CORE_I7_870).expect("a machine file");
    place.file("machine.toml", &whole.replace("\"18us\"", "\"18 parsec\""));
    let message = run();
    assert!(
        message.contains("18 parsec") && message.contains("line"),
        "{message}"
    );
    place.file(
        "machine.toml",
        &whole.replace("cpu = { value = 0", "cpu = { value = 80"),
    );
    assert!(run().contains("job.cpu"));
}
