//! `knobstat agent --stdio`: the conversation over any pair of streams, as anybody could hold it.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use knobstat_data::messages::{
    Begin, Describe, END, Header, READY, Reply, Request, WantedWorkload, decode, encode, header,
};
use knobstat_data::words::Setting;

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

/// An agent at the other end of two pipes.
struct Agent {
    process: Child,
    requests: Option<ChildStdin>,
    replies: ChildStdout,
}

impl Agent {
    fn start(command: &mut Command) -> Self {
        let mut process = command
            .args(["agent", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take();
        let mut replies = process.stdout.take().unwrap();
        let mut ready = Header::default();
        replies.read_exact(&mut ready).unwrap();
        assert_eq!(ready, READY, "it says that it listens");
        Self {
            process,
            requests,
            replies,
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        // An agent that has heard enough hangs up.
        let _ = self.requests.as_mut().unwrap().write_all(bytes);
    }

    fn hear(&mut self) -> Reply {
        let mut head = Header::default();
        self.replies.read_exact(&mut head).unwrap();
        let mut body = vec![0; header(head).unwrap()];
        self.replies.read_exact(&mut body).unwrap();
        decode(&body).unwrap()
    }

    fn ask(&mut self, request: &Request) -> Reply {
        self.send(&encode(request).unwrap());
        self.hear()
    }

    /// Waits for the last word and the end.
    fn end(mut self) {
        drop(self.requests.take());
        let mut rest = Vec::new();
        self.replies.read_to_end(&mut rest).unwrap();
        let (head, body) = rest.split_first_chunk().expect("a last word");
        assert_eq!(header(*head), Ok(body.len()));
        assert!(matches!(decode(body), Ok(Reply::Restored(_))));
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }
}

fn describe(wanted: &[Setting]) -> Request {
    Request::Describe(Describe {
        own_knobs: Vec::new(),
        wanted: wanted.to_vec(),
        starts: Vec::new(),
        workload: WantedWorkload::default(),
        may_reboot: None,
    })
}

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";

#[test]
fn the_machine_is_put_back_when_the_stream_ends_and_when_it_is_asked_to_end() {
    for with_word in [false, true] {
        let place = Place::new();
        let machine = Machine::desktop();
        let governor = || std::fs::read_to_string(machine.path().join(GOVERNOR)).unwrap();
        let before = governor();
        let setting = Setting::new("governor", "performance");
        assert_ne!(before.trim(), "performance");
        let mut agent = Agent::start(&mut place.knobstat_on(&machine));
        let described = agent.ask(&describe(std::slice::from_ref(&setting)));
        assert!(matches!(described, Reply::Described(_)), "{described:?}");
        let begun = agent.ask(&Request::Begin(Begin {
            experiment: "0123456789ab".parse().unwrap(),
            overwrite_others: false,
        }));
        assert!(matches!(begun, Reply::Begun { .. }), "{begun:?}");
        let applied = agent.ask(&Request::Apply(vec![setting]));
        assert!(
            matches!(applied, Reply::Applied { changed: true, .. }),
            "{applied:?}"
        );
        assert_eq!(governor().trim(), "performance");
        if with_word {
            agent.send(&END);
            let last = agent.hear();
            assert!(matches!(last, Reply::Restored(_)), "{last:?}");
            assert_eq!(agent.process.wait().unwrap().code(), Some(0));
        } else {
            agent.end();
        }
        assert_eq!(governor(), before);
    }
}

#[test]
fn an_agent_that_cannot_begin_says_why() {
    let place = Place::new();
    // One descriptor more than the three: what it needs first it has, and what comes then it has not.
    let by = ["sh", "-c", "ulimit -n 4; exec \"$@\"", "sh"];
    let mut command = place.knobstat_started_by(&by);
    let ended = output(command.args(["agent", "--stdio"])).must_exit(1);
    let said = ended.stderr();
    assert!(said.contains("the agent cannot begin"), "{said}");
    assert!(said.contains("ulimit -n"), "{said}");
}

/// Numbers that look random and are the same every time (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn whatever_comes_over_the_stream_the_agent_ends_in_good_order() {
    let seed = 0x6b6e_6f62;
    println!("seed {seed}");
    let mut numbers = Numbers(seed);
    for case in 0..24 {
        let place = Place::new();
        let machine = Machine::desktop();
        let mut agent = Agent::start(&mut place.knobstat_on(&machine));
        let mut bytes = match case % 3 {
            // Nothing like a frame.
            0 => (0..numbers.next() % 300)
                .map(|_| numbers.next() as u8)
                .collect(),
            // A frame that is damaged in one place.
            1 => {
                let mut frame = encode(&describe(&[Setting::new("thp", "never")])).unwrap();
                let at = numbers.next() as usize % frame.len();
                frame[at] ^= 1 << (numbers.next() % 8);
                frame
            }
            // A length beyond every cap, and one that never comes.
            _ => {
                let mut frame = encode(&Request::Verify).unwrap();
                frame[4..8].copy_from_slice(&(numbers.next() as u32).to_le_bytes());
                frame
            }
        };
        bytes.truncate(1 << 16);
        agent.send(&bytes);
        drop(agent.requests.take());
        let mut rest = Vec::new();
        agent.replies.read_to_end(&mut rest).unwrap();
        assert_eq!(agent.process.wait().unwrap().code(), Some(0), "case {case}");
        assert!(
            !rest.is_empty(),
            "case {case}: the last word is that all is put back"
        );
    }
}
