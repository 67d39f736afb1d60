//! A copy takes the place of the database at the next start, before anyone opens it. What it replaces is moved to the
//! copies, so that nothing is lost.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sqlx::migrate::Migrate;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Row};

use crate::folder::{create_folder, create_private, look_at_header, not_writable};
use crate::open::{self, APPLICATION_ID};
use crate::{Error, Options, backup, checkpoint, clock};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ID, CHECK];

const ID: &str = "pragma application_id";
const CHECK: &str = "pragma quick_check(1)";

/// What is wanted is a file, so that it is known at the next start.
const WISH: &str = "restore.json";
const COMING: &str = "switchboard.db.coming";

#[derive(Deserialize, Serialize)]
struct Wish {
    /// The copy.
    file: PathBuf,
    /// Where the database goes. Decided once: after a crash in the midst of it the same is done again.
    replaced: PathBuf,
}

/// The copy that takes the place of the database at the next start.
pub(crate) fn wanted(folder: &Path) -> Option<PathBuf> {
    read(folder).ok().flatten().map(|wish| wish.file)
}

fn read(folder: &Path) -> Result<Option<Wish>, Error> {
    let path = folder.join(WISH);
    match std::fs::read(&path) {
        Ok(text) => match serde_json::from_slice(&text) {
            Ok(wish) => Ok(Some(wish)),
            Err(error) => Err(not_writable(&path, io::Error::other(error))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_writable(&path, error)),
    }
}

/// Wants this copy at the next start: its name among the copies, or a whole path.
pub(crate) async fn want(folder: &Path, database: &Path, given: &str) -> Result<(), Error> {
    let file = if Path::new(given).is_absolute() {
        PathBuf::from(given)
    } else if backup::is_name(given) {
        backup::folder(folder).join(given)
    } else {
        return Err(Error::NoSuchBackup { name: given.to_owned() });
    };
    if !file.is_file() {
        return Err(Error::NoSuchBackup { name: given.to_owned() });
    }
    let same = |path: &Path| path.canonicalize().ok();
    if same(&file) == same(database) {
        return Err(Error::NotACopy { path: file });
    }
    let file = std::path::absolute(&file).map_err(|error| not_writable(&file, error))?;
    look_at(&file).await?;
    let backups = std::path::absolute(backup::folder(folder));
    let backups = backups.map_err(|error| not_writable(folder, error))?;
    create_folder(&backups)?;
    let name = format!("replaced-{}", backup::stamp(clock::now()));
    let wish = Wish { replaced: backup::free_name(&backups, &name), file };
    let path = folder.join(WISH);
    let text = serde_json::to_vec_pretty(&wish);
    let written = text.map_err(io::Error::from).and_then(|text| {
        std::fs::write(&path, text)?;
        File::open(&path)?.sync_all()
    });
    written.map_err(|error| not_writable(&path, error))
}

/// Takes the wish back.
pub(crate) fn forget(folder: &Path) -> Result<(), Error> {
    remove(&folder.join(WISH))
}

/// What is not there need not be removed.
fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(not_writable(path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Refuses what is no copy, what is damaged, and what a newer version has made.
async fn look_at(file: &Path) -> Result<(), Error> {
    look_at_header(file)?;
    let explain = |error| open::explain(error, file);
    let mut connection = open::reader(file).await.map_err(explain)?;
    let looked = look_into(&mut connection, file).await;
    let closed = connection.close().await.map_err(explain);
    looked.and(closed)
}

async fn look_into(connection: &mut SqliteConnection, file: &Path) -> Result<(), Error> {
    let explain = |error| open::explain(error, file);
    let id = sqlx::query(ID).fetch_one(&mut *connection).await.map_err(explain)?;
    if id.try_get::<i64, _>(0)? != APPLICATION_ID {
        return Err(Error::NotOurs { path: file.to_owned() });
    }
    let known = open::migrator();
    let applied = connection.list_applied_migrations("_sqlx_migrations").await;
    let applied = applied.map_err(|_| Error::NotOurs { path: file.to_owned() })?;
    for one in applied {
        let same = known.iter().find(|migration| migration.version == one.version);
        match same {
            None => return Err(Error::Newer { path: file.to_owned() }),
            Some(migration) if migration.checksum != one.checksum => {
                return Err(Error::NotOurs { path: file.to_owned() });
            }
            Some(_) => {}
        }
    }
    let row = sqlx::query(CHECK).fetch_one(connection).await.map_err(explain)?;
    match row.try_get::<String, _>(0)? {
        verdict if verdict == "ok" => Ok(()),
        detail => Err(Error::Damaged { path: file.to_owned(), detail }),
    }
}

/// Puts the copy that is wanted in the place of the database. To be done while the folder is held and nothing is open.
pub(crate) async fn put_in_place(folder: &Path, database: &Path) -> Result<(), Error> {
    let Some(wish) = read(folder)? else { return Ok(()) };
    let coming = folder.join(COMING);
    copy(&wish.file, &coming)?;
    if !wish.replaced.exists() {
        // The log first and the database last: where that is, all of it is. A log that was moved before a crash must not
        // be covered by a new one.
        if !with(&wish.replaced, "-wal").exists() {
            empty_log(database).await;
            rename(&with(database, "-wal"), &with(&wish.replaced, "-wal"))?;
        }
        for end in ["-shm", ""] {
            rename(&with(database, end), &with(&wish.replaced, end))?;
        }
    }
    for end in ["-wal", ""] {
        rename(&with(&coming, end), &with(database, end))?;
    }
    File::open(folder).and_then(|file| file.sync_all()).map_err(|e| not_writable(folder, e))?;
    forget(folder)?;
    tracing::warn!(
        from = %wish.file.display(),
        replaced = %wish.replaced.display(),
        "a copy has taken the place of the database"
    );
    Ok(())
}

/// So that the database is whole by itself. Where it is damaged, the log goes with it.
async fn empty_log(database: &Path) {
    let moved = async {
        let options = Options::default();
        let mut connection =
            open::writing(database, &options).create_if_missing(false).connect().await?;
        checkpoint::finish(&mut connection).await?;
        connection.close().await
    };
    if let Err(error) = moved.await {
        tracing::warn!(%error, "the log of the database that is replaced stays beside it");
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    for end in ["", "-wal"] {
        let (from, to) = (with(from, end), with(to, end));
        if end == "-wal" && !from.exists() {
            remove(&to)?;
            continue;
        }
        let mut source = File::open(&from).map_err(|error| not_writable(&from, error))?;
        let mut target = create_private(&to)?;
        let copied = target.set_len(0).and_then(|()| io::copy(&mut source, &mut target));
        copied.and_then(|_| target.sync_all()).map_err(|error| not_writable(&to, error))?;
    }
    Ok(())
}

/// What is not there need not be moved.
fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(not_writable(from, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
