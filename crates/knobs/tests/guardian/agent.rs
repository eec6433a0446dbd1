//! The agent that a test starts: this program, which takes a machine and does what it is told.

use std::path::Path;

use knobstat_data::words::Setting;
use knobstat_knobs::{Knobs, Options, StateDirectory};
use knobstat_sys::root::Root;

/// The agent: carries out what its standard input says, one line at a time.
pub fn agent(root: &str, state: &str, experiment: &str) {
    let root = Root::laid_out(root).unwrap();
    let state = StateDirectory::beneath(Path::new(state), &root).unwrap();
    let mut knobs = Knobs::new(root, Vec::new(), state, Options::default());
    let put_back = knobs.begin(&experiment.parse().unwrap()).unwrap();
    println!(
        "guardian {} {}",
        knobs.guardian_pid().unwrap_or_default(),
        put_back.join(", ")
    );
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            Some(("apply", settings)) => {
                let settings: Vec<Setting> = settings
                    .split(' ')
                    .filter_map(|setting| setting.split_once('='))
                    .map(|(factor, level)| Setting::new(factor, level))
                    .collect();
                match knobs.apply(&settings) {
                    Ok(applied) => println!("changed {}", applied.changed),
                    Err(error) => println!("refused {error}"),
                }
            }
            _ if line == "release" => {
                let restoration = knobs.release().unwrap();
                println!("released {} failed", restoration.failed.len());
            }
            _ => panic!("{line} is no request"),
        }
    }
}
