//! Rows for people and for programs.

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_model::Timestamp;

use super::history::Row;
use crate::failure::Failure;
use crate::output::{self, clock_time, duration, shortened, visible};
use crate::table::Table;

/// A payload is shown this far.
const PREVIEW: usize = 72;

/// Prints all rows as one JSON document.
pub(super) fn document(rows: &[Row]) -> Result<(), Failure> {
    let rows: Vec<&RawValue> = rows.iter().map(|row| &*row.json).collect();
    output::line(&serde_json::to_string(&rows)?)
}

/// Prints rows as they come.
pub(super) enum Printer {
    /// One JSON document a line.
    Lines,
    /// A line with columns.
    Table(Table<8>),
}

impl Printer {
    pub(super) fn lines() -> Self {
        Self::Lines
    }

    pub(super) fn table() -> Self {
        let heads = ["TIME", "KIND", "FROM", "TO", "TOPIC", "STATE", "TOOK", "PAYLOAD"];
        Self::Table(Table::new(heads))
    }

    /// Takes rows that come newest first, and prints the newest last.
    pub(super) fn print(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let mut oldest_first = rows.iter().rev();
        match self {
            Self::Lines => oldest_first.try_for_each(|row| output::line(row.json.get())),
            Self::Table(table) => {
                let rows: Result<Vec<_>, _> = oldest_first.map(|row| cells(&row.json)).collect();
                table.print(&rows?)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    from: String,
    to: Option<String>,
    topic: Option<String>,
    capability: Option<String>,
    kind: String,
    state: String,
    created_at: Timestamp,
    took_micros: Option<u64>,
    error: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

fn cells(row: &RawValue) -> Result<[String; 8], Failure> {
    let row: Shown<'_> = serde_json::from_str(row.get())?;
    let or_dash = |text: Option<String>| {
        text.map_or_else(|| "–".to_owned(), |text| visible(&text).into_owned())
    };
    // What went wrong is worth more than what was said.
    let said = row.error.as_deref().or(row.payload.map(RawValue::get)).unwrap_or_default();
    Ok([
        clock_time(row.created_at),
        row.kind,
        visible(&row.from).into_owned(),
        or_dash(row.to),
        or_dash(row.topic.or(row.capability)),
        row.state,
        row.took_micros.map_or_else(|| "–".to_owned(), duration),
        visible(&shortened(said, PREVIEW)).into_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_one_line_of_short_cells() {
        let row = r#"{"seq":7,"id":"x","from":"alice","to":null,"topic":"inbound:1",
            "capability":null,"kind":"event","priority":"NORMAL","state":"processed",
            "door":"bus","conversationId":null,"createdAt":"2026-11-16T10:30:00.123456Z",
            "tookMicros":870,"error":null,"payloadBytes":2,
            "payload":{"n":12345678901234567890123}}"#;
        let shown = cells(&RawValue::from_string(row.to_owned()).unwrap()).unwrap();
        let payload = r#"{"n":12345678901234567890123}"#;
        let expected = ["10:30:00.123", "event", "alice", "–", "inbound:1", "processed", "870 µs"];
        assert_eq!(shown, [&expected[..], &[payload]].concat()[..]);
    }
}
