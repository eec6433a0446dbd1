//! Kills at random: an experiment runs over a machine and its processes are killed at random
//! moments: the front, the agent, the guardian, all of them, some in the middle of putting back.
//! After each the tree is, byte for byte, what it was, but for a value that somebody else wrote;
//! and no finished run is missing.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use knobstat_knobs::guardian::MARK;
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::processes;

use super::processes::children;
use super::program::{Place, output};
use super::progress::finished_after;
use super::random::Random;

/// The files of a machine by name.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// A machine that an experiment runs over while its processes are killed.
pub struct Campaign<'m> {
    /// The directory that stands for `/`.
    pub root: &'m Path,
    /// The experiment file. It holds swappiness at another value than 60.
    pub experiment: &'m str,
    /// How many times something is killed.
    pub kills: u32,
    /// Every file with its bytes.
    pub bytes: &'m dyn Fn() -> Tree,
    /// Somebody else writes a value to a file.
    pub write: &'m dyn Fn(&str, &str),
}

/// A process that works on a tree, and what it is.
struct Worker {
    role: String,
    held: PidFd,
}

/// The agent, the guardian and the restorer of a tree that are there now.
fn workers(tree: &Path) -> Vec<Worker> {
    let tree = tree.canonicalize().unwrap();
    processes::all()
        .into_iter()
        .filter_map(|process| {
            let words = processes::command_line(process.pid)?;
            let about = words.windows(2).any(|pair| {
                pair[0] == "--root" && Path::new(&pair[1]).canonicalize().is_ok_and(|p| p == tree)
            });
            let role = words
                .iter()
                .find(|word| ["agent", "guardian", "restore", "run"].contains(&word.as_str()))?;
            let held = PidFd::open(process.pid).ok().filter(|_| about)?;
            // Its number may have gone to another process meanwhile.
            (processes::command_line(process.pid)? == words).then(|| Worker {
                role: role.clone(),
                held,
            })
        })
        .collect()
}

/// Waits until nothing works on a tree any more.
fn wait_until_left_alone(tree: &Path) {
    loop {
        let workers = workers(tree);
        if workers.is_empty() {
            return;
        }
        for worker in workers {
            worker.held.wait_ended(None).unwrap();
        }
    }
}

/// Kills what has one of these roles; tells whether anything did.
fn kill(tree: &Path, roles: &[&str]) -> bool {
    let mut hit = false;
    for worker in workers(tree) {
        if roles.contains(&worker.role.as_str()) {
            worker.held.kill().unwrap();
            hit = true;
        }
    }
    hit
}

/// What is killed, and when it is.
#[derive(Clone, Copy, Debug)]
enum Blow {
    /// The front alone: the agent sees it hang up and puts back.
    Front,
    /// The agent alone: the guardian puts back.
    Agent,
    /// The guardian alone: the agent refuses to go on, and puts back.
    Guardian,
    /// Everything at once: the journal is all that is left.
    All,
    /// The front is asked to end, and everything is killed while the agent puts back.
    WhilePuttingBack,
    /// The agent, and then the guardian while it puts back.
    WhileTheGuardianPutsBack,
    /// Everything, and then `restore` itself in the midst of it.
    WhileRestoring,
}

const BLOWS: [Blow; 7] = [
    Blow::Front,
    Blow::Agent,
    Blow::Guardian,
    Blow::All,
    Blow::WhilePuttingBack,
    Blow::WhileTheGuardianPutsBack,
    Blow::WhileRestoring,
];

/// Those that end the agent at once.
const AGENTS_END: [Blow; 4] = [
    Blow::Agent,
    Blow::All,
    Blow::WhileTheGuardianPutsBack,
    Blow::WhileRestoring,
];

/// When somebody else writes a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interference {
    Never,
    /// At some moment: the agent may notice, or turn the setting once more, or not have turned it.
    AtAnyMoment,
    /// When the setting is turned and read back, and the agent is stopped until it is killed: it
    /// stands for certain when the machine is put back. (Between writing and reading back any
    /// value may be what the kernel made of ours.)
    UnnoticedByTheAgent,
}

/// A setting that the experiment holds, and that somebody else writes now and then.
const SWAPPINESS: &str = "proc/sys/vm/swappiness";
const SOMEBODY_ELSES: &str = "33\n";

fn knobstat(place: &Place, root: &Path) -> Command {
    let mut command = place.knobstat();
    command.arg("--root").arg(root);
    command
}

fn start(place: &Place, root: &Path, file: &Path) -> Child {
    knobstat(place, root)
        .arg("run")
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A finished attempt as the store keeps it.
#[derive(Debug, PartialEq)]
struct Finished {
    run: String,
    ok: bool,
}

/// Every attempt that was not broken off, in the order of execution; what somebody else's value
/// spoiled is finished as well.
fn finished_attempts(place: &Place) -> Vec<Finished> {
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert!(
        list.as_array().is_some_and(|all| all.len() < 2),
        "one experiment: {list}"
    );
    let Some(id) = list[0]["id"].as_str() else {
        return Vec::new();
    };
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    export["record"]["attempts"]
        .as_array()
        .expect("attempts")
        .iter()
        .filter(|attempt| attempt["result"]["outcome"] != "Interrupted")
        .map(|attempt| Finished {
            run: attempt["run"].as_str().expect("a run").to_owned(),
            ok: attempt["result"]["outcome"] == "Ok",
        })
        .collect()
}

/// Strikes, and returns what the front, or a restorer that was struck too late, said to the end.
fn strike(
    blow: Blow,
    random: &mut Random,
    place: &Place,
    tree: &Path,
    front: &mut Child,
    mut progress: BufReader<ChildStderr>,
) -> String {
    let mut said = String::new();
    match blow {
        Blow::Front => front.kill().unwrap(),
        // Where it has not begun yet there is only the front to be hit.
        Blow::Agent | Blow::Guardian => {
            let role = if matches!(blow, Blow::Agent) {
                "agent"
            } else {
                "guardian"
            };
            if !kill(tree, &[role]) {
                front.kill().unwrap();
            }
        }
        Blow::All => {
            kill(tree, &["run", "agent", "guardian"]);
        }
        Blow::WhilePuttingBack => {
            let end = Command::new("kill").arg(front.id().to_string()).status();
            assert!(end.unwrap().success());
            random.pass(Duration::from_millis(20));
            kill(tree, &["run", "agent", "guardian"]);
        }
        Blow::WhileTheGuardianPutsBack => {
            let guardian = workers(tree).into_iter().find(|w| w.role == "guardian");
            if !kill(tree, &["agent"]) {
                front.kill().unwrap();
            }
            random.pass(Duration::from_millis(20));
            if let Some(guardian) = guardian {
                guardian.held.kill().unwrap();
            }
        }
        Blow::WhileRestoring => {
            kill(tree, &["run", "agent", "guardian"]);
            front.wait().unwrap();
            wait_until_left_alone(tree);
            for _ in 0..2 {
                let mut restore = knobstat(place, tree)
                    .arg("restore")
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                random.pass(Duration::from_millis(60));
                restore.kill().unwrap();
                restore.wait().unwrap();
                let mut stdout = restore.stdout.take().unwrap();
                stdout.read_to_string(&mut said).unwrap();
            }
        }
    }
    // A front whose agent is gone says so and ends by itself.
    progress.read_to_string(&mut said).unwrap();
    front.wait().unwrap();
    wait_until_left_alone(tree);
    said
}

fn differing(now: &Tree, before: &Tree) -> Vec<String> {
    let text = |bytes: Option<&Vec<u8>>| {
        bytes.map_or("nothing".to_owned(), |bytes| {
            String::from_utf8_lossy(bytes).trim().to_owned()
        })
    };
    before
        .keys()
        .chain(now.keys().filter(|path| !before.contains_key(*path)))
        .filter(|path| now.get(*path) != before.get(*path))
        .map(|path| {
            let (now, before) = (text(now.get(path)), text(before.get(path)));
            format!("{path}: {now} and not {before}")
        })
        .collect()
}

/// Carries a campaign out.
pub fn carry_out(campaign: &Campaign<'_>) {
    let mut random = Random::seeded(0x1087_0016);
    let place = Place::new();
    let file = place.file("forced.toml", campaign.experiment);
    let before = (campaign.bytes)();
    let mut finished: Vec<Finished> = Vec::new();
    let mut turned = 0;
    for number in 0..campaign.kills {
        // Every eighth certainly, and as many at any moment.
        let interference = match (number % 8, random.below(7)) {
            (7, _) => Interference::UnnoticedByTheAgent,
            (_, 0) => Interference::AtAnyMoment,
            _ => Interference::Never,
        };
        let blows: &[Blow] = match interference {
            Interference::UnnoticedByTheAgent => &AGENTS_END,
            _ => &BLOWS,
        };
        let blow = blows[random.below(blows.len() as u64) as usize];
        let told = format!("blow {number}, {blow:?}, interference {interference:?}");
        let mut front = start(&place, campaign.root, &file);
        let mut progress = BufReader::new(front.stderr.take().unwrap());
        let runs = match interference {
            // The settings of a run hold once the next one begins.
            Interference::UnnoticedByTheAgent => 2 + random.below(3),
            _ => random.below(4),
        };
        let done = finished_after(&mut progress, runs);
        let mut was_turned = false;
        match interference {
            Interference::Never => {}
            Interference::AtAnyMoment => {
                random.pass(Duration::from_millis(5));
                was_turned = (campaign.bytes)()[SWAPPINESS] != before[SWAPPINESS];
                (campaign.write)(SWAPPINESS, SOMEBODY_ELSES);
            }
            Interference::UnnoticedByTheAgent => {
                // By its parent: what it is about to start still has its words.
                stop(children(front.id())[0]);
                was_turned = (campaign.bytes)()[SWAPPINESS] != before[SWAPPINESS];
                assert!(was_turned, "{told}: it is turned for all runs");
                (campaign.write)(SWAPPINESS, SOMEBODY_ELSES);
            }
        }
        random.pass(Duration::from_millis(if runs == 0 { 400 } else { 40 }));
        turned += u32::from((campaign.bytes)() != before);
        let said = strike(
            blow,
            &mut random,
            &place,
            campaign.root,
            &mut front,
            progress,
        );

        // The next who comes puts back what nobody was left to put back.
        let restored = output(knobstat(&place, campaign.root).arg("restore")).must_exit(0);
        let mut now = (campaign.bytes)();
        let is_somebody_elses = now[SWAPPINESS] == SOMEBODY_ELSES.as_bytes();
        assert!(
            is_somebody_elses || interference != Interference::UnnoticedByTheAgent,
            "{told}: a value of somebody else's was lost"
        );
        if is_somebody_elses && interference != Interference::Never {
            // What was there before the experiment turned it is the old value, and no matter.
            let text = said + &restored.stdout();
            assert!(
                !was_turned || text.contains("swappiness is 33"),
                "{told}: {text}"
            );
            (campaign.write)(SWAPPINESS, "60\n");
            now = (campaign.bytes)();
        }
        assert_eq!(differing(&now, &before), Vec::<String>::new(), "{told}");

        // What was finished is there, in its place, and what the front had told of as well.
        let runs = finished_attempts(&place);
        assert_eq!(runs[..finished.len()], finished, "{told}");
        assert!(
            runs.len() as u64 >= done,
            "{told}: {} runs are kept and {done} were told of",
            runs.len()
        );
        finished = runs;
    }
    let mut once: Vec<&str> = finished
        .iter()
        .filter(|attempt| attempt.ok)
        .map(|attempt| attempt.run.as_str())
        .collect();
    let all = once.len();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), all, "each run once");
    let list = output(place.knobstat().args(["list", "--json"])).json();
    let id = list[0]["id"].as_str().expect("an experiment");
    assert_eq!(processes::marked(MARK, id), [], "nothing of it still runs");
    // The blows fell where they were meant to.
    assert!(
        turned > campaign.kills / 4,
        "only {turned} found settings turned"
    );
    assert!(
        finished.len() as u32 > campaign.kills / 5,
        "only {} runs were finished",
        finished.len()
    );
}

/// Stops a process, and waits until it stands still.
#[track_caller]
fn stop(pid: i32) {
    super::processes::kill("STOP", pid);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
        match stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next())
        {
            Some('T') => return,
            Some('Z' | 'X') | None => panic!("process {pid} has ended: {stat}"),
            Some(_) => std::thread::yield_now(),
        }
    }
}
