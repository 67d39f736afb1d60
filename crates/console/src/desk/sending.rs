//! What the operator sends, and who would get it.

use std::time::Duration;

use switchboard_broker::{Caller, now};
use switchboard_model::{
    Ack, Address, Command, Dialect, Fate, Kind, Payload, Priority, Receipt, Replay, RouteView,
    Send, Topic, Wait, WhatIf,
};

use super::{Console, parse_topic, unexpected};
use crate::api::{AckView, CallError, RouteQuery, SendResult, SendTest};

impl Console {
    pub(super) async fn send(&self, send: SendTest) -> Result<SendResult, CallError> {
        let topic = parse_topic(&send.topic)?;
        let payload = self.parse_payload(&send.payload)?;
        let expires_at = send.ttl_ms.map(|ttl| now().plus(Duration::from_millis(ttl)));
        let message = plain_message(topic, payload, send.capability);
        let priority = send.priority.unwrap_or_default();
        self.sent(Command::Send(Send { priority, expires_at, ..message })).await
    }

    /// Submits what sends a message, and waits for how it goes.
    pub(super) async fn sent(&self, command: Command) -> Result<SendResult, CallError> {
        let reply = self.broker().submit(Caller::Operator, command).await?;
        reply.sent().map(SendResult::from).ok_or_else(unexpected)
    }

    pub(super) async fn route(&self, query: RouteQuery) -> Result<RouteView, CallError> {
        let topic = parse_topic(&query.topic)?;
        let (payload, unreadable) = match query.payload.map(|text| self.parse_payload(&text)) {
            None => (None, None),
            Some(Ok(payload)) => (Some(payload), None),
            Some(Err(error)) => (None, Some(error.message)),
        };
        let what_if = match query.letter {
            Some(id) => {
                let letter = self.letter(id).await?;
                let topic = Some(topic).filter(|topic| *topic != letter.message.address.topic());
                WhatIf::Replay(Box::new(Replay { letter, topic, payload }))
            }
            None => {
                let judged = payload.is_some();
                let payload = payload.unwrap_or_else(|| Payload::trusted("{}".to_owned()));
                let send = Box::new(plain_message(topic, payload, query.capability));
                WhatIf::Send { from: query.from, send, judged }
            }
        };
        let mut view = self.broker().route(what_if).await?;
        if let Some(why) = unreadable {
            view.fate = Fate::Refused;
            view.explanation = format!("it would not be accepted: {why}");
            view.refused = Some(why);
        }
        Ok(view)
    }
}

/// A message as the bus would bring it.
fn plain_message(topic: Topic, payload: Payload, capability: Option<String>) -> Send {
    let address = Address::from(topic);
    let kind = match &address {
        Address::Agent(_) => Kind::Request,
        Address::Topic(_) => Kind::Event,
    };
    let asked = || capability.or_else(|| Dialect::Bus.read_call(payload.as_str()).capability);
    Send {
        capability: address.agent().and_then(|_| asked()),
        address,
        kind,
        priority: Priority::default(),
        correlation: None,
        conversation: None,
        payload,
        dialect: Dialect::Bus,
        context: None,
        answer_within: None,
        expires_at: None,
        wait: Wait::FirstAttempts,
    }
}

impl From<Receipt> for SendResult {
    fn from(receipt: Receipt) -> Self {
        Self {
            message_id: receipt.message,
            state: receipt.state,
            acks: receipt.acks.into_iter().map(AckView::from).collect(),
        }
    }
}

impl From<Ack> for AckView {
    fn from(ack: Ack) -> Self {
        Self {
            agent: ack.agent,
            outcome: ack.outcome,
            message: ack.message,
            payload_text: ack.payload.map(|payload| payload.as_str().to_owned()),
            again_in_seconds: ack.again_in.map(|delay| delay.as_secs_f64()),
        }
    }
}
