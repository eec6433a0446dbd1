//! A record of knobstat's own as series: the accepted values of one metric, a series a treatment.

use knobstat_data::{Metric, Record};

use super::error::{ReadError, names, quoted};
use crate::samples::series::Series;
use crate::{censoring, observations, self_timed};

/// The values of every treatment that takes part, in the order of the blocks: of the metric of the
/// verdicts, or of the one asked for. A treatment of which every run failed has no values.
///
/// # Errors
/// When the record has no such metric.
pub fn series(record: &Record, wanted: Option<&str>) -> Result<Vec<Series>, ReadError> {
    let metrics = observations::metrics(record);
    let metric = match wanted {
        None => metrics.first(),
        Some(wanted) => metrics.iter().find(|metric| metric.name == wanted),
    }
    .ok_or_else(|| ReadError::NoMetric {
        wanted: quoted(wanted.unwrap_or_default().as_bytes()),
        present: names(metrics.iter().map(|metric| metric.name.as_str())),
    })?;
    let mut values = observations::values(&record.plan, &record.attempts, &metric.name);
    let self_timed = self_timed::forbids_verdict(&record.experiment, metric);
    let most = values.iter().map(Vec::len).max().unwrap_or(0);
    Ok(record
        .plan
        .participating()
        .map(|(index, treatment)| {
            let cell = std::mem::take(&mut values[index]);
            let mut series = named(treatment.to_string(), metric);
            series.granularity = cell
                .iter()
                .filter_map(|observed| observed.granularity)
                .reduce(f64::max);
            series.limited_by = censoring::limit(&cell);
            series.self_timed = self_timed.map(str::to_owned);
            // A block that others have and this one lacks leaves no gap in the values.
            series.passed_over = most - cell.len();
            series.values = cell.iter().map(|observed| observed.value).collect();
            series
        })
        .collect())
}

fn named(label: String, metric: &Metric) -> Series {
    let mut series = Series::new(label, metric.name.clone());
    metric.unit.as_str().clone_into(&mut series.unit);
    series.better = Some(metric.better);
    series
}
