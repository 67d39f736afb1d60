//! NATS's text protocol, with a request's number in its inbox. A publish to JetStream is a request that the stream
//! answers, so it needs nothing of its own.

use memchr::memchr;

use super::protocol::{
    Heard, Joined, Joining, Opening, Protocol, What, number_at_end, push_number,
};
use super::template::{NUMBER, Template, padded_length};
use super::{ANSWER, question};
use crate::Outcome;

struct Nats {
    question: Template,
    /// Answers come to subjects that begin so.
    inbox: Vec<u8>,
}

pub(super) fn join(joining: &Joining) -> Joined {
    let inbox = format!("_INBOX.{}.", joining.name);
    let (asks, question) = (joining.asks.as_deref().unwrap_or_default(), question());
    let length = padded_length(&question);
    let question = format!("PUB {asks} {inbox}{NUMBER} {length}\r\n{question}\r\n");
    let mut says =
        String::from("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":false}\r\n");
    if joining.asks.is_some() {
        says.push_str(&format!("SUB {inbox}* 1\r\n"));
    }
    for (subject, number) in joining.listens.iter().zip(2..) {
        says.push_str(&format!("SUB {subject} {number}\r\n"));
    }
    says.push_str("PING\r\n");
    let opening = vec![Opening::new("", "INFO "), Opening::new(says, "PONG\r\n")];
    let protocol = Nats { question: Template::new(&question), inbox: inbox.into_bytes() };
    Joined { protocol: Box::new(protocol), opening }
}

impl Protocol for Nats {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(end) = memchr(b'\n', bytes) else {
            return Ok(None);
        };
        let line = bytes[..end].trim_ascii_end();
        let heard = |length, what| Ok(Some(Heard { length, what }));
        if line == b"PING" {
            out.extend_from_slice(b"PONG\r\n");
            return heard(end + 1, What::Nothing);
        }
        if line.starts_with(b"-ERR") {
            return heard(end + 1, What::Refusal(line));
        }
        let Some(message) = Message::read(line) else {
            return heard(end + 1, What::Nothing);
        };
        let length = end + 1 + message.length + 2;
        let Some(content) = bytes.get(end + 1..length) else {
            return Ok(None);
        };
        let what = match (message.subject.strip_prefix(self.inbox.as_slice()), message.reply) {
            // JetStream says in JSON what went wrong; an answer of ours holds no such word.
            (Some(_), _) if memchr::memmem::find(content, br#""error""#).is_some() => {
                What::Refusal(content)
            }
            (Some(id), _) => number_at_end(id).map_or(What::Nothing, What::Answer),
            (None, Some(reply)) => What::Call(reply),
            (None, None) => What::Call(b""),
        };
        heard(length, what)
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        self.question.push(id, out);
    }

    fn answer(&mut self, call: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"PUB ");
        out.extend_from_slice(call);
        out.push(b' ');
        push_number(out, ANSWER.len() as u64);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(ANSWER.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// The line `MSG subject sid [reply] length`.
struct Message<'a> {
    subject: &'a [u8],
    reply: Option<&'a [u8]>,
    length: usize,
}

impl<'a> Message<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let mut words = line.strip_prefix(b"MSG ")?.split(|byte| *byte == b' ');
        let (subject, _sid, third) = (words.next()?, words.next()?, words.next()?);
        let (reply, length) = match words.next() {
            Some(length) => (Some(third), length),
            None => (None, third),
        };
        Some(Self { subject, reply, length: usize::try_from(number_at_end(length)?).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(bytes: &[u8]) -> Option<(usize, String)> {
        let joining = Joining {
            host: String::new(),
            name: "a-1".into(),
            token: String::new(),
            listens: Vec::new(),
            everyone: false,
            asks: Some("s".into()),
        };
        let mut protocol = join(&joining).protocol;
        let heard = protocol.hear(bytes, &mut Vec::new()).unwrap()?;
        Some((heard.length, format!("{:?}", heard.what)))
    }

    #[test]
    fn a_message_is_read_once_its_payload_is_whole() {
        let answer = b"MSG _INBOX.a-1.77 1 2\r\n{}\r\n";
        assert_eq!(hear(&answer[..answer.len() - 1]), None);
        assert_eq!(hear(answer), Some((answer.len(), "Answer(77)".into())));
        let call = b"MSG bench.0 2 _INBOX.b.5 2\r\n{}\r\nMSG";
        assert_eq!(hear(call).map(|heard| heard.0), Some(call.len() - 3));
    }

    #[test]
    fn an_error_of_the_stream_is_a_refusal() {
        let error = b"MSG _INBOX.a-1.77 1 15\r\n{\"error\":\"no!\"}\r\n";
        assert!(hear(error).is_some_and(|(_, what)| what.starts_with("Refusal")));
    }
}
