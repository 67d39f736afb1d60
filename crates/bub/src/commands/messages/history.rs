//! Pages of history, each row kept as the broker wrote it.

use bub::{Console, Feed};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::MessageFilter;

use crate::failure::Failure;

/// The most that one page holds.
const PAGE: usize = 500;

/// One message: its place in the order of acceptance, and its row as JSON text.
pub(super) struct Row {
    pub(super) seq: u64,
    pub(super) json: Box<RawValue>,
}

impl Row {
    pub(super) fn read(json: Box<RawValue>) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Place {
            seq: u64,
        }
        let Place { seq } = serde_json::from_str(json.get())?;
        Ok(Self { seq, json })
    }
}

/// The messages that pass a filter.
pub(super) struct History {
    console: Console,
    filter: MessageFilter,
}

#[derive(Serialize)]
struct Query<'a> {
    filter: &'a MessageFilter,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    limit: usize,
    payloads: bool,
}

#[derive(Deserialize)]
struct Page {
    rows: Vec<Box<RawValue>>,
    next: Option<u64>,
}

impl History {
    pub(super) fn new(console: Console, filter: MessageFilter) -> Self {
        Self { console, filter }
    }

    /// What happens from now on to messages that pass.
    pub(super) async fn watch(&self) -> Result<Feed, Failure> {
        Ok(self.console.watch(&self.filter).await?)
    }

    /// The newest rows, newest first.
    pub(super) async fn newest(&self, count: usize) -> Result<Vec<Row>, Failure> {
        self.walk(None, |rows| count - rows.len(), |_| false).await
    }

    /// Every row from `oldest` to `newest`, newest first. About `expected` of them.
    pub(super) async fn between(
        &self,
        oldest: u64,
        newest: u64,
        expected: usize,
    ) -> Result<Vec<Row>, Failure> {
        self.walk(Some(newest + 1), |_| expected.max(1), |row| row.seq < oldest).await
    }

    /// Goes back in time until there are enough rows, one that is too old, or no more.
    async fn walk(
        &self,
        mut before: Option<u64>,
        wanted: impl Fn(&[Row]) -> usize,
        too_old: impl Fn(&Row) -> bool,
    ) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        loop {
            let limit = wanted(&rows).min(PAGE);
            if limit == 0 {
                return Ok(rows);
            }
            let query = Query { filter: &self.filter, before, limit, payloads: true };
            let page: Page = self.console.call("messages", &query).await?;
            for json in page.rows {
                let row = Row::read(json)?;
                if too_old(&row) {
                    return Ok(rows);
                }
                rows.push(row);
            }
            match page.next {
                None => return Ok(rows),
                next => before = next,
            }
        }
    }
}
