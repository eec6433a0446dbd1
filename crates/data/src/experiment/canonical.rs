//! The canonical content of an experiment: the same meaning, the same text.
//!
//! An experiment's identity is made of it, so it is part of the format. What does not count: comments, white space, how a
//! value is spelt (`"2m"` or `"120s"`), the order of keys in a table, the name of the file, and
//! whether a default is written out. What does: everything else, the order of factors and levels
//! included, since the order of the runs comes from it.

use std::fmt::Write;

use super::{
    AnalysisChoice, Correction, Design, Experiment, Factor, FactorKind, FixedKnob, OnFailure,
    Order, OwnKnob, Settle, Stop, TargetChoice, Unavailable, VirtualMachine, Workload,
};
use crate::vocabulary::Scope;
use crate::words::{Metric, Ratio, Treatment, Value};

/// The first line: a later way of writing the same would have another.
const HEADING: &str = "knobstat experiment 1";

/// Lines of a name and its value.
struct Lines(String);

impl Lines {
    fn put(&mut self, name: &str, value: impl AsRef<str>) {
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(value.as_ref());
        self.0.push('\n');
    }
}

impl Experiment {
    /// The canonical content.
    pub fn canonical(&self) -> String {
        // Taken apart in full, so that a field that is added later cannot be forgotten here.
        let Self {
            name,
            description,
            tags,
            workload,
            factors,
            fixed,
            own_knobs,
            design,
            target,
            analysis,
        } = self;
        let mut lines = Lines(format!("{HEADING}\n"));
        lines.put("name", text(name));
        if let Some(description) = description {
            lines.put("description", text(description));
        }
        for tag in tags {
            lines.put("tag", text(tag));
        }
        put_workload(&mut lines, workload);
        for factor in factors {
            put_factor(&mut lines, factor);
        }
        let mut fixed: Vec<&FixedKnob> = fixed.iter().collect();
        fixed.sort_by(|a, b| a.setting.factor.cmp(&b.setting.factor));
        for FixedKnob { setting, scope: _ } in fixed {
            let level = text(&setting.level.to_string());
            lines.put(&format!("fixed {}", text(&setting.factor)), level);
        }
        let mut own_knobs: Vec<&OwnKnob> = own_knobs.iter().collect();
        own_knobs.sort_by(|a, b| a.name.cmp(&b.name));
        for knob in own_knobs {
            put_own_knob(&mut lines, knob);
        }
        put_design(&mut lines, design);
        lines.put(
            "target",
            match target {
                TargetChoice::Local => "local".to_owned(),
                TargetChoice::Model { machine } => format!("model {}", text(machine)),
                TargetChoice::Vm(machine) => guest(machine),
            },
        );
        put_analysis(&mut lines, analysis);
        lines.0
    }
}

/// A guest: what of it decides what is measured. How long a boot is waited for does not.
fn guest(machine: &VirtualMachine) -> String {
    let VirtualMachine {
        kernel,
        cpus,
        memory,
        time,
        accelerator,
        acpi_tables,
        append,
        files,
        modules,
        boot_timeout: _,
    } = machine;
    let list = |values: &[String]| {
        values
            .iter()
            .map(|value| text(value))
            .collect::<Vec<_>>()
            .join(",")
    };
    format!(
        "vm kernel {} cpus {cpus} memory {} time {} accelerator {} tables {} append {} files {} modules {}",
        kernel.as_deref().map_or_else(|| "newest".to_owned(), text),
        memory.0,
        time.word(),
        accelerator.word(),
        list(acpi_tables),
        text(append),
        list(files),
        list(modules),
    )
}

fn put_workload(lines: &mut Lines, workload: &Workload) {
    let Workload {
        kind,
        parameters,
        // These follow from the kind, the parameters and the factors.
        varied: _,
        templates: _,
        commands: _,
        warmup_runs,
        metrics,
    } = workload;
    lines.put("workload", text(kind));
    for (name, parameter) in parameters {
        lines.put(&format!("parameter {}", text(name)), value(parameter));
    }
    lines.put("warmup_runs", warmup_runs.to_string());
    // The workload's own metrics follow from its kind; those of the file count.
    let mut metrics: Vec<&Metric> = metrics
        .iter()
        .filter(|metric| match parameters.get("metrics") {
            Some(Value::Table(declared)) => declared.contains_key(&metric.name),
            _ => false,
        })
        .collect();
    metrics.sort_by(|a, b| a.name.cmp(&b.name));
    for metric in metrics {
        put_metric(lines, "metric", metric);
    }
}

fn put_metric(lines: &mut Lines, key: &str, metric: &Metric) {
    let Metric {
        name,
        unit,
        better,
        self_timed,
    } = metric;
    let unit = text(unit.as_str());
    lines.put(
        &format!("{key} {}", text(name)),
        format!("{unit} {better} self_timed={self_timed}"),
    );
}

fn put_factor(lines: &mut Lines, factor: &Factor) {
    let Factor { name, levels, kind } = factor;
    let kind = match kind {
        FactorKind::Knob(_) => "knob",
        FactorKind::Parameter => "parameter",
        FactorKind::Placeholder => "placeholder",
    };
    let levels: Vec<String> = levels
        .iter()
        .map(|level| text(&level.to_string()))
        .collect();
    lines.put(
        &format!("factor {}", text(name)),
        format!("{kind} {}", levels.join(" ")),
    );
}

fn put_own_knob(lines: &mut Lines, knob: &OwnKnob) {
    let OwnKnob {
        name,
        get,
        set,
        restore,
        scope,
    } = knob;
    let words = |words: &[String]| -> String {
        let words: Vec<String> = words.iter().map(|word| text(word)).collect();
        format!("[{}]", words.join(" "))
    };
    let scope = match scope {
        Scope::Runtime => "runtime",
        Scope::Process => "process",
        Scope::Boot => "boot",
        Scope::Build => "build",
    };
    lines.put(
        &format!("knob {}", text(name)),
        format!(
            "get={} set={} restore={} scope={scope}",
            words(get),
            words(set),
            words(restore)
        ),
    );
}

fn put_design(lines: &mut Lines, design: &Design) {
    let Design {
        replicates,
        stop,
        order,
        seed,
        exclude,
        settle,
        cool_below,
        unavailable,
        max_repeats,
        on_failure,
    } = design;
    lines.put("replicates", replicates.to_string());
    if let Some(stop) = stop {
        let Stop {
            half_width,
            margin,
            min_replicates,
            max_replicates,
        } = stop;
        lines.put(
            "stop",
            format!(
                "half_width={} margin={} min={min_replicates} max={max_replicates}",
                ratio(*half_width),
                ratio(*margin)
            ),
        );
    }
    lines.put(
        "order",
        match order {
            Order::RandomizedBlocks => "randomized-blocks",
            Order::AsWritten => "as-written",
        },
    );
    if let Some(seed) = seed {
        lines.put("seed", seed.to_string());
    }
    let mut exclude: Vec<String> = exclude.iter().map(partial).collect();
    exclude.sort();
    exclude.dedup();
    for treatment in exclude {
        lines.put("exclude", treatment);
    }
    lines.put(
        "settle",
        match settle {
            Settle::AfterChange => "after change".to_owned(),
            Settle::Always(wait) => format!("{}ns", wait.as_nanos()),
        },
    );
    if let Some(cool_below) = cool_below {
        lines.put("cool_below", cool_below.0.to_string());
    }
    lines.put(
        "unavailable",
        match unavailable {
            Unavailable::Skip => "skip",
            Unavailable::Error => "error",
        },
    );
    lines.put("max_repeats", max_repeats.to_string());
    lines.put(
        "on_failure",
        match on_failure {
            OnFailure::Continue => "continue",
            OnFailure::Stop => "stop",
        },
    );
}

fn put_analysis(lines: &mut Lines, analysis: &AnalysisChoice) {
    let AnalysisChoice {
        metric,
        baseline,
        confidence,
        margin,
        correction,
        trust_self_timed,
    } = analysis;
    put_metric(lines, "judged", metric);
    lines.put("baseline", partial(baseline));
    lines.put("confidence", confidence.0.to_string());
    lines.put("margin", ratio(*margin));
    lines.put(
        "correction",
        match correction {
            Correction::Holm => "holm",
            Correction::Dunnett => "dunnett",
            Correction::Tukey => "tukey",
            Correction::BenjaminiHochberg => "benjamini-hochberg",
            Correction::None => "none",
        },
    );
    lines.put("trust_self_timed", trust_self_timed.to_string());
}

fn ratio(ratio: Option<Ratio>) -> String {
    ratio.map_or("none".to_owned(), |ratio| ratio.0.to_string())
}

/// The settings of a treatment; they are in the order of the factors already.
fn partial(treatment: &Treatment) -> String {
    let settings: Vec<String> = treatment
        .settings
        .iter()
        .map(|setting| {
            let level = text(&setting.level.to_string());
            format!("{}={level}", text(&setting.factor))
        })
        .collect();
    settings.join(" ")
}

fn value(parameter: &Value) -> String {
    match parameter {
        Value::Boolean(truth) => truth.to_string(),
        Value::Integer(whole) => whole.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(words) => text(words),
        Value::Duration(duration) => format!("{}ns", duration.as_nanos()),
        Value::Size(bytes) => format!("{}B", bytes.0),
        Value::BitRate(rate) => format!("{}bit/s", rate.0),
        Value::PacketRate(rate) => format!("{rate}packets/s"),
        Value::Cpus(cpus) => format!("cpus {cpus}"),
        Value::Priority(priority) => priority.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Table(table) => {
            let mut result = String::from("{");
            for (name, item) in table {
                // Writing to a String cannot fail.
                let _ = write!(result, "{}={} ", text(name), value(item));
            }
            result.push('}');
            result
        }
    }
}

/// A text in quotes, so that no two lists of texts look alike.
fn text(text: &str) -> String {
    super::toml_text::toml_text(text)
}
