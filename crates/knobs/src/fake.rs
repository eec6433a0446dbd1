//! A scripted machine for tests: files that behave as the kernel's do, or misbehave as some of
//! them do, and a harness that dies after any operation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::files::Files;
use crate::value::Form;

/// The files of a machine by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// What the kernel, or another process, does to a tree after a write of a value to a path.
pub type Reaction = Box<dyn Fn(&mut Tree, &str, &str)>;

#[derive(Default)]
struct State {
    tree: Tree,
    journal: Option<Vec<u8>>,
    untold: Option<Vec<u8>>,
    refused: BTreeMap<String, i32>,
    refused_values: BTreeMap<(String, String), i32>,
    without_effect: BTreeSet<String>,
    delayed: BTreeMap<String, Duration>,
    /// Writes that are to take effect, with their moments.
    coming: Vec<(Duration, Written)>,
    /// How much time passed.
    passed: Duration,
    commands: BTreeMap<String, String>,
    held: BTreeMap<String, Vec<u8>>,
    written: Vec<(String, String)>,
    operations: usize,
    dies_at: Option<(usize, Death)>,
    dead: bool,
}

/// A write that was taken: the bytes that the file will show, and the value that was written.
struct Written {
    path: String,
    bytes: Vec<u8>,
    value: String,
}

/// How the harness dies at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Just before it takes effect.
    Before,
    /// Just after it took effect.
    After,
    /// Half of what it appends to the journal is there; any other operation took effect.
    Torn,
}

/// A scripted machine.
#[derive(Default)]
pub struct FakeMachine {
    state: RefCell<State>,
    reactions: RefCell<Vec<Reaction>>,
    keeps_bytes: bool,
}

impl FakeMachine {
    /// A machine with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let machine = Self::default();
        for (path, text) in files {
            machine.set(path, text);
        }
        machine
    }

    /// Lets the files keep their bytes as written, as in a laid-out tree.
    pub fn keeping_bytes(mut self) -> Self {
        self.keeps_bytes = true;
        self
    }

    /// Lays a file down, or changes it behind the harness's back.
    pub fn set(&self, path: &str, text: &str) {
        let mut state = self.state.borrow_mut();
        state.tree.insert(path.to_owned(), text.as_bytes().to_vec());
    }

    /// Every file as it is now.
    pub fn tree(&self) -> Tree {
        self.state.borrow().tree.clone()
    }

    /// The value in a file.
    pub fn value(&self, path: &str) -> String {
        let bytes = self.state.borrow().tree[path].clone();
        Form::of(&bytes).value(&bytes)
    }

    /// Every write of a setting so far.
    pub fn written(&self) -> Vec<(String, String)> {
        self.state.borrow().written.clone()
    }

    /// Every write to this file fails with this error number.
    pub fn refuse(&self, path: &str, errno: i32) {
        self.state
            .borrow_mut()
            .refused
            .insert(path.to_owned(), errno);
    }

    /// The file takes every value again.
    pub fn relent(&self, path: &str) {
        self.state.borrow_mut().refused.remove(path);
    }

    /// A write of this value to this file fails with this error number; opening it does not.
    pub fn refuse_value(&self, path: &str, value: &str, errno: i32) {
        self.state
            .borrow_mut()
            .refused_values
            .insert((path.to_owned(), value.to_owned()), errno);
    }

    /// Every write to this file succeeds and changes nothing.
    pub fn ignore_writes(&self, path: &str) {
        self.state
            .borrow_mut()
            .without_effect
            .insert(path.to_owned());
    }

    /// Every write to this file succeeds, and takes effect only so much later.
    pub fn delay(&self, path: &str, time: Duration) {
        self.state
            .borrow_mut()
            .delayed
            .insert(path.to_owned(), time);
    }

    /// How much time passed.
    pub fn passed(&self) -> Duration {
        self.state.borrow().passed
    }

    /// Lets time pass, whether the harness lives or not.
    pub fn let_pass(&self, time: Duration) {
        let mut state = self.state.borrow_mut();
        state.passed += time;
        let now = state.passed;
        let (due, coming) = std::mem::take(&mut state.coming)
            .into_iter()
            .partition(|(at, _)| *at <= now);
        state.coming = coming;
        for (_, written) in due {
            self.take_effect(&mut state, written);
        }
    }

    /// A write takes effect, and what follows from it happens.
    fn take_effect(&self, state: &mut State, written: Written) {
        let Written { path, bytes, value } = written;
        state.tree.insert(path.clone(), bytes);
        for reaction in self.reactions.borrow().iter() {
            reaction(&mut state.tree, &path, &value);
        }
    }

    /// Something happens after every write that takes effect.
    pub fn react(&self, reaction: impl Fn(&mut Tree, &str, &str) + 'static) {
        self.reactions.borrow_mut().push(Box::new(reaction));
    }

    /// An own knob's state: the commands `get NAME` and `set NAME VALUE` reach it.
    pub fn set_command_value(&self, name: &str, value: &str) {
        self.state
            .borrow_mut()
            .commands
            .insert(name.to_owned(), value.to_owned());
    }

    /// The value of an own knob.
    pub fn command_value(&self, name: &str) -> String {
        self.state.borrow().commands[name].clone()
    }

    /// The harness dies at this operation from now on, counted from 0.
    pub fn die_at(&self, operation: usize, death: Death) {
        let mut state = self.state.borrow_mut();
        state.operations = 0;
        state.dies_at = Some((operation, death));
        state.dead = false;
    }

    /// Another process takes over. Tells whether the earlier one had died.
    pub fn revive(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.dies_at = None;
        state.release();
        std::mem::take(&mut state.dead)
    }

    /// The journal's bytes.
    pub fn journal(&self) -> Option<Vec<u8>> {
        self.state.borrow().journal.clone()
    }

    /// Replaces the journal's bytes.
    pub fn set_journal(&self, bytes: &[u8]) {
        self.state.borrow_mut().journal = Some(bytes.to_vec());
    }

    /// Carries an operation out, as far as the script lets it: the argument tells `effect`
    /// whether only half of it happens.
    fn operation<T>(
        &self,
        effect: impl FnOnce(&mut State, bool) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state.borrow_mut();
        if state.dead {
            return Err(dead());
        }
        let now = state.operations;
        state.operations += 1;
        match state.dies_at {
            Some((at, death)) if at == now => {
                state.dead = true;
                if death != Death::Before {
                    effect(&mut state, death == Death::Torn)?;
                }
                Err(dead())
            }
            _ => effect(&mut state, false),
        }
    }
}

impl State {
    /// Closes what is held: the kernel shows again what it showed before.
    fn release(&mut self) {
        for (path, bytes) in std::mem::take(&mut self.held) {
            self.tree.insert(path, bytes);
        }
    }
}

fn dead() -> io::Error {
    io::Error::other("the harness is dead")
}

fn not_found() -> io::Error {
    io::Error::from_raw_os_error(2)
}

impl Files for FakeMachine {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let state = self.state.borrow();
        if state.dead {
            return Err(dead());
        }
        state.tree.get(path).cloned().ok_or_else(not_found)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.operation(|state, _| {
            let value = Form::Plain.value(bytes);
            let Some(old) = state.tree.get(path) else {
                return Err(not_found());
            };
            let refused = state
                .refused
                .get(path)
                .or_else(|| state.refused_values.get(&(path.to_owned(), value.clone())));
            if let Some(errno) = refused {
                return Err(io::Error::from_raw_os_error(*errno));
            }
            let taken = if self.keeps_bytes {
                bytes.to_vec()
            } else if let Some(choices) = Form::Bracketed.choices(old) {
                if !choices.contains(&value) {
                    return Err(io::Error::from_raw_os_error(22));
                }
                let words: Vec<String> = choices
                    .into_iter()
                    .map(|word| {
                        if word == value {
                            format!("[{word}]")
                        } else {
                            word
                        }
                    })
                    .collect();
                format!("{}\n", words.join(" ")).into_bytes()
            } else if old.contains(&b'\t') {
                // As the kernel shows a list of numbers.
                format!("{}\n", value.replace(' ', "\t")).into_bytes()
            } else {
                format!("{value}\n").into_bytes()
            };
            state.written.push((path.to_owned(), value.clone()));
            if state.without_effect.contains(path) {
                return Ok(());
            }
            let written = Written {
                path: path.to_owned(),
                bytes: taken,
                value,
            };
            match state.delayed.get(path).copied() {
                Some(delay) if !delay.is_zero() => {
                    let moment = state.passed + delay;
                    state.coming.push((moment, written));
                }
                _ => self.take_effect(state, written),
            }
            Ok(())
        })
    }

    fn hold(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.operation(|state, _| {
            let Some(old) = state.tree.insert(path.to_owned(), bytes.to_vec()) else {
                return Err(not_found());
            };
            state.held.entry(path.to_owned()).or_insert(old);
            Ok(())
        })
    }

    fn release_all(&self) {
        self.state.borrow_mut().release();
    }

    fn writable(&self, path: &str) -> io::Result<()> {
        let state = self.state.borrow();
        if !state.tree.contains_key(path) {
            return Err(not_found());
        }
        match state.refused.get(path) {
            Some(errno) => Err(io::Error::from_raw_os_error(*errno)),
            None => Ok(()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        let state = self.state.borrow();
        let beneath = format!("{path}/");
        state.tree.contains_key(path)
            || state
                .tree
                .range(beneath.clone()..)
                .next()
                .is_some_and(|(next, _)| next.starts_with(&beneath))
    }

    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        let beneath = format!("{}/", directory.trim_end_matches('/'));
        let state = self.state.borrow();
        let names: BTreeSet<String> = state
            .tree
            .keys()
            .filter_map(|path| path.strip_prefix(&beneath))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        if names.is_empty() {
            Err(not_found())
        } else {
            Ok(names.into_iter().collect())
        }
    }

    fn is_setting(&self, path: &str) -> bool {
        path.starts_with("/sys/") || path.starts_with("/proc/")
    }

    fn keeps_bytes(&self) -> bool {
        self.keeps_bytes
    }

    fn is_machine(&self) -> bool {
        false
    }

    fn location(&self, path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    fn pause(&self, time: Duration) {
        if !self.state.borrow().dead {
            self.let_pass(time);
        }
    }

    fn run(&self, command: &[String]) -> io::Result<Vec<u8>> {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["get", name] => {
                let state = self.state.borrow();
                if state.dead {
                    return Err(dead());
                }
                let value = state.commands.get(*name).ok_or_else(not_found)?;
                Ok(format!("{value}\n").into_bytes())
            }
            ["set", name, value] => self.operation(|state, _| {
                state
                    .commands
                    .insert((*name).to_owned(), (*value).to_owned());
                Ok(Vec::new())
            }),
            _ => Err(not_found()),
        }
    }

    fn journal_location(&self) -> PathBuf {
        PathBuf::from("/state/journal")
    }

    fn read_journal(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.state.borrow().journal.clone())
    }

    fn append_journal(&self, bytes: &[u8]) -> io::Result<()> {
        self.operation(|state, torn| {
            let length = if torn { bytes.len() / 2 } else { bytes.len() };
            state
                .journal
                .get_or_insert_default()
                .extend_from_slice(&bytes[..length]);
            Ok(())
        })
    }

    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()> {
        self.operation(|state, _| {
            state.journal = Some(bytes.to_vec());
            Ok(())
        })
    }

    fn remove_journal(&self) -> io::Result<()> {
        self.operation(|state, _| {
            state.journal = None;
            Ok(())
        })
    }

    fn read_untold(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.state.borrow().untold.clone())
    }

    fn replace_untold(&self, bytes: &[u8]) -> io::Result<()> {
        self.operation(|state, _| {
            state.untold = Some(bytes.to_vec());
            Ok(())
        })
    }

    fn remove_untold(&self) -> io::Result<()> {
        self.operation(|state, _| {
            state.untold = None;
            Ok(())
        })
    }
}
