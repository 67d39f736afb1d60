//! `bub messages`: what was said, and with `--follow` what is being said.

use bub::{Console, Feed};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_model::{Door, Kind, MessageFilter, MessageState, Timestamp};

use super::{interrupted, one_of};
use crate::failure::Failure;
use crate::output::{self, clock_time, duration, shortened, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// The most that one page of history holds.
const PAGE: u64 = 500;
/// A payload is shown this far.
const PREVIEW: usize = 72;

/// Show messages, the newest last; with --json the newest first
#[derive(Args)]
pub(crate) struct Messages {
    /// Go on with what is being said, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How many messages back
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: u64,
    #[command(flatten)]
    filter: Filter,
    /// One JSON document: an array of messages, or with --follow one message a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Args)]
struct Filter {
    /// Only messages of this kind
    #[arg(long, value_parser = one_of(Kind::ALL, Kind::as_str))]
    kind: Option<Kind>,
    /// Only from or to agents whose id contains this
    #[arg(long)]
    agent: Option<String>,
    /// Only where topic or capability contains this
    #[arg(long)]
    topic: Option<String>,
    /// Only what came in by this door
    #[arg(long, value_parser = one_of(Door::ALL, Door::as_str))]
    door: Option<Door>,
    /// Only what is in this state
    #[arg(long, value_parser = one_of(MessageState::ALL, MessageState::as_str))]
    state: Option<MessageState>,
    /// Only with these words in payload, topic, capability, sender or recipient
    #[arg(long)]
    text: Option<String>,
}

impl From<Filter> for MessageFilter {
    fn from(filter: Filter) -> Self {
        let Filter {
            kind,
            agent,
            topic,
            door,
            state,
            text,
        } = filter;
        Self {
            kind,
            door,
            state,
            agent,
            topic,
            text,
        }
    }
}

#[derive(Serialize)]
struct Query<'a> {
    filter: &'a MessageFilter,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    limit: u64,
    payloads: bool,
}

#[derive(Deserialize)]
struct Page {
    rows: Vec<Box<RawValue>>,
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    seq: u64,
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

impl Messages {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let console = self.operator.console()?;
        let history = History {
            console,
            filter: self.filter.into(),
        };
        if !self.follow {
            let rows = history.newest(self.limit).await?;
            return if self.json {
                print_document(&rows)
            } else {
                Printer::table().print(&rows)
            };
        }
        let mut printer = if self.json {
            Printer::Lines
        } else {
            Printer::table()
        };
        // Opened before history is read, so that nothing falls between the two.
        let feed = history.console.watch(&history.filter).await?;
        let rows = history.newest(self.limit).await?;
        printer.print(&rows)?;
        tokio::select! {
            ended = follow(feed, &history, seq_of_newest(&rows)?, &mut printer) => ended,
            stopped = interrupted() => stopped,
        }
    }
}

/// Prints what comes. The feed tells that there is something new, history tells what: the feed
/// leaves out payloads, and rows when there are too many for a screen.
async fn follow(
    mut feed: Feed,
    history: &History,
    mut printed: u64,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let mut known = printed;
    loop {
        let event = feed.next().await?;
        known = known.max(newest_in(&event));
        if known > printed {
            let rows = history.since(printed, hint(&event)).await?;
            printer.print(&rows)?;
            printed = printed.max(seq_of_newest(&rows)?);
        }
    }
}

fn newest_in(event: &Value) -> u64 {
    let rows = event["rows"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    rows.iter()
        .filter_map(|row| row["seq"].as_u64())
        .max()
        .unwrap_or(0)
}

/// About how many rows are new.
fn hint(event: &Value) -> u64 {
    let rows = event["rows"].as_array().map_or(0, Vec::len);
    u64::try_from(rows).unwrap_or(PAGE) + event["skipped"].as_u64().unwrap_or(0)
}

struct History {
    console: Console,
    filter: MessageFilter,
}

impl History {
    async fn page(&self, before: Option<u64>, limit: u64) -> Result<Page, Failure> {
        let query = Query {
            filter: &self.filter,
            before,
            limit,
            payloads: true,
        };
        Ok(self.console.call("messages", &query).await?)
    }

    /// The newest rows, newest first.
    async fn newest(&self, count: u64) -> Result<Vec<Box<RawValue>>, Failure> {
        let mut rows = Vec::new();
        let mut before = None;
        let mut missing = count;
        while missing > 0 {
            let page = self.page(before, missing.min(PAGE)).await?;
            missing = missing.saturating_sub(u64::try_from(page.rows.len()).unwrap_or(missing));
            rows.extend(page.rows);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// Everything after `seq`, newest first.
    async fn since(&self, seq: u64, hint: u64) -> Result<Vec<Box<RawValue>>, Failure> {
        let mut rows = Vec::new();
        let mut before = None;
        loop {
            let page = self.page(before, hint.clamp(1, PAGE)).await?;
            for row in page.rows {
                if read(&row)?.seq <= seq {
                    return Ok(rows);
                }
                rows.push(row);
            }
            before = page.next;
            if before.is_none() {
                return Ok(rows);
            }
        }
    }
}

fn read(row: &RawValue) -> Result<Row<'_>, Failure> {
    Ok(serde_json::from_str(row.get())?)
}

/// Rows come newest first.
fn seq_of_newest(rows: &[Box<RawValue>]) -> Result<u64, Failure> {
    rows.first().map_or(Ok(0), |row| Ok(read(row)?.seq))
}

fn print_document(rows: &[Box<RawValue>]) -> Result<(), Failure> {
    output::line(&serde_json::to_string(rows)?)
}

enum Printer {
    Lines,
    Table(Table<8>),
}

impl Printer {
    fn table() -> Self {
        Self::Table(Table::new([
            "TIME", "KIND", "FROM", "TO", "TOPIC", "STATE", "TOOK", "PAYLOAD",
        ]))
    }

    /// Prints rows that come newest first, the newest last.
    fn print(&mut self, rows: &[Box<RawValue>]) -> Result<(), Failure> {
        match self {
            Self::Lines => rows
                .iter()
                .rev()
                .try_for_each(|row| output::line(row.get())),
            Self::Table(table) => {
                let rows: Result<Vec<_>, _> = rows.iter().rev().map(|row| cells(row)).collect();
                table.print(&rows?)
            }
        }
    }
}

fn cells(row: &RawValue) -> Result<[String; 8], Failure> {
    let row = read(row)?;
    let or_none = |text: Option<String>| {
        text.map_or_else(|| "–".to_owned(), |text| visible(&text).into_owned())
    };
    let said = row
        .error
        .as_deref()
        .or(row.payload.map(RawValue::get))
        .unwrap_or_default();
    Ok([
        clock_time(row.created_at),
        row.kind,
        visible(&row.from).into_owned(),
        or_none(row.to),
        or_none(row.topic.or(row.capability)),
        row.state,
        row.took_micros.map_or_else(|| "–".to_owned(), duration),
        visible(&shortened(said, PREVIEW)).into_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, payload: &str) -> Box<RawValue> {
        let text = format!(
            r#"{{"seq":{seq},"id":"x","from":"alice","to":null,"topic":"inbound:1",
                "capability":null,"kind":"event","priority":"NORMAL","state":"processed",
                "door":"bus","conversationId":null,"createdAt":"2026-11-16T10:30:00.123456Z",
                "tookMicros":870,"error":null,"payloadBytes":2,"payload":{payload}}}"#
        );
        RawValue::from_string(text).unwrap()
    }

    #[test]
    fn a_row_becomes_one_line_of_short_cells() {
        let shown = cells(&row(7, r#"{"n":12345678901234567890123}"#)).unwrap();
        assert_eq!(
            shown,
            [
                "10:30:00.123",
                "event",
                "alice",
                "–",
                "inbound:1",
                "processed",
                "870 µs",
                r#"{"n":12345678901234567890123}"#,
            ]
        );
    }

    #[test]
    fn the_newest_row_is_the_first() {
        let rows = [row(9, "1"), row(8, "2")];
        assert_eq!(seq_of_newest(&rows).unwrap(), 9);
        assert_eq!(seq_of_newest(&[]).unwrap(), 0);
    }

    #[test]
    fn an_event_tells_its_newest_row_and_how_many_are_new() {
        let event =
            serde_json::json!({"type": "batch", "rows": [{"seq": 4}, {"seq": 5}], "skipped": 3});
        assert_eq!((newest_in(&event), hint(&event)), (5, 5));
        assert_eq!(
            newest_in(&serde_json::json!({"type": "batch", "rows": []})),
            0
        );
    }
}
