//! How rows are asked for, and numbers as SQLite keeps them.

use sqlx::Sqlite;
use sqlx::sqlite::SqliteArguments;

/// A question on its way to SQLite.
pub(crate) type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// A count or number as SQLite keeps it. Ours stay far below its limit.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count or number as SQLite gave it.
pub(crate) fn uint(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
