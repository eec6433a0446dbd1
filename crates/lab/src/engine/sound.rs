//! What comes across the seam is checked before it is kept: values must be finite, because
//! neither the store nor any export has a word for others.

use knobstat_data::observation::{Failure, Outcome, RunResult};

/// The result without values that are not finite. A run with such a metric failed.
pub(super) fn sound(mut result: RunResult) -> RunResult {
    let unsound = result
        .metrics
        .iter()
        .find(|value| !value.value.is_finite())
        .map(|value| Failure::Metric {
            metric: value.metric.name.clone(),
            reason: format!("its value is {} and not a finite number", value.value),
        });
    result.metrics.retain(|value| value.value.is_finite());
    if let Some(failure) = unsound
        && result.outcome == Outcome::Ok
    {
        result.outcome = Outcome::Failed(failure);
    }
    for value in &mut result.metrics {
        value.granularity = value.granularity.filter(|step| step.is_finite());
    }
    for evidence in &mut result.evidence {
        if let Ok(value) = evidence.value
            && !value.is_finite()
        {
            evidence.value = Err(format!("its value is {value} and not a finite number"));
        }
    }
    let settling = &mut result.settling;
    settling.temperature = settling
        .temperature
        .filter(|temperature| temperature.0.is_finite());
    result
}

#[cfg(test)]
mod tests {
    use knobstat_data::observation::{Evidence, MetricValue};
    use knobstat_data::words::{Better, Celsius, Metric, Unit};

    use super::*;

    #[test]
    fn values_that_are_not_finite_do_not_pass_as_observations() {
        let metric = |name: &str, value| MetricValue {
            metric: Metric {
                name: name.to_owned(),
                unit: Unit::SECONDS,
                better: Better::Lower,
                self_timed: false,
            },
            value,
            limited_by: None,
            granularity: Some(f64::INFINITY),
        };
        let mut result = RunResult::bare(Outcome::Ok);
        result.metrics = vec![metric("wall", 1.0), metric("rate", f64::NAN)];
        result.evidence = vec![Evidence {
            key: "cpu.user".to_owned(),
            scope: "run".to_owned(),
            unit: Unit::SECONDS,
            value: Ok(f64::NEG_INFINITY),
        }];
        result.settling.temperature = Some(Celsius(f64::NAN));
        let result = sound(result);
        assert!(matches!(
            &result.outcome,
            Outcome::Failed(Failure::Metric { metric, .. }) if metric == "rate"
        ));
        assert_eq!(result.metrics.len(), 1);
        assert_eq!(result.metrics[0].granularity, None);
        assert!(result.evidence[0].value.is_err());
        assert_eq!(result.settling.temperature, None);
    }
}
