//! Random numbers, and random inputs and arguments for ministat made of them.

use std::ffi::OsString;

use crate::memory::Files;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Generator(u64);

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// At least 0 and less than 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How the numbers of one file look.
struct Style {
    center: f64,
    spread: f64,
    decimals: usize,
    exotic: bool,
}

impl Style {
    fn new(random: &mut Generator) -> Self {
        let scale = 10_f64.powi(random.below(9) as i32 - 3);
        Self {
            center: (random.unit() - 0.3) * scale * 10.0,
            spread: scale * random.unit(),
            decimals: random.below(8),
            exotic: random.once_in(4),
        }
    }

    fn number(&self, random: &mut Generator) -> String {
        let value = self.center + (random.unit() + random.unit() - 1.0) * self.spread;
        let decimals = self.decimals;
        if !self.exotic || !random.once_in(3) {
            return format!("{value:.decimals$}");
        }
        match random.below(12) {
            0 => format!("{value:e}"),
            1 => format!("+{:.decimals$}", value.abs()),
            2 => format!("0x{:x}", random.below(5000)),
            3 => format!("-0X1.{:x}p{}", random.below(1 << 20), random.below(12)),
            4 => format!("{}.", random.below(500)),
            5 => format!(".{}", random.below(500)),
            6 => format!("{value:.decimals$}E+0"),
            7 => "-0".to_owned(),
            8 if random.once_in(4) => random.pick(&["inf", "-INF", "Infinity"]).to_owned(),
            9 if random.once_in(4) => random.pick(&["nan", "-nan", "NaN(x1)"]).to_owned(),
            10 => format!("{value:.30}"),
            _ => format!("{value}"),
        }
    }
}

/// One file: numbers in a few columns, comments, blank lines, line ends of both kinds, and now
/// and then something that is wrong.
fn file(random: &mut Generator, column: usize, separators: &[&str], with_errors: bool) -> Vec<u8> {
    let style = Style::new(random);
    let lines = if with_errors && random.once_in(4) {
        random.below(5)
    } else {
        let most = if random.once_in(8) { 200 } else { 25 };
        3 + random.below(most)
    };
    let line_end = random.pick(&["\n", "\n", "\n", "\r\n", " \n", "\t\r\n"]);
    let mut text = String::new();
    for _ in 0..lines {
        match random.below(40) {
            0 => text += "# a comment\n",
            1 => text += line_end,
            2 => text += " \t \n",
            3 => text += "1 # 2 3\n",
            4 if with_errors && random.once_in(4) => {
                text += random.pick(&["abc", "1x", "3#x", "1,5"])
            }
            5 if with_errors && random.once_in(8) => {
                text += "7 ";
                text += &random
                    .pick(&[" ", "x", "8 "])
                    .repeat(3000 + random.below(9000));
            }
            6 if with_errors && random.once_in(8) => text += "4\0 5\n",
            _ => {}
        }
        let columns = column + random.below(2);
        if random.once_in(12) {
            text += random.pick(separators);
        }
        for index in 1..=columns {
            text += &style.number(random);
            if index < columns || random.once_in(9) {
                text += random.pick(separators);
            }
        }
        if random.once_in(10) {
            text += " # x";
        }
        text += line_end;
    }
    if random.once_in(10) {
        text.truncate(text.trim_end().len());
    }
    text.into_bytes()
}

/// Arguments and files for one run. `with_errors`: some of both may be wrong.
pub fn invocation(random: &mut Generator, with_errors: bool) -> (Vec<OsString>, Files) {
    let mut options: Vec<Vec<String>> = Vec::new();
    let column = if random.once_in(3) {
        1 + random.below(3)
    } else {
        1
    };
    let separators: &[&str] = if random.once_in(5) {
        options.push(vec![
            "-d".to_owned(),
            random.pick(&[",;", ",", "; ,", "|,"]).to_owned(),
        ]);
        &[","]
    } else {
        &[" ", "\t", "  ", " \t"]
    };
    if column > 1 {
        options.push(vec![format!("-C{column}")]);
    }
    for flag in ["-n", "-A", "-s"] {
        if random.once_in(4) {
            options.push(vec![flag.to_owned()]);
        }
    }
    if random.once_in(2) {
        let level = random.pick(&["80", "90", "95", "98", "99", "99.5", "0x5F", " 9.5e1"]);
        options.push(vec!["-c".to_owned(), level.to_owned()]);
    }
    if random.once_in(2) {
        options.push(vec![format!("-w{}", 2 + random.below(160))]);
    }
    if with_errors && random.once_in(12) {
        let wrong = [
            "-c91",
            "-c",
            "-w",
            "-w-1",
            "-w1",
            "-w0",
            "-wx",
            "-C0",
            "-C",
            "-Cx",
            "-d",
            "-x",
            "--long",
            "-w99999999999",
            "-c95x",
            "--",
        ];
        options.push(vec![random.pick(&wrong).to_owned()]);
    }
    let sets = 1 + random.below(7);
    let mut files = Files::new();
    let mut arguments: Vec<Vec<String>> = Vec::new();
    for index in 0..sets {
        let name = match random.below(60) {
            0 if with_errors => "missing".to_owned(),
            1 if index == 0 => "-".to_owned(),
            _ => format!("set{index}"),
        };
        if name != "missing" {
            let key = if name == "-" {
                String::new()
            } else {
                name.clone()
            };
            let broken = with_errors && random.once_in(8);
            files.insert(key.into(), file(random, column, separators, broken));
        }
        if name != "-" || !random.once_in(2) {
            arguments.push(vec![name]);
        }
    }
    for option in options {
        let at = random.below(arguments.len() + 1);
        arguments.insert(at, option);
    }
    let arguments = arguments
        .into_iter()
        .flatten()
        .map(OsString::from)
        .collect();
    (arguments, files)
}
