//! A plan as `run --check` prints it: treatments, order, duration, what the machine lacks, and
//! whether the verdicts that are asked for can be reached at all.

use std::fmt::Write;

use knobstat_analysis::{family, phrase};
use knobstat_data::experiment::Stop;
use knobstat_data::plan::Plan;
use knobstat_data::record::Omission;
use knobstat_data::{Ratio, Record};
use knobstat_stats::Confidence;
use knobstat_stats::distributions::{Probability, StudentT};
use knobstat_stats::planning::smallest_reachable_n;
use knobstat_stats::sequential::{MixtureScale, smallest_bounded_n};

/// Blocks whose order is written out.
pub const BLOCKS_SHOWN: usize = 12;

const NOTHING_COMPARED: &str = "\nNothing is compared: no treatment differs from the baseline.\n";

/// The plan of a record that has not begun; `unknown` are sentences on what is not known yet of the
/// machine.
pub fn render(record: &Record, duration: &str, unknown: &[String]) -> String {
    let plan = &record.plan;
    let taking_part = plan.participating().count();
    let runs = plan.runs_per_block() * u64::from(plan.replicates);
    let mut text = format!("{}\n\n", record.experiment.name);
    let stop = record.experiment.design.stop;
    let at_most = if stop.is_some() { "at most " } else { "" };
    let _ = writeln!(
        text,
        "{} treatments in {at_most}{}: {at_most}{runs} runs{}, seed {}, {duration}",
        if taking_part == plan.treatments.len() {
            taking_part.to_string()
        } else {
            format!("{taking_part} of {}", plan.treatments.len())
        },
        phrase::count(plan.replicates, "block"),
        if plan.warmup_runs > 0 {
            " with warm-ups"
        } else {
            ""
        },
        plan.seed
    );
    text.push_str("\nTreatments\n");
    for (index, planned) in plan.treatments.iter().enumerate() {
        let _ = write!(text, "{:>5}  {}", index + 1, planned.treatment);
        if let Some(reason) = &planned.omitted {
            let _ = write!(text, "  left out: {}", in_short(reason, &record.omitted));
        }
        text.push('\n');
    }
    left_out(&mut text, &record.omitted);
    for sentence in unknown {
        let _ = write!(text, "\n{sentence}\n");
    }
    boots(&mut text, plan);
    text.push_str("\nOrder\n");
    for block in plan.blocks().take(BLOCKS_SHOWN) {
        let order: Vec<String> = block
            .boots
            .iter()
            .map(|boot| {
                let runs: Vec<String> = boot
                    .runs
                    .iter()
                    .filter(|run| run.warmup.is_none())
                    .map(|run| (run.treatment + 1).to_string())
                    .collect();
                runs.join(" ")
            })
            .collect();
        let _ = writeln!(text, "block {:>3}  {}", block.index + 1, order.join(" | "));
    }
    if plan.replicates as usize > BLOCKS_SHOWN {
        let _ = writeln!(
            text,
            "and {at_most}{} blocks more, each in an order of its own",
            plan.replicates as usize - BLOCKS_SHOWN
        );
    }
    text.push_str(&match stop {
        Some(stop) => stops(record, stop),
        None => reachable(record),
    });
    text
}

/// That a bar in the order stands for a reboot, where there are any.
fn boots(text: &mut String, plan: &Plan) {
    let in_a_block = plan.block(0).boots.len();
    if plan.boot_factors.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{} by {}: {in_a_block} in each block, in an order of its own; a bar stands for one.",
        if in_a_block == 1 { "One boot" } else { "Boots" },
        plan.boot_factors.join(" and ")
    );
}

/// Why a treatment is left out: the level alone where the list of levels has its reason.
fn in_short<'r>(reason: &'r str, listed: &[Omission]) -> &'r str {
    listed
        .iter()
        .map(|omission| format!("{}={}", omission.factor, omission.level))
        .find(|level| reason.starts_with(&format!("{level}:")))
        .and_then(|level| reason.get(..level.len()))
        .unwrap_or(reason)
}

/// What is left out, by level, with what would make it available.
fn left_out(text: &mut String, omissions: &[Omission]) {
    if omissions.is_empty() {
        return;
    }
    text.push_str("\nLeft out on this machine\n");
    for omission in omissions {
        let _ = writeln!(
            text,
            "  {}={}: {}",
            omission.factor, omission.level, omission.reason
        );
        if let Some(remedy) = &omission.remedy {
            let _ = writeln!(text, "      {remedy}");
        }
    }
}

/// A difference of so many times its own spread between blocks is more than most effects are.
const MUCH: f64 = 5.0;

/// Whether the comparisons can be decided with so many blocks, and how large a difference must be.
fn reachable(record: &Record) -> String {
    let analysis = &record.experiment.analysis;
    let comparisons = family::of(&record.experiment, &record.plan).len();
    if comparisons == 0 {
        return NOTHING_COMPARED.to_owned();
    }
    let replicates = record.plan.replicates;
    let alpha = 1.0 - analysis.confidence.0;
    let mut text = format!(
        "\n{} with the baseline at {} % confidence",
        counted(comparisons),
        round(analysis.confidence.percent())
    );
    let smallest = smallest_reachable_n(alpha, comparisons).map_or(2, |smallest| smallest.paired_t);
    if (replicates as usize) < smallest {
        let _ = writeln!(
            text,
            ", which take {smallest} replicates at least.\nwarning: none can ever be decided with {}; more than {smallest} are better.",
            in_replicates(replicates)
        );
        return text;
    }
    let degrees = f64::from(replicates - 1);
    let needed = StudentT::new(degrees)
        .and_then(|t| Ok(t.upper_quantile(Probability::new(alpha / comparisons as f64 / 2.0)?)));
    let Ok(needed) = needed else {
        return text + ".\n";
    };
    let spreads = needed / f64::from(replicates).sqrt();
    let _ = writeln!(
        text,
        ", which take {smallest} replicates at least: with {} the first verdict needs |t| > {}, a difference of {} times its spread between blocks.",
        in_replicates(replicates),
        round(needed),
        round(spreads)
    );
    if spreads > MUCH {
        let _ = writeln!(
            text,
            "warning: with {} only very large differences can be told; ask for more replicates, or for fewer comparisons.",
            in_replicates(replicates)
        );
    }
    text
}

/// When an experiment with a stop rule ends, and whether it can end in verdicts at all.
fn stops(record: &Record, stop: Stop) -> String {
    let analysis = &record.experiment.analysis;
    let comparisons = family::of(&record.experiment, &record.plan).len();
    if comparisons == 0 {
        return NOTHING_COMPARED.to_owned();
    }
    let percent = |share: Ratio| round(share.percent());
    let condition = match (stop.margin, stop.half_width) {
        (Some(margin), Some(width)) => format!(
            "is different, equivalent within {} %, or known to {} % on either side",
            percent(margin),
            percent(width)
        ),
        (Some(margin), None) => format!("is different, or equivalent within {} %", percent(margin)),
        (None, width) => format!(
            "is known to {} % on either side",
            width.map_or_else(String::new, percent)
        ),
    };
    let mut text = format!(
        "\nEnds when {} with the baseline {condition}, at {} % \
         confidence over all looks; after {} blocks at the earliest and {} at the latest.\n",
        match comparisons {
            1 => "the one comparison".to_owned(),
            many => format!("each of {many} comparisons"),
        },
        round(analysis.confidence.percent()),
        stop.min_replicates,
        stop.max_replicates
    );
    let alpha = (1.0 - analysis.confidence.0) / comparisons as f64;
    let smallest = Confidence::from_alpha(alpha)
        .and_then(|level| smallest_bounded_n(level, MixtureScale::default()));
    if let Ok(smallest) = smallest {
        let _ = if smallest > stop.max_replicates as usize {
            writeln!(
                text,
                "warning: it can never end before its maximum: the first verdict takes {smallest} blocks; raise max_replicates."
            )
        } else {
            writeln!(text, "The first verdict takes {smallest} blocks at least.")
        };
    }
    text
}

fn in_replicates(replicates: u32) -> String {
    match replicates {
        1 => "1 replicate".to_owned(),
        many => format!("{many} replicates"),
    }
}

fn counted(comparisons: usize) -> String {
    match comparisons {
        1 => "1 comparison".to_owned(),
        many => format!("{many} comparisons"),
    }
}

/// A number to two decimals, without zeros at its end.
fn round(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The plan of an experiment of which this machine can take nothing.
pub fn nothing_left(name: &str, treatments: usize, omissions: &[Omission]) -> String {
    let mut text = format!("{name}\n\n0 of {treatments} treatments can be run on this machine.\n");
    left_out(&mut text, omissions);
    text
}
