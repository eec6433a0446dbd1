//! What a front says between runs: how far it is.

use std::io::BufRead;

/// Reads progress until so many more runs have begun, or the front has ended; how many are finished
/// by then.
pub fn finished_after(progress: &mut impl BufRead, runs: u64) -> u64 {
    let mut finished = 0;
    let mut begun = 0;
    while begun < runs {
        let mut line = Vec::new();
        let read = progress.read_until(b'\n', &mut line);
        if read.expect("what a front says can be read") == 0 {
            break;
        }
        let number = String::from_utf8_lossy(&line)
            .strip_prefix('[')
            .and_then(|line| line.split_once("run "))
            .and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
        if let Some(number) = number {
            finished = number - 1;
            begun += 1;
        }
    }
    finished
}
