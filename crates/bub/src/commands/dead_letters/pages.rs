//! Pages of dead letters, each row kept as the broker wrote it.

use std::collections::BTreeSet;

use bub::Console;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_model::{LetterFilter, LetterStatus, MessageId};

use crate::failure::Failure;
use crate::output;

/// The most that one page holds.
const PAGE: usize = 500;

/// The newest letters that pass a filter.
pub(super) struct Newest {
    /// Newest first.
    pub(super) rows: Vec<Box<RawValue>>,
    /// How many there are in all.
    pub(super) matching: u64,
}

#[derive(Deserialize)]
struct Page {
    rows: Vec<Box<RawValue>>,
    next: Option<u64>,
    matching: u64,
}

/// Reads pages until there are `count` rows or no more.
pub(super) async fn newest(
    console: &Console,
    filter: &LetterFilter,
    count: usize,
    payloads: bool,
) -> Result<Newest, Failure> {
    let mut rows = Vec::new();
    let mut before: Option<u64> = None;
    loop {
        // At least one, to learn how many there are.
        let limit = (count - rows.len()).clamp(1, PAGE);
        let query = json!({
            "filter": filter, "before": before, "limit": limit, "payloads": payloads,
        });
        let page: Page = console.call("deadLetters", query).await?;
        rows.extend(page.rows);
        rows.truncate(count);
        if page.next.is_none() || rows.len() == count {
            return Ok(Newest { rows, matching: page.matching });
        }
        before = page.next;
    }
}

/// How many letters pass a filter.
pub(super) async fn matching(console: &Console, filter: &LetterFilter) -> Result<u64, Failure> {
    Ok(newest(console, filter, 0, false).await?.matching)
}

/// Those of some ids that are dead letters of one status.
pub(super) struct Known {
    /// Each once.
    pub(super) ids: Vec<MessageId>,
    /// Whether that is all of them.
    pub(super) all: bool,
}

/// Looks the ids up. Those that are no dead letters of this status are named on stderr.
pub(super) async fn known(
    console: &Console,
    ids: Vec<MessageId>,
    status: LetterStatus,
) -> Result<Known, Failure> {
    #[derive(Deserialize)]
    struct Named {
        id: MessageId,
    }
    let wanted: BTreeSet<MessageId> = ids.into_iter().collect();
    let filter = LetterFilter {
        ids: Some(wanted.iter().copied().collect()),
        status: Some(status),
        ..LetterFilter::default()
    };
    let mut known = BTreeSet::new();
    for row in newest(console, &filter, wanted.len(), false).await?.rows {
        let Named { id } = serde_json::from_str(row.get())?;
        known.insert(id);
    }
    for id in wanted.difference(&known) {
        output::note(&format!("{id} is no dead letter that is {}", status.as_str()));
    }
    Ok(Known { all: known.len() == wanted.len(), ids: known.into_iter().collect() })
}
