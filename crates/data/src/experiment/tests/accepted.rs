//! Files that are right, and what they mean.

use super::right;
use crate::experiment::{Design, OnFailure, Order, Settle, Unavailable};
use crate::words::{Ratio, Value};

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
