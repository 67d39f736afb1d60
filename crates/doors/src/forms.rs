//! How a message looks at a door, for whoever wants to see it there.
//!
//! What a sender wrote around its payload is not kept, so what came in is written again by the same
//! conversion that writes what goes out.

use switchboard_model::{AgentId, Door, Mail, MailStatus, Message};

use crate::{aacp, bus, collaboration, lobby};

/// The message as its sender wrote it at the door it came in by.
pub fn incoming(message: &Message) -> String {
    let to = message.address.agent().map_or_else(
        || message.address.topic().as_str().to_owned(),
        |agent| agent.as_str().to_owned(),
    );
    match message.door {
        Door::Bus => bus::text_of("sendMessage", message),
        Door::Lobby => lobby::text_of(message, &to),
        Door::Collaboration => collaboration::text_of(message, &to),
        Door::Aacp | Door::Discovery => posted(message),
        Door::Console => {
            let params = serde_json::json!({
                "topic": message.address.topic().as_str(),
                "payload": message.payload.as_str(),
            });
            serde_json::json!({ "method": "send", "params": params }).to_string()
        }
    }
}

/// The message as it goes out by this door to this agent.
pub fn outgoing(message: &Message, door: Door, to: &AgentId) -> String {
    match door {
        Door::Bus | Door::Console => bus::text_of("processMessage", message),
        Door::Lobby => lobby::text_of(message, to.as_str()),
        Door::Collaboration => collaboration::text_of(message, to.as_str()),
        Door::Aacp | Door::Discovery => posted(message),
    }
}

/// As a mailbox shows it. What is not addressed to one agent lies in none, and has only its payload.
fn posted(message: &Message) -> String {
    let mail = Mail {
        message: message.clone(),
        status: MailStatus::Delivered,
        processed_at: None,
        was_read: true,
    };
    aacp::text_of(&mail).unwrap_or_else(|| message.payload.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;
    use switchboard_model::{
        Address, Dialect, Kind, MessageId, Payload, Priority, Timestamp, Topic,
    };
    use uuid::Uuid;

    use super::*;

    fn request(door: Door) -> Message {
        let dialect = Dialect::of(door);
        let call = Dialect::Lobby.read_call(r#"{"capability_name":"price","item":"<b>tea</b>"}"#);
        Message {
            seq: 1,
            id: MessageId(Uuid::from_u128(7)),
            from: AgentId::parse("shopper").unwrap(),
            address: Address::from(Topic::parse("agent:hunter").unwrap()),
            kind: Kind::Request,
            capability: Some("price".to_owned()),
            priority: Priority::High,
            door,
            correlation: Some("c-1".to_owned()),
            conversation: None,
            payload: Payload::parse(dialect.write_call(&call).as_str()).unwrap(),
            dialect,
            context: Some(Arc::default()),
            decision: None,
            answer_by: None,
            accepted_at: Timestamp(0),
            expires_at: None,
            replay_of: None,
        }
    }

    #[test]
    fn every_door_shows_the_same_call_in_its_own_words() {
        let hunter = AgentId::parse("hunter").unwrap();
        for came_by in [Door::Bus, Door::Lobby, Door::Collaboration, Door::Aacp] {
            let message = request(came_by);
            let texts = Door::ALL.map(|door| (door, outgoing(&message, door, &hunter)));
            for (door, text) in texts.into_iter().chain([(came_by, incoming(&message))]) {
                let value: Value = serde_json::from_str(&text).unwrap();
                let (capability, item) = match door {
                    Door::Bus | Door::Console => {
                        ("/params/payload/capability", "/params/payload/item")
                    }
                    Door::Lobby => ("/payload/capability_name", "/payload/item"),
                    Door::Collaboration => ("/payload/action", "/payload/parameters/item"),
                    Door::Aacp | Door::Discovery => ("/content/action", "/content/input/item"),
                };
                let said = |pointer| value.pointer(pointer).and_then(Value::as_str);
                assert_eq!(said(item), Some("<b>tea</b>"), "{door}: {text}");
                let named = said(capability).or_else(|| said("/params/payload/type"));
                assert_eq!(named, Some("price"), "{door}: {text}");
            }
        }
    }
}
