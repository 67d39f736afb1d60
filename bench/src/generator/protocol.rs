//! What every protocol can say and hear, so that the engine need not know which it is.

use super::plan::Speech;
use super::{bus, nats};
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
    /// Somebody asks; these bytes are needed to answer.
    Call(&'a [u8]),
    /// The server will not have it: its own words.
    Refusal(&'a [u8]),
    /// Nothing to act on.
    Nothing,
}

/// What a connection must know to join.
pub(super) struct Joining<'a> {
    pub(super) host: String,
    pub(super) name: String,
    /// What it listens to.
    pub(super) listens: Option<&'a str>,
    /// What it asks.
    pub(super) asks: Option<&'a str>,
}

/// The protocol, and the conversation by which a connection joins: each part is said, and then so many messages are
/// awaited.
pub(super) struct Joined {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) opening: Vec<Opening>,
}

/// Something said while joining.
pub(super) struct Opening {
    pub(super) says: Vec<u8>,
    pub(super) awaits: Awaits,
}

/// What has to come before the next thing is said.
pub(super) enum Awaits {
    /// The end of an HTTP head that begins so.
    Head(&'static str),
    /// This text, anywhere.
    Text(&'static str),
}

pub(super) fn join(speech: Speech, joining: &Joining<'_>) -> Joined {
    match speech {
        Speech::Bus => bus::join(joining),
        Speech::Nats => nats::join(joining),
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
        }
        assert_eq!(number_at_end(b"none"), None);
    }
}
