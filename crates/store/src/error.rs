//! What can go wrong with the disk, in words that say what to do about it.

use std::path::PathBuf;

/// Why the store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A later release has changed the database in a way that this one does not know.
    #[error(
        "{} was last used by a newer version of Switchboard; \
         install that version again, or choose another folder with --data-dir",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
    },
    /// Some other file lies where the database should be.
    #[error(
        "{} is not a Switchboard database; \
         move it away, or choose another folder with --data-dir",
        path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error(
        "the database {} is damaged ({detail}); move it and the files beside it that begin with \
         its name to a safe place, and start afresh or copy one of the files in `backups` to its place",
        path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The folder or a file in it cannot be used.
    #[error(
        "cannot write to {}: {source}; make it writable for you, or choose another folder with \
         --data-dir",
        path.display()
    )]
    NotWritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another Switchboard has this folder.
    #[error(
        "another Switchboard is using {}; close it, or choose another folder with --data-dir",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// There is too little room to take more messages.
    #[error(
        "the disk is nearly full: {free_mb} MB free, at least {needed_mb} MB wanted; \
         make room and try again"
    )]
    DiskNearlyFull {
        /// What is left.
        free_mb: u64,
        /// What the settings ask for.
        needed_mb: u64,
    },
    /// Something is done to the database already.
    #[error("{words}: one thing at a time; wait until it is done")]
    WorkUnderWay {
        /// What.
        words: &'static str,
    },
    /// There is no copy of that name.
    #[error(
        "there is no copy {name:?}: give the name of one in the folder of backups, or a whole path"
    )]
    NoSuchBackup {
        /// What was given.
        name: String,
    },
    /// What is to take the place of the database is the database.
    #[error("{} is the database itself and not a copy", path.display())]
    NotACopy {
        /// The file.
        path: PathBuf,
    },
    /// A value in the database means nothing to this version.
    #[error("the database holds {value:?} as {what}, which means nothing")]
    Meaningless {
        /// What the value should have been.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A message is not as it was written.
    #[error(
        "message {message} is not as it was written: the disk has altered it; have the database checked \
         (Settings, Storage), and put back a copy (bub backup restore)"
    )]
    Altered {
        /// Its number.
        message: u64,
    },
    /// The disk does not take what is written.
    #[error(
        "{} cannot be written to ({detail}): look whether the disk is full, failing or gone; until then nothing \
         new is accepted, and what was accepted is kept",
        path.display()
    )]
    NotTaken {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// Anything else that SQLite reports while it reads.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// Anything else that SQLite reports while it writes.
    #[error("the database failed: {0}")]
    Writing(#[from] rusqlite::Error),
}

/// What a failed statement calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Someone else has the lock; trying again at once may help.
    Busy,
    /// The disk or the connection; trying again later may help.
    Disk,
    /// What was to be written; trying again will not help.
    Content,
}

/// What this error calls for.
pub(crate) fn failure(error: &rusqlite::Error) -> Failure {
    let Some(error) = error.sqlite_error() else {
        // A value that SQLite was never asked to take.
        return Failure::Content;
    };
    match error.extended_code & 0xff {
        // BUSY, LOCKED
        5 | 6 => Failure::Busy,
        // ERROR, CONSTRAINT, MISMATCH, TOOBIG, RANGE: the statement or its values.
        1 | 18 | 19 | 20 | 25 => Failure::Content,
        _ => Failure::Disk,
    }
}

impl Error {
    /// Whether something on the disk is not as it was written.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Altered { .. } | Self::Meaningless { .. } => true,
            Self::Database(error) => is_damage(error),
            Self::Writing(error) => {
                error.sqlite_error().is_some_and(|error| is_damage_code(error.extended_code))
            }
            _ => false,
        }
    }
}

/// Whether SQLite found the file damaged or not a database at all.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    code.is_some_and(is_damage_code)
}

/// Whether the disk did not do what SQLite asked of it.
pub(crate) fn is_disk(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    code.is_some_and(is_disk_code)
}

/// Whether SQLite does not understand a statement. All of ours fit the schema as it was made.
pub(crate) fn is_not_understood(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    code.is_some_and(|extended| extended & 0xff == 1)
}

/// READONLY, IOERR, FULL, CANTOPEN
fn is_disk_code(extended: i32) -> bool {
    matches!(extended & 0xff, 8 | 10 | 13 | 14)
}

/// CORRUPT, NOTADB
pub(crate) fn is_damage_code(extended: i32) -> bool {
    matches!(extended & 0xff, 11 | 26)
}
