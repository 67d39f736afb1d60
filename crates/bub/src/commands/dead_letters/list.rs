//! `bub dead-letters list`: which messages nobody took, and why.

use clap::Args;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_model::{DeadReason, Timestamp};

use super::choice::{Choice, Status};
use super::{pages, words};
use crate::failure::Failure;
use crate::output::{self, date_time, shortened, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// A payload is shown this far.
const PREVIEW: usize = 60;

/// Show dead letters, the newest last; with --json the newest first
#[derive(Args)]
pub(super) struct List {
    /// How many of them
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    /// One JSON document: an array of dead letters
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    status: Status,
}

impl List {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let filter = self.choice.with(self.status);
        let found = pages::newest(console, &filter, self.limit, true).await?;
        if self.json {
            return output::line(&serde_json::to_string(&found.rows)?);
        }
        if found.matching == 0 {
            output::note("no dead letters");
            return Ok(());
        }
        let cells: Result<Vec<_>, _> = found.rows.iter().rev().map(|row| cells(row)).collect();
        Table::new(["DIED", "REASON", "ASKED", "FROM", "TOPIC", "PAYLOAD", "ID"]).print(&cells?)?;
        let shown = found.rows.len() as u64;
        if shown < found.matching {
            let all = super::letters(found.matching);
            output::note(&format!("the newest {shown} of {all}: --limit N shows more"));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: String,
    from: String,
    topic: String,
    reason: DeadReason,
    attempts: u32,
    died_at: Timestamp,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

fn cells(row: &RawValue) -> Result<[String; 7], Failure> {
    let row: Shown<'_> = serde_json::from_str(row.get())?;
    let asked = match row.attempts {
        0 => "nobody".to_owned(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    let payload = row.payload.map(RawValue::get).unwrap_or_default();
    Ok([
        date_time(row.died_at),
        words::reason(row.reason).to_owned(),
        asked,
        visible(&row.from).into_owned(),
        visible(&row.topic).into_owned(),
        visible(&shortened(payload, PREVIEW)).into_owned(),
        row.id,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_becomes_one_line_with_its_reason_in_words_and_its_whole_id() {
        let row = r#"{"seq":7,"id":"0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f","from":"a\u001b[31m",
            "topic":"inbound:1","reason":"gaveUp","attempts":3,
            "diedAt":"2026-11-16T10:30:00.123456Z","payload":{"n":12345678901234567890123}}"#;
        let shown = cells(&RawValue::from_string(row.to_owned()).unwrap()).unwrap();
        let expected = [
            "2026-11-16 10:30:00",
            "gave up after retries",
            "3 times",
            "a\\u{1b}[31m",
            "inbound:1",
            r#"{"n":12345678901234567890123}"#,
            "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f",
        ];
        assert_eq!(shown, expected);
    }
}
