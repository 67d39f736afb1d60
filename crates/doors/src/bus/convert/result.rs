//! What a peer is told of its messages, and why it is refused.

use serde::Serialize;
use switchboard_broker::{Refusal, Replied};
use switchboard_model::{
    Ack, AgentId, AttemptOutcome, Code, MessageId, MessageState, Payload, Receipt, Reply,
};

use crate::bus::wire::{self, RpcError};

/// The answer to `sendMessage`: a superset that clients of every generation read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SendResult<'a> {
    success: bool,
    accepted: bool,
    message_id: MessageId,
    stop_propagation: bool,
    delivered_to: usize,
    acks: Vec<AckResult<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AckResult<'a> {
    #[serde(rename = "client_id")]
    client_id_of_old: &'a AgentId,
    client_id: &'a AgentId,
    processed: bool,
    success: bool,
    message: Option<&'a str>,
    payload: Option<&'a Payload>,
    retry_scheduled: bool,
    retry_seconds: f64,
}

/// What became of a message, for its sender, as the response to the request with this id.
pub(crate) fn sent(id: &str, replied: Replied) -> String {
    match replied.map(Reply::sent) {
        Ok(Some(receipt)) => wire::response(id, &SendResult::from(&receipt)),
        Ok(None) => wire::error_response(id, &RpcError::unexpected()),
        Err(why) => wire::error_response(id, &refusal(&why)),
    }
}

impl<'a> From<&'a Receipt> for SendResult<'a> {
    fn from(receipt: &'a Receipt) -> Self {
        let success = match receipt.state {
            MessageState::Processed | MessageState::Waiting => true,
            MessageState::Dead
            | MessageState::Discarded
            | MessageState::Expired
            | MessageState::Refused => false,
        };
        Self {
            success,
            accepted: true,
            message_id: receipt.message,
            stop_propagation: receipt.stopped,
            delivered_to: receipt.acks.len(),
            acks: receipt.acks.iter().map(AckResult::from).collect(),
        }
    }
}

impl<'a> From<&'a Ack> for AckResult<'a> {
    fn from(ack: &'a Ack) -> Self {
        let processed = ack.outcome == AttemptOutcome::Processed;
        Self {
            client_id_of_old: &ack.agent,
            client_id: &ack.agent,
            processed,
            success: processed,
            message: ack.message.as_deref(),
            payload: ack.payload.as_ref(),
            retry_scheduled: ack.again_in.is_some(),
            retry_seconds: ack.again_in.map_or(0.0, |delay| delay.as_secs_f64()),
        }
    }
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
