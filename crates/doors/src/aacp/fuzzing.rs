//! What must hold whatever text this door is given. Each function takes the bytes of one trial and panics where
//! something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept in
//! `fuzz/corpus`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "to panic is how a trial tells of a fault"
)]

use axum::http::StatusCode;

use super::convert::{self, Fault};
use super::mailbox::read_query;
use super::server::parse;
use super::wire::{NewMessage, NewStatus};
use crate::fuzzing::{goes_out_everywhere, message};

/// A body of a request: what is no JSON is another fault than what has another shape, and nothing else can be wrong.
pub fn aacp_message(bytes: &[u8]) {
    if let Err(fault) = parse::<NewStatus>(bytes) {
        is_refused(&fault, bytes.len());
    }
    let new: NewMessage<'_> = match parse(bytes) {
        Ok(new) => new,
        Err(fault) => return is_refused(&fault, bytes.len()),
    };
    if let Err(fault) = convert::agent_id("sender_agent_id", &new.sender_agent_id) {
        is_refused(&fault, bytes.len());
    }
    match convert::send(&new) {
        Ok(send) => {
            assert_eq!(send.payload.as_str(), new.content.get(), "it stays as it was written");
            goes_out_everywhere(&message(send));
        }
        Err(fault) => is_refused(&fault, bytes.len()),
    }
}

/// What stands behind the question mark of an address: within its bounds, or refused.
pub fn aacp_query(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match read_query(text) {
        Ok(query) => {
            assert!(query.limit.is_none_or(|limit| (1..=100).contains(&limit)));
            assert!(query.offset.is_none_or(|offset| offset <= 1_000_000_000));
            assert!(query.wait.is_none_or(|wait| (0.0..=60.0).contains(&wait)));
        }
        Err(fault) => is_refused(&fault, bytes.len()),
    }
}

fn is_refused(fault: &Fault, bytes: usize) {
    let known = [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY];
    assert!(known.contains(&fault.status), "{fault:?}");
    assert!(!fault.words.is_empty() && fault.words.len() <= 1024 + 12 * bytes, "{fault:?}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn fuzzing_aacp_message() {
        crate::replay::replay("aacp_message", super::aacp_message);
    }

    #[test]
    fn fuzzing_aacp_query() {
        crate::replay::replay("aacp_query", super::aacp_query);
    }
}
