//! Posts by HTTP, one at a time on each connection: a message at the AACP door, or the same bytes at the bare echo.

use super::protocol::{Heard, Joined, Joining, Protocol, What};
use super::template::{Template, padded_length};
use super::{http, question};
use crate::Outcome;

struct Post {
    question: Template,
    last: u64,
}

/// The name is the sender's, what is asked the receiver's.
pub(super) fn join(joining: &Joining) -> Joined {
    let (sender, receiver) = (&joining.name, joining.asks.as_deref().unwrap_or_default());
    let body = format!(
        r#"{{"sender_agent_id":"{sender}","receiver_agent_id":"{receiver}","message_type":"request","content":{{"action":"bench_request","input":{}}}}}"#,
        question()
    );
    let path = "/api/v1/protocol/messages";
    let head = http::post(&joining.host, path, &joining.token, padded_length(&body));
    let protocol = Post { question: Template::new(&format!("{head}{body}")), last: 0 };
    Joined { protocol: Box::new(protocol), opening: Vec::new() }
}

impl Protocol for Post {
    fn hear<'a>(&mut self, bytes: &'a [u8], _out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(response) = http::read(bytes)? else {
            return Ok(None);
        };
        let what = match response.status {
            200 | 201 => What::Answer(self.last),
            _ => What::Refusal(response.body),
        };
        Ok(Some(Heard { length: response.length, what }))
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        self.last = id;
        self.question.push(id, out);
    }

    /// Nobody calls a client of HTTP.
    fn answer(&mut self, _call: &[u8], _out: &mut Vec<u8>) {}
}
