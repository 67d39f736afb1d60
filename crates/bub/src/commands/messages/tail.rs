//! Follows what is being said. The feed tells that there is something, history tells what: the feed
//! leaves out payloads, and rows where there are more than a screen can show.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bub::Feed;
use serde::Deserialize;
use serde_json::Value;

use super::history::{History, Row};
use super::printer::Printer;
use crate::failure::Failure;

/// A message shows in the feed a moment before it is on disk; then history is asked again.
const AGAIN: Duration = Duration::from_millis(50);
/// So many times, for it may also have been withdrawn.
const TRIES: u8 = 40;
/// So many printed rows are remembered, in case the feed tells of one twice.
const REMEMBERED: usize = 4096;

/// Prints the newest `limit` rows, and then what comes, until the feed ends.
pub(super) async fn follow(
    history: &History,
    limit: usize,
    mut printer: Printer,
) -> Result<(), Failure> {
    // Opened before history is read, so that nothing falls between the two.
    let mut feed = history.watch().await?;
    // At least one, to know where the news begins.
    let mut rows = history.newest(limit.max(1)).await?;
    let mut tail = Tail::after(&rows);
    rows.truncate(limit);
    printer.print(&rows)?;
    loop {
        if let Some(event) = tail.next_event(&mut feed).await? {
            tail.hear(serde_json::from_value(event)?);
        }
        if let Some((oldest, newest)) = tail.span() {
            let mut rows = history.between(oldest, newest, tail.expected()).await?;
            tail.keep_news(&mut rows);
            printer.print(&rows)?;
        }
    }
}

/// What the feed says, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Heard {
    Snapshot { rows: Vec<Place> },
    Batch { rows: Vec<Place>, skipped: u64 },
}

#[derive(Deserialize)]
struct Place {
    seq: u64,
}

/// What has been printed, and what is to be printed as soon as history has it.
#[derive(Default)]
struct Tail {
    newest: u64,
    printed: BTreeSet<u64>,
    /// With the tries that are left.
    wanted: BTreeMap<u64, u8>,
    /// There is more between the newest printed row and the newest wanted one.
    gap: bool,
}

impl Tail {
    fn after(rows: &[Row]) -> Self {
        let printed: BTreeSet<u64> = rows.iter().map(|row| row.seq).collect();
        Self { newest: printed.last().copied().unwrap_or(0), printed, ..Self::default() }
    }

    /// The next event; none if it is time to ask history again first.
    async fn next_event(&self, feed: &mut Feed) -> Result<Option<Value>, Failure> {
        if self.wanted.is_empty() {
            return Ok(Some(feed.next().await?));
        }
        match tokio::time::timeout(AGAIN, feed.next()).await {
            Ok(event) => Ok(Some(event?)),
            Err(_) => Ok(None),
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            // Everything as it is, most of it printed long ago: only what is newer counts.
            Heard::Snapshot { rows } => {
                self.gap = true;
                self.want(rows.into_iter().filter(|row| row.seq > self.newest).collect());
            }
            // An older row is here because it has moved into the filter just now.
            Heard::Batch { rows, skipped } => {
                self.gap |= skipped > 0;
                self.want(rows);
            }
        }
    }

    fn want(&mut self, rows: Vec<Place>) {
        let news = rows.into_iter().filter(|row| !self.printed.contains(&row.seq));
        self.wanted.extend(news.map(|row| (row.seq, TRIES)));
    }

    /// The oldest and the newest row to ask for; none if there is no need to ask.
    fn span(&self) -> Option<(u64, u64)> {
        let (&oldest, _) = self.wanted.first_key_value()?;
        let (&newest, _) = self.wanted.last_key_value()?;
        Some((if self.gap { oldest.min(self.newest + 1) } else { oldest }, newest))
    }

    /// About how many rows that will be.
    fn expected(&self) -> usize {
        if self.gap { usize::MAX } else { self.wanted.len() }
    }

    /// Leaves those rows that are to be printed now, and takes note of them.
    fn keep_news(&mut self, rows: &mut Vec<Row>) {
        let (newest, gap) = (self.newest, self.gap);
        rows.retain(|row| {
            let in_gap = gap && row.seq > newest && !self.printed.contains(&row.seq);
            self.wanted.remove(&row.seq).is_some() || in_gap
        });
        self.printed.extend(rows.iter().map(|row| row.seq));
        self.newest = self.printed.last().copied().unwrap_or(0).max(newest);
        while self.printed.len() > REMEMBERED {
            self.printed.pop_first();
        }
        self.wanted.retain(|_, tries| {
            *tries -= 1;
            *tries > 0
        });
        self.gap = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::RawValue;

    fn rows(seqs: &[u64]) -> Vec<Row> {
        let row = |seq: &u64| RawValue::from_string(json!({"seq": seq}).to_string()).unwrap();
        seqs.iter().map(|seq| Row::read(row(seq)).unwrap()).collect()
    }

    fn heard(tail: &mut Tail, kind: &str, seqs: &[u64], skipped: u64) {
        let places: Vec<Value> = seqs.iter().map(|seq| json!({"seq": seq})).collect();
        let event = json!({"type": kind, "rows": places, "skipped": skipped});
        tail.hear(serde_json::from_value(event).unwrap());
    }

    fn news(tail: &mut Tail, on_disk: &[u64]) -> Vec<u64> {
        let mut rows = rows(on_disk);
        tail.keep_news(&mut rows);
        rows.iter().map(|row| row.seq).collect()
    }

    #[test]
    fn a_row_is_printed_once_however_often_the_feed_tells_of_it() {
        let mut tail = Tail::after(&rows(&[10, 9]));
        heard(&mut tail, "batch", &[10, 11], 0);
        assert_eq!(tail.span(), Some((11, 11)));
        assert_eq!(news(&mut tail, &[11]), [11]);
        heard(&mut tail, "batch", &[11], 0);
        assert_eq!(tail.span(), None);
    }

    #[test]
    fn the_first_snapshot_does_not_bring_back_what_is_older_than_was_asked_for() {
        let mut tail = Tail::after(&rows(&[10]));
        heard(&mut tail, "snapshot", &[11, 10, 9, 8], 0);
        assert_eq!(tail.span(), Some((11, 11)));
        assert_eq!(news(&mut tail, &[11]), [11]);
    }

    #[test]
    fn rows_that_the_feed_left_out_are_fetched() {
        let mut tail = Tail::after(&rows(&[10]));
        heard(&mut tail, "batch", &[14, 15], 3);
        assert_eq!(tail.span(), Some((11, 15)));
        assert_eq!(news(&mut tail, &[15, 14, 13, 12, 11]), [15, 14, 13, 12, 11]);
    }

    #[test]
    fn a_row_that_moves_into_the_filter_late_is_printed_late() {
        let mut tail = Tail::after(&rows(&[10, 8]));
        heard(&mut tail, "batch", &[9], 0);
        assert_eq!(news(&mut tail, &[9]), [9]);
    }

    #[test]
    fn a_row_that_is_not_on_disk_yet_is_asked_for_again_but_not_forever() {
        let mut tail = Tail::after(&rows(&[10]));
        heard(&mut tail, "batch", &[11], 0);
        assert_eq!(news(&mut tail, &[]), [] as [u64; 0]);
        assert_eq!(tail.span(), Some((11, 11)), "still wanted");
        for _ in 0..TRIES {
            news(&mut tail, &[]);
        }
        assert_eq!(tail.span(), None, "withdrawn, it seems");
    }
}
