//! Files that are right, and what they mean.

use std::time::Duration;

use super::right;
use crate::experiment::{Correction, Design, FactorKind, OnFailure, Order, Settle, Unavailable};
use crate::plan;
use crate::vocabulary::Scope;
use crate::words::{
    Better, BitRate, Celsius, ExperimentId, Priority, Ratio, RequestId, Setting, Treatment, Value,
};

#[test]
fn the_examples_are_right() {
    for (source, treatments) in [
        (
            include_str!("../../../../../examples/clock-sources.toml"),
            16,
        ),
        (include_str!("../../../../../examples/deep-sleep.toml"), 18),
        (include_str!("../../../../../examples/quickstart.toml"), 8),
        (include_str!("../../../../../examples/turboboost.toml"), 6),
        (include_str!("../../../../../examples/tx-batching.toml"), 24),
    ] {
        let experiment = right(source);
        let product: usize = experiment
            .factors
            .iter()
            .map(|factor| factor.levels.len())
            .product();
        assert_eq!(product, treatments, "{}", experiment.name);
    }
}

#[test]
fn a_short_file_has_the_documented_defaults() {
    let experiment = right(
        "name = 'short'\n\
         [workload]\nkind = 'command'\ncommand = 'true'\n\
         [factors]\nturbo = ['on', 'off']\n",
    );
    assert_eq!(experiment.design, Design::default());
    assert_eq!(experiment.design.replicates, 6);
    assert_eq!(experiment.design.order, Order::RandomizedBlocks);
    assert_eq!(experiment.design.settle, Settle::AfterChange);
    assert_eq!(experiment.design.unavailable, Unavailable::Skip);
    assert_eq!(experiment.design.max_repeats, 3);
    assert_eq!(experiment.design.on_failure, OnFailure::Continue);
    assert_eq!(experiment.workload.warmup_runs, 1);
    let analysis = &experiment.analysis;
    assert_eq!(analysis.metric.name, "wall");
    assert_eq!(analysis.confidence, Ratio(0.95));
    assert_eq!(analysis.baseline.to_string(), "turbo=on");
    assert!(!analysis.trust_self_timed);
    let parameters = &experiment.workload.parameters;
    assert_eq!(parameters["shell"], Value::Boolean(false));
    assert_eq!(
        parameters["allowed_exit"],
        Value::List(vec![Value::Integer(0)])
    );
    assert!(!parameters.contains_key("timeout"));
}

#[test]
fn every_key_says_what_it_should() {
    let experiment = right(include_str!("full.toml"));
    assert_eq!(
        experiment.description.as_deref(),
        Some("Two lines\nare allowed here.")
    );
    assert_eq!(experiment.tags, ["a", "b c"]);

    let workload = &experiment.workload;
    assert_eq!(workload.warmup_runs, 2);
    let parameters = &workload.parameters;
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(parameters["cpus"], Value::Cpus("0,2-5".parse().unwrap()));
    assert_eq!(parameters["priority"], Value::Priority(Priority::Nice(-5)));
    assert_eq!(
        parameters["timeout"],
        Value::Duration(Duration::from_secs(120))
    );
    assert_eq!(
        parameters["allowed_exit"],
        Value::List(vec![Value::Integer(0), Value::Integer(1)])
    );
    assert_eq!(parameters["user"], text("nobody"));
    let metric = |name: &str| workload.metrics.iter().find(|metric| metric.name == name);
    let jitter = metric("jitter").unwrap();
    assert_eq!(
        (jitter.unit.as_str(), jitter.better, jitter.self_timed),
        ("1", Better::Lower, true)
    );

    let kinds: Vec<(&str, FactorKind)> = experiment
        .factors
        .iter()
        .map(|factor| (factor.name.as_str(), factor.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("turbo", FactorKind::Knob(Scope::Runtime)),
            ("threads", FactorKind::Placeholder),
            ("fan", FactorKind::Knob(Scope::Runtime)),
            ("sysctl:vm.swappiness", FactorKind::Knob(Scope::Runtime)),
        ]
    );
    assert_eq!(experiment.scope("cmdline:nohz"), Some(Scope::Boot));
    assert_eq!(experiment.scope("governor"), Some(Scope::Runtime));
    assert_eq!(experiment.scope("threads"), None);
    let fan = &experiment.own_knobs[0];
    assert_eq!(fan.set, ["fan", "set", "{value}"]);
    assert_eq!(fan.restore, ["fan", "restore", "{value}"]);

    assert_eq!(
        experiment.design,
        Design {
            replicates: 8,
            stop: None,
            order: Order::AsWritten,
            seed: Some(2007),
            exclude: vec![
                Treatment::new([Setting::new("turbo", "on"), Setting::new("fan", "low")]),
                Treatment::new([Setting::new("threads", 4), Setting::new("fan", "low")]),
            ],
            settle: Settle::Always(Duration::ZERO),
            cool_below: Some(Celsius(60.0)),
            unavailable: Unavailable::Error,
            max_repeats: 0,
            on_failure: OnFailure::Stop,
        }
    );

    let analysis = &experiment.analysis;
    assert_eq!(analysis.metric.name, "rate");
    assert_eq!(analysis.metric.better, Better::Lower, "the file overrules");
    assert_eq!(metric("rate"), Some(&analysis.metric));
    assert_eq!(analysis.baseline.to_string(), "turbo=off threads=1");
    assert_eq!(analysis.confidence, Ratio(0.995));
    assert_eq!(analysis.margin, Some(Ratio(0.005)));
    assert_eq!(analysis.correction, Correction::BenjaminiHochberg);
    assert!(analysis.trust_self_timed);
}

#[test]
fn wall_and_cpu_are_metrics_of_every_workload() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'udp'\nrate = '50Mbit'\n\
         [factors]\npacket_size = [64, 128]\n[analysis]\nmetric = 'cpu'\n",
    );
    assert_eq!(experiment.analysis.metric.name, "cpu");
    assert_eq!(experiment.workload.metrics[0].name, "throughput");
    assert_eq!(
        experiment.workload.parameters["rate"],
        Value::BitRate(BitRate(5e7))
    );
    assert_eq!(experiment.workload.warmup_runs, 0);
}

#[test]
fn every_correction_and_a_stop_rule_can_be_asked_for() {
    for (word, correction) in [
        ("holm", Correction::Holm),
        ("dunnett", Correction::Dunnett),
        ("tukey", Correction::Tukey),
        ("benjamini-hochberg", Correction::BenjaminiHochberg),
        ("none", Correction::None),
    ] {
        let experiment = right(&format!(
            "name = 'x'\n[workload]\nkind = 'udp'\n[factors]\npacket_size = [64, 128]\n\
             [design]\nstop = {{ half_width = '1%', margin = '2%', max_replicates = 30 }}\n\
             [analysis]\ncorrection = '{word}'\n",
        ));
        assert_eq!(experiment.analysis.correction, correction);
        let stop = experiment.design.stop.unwrap();
        assert_eq!(
            (stop.half_width, stop.margin),
            (Some(Ratio(0.01)), Some(Ratio(0.02)))
        );
        assert_eq!((stop.min_replicates, stop.max_replicates), (5, 30));
        assert_eq!(experiment.design.replicates, 30);
    }
}

#[test]
fn knobs_that_need_a_boot_are_factors_like_others() {
    let experiment = right(
        "name = 'x'\n[workload]\nkind = 'udp'\n[factors]\nidletick = ['on', 'off']\n\
         packet_size = [64, 128]\nhz = [250, 1000]\n'cmdline:highres' = ['on', 'off']\n",
    );
    let id = ExperimentId::of(&RequestId::of("content", "machine"), [0; 16]);
    let plan = plan::draw(&experiment, &id, 2007);
    assert_eq!(plan.boot_factors, ["idletick", "hz", "cmdline:highres"]);
    let block = plan.block(0);
    assert_eq!(block.boots.len(), 8);
    assert!(block.boots.iter().all(|boot| boot.runs.len() == 2));
}

#[test]
fn what_is_excluded_is_in_the_plan_with_its_reason() {
    let experiment = right(include_str!("full.toml"));
    let id = ExperimentId::of(&RequestId::of("content", "machine"), [0; 16]);
    let plan = plan::draw(&experiment, &id, 1);
    assert_eq!(plan.treatments.len(), 24);
    assert_eq!(plan.participating().count(), 16);
    let reason = plan.treatments[0].omitted.as_deref();
    assert_eq!(
        reason,
        Some("excluded by the experiment file (turbo=on fan=low)")
    );
    assert_eq!(plan.runs_per_block(), 48);
}

/// The order of a seed, pinned: a change here would break the continuing of experiments.
#[test]
fn the_order_of_a_file_and_a_seed_is_known() {
    let experiment = right(include_str!("../../../../../examples/turboboost.toml"));
    let id = ExperimentId::of(&RequestId::of("content", "machine"), [0; 16]);
    let plan = plan::draw(&experiment, &id, 2010);
    let order: Vec<Vec<usize>> = plan
        .blocks()
        .take(3)
        .map(|block| {
            block
                .boots
                .iter()
                .flat_map(|boot| &boot.runs)
                .filter(|run| run.warmup.is_none())
                .map(|run| run.treatment)
                .collect()
        })
        .collect();
    assert_eq!(
        order,
        [[1, 5, 3, 4, 2, 0], [3, 1, 5, 0, 4, 2], [2, 0, 4, 5, 3, 1]]
    );
}
