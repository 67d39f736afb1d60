//! What every protocol can say and hear, so that the engine need not know which it is.

use super::plan::Speech;
use super::{bus, feed, lobby, mailbox, mqtt, nats, post, redis};
use crate::Outcome;

/// One end of a connection, in the words of its protocol.
pub(super) trait Protocol {
    /// Reads one message off the front of what has come; none if there is not yet a whole one. What the protocol
    /// itself wants said in return (a pong) is put into `out`.
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>>;

    /// Puts a question with this number into `out`.
    fn ask(&mut self, id: u64, out: &mut Vec<u8>);

    /// Puts the answer to a call into `out`; `call` is what was heard of it.
    fn answer(&mut self, call: &[u8], out: &mut Vec<u8>);
}

/// A message that has come.
pub(super) struct Heard<'a> {
    /// How many bytes it took.
    pub(super) length: usize,
    pub(super) what: What<'a>,
}

/// What matters of it.
#[derive(Debug, PartialEq)]
pub(super) enum What<'a> {
    /// The question with this number is answered.
    Answer(u64),
    /// The question with this number has arrived at someone who does not answer.
    Arrived(u64),
    /// Somebody asks; these bytes are needed to answer.
    Call(&'a [u8]),
    /// The server will not have it: its own words.
    Refusal(&'a [u8]),
    /// Nothing to act on.
    Nothing,
}

/// What a connection must know to join.
pub(super) struct Joining {
    pub(super) host: String,
    pub(super) name: String,
    pub(super) token: String,
    /// What it listens to.
    pub(super) listens: Vec<String>,
    /// Whether everyone who listens to the same is asked.
    pub(super) everyone: bool,
    /// What it asks; the number of the question stands for the marks in it.
    pub(super) asks: Option<String>,
}

/// The protocol, and the conversation by which a connection joins.
pub(super) struct Joined {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) opening: Vec<Opening>,
}

/// Something said while joining, and what has to come before the next thing is said.
pub(super) struct Opening {
    pub(super) says: Vec<u8>,
    /// This text, so often; an answer that begins with anything but `first` is an error.
    pub(super) awaits: Vec<u8>,
    pub(super) times: usize,
    pub(super) first: &'static [u8],
}

impl Opening {
    pub(super) fn new(says: impl Into<Vec<u8>>, awaits: impl Into<Vec<u8>>) -> Self {
        Self { says: says.into(), awaits: awaits.into(), times: 1, first: b"" }
    }

    /// A request that makes the connection a WebSocket.
    pub(super) fn upgrade(says: Vec<u8>) -> Self {
        Self { first: b"HTTP/1.1 101", ..Self::new(says, "\r\n\r\n") }
    }
}

pub(super) fn join(speech: Speech, joining: &Joining) -> Joined {
    match speech {
        Speech::Bus => bus::join(joining, bus::Done::Processed),
        Speech::Accepted => bus::join(joining, bus::Done::Accepted),
        Speech::CalledBack => bus::join(joining, bus::Done::CalledBack),
        Speech::Nats => nats::join(joining),
        Speech::Mqtt => mqtt::join(joining),
        Speech::RedisChannel => redis::join(joining, redis::Command::Publish),
        Speech::RedisList => redis::join(joining, redis::Command::Push),
        Speech::Lobby => lobby::join(joining),
        Speech::Mailbox => mailbox::join(joining),
        Speech::Post => post::join(joining),
        Speech::Feed => feed::join(joining),
    }
}

/// Writes a number without going through the formatter: it is done for every question.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// How many digits a number has.
pub(super) fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Reads the digits that a text ends with.
pub(super) fn number_at_end(text: &[u8]) -> Option<u64> {
    let begin = text.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    std::str::from_utf8(&text[begin..]).ok()?.parse().ok()
}

/// The number that a question carries in its payload, wherever that is in what came.
pub(super) fn number_within(text: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(text, super::NUMBER_KEY)? + super::NUMBER_KEY.len();
    number_at_end(text.get(at..at + 20)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_read_back() {
        for number in [0, 7, 10, 99, 100, 4_294_967_296, u64::MAX] {
            let mut text = b"_INBOX.3.".to_vec();
            push_number(&mut text, number);
            assert_eq!(text.len() - 9, digits(number), "{number}");
            assert_eq!(number_at_end(&text), Some(number));
            let payload = format!(r#"{{"type":"x","n":"{number:020}","more":1}}"#);
            assert_eq!(number_within(payload.as_bytes()), Some(number));
        }
        assert_eq!(number_at_end(b"none"), None);
        assert_eq!(number_within(br#"{"n":"12"}"#), None);
    }
}
