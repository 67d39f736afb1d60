//! Every call the operator can make.

use serde::{Deserialize, Serialize};
use switchboard_model::{
    AgentId, AgentView, AttemptOutcome, Code, MessageDetail, MessageFilter, MessageId, MessageRow,
    MessageState, Timestamp,
};
use ts_rs::TS;

/// Declares the calls: the enum that arrives on the wire, and the table of answers from which the
/// screens infer what each call returns. A call `dead_letters: DeadLetters(..)` is the method
/// `deadLetters` on the wire.
macro_rules! calls {
    ($($(#[$doc:meta])* $method:ident: $name:ident($params:ty) -> $reply:ty;)+) => {
        /// A request from the console.
        #[derive(Clone, Debug, Deserialize, TS)]
        #[serde(tag = "method", content = "params", rename_all = "camelCase")]
        pub enum Call {
            $($(#[$doc])* $name($params),)+
        }

        /// What each call returns, by its method. Only its TypeScript form is used.
        #[derive(TS)]
        #[ts(rename_all = "camelCase")]
        pub struct Replies {
            $($(#[$doc])* pub $method: $reply,)+
        }
    };
}

calls! {
    /// What is running here.
    status: Status(Nothing) -> Status;
    /// Everyone the registry knows.
    agents: Agents(Nothing) -> AgentList;
    /// A page of history, newest first.
    messages: Messages(MessageQuery) -> MessagePage;
    /// One message with its whole life.
    message: Message(OneMessage) -> MessageDetail;
    /// Sends a message as the operator.
    send: Send(SendTest) -> SendResult;
    /// Starts or stops the demo agents.
    demo: Demo(DemoSwitch) -> Nothing;
}

/// No parameters, or nothing to say.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(type = "Record<string, never>")]
pub struct Nothing {}

/// What is running here.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The program's version.
    pub version: String,
    /// The address agents connect to.
    pub url: String,
    /// The folder with the database and the settings.
    pub data_dir: String,
    /// When the broker started.
    pub started_at: Timestamp,
    /// Whether the demo agents run.
    pub demo: bool,
    /// How many peers mDNS sees; none when it is off.
    pub mdns_peers: Option<u32>,
}

/// Everyone the registry knows.
#[derive(Clone, Debug, Serialize, TS)]
pub struct AgentList {
    /// In order of their ids.
    pub agents: Vec<AgentView>,
}

/// Asks for a page of history.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct MessageQuery {
    /// Which messages.
    #[serde(default)]
    #[ts(optional = false)]
    pub filter: MessageFilter,
    /// Older than this place in the order of acceptance.
    pub before: Option<u64>,
    /// At most this many; 1 to 500.
    #[ts(optional = false)]
    pub limit: u32,
    /// With payloads.
    pub payloads: Option<bool>,
}

/// A page of history.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MessagePage {
    /// Newest first.
    pub rows: Vec<MessageRow>,
    /// Where the next page begins; none at the end of history.
    pub next: Option<u64>,
}

/// Names one message.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneMessage {
    /// Its id.
    pub id: MessageId,
}

/// A message from the operator.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SendTest {
    /// Where to.
    pub topic: String,
    /// JSON text.
    pub payload: String,
}

/// How the operator's message went.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SendResult {
    /// The message's id.
    pub message_id: MessageId,
    /// Where it is now.
    pub state: MessageState,
    /// What each recipient said.
    pub acks: Vec<AckView>,
}

/// What one recipient said.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AckView {
    /// The recipient.
    pub agent: AgentId,
    /// How the first attempt ended.
    pub outcome: AttemptOutcome,
    /// Its words.
    pub message: Option<String>,
    /// What it gave back, as it wrote it.
    pub payload_text: Option<String>,
}

/// Starts or stops the demo agents.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct DemoSwitch {
    /// Whether they should run.
    pub on: bool,
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CallError {
    /// For programs.
    pub code: Code,
    /// For people: what is wrong and what to do.
    pub message: String,
}
