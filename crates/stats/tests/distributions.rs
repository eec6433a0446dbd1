//! Tail areas and quantiles against values from 40-digit arithmetic.

use knobstat_stats::Degenerate;
use knobstat_stats::distributions::{
    ChiSquared, DunnettT, FisherF, NoncentralT, Normal, Probability, StudentT, StudentizedRange,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

struct Row {
    function: String,
    parameters: Vec<f64>,
    x: f64,
    value: f64,
}

fn rows(text: &str) -> Vec<Row> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    text.lines()
        .skip(1)
        .map(|line| {
            let (function, rest) = line.split_once(',').expect("a function");
            let (rest, value) = rest.rsplit_once(',').expect("a value");
            let (parameters, x) = rest.rsplit_once(',').expect("an argument");
            Row {
                function: function.to_owned(),
                parameters: parameters
                    .trim_matches('"')
                    .split([',', ';'])
                    .filter_map(|text| text.parse().ok())
                    .collect(),
                x: number(x),
                value: number(value),
            }
        })
        .collect()
}

fn p(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

fn compute(row: &Row, line: &str) -> Result<f64, Degenerate> {
    let a = |i: usize| row.parameters[i];
    Ok(match row.function.as_str() {
        "t_sf" => StudentT::new(a(0))?.survival(row.x),
        "t_isf" => StudentT::new(a(0))?.upper_quantile(p(row.x)),
        "f_sf" => FisherF::new(a(0), a(1))?.survival(row.x),
        "chi2_sf" => ChiSquared::new(a(0))?.survival(row.x),
        "norm_sf" => Normal.survival(row.x),
        "norm_isf" => Normal.upper_quantile(p(row.x)),
        "nct_sf" => NoncentralT::new(a(0), a(1))?.survival(row.x),
        "range_sf" => StudentizedRange::new(a(0) as usize, a(1))?.survival(row.x),
        "dunnett_sf" if line.contains("equal5") => {
            DunnettT::for_sizes(8, &[8; 5], a(0))?.survival(row.x)
        }
        "dunnett_sf" if line.contains("equal2") => {
            DunnettT::for_sizes(3, &[3; 2], a(0))?.survival(row.x)
        }
        "dunnett_sf" => DunnettT::for_sizes(8, &[4, 6, 10], a(4))?.survival(row.x),
        other => panic!("unknown function {other}"),
    })
}

fn check(text: &str, at_least: usize) {
    let rows = rows(text);
    assert!(rows.len() >= at_least, "{} rows", rows.len());
    let mut worst = (0.0, String::new());
    for (row, line) in rows.iter().zip(text.lines().skip(1)) {
        let found = compute(row, line).expect("a result");
        let error = (found / row.value - 1.0).abs();
        if error > worst.0 {
            worst = (error, format!("{line}: {found:e}"));
        }
        assert!(error <= 1e-12, "{line}: found {found:e}, error {error:e}");
    }
    println!(
        "{} rows, largest relative error {:.1e} at {}",
        rows.len(),
        worst.0,
        worst.1
    );
}

#[test]
fn tail_areas_and_quantiles_have_twelve_digits() {
    check(include_str!("data/distributions/dist.csv"), 250);
}

#[test]
fn noncentral_and_multivariate_tail_areas_have_twelve_digits() {
    check(include_str!("data/distributions/more.csv"), 25);
}

#[test]
fn quantiles_lead_back_at_any_degrees_of_freedom() {
    for df in [0.3, 1.0, 2.5, 9.0, 9_999.0, 10_001.0, 3e7, 1e8, 1e15] {
        let t = StudentT::new(df).unwrap();
        for area in [1e-200, 1e-12, 0.005, 0.2, 0.4999] {
            let x = t.upper_quantile(p(area));
            let back = t.survival(x);
            assert!(
                (back / area - 1.0).abs() < 1e-12 || x == f64::MAX,
                "{df} {area} {back}"
            );
            assert_eq!(t.quantile(p(area)), -x);
        }
        assert_eq!(t.upper_quantile(p(0.5)), 0.0);
    }
    for (a, b) in [(1.0, 1.0), (3.0, 1e8), (0.5, 20.0), (1e6, 1e6)] {
        let f = FisherF::new(a, b).unwrap();
        for area in [1e-20, 0.01, 0.5, 0.9, 0.9999] {
            let back = f.survival(f.upper_quantile(p(area)));
            assert!((back / area - 1.0).abs() < 1e-12, "{a} {b} {area} {back}");
            let back = f.cdf(f.quantile(p(area)));
            assert!((back / area - 1.0).abs() < 1e-12, "{a} {b} {area} {back}");
        }
    }
    for df in [0.5, 1.0, 10.0, 1e8] {
        let chi = ChiSquared::new(df).unwrap();
        for area in [1e-20, 0.01, 0.5, 0.9, 0.9999] {
            let back = chi.survival(chi.upper_quantile(p(area)));
            // At 1e8 the last place of the quantile alone moves the area by 1e-11.
            let tolerance = 1e-12 * (1.0 + df / 1e5);
            assert!((back / area - 1.0).abs() < tolerance, "{df} {area} {back}");
        }
    }
}

#[test]
fn both_sides_of_the_switch_to_the_expansion_agree() {
    for t in [0.3, 1.0, 1.96, 5.0, 12.0, 30.0] {
        let below = StudentT::new(9_999.999_999_999_9).unwrap().survival(t);
        let above = StudentT::new(10_000.0).unwrap().survival(t);
        assert!(
            (below / above - 1.0).abs() < 1e-12,
            "{t} {below:e} {above:e}"
        );
    }
}

#[test]
fn tukey_and_dunnett_quantiles_lead_back() {
    for (groups, df) in [(2, 5.0), (6, 42.0), (15, 1e8), (3, 1.5)] {
        let range = StudentizedRange::new(groups, df).unwrap();
        for area in [0.001, 0.05, 0.5] {
            let back = range.survival(range.upper_quantile(p(area)));
            assert!(
                (back / area - 1.0).abs() < 1e-11,
                "{groups} {df} {area} {back}"
            );
        }
    }
    let dunnett = DunnettT::for_sizes(8, &[8, 3, 20], 35.0).unwrap();
    for area in [1e-6, 0.05, 0.5] {
        let back = dunnett.survival(dunnett.upper_quantile(p(area)));
        assert!((back / area - 1.0).abs() < 1e-11);
    }
    // With one comparison, or two groups, all are Student's t.
    let t = StudentT::new(7.0).unwrap();
    let one = DunnettT::for_sizes(4, &[4], 7.0).unwrap();
    assert!((one.survival(2.5) / t.two_sided(2.5) - 1.0).abs() < 1e-12);
    let two = StudentizedRange::new(2, 7.0).unwrap();
    assert!((two.survival(2.5 * 2.0_f64.sqrt()) / t.two_sided(2.5) - 1.0).abs() < 1e-12);
}

#[test]
fn noncentral_quantiles_lead_back() {
    for (df, shift) in [(3.0, 2.0), (50.0, -4.0), (1e7, 3.0), (12.0, 0.0)] {
        let t = NoncentralT::new(df, shift).unwrap();
        for area in [1e-6, 0.05, 0.5, 0.97] {
            assert!((t.cdf(t.quantile(p(area))) / area - 1.0).abs() < 1e-11);
            assert!((t.survival(t.upper_quantile(p(area))) / area - 1.0).abs() < 1e-11);
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    for df in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(StudentT::new(df).is_err());
        assert!(ChiSquared::new(df).is_err());
        assert!(FisherF::new(1.0, df).is_err());
        assert!(NoncentralT::new(df, 0.0).is_err());
        assert!(StudentizedRange::new(3, df).is_err());
        assert!(DunnettT::for_sizes(3, &[3], df).is_err());
    }
    assert!(StudentizedRange::new(1, 5.0).is_err());
    assert!(DunnettT::for_sizes(0, &[3], 5.0).is_err());
    assert!(DunnettT::new(&[], 5.0).is_err());
    assert!(DunnettT::new(&[1.0], 5.0).is_err());
    assert!(Probability::new(1.0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn areas_are_probabilities_and_fall(
        df in 0.05f64..1e9, other in 0.05f64..1e6, x in 0.0f64..1e4, factor in 1.0f64..3.0,
    ) {
        let t = StudentT::new(df).unwrap();
        let f = FisherF::new(other, df).unwrap();
        let chi = ChiSquared::new(df).unwrap();
        let areas: [&dyn Fn(f64) -> f64; 4] =
            [&|x| t.survival(x), &|x| f.survival(x), &|x| chi.survival(x), &|x| Normal.survival(x)];
        for area in areas {
            let (near, far) = (area(x), area(x * factor));
            prop_assert!((0.0..=1.0).contains(&near), "{near}");
            prop_assert!(far <= near * (1.0 + 1e-12), "{far} {near}");
        }
        prop_assert!((t.survival(x) + t.cdf(x) - 1.0).abs() < 1e-15);
    }
}
