use std::collections::BTreeMap;
use std::time::Duration;

use knobstat_data::Value;
use knobstat_data::observation::Failure;
use knobstat_data::words::{Bytes, ExperimentId, RequestId, RunId};

use super::*;

const CORE_I7_870: &str = include_str!("../../machines/core-i7-870.toml");
const OPTERON_TG3: &str = include_str!("../../machines/opteron-tg3.toml");

fn simulator(source: &str, change: impl Fn(&mut MachineFile)) -> Rc<RefCell<Simulator>> {
    let mut machine = MachineFile::parse(source, "a machine").unwrap();
    if let Some(job) = &mut machine.job {
        job.work.value.0 = 1e8;
    }
    change(&mut machine);
    Rc::new(RefCell::new(Simulator::new(machine, source)))
}

fn experiment() -> ExperimentId {
    ExperimentId::of(&RequestId::of("a", "b"), [0; 16])
}

fn begun(simulator: &Rc<RefCell<Simulator>>, boot: &[Setting]) -> Session {
    let mut session = Session::boot(Rc::clone(simulator), boot).unwrap();
    let begin = Request::Begin(Begin {
        experiment: experiment(),
        overwrite_others: false,
    });
    assert!(matches!(session.answer(begin), Reply::Begun { .. }));
    session
}

fn spec(workload: &str, knobs: &[(&str, &str)]) -> RunSpec {
    RunSpec {
        run: RunId::of(&experiment(), 0, 0, 0, None),
        workload: workload.to_owned(),
        parameters: BTreeMap::from([(
            "duration".to_owned(),
            Value::Duration(Duration::from_millis(20)),
        )]),
        metrics: Vec::new(),
        knobs: knobs
            .iter()
            .map(|(knob, level)| Setting::new(*knob, *level))
            .collect(),
        settle: Duration::from_millis(200),
        knobs_changed: true,
        cool_below: None,
    }
}

fn run(session: &mut Session, spec: &RunSpec) -> RunResult {
    let reply = session.answer(Request::Apply(spec.knobs.clone()));
    assert!(matches!(reply, Reply::Applied { .. }), "{reply:?}");
    match session.answer(Request::Run(spec.clone())) {
        Reply::Ran(result) => *result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_simulated_machine_says_that_it_is_one() {
    let simulator = simulator(CORE_I7_870, |_| {});
    let mut session = Session::boot(simulator, &[]).unwrap();
    let wanted = [("cstate", "C3"), ("cstate", "C9"), ("thp", "always")];
    let describe = Request::Describe(Describe {
        own_knobs: Vec::new(),
        wanted: wanted
            .map(|(knob, level)| Setting::new(knob, level))
            .to_vec(),
        starts: Vec::new(),
        workload: knobstat_data::messages::WantedWorkload::default(),
        may_reboot: None,
    });
    let Reply::Described(description) = session.answer(describe) else {
        panic!("no description");
    };
    assert!(description.machine.simulated().is_some());
    let available: Vec<bool> = description
        .settings
        .iter()
        .map(|state| state.availability == Availability::Available)
        .collect();
    assert_eq!(available, [true, false, false]);
}

#[test]
fn the_same_requests_have_the_same_replies() {
    let play = || {
        let simulator = simulator(OPTERON_TG3, |_| {});
        let mut session = begun(&simulator, &[]);
        let spec = spec("udp", &[("clocksource", "acpi_pm")]);
        (0..3).map(|_| run(&mut session, &spec)).collect::<Vec<_>>()
    };
    let (one, other) = (play(), play());
    assert_eq!(one, other);
    assert_ne!(one[0], one[1], "runs have noise of their own");
}

#[test]
fn a_continued_experiment_does_not_repeat_its_noise() {
    let at_once = simulator(OPTERON_TG3, |_| {});
    let spec = spec("udp", &[("clocksource", "tsc")]);
    let mut session = begun(&at_once, &[]);
    let runs: Vec<RunResult> = (0..4).map(|_| run(&mut session, &spec)).collect();
    let later = simulator(OPTERON_TG3, |_| {});
    later.borrow_mut().skip(3);
    let mut session = begun(&later, &[]);
    assert_eq!(run(&mut session, &spec), runs[3]);
}

#[test]
fn nothing_runs_before_the_machine_is_taken() {
    let simulator = simulator(CORE_I7_870, |_| {});
    let mut session = Session::boot(simulator, &[]).unwrap();
    let refused = session.answer(Request::Run(spec("command", &[])));
    assert!(matches!(
        refused,
        Reply::Refused(Refusal {
            kind: RefusalKind::Protocol,
            ..
        })
    ));
}

#[test]
fn a_boot_has_its_settings_and_only_those_that_there_are() {
    let simulator = simulator(CORE_I7_870, |_| {});
    let mut session = begun(&simulator, &[Setting::new("idletick", "off")]);
    let result = run(&mut session, &spec("command", &[("cstate", "C3")]));
    assert_eq!(result.outcome, Outcome::Ok);
    let ticks: f64 = result
        .evidence
        .iter()
        .filter(|one| one.key == "interrupts.timer" && one.scope == "idle CPUs")
        .filter_map(|one| one.value.clone().ok())
        .sum();
    assert_eq!(ticks, 0.0);
    assert!(Session::boot(simulator, &[Setting::new("hz", 300)]).is_err());
}

#[test]
fn a_daemon_taints_every_run_that_it_acts_in() {
    let simulator = simulator(CORE_I7_870, |machine| {
        machine.disturbance.daemons.push(
            toml::from_str(
                r#"
                name = "thermald"
                knob = "turbo"
                value = "on"
                chance = { value = "50%", how = "assumed", source = "for this test" }
                "#,
            )
            .unwrap(),
        );
    });
    let mut session = begun(&simulator, &[]);
    let outcomes: Vec<Outcome> = (0..40)
        .map(|_| run(&mut session, &spec("command", &[("turbo", "off")])).outcome)
        .collect();
    let tainted = outcomes
        .iter()
        .filter(|outcome| match outcome {
            Outcome::Tainted(taints) => {
                assert_eq!(taints[0].knob, "turbo");
                assert_eq!(taints[0].cause.as_deref(), Some("thermald"));
                true
            }
            _ => false,
        })
        .count();
    assert!((10..=30).contains(&tainted), "{tainted}");
    let untouched = run(&mut session, &spec("command", &[("turbo", "on")]));
    assert_eq!(untouched.outcome, Outcome::Ok);
}

#[test]
fn a_clock_that_the_watchdog_gave_up_is_lost_until_the_next_boot() {
    let simulator = simulator(OPTERON_TG3, |machine| {
        machine.disturbance.watchdog = Some(
            toml::from_str(
                r#"
                clock = "tsc"
                replacement = "acpi_pm"
                chance = { value = "100%", how = "assumed", source = "for this test" }
                for_good = { value = true, how = "assumed", source = "for this test" }
                "#,
            )
            .unwrap(),
        );
    });
    let mut session = begun(&simulator, &[]);
    let tsc = spec("udp", &[("clocksource", "tsc")]);
    assert!(matches!(
        run(&mut session, &tsc).outcome,
        Outcome::Tainted(_)
    ));
    let refused = session.answer(Request::Apply(tsc.knobs.clone()));
    assert!(matches!(
        refused,
        Reply::Refused(Refusal {
            kind: RefusalKind::Setting,
            ..
        })
    ));
    let Reply::Restored(restoration) = session.answer(Request::Restore) else {
        panic!("not restored");
    };
    assert_eq!(restoration.left_alone.len(), 1);
    assert!(restoration.failed.is_empty());
}

#[test]
fn everything_that_was_turned_is_put_back() {
    let simulator = simulator(CORE_I7_870, |_| {});
    let mut session = begun(&simulator, &[]);
    let before = session.settings.clone();
    run(
        &mut session,
        &spec("command", &[("turbo", "off"), ("cstate", "C1")]),
    );
    assert_ne!(session.settings, before);
    let Reply::Restored(restoration) = session.answer(Request::Restore) else {
        panic!("not restored");
    };
    assert_eq!(session.settings, before);
    assert_eq!(restoration.put_back, ["cstate=C3", "turbo=on"]);
}

#[test]
fn what_a_model_cannot_run_fails_with_a_reason() {
    let simulator = simulator(CORE_I7_870, |machine| machine.job = None);
    let mut session = begun(&simulator, &[]);
    for workload in ["command", "udp", "timer"] {
        let outcome = run(&mut session, &spec(workload, &[])).outcome;
        let Outcome::Failed(Failure::Workload { reason }) = outcome else {
            panic!("{workload}: {outcome:?}");
        };
        assert!(!reason.is_empty());
    }
    let large = {
        let mut spec = spec("udp", &[]);
        let size = Value::Size(Bytes(9000));
        spec.parameters.insert("packet_size".to_owned(), size);
        spec
    };
    let opteron = self::simulator(OPTERON_TG3, |_| {});
    let mut session = begun(&opteron, &[]);
    assert!(matches!(
        run(&mut session, &large).outcome,
        Outcome::Failed(Failure::Workload { .. })
    ));
}

#[test]
fn a_model_lacks_a_schedule_that_gives_times_up() {
    let machine = MachineFile::parse(OPTERON_TG3, "a machine").unwrap();
    let lack = |truth| {
        let parameters = [("catch_up".to_owned(), Value::Boolean(truth))].into();
        crate::workloads::lacks(&machine, "udp", &parameters)
    };
    assert!(lack(true).is_none());
    assert_eq!(lack(false).map(|lack| lack.parameter), Some("catch_up"));
}
