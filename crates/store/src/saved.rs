//! The table `saved`: what the operator keeps for another time.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use switchboard_model::{Saved, SavedKind, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::pen::Pen;
use crate::record::SavedChange;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ALL, KEEP, FORGET];

const ALL: &str = "select kind, name, text, saved_at from saved order by kind, lower(name), name";

const KEEP: &str =
    "insert or replace into saved (kind, name, text, saved_at) values (?1, ?2, ?3, ?4)";

const FORGET: &str = "delete from saved where kind = ?1 and name = ?2";

/// Everything that is kept, by kind and name.
pub(crate) async fn all(pool: &SqlitePool) -> Result<Vec<Saved>, Error> {
    let read = |row: &SqliteRow| {
        let kind: &str = row.try_get("kind")?;
        Ok(Saved {
            kind: SavedKind::parse(kind).ok_or_else(|| meaningless("what is kept", kind))?,
            name: row.try_get("name")?,
            text: row.try_get("text")?,
            saved_at: Timestamp(row.try_get("saved_at")?),
        })
    };
    sqlx::query(ALL).fetch_all(pool).await?.iter().map(read).collect()
}

pub(crate) fn apply(pen: &Pen, changes: &[SavedChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            SavedChange::Kept(saved) => {
                let (kind, name) = (saved.kind.as_str(), saved.name.as_str());
                pen.run(KEEP, params![kind, name, saved.text.as_str(), saved.saved_at.0])?;
            }
            SavedChange::Forgotten { kind, name } => {
                pen.run(FORGET, params![kind.as_str(), name.as_str()])?;
            }
        }
    }
    Ok(())
}
