//! The log beside the database, before SQLite reads it. SQLite takes it up to the first frame that is not as it was
//! written, and says nothing of what lies behind. After a crash that is right: what was being written then was promised to
//! nobody. But each commit is synced before the next begins, so that no more than one can lie there, unless the disk has
//! damaged the log.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::open::log_path;
use crate::{Error, backup, clock, folder, restore};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// As SQLite makes it, and as nobody changes it.
const PAGE: usize = 4096;

/// A log that is damaged, in words, once the files are copied as they are; none if it ends as a log may end.
pub(crate) fn look(data: &Path, database: &Path) -> Result<Option<String>, Error> {
    let log = log_path(database);
    let lost = lost(&log).map_err(|error| folder::not_writable(&log, error))?;
    if lost == 0 {
        return Ok(None);
    }
    let copy = keep(data, database)?;
    let words = format!(
        "the log {} was damaged: {lost} commits behind the damage could not be read, and what they held is missing (after a \
         loss of power with `synchronous = \"normal\"` that is to be expected); the files as they were found are kept as {}; \
         have the database checked (Settings, Storage), or put back a copy (bub backup restore)",
        log.display(),
        copy.display()
    );
    tracing::error!("{words}");
    Ok(Some(words))
}

fn keep(data: &Path, database: &Path) -> Result<PathBuf, Error> {
    let backups = backup::folder(data);
    folder::create_folder(&backups)?;
    let copy = backup::free_name(&backups, &format!("damaged-{}", backup::stamp(clock::now())));
    restore::copy(database, &copy)?;
    Ok(copy)
}

/// How many commits lie behind damage.
fn lost(log: &Path) -> io::Result<u64> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut file = BufReader::with_capacity(64 * 1024, file);
    let mut header = [0; HEADER];
    if !fill(&mut file, &mut header)? {
        return Ok(0);
    }
    let mut sum = Sum { big_endian: word(&header, 0) & 1 == 1, sums: (0, 0) };
    sum.add(&header[..24]);
    let mut whole = sum.is(&header[24..]) && word(&header, 0) & !1 == 0x377f_0682;
    let header_is_whole = whole;
    let mut salts = header_is_whole.then(|| (word(&header, 16), word(&header, 20)));
    let mut behind = 0;
    let mut frame = [0; FRAME_HEADER + PAGE];
    while fill(&mut file, &mut frame)? {
        let own = (word(&frame, 8), word(&frame, 12));
        let salts = *salts.get_or_insert(own);
        if whole {
            sum.add(&frame[..8]);
            sum.add(&frame[FRAME_HEADER..]);
            whole = own == salts && sum.is(&frame[16..FRAME_HEADER]);
        }
        let is_commit = word(&frame, 4) != 0;
        behind += u64::from(!whole && own == salts && is_commit);
    }
    // One may be what was being written; but not where even the beginning cannot be read.
    Ok(if behind > u64::from(header_is_whole) { behind } else { 0 })
}

/// Whether there was so much to read.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().copied().map_or(0, u32::from_be_bytes)
}

/// The checksum of SQLite's logs, over all that was added.
struct Sum {
    big_endian: bool,
    sums: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let read = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let (mut one, mut other) = self.sums;
        for eight in bytes.chunks_exact(8) {
            let [a, b, c, d, e, f, g, h] = eight.first_chunk().copied().unwrap_or_default();
            one = one.wrapping_add(read([a, b, c, d])).wrapping_add(other);
            other = other.wrapping_add(read([e, f, g, h])).wrapping_add(one);
        }
        self.sums = (one, other);
    }

    fn is(&self, stored: &[u8]) -> bool {
        (word(stored, 0), word(stored, 4)) == self.sums
    }
}
