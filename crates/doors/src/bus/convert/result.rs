//! What a peer is told of its messages, and why it is refused.

use switchboard_broker::{Refusal, Replied};
use switchboard_model::{Ack, AttemptOutcome, Code, MessageState, Payload, Receipt, Reply};

use crate::bus::text::Text;
use crate::bus::wire::{self, RpcError};

/// What became of a message, for its sender, as the response to the request with this id.
pub(crate) fn sent(id: &str, replied: Replied) -> String {
    match replied.map(Reply::sent) {
        Ok(Some(receipt)) => result(id, &receipt),
        Ok(None) => wire::error_response(id, &RpcError::unexpected()),
        Err(why) => wire::error_response(id, &refusal(&why)),
    }
}

/// The answer to `sendMessage`: a superset that clients of every generation read.
fn result(id: &str, receipt: &Receipt) -> String {
    let success = match receipt.state {
        MessageState::Processed | MessageState::Waiting => true,
        MessageState::Dead
        | MessageState::Discarded
        | MessageState::Expired
        | MessageState::Refused => false,
    };
    let mut text = Text::new(r#"{"jsonrpc":"2.0","result":{"success":"#);
    text.truth(success).raw(r#","accepted":true,"messageId":"#).id(receipt.message);
    text.raw(r#","stopPropagation":"#).truth(receipt.stopped);
    text.raw(r#","deliveredTo":"#).number(receipt.acks.len() as u64).raw(r#","acks":["#);
    for (place, ack) in receipt.acks.iter().enumerate() {
        if place > 0 {
            text.raw(",");
        }
        write_ack(&mut text, ack);
    }
    text.raw(r#"]},"id":"#).raw(id).raw("}");
    text.done()
}

fn write_ack(text: &mut Text, ack: &Ack) {
    let processed = ack.outcome == AttemptOutcome::Processed;
    // The first clients look for the name with an underscore.
    text.raw(r#"{"client_id":"#).string(ack.agent.as_str());
    text.raw(r#","clientId":"#).string(ack.agent.as_str());
    text.raw(r#","processed":"#).truth(processed).raw(r#","success":"#).truth(processed);
    text.raw(r#","message":"#);
    match ack.message.as_deref() {
        Some(words) => text.string(words),
        None => text.raw("null"),
    };
    text.raw(r#","payload":"#).raw(ack.payload.as_ref().map_or("null", Payload::as_str));
    match ack.again_in {
        Some(delay) => {
            text.raw(r#","retryScheduled":true,"retrySeconds":"#).value(&delay.as_secs_f64())
        }
        None => text.raw(r#","retryScheduled":false,"retrySeconds":0.0"#),
    };
    text.raw("}");
}

/// Every refusal in the bus's numbers. Those that the spec does not name count down from -32010.
pub(crate) fn refusal(refusal: &Refusal) -> RpcError {
    let (code, message) = match refusal.code() {
        Code::NotJoined => (-32001, "Not initialized"),
        Code::AlreadyJoined => (-32001, "Already initialized"),
        Code::InvalidClient => (-32002, "Invalid client info"),
        Code::AlreadySubscribed => (-32003, "Already subscribed"),
        Code::NotSubscribed => (-32004, "Subscription not found"),
        Code::InvalidRequest | Code::SchemaViolation => (-32602, "Invalid params"),
        Code::UnknownMethod => (-32601, "Method not found"),
        Code::Unauthorized => (-32010, "Unauthorized"),
        Code::Forbidden => (-32011, "Forbidden"),
        Code::NotFound | Code::UnknownCapability => (-32012, "Not found"),
        Code::TooLarge => (-32013, "Too large"),
        Code::Busy => return RpcError::busy(refusal.to_string()),
        Code::Stopping => (-32015, "Stopping"),
        Code::LockedOut => (-32016, "Locked out"),
        Code::Taken => (-32017, "Taken"),
        Code::Conflict => (-32018, "Conflict"),
        Code::StorageFailed | Code::Internal => (-32603, "Internal error"),
    };
    RpcError::new(code, message, refusal.to_string())
}
