//! The bus door: JSON-RPC in WebSocket frames. The relay speaks as much of it as is needed here.

use memchr::memmem;

use super::protocol::{
    Awaits, Heard, Joined, Joining, Opening, Protocol, What, digits, number_at_end, push_number,
};
use super::{ANSWER, question, websocket};
use crate::Outcome;

struct Bus {
    /// A question up to its number.
    before_id: Vec<u8>,
    /// An answer up to the number of the call.
    answer: Vec<u8>,
}

pub(super) fn join(joining: &Joining<'_>) -> Joined {
    let name = &joining.name;
    let before_id = format!(
        r#"{{"jsonrpc":"2.0","method":"sendMessage","params":{{"topic":"{}","payload":{}}},"id":"#,
        joining.asks.unwrap_or_default(),
        question()
    );
    let answer =
        format!(r#"{{"jsonrpc":"2.0","result":{{"processed":true,"payload":{ANSWER}}},"id":"#);
    let mut opening = vec![
        Opening {
            says: websocket::upgrade(&joining.host, "/"),
            awaits: Awaits::Head("HTTP/1.1 101"),
        },
        call(
            r#""id":1}"#,
            &format!(
                r#"{{"jsonrpc":"2.0","method":"initialize","params":{{"clientId":"{name}","clientInfo":{{"name":"bench","version":"0.2.0"}}}},"id":1}}"#
            ),
        ),
    ];
    if let Some(topic) = joining.listens {
        opening.push(call(
            r#""success":true"#,
            &format!(
                r#"{{"jsonrpc":"2.0","method":"subscribe","params":{{"topic":"{topic}"}},"id":2}}"#
            ),
        ));
    }
    let protocol = Bus { before_id: before_id.into_bytes(), answer: answer.into_bytes() };
    Joined { protocol: Box::new(protocol), opening }
}

fn call(awaits: &'static str, text: &str) -> Opening {
    let mut says = Vec::new();
    websocket::push_text(&mut says, text.as_bytes());
    Opening { says, awaits: Awaits::Text(awaits) }
}

impl Protocol for Bus {
    fn hear<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> Outcome<Option<Heard<'a>>> {
        let Some(frame) = websocket::read(bytes, out)? else {
            return Ok(None);
        };
        let what = match frame.text {
            Some(text) => understand(text)
                .ok_or_else(|| format!("not understood: {}", String::from_utf8_lossy(text)))?,
            None => What::Nothing,
        };
        Ok(Some(Heard { length: frame.length, what }))
    }

    fn ask(&mut self, id: u64, out: &mut Vec<u8>) {
        websocket::begin_text(out, self.before_id.len() + digits(id) + 1);
        out.extend_from_slice(&self.before_id);
        push_number(out, id);
        out.push(b'}');
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
    }
}
