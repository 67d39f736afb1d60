//! What a peer says to a delivery.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_model::{Again, Answer, AttemptOutcome, Payload};

use super::super::fields::pick;
use super::kept;

/// What a peer answers to a delivery, in any generation's words, each part as it wrote it.
#[derive(Deserialize)]
struct PeerAnswer<'a> {
    #[serde(borrow)]
    processed: Part<'a>,
    #[serde(borrow)]
    success: Part<'a>,
    #[serde(borrow, rename = "stopPropagation")]
    stop_propagation: Part<'a>,
    #[serde(borrow, rename = "stop_propagation")]
    stop_propagation_too: Part<'a>,
    #[serde(borrow)]
    should_retry: Part<'a>,
    #[serde(borrow, rename = "shouldRetry")]
    should_retry_too: Part<'a>,
    #[serde(borrow)]
    retry_seconds: Part<'a>,
    #[serde(borrow, rename = "retrySeconds")]
    retry_seconds_too: Part<'a>,
    #[serde(borrow)]
    message: Part<'a>,
    #[serde(borrow)]
    payload: Part<'a>,
}

type Part<'a> = Option<&'a RawValue>;

/// The same parts, those that most answers have first.
const PARTS: [&str; 10] = [
    "processed",
    "payload",
    "success",
    "stopPropagation",
    "stop_propagation",
    "should_retry",
    "shouldRetry",
    "retry_seconds",
    "retrySeconds",
    "message",
];

/// A part that means something only if it is of the right kind.
fn read<'a, T: Deserialize<'a>>(part: Part<'a>) -> Option<T> {
    part.and_then(|part| serde_json::from_str(part.get()).ok())
}

fn is_true(either: Part<'_>, or: Part<'_>) -> bool {
    [either, or].into_iter().any(|part| read(part) == Some(true))
}

/// How many seconds, as a number or as a number in quotes.
fn seconds(part: Part<'_>) -> Option<f64> {
    read(part).or_else(|| read::<String>(part)?.trim().parse().ok())
}

/// The longest wait that is understood; the broker has its own limit.
const LONGEST_SECONDS: f64 = 1e9;

/// Reads a peer's result.
pub(crate) fn answer(result: &RawValue) -> Answer {
    plain(result.get()).unwrap_or_else(|| thorough(result.get()))
}

/// Nearly everyone says that it was processed, and perhaps what came of it.
fn plain(result: &str) -> Option<Answer> {
    let [processed, payload, others @ ..] = pick(result, PARTS)?;
    if processed != Some("true") || others.iter().any(Option::is_some) {
        return None;
    }
    Some(Answer {
        outcome: AttemptOutcome::Processed,
        stop: false,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: None,
        // A part of a text that was read as JSON.
        payload: payload.filter(|payload| *payload != "null").map(Payload::trusted),
    })
}

/// Only whether it was processed must be right: work that was done is not done again because of what else is said
/// about it.
fn thorough(result: &str) -> Answer {
    let peer: PeerAnswer<'_> = match serde_json::from_str(result) {
        Ok(peer) => peer,
        Err(error) => {
            let why = format!("the answer is not an object like {{\"processed\": true}}: {error}");
            return invalid_answer(kept(why.into()));
        }
    };
    let (by_new, by_old) = (read::<bool>(peer.processed), read::<bool>(peer.success));
    let Some(processed) = by_new.or(by_old) else {
        return invalid_answer("the answer says neither processed nor success, true or false");
    };
    let wait = seconds(peer.retry_seconds).or_else(|| seconds(peer.retry_seconds_too));
    let wait = wait.filter(|seconds| *seconds >= 0.0).map(|seconds| seconds.min(LONGEST_SECONDS));
    Answer {
        outcome: if processed { AttemptOutcome::Processed } else { AttemptOutcome::Declined },
        stop: is_true(peer.stop_propagation, peer.stop_propagation_too),
        stops_only_on_request: by_new.is_none(),
        again: match wait {
            _ if !is_true(peer.should_retry, peer.should_retry_too) => Again::NotAsked,
            Some(seconds) => Again::After(Duration::from_secs_f64(seconds)),
            None => Again::Soon,
        },
        message: words(peer.message).map(|words| kept(words.into())),
        payload: peer.payload.map(Payload::from_raw),
    }
}

/// Words for people; what is no text is shown as it was written.
fn words(part: Part<'_>) -> Option<String> {
    let text = part?.get();
    match serde_json::from_str::<Option<String>>(text) {
        Ok(words) => words,
        Err(_) => Some(text.to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_answer_says_the_same_however_it_is_read() {
        let (mut plainly, payloads) = (0, ["", r#","payload":{"x":1}"#, r#","payload":null"#]);
        let others = ["", r#","message":"m""#, r#","stopPropagation":true"#, r#","other":1"#];
        for processed in ["true", "false", "null", "1"] {
            for (payload, other) in payloads.iter().flat_map(|one| others.map(|other| (one, other)))
            {
                let text = format!(r#"{{"processed":{processed}{payload}{other}}}"#);
                if let Some(plain) = plain(&text) {
                    assert_eq!(plain, thorough(&text), "{text}");
                    plainly += 1;
                }
            }
        }
        assert_eq!(plainly, 6);
    }
}
