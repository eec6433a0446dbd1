//! ministat on random bytes and random arguments: always a report or a message, never a panic.

use std::ffi::OsString;

use crate::generator::{Generator, invocation};
use crate::memory::{Files, describe, run};

const SEED: u64 = 0x6d69_6e69;

/// Inputs in the default test; a hundred times more with `KNOBSTAT_LONG`.
const INPUTS: u64 = 100_000;

/// More than the inputs of all tests of this program need, in kB.
const LARGEST_MEMORY: u64 = 64 * 1024;

/// Pieces that mean something to a parser of numbers, lines or options.
const PIECES: [&str; 36] = [
    "0",
    "1",
    "7",
    "9",
    "12",
    "0.5",
    ".",
    ",",
    "-",
    "+",
    "e",
    "E9",
    "e-400",
    "0x",
    "p",
    "1p3",
    "inf",
    "nan",
    "nan(",
    ")",
    "infinity",
    "#",
    " ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\0",
    "\u{b}",
    "-0",
    "999",
    "1e308",
    "5e-324",
    "9007199254740993",
    "abc",
    "\u{e9}",
];

fn soup(random: &mut Generator, longest: usize) -> Vec<u8> {
    let pieces = random.below(longest);
    let mut text: Vec<u8> = (0..pieces)
        .flat_map(|_| random.pick(&PIECES).bytes())
        .collect();
    if !text.is_empty() && random.once_in(4) {
        let at = random.below(text.len());
        text[at] = random.next().to_le_bytes()[0];
    }
    text
}

/// Changes, removes or doubles bytes.
fn mutate(random: &mut Generator, text: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        if text.is_empty() {
            return;
        }
        let at = random.below(text.len());
        match random.below(3) {
            0 => text[at] = random.next().to_le_bytes()[0],
            1 => {
                text.remove(at);
            }
            _ => text.insert(at, text[at]),
        }
    }
}

fn random_case(random: &mut Generator) -> (Vec<OsString>, Files) {
    let (mut arguments, mut files) = invocation(random, true);
    match random.below(3) {
        0 => {
            for content in files.values_mut() {
                mutate(random, content);
            }
        }
        1 => {
            for content in files.values_mut() {
                *content = soup(random, 60);
            }
        }
        _ => {}
    }
    if random.once_in(6) {
        let option = random.pick(&["-w", "-c", "-C", "-d", "--compat", "-", "-q", "-n"]);
        let mut value = soup(random, 5);
        if option == "-w" {
            // A plot is as wide as it is told to be.
            value.truncate(4);
        }
        let value = String::from_utf8_lossy(&value).into_owned();
        arguments.insert(0, format!("{option}{value}").into());
    } else if random.once_in(2) {
        arguments.insert(0, random.pick(&["--compat=2015", "--compat=newest"]).into());
    }
    (arguments, files)
}

/// The largest memory of this process, in kB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[test]
fn random_inputs_give_a_report_or_a_message() {
    println!("seed {SEED}");
    let factor = if std::env::var_os("KNOBSTAT_LONG").is_some() {
        100
    } else {
        1
    };
    let (mut reports, mut failures) = (0_u64, 0_u64);
    for index in 0..INPUTS * factor {
        let mut random = Generator::new(SEED ^ (index << 20));
        let (arguments, files) = random_case(&mut random);
        let output = run(&arguments, &files);
        let context = || format!("input {index}: {}", describe(&arguments, &files));
        if output.exit_code == 0 {
            reports += 1;
            assert!(output.standard_error.is_empty(), "{}", context());
            assert!(output.standard_output.ends_with(b"\n"), "{}", context());
        } else {
            failures += 1;
            assert!(matches!(output.exit_code, 1 | 2), "{}", context());
            assert!(output.standard_output.is_empty(), "{}", context());
            assert!(output.standard_error.ends_with(b"\n"), "{}", context());
        }
    }
    println!("{reports} reports, {failures} failures");
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak} kB");
        assert!(peak < LARGEST_MEMORY, "small inputs take little memory");
    }
    assert!(reports > 0 && failures > 0);
}
