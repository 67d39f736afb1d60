//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_model::{Object, Payload, Send};

use super::wire::{self, Incoming, Parts, RpcError};
use super::{convert, text_of};
use crate::fuzzing::{goes_out_everywhere, message};

/// A frame of the bus: all of it is answered by what a JSON-RPC client can read, and a message that is taken is
/// delivered to the letter.
pub fn bus(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match wire::split(text) {
        Ok(Parts::One(text)) => envelope(text),
        Ok(Parts::Batch(parts)) => {
            assert!((1..=wire::MAX_BATCH).contains(&parts.len()));
            parts.iter().for_each(|part| envelope(part.get()));
        }
        Err(error) => is_refused(None, &error, text),
    }
}

fn envelope(text: &str) {
    match wire::read(text) {
        Err(bad) => is_refused(bad.id, &bad.error, text),
        Ok(Incoming::Request { id, method, params }) => {
            is_refused(id, &RpcError::unknown_method(&method), text);
            let alike = params.is_none_or(convert::is_read_alike);
            assert!(alike, "what is found quickly is what a thorough reader finds");
            // Whatever the method, its parameters are read in every way.
            let known = [
                convert::join(params).err(),
                convert::subscribe(params).err(),
                convert::unsubscribe(params).err(),
                convert::send(params, true).err(),
            ];
            known.iter().flatten().for_each(|error| is_refused(id, error, text));
            match convert::send(params, false) {
                Ok((send, _)) => is_delivered(send, params.map_or("", RawValue::get)),
                Err(error) => is_refused(id, &error, text),
            }
        }
        Ok(Incoming::Response { id, answer }) => {
            if let Some(attempt) = convert::attempt_id(id) {
                assert_eq!(convert::request_id(attempt).to_string(), id.get());
            }
            let answer = match answer {
                Ok(result) => convert::answer(result),
                Err(error) if convert::is_unknown_method(error) => return,
                Err(error) => convert::answer_to_error(error),
            };
            assert!(
                answer.message.is_none_or(|words| words.chars().count() <= 1025),
                "words are kept short"
            );
        }
    }
}

/// What is told is a JSON-RPC error, names the request and says why, and is no longer than what it is about.
fn is_refused(id: Option<&RawValue>, error: &RpcError, about: &str) {
    let id = id.map_or("null", RawValue::get);
    let told = wire::error_response(id, error);
    let read = Object::parse(&told).expect("an answer is JSON");
    assert_eq!(read.get("id").map(Payload::as_str), Some(id), "it names the request to the letter");
    let error: Value = read.get("error").map(Payload::as_str).map_or(Value::Null, |error| {
        serde_json::from_str(error).expect("what we say ourselves can be read by anyone")
    });
    assert!((-32768..=-32000).contains(&error["code"].as_i64().expect("a number")));
    assert!(error["message"].as_str().is_some_and(|words| !words.is_empty()));
    assert!(error.get("data").is_some(), "it says why");
    assert!(told.len() <= 1024 + 12 * about.len(), "{} bytes about {}", told.len(), about.len());
}

fn is_delivered(send: Send, params: &str) {
    let payload = send.payload.clone();
    assert!(params.contains(payload.as_str()), "a payload is what its sender wrote");
    let message = message(send);
    let text = text_of("processMessage", &message);
    let read = Object::parse(&text).expect("a delivery is JSON");
    let params = read.get("params").and_then(|params| Object::parse(params.as_str()).ok());
    let topic = params.and_then(|params| params.text("topic"));
    assert_eq!(topic.as_deref(), Some(message.address.topic().as_str()));
    assert!(text.contains(payload.as_str()));
    goes_out_everywhere(&message);
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_bus() {
        crate::replay::replay("bus", super::bus);
    }
}
