//! Many rows in one statement. A statement a row would cap the store at some ten thousand rows a
//! second, whatever the disk does: the way to SQLite's thread and back costs more than a row.

use std::sync::{Arc, OnceLock};

use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{Arguments, AssertSqlSafe, Encode, Sqlite, Type};

/// A statement on its way to SQLite.
pub(crate) type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// A few fixed numbers of rows, so that each statement is prepared once and found in the cache. Fewer
/// rows go into the next larger statement, whose last rows then stay empty.
const SIZES: [usize; 8] = [1, 4, 16, 32, 64, 128, 256, 512];

/// A statement that takes any number of rows.
///
/// Those on every message's way say `or fail`: SQLite then keeps no copy of each page in order to take back
/// one statement alone. Nobody needs that, because whatever fails, the whole transaction is taken back.
pub(crate) struct Many {
    head: &'static str,
    columns: usize,
    tail: &'static str,
    texts: OnceLock<[Arc<str>; SIZES.len()]>,
}

impl Many {
    /// `head`, then the rows as the table `new` with `column1` and so on, then `tail`. There may be rows of
    /// nulls, so `tail` has to leave out those whose first value is null.
    pub(crate) const fn new(head: &'static str, columns: usize, tail: &'static str) -> Self {
        let texts = OnceLock::new();
        Self { head, columns, tail, texts }
    }

    /// The statement for each of the fixed numbers of rows, smallest first.
    pub(crate) fn texts(&self) -> &[Arc<str>; SIZES.len()] {
        self.texts.get_or_init(|| {
            let row = format!("({})", vec!["?"; self.columns].join(","));
            SIZES.map(|size| {
                let rows = vec![row.as_str(); size].join(",");
                format!("{} (values {rows}) as new {}", self.head, self.tail).into()
            })
        })
    }

    /// Runs the statement for all rows, in their order. Returns how many rows it changed.
    pub(crate) async fn run<T>(
        &self,
        connection: &mut SqliteConnection,
        rows: &[T],
        bind: impl Fn(&mut Values, &T),
    ) -> Result<u64, sqlx::Error> {
        let [.., largest] = SIZES;
        let mut changed = 0;
        for rows in rows.chunks(largest) {
            let fitting = SIZES.iter().zip(self.texts()).find(|(size, _)| **size >= rows.len());
            let Some((_, text)) = fitting else { continue };
            let mut values = Values::new(self.columns, rows.len());
            for row in rows {
                bind(&mut values, row);
            }
            let arguments = values.done().map_err(sqlx::Error::Encode)?;
            // Safe: the text is made of constants of this crate.
            let query = sqlx::query_with(AssertSqlSafe(Arc::clone(text)), arguments);
            changed += query.execute(&mut *connection).await?.rows_affected();
        }
        Ok(changed)
    }
}

/// The values of rows, one after another.
pub(crate) struct Values {
    arguments: SqliteArguments,
    columns: usize,
    /// What each column last had, as far as it is likely to have it again.
    last: Vec<Option<Arc<str>>>,
    failed: Option<BoxDynError>,
}

impl Values {
    fn new(columns: usize, rows: usize) -> Self {
        let mut arguments = SqliteArguments::default();
        arguments.reserve(columns * rows, 0);
        Self { arguments, columns, last: vec![None; columns], failed: None }
    }

    fn done(self) -> Result<SqliteArguments, BoxDynError> {
        self.failed.map_or(Ok(self.arguments), Err)
    }

    /// The next value.
    pub(crate) fn bind<'t>(&mut self, value: impl Encode<'t, Sqlite> + Type<Sqlite>) -> &mut Self {
        if let Err(error) = self.arguments.add(value) {
            self.failed.get_or_insert(error);
        }
        self
    }

    /// The next value, a text unlike others: copied once, where `bind` would copy it into two places.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bind(Arc::<str>::from(text))
    }

    /// The next value, a word or name that the row before is likely to have too: then both share it.
    pub(crate) fn word(&mut self, word: &str) -> &mut Self {
        self.shared(|last| last == word, || word.into())
    }

    /// The same, of a word in two parts.
    pub(crate) fn joined(&mut self, head: &str, tail: &str) -> &mut Self {
        self.shared(|last| last.strip_prefix(head) == Some(tail), || [head, tail].concat().into())
    }

    fn shared(&mut self, is_it: impl Fn(&str) -> bool, make: impl Fn() -> Arc<str>) -> &mut Self {
        let column = self.arguments.len() % self.columns;
        let Some(last) = self.last.get_mut(column) else { return self.bind(make()) };
        let shared = match last {
            Some(last) if is_it(last) => Arc::clone(last),
            Some(_) | None => Arc::clone(last.insert(make())),
        };
        self.bind(shared)
    }

    /// The next value, a word or name if there is one.
    pub(crate) fn maybe(&mut self, word: Option<&str>) -> &mut Self {
        match word {
            Some(word) => self.word(word),
            None => self.bind(None::<i64>),
        }
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
