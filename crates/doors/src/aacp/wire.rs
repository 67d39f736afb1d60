//! The protocol's own types.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

/// What a message is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum MessageType {
    /// Asks one agent to perform an action.
    #[default]
    Request,
    /// Answers a request.
    Response,
    /// Tells something and expects no answer.
    Notification,
}

/// Where a message is, as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// Created and awaiting delivery.
    Pending,
    /// Delivered to the receiver.
    Delivered,
    /// Processed by the receiver.
    Processed,
    /// Delivery or processing failed.
    Failed,
}

/// A message to send.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewMessage<'a> {
    /// The sending agent; it must be the one whose token is shown.
    #[schema(min_length = 1, max_length = 128, example = "550e8400-e29b-41d4-a716-446655440000")]
    pub(super) sender_agent_id: String,
    /// The receiving agent.
    #[schema(min_length = 1, max_length = 128, example = "6ba7b810-9dad-11d1-80b4-00c04fd430c8")]
    pub(super) receiver_agent_id: String,
    /// What it is for; a request if it does not say.
    #[serde(default)]
    pub(super) message_type: Option<MessageType>,
    /// What it says.
    #[serde(borrow)]
    #[schema(value_type = Content)]
    pub(super) content: &'a RawValue,
    /// Links responses to their request; made if there is none.
    #[serde(default)]
    #[schema(nullable, min_length = 1, max_length = 256)]
    pub(super) correlation_id: Option<String>,
}

/// What a message says. Other keys are passed on as they are.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Content<'a> {
    /// What is to be done, or what it is about.
    #[schema(min_length = 1, max_length = 256)]
    pub(super) action: String,
    /// The data of a request.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Object>)]
    pub(super) input: Option<&'a RawValue>,
    /// The data of a response; one with `error` tells of a failure.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Object>)]
    pub(super) output: Option<&'a RawValue>,
    /// Whatever else.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Object>)]
    pub(super) metadata: Option<&'a RawValue>,
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MessageView {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    pub(super) id: String,
    /// Who sent it.
    #[schema(value_type = uuid::Uuid)]
    pub(super) sender_agent_id: String,
    /// Who receives it.
    #[schema(value_type = uuid::Uuid)]
    pub(super) receiver_agent_id: String,
    /// What it is for.
    pub(super) message_type: MessageType,
    /// What it says.
    #[schema(value_type = Object)]
    pub(super) content: Box<RawValue>,
    /// Links responses to their request.
    pub(super) correlation_id: String,
    /// Where it is.
    pub(super) status: Status,
    /// When it was created.
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// When it was processed, if it was.
    #[schema(format = DateTime)]
    pub(super) processed_at: Option<String>,
}

/// A page of an agent's messages.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MessagePage {
    /// Newest first.
    pub(super) messages: Vec<MessageView>,
    /// How many there are in all.
    pub(super) total: u64,
}

/// Which part of a mailbox.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// At most this many, 1 to 100; 50 if it is left out.
    #[param(minimum = 1, maximum = 100)]
    pub(super) limit: Option<u32>,
    /// So many of the newest are left out.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    pub(super) offset: Option<u32>,
    /// While nothing new is there, wait up to so many seconds for it; at most 60.
    #[param(minimum = 0, maximum = 60)]
    pub(super) wait: Option<f64>,
    /// Only those of this status; `total` then counts those.
    pub(super) status: Option<Status>,
}

/// What became of a message.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewStatus {
    /// `processed` or `failed`.
    pub(super) status: Outcome,
    /// Why, for whoever asked.
    #[serde(default)]
    #[schema(nullable)]
    pub(super) detail: Option<String>,
}

/// What a receiver can say of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// It has been dealt with.
    Processed,
    /// It could not be.
    Failed,
}

/// Which protocol is spoken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Version {
    pub(super) protocol: &'static str,
    pub(super) version: &'static str,
}

/// The protocol in short.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Specification {
    pub(super) protocol: &'static str,
    pub(super) version: &'static str,
    pub(super) description: &'static str,
    pub(super) message_types: [&'static str; 3],
    pub(super) statuses: [&'static str; 4],
    pub(super) endpoints: Endpoints,
}

/// Where to send what.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Endpoints {
    pub(super) send_message: &'static str,
    pub(super) get_messages: &'static str,
    pub(super) protocol_version: &'static str,
    pub(super) protocol_spec: &'static str,
}

/// Why a request was not carried out.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    /// What is wrong, and what to do.
    pub(super) detail: String,
}
