//! Analysis of variance against statsmodels and R (car, lme4, aov), on two factorial data sets.

mod support;

use knobstat_stats::Confidence;
use knobstat_stats::anova::{
    AnovaError, Model, Observations, Step, SumsOfSquares, Term, anova, random_blocks, split_plot,
};
use serde_json::Value;
use support::{Reference, close};

struct Data {
    blocks: Vec<usize>,
    levels: Vec<Vec<usize>>,
    values: Vec<f64>,
}

fn read(text: &str) -> Data {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|field| field.parse().expect("a number"))
                .collect()
        })
        .collect();
    let column = |i: usize| rows.iter().map(|row| row[i] as usize).collect::<Vec<_>>();
    Data {
        blocks: column(0),
        levels: vec![column(1), column(2), column(3)],
        values: rows.iter().map(|row| row[4]).collect(),
    }
}

fn balanced() -> Data {
    read(include_str!("data/designs/factorial_2x2x2_6blocks.csv"))
}

fn unbalanced() -> Data {
    read(include_str!("data/designs/factorial_unbalanced.csv"))
}

fn r() -> Reference {
    Reference::parse(include_str!("data/independent/r.csv"))
}

fn statsmodels() -> Value {
    let text = include_str!("data/designs/anova_power_multi.json").replace("NaN", "null");
    serde_json::from_str(&text).expect("JSON")
}

fn name(term: Term, wrap: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = term
        .factors()
        .iter()
        .map(|factor| wrap(["A", "B", "F"][*factor]))
        .collect();
    names.join(":")
}

fn step(factor: usize) -> Step {
    Step {
        factor,
        level: 0,
        against: 1,
    }
}

#[test]
fn types_two_and_three_agree_with_statsmodels() {
    let reference = statsmodels();
    let with_sum = |name: &str| format!("C({name}, Sum)");
    let check = |table: &str, data: &Data, factors: usize, blocks: bool, sums: SumsOfSquares| {
        let observations =
            Observations::new(data.levels[..factors].to_vec(), &data.values).unwrap();
        let model = Model::full_factorial(factors).unwrap();
        let blocks = blocks.then_some(data.blocks.as_slice());
        let found = anova(&observations, &model, blocks, sums).unwrap();
        for test in &found.terms {
            let row = &reference[table][name(test.term, with_sum)];
            let label = format!("{table} {row}");
            close(&label, test.sum_of_squares, row[0].as_f64().unwrap(), 1e-9);
            close(&label, test.f, row[2].as_f64().unwrap(), 1e-9);
            close(&label, test.p, row[3].as_f64().unwrap(), 1e-8);
        }
        let row = &reference[table]["Residual"];
        close(
            table,
            found.residual.sum_of_squares,
            row[0].as_f64().unwrap(),
            1e-10,
        );
        assert_eq!(found.residual.df, row[1].as_f64().unwrap());
        if let Some(test) = found.blocks {
            let row = &reference[table]["C(block)"];
            close(table, test.sum_of_squares, row[0].as_f64().unwrap(), 1e-9);
            close(table, test.p, row[3].as_f64().unwrap(), 1e-8);
        }
    };
    check(
        "rcbd_2x2x2_with_block",
        &balanced(),
        3,
        true,
        SumsOfSquares::Three,
    );
    check(
        "rcbd_2x2x2_with_block",
        &balanced(),
        3,
        true,
        SumsOfSquares::Two,
    );
    check("without_block", &balanced(), 3, false, SumsOfSquares::Three);
    check(
        "unbalanced_AxB_type2",
        &unbalanced(),
        2,
        false,
        SumsOfSquares::Two,
    );
    check(
        "unbalanced_AxB_type3",
        &unbalanced(),
        2,
        false,
        SumsOfSquares::Three,
    );
}

#[test]
fn blocks_and_missing_runs_agree_with_r() {
    let r = r();
    for (label, data) in [("balanced", balanced()), ("unbalanced", unbalanced())] {
        let observations = Observations::new(data.levels.clone(), &data.values).unwrap();
        let model = Model::full_factorial(3).unwrap();
        for (kind, sums) in [(2, SumsOfSquares::Two), (3, SumsOfSquares::Three)] {
            let found = anova(&observations, &model, Some(&data.blocks), sums).unwrap();
            for test in &found.terms {
                let row = format!("{label}.type{kind}.{}", name(test.term, str::to_owned));
                let wanted = r.list(&row);
                close(&row, test.sum_of_squares, wanted[0], 1e-8);
                close(&row, test.f, wanted[1], 1e-8);
                close(&row, test.p, wanted[2], 1e-8);
            }
        }
    }
    let data = unbalanced();
    let observations = Observations::new(data.levels.clone(), &data.values).unwrap();
    let model = Model::full_factorial(3).unwrap();
    let found = anova(
        &observations,
        &model,
        Some(&data.blocks),
        SumsOfSquares::Three,
    )
    .unwrap();
    for (steps, row) in [(vec![step(0)], "A"), (vec![step(1), step(0)], "AB")] {
        let effect = found.effect(&steps).unwrap();
        let wanted = r.list(&format!("unbalanced.effect.{row}"));
        close(row, effect.estimate, wanted[0], 1e-10);
        close(row, effect.standard_error, wanted[1], 1e-10);
        assert!(
            effect
                .interval(Confidence::PERCENT_95)
                .contains(effect.estimate)
        );
    }
}

#[test]
fn random_blocks_agree_with_statsmodels_and_lme4() {
    let r = r();
    for (label, data) in [("balanced", balanced()), ("unbalanced", unbalanced())] {
        let observations = Observations::new(data.levels.clone(), &data.values).unwrap();
        let model = Model::full_factorial(3).unwrap();
        let found = random_blocks(&observations, &model, &data.blocks).unwrap();
        let wanted = r.list(&format!("reml.{label}.variances"));
        close(label, found.block_variance, wanted[0], 1e-5);
        close(label, found.residual_variance, wanted[1], 1e-5);
        close(
            label,
            found.log_likelihood,
            r.get(&format!("reml.{label}.loglik")),
            1e-9,
        );
        let effect = found.effect(&[step(0)]).unwrap();
        let wanted = r.list(&format!("reml.{label}.A"));
        close(label, effect.estimate, wanted[0], 1e-6);
        close(label, effect.standard_error, wanted[1], 1e-6);
    }
    let reference = &statsmodels()["mixed_reml"];
    let data = balanced();
    let observations = Observations::new(data.levels.clone(), &data.values).unwrap();
    let model = Model::full_factorial(3).unwrap();
    let found = random_blocks(&observations, &model, &data.blocks).unwrap();
    close(
        "likelihood",
        found.log_likelihood,
        reference["reml_loglik"].as_f64().unwrap(),
        1e-9,
    );
    let fixed = anova(
        &observations,
        &model,
        Some(&data.blocks),
        SumsOfSquares::Three,
    )
    .unwrap();
    for steps in [
        vec![step(0)],
        vec![step(1), step(2)],
        vec![step(0), step(1), step(2)],
    ] {
        let (random, fixed) = (found.effect(&steps).unwrap(), fixed.effect(&steps).unwrap());
        close("effect", random.estimate, fixed.estimate, 1e-9);
        close("error", random.standard_error, fixed.standard_error, 1e-6);
        assert_eq!(random.df, fixed.df);
    }
    let a = reference["fixed"]["C(A, Sum)[S.0]"][0].as_f64().unwrap();
    close(
        "A",
        found.effect(&[step(0)]).unwrap().estimate,
        2.0 * a,
        1e-9,
    );
}

#[test]
fn error_strata_agree_with_r() {
    let r = r();
    let data = balanced();
    let observations = Observations::new(data.levels.clone(), &data.values).unwrap();
    let model = Model::full_factorial(3).unwrap();
    // Factor A needs a reboot: two boots a block.
    let boots: Vec<usize> = data
        .blocks
        .iter()
        .zip(&data.levels[0])
        .map(|(block, a)| 2 * block + a)
        .collect();
    let found = split_plot(&observations, &model, &[0], &boots, Some(&data.blocks)).unwrap();
    for (stratum, tests) in [(1, &found.between), (2, &found.within)] {
        for test in &tests.terms {
            let row = format!("split.{stratum}.{}", name(test.term, str::to_owned));
            let wanted = r.list(&row);
            close(&row, test.df, wanted[0], 0.0);
            close(&row, test.sum_of_squares, wanted[1], 1e-9);
            close(&row, test.f, wanted[3], 1e-9);
            close(&row, test.p, wanted[4], 1e-8);
        }
        let wanted = r.list(&format!("split.{stratum}.Residuals"));
        close("error", tests.residual.df, wanted[0], 0.0);
        close("error", tests.residual.sum_of_squares, wanted[1], 1e-9);
    }
    assert_eq!(found.between.terms.len() + found.within.terms.len(), 7);
    let whole = found.effect(&[step(0)]).unwrap();
    let split = found.effect(&[step(0), step(1)]).unwrap();
    assert_eq!((whole.df, split.df), (5.0, 30.0));
    close("t² is F", whole.t * whole.t, r.list("split.1.A")[3], 1e-9);
}

#[test]
fn what_cannot_be_analysed_is_named() {
    let data = balanced();
    let model = Model::full_factorial(3).unwrap();
    let full = Observations::new(data.levels.clone(), &data.values).unwrap();
    // Without one cell the three-way interaction is not determined.
    let keep: Vec<usize> = (0..data.values.len())
        .filter(|i| (0..3).any(|factor| data.levels[factor][*i] == 0))
        .collect();
    let pick = |list: &[usize]| keep.iter().map(|i| list[*i]).collect::<Vec<_>>();
    let values: Vec<f64> = keep.iter().map(|i| data.values[*i]).collect();
    let levels: Vec<Vec<usize>> = data.levels.iter().map(|levels| pick(levels)).collect();
    let missing = Observations::new(levels, &values).unwrap();
    let error = anova(&missing, &model, None, SumsOfSquares::Three).unwrap_err();
    assert_eq!(
        error,
        AnovaError::NotEstimable {
            term: Term::of(&[0, 1, 2])
        }
    );
    let pairs = Model::up_to_order(3, 2).unwrap();
    assert!(anova(&missing, &pairs, None, SumsOfSquares::Three).is_ok());

    let one_level = Observations::new(vec![vec![0; 4]], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(one_level.unwrap_err(), AnovaError::OneLevel { factor: 0 });
    let gap = Observations::new(vec![vec![0, 2, 0, 2]], &[1.0, 2.0, 3.0, 4.0]);
    assert!(matches!(
        gap.unwrap_err(),
        AnovaError::Unobserved { level: 1, .. }
    ));
    assert!(Observations::new(vec![vec![0, usize::MAX]], &[1.0, 2.0]).is_err());
    assert!(Observations::new(vec![vec![0, 1, 1]], &[1.0, f64::NAN, 2.0]).is_err());

    let small = Observations::new(vec![vec![0, 1]], &[1.0, 2.0]).unwrap();
    let one = Model::full_factorial(1).unwrap();
    let error = anova(&small, &one, None, SumsOfSquares::Three).unwrap_err();
    assert_eq!(
        error,
        AnovaError::NoResidual {
            values: 2,
            parameters: 2
        }
    );
    let exact = Observations::new(vec![vec![0, 0, 1, 1]], &[0.1, 0.1, 0.3, 0.3]).unwrap();
    let error = anova(&exact, &one, None, SumsOfSquares::Three).unwrap_err();
    assert_eq!(error, AnovaError::NoError);

    // A factor of whole blocks cannot be told from the blocks.
    let boots: Vec<usize> = data.blocks.iter().map(|block| block % 2).collect();
    let whole = Observations::new(vec![boots.clone()], &data.values).unwrap();
    assert!(matches!(
        random_blocks(&whole, &one, &data.blocks),
        Err(AnovaError::NotEstimable { .. })
    ));
    assert!(matches!(
        split_plot(&full, &model, &[0], &data.blocks, None),
        Err(AnovaError::ChangesWithinBoot { factor: 0, boot: 0 })
    ));
    assert!(matches!(
        split_plot(&full, &model, &[], &data.blocks, None),
        Err(AnovaError::NotInModel { .. })
    ));
    let found = anova(&full, &pairs, None, SumsOfSquares::Three).unwrap();
    assert!(matches!(
        found.effect(&[step(0), step(1), step(2)]),
        Err(AnovaError::NotInModel { .. })
    ));
    let same = Step {
        factor: 0,
        level: 1,
        against: 1,
    };
    assert!(matches!(
        found.effect(&[same]),
        Err(AnovaError::NoSuchComparison { .. })
    ));
    assert!(matches!(
        found.effect(&[step(9)]),
        Err(AnovaError::NoSuchComparison { .. })
    ));
}
