//! Dunnett's and Tukey's tests as corrections of an experiment's comparisons.

use knobstat_analysis::{Analysis, Method, Verdict, analyse};
use knobstat_data::experiment::{Correction, FactorKind, Stop};
use knobstat_data::words::Setting;
use knobstat_data::{Ratio, Record, Treatment};
use knobstat_stats::Confidence;
use knobstat_stats::comparisons::{GroupMeans, SimultaneousComparison, dunnett, tukey};
use knobstat_stats::random::Generator;

use crate::support::{Bench, KNOB, numbers, texts, turbo_boost, wall, yielded};

fn corrected(mut record: Record, correction: Correction) -> (Record, Analysis) {
    record.experiment.analysis.correction = correction;
    let analysis = analyse(&record);
    (record, analysis)
}

/// The values of every treatment, block by block.
fn groups(analysis: &Analysis) -> Vec<Vec<f64>> {
    let values = |found: &knobstat_analysis::TreatmentFindings| {
        let seen = &found.metrics[0].observations;
        seen.iter().map(|observed| observed.value).collect()
    };
    analysis.treatments.iter().map(values).collect()
}

fn agree(analysis: &Analysis, wanted: &[SimultaneousComparison], method: Method) {
    assert_eq!(analysis.comparisons.len(), wanted.len());
    for found in &analysis.comparisons {
        let (one, sign) = wanted
            .iter()
            .find_map(|wanted| {
                let pair = (wanted.group, wanted.against);
                if pair == (found.treatment, found.baseline) {
                    Some((wanted, 1.0))
                } else if pair == (found.baseline, found.treatment) {
                    Some((wanted, -1.0))
                } else {
                    None
                }
            })
            .unwrap();
        assert_eq!(found.method, Some(method));
        assert!((found.judged.difference.unwrap() - sign * one.difference).abs() < 1e-12);
        let adjusted = found.judged.p_adjusted.unwrap();
        assert!(
            (adjusted - one.p).abs() <= 1e-9 * one.p + 1e-15,
            "{found:?} {one:?}"
        );
        let half = (one.interval.high - one.interval.low) / 2.0;
        assert!((found.judged.interval.unwrap().half_width() / half - 1.0).abs() < 1e-8);
        for interval in [found.judged.interval, found.judged.percent_interval] {
            assert_eq!(
                interval.unwrap().contains(0.0),
                adjusted > 0.05,
                "{found:?}"
            );
        }
    }
}

#[test]
fn dunnett_agrees_with_the_test_on_complete_blocks() {
    let (_, analysis) = corrected(turbo_boost(), Correction::Dunnett);
    let groups = groups(&analysis);
    let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
    let means = GroupMeans::of_complete_blocks(&groups).unwrap();
    let wanted = dunnett(&means, 0, Confidence::PERCENT_95).unwrap();
    agree(&analysis, &wanted, Method::Dunnett);
    assert!(analysis.judged_by.unwrap().starts_with("Dunnett's test"));
}

#[test]
fn tukey_compares_all_pairs_and_agrees_with_the_test_on_complete_blocks() {
    let (_, analysis) = corrected(turbo_boost(), Correction::Tukey);
    assert_eq!(analysis.comparisons.len(), 15);
    let groups = groups(&analysis);
    let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
    let means = GroupMeans::of_complete_blocks(&groups).unwrap();
    let wanted = tukey(&means, Confidence::PERCENT_95).unwrap();
    agree(&analysis, &wanted, Method::Tukey);
}

/// Four levels of a knob at two sizes; values of unit spread about 100.
fn noise(seed: u64, sd: impl Fn(&str) -> f64) -> Record {
    let factors: [(&str, FactorKind, &[_]); 2] = [
        ("knob", KNOB, &texts(&["a", "b", "c", "d"])),
        ("size", FactorKind::Parameter, &numbers(&[1, 2])),
    ];
    let mut bench = Bench::new("noise", &factors, wall()).blocks(8);
    bench.experiment.analysis.baseline = Treatment::new([Setting::new("knob", "a")]);
    bench.seed = seed;
    let mut random = Generator::from_seed(seed);
    bench.record(|treatment, _| {
        let sd = sd(&treatment.to_string());
        Some(yielded(&wall(), 100.0 + sd * random.normal()))
    })
}

#[test]
fn several_baselines_share_the_error_rate() {
    for correction in [Correction::Dunnett, Correction::Tukey] {
        let mut alarms = 0;
        for seed in 0..60 {
            let (_, analysis) = corrected(noise(seed, |_| 1.0), correction);
            let pairs = if correction == Correction::Tukey {
                12
            } else {
                6
            };
            assert_eq!(analysis.comparisons.len(), pairs);
            let mut comparisons = analysis.comparisons.iter();
            alarms += usize::from(comparisons.any(|one| one.judged.verdict == Verdict::Different));
            for found in &analysis.comparisons {
                let adjusted = found.judged.p_adjusted.unwrap();
                assert_eq!(
                    found.judged.interval.unwrap().contains(0.0),
                    adjusted > 0.05
                );
            }
        }
        // 5.5 % of 60 and three standard errors.
        println!("{correction:?}: {alarms} of 60");
        assert!(alarms <= 8, "{correction:?}: {alarms} of 60");
    }
}

#[test]
fn treatments_that_vary_unlike_each_other_are_a_caveat() {
    let kinds = |record: Record| -> Vec<&'static str> {
        let (_, analysis) = corrected(record, Correction::Dunnett);
        analysis.caveats.iter().map(|caveat| caveat.kind).collect()
    };
    let wild = |treatment: &str| {
        if treatment.contains("knob=c") {
            6.0
        } else {
            1.0
        }
    };
    assert!(kinds(noise(7, wild)).contains(&"unequal-spread"));
    assert!(!kinds(noise(7, |_| 1.0)).contains(&"unequal-spread"));
}

#[test]
fn where_the_test_cannot_be_made_holm_stands_in_and_it_is_said() {
    let said = |record: Record| {
        let (_, analysis) = corrected(record, Correction::Dunnett);
        let mut caveats = analysis.caveats.iter();
        let caveat = caveats.find(|caveat| caveat.kind == "correction-replaced");
        let methods: Vec<_> = analysis.comparisons.iter().map(|one| one.method).collect();
        (caveat.map(|caveat| caveat.sentence.clone()), methods)
    };
    let mut stopping = noise(1, |_| 1.0);
    stopping.experiment.design.stop = Some(Stop {
        half_width: Some(Ratio(0.01)),
        margin: None,
        min_replicates: 3,
        max_replicates: 8,
    });
    let (sentence, methods) = said(stopping);
    assert!(sentence.unwrap().contains("one look only"));
    assert_eq!(methods[0], Some(Method::EveryBlock));

    // No block has a value of every treatment.
    let mut broken = noise(1, |_| 1.0);
    broken
        .attempts
        .retain(|attempt| attempt.treatment / 2 != attempt.block % 4);
    let (sentence, methods) = said(broken);
    assert!(sentence.unwrap().contains("two blocks at least"));
    assert_eq!(methods[0], Some(Method::PairedT));
    assert_eq!(said(noise(1, |_| 1.0)).0, None);
}
