//! A file system whose files behave as those of sysfs do: it shows what the kernel would make of a
//! write, refuses with its error numbers, takes values without effect or with a late one, changes
//! other files with one, and has an owner that turns a value back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenAccMode, OpenFlags, ReplyAttr, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, SessionACL, TimeOrNow,
    WriteFlags,
};

use crate::support::machine::Machine;

/// Nothing is remembered by the kernel: the next look asks again.
const AT_ONCE: Duration = Duration::ZERO;
/// The size that sysfs shows of a file whatever is in it.
const PAGE: u64 = 4096;

/// What a file does with a write.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// It cannot be opened for writing.
    OpenRefused(Errno),
    /// A write of this value fails.
    Refused(String, Errno),
    /// A write of any value fails while another file has this value.
    RefusedWhile(String, String, Errno),
    /// Every write succeeds and changes nothing.
    WithoutEffect,
    /// Every write succeeds, and takes effect so much later.
    Late(Duration),
    /// A write of this value gives another file a value as well.
    ChangesToo(String, String, String),
    /// Somebody else writes this value after the file was read so many times.
    TurnedBack(String, u32),
}

/// The state of the file system.
#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    behaviours: Vec<(String, Behaviour)>,
    /// Reads that are left until somebody else writes.
    turning_back: BTreeMap<String, u32>,
    /// Values that are to take effect, with their moments.
    coming: BTreeMap<String, (Instant, String)>,
    /// Every file and directory; its place is its number, from 1.
    paths: Vec<String>,
}

/// A mounted file system.
pub struct SettingsFileSystem {
    state: Arc<Mutex<State>>,
    /// Unmounted when it is dropped, and so before its place is removed. Its end is not waited
    /// for: that comes when the last process is gone whose mounts are a copy of these.
    _session: BackgroundSession,
    place: tempfile::TempDir,
}

impl Behaviour {
    /// A write of this value gives another file a value as well.
    pub fn changes_too(value: &str, other: &str, becomes: &str) -> Self {
        Self::ChangesToo(value.to_owned(), other.to_owned(), becomes.to_owned())
    }
}

impl SettingsFileSystem {
    /// Mounts the files of a laid-out machine with these behaviours, by path without a `/` before.
    pub fn mount(machine: &Machine, behaviours: Vec<(String, Behaviour)>) -> Self {
        Self::try_mount(machine, behaviours).expect("the file system is mounted")
    }

    /// Whether one can be mounted here. Root of a container mostly may not.
    pub fn can_be_mounted() -> bool {
        Self::try_mount(&Machine::bare(), Vec::new()).is_ok()
    }

    fn try_mount(machine: &Machine, behaviours: Vec<(String, Behaviour)>) -> io::Result<Self> {
        let mut state = State::default();
        let mut paths = BTreeSet::from([String::new()]);
        for (relative, bytes) in machine.tree() {
            paths.extend(
                Path::new(&relative)
                    .ancestors()
                    .filter_map(|path| path.to_str().map(str::to_owned)),
            );
            state.files.insert(relative, bytes);
        }
        state.paths = paths.into_iter().collect();
        state.behaviours = behaviours;
        let place = tempfile::tempdir().expect("a temporary directory");
        let state = Arc::new(Mutex::new(state));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("settings".to_owned())];
        config.acl = SessionACL::All;
        let session = fuser::spawn_mount(Files(Arc::clone(&state)), place.path(), &config)?;
        Ok(Self {
            state,
            place,
            _session: session,
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Every file with its bytes.
    pub fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        lock(&self.state).files.clone()
    }

    /// The text of a file.
    pub fn read(&self, path: &str) -> String {
        String::from_utf8_lossy(&lock(&self.state).files[path]).into_owned()
    }

    /// Somebody else writes a file.
    pub fn write(&self, path: &str, value: &str) {
        lock(&self.state).take(path, value);
    }
}

/// A test that failed while it held the lock has said why already.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|broken| broken.into_inner())
}

impl State {
    fn path(&self, number: INodeNo) -> Option<&String> {
        self.paths
            .get(usize::try_from(u64::from(number)).ok()?.checked_sub(1)?)
    }

    fn number(&self, path: &str) -> Option<u64> {
        let place = self
            .paths
            .binary_search_by(|known| known.as_str().cmp(path))
            .ok()?;
        Some(place as u64 + 1)
    }

    fn attributes(&self, path: &str) -> Option<FileAttr> {
        let directory = !self.files.contains_key(path);
        Some(FileAttr {
            ino: INodeNo(self.number(path)?),
            size: if directory { 0 } else { PAGE },
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if directory {
                FileType::Directory
            } else {
                FileType::RegularFile
            },
            perm: if directory { 0o755 } else { 0o644 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: PAGE as u32,
            flags: 0,
        })
    }

    fn of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Behaviour> {
        self.behaviours
            .iter()
            .filter(move |(known, _)| known == path)
            .map(|(_, behaviour)| behaviour)
    }

    fn value(&self, path: &str) -> String {
        self.files
            .get(path)
            .map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned())
            .unwrap_or_default()
    }

    /// What the kernel does with a write.
    fn written(&mut self, path: &str, text: &str) -> Result<(), Errno> {
        let value = text.trim();
        let behaviours: Vec<Behaviour> = self.of(path).cloned().collect();
        for behaviour in &behaviours {
            match behaviour {
                Behaviour::Refused(refused, errno) if *refused == value => return Err(*errno),
                Behaviour::RefusedWhile(other, held, errno) if self.value(other) == *held => {
                    return Err(*errno);
                }
                Behaviour::WithoutEffect => return Ok(()),
                Behaviour::Late(time) => {
                    let coming = (Instant::now() + *time, value.to_owned());
                    self.coming.insert(path.to_owned(), coming);
                    return Ok(());
                }
                _ => {}
            }
        }
        if let Some(choices) = self.choices(path)
            && !choices.iter().any(|choice| choice == value)
        {
            return Err(Errno::EINVAL);
        }
        self.take(path, value);
        for behaviour in behaviours {
            match behaviour {
                Behaviour::ChangesToo(with, other, becomes) if with == value => {
                    self.take(&other, &becomes);
                }
                Behaviour::TurnedBack(_, reads) => {
                    self.turning_back.insert(path.to_owned(), reads);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The words that a file takes, where it is one that knows them.
    fn choices(&self, path: &str) -> Option<Vec<String>> {
        let shown = self.value(path);
        if shown.contains('[') {
            let words = shown.split_whitespace();
            return Some(
                words
                    .map(|word| word.trim_matches(['[', ']']).to_owned())
                    .collect(),
            );
        }
        let listed = path.strip_suffix("scaling_governor")?;
        let list = self.value(&format!("{listed}scaling_available_governors"));
        Some(list.split_whitespace().map(str::to_owned).collect())
    }

    /// A value takes effect, and is shown as the kernel shows it.
    fn take(&mut self, path: &str, value: &str) {
        let value = value.trim();
        let text = match self.choices(path) {
            Some(choices) if self.value(path).contains('[') => choices
                .iter()
                .map(|choice| {
                    if choice == value {
                        format!("[{choice}]")
                    } else {
                        choice.clone()
                    }
                })
                .collect::<Vec<_>>()
                .join(" "),
            _ => value.to_owned(),
        };
        self.files
            .insert(path.to_owned(), format!("{text}\n").into_bytes());
    }

    /// A file is about to be read: a late value may have come, and somebody else may have written
    /// it by now.
    fn looked_at(&mut self, path: &str) {
        if self
            .coming
            .get(path)
            .is_some_and(|(moment, _)| *moment <= Instant::now())
            && let Some((_, value)) = self.coming.remove(path)
        {
            self.take(path, &value);
        }
        let Some(left) = self.turning_back.get_mut(path) else {
            return;
        };
        if *left > 0 {
            *left -= 1;
            return;
        }
        self.turning_back.remove(path);
        let back = self.of(path).find_map(|behaviour| match behaviour {
            Behaviour::TurnedBack(value, _) => Some(value.clone()),
            _ => None,
        });
        if let Some(value) = back {
            self.take(path, &value);
        }
    }
}

/// The file system as the kernel asks it.
struct Files(Arc<Mutex<State>>);

impl Filesystem for Files {
    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let state = lock(&self.0);
        let path = state.path(parent).zip(name.to_str()).map(|(parent, name)| {
            if parent.is_empty() {
                name.to_owned()
            } else {
                format!("{parent}/{name}")
            }
        });
        match path.and_then(|path| state.attributes(&path)) {
            Some(attributes) => reply.entry(&AT_ONCE, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let state = lock(&self.0);
        match state.path(number).and_then(|path| state.attributes(path)) {
            Some(attributes) => reply.attr(&AT_ONCE, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Cutting a file of sysfs is taken and does nothing.
    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, number, None, reply);
    }

    fn open(&self, _request: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let state = lock(&self.0);
        let Some(path) = state.path(number) else {
            return reply.error(Errno::ENOENT);
        };
        let refused = state.of(path).find_map(|behaviour| match behaviour {
            Behaviour::OpenRefused(errno) => Some(*errno),
            _ => None,
        });
        match refused.filter(|_| flags.acc_mode() != OpenAccMode::O_RDONLY) {
            Some(errno) => reply.error(errno),
            None => reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO),
        }
    }

    fn read(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut state = lock(&self.0);
        let Some(path) = state.path(number).cloned() else {
            return reply.error(Errno::ENOENT);
        };
        if offset == 0 {
            state.looked_at(&path);
        }
        let bytes = state.files.get(&path).map_or(&[][..], Vec::as_slice);
        let from = bytes
            .len()
            .min(usize::try_from(offset).unwrap_or(usize::MAX));
        let upto = bytes.len().min(from.saturating_add(size as usize));
        reply.data(&bytes[from..upto]);
    }

    fn write(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        _offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = lock(&self.0);
        let Some(path) = state.path(number).cloned() else {
            return reply.error(Errno::ENOENT);
        };
        match state.written(&path, &String::from_utf8_lossy(data)) {
            Ok(()) => reply.written(data.len() as u32),
            Err(errno) => reply.error(errno),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let state = lock(&self.0);
        let Some(directory) = state.path(number) else {
            return reply.error(Errno::ENOENT);
        };
        let entries = state.paths.iter().filter(|path| {
            !path.is_empty()
                && Path::new(path).parent().and_then(Path::to_str) == Some(directory.as_str())
        });
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, path) in entries.enumerate().skip(offset) {
            let name = Path::new(path).file_name().unwrap_or_default();
            let Some(attributes) = state.attributes(path) else {
                continue;
            };
            if reply.add(attributes.ino, place as u64 + 1, attributes.kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
