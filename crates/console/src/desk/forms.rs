//! What belongs to one message.

use switchboard_model::{Code, MessageId};
use switchboard_store::Relation as Related;

use super::{Console, reading_failed};
use crate::api::{
    CallError, Direction, MessageForm, MessageForms, OneMessage, RelatedMessage, RelatedMessages,
    Relation,
};

impl Console {
    pub(super) async fn message_forms(&self, one: &OneMessage) -> Result<MessageForms, CallError> {
        let detail = self.message(one).await?;
        let whole = self.store().whole_message(one.id).await;
        let message = whole.map_err(|error| reading_failed(&error))?;
        let message = message.ok_or_else(|| not_kept(one.id))?;
        let writer = &self.parts.forms;
        let mut forms = vec![MessageForm {
            door: message.door,
            direction: Direction::In,
            agent: message.from.clone(),
            text: writer.incoming(&message),
        }];
        for delivery in detail.deliveries {
            let (door, agent) = (delivery.door, delivery.agent);
            // An agent that listens twice gets it twice, in the same words.
            let seen = |form: &MessageForm| {
                form.direction == Direction::Out && form.door == door && form.agent == agent
            };
            if !forms.iter().any(seen) {
                let text = writer.outgoing(&message, door, &agent);
                forms.push(MessageForm { door, direction: Direction::Out, agent, text });
            }
        }
        Ok(MessageForms { forms })
    }

    pub(super) async fn related_messages(
        &self,
        one: &OneMessage,
    ) -> Result<RelatedMessages, CallError> {
        let found = self.store().related(one.id).await.map_err(|error| reading_failed(&error))?;
        let found = found.ok_or_else(|| not_kept(one.id))?.into_iter();
        let messages =
            found.map(|(relation, row)| RelatedMessage { relation: relation.into(), row });
        Ok(RelatedMessages { messages: messages.collect() })
    }
}

pub(super) fn not_kept(id: MessageId) -> CallError {
    let message = format!("no message {id} is kept here; it may be too old");
    CallError { code: Code::NotFound, message }
}

impl From<Related> for Relation {
    fn from(related: Related) -> Self {
        match related {
            Related::Question => Self::Question,
            Related::Answer => Self::Answer,
            Related::Original => Self::Original,
            Related::Replay => Self::Replay,
            Related::Trace => Self::Trace,
            Related::Conversation => Self::Conversation,
        }
    }
}
