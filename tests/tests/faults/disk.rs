//! A disk as it could be after its power was cut: what was synced is there, and of the rest any part in any order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use switchboard_tests::proof::Chance;

use crate::trace::{Event, name};

/// What a disk writes whole, or not at all.
const SECTOR: usize = 512;
const PAGE: usize = 4096;

/// How unkind the cut is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// Nothing that was not synced is there.
    Dropped,
    /// Everything is there, by luck.
    Kept,
    /// What was written first is there, up to some point.
    First,
    /// Any part of it is there.
    Reordered,
    /// The same, and single writes are there in part: some sectors of them.
    Torn,
    /// The same, by pages.
    TornPages,
    /// Files have grown, but hold zeros where the new bytes should be.
    Zeros,
}

pub(crate) const CUTS: [Cut; 7] =
    [Cut::Dropped, Cut::Kept, Cut::First, Cut::Reordered, Cut::Torn, Cut::TornPages, Cut::Zeros];

#[derive(Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate { size: usize },
}

#[derive(Clone, Default)]
struct Content {
    synced: Vec<u8>,
    pending: Vec<Change>,
    /// How many changes have been synced.
    done: usize,
    /// Whether the folder knows of it for good.
    named: bool,
    gone: bool,
}

/// Follows a record.
#[derive(Default)]
pub(crate) struct Disk {
    files: BTreeMap<PathBuf, Content>,
    /// How many changes there had been when a sync began. Two may go on at once.
    syncs: BTreeMap<usize, usize>,
}

impl Disk {
    /// The files of the database; SQLite rebuilds `-shm` by itself, and nothing else here is about messages.
    fn is_kept(path: &Path) -> bool {
        matches!(name(path), "switchboard.db" | "switchboard.db-wal" | "switchboard.db-journal")
    }

    pub(crate) fn follow(&mut self, event: &Event) {
        match event {
            Event::Created(path) if Self::is_kept(path) => {
                // One of that name that was taken away was another.
                let content = self.files.entry(path.clone()).or_default();
                if content.gone {
                    *content = Content::default();
                }
            }
            Event::Written { file, at, bytes } if Self::is_kept(file) => {
                let at = usize::try_from(*at).unwrap();
                self.change(file, Change::Write { at, bytes: bytes.clone() });
            }
            Event::Truncated { file, size } if Self::is_kept(file) => {
                self.change(file, Change::Truncate { size: usize::try_from(*size).unwrap() });
            }
            Event::SyncBegan { id, file } => {
                let changes = |content: &Content| content.done + content.pending.len();
                self.syncs.insert(*id, self.files.get(file).map_or(0, changes));
            }
            Event::Synced { id, file } => {
                let changes = self.syncs.remove(id).unwrap();
                match self.files.get_mut(file) {
                    Some(content) => {
                        let new = changes.saturating_sub(content.done);
                        content.done += new;
                        let synced = content.pending.drain(..new).collect::<Vec<_>>();
                        synced.iter().for_each(|change| apply(&mut content.synced, change));
                    }
                    // The folder: names that were made before are there for good, and those taken away are gone.
                    None => {
                        self.files
                            .retain(|path, content| !content.gone || path.parent() != Some(file));
                        self.files.values_mut().for_each(|content| content.named = true);
                    }
                }
            }
            Event::Removed(path) => {
                if let Some(content) = self.files.get_mut(path) {
                    content.gone = true;
                }
            }
            Event::Renamed(to) => assert!(!Self::is_kept(to), "a database was moved"),
            Event::Created(_)
            | Event::Written { .. }
            | Event::Truncated { .. }
            | Event::Said(_) => {}
        }
    }

    fn change(&mut self, file: &Path, change: Change) {
        self.files.entry(file.to_owned()).or_default().pending.push(change);
    }

    /// Writes the files as they could be if the power were cut now.
    pub(crate) fn cut(&self, cut: Cut, chance: &mut Chance, into: &Path) {
        for (path, content) in &self.files {
            // Whether a name that was not synced is there is a matter of luck.
            let there = match (content.named, content.gone) {
                (true, false) => true,
                (true, true) | (false, false) => match cut {
                    Cut::Dropped => content.named,
                    Cut::Kept => !content.gone,
                    _ => chance.once_in(2),
                },
                (false, true) => false,
            };
            if there {
                std::fs::write(into.join(name(path)), content.after(cut, chance)).unwrap();
            }
        }
    }
}

impl Content {
    fn after(&self, cut: Cut, chance: &mut Chance) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        let first = chance.below(self.pending.len() as u64 + 1) as usize;
        for (number, change) in self.pending.iter().enumerate() {
            match cut {
                Cut::Dropped => {}
                Cut::Kept => apply(&mut bytes, change),
                Cut::First if number < first => apply(&mut bytes, change),
                Cut::First => {}
                Cut::Reordered if chance.once_in(2) => apply(&mut bytes, change),
                Cut::Reordered => {}
                Cut::Torn => tear(&mut bytes, change, SECTOR, chance),
                Cut::TornPages => tear(&mut bytes, change, PAGE, chance),
                Cut::Zeros => match change {
                    Change::Write { at, bytes: new } if at + new.len() > bytes.len() => {
                        bytes.resize(at + new.len(), 0);
                    }
                    Change::Write { .. } => {}
                    Change::Truncate { .. } => apply(&mut bytes, change),
                },
            }
        }
        bytes
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes: new } => {
            if bytes.len() < at + new.len() {
                bytes.resize(at + new.len(), 0);
            }
            bytes[*at..at + new.len()].copy_from_slice(new);
        }
        Change::Truncate { size } => bytes.resize(*size, 0),
    }
}

/// Any blocks of it, where blocks begin at whole multiples of their size.
fn tear(bytes: &mut Vec<u8>, change: &Change, block: usize, chance: &mut Chance) {
    match change {
        Change::Write { at, bytes: new } => {
            let mut from = 0;
            while from < new.len() {
                let to = ((at + from) / block + 1) * block - at;
                let to = to.min(new.len());
                if chance.once_in(2) {
                    let part = Change::Write { at: at + from, bytes: new[from..to].to_vec() };
                    apply(bytes, &part);
                }
                from = to;
            }
        }
        Change::Truncate { .. } if chance.once_in(2) => apply(bytes, change),
        Change::Truncate { .. } => {}
    }
}
