//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use serde_json::Value;
use switchboard_model::{AgentId, Object, Payload};

use super::wire::{ErrorInfo, Fragment, Incoming};
use super::{convert, router};
use crate::fuzzing::{goes_out_everywhere, message};

/// A frame of the collaboration door: read as a message for others and as every action of the router.
pub fn collaboration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read: Incoming = match serde_json::from_str(text) {
        Ok(read) => read,
        Err(error) => {
            let Fragment { id, .. } = Fragment::of(text);
            return is_refused(convert::wrong(error.to_string()), id.as_deref(), text);
        }
    };
    let id = read.id.as_deref();
    match convert::kind(&read).and_then(|kind| convert::sends(&read, kind)) {
        Ok(sends) => {
            assert!((1..=256).contains(&sends.len()), "{} recipients", sends.len());
            for send in sends {
                let sent = message(send);
                goes_out_everywhere(&sent);
                let delivered = convert::deliver(&sent, "b");
                let delivered = Object::parse(&delivered).expect("a delivery is JSON");
                let metadata = delivered.get("metadata").map(|text| Object::parse(text.as_str()));
                let traced =
                    metadata.is_some_and(|all| all.is_ok_and(|all| all.get("trace").is_some()));
                assert!(traced, "it can be traced");
            }
        }
        Err(error) => is_refused(error, id, text),
    }
    let Some(payload) = &read.payload else { return };
    if let Some(Err(error)) = payload.text("action").map(|name| router::Action::parse(&name)) {
        is_refused(error, id, text);
    }
    let empty = Payload::trusted("{}");
    actions(payload.get("parameters").unwrap_or(&empty), id, text);
}

fn actions(parameters: &Payload, id: Option<&str>, text: &str) {
    let agent = AgentId::operator();
    let refused = [
        router::register(parameters).err(),
        router::find(parameters).err(),
        router::set_status(parameters).err(),
        router::declare(parameters).err(),
        router::open_session(parameters).err(),
        router::update_session(parameters).err(),
        router::close_session(parameters).err(),
    ];
    refused.into_iter().flatten().for_each(|error| is_refused(error, id, text));
    match router::topics(parameters, &agent) {
        Ok(topics) => {
            assert_eq!(topics.subscribe().len(), topics.unsubscribe().len());
            let told = topics.written(&agent).expect("it can be told");
            let again =
                router::topics(&told, &agent).unwrap_or_else(|error| panic!("{told:?}: {error}"));
            assert_eq!(again.patterns, topics.patterns);
            assert_eq!(again.filter, topics.filter);
        }
        Err(error) => is_refused(error, id, text),
    }
}

fn is_refused(error: ErrorInfo, id: Option<&str>, about: &str) {
    assert!(!error.message.is_empty() && !error.code.is_empty(), "it says why");
    let told = convert::answer("a", id, Err(error));
    let read: Value = serde_json::from_str(&told).expect("an answer is JSON");
    assert_eq!(read["payload"]["status"], "error");
    assert!(told.len() <= 2048 + 24 * about.len(), "{} bytes about {}", told.len(), about.len());
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_collaboration() {
        crate::replay::replay("collaboration", super::collaboration);
    }
}
