//! What every plan keeps to, whatever its factors and its seed.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::words::{Level, RequestId};

fn id() -> ExperimentId {
    ExperimentId::of(&RequestId::of("content", "machine"), [7; 16])
}

/// A plan of factors with these numbers of levels, the first `boot_factors` of them needing a
/// reboot.
fn plan_of(levels: &[usize], boot_factors: usize, seed: u64, warmup_runs: u32) -> Plan {
    let mut treatments = vec![Treatment::default()];
    for (factor, &count) in levels.iter().enumerate() {
        treatments = treatments
            .iter()
            .flat_map(|shorter| {
                (0..count).map(move |level| {
                    let mut longer = shorter.clone();
                    longer
                        .settings
                        .push(Setting::new(format!("f{factor}"), level as i64));
                    longer
                })
            })
            .collect();
    }
    Plan {
        experiment: id(),
        seed,
        replicates: 3,
        order: Order::RandomizedBlocks,
        warmup_runs,
        boot_factors: (0..boot_factors.min(levels.len()))
            .map(|factor| format!("f{factor}"))
            .collect(),
        treatments: treatments
            .into_iter()
            .map(|treatment| PlannedTreatment {
                treatment,
                omitted: None,
            })
            .collect(),
    }
}

fn omission(factor: usize, level: i64) -> Omission {
    Omission {
        factor: format!("f{factor}"),
        level: Level::Integer(level),
        reason: "not here".to_owned(),
        remedy: None,
    }
}

prop_compose! {
    fn plans()(
        levels in prop::collection::vec(1usize..4, 1..4),
        boot_factors in 0usize..3,
        seed in any::<u64>(),
        warmup_runs in 0u32..3,
    ) -> Plan {
        plan_of(&levels, boot_factors, seed, warmup_runs)
    }
}

proptest! {
    #[test]
    fn a_block_holds_each_treatment_once(plan in plans(), index in 0usize..1000) {
        let block = plan.block(index);
        let mut measured: Vec<usize> = block
            .boots
            .iter()
            .flat_map(|boot| &boot.runs)
            .filter(|run| run.warmup.is_none())
            .map(|run| run.treatment)
            .collect();
        measured.sort_unstable();
        prop_assert_eq!(measured, (0..plan.treatments.len()).collect::<Vec<_>>());
    }

    #[test]
    fn a_boot_holds_the_treatments_that_share_its_settings(plan in plans(), index in 0usize..1000) {
        let block = plan.block(index);
        let mut seen = Vec::new();
        for (place, boot) in block.boots.iter().enumerate() {
            prop_assert_eq!(boot.index, place);
            prop_assert!(!seen.contains(&boot.settings), "one boot for each combination");
            seen.push(boot.settings.clone());
            for run in &boot.runs {
                prop_assert_eq!((run.block, run.boot), (index, place));
                let treatment = &plan.treatments[run.treatment].treatment;
                for setting in &boot.settings {
                    prop_assert_eq!(treatment.level(&setting.factor), Some(&setting.level));
                }
            }
        }
        if plan.boot_factors.is_empty() {
            prop_assert_eq!(block.boots.len(), 1);
        }
    }

    #[test]
    fn warm_up_runs_stand_directly_before_their_run(plan in plans(), index in 0usize..1000) {
        for boot in plan.block(index).boots {
            for group in boot.runs.chunks(plan.warmup_runs as usize + 1) {
                let (measured, warmups) = group.split_last().unwrap();
                prop_assert_eq!(measured.warmup, None);
                for (place, warmup) in warmups.iter().enumerate() {
                    prop_assert_eq!(warmup.warmup, Some(place as u32));
                    prop_assert_eq!(warmup.treatment, measured.treatment);
                }
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_plan_again(plan in plans()) {
        let again = plan.clone();
        prop_assert_eq!(plan.runs().collect::<Vec<_>>(), again.runs().collect::<Vec<_>>());
        prop_assert_eq!(plan.runs().count() as u64, plan.runs_per_block() * 3);
    }

    #[test]
    fn striking_never_reorders(plan in plans(), factor in 0usize..3, level in 0i64..3, index in 0usize..1000) {
        let mut struck = plan.clone();
        struck.strike(&[omission(factor, level)]);
        let runs = |plan: &Plan| -> Vec<PlannedRun> {
            plan.block(index).boots.into_iter().flat_map(|boot| boot.runs).collect()
        };
        let kept: Vec<PlannedRun> = runs(&plan)
            .into_iter()
            .filter(|run| struck.treatments[run.treatment].omitted.is_none())
            .collect();
        prop_assert_eq!(runs(&struck), kept, "identities and order stay");
        for planned in &struck.treatments {
            let lacking = planned.treatment.level(&format!("f{factor}")) == Some(&Level::Integer(level));
            prop_assert_eq!(planned.omitted.is_some(), lacking);
        }
    }

    #[test]
    fn identities_are_never_shared(plan in plans()) {
        let mut ids: Vec<RunId> = plan.runs().map(|run| run.id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
    }
}

#[test]
fn as_written_is_the_same_in_every_block() {
    let mut plan = plan_of(&[2, 3], 0, 5, 0);
    plan.order = Order::AsWritten;
    for block in plan.blocks() {
        let order: Vec<usize> = block.boots[0]
            .runs
            .iter()
            .map(|run| run.treatment)
            .collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn seeds_and_blocks_differ_in_their_order() {
    let orders: BTreeMap<Vec<usize>, (u64, usize)> = (0..5)
        .flat_map(|seed| (0..5).map(move |block| (seed, block)))
        .map(|(seed, block)| {
            let plan = plan_of(&[12], 0, seed, 0);
            let runs = &plan.block(block).boots[0].runs;
            (
                runs.iter().map(|run| run.treatment).collect(),
                (seed, block),
            )
        })
        .collect();
    assert_eq!(orders.len(), 25);
}

#[test]
fn an_earlier_reason_stands() {
    let mut plan = plan_of(&[2], 0, 0, 0);
    plan.treatments[0].omitted = Some("excluded by the experiment file".to_owned());
    plan.strike(&[omission(0, 0), omission(0, 1)]);
    let reasons: Vec<&str> = plan
        .treatments
        .iter()
        .filter_map(|planned| planned.omitted.as_deref())
        .collect();
    assert_eq!(
        reasons,
        ["excluded by the experiment file", "f0=1: not here"]
    );
    assert!(plan.block(0).boots.is_empty());
    assert_eq!(plan.runs_per_block(), 0);
}

#[test]
fn ten_million_runs_are_planned_without_being_made() {
    let mut plan = plan_of(&[10, 10], 0, 1, 0);
    plan.replicates = 100_000;
    assert_eq!(
        plan.runs_per_block() * u64::from(plan.replicates),
        10_000_000
    );
    assert_eq!(plan.block(99_999).boots[0].runs.len(), 100);
    assert_eq!(plan.runs().take(250).last().map(|run| run.block), Some(2));
}
