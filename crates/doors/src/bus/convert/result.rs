//! What a peer is told of its messages, and why it is refused.

use serde::Serialize;
use switchboard_broker::Refusal;
use switchboard_model::{Ack, AttemptOutcome, Code, MessageState, Payload, Receipt};

use crate::bus::wire::RpcError;

/// The answer to `sendMessage`: a superset that clients of every generation read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendResult {
    success: bool,
    accepted: bool,
    message_id: String,
    stop_propagation: bool,
    delivered_to: usize,
    acks: Vec<AckResult>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AckResult {
    #[serde(rename = "client_id")]
    client_id_of_old: String,
    client_id: String,
    processed: bool,
    success: bool,
    message: Option<String>,
    payload: Option<Payload>,
    retry_scheduled: bool,
    retry_seconds: f64,
}

impl From<Receipt> for SendResult {
    fn from(receipt: Receipt) -> Self {
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
            message_id: receipt.message.to_string(),
            stop_propagation: receipt.stopped,
            delivered_to: receipt.acks.len(),
            acks: receipt.acks.into_iter().map(AckResult::from).collect(),
        }
    }
}

impl From<Ack> for AckResult {
    fn from(ack: Ack) -> Self {
        let processed = ack.outcome == AttemptOutcome::Processed;
        Self {
            client_id_of_old: ack.agent.to_string(),
            client_id: ack.agent.to_string(),
            processed,
            success: processed,
            message: ack.message,
            payload: ack.payload,
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
