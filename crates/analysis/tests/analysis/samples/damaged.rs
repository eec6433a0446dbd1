//! Files that are damaged or were never any: no reader panics, hangs, or makes much of little.

use knobstat_analysis::samples::Series;
use knobstat_analysis::samples::read::{Choice, Content, Format, detect, read};
use knobstat_stats::random::Generator;

/// Sound files, a few of each format.
const FILES: [&str; 9] = [
    "# seconds\n1.25\n1.5 \n\n0.75e1\r\n-3\n",
    "a 1 2\nb\t3 4\n# c\nd 5\n",
    "name,time,\"n, quoted\"\n\"a\"\"b\",1.5,2\nc,,3\n\"d\ne\",2.5,4\n",
    "time\n1\n2\n3\n",
    "t;x\n1;2\n3;4\n",
    r#"{"results":[{"command":"a","mean":1,"times":[1.0,2.0],"memory_usage_byte":[1,2],"exit_codes":[0,1]}]}"#,
    r#"{"schema_version":2,"primary_metric":"time_cpu","results":[{"name":"a","command":"a","measurements":[
       {"time_wall_clock":{"value":1,"unit":"second"},"time_user":{"value":2,"unit":"millisecond"},
       "time_system":{"value":3,"unit":"second"},"memory_peak_resident":{"value":4,"unit":"byte"},"exit_code":0}]}]}"#,
    "goos: linux\npkg: x\nUnit w better=higher\nBenchmarkA-8 \t 100\t 12.5 ns/op\t 4 B/op 7 w\nBenchmarkA-8 100 13 ns/op\nPASS\n",
    "BenchmarkX 1 2 MB/s\npkg: y\nBenchmarkX/sub=1 5 6 MB/s\n",
];

/// Pieces that mean something to one reader or another.
const PIECES: [&[u8]; 40] = [
    b"\n",
    b"\r\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b" ",
    b"\"",
    b"\"\"",
    b"#",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"null",
    b"true",
    b"1e999",
    b"-1e-999",
    b"nan",
    b"inf",
    b"0x1p3",
    b"1,5",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"\\",
    b"Benchmark",
    b"BenchmarkZ 1 1 u\n",
    b"ns/op",
    b"Unit u better=lower\n",
    b"pkg: z\n",
    b"\"results\":[",
    b"\"times\":[",
    b"\"measurements\":[{}",
    b"\"schema_version\":2,",
    b"99999999999999999999999999",
    b"[[[[[[[[",
    b"\xe2\x80\xa8",
];

const FORMATS: [Format; 4] = [
    Format::Columns,
    Format::Csv,
    Format::Hyperfine,
    Format::GoBench,
];

fn damaged(random: &mut Generator) -> Vec<u8> {
    let mut bytes = if random.below(8) == 0 {
        Vec::new()
    } else {
        FILES[random.below(FILES.len())].as_bytes().to_vec()
    };
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(9)).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 => {
                let copy = bytes[at..end].repeat(1 + random.below(20));
                bytes.splice(at..at, copy);
            }
            3 => bytes.insert(at, random.next_u64() as u8),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..end, piece.iter().copied());
            }
        }
    }
    bytes
}

/// The memory that a result holds.
fn held(series: &[Series]) -> usize {
    series
        .iter()
        .map(|series| {
            size_of::<Series>()
                + series.values.capacity() * size_of::<f64>()
                + series.label.capacity()
                + series.metric.capacity()
                + series.unit.capacity()
                + series.notes.iter().map(String::capacity).sum::<usize>()
        })
        .sum()
}

fn exercise(bytes: &[u8], random: &mut Generator) -> bool {
    let words = [
        "1",
        "2",
        "time",
        "n, quoted",
        "B/op",
        "w",
        "memory",
        "0",
        "",
        "\u{e9}",
        "-1",
    ];
    let wanted: Vec<String> = (0..random.below(5).saturating_sub(2))
        .map(|_| words[random.below(words.len())].to_owned())
        .collect();
    let choice = Choice {
        columns: &wanted,
        delimiters: [Some(","), Some(" ;"), Some(""), None, None, None][random.below(6)],
    };
    let format = match detect(bytes) {
        Ok(Content::Numbers(format)) if random.below(4) > 0 => format,
        Err(error) if random.below(50) == 0 => {
            assert!(error.to_string().len() < 1000, "{error}");
            return false;
        }
        _ => FORMATS[random.below(FORMATS.len())],
    };
    match read(bytes, format, choice) {
        Ok(series) => {
            assert!(!series.is_empty());
            for series in &series {
                assert!(series.values.iter().all(|value| value.is_finite()));
            }
            let most = 128 * (bytes.len() + 16) * wanted.len().max(1);
            assert!(held(&series) <= most, "{} {most}", held(&series));
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.len() < 1500 && !text.contains(['\n', '\u{1b}', '\0']),
                "{text:?}"
            );
            false
        }
    }
}

#[test]
fn no_damaged_file_makes_a_panic() {
    let rounds = if std::env::var_os("KNOBSTAT_LONG").is_some() {
        10_000_000
    } else {
        100_000
    };
    let seed = 20_101_221;
    println!("seed {seed}, {rounds} inputs");
    let mut random = Generator::from_seed(seed);
    let mut read = 0;
    for _ in 0..rounds {
        let bytes = damaged(&mut random);
        read += usize::from(exercise(&bytes, &mut random));
    }
    println!("{read} gave numbers");
    assert!(read > rounds / 10 && read < rounds - rounds / 10, "{read}");
}

#[test]
fn random_bytes_are_read_by_nobody_as_much() {
    let seed = 7;
    println!("seed {seed}");
    let mut random = Generator::from_seed(seed);
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..random.below(300))
            .map(|_| random.next_u64() as u8)
            .collect();
        exercise(&bytes, &mut random);
    }
}

#[test]
fn long_and_deep_files_take_time_in_proportion() {
    let mut random = Generator::from_seed(1);
    for text in [
        "[".repeat(1_000_000),
        "{\"results\":[".repeat(100_000),
        "\"".repeat(1_000_001),
        ",".repeat(1_000_000),
        format!("a,b\n{}", "\"\"\"\",1\n".repeat(200_000)),
        "\n".repeat(1_000_000),
        "1 ".repeat(500_000),
        format!("1\n{}", "9".repeat(1_000_000)),
        "Benchmark".repeat(100_000),
        "BenchmarkA 1 1 a 1 b 1 c\n".repeat(50_000),
        (0..20_000)
            .map(|unit| format!("BenchmarkA 1 1 u{unit}\n"))
            .collect(),
        (0..20_000)
            .map(|name| format!("Benchmark{name} 1 1 u\n"))
            .collect(),
        format!(
            "{{\"results\":[{{\"measurements\":[{}{{}}]}}]}}",
            "{},".repeat(200_000)
        ),
    ] {
        for format in FORMATS {
            let _ = read(text.as_bytes(), format, Choice::default());
        }
        exercise(text.as_bytes(), &mut random);
    }
}
