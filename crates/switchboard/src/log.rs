//! The last warnings and errors, and the last panic, kept in memory for whoever has to help. Nothing that looks like a
//! secret is kept.

use std::collections::VecDeque;
use std::fmt::{Debug, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_broker::now;
use switchboard_model::Timestamp;
use tokio::sync::watch;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Lines that are kept. When there are more, the oldest go.
const LINES: usize = 200;
/// The longest line.
const LINE: usize = 600;

/// The last lines. Cheap to clone; all clones are the same.
#[derive(Clone, Default)]
pub struct Log {
    lines: Arc<Mutex<VecDeque<String>>>,
    panic: Arc<watch::Sender<Option<Panic>>>,
}

/// A part of the program that failed by a fault of ours. It has ended; all else goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    pub(crate) words: String,
    pub(crate) at: Timestamp,
}

impl Log {
    /// Tells of a panic, in the log and to the operator, instead of only on stderr.
    pub(crate) fn panicked(&self, panic: &PanicHookInfo<'_>) {
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        let words = panic.payload_as_str().unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        tracing::error!(thread, "a part of Switchboard panicked{place}: {words}");
        let words = without_secrets(&format!("A part of Switchboard panicked{place}: {words}."));
        let words =
            shortened(&words) + " It has ended, and what it did with it. Please report this.";
        self.panic.send_replace(Some(Panic { words, at: now() }));
    }

    /// The last panic, if there was any.
    pub(crate) fn last_panic(&self) -> watch::Receiver<Option<Panic>> {
        self.panic.subscribe()
    }

    /// Oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn keep(&self, line: &str) {
        let line = shortened(&without_secrets(line));
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// On one line, and not endless.
fn shortened(text: &str) -> String {
    let mut line = text.replace('\n', " ");
    if let Some((end, _)) = line.char_indices().nth(LINE) {
        line.truncate(end);
        line.push('…');
    }
    line
}

impl Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Log")
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let about = event.metadata();
        let mut line = Line(format!("{} {} {}:", now().to_iso(), about.level(), about.target()));
        event.record(&mut line);
        self.keep(&line.0);
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        // Writing to a String cannot fail.
        written.unwrap_or_default();
    }
}

/// What stands for a secret.
const REMOVED: &str = "[removed]";
/// Words of so many letters and digits are keys and tokens, not words.
const LONG: usize = 32;
/// How a signed token begins: `{"` in base64.
const SIGNED: &str = "eyJ";

/// The text without what looks like a token, a signed token, a key or a password in an address. Ids of messages stay.
pub(crate) fn without_secrets(text: &str) -> String {
    let text = without_keys(text);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        // The parts of a signed token are one.
        let dots = rest.starts_with(SIGNED);
        let belongs = |c: char| is_of_token(c) || (dots && c == '.');
        let (word, after) = rest.split_at(rest.find(|c| !belongs(c)).unwrap_or(rest.len()));
        clean.push_str(if is_secret(word) { REMOVED } else { word });
        let next = after.find(is_of_token).unwrap_or(after.len());
        let (between, after) = after.split_at(next);
        clean.push_str(between);
        rest = after;
    }
    without_passwords(&clean)
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+')
}

fn is_secret(word: &str) -> bool {
    let is_id = uuid::Uuid::try_parse(word).is_ok() && word.len() == 36;
    (word.len() >= LONG && !is_id && word.contains(|c: char| c.is_ascii_digit()))
        || word.len() > 2 * LONG
        || word.starts_with(SIGNED)
}

/// Keys in their armour, to the end of it or of the text.
fn without_keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, key)) = rest.split_once("-----BEGIN") {
        clean.push_str(before);
        clean.push_str(REMOVED);
        let end = key.split_once("-----END").map_or("", |(_, after)| after);
        rest = end.split_once("-----").map_or("", |(_, after)| after);
    }
    clean.push_str(rest);
    clean
}

/// Names and passwords in addresses: `http://name:word@host`.
fn without_passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, address)) = rest.split_once("://") {
        clean.push_str(before);
        clean.push_str("://");
        let ends = |c: char| c == '/' || c == '"' || c == '?' || c.is_whitespace();
        let end = address.find(ends).unwrap_or(address.len());
        let (host, after) = address.split_at(end);
        match host.rsplit_once('@') {
            Some((_, host)) => {
                clean.push_str(REMOVED);
                clean.push('@');
                clean.push_str(host);
            }
            None => clean.push_str(host),
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_not_kept() {
        let hex = "0123456789abcdef".repeat(4);
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
        let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----";
        let base64 = "q3Xr9vPz0m2Lk8Jh5Tg1Yb7Nc4Wd6Fs_aQeRtUi";
        for secret in [hex.as_str(), jwt, key, base64] {
            let clean = without_secrets(&format!("token={secret} was refused"));
            assert!(clean.contains("[removed]") && clean.contains("was refused"), "{clean}");
            let parts = secret.split(['.', '\n', ' ']).filter(|part| part.len() > 9);
            for part in parts {
                assert!(!clean.contains(part), "{part} in {clean}");
            }
        }
        assert_eq!(
            without_secrets("to http://me:word@host:4318/v1 and https://host"),
            "to http://[removed]@host:4318/v1 and https://host"
        );
        assert_eq!(without_secrets("half -----BEGIN RSA KEY-----\nMII"), "half [removed]");
    }

    #[test]
    fn what_helps_stays() {
        for text in [
            "message_id=0190a5f2-7c1e-7b3a-9f00-0123456789ab was not taken",
            "cannot write /home/me/.local/share/switchboard/switchboard.db: no space",
            "agents default-handler and a-very-long-name-of-an-agent-without-numbers",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    #[test]
    fn only_the_last_lines_are_kept_and_none_is_endless() {
        let log = Log::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..LINES + 5 {
                tracing::warn!(number, "it went wrong {}", "x ".repeat(LINE));
            }
        });
        let lines = log.lines();
        assert_eq!(lines.len(), LINES);
        assert!(lines[0].contains("WARN"), "{}", lines[0]);
        assert!(lines[0].chars().count() <= LINE + 1);
    }
}
