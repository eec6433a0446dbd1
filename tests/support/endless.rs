//! An experiment whose workload tells that it runs, and then runs until it is ended.

use std::io::Read;
use std::process::{Child, Stdio};

use super::machine::Machine;
use super::pipe::{Pipe, watched};
use super::processes::kill;
use super::program::Place;

/// The experiment while its first run lasts.
pub struct Endless {
    /// The program.
    pub front: Child,
    /// The workload's process.
    pub workload: i32,
}

impl Endless {
    /// Starts it with these further lines of `[workload]` and these tables, and waits until its
    /// workload runs.
    #[track_caller]
    pub fn start(place: &Place, machine: &Machine, workload: &str, tables: &str) -> Self {
        let mut ready = Pipe::new(place, "ready");
        let file = place.file(
            "endless.toml",
            &format!(
                "name = \"endless\"\n[workload]\nkind = \"command\"\ncommand = \"sh -c 'echo $$ > {}; exec sleep 1000'\"\nwarmup_runs = 0\n{workload}\n{tables}\n",
                ready.path.display()
            ),
        );
        let front = place
            .knobstat_on(machine)
            .args(["run", "--quiet"])
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = ready.hear(&watched(&front));
        let workload = said.parse().expect("the workload's process");
        std::fs::remove_file(ready.path).unwrap();
        Self { front, workload }
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: &str) {
        kill(signal, self.front.id() as i32);
    }

    /// What the program writes to standard error until it ends.
    pub fn said(&mut self) -> String {
        let mut text = String::new();
        let mut output = self.front.stderr.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        text
    }
}
