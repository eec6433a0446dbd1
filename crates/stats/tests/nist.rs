//! The NIST StRD data sets: certified digits of means, standard deviations, autocorrelations and
//! one-way analyses of variance, and that plain two-pass arithmetic in doubles never has more.

use knobstat_stats::anova::{one_way, one_way_of_decimals};
use knobstat_stats::arithmetic::DoubleDouble;
use knobstat_stats::health::{autocorrelation, autocorrelation_of_decimals};
use knobstat_stats::summary::{Moments, moments_of_decimals};

/// The number of correct significant digits, at most the 15 that are certified.
fn digits(found: f64, certified: f64) -> f64 {
    let error = if certified == 0.0 {
        found.abs()
    } else {
        (found / certified - 1.0).abs()
    };
    if error == 0.0 {
        15.0
    } else {
        (-error.log10()).clamp(0.0, 15.0)
    }
}

fn number_after(text: &str, label: &str) -> f64 {
    text.lines()
        .find(|line| line.starts_with(label))
        .and_then(|line| line.rsplit(':').next())
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("no {label}"))
}

const UNIVARIATE: [(&str, &str); 8] = [
    ("Lew", include_str!("data/nist/Lew.dat")),
    ("Lottery", include_str!("data/nist/Lottery.dat")),
    ("Mavro", include_str!("data/nist/Mavro.dat")),
    ("Michelso", include_str!("data/nist/Michelso.dat")),
    ("NumAcc1", include_str!("data/nist/NumAcc1.dat")),
    ("NumAcc2", include_str!("data/nist/NumAcc2.dat")),
    ("NumAcc3", include_str!("data/nist/NumAcc3.dat")),
    ("NumAcc4", include_str!("data/nist/NumAcc4.dat")),
];

/// The words after the first line of dashes.
fn univariate_words(text: &str) -> Vec<&str> {
    text.lines()
        .skip_while(|line| !line.starts_with("-----"))
        .skip(1)
        .flat_map(str::split_whitespace)
        .collect()
}

/// The words of the data part, which begins on line 61.
fn anova_words(text: &str) -> Vec<&str> {
    text.lines()
        .skip(60)
        .flat_map(str::split_whitespace)
        .collect()
}

/// Mean, standard deviation and lag-1 autocorrelation by plain two-pass arithmetic in doubles.
fn plain(values: &[f64]) -> [f64; 3] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let products: f64 = values
        .windows(2)
        .map(|p| (p[0] - mean) * (p[1] - mean))
        .sum();
    [mean, (squares / (n - 1.0)).sqrt(), products / squares]
}

#[test]
fn univariate_sets() {
    println!("correct digits of mean, standard deviation, autocorrelation");
    println!(
        "{:10}{:>18}{:>18}{:>18}",
        "set", "two-pass doubles", "doubles", "decimals"
    );
    for (name, text) in UNIVARIATE {
        let certified = [
            number_after(text, "Sample Mean"),
            number_after(text, "Sample Standard Deviation"),
            number_after(text, "Sample Autocorrelation"),
        ];
        let words = univariate_words(text);
        let values: Vec<f64> = words.iter().map(|word| word.parse().unwrap()).collect();
        let decimals: Vec<DoubleDouble> = words.iter().map(|word| word.parse().unwrap()).collect();
        let moments = Moments::of(&values).unwrap();
        let exact = moments_of_decimals(&decimals).unwrap();
        let ours = [
            moments.mean,
            moments.sd.unwrap(),
            autocorrelation(&values, 1).unwrap(),
        ];
        let best = [
            exact.mean,
            exact.sd.unwrap(),
            autocorrelation_of_decimals(&decimals, 1).unwrap(),
        ];
        let count =
            |found: [f64; 3]| std::array::from_fn::<f64, 3, _>(|i| digits(found[i], certified[i]));
        let (plain, ours, best) = (count(plain(&values)), count(ours), count(best));
        let show = |d: [f64; 3]| format!("{:.1} {:.1} {:.1}", d[0], d[1], d[2]);
        println!(
            "{name:10}{:>18}{:>18}{:>18}",
            show(plain),
            show(ours),
            show(best)
        );
        for i in 0..3 {
            // What lies beyond 14 digits is the rounding of the result itself.
            assert!(
                ours[i] >= plain[i].min(14.0),
                "{name} {i}: {ours:?} {plain:?}"
            );
            assert!(best[i] >= 14.0, "{name} {i}: {best:?}");
        }
    }
}

const ANOVA: [(&str, &str); 11] = [
    ("SiRstv", include_str!("data/nist/SiRstv.dat")),
    ("SmLs01", include_str!("data/nist/SmLs01.dat")),
    ("SmLs02", include_str!("data/nist/SmLs02.dat")),
    ("SmLs03", include_str!("data/nist/SmLs03.dat")),
    ("AtmWtAg", include_str!("data/nist/AtmWtAg.dat")),
    ("SmLs04", include_str!("data/nist/SmLs04.dat")),
    ("SmLs05", include_str!("data/nist/SmLs05.dat")),
    ("SmLs06", include_str!("data/nist/SmLs06.dat")),
    ("SmLs07", include_str!("data/nist/SmLs07.dat")),
    ("SmLs08", include_str!("data/nist/SmLs08.dat")),
    ("SmLs09", include_str!("data/nist/SmLs09.dat")),
];

/// F by plain two-pass arithmetic in doubles.
fn plain_f(groups: &[Vec<f64>]) -> f64 {
    let n: usize = groups.iter().map(Vec::len).sum();
    let mean = groups.iter().flatten().sum::<f64>() / n as f64;
    let (mut between, mut within) = (0.0, 0.0);
    for group in groups {
        let centre = group.iter().sum::<f64>() / group.len() as f64;
        between += group.len() as f64 * (centre - mean) * (centre - mean);
        within += group
            .iter()
            .map(|x| (x - centre) * (x - centre))
            .sum::<f64>();
    }
    between / (groups.len() - 1) as f64 / (within / (n - groups.len()) as f64)
}

#[test]
fn analysis_of_variance_sets() {
    println!("correct digits of F");
    println!(
        "{:10}{:>18}{:>10}{:>10}",
        "set", "two-pass doubles", "doubles", "decimals"
    );
    for (name, text) in ANOVA {
        let certified: f64 = text
            .lines()
            .take(60)
            .find(|line| line.starts_with("Between"))
            .and_then(|line| line.split_whitespace().last())
            .and_then(|word| word.parse().ok())
            .unwrap();
        let words = anova_words(text);
        let count = words
            .iter()
            .step_by(2)
            .map(|w| w.parse::<usize>().unwrap())
            .max()
            .unwrap();
        let mut doubles = vec![Vec::new(); count];
        let mut decimals = vec![Vec::new(); count];
        for pair in words.chunks_exact(2) {
            let group = pair[0].parse::<usize>().unwrap() - 1;
            doubles[group].push(pair[1].parse::<f64>().unwrap());
            decimals[group].push(pair[1].parse::<DoubleDouble>().unwrap());
        }
        let views: Vec<&[f64]> = doubles.iter().map(Vec::as_slice).collect();
        let plain = digits(plain_f(&doubles), certified);
        let ours = digits(one_way(&views).unwrap().f, certified);
        let best = digits(one_way_of_decimals(&decimals).unwrap().f, certified);
        println!("{name:10}{plain:>18.1}{ours:>10.1}{best:>10.1}");
        // Where the doubles themselves are off, both are off by chance: half a digit is not less.
        assert!(ours >= plain.min(14.0) - 0.5, "{name}: {ours} {plain}");
        assert!(best >= 13.9, "{name}: {best}");
    }
}
