//! The bus door: JSON-RPC in WebSocket frames. The relay speaks as much of it as is needed here.

use memchr::memmem;

use super::protocol::{
    Heard, Joined, Joining, Opening, Protocol, What, number_at_end, number_within,
};
use super::template::{NUMBER, Template};
use super::{ANSWER, question};
use crate::{Outcome, websocket};

struct Bus {
    question: Template,
    /// An answer up to the number of the call.
    answer: Vec<u8>,
    done: Done,
}

/// When a question is done.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Done {
    /// When somebody has taken care of it.
    Processed,
    /// When it is on disk, whoever takes it.
    Accepted,
    /// When its recipient calls back with its number.
    CalledBack,
}

pub(super) fn join(joining: &Joining, done: Done) -> Joined {
    let name = &joining.name;
    let asks = joining.asks.as_deref().unwrap_or_default();
    let question = request(
        "sendMessage",
        &format!(r#"{{"topic":"{asks}","payload":{}}}"#, question()),
        &NUMBER.to_string(),
    );
    let answer =
        format!(r#"{{"jsonrpc":"2.0","result":{{"processed":true,"payload":{ANSWER}}},"id":"#);
    let client =
        format!(r#"{{"clientId":"{name}","clientInfo":{{"name":"bench","version":"0.2.0"}}}}"#);
    let mut initialize = Vec::new();
    websocket::push_text(
        &mut initialize,
        websocket::End::Client,
        request("initialize", &client, "1").as_bytes(),
    );
    let mut opening = vec![
        Opening::upgrade(websocket::upgrade(&joining.host, "/", "")),
        Opening::new(initialize, r#""id":1}"#),
    ];
    let own = (done == Done::CalledBack).then(|| format!("agent:{name}"));
    let listens: Vec<&String> = joining.listens.iter().chain(&own).collect();
    let policy = if joining.everyone { r#","policy":"continueAll""# } else { "" };
    let mut subscribe = Vec::new();
    for topic in &listens {
        let params = format!(r#"{{"topic":"{topic}"{policy}}}"#);
        websocket::push_text(
            &mut subscribe,
            websocket::End::Client,
            request("subscribe", &params, "2").as_bytes(),
        );
    }
    if !subscribe.is_empty() {
        let times = listens.len();
        opening.push(Opening { times, ..Opening::new(subscribe, r#""success":true"#) });
    }
    let question = Template::new(&question);
    let protocol = Bus { question, answer: answer.into_bytes(), done };
    Joined { protocol: Box::new(protocol), opening }
}

fn request(method: &str, params: &str, id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":{id}}}"#)
}

impl Protocol for Bus {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(frame) = websocket::read(bytes, out)? else {
            return Ok(None);
        };
        let what = match frame.text {
            Some(text) => match (understand(text), self.done) {
                (Some(What::Answer(_)), Done::CalledBack) => What::Nothing,
                (Some(What::Call(id)), Done::CalledBack) => {
                    self.answer(id, out);
                    number_within(text).map_or(What::Refusal(text), What::Answer)
                }
                (Some(What::Refusal(_)), Done::Accepted) => accepted(text),
                (Some(what), _) => what,
                (None, _) => What::Refusal(text),
            },
            None => What::Nothing,
        };
        Ok(Some(Heard { length: frame.length, what }))
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        websocket::begin_text(out, self.question.length(id));
        self.question.push(id, out);
    }

    fn answer(&mut self, call: &[u8], out: &mut Vec<u8>) {
        websocket::begin_text(out, self.answer.len() + call.len() + 1);
        out.extend_from_slice(&self.answer);
        out.extend_from_slice(call);
        out.push(b'}');
    }
}

/// Reads a frame without reading its JSON: the envelope is the server's own and its id comes last, after everything
/// that others have written.
fn understand(text: &[u8]) -> Option<What<'_>> {
    let key = memmem::rfind(text, br#""id":"#)?;
    let id = text.get(key + 5..text.len() - 1)?;
    if memmem::find(text, br#""method":"processMessage""#).is_some() {
        return Some(What::Call(id));
    }
    if memmem::find(text, br#""success":true"#).is_none() {
        return Some(What::Refusal(text));
    }
    number_at_end(id).map(What::Answer)
}

/// A message that nobody took is refused to its sender, and is a dead letter all the same.
fn accepted(text: &[u8]) -> What<'_> {
    let id = text.strip_suffix(b"}").and_then(number_at_end);
    match memmem::find(text, br#""accepted":true"#).and(id) {
        Some(id) => What::Answer(id),
        None => What::Refusal(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_calls_and_refusals_are_told_apart() {
        let answer =
            br#"{"jsonrpc":"2.0","result":{"success":true,"acks":[{"client_id":"a"}]},"id":41}"#;
        assert_eq!(understand(answer), Some(What::Answer(41)));
        let call = br#"{"jsonrpc":"2.0","method":"processMessage","params":{"payload":{"id":3}},"id":"x-7"}"#;
        assert_eq!(understand(call), Some(What::Call(br#""x-7""#)));
        let refusal = br#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"busy"},"id":41}"#;
        assert_eq!(understand(refusal), Some(What::Refusal(refusal)));
        assert_eq!(understand(b"{}"), None);
        let dead = br#"{"jsonrpc":"2.0","result":{"success":false,"accepted":true},"id":41}"#;
        assert_eq!(understand(dead), Some(What::Refusal(dead)));
        assert_eq!((accepted(dead), accepted(refusal)), (What::Answer(41), What::Refusal(refusal)));
    }
}
