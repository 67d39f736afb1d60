//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use serde_json::Value;
use switchboard_model::{Kind, Object};

use super::convert::{self, Fault};
use super::wire::Incoming;
use crate::fuzzing::{goes_out_everywhere, message};

/// A frame of the lobby: read as each kind of message, refused in words of the protocol, or delivered.
pub fn lobby(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read: Incoming<'_> = match serde_json::from_str(text) {
        Ok(read) => read,
        Err(error) => return is_refused(&Fault::wrong(error.to_string()), None, text),
    };
    let faults = [
        convert::join(&read).err(),
        convert::sender(&read).err(),
        convert::find(&read).err(),
        convert::update(&read).err(),
    ];
    for fault in faults.iter().flatten() {
        is_refused(fault, Some(&read), text);
    }
    for kind in [Kind::Request, Kind::Response, Kind::Event] {
        match convert::send(&read, kind) {
            Ok(send) => {
                let sent = message(send.clone());
                let delivered = convert::deliver(&sent, "b");
                let delivered = Object::parse(&delivered).expect("a delivery is JSON");
                assert!(delivered.get("auth_token").is_none(), "nobody's token is passed on");
                goes_out_everywhere(&sent);
                if let (Kind::Event, Err(fault)) = (kind, convert::error_as_answer(send)) {
                    is_refused(&fault, Some(&read), text);
                }
            }
            Err(fault) => is_refused(&fault, Some(&read), text),
        }
    }
}

fn is_refused(fault: &Fault, read: Option<&Incoming<'_>>, about: &str) {
    let mut told = vec![convert::error("a", fault, read)];
    told.extend(read.map(|read| convert::request_refused("a", fault, read)));
    for told in told {
        let answer: Value = serde_json::from_str(&told).expect("an answer is JSON");
        let words = answer["payload"]["error"].as_str().or(answer["payload"]["message"].as_str());
        assert!(words.is_some_and(|words| !words.is_empty()), "it says why: {told}");
        assert!(
            told.len() <= 1024 + 24 * about.len(),
            "{} bytes about {}",
            told.len(),
            about.len()
        );
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_lobby() {
        crate::replay::replay("lobby", super::lobby);
    }
}
