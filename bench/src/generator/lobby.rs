//! The lobby door: an agent that registered over HTTP, and answers what it is asked.

use memchr::memmem;

use super::protocol::{Heard, Joined, Joining, Opening, Protocol, What};
use crate::{Outcome, websocket};

struct Lobby {
    name: String,
    token: String,
}

pub(super) fn join(joining: &Joining) -> Joined {
    let Joining { host, name, token, .. } = joining;
    let path = format!("/ws/{name}?token={token}");
    let protocol = Lobby { name: name.clone(), token: token.clone() };
    let opening = vec![Opening::upgrade(websocket::upgrade(host, &path, ""))];
    Joined { protocol: Box::new(protocol), opening }
}

impl Protocol for Lobby {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(frame) = websocket::read(bytes, out)? else {
            return Ok(None);
        };
        let what = match frame.text {
            Some(text) if field(text, br#""message_type":""#) == Some(b"REQUEST") => {
                What::Call(text)
            }
            Some(text) if field(text, br#""message_type":""#) == Some(b"ERROR") => {
                What::Refusal(text)
            }
            _ => What::Nothing,
        };
        Ok(Some(Heard { length: frame.length, what }))
    }

    /// It only answers.
    fn ask(&mut self, _id: u64, _out: &mut Vec<u8>) {}

    fn answer(&mut self, call: &[u8], out: &mut Vec<u8>) {
        let part = |key| String::from_utf8_lossy(field(call, key).unwrap_or_default());
        let text = format!(
            r#"{{"sender_id":"{}","receiver_id":"{}","message_type":"RESPONSE","auth_token":"{}","conversation_id":"{}","payload":{{"status":"success","ok":true}}}}"#,
            self.name,
            part(br#""sender_id":""#),
            self.token,
            part(br#""conversation_id":""#),
        );
        websocket::push_text(out, websocket::End::Client, text.as_bytes());
    }
}

/// The text after a key, up to the next quote: names and ids here hold none.
fn field<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = &text[memmem::find(text, key)? + key.len()..];
    rest.get(..memchr::memchr(b'"', rest)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_at_its_quote() {
        let text = br#"{"sender_id":"asker-0","message_type":"REQUEST"}"#;
        assert_eq!(field(text, br#""sender_id":""#), Some(&b"asker-0"[..]));
        assert_eq!(field(text, br#""conversation_id":""#), None);
    }
}
