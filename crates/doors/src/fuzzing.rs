//! What the trials of all doors share. The trials themselves are in a file `fuzzing.rs` of each door.
#![allow(clippy::expect_used, reason = "to panic is how a trial tells of a fault")]

use serde_json::value::RawValue;
use switchboard_model::{AgentId, Door, Message, MessageId, Send, Timestamp};

use crate::forms;

/// A message as the broker takes it in.
pub(crate) fn message(send: Send) -> Message {
    Message {
        seq: 7,
        id: MessageId::numbered(7),
        from: AgentId::operator(),
        address: send.address,
        kind: send.kind,
        capability: send.capability,
        priority: send.priority,
        door: Door::Bus,
        correlation: send.correlation,
        conversation: send.conversation,
        payload: send.payload,
        dialect: send.dialect,
        context: send.context,
        decision: None,
        answer_by: None,
        accepted_at: Timestamp(0),
        expires_at: send.expires_at,
        replay_of: None,
    }
}

/// What came in by one door goes out by every other, and can be read there.
pub(crate) fn goes_out_everywhere(message: &Message) {
    let receiver = AgentId::operator();
    for door in [Door::Bus, Door::Lobby, Door::Collaboration, Door::Aacp] {
        let text = forms::outgoing(message, door, &receiver);
        let read: Result<&RawValue, _> = serde_json::from_str(&text);
        assert!(read.is_ok(), "{door:?}: {text}");
    }
}
