//! An agent that speaks only HTTP: it waits for what is new in its mailbox at the AACP door, and answers by posting.

use std::fmt::Write;

use serde::Deserialize;

use super::http;
use super::protocol::{Heard, Joined, Joining, Opening, Protocol, What};
use crate::Outcome;

struct Mailbox {
    name: String,
    host: String,
    token: String,
    /// The request for whatever is new.
    look: Vec<u8>,
}

/// What is new in a mailbox, as far as it matters here.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    sender_agent_id: &'a str,
    correlation_id: &'a str,
    message_type: &'a str,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    input: Input<'a>,
}

#[derive(Default, Deserialize)]
struct Input<'a> {
    #[serde(default)]
    n: &'a str,
}

pub(super) fn join(joining: &Joining) -> Joined {
    let Joining { host, name, token, .. } = joining;
    let look = format!(
        "GET /api/v1/protocol/messages/{name}?status=pending&limit=100&wait=60 HTTP/1.1\r\n\
         Host: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    // From here on it always waits for what is new.
    let opening = vec![Opening { times: 0, ..Opening::new(look.clone(), "") }];
    let protocol = Mailbox {
        name: name.clone(),
        host: host.clone(),
        token: token.clone(),
        look: look.into_bytes(),
    };
    Joined { protocol: Box::new(protocol), opening }
}

impl Protocol for Mailbox {
    fn hear<'a>(&mut self, bytes: &'a [u8], _out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(response) = http::read(bytes)? else {
            return Ok(None);
        };
        let what = match response.status {
            200 => What::Call(response.body),
            201 => What::Nothing,
            _ => What::Refusal(response.body),
        };
        Ok(Some(Heard { length: response.length, what }))
    }

    /// It only answers.
    fn ask(&mut self, _id: u64, _out: &mut Vec<u8>) {}

    /// Answers everything on a page, and looks again: requests on one connection are answered in their order.
    fn answer(&mut self, page: &[u8], out: &mut Vec<u8>) {
        let messages =
            serde_json::from_slice(page).map_or(Vec::new(), |page: Page<'_>| page.messages);
        let mut text = String::new();
        for message in messages.iter().filter(|message| message.message_type == "request") {
            let body = format!(
                r#"{{"sender_agent_id":"{}","receiver_agent_id":"{}","message_type":"response","correlation_id":"{}","content":{{"action":"bench_request","output":{{"n":"{}"}}}}}}"#,
                self.name, message.sender_agent_id, message.correlation_id, message.content.input.n
            );
            let path = "/api/v1/protocol/messages";
            let head = http::post(&self.host, path, &self.token, body.len());
            write!(text, "{head}{body}").unwrap_or_default();
        }
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(&self.look);
    }
}
