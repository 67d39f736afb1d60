//! Rows of a kind are written eight at a time: a statement opens the table and all its indexes before its first row, which
//! is a sixth of what a row costs.

use rusqlite::{Statement, ToSql};

use crate::pen::Pen;

const EIGHT: usize = 8;

/// The same text, eight times.
macro_rules! eight {
    ($row:literal) => {
        concat!(
            $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ",
            $row
        )
    };
}
pub(crate) use eight;

/// An `Insert` of rows with so many columns, and what else the statement says.
macro_rules! insert {
    ($columns:literal, $into:literal, $row:literal $(, $end:literal)?) => {
        Insert {
            one: concat!($into, $row $(, $end)?),
            eight: concat!($into, $crate::eights::eight!($row) $(, $end)?),
            columns: $columns,
        }
    };
}
pub(crate) use insert;

/// How rows of a kind are inserted.
#[derive(Clone, Copy)]
pub(crate) struct Insert {
    /// One by one.
    pub(crate) one: &'static str,
    /// Eight at a time.
    pub(crate) eight: &'static str,
    /// How many values a row has.
    pub(crate) columns: usize,
}

impl Insert {
    /// Inserts these, the last few of them one by one.
    pub(crate) fn rows<T>(
        self,
        pen: &Pen,
        rows: &[T],
        bind: impl Fn(&mut Values<'_, '_>, &T) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (eights, rest) = rows.split_at(rows.len() / EIGHT * EIGHT);
        for (sql, size, rows) in [(self.eight, EIGHT, eights), (self.one, 1, rest)] {
            if rows.is_empty() {
                continue;
            }
            let mut insert = pen.statement(sql)?;
            for together in rows.chunks_exact(size) {
                for (place, row) in together.iter().enumerate() {
                    bind(&mut Values { statement: &mut insert, after: place * self.columns }, row)?;
                }
                insert.raw_execute()?;
            }
        }
        Ok(())
    }
}

/// One row of a statement for one or for eight.
pub(crate) struct Values<'a, 'pen> {
    statement: &'a mut Statement<'pen>,
    /// How many values come before those of this row.
    after: usize,
}

impl<'a, 'pen> Values<'a, 'pen> {
    /// The only one of its statement.
    pub(crate) fn of(statement: &'a mut Statement<'pen>) -> Self {
        Self { statement, after: 0 }
    }

    pub(crate) fn bind(&mut self, column: usize, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.after + column, value)
    }
}
