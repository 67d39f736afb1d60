//! Copies of the database, made while it is in use. A copy is a file of its own, without a log, and without what is
//! empty.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use sqlx::Connection;
use switchboard_model::Timestamp;
use tokio::time::interval;

use crate::folder::{create_folder, create_private, not_writable};
use crate::upkeep::Upkeep;
use crate::{Error, clock};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[COPY];

const COPY: &str = "vacuum into ?";
const FOLDER: &str = "backups";
/// What is not whole yet.
const PART: &str = "part";
const LOOK: Duration = Duration::from_millis(200);
const MB: u64 = 1024 * 1024;

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its name in the folder of backups.
    pub name: String,
    /// The whole path.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last written.
    pub made_at: Timestamp,
}

/// Where copies are.
pub(crate) fn folder(data: &Path) -> PathBuf {
    data.join(FOLDER)
}

/// `20261116-103000`, for names of files.
pub(crate) fn stamp(at: Timestamp) -> String {
    let iso = at.to_iso().replace(['-', ':'], "").replace('T', "-");
    iso.chars().take(15).collect()
}

/// The copies that there are, newest first.
pub(crate) fn list(data: &Path) -> Result<Vec<Backup>, Error> {
    let folder = folder(data);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(not_writable(&folder, error)),
    };
    let mut backups: Vec<Backup> = entries.filter_map(|entry| read(&entry.ok()?.path())).collect();
    backups.sort_by(|a, b| (b.made_at, &b.name).cmp(&(a.made_at, &a.name)));
    Ok(backups)
}

fn read(path: &Path) -> Option<Backup> {
    let name = path.file_name()?.to_str()?.to_owned();
    let about = path.metadata().ok().filter(|file| file.is_file() && is_name(&name))?;
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let made_at = Timestamp(i64::try_from(since.as_micros()).ok()?);
    Some(Backup { name, file: path.to_owned(), bytes: about.len(), made_at })
}

/// Whether this can be the name of a copy: a file in the folder, and nowhere else.
pub(crate) fn is_name(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "db")
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
}

/// Deletes a copy, with what lies beside it.
pub(crate) fn delete(data: &Path, name: &str) -> Result<(), Error> {
    let missing = || Error::NoSuchBackup { name: name.to_owned() };
    let path = folder(data).join(name);
    if !is_name(name) || !path.is_file() {
        return Err(missing());
    }
    std::fs::remove_file(&path).map_err(|error| not_writable(&path, error))?;
    for end in ["-wal", "-shm"] {
        match std::fs::remove_file(folder(data).join(format!("{name}{end}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(not_writable(&path, error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Makes a copy of everything that is committed now. The writer goes on meanwhile.
pub(crate) async fn make(upkeep: &Upkeep) -> Result<String, Error> {
    let folder = folder(upkeep.folder());
    create_folder(&folder)?;
    sweep(&folder);
    let pages = upkeep.pages().await?;
    let bytes = pages.used_bytes();
    let needed_mb = bytes / MB + 1 + upkeep.options().disk_free_mb;
    let free_mb = fs4::available_space(&folder).unwrap_or(u64::MAX) / MB;
    if free_mb < needed_mb {
        return Err(Error::DiskNearlyFull { free_mb, needed_mb });
    }
    let path = free_name(&folder, &format!("switchboard-{}", stamp(clock::now())));
    let part = path.with_extension(PART);
    drop(create_private(&part)?);
    let copied = copy(upkeep, &part, bytes).await.and_then(|()| {
        let whole = File::open(&part).and_then(|file| file.sync_all());
        let named = whole.and_then(|()| std::fs::rename(&part, &path));
        let kept = named.and_then(|()| File::open(&folder)?.sync_all());
        kept.map_err(|error| not_writable(&path, error))
    });
    if let Err(error) = copied {
        sweep(&folder);
        return Err(error);
    }
    Ok(format!("copied to {}", path.display()))
}

async fn copy(upkeep: &Upkeep, part: &Path, bytes: u64) -> Result<(), Error> {
    let mut connection = upkeep.reader().await?;
    let name = part.to_string_lossy().into_owned();
    let look = async {
        let mut look = interval(LOOK);
        loop {
            look.tick().await;
            let written = part.metadata().map_or(0, |file| file.len());
            upkeep.done(ratio(written, bytes));
        }
    };
    tokio::select! {
        copied = sqlx::query(COPY).bind(name).execute(&mut connection) => copied?,
        () = look => return Ok(()),
    };
    Ok(connection.close().await?)
}

/// A part of the whole, from 0 to 1.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "for a bar on the screen")]
    let (part, whole) = (part as f64, whole.max(1) as f64);
    (part / whole).clamp(0.0, 1.0)
}

/// A name that no file has.
pub(crate) fn free_name(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(format!("{name}.db"));
    let numbered = (2..).map(|number| folder.join(format!("{name}-{number}.db")));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or(plain)
}

/// What was left by a copy that did not become whole.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_some_and(|end| end == PART)
            && let Err(error) = std::fs::remove_file(&path)
        {
            tracing::warn!(%error, path = %path.display(), "half a copy could not be removed");
        }
    }
}
