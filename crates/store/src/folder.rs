//! The data folder: making it, holding it, and looking at what lies there before SQLite does.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use crate::Error;

const LOCK: &str = "switchboard.lock";
const HEADER: &[u8; 16] = b"SQLite format 3\0";

pub(crate) fn not_writable(path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    Error::NotWritable { path, source }
}

/// Creates the folder, for its owner only, if it is missing.
pub(crate) fn create_folder(folder: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| not_writable(folder, error))
}

/// Holds the folder until the file is dropped. The system lets go of it even after a crash.
pub(crate) fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let file = create_private(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(not_writable(&path, error)),
    }
}

/// Opens a file for writing that only its owner may read, whatever the umask; SQLite gives the
/// files beside it the same mode.
pub(crate) fn create_private(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| not_writable(path, error))?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        file.set_permissions(mode).map_err(|error| not_writable(path, error))?;
    }
    Ok(file)
}

/// Refuses what is no database. True if the file is shorter than it says, which only a full look can
/// judge: after a crash the log may hold the rest.
pub(crate) fn look_at_header(path: &Path) -> Result<bool, Error> {
    let unreadable = |error| not_writable(path, error);
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    // A journal is there when the power was cut while a database was made; SQLite then takes back what was begun.
    if length == 0 || path.with_extension("db-journal").exists() {
        return Ok(false);
    }
    let mut header = [0_u8; 100];
    let whole = file.read_exact(&mut header).is_ok();
    if !whole || !header.starts_with(HEADER) {
        return Err(Error::NotOurs { path: path.to_owned() });
    }
    let [.., high, low] = header.first_chunk::<18>().copied().unwrap_or_default();
    let page_size = match u64::from(u16::from_be_bytes([high, low])) {
        1 => 65_536,
        size => size,
    };
    let mut pages = [0_u8; 4];
    pages.copy_from_slice(header.get(28..32).unwrap_or(&[0; 4]));
    Ok(length < page_size * u64::from(u32::from_be_bytes(pages)))
}
