//! What a peer says to a delivery.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_model::{Again, Answer, AttemptOutcome, Payload};

use super::kept;

/// What a peer answers to a delivery, in any generation's words.
#[derive(Deserialize)]
struct PeerAnswer<'a> {
    processed: Option<bool>,
    success: Option<bool>,
    #[serde(alias = "stop_propagation", rename = "stopPropagation", default)]
    stop_propagation: bool,
    #[serde(alias = "shouldRetry", default)]
    should_retry: bool,
    #[serde(alias = "retrySeconds")]
    retry_seconds: Option<f64>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// Reads a peer's result.
pub(crate) fn answer(result: &RawValue) -> Answer {
    let peer: PeerAnswer<'_> = match serde_json::from_str(result.get()) {
        Ok(peer) => peer,
        Err(error) => {
            let why = format!("the answer is not an object like {{\"processed\": true}}: {error}");
            return invalid_answer(kept(why.into()));
        }
    };
    let Some(processed) = peer.processed.or(peer.success) else {
        return invalid_answer("the answer says neither processed nor success");
    };
    Answer {
        outcome: if processed { AttemptOutcome::Processed } else { AttemptOutcome::Declined },
        stop: peer.stop_propagation,
        stops_only_on_request: peer.processed.is_none(),
        again: match peer.retry_seconds.map(Duration::try_from_secs_f64) {
            _ if !peer.should_retry => Again::NotAsked,
            Some(Ok(delay)) => Again::After(delay),
            Some(Err(_)) | None => Again::Soon,
        },
        message: peer.message.map(kept),
        payload: peer.payload.map(Payload::from_raw),
    }
}

/// Reads a peer's error.
pub(crate) fn answer_to_error(error: &RawValue) -> Answer {
    #[derive(Deserialize)]
    struct PeerError {
        code: i64,
        message: String,
    }
    match serde_json::from_str::<PeerError>(error.get()) {
        Ok(PeerError { code, message }) => {
            invalid_answer(kept(format!("error {code}: {message}").into()))
        }
        Err(_) => invalid_answer("the answer is an error without code and message"),
    }
}

/// Whether a peer's error says that it does not know the method.
pub(crate) fn is_unknown_method(error: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Coded {
        code: i64,
    }
    serde_json::from_str::<Coded>(error.get()).is_ok_and(|error| error.code == -32601)
}

fn invalid_answer(why: impl Into<String>) -> Answer {
    Answer {
        outcome: AttemptOutcome::InvalidAnswer,
        stop: false,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: Some(why.into()),
        payload: None,
    }
}
