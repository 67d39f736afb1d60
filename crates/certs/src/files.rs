//! How files are written: whole or not at all, and secrets for their owner only.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::Error;

/// Who may read a file, whatever the umask.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    Owner,
    Everyone,
}

impl Readers {
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Everyone => 0o644,
        }
    }
}

/// Puts a file in its place at once: nobody reads half of it.
pub(crate) fn write(path: &Path, text: &str, readers: Readers) -> Result<(), Error> {
    replace(path, text, readers.mode()).map_err(|source| failed(path, source))
}

fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let aside = path.with_added_extension("new");
    match std::fs::remove_file(&aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&aside)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&aside, path)
}

/// A file's text; none if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Unusable { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// A folder that only its owner can look into. One that is there is left as it is.
pub(crate) fn folder(path: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| failed(path, source))
}

/// Keeps others from changing the folder until it is dropped.
pub(crate) fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let locked = || {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|source| failed(&path, source))
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::CannotWrite { path: path.to_owned(), source }
}
