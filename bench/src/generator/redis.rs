//! Redis: publishes to a channel, which arrive at its subscribers, or pushes to a list, which the server answers.

use std::collections::VecDeque;

use memchr::memmem;

use super::protocol::{Heard, Joined, Joining, Opening, Protocol, What, number_within};
use super::question;
use super::template::{Template, padded_length};
use crate::Outcome;

/// What asking is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Command {
    Publish,
    Push,
}

struct Redis {
    question: Template,
    command: Command,
    /// Answers come in the order of the questions and name none.
    waiting: VecDeque<u64>,
}

pub(super) fn join(joining: &Joining, command: Command) -> Joined {
    let (asks, question) = (joining.asks.as_deref().unwrap_or_default(), question());
    let word = match command {
        Command::Publish => "PUBLISH",
        Command::Push => "RPUSH",
    };
    let question = format!(
        "*3\r\n${}\r\n{word}\r\n${}\r\n{asks}\r\n${}\r\n{question}\r\n",
        word.len(),
        asks.len(),
        padded_length(&question)
    );
    let subscribe = |topic: &String| Opening::new(format!("SUBSCRIBE {topic}\r\n"), ":1\r\n");
    let opening = joining.listens.iter().map(subscribe).collect();
    let protocol = Redis { question: Template::new(&question), command, waiting: VecDeque::new() };
    Joined { protocol: Box::new(protocol), opening }
}

impl Protocol for Redis {
    fn hear<'a>(&mut self, bytes: &'a [u8], _out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(length) = whole(bytes)? else {
            return Ok(None);
        };
        let reply = &bytes[..length];
        let what = match (reply.first(), self.command) {
            (Some(b':'), Command::Push) => {
                self.waiting.pop_front().map_or(What::Refusal(reply), What::Answer)
            }
            // How many subscribers there are.
            (Some(b':'), Command::Publish) => What::Nothing,
            (Some(b'*'), _) => number_within(reply).map_or(What::Nothing, What::Arrived),
            _ => What::Refusal(reply),
        };
        Ok(Some(Heard { length, what }))
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        if self.command == Command::Push {
            self.waiting.push_back(id);
        }
        self.question.push(id, out);
    }

    /// A subscriber cannot answer.
    fn answer(&mut self, _call: &[u8], _out: &mut Vec<u8>) {}
}

/// How long the reply at the front is; none if it is not whole. Arrays hold strings and numbers here, no arrays.
fn whole(bytes: &[u8]) -> Outcome<Option<usize>> {
    let Some(end) = memmem::find(bytes, b"\r\n") else {
        return Ok(None);
    };
    let count = || -> Outcome<usize> { Ok(std::str::from_utf8(&bytes[1..end])?.parse()?) };
    let mut length = end + 2;
    match bytes[0] {
        b'$' => length += count()? + 2,
        b'*' => {
            for _ in 0..count()? {
                match whole(bytes.get(length..).unwrap_or_default())? {
                    Some(more) => length += more,
                    None => return Ok(None),
                }
            }
        }
        _ => {}
    }
    Ok((bytes.len() >= length).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_once_it_is_whole() {
        let message = b"*3\r\n$7\r\nmessage\r\n$1\r\nt\r\n$2\r\nhi\r\n";
        for cut in [1, 4, 12, message.len() - 1] {
            assert_eq!(whole(&message[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(whole(message).unwrap(), Some(message.len()));
        assert_eq!(whole(b":12\r\n:13\r\n").unwrap(), Some(5));
        assert_eq!(whole(b"-ERR no\r\n").unwrap(), Some(9));
    }
}
