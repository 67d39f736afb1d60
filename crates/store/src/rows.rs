//! Many rows in one statement. A statement a row would cap the store at some ten thousand rows a
//! second, whatever the disk does.

use std::sync::{Arc, OnceLock};

use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Sqlite};

/// A statement on its way to SQLite.
pub(crate) type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// A few fixed numbers of rows, so that each statement is prepared once and found in the cache.
const SIZES: [usize; 9] = [256, 128, 64, 32, 16, 8, 4, 2, 1];

/// A statement that takes any number of rows.
pub(crate) struct Many {
    head: &'static str,
    row: &'static str,
    tail: &'static str,
    texts: OnceLock<Vec<Arc<str>>>,
}

impl Many {
    /// `head`, then `row` as often as there are rows with commas between, then `tail`.
    pub(crate) const fn new(head: &'static str, row: &'static str, tail: &'static str) -> Self {
        let texts = OnceLock::new();
        Self { head, row, tail, texts }
    }

    /// The statement for each of the fixed numbers of rows, largest first.
    pub(crate) fn texts(&self) -> &[Arc<str>] {
        self.texts.get_or_init(|| {
            let text = |size| {
                let rows = vec![self.row; size].join(", ");
                format!("{} {rows} {}", self.head, self.tail).into()
            };
            SIZES.into_iter().map(text).collect()
        })
    }

    /// Runs the statement for all rows, in their order. Returns how many rows it changed.
    pub(crate) async fn run<T>(
        &self,
        connection: &mut SqliteConnection,
        mut rows: &[T],
        bind: impl for<'q> Fn(Query<'q>, &'q T) -> Query<'q>,
    ) -> Result<u64, sqlx::Error> {
        let mut changed = 0;
        for (size, text) in SIZES.into_iter().zip(self.texts()) {
            while let Some((now, later)) = rows.split_at_checked(size) {
                // Safe: the text is made of constants of this crate.
                let mut query = sqlx::query(AssertSqlSafe(Arc::clone(text)));
                for row in now {
                    query = bind(query, row);
                }
                changed += query.execute(&mut *connection).await?.rows_affected();
                rows = later;
            }
        }
        Ok(changed)
    }
}

/// A count or number as SQLite keeps it. Ours stay far below its limit.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count or number as SQLite gave it.
pub(crate) fn uint(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
