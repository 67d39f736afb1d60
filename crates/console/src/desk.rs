//! Answers the operator's calls.

mod agents;
mod conversations;
mod discovery;
mod figures;
mod forms;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod letters;
mod lines;
mod moments;
mod rules;
mod saved;
mod sending;
mod settings;
mod spawned;
mod storage;
mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use switchboard_broker::{Broker, Refusal};
use switchboard_model::{Code, Command, MessageDetail, Payload, Topic, in_short};
use switchboard_store::{MessageList, Store};
use tokio::sync::{Mutex, mpsc, watch};

use crate::api::{
    AgentList, Call, CallError, DemoSwitch, JobList, MessagePage, MessageQuery, Nothing,
    OneMessage, SpawnedList, Status, Watch,
};
use crate::recent::Recent;
use crate::{Feed, Forms, Premises};

/// The most rows in one page of history.
const MAX_PAGE: u32 = 500;

/// The operator's desk. Cheap to clone.
#[derive(Clone)]
pub struct Console {
    parts: Arc<Parts>,
    recent: Recent,
}

/// What the desk works with.
pub struct Parts {
    /// Where commands go.
    pub broker: Broker,
    /// Where history is read.
    pub store: Store,
    /// What is running here.
    pub status: watch::Receiver<Status>,
    /// The agents that the default handler started.
    pub spawned: watch::Receiver<SpawnedList>,
    /// The folder with what they wrote, a file each.
    pub spawned_output: PathBuf,
    /// Starts and stops the demo agents. Holds a few wishes; the operator waits when it is full.
    pub demo: mpsc::Sender<DemoSwitch>,
    /// The longest message, for the operator as for everybody else.
    pub message_bytes: usize,
    /// How messages look at each door.
    pub forms: Arc<dyn Forms>,
    /// What the program around the broker does for the operator.
    pub premises: Arc<dyn Premises>,
    /// Held by the import that is under way.
    pub importing: Mutex<()>,
}

impl Console {
    /// Sets up the desk. It begins to measure at once, so that the first feed has figures.
    pub fn new(parts: Parts) -> Self {
        let recent = Recent::start(&parts.broker, parts.store.clone());
        Self { parts: Arc::new(parts), recent }
    }

    /// Answers a call that came as JSON: `{"method": …, "params": …}`.
    pub async fn call(&self, call: serde_json::Value) -> Result<Box<RawValue>, CallError> {
        match read_call(call)? {
            Call::Status(Nothing {}) => json(&self.status()),
            Call::Agents(Nothing {}) => json(&AgentList { agents: self.broker().agents().await }),
            Call::Messages(query) => json(&self.messages(query).await?),
            Call::Message(one) => json(&self.message(&one).await?),
            Call::Send(send) => json(&self.send(send).await?),
            Call::Route(query) => json(&self.route(query).await?),
            Call::DeadLetters(query) => json(&self.letters(query).await?),
            Call::Replay(one) => json(&self.replay(one).await?),
            Call::ReplayMany(many) => json(&self.replay_many(many).await?),
            Call::Discard(many) => json(&self.discard(many).await?),
            Call::Restore(many) => json(&self.restore(many).await?),
            Call::Jobs(Nothing {}) => json(&JobList { jobs: self.broker().jobs().await }),
            Call::StopJob(one) => json(&self.turn_job(Command::StopJob(one.id)).await?),
            Call::ResumeJob(one) => json(&self.turn_job(Command::ResumeJob(one.id)).await?),
            Call::ExportLetters(export) => json(&self.export_letters(export).await?),
            Call::ImportLetters(import) => json(&self.import_letters(import).await?),
            Call::Rules(Nothing {}) => json(&self.rules().await?),
            Call::EditRules(edit) => json(&self.edit_rules(edit).await?),
            Call::RuleHistory(query) => json(&self.rule_history(query).await?),
            Call::UndoRules(one) => json(&self.undo_rules(one).await?),
            Call::PreviewRules(preview) => json(&self.preview_rules(preview).await?),
            Call::SuggestRules(suggest) => json(&self.suggest_rules(suggest).await?),
            Call::Permissions(query) => json(&self.permissions(query).await?),
            Call::IssueToken(issue) => json(&self.issue_token(issue).await?),
            Call::RevokeToken(one) => json(&self.revoke_token(one).await?),
            Call::SignJwt(wanted) => json(&self.sign_jwt(wanted)?),
            Call::Discovery(Nothing {}) => json(&self.discovery().await?),
            Call::AdmitAgent(admit) => json(&self.admit_agent(admit).await?),
            Call::RefuseAgent(one) => json(&self.refuse_agent(one).await?),
            Call::ForgetAgent(one) => json(&self.forget_agent(one).await?),
            Call::LookOn(look) => json(&self.look_on(look).await?),
            Call::AllowList(Nothing {}) => json(&self.allow_list().await?),
            Call::EditAllowList(edit) => json(&self.edit_allow_list(edit).await?),
            Call::Security(Nothing {}) => json(&self.security().await?),
            Call::MakeServerCertificate(make) => json(&self.make_server_certificate(make).await?),
            Call::MakeClientCertificate(make) => json(&self.make_client_certificate(make).await?),
            Call::RevokeCertificate(one) => json(&self.revoke_certificate(one).await?),
            Call::RotateJwtKey(Nothing {}) => json(&self.rotate_jwt_key().await?),
            Call::Conversations(query) => json(&self.conversations(query).await?),
            Call::Conversation(one) => json(&self.conversation(one).await?),
            Call::Spawned(Nothing {}) => json(&self.spawned()),
            Call::SpawnedOutput(one) => json(&self.spawned_output(&one).await?),
            Call::DisconnectAgent(one) => json(&self.disconnect_agent(one).await?),
            Call::BlockAgent(block) => json(&self.block_agent(block).await?),
            Call::NameAgent(named) => json(&self.name_agent(named).await?),
            Call::MessageForms(one) => json(&self.message_forms(&one).await?),
            Call::RelatedMessages(one) => json(&self.related_messages(&one).await?),
            Call::FigureHistory(query) => json(&self.figure_history(query).await?),
            Call::Busy(query) => json(&self.busy(query).await?),
            Call::Moment(query) => json(&self.moment(query).await?),
            Call::Saved(Nothing {}) => json(&self.saved().await?),
            Call::Save(save) => json(&self.save(save).await?),
            Call::Settings(Nothing {}) => json(&self.settings()),
            Call::EditSettings(edit) => json(&self.edit_settings(edit).await?),
            Call::SettingHistory(query) => json(&self.setting_history(query).await?),
            Call::Restart(Nothing {}) => json(&self.restart()?),
            Call::Storage(Nothing {}) => json(&self.storage().await?),
            Call::BackUp(Nothing {}) => json(&self.back_up().await?),
            Call::DeleteBackup(one) => json(&self.delete_backup(one).await?),
            Call::RestoreBackup(restore) => json(&self.restore_backup(restore).await?),
            Call::Compact(Nothing {}) => json(&self.compact().await?),
            Call::CheckStorage(Nothing {}) => json(&self.check_storage().await?),
            Call::Diagnostics(Nothing {}) => json(&self.diagnostics().await?),
            Call::Demo(switch) => json(&self.demo(switch).await?),
        }
    }

    /// Opens a live feed.
    pub fn watch(&self, watch: Watch) -> Feed {
        Feed::open(self.clone(), watch.filter)
    }

    pub(crate) fn broker(&self) -> &Broker {
        &self.parts.broker
    }

    pub(crate) fn store(&self) -> &Store {
        &self.parts.store
    }

    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    pub(crate) fn status(&self) -> Status {
        self.parts.status.borrow().clone()
    }

    pub(crate) fn status_changes(&self) -> watch::Receiver<Status> {
        self.parts.status.clone()
    }

    async fn messages(&self, query: MessageQuery) -> Result<MessagePage, CallError> {
        if !(1..=MAX_PAGE).contains(&query.limit) {
            return Err(invalid(format!("limit must be 1 to {MAX_PAGE}")));
        }
        let with_payloads = query.payloads.unwrap_or(false);
        let read = self.store().messages(&query.filter, query.before, query.limit, with_payloads);
        let MessageList { rows, next } = read.await.map_err(|error| reading_failed(&error))?;
        Ok(MessagePage { rows, next })
    }

    async fn message(&self, one: &OneMessage) -> Result<MessageDetail, CallError> {
        let found = self.store().message(one.id).await.map_err(|error| reading_failed(&error))?;
        found.ok_or_else(|| forms::not_kept(one.id))
    }

    fn parse_payload(&self, text: &str) -> Result<Payload, CallError> {
        let most = self.parts.message_bytes;
        if text.len() > most {
            return Err(CallError { code: Code::TooLarge, message: too_large(text.len(), most) });
        }
        Payload::parse(text).map_err(|error| invalid(error.to_string()))
    }

    async fn demo(&self, switch: DemoSwitch) -> Result<Nothing, CallError> {
        self.parts.demo.send(switch).await.map_err(|_| CallError::from(Refusal::Stopping))?;
        Ok(Nothing {})
    }
}

fn read_call(call: serde_json::Value) -> Result<Call, CallError> {
    serde_json::from_value(call).map_err(|error| CallError {
        code: Code::InvalidRequest,
        message: in_short(format!("this is not a call that the console knows: {error}")),
    })
}

fn json(reply: &impl Serialize) -> Result<Box<RawValue>, CallError> {
    serde_json::value::to_raw_value(reply).map_err(|error| {
        tracing::error!(%error, "a reply could not be written as JSON");
        CallError { code: Code::Internal, message: "the reply could not be written".to_owned() }
    })
}

fn parse_topic(text: &str) -> Result<Topic, CallError> {
    Topic::parse(text).map_err(|error| invalid(error.to_string()))
}

fn too_large(bytes: usize, most: usize) -> String {
    format!("a payload of {bytes} bytes is more than the {most} that message_bytes allows")
}

fn unexpected() -> CallError {
    let message = "the broker gave an answer of another kind".to_owned();
    CallError { code: Code::Internal, message }
}

fn invalid(message: String) -> CallError {
    CallError { code: Code::InvalidRequest, message }
}

/// The error's own words go to the log: they may tell of files that are not the caller's business.
fn reading_failed(error: &switchboard_store::Error) -> CallError {
    tracing::error!(%error, "history could not be read");
    let message = match error.is_damage() {
        true => format!(
            "history could not be read: the database is damaged ({error}); have it checked (Settings, Storage), and put \
             back a copy (bub backup restore)"
        ),
        false => "history could not be read from disk; the log says why".to_owned(),
    };
    CallError { code: Code::StorageFailed, message }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code(), message: refusal.to_string() }
    }
}
