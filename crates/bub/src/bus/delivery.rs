//! What arrives for an agent, and how it answers.

use std::fmt;

use serde::Serialize;
use switchboard_model::Payload;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message as Frame;

use super::wire;
use crate::Error;

/// A message for this agent. The bus waits for its answer; one that is dropped unanswered counts
/// as silence, and the bus decides what then.
#[derive(Debug)]
pub struct Delivery {
    /// The topic it was published on.
    pub topic: String,
    /// What it carries, as its sender wrote it.
    pub payload: Payload,
    /// The agent that sent it.
    pub from: Option<String>,
    /// The broker's name for it. A message that is delivered twice has the same name twice.
    pub message_id: Option<String>,
    /// What links an answer to its question.
    pub correlation_id: Option<String>,
    pub(super) reply: ReplyTo,
}

/// Where the answer goes.
pub(super) struct ReplyTo {
    /// JSON text; none where the bus does not want an answer.
    pub(super) id: Option<Box<str>>,
    /// The bus called `sendMessage`, whose answer says `success`.
    pub(super) first_generation: bool,
    pub(super) outbox: mpsc::Sender<Frame>,
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReplyTo").field(&self.id).finish()
    }
}

/// What an agent says of a delivery.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// It took care of the message.
    pub processed: bool,
    /// What it gives back to the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// Words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Nobody after this agent shall get the message.
    #[serde(rename = "stopPropagation")]
    pub stop_propagation: bool,
    /// The bus shall try again.
    pub should_retry: bool,
    /// After how many seconds; 0 leaves it to the bus.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_seconds: u64,
}

fn is_zero(seconds: &u64) -> bool {
    *seconds == 0
}

impl Answer {
    /// Taken care of.
    pub fn processed() -> Self {
        Self { processed: true, ..Self::default() }
    }

    /// Taken care of, with something for the sender.
    pub fn with(payload: Payload) -> Self {
        Self { payload: Some(payload), ..Self::processed() }
    }

    /// Not taken care of, and why.
    pub fn declined(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// Not taken care of this time.
    pub fn retry(message: impl Into<String>, seconds: u64) -> Self {
        Self { should_retry: true, retry_seconds: seconds, ..Self::declined(message) }
    }
}

#[derive(Serialize)]
struct FirstGeneration<'a> {
    success: bool,
    #[serde(flatten)]
    answer: &'a Answer,
}

impl Delivery {
    /// Answers the bus. Returns once the answer is on its way.
    pub async fn answer(self, answer: Answer) -> Result<(), Error> {
        let Some(id) = self.reply.id else {
            return Ok(());
        };
        let result = if self.reply.first_generation {
            serde_json::to_string(&FirstGeneration { success: answer.processed, answer: &answer })
        } else {
            serde_json::to_string(&answer)
        };
        let result = result.map_err(|source| super::unreadable("processMessage", source))?;
        let frame = Frame::text(wire::response(&id, &result));
        let ended = |_| Error::Ended { reason: "before the answer could be sent".into() };
        self.reply.outbox.send(frame).await.map_err(ended)
    }
}
