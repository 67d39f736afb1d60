//! What a program did to the files of a folder and said on its sockets, in order, as strace saw it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The calls that change files or tell somebody something. What is written through memory, SQLite's `-shm`, is rebuilt
/// after a crash, and never read.
const CALLS: &str =
    "trace=openat,pwrite64,write,writev,sendto,fsync,fdatasync,ftruncate,rename,unlink";

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A file was made.
    Created(PathBuf),
    Written {
        file: PathBuf,
        at: u64,
        bytes: Vec<u8>,
    },
    Truncated {
        file: PathBuf,
        size: u64,
    },
    /// A sync of a file or a folder began, or came to its end: what was written before it began is then on disk.
    SyncBegan {
        id: usize,
        file: PathBuf,
    },
    Synced {
        id: usize,
        file: PathBuf,
    },
    Removed(PathBuf),
    /// To this name.
    Renamed(PathBuf),
    /// Bytes began to go to a socket.
    Said(Vec<u8>),
}

/// The arguments of strace that let it write such a record.
pub(crate) fn arguments(record: &Path) -> Vec<String> {
    let longest = (4 << 20).to_string();
    let mut arguments = ["-f", "-y", "-xx", "-e", CALLS, "-e", "signal=none", "-s", &longest, "-o"]
        .map(str::to_owned)
        .to_vec();
    arguments.push(record.to_str().unwrap().to_owned());
    arguments
}

/// Reads a record: what happened to files of this folder and to sockets.
pub(crate) fn read(record: &Path, folder: &Path) -> Vec<Event> {
    let mut reader = Reader { folder, begun: HashMap::new(), syncs: 0, events: Vec::new() };
    for line in BufReader::new(File::open(record).unwrap()).lines() {
        reader.line(&line.unwrap());
    }
    reader.events
}

struct Reader<'a> {
    folder: &'a Path,
    /// Calls that have begun and not ended, by thread: the number of the sync that they are, and its file.
    begun: HashMap<String, Option<(usize, PathBuf)>>,
    syncs: usize,
    events: Vec<Event>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else { return };
        let rest = rest.trim_start();
        if rest.starts_with("<... ") {
            // A write counts from its beginning, a sync from its end: so the record never promises too much.
            if let Some(Some((id, file))) = self.begun.remove(thread)
                && rest.ends_with("= 0")
            {
                self.events.push(Event::Synced { id, file });
            }
            return;
        }
        let Some((call, rest)) = rest.split_once('(') else { return };
        let ended = !rest.ends_with("<unfinished ...>");
        if ended && rest.rsplit_once("= ").is_none_or(|(_, result)| result.starts_with('-')) {
            return;
        }
        let sync = self.call(call, rest);
        match (sync, ended) {
            (Some((id, file)), true) => self.events.push(Event::Synced { id, file }),
            (sync, false) => drop(self.begun.insert(thread.to_owned(), sync)),
            (None, true) => {}
        }
    }

    /// Notes what the call does; returns the sync that it begins.
    fn call(&mut self, call: &str, rest: &str) -> Option<(usize, PathBuf)> {
        match call {
            "pwrite64" => {
                let file = self.file_of_descriptor(rest)?;
                let (bytes, after) = hex_string(rest)?;
                let at = after.split(", ").nth(2)?;
                let at = at.trim_end_matches(|c: char| !c.is_ascii_digit());
                let at = at.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
                self.events.push(Event::Written { file, at, bytes });
            }
            "write" | "writev" | "sendto" if descriptor(rest)?.starts_with("socket:") => {
                let (mut said, mut rest) = (Vec::new(), rest);
                while let Some((bytes, after)) = hex_string(rest) {
                    said.extend(bytes);
                    rest = after;
                }
                self.events.push(Event::Said(said));
            }
            "write" | "writev" => {
                let file = self.file_of_descriptor(rest)?;
                // Not how SQLite writes, and so nothing that is looked at; but it must not go unseen.
                assert!(!name(&file).starts_with("switchboard.db"), "unseen: {call}({rest}");
            }
            "ftruncate" => {
                let file = self.file_of_descriptor(rest)?;
                let size = rest.split(", ").nth(1)?.split(|c: char| !c.is_ascii_digit()).next()?;
                self.events.push(Event::Truncated { file, size: size.parse().ok()? });
            }
            "fsync" | "fdatasync" => {
                let file = self.file_of_descriptor(rest)?;
                self.syncs += 1;
                self.events.push(Event::SyncBegan { id: self.syncs, file: file.clone() });
                return Some((self.syncs, file));
            }
            "openat" if rest.contains("O_CREAT") => {
                let (path, _) = hex_string(rest)?;
                let path = self.inside(PathBuf::from(String::from_utf8(path).ok()?))?;
                self.events.push(Event::Created(path));
            }
            "unlink" => {
                let (path, _) = hex_string(rest)?;
                let path = self.inside(PathBuf::from(String::from_utf8(path).ok()?))?;
                self.events.push(Event::Removed(path));
            }
            "rename" => {
                let (from, after) = hex_string(rest)?;
                let (to, _) = hex_string(after)?;
                let path = |bytes| Some(PathBuf::from(String::from_utf8(bytes).ok()?));
                self.inside(path(from)?)?;
                self.events.push(Event::Renamed(self.inside(path(to)?)?));
            }
            _ => {}
        }
        None
    }

    fn file_of_descriptor(&self, rest: &str) -> Option<PathBuf> {
        self.inside(PathBuf::from(descriptor(rest)?))
    }

    fn inside(&self, path: PathBuf) -> Option<PathBuf> {
        path.starts_with(self.folder).then_some(path)
    }
}

/// What a descriptor stands for: `12</folder/file>, …`. With -xx, strace writes that in hexadecimal, too.
fn descriptor(rest: &str) -> Option<String> {
    let (_, rest) = rest.split_once('<')?;
    let (path, _) = rest.split_once('>')?;
    if path.starts_with("\\x") {
        String::from_utf8(unhex(path)).ok()
    } else {
        Some(path.to_owned())
    }
}

/// The next string, as bytes, and what comes after it.
fn hex_string(text: &str) -> Option<(Vec<u8>, &str)> {
    let (_, rest) = text.split_once('"')?;
    let (inside, after) = rest.split_once('"')?;
    assert!(!after.starts_with("..."), "the record is cut short");
    Some((unhex(inside), after))
}

/// `\x53\x51`
fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    text.as_bytes().chunks_exact(4).map(|four| digit(four[2]) << 4 | digit(four[3])).collect()
}

pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
