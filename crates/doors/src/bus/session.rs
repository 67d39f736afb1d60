//! One client's requests, in the order in which they come.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_broker::{Broker, Caller, Refusal, ReplyLine, now};
use switchboard_model::{AttemptId, Command, Reply, fail_here};
use tokio::time::{Instant, timeout_at};

use super::convert;
use super::peer::Peer;
use super::server::{ToPeer, ToWriter};
use super::wire::{self, Incoming, Parts, RpcError};
use crate::Limits;

/// Requests of one connection whose answers are on their way. Beyond it requests are refused: busy.
/// What the connection answers is always heard.
pub(crate) const PENDING: usize = 10_000;
/// The one request whose answer takes longer than the core does.
const SEND: &str = "sendMessage";

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    GoOn,
    Over,
}

/// An answer that is there, or on its way.
type Answer = BoxFuture<'static, String>;

pub(crate) struct Session {
    broker: Broker,
    caller: Caller,
    peer: Arc<Peer>,
    to_peer: ToWriter,
    /// By which the writer learns what became of messages.
    replies: ReplyLine,
    /// The answers to batches, each with how many requests it answers.
    pending: FuturesUnordered<BoxFuture<'static, (usize, String)>>,
    unanswered: usize,
    limits: Limits,
    joined: bool,
    /// Clients from 0.2 on must say what their payloads are.
    types_payloads: bool,
    told_of_types: bool,
}

impl Session {
    pub(crate) fn new(
        broker: Broker,
        caller: Caller,
        peer: Arc<Peer>,
        to_peer: ToWriter,
        replies: ReplyLine,
        limits: Limits,
    ) -> Self {
        Self {
            broker,
            caller,
            peer,
            to_peer,
            replies,
            pending: FuturesUnordered::new(),
            unanswered: 0,
            limits,
            joined: false,
            types_payloads: false,
            told_of_types: false,
        }
    }

    pub(crate) fn has_joined(&self) -> bool {
        self.joined
    }

    /// Waits for an answer that is on its way; for ever while there is none. Loses nothing when it
    /// is not waited for to the end.
    pub(crate) async fn next_answer(&mut self) -> String {
        match self.pending.next().await {
            Some((answered, text)) => {
                self.unanswered -= answered;
                text
            }
            None => std::future::pending().await,
        }
    }

    /// Gives the peer the answers that are still on their way, as far as they come soon: what a
    /// stopping broker has accepted should not be sent again.
    pub(crate) async fn give_last_answers(&mut self, within: Duration) {
        let by = Instant::now() + within;
        while !self.pending.is_empty() {
            match timeout_at(by, self.next_answer()).await {
                Ok(text) => self.give(text).await,
                Err(_) => return,
            }
        }
    }

    pub(crate) async fn close(&mut self, code: u16, reason: &'static str) {
        self.put(ToPeer::Close { code, reason }).await;
    }

    pub(crate) async fn not_text(&mut self) -> Heard {
        self.refuse("null", &RpcError::parse("the frame is not UTF-8 text")).await;
        Heard::GoOn
    }

    pub(crate) async fn hear(&mut self, text: &str) -> Heard {
        let most = if self.joined { self.limits.message_bytes } else { self.limits.preauth_bytes };
        if text.len() > most {
            let why = format!("{} bytes are more than the {most} allowed here", text.len());
            self.refuse(&id_within(text), &RpcError::new(-32013, "Too large", why)).await;
            return if self.joined { Heard::GoOn } else { Heard::Over };
        }
        match wire::split(text) {
            Ok(Parts::One(text)) => self.one(text).await,
            // Boxed, as whatever is rare: else every connection would have room for it all the time.
            Ok(Parts::Batch(parts)) => Box::pin(self.batch(parts)).await,
            Err(error) => self.refuse("null", &error).await,
        }
        Heard::GoOn
    }

    /// Takes an envelope that came by itself. What is asked of the core begins here, so that requests are
    /// carried out in the order in which they came.
    async fn one(&mut self, text: &str) {
        fail_here("bus-reader");
        let (id, method, params) = match wire::read(text) {
            Ok(Incoming::Request { id, method, params }) => (id, method, params),
            Ok(Incoming::Response { id, answer }) => return self.response(id, answer).await,
            Err(bad) => {
                return self.refuse(bad.id.map_or("null", RawValue::get), &bad.error).await;
            }
        };
        let answer = match self.may_ask(&method) {
            // Of all that is asked only this takes long; the writer waits for its answer.
            Ok(()) if method == SEND => return self.send_alone(id, params).await,
            Ok(()) => Box::pin(self.request(&method, params)).await,
            Err(error) => Err(error),
        };
        if let Some(id) = id {
            self.give(answer_text(id.get(), answer)).await;
        }
        self.peer.release();
    }

    async fn batch(&mut self, parts: Vec<&RawValue>) {
        let mut answers = Vec::with_capacity(parts.len());
        for part in parts {
            answers.extend(self.one_of_batch(part).await);
            self.peer.release();
        }
        let count = answers.len();
        self.unanswered += count;
        if count > 0 {
            let all = join_all(answers).map(move |all| (count, format!("[{}]", all.join(","))));
            self.pending.push(all.boxed());
        }
    }

    async fn one_of_batch(&mut self, raw: &RawValue) -> Option<Answer> {
        let (id, method, params) = match wire::read(raw.get()) {
            Ok(Incoming::Request { id, method, params }) => (id, method, params),
            Ok(Incoming::Response { id, answer }) => {
                self.response(id, answer).await;
                return None;
            }
            Err(bad) => {
                let id = bad.id.map_or("null", RawValue::get);
                return Some(ready(wire::error_response(id, &bad.error)));
            }
        };
        let answer = match self.may_ask(&method) {
            Ok(()) if method == SEND => return self.send_with_others(id, params).await,
            Ok(()) => self.request(&method, params).await,
            Err(error) => Err(error),
        };
        // A notification is carried out; nobody waits for its answer.
        id.map(|id| ready(answer_text(id.get(), answer)))
    }

    fn may_ask(&self, method: &str) -> Result<(), RpcError> {
        if self.unanswered + self.replies.outstanding() >= PENDING {
            return Err(RpcError::busy(format!("{PENDING} requests are not answered yet")));
        }
        if !self.joined && method != "initialize" {
            return Err(convert::refusal(&Refusal::NotJoined));
        }
        Ok(())
    }

    async fn request(
        &mut self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Box<RawValue>, RpcError> {
        match method {
            "initialize" => self.initialize(params).await,
            "subscribe" => self.subscribe(params).await,
            "unsubscribe" => self.unsubscribe(params).await,
            "ping" => self.ping().await,
            unknown => Err(RpcError::unknown_method(unknown)),
        }
    }

    async fn initialize(&mut self, params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
        // A second one is refused whatever it says.
        let (join, types_payloads) = match convert::join(params) {
            Err(error) if !self.joined => return Err(error),
            Err(_) => {
                return Err(RpcError::new(-32001, "Already initialized", "once is enough"));
            }
            Ok(join) => join,
        };
        let joined =
            self.submit(Command::Join(join)).await?.joined().ok_or_else(RpcError::unexpected)?;
        self.joined = true;
        self.types_payloads = types_payloads;
        result(&json!({
            "serverId": joined.server,
            "serverInfo": { "name": "bub-bus", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "subscribe": true,
                "publish": true,
                "processMessage": true,
                "topics": ["inbound:*", "outbound:*", "agent:*"],
                "addresses": ["inbound:*", "outbound:*", "agent:*"],
            },
        }))
    }

    async fn subscribe(&mut self, params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
        self.peer.hold();
        let reply = self.submit(convert::subscribe(params)?).await?;
        let id = reply.subscribed().ok_or_else(RpcError::unexpected)?;
        result(&json!({ "success": true, "subscriptionId": id }))
    }

    async fn unsubscribe(&mut self, params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
        self.submit(convert::unsubscribe(params)?).await?;
        result(&json!({ "success": true }))
    }

    async fn ping(&mut self) -> Result<Box<RawValue>, RpcError> {
        self.submit(Command::Touch).await?;
        result(&json!({ "timestamp": now() }))
    }

    /// A message whose fate the writer tells; nobody, if the peer gave no id.
    async fn send_alone(&mut self, id: Option<&RawValue>, params: Option<&RawValue>) {
        let sent = match (self.read_send(params), id) {
            (Ok(command), None) => self.broker.tell(self.caller, command),
            (Err(_), None) => return,
            (Err(error), Some(id)) => return self.refuse(id.get(), &error).await,
            (Ok(command), Some(id)) => {
                let (broker, tag) = (&self.broker, id.get().into());
                broker.begin_in(&self.replies, tag, self.caller, command)
            }
        };
        // What became of it is told by the reply, if there is one.
        sent.quietly().await;
    }

    /// A message whose fate is told together with other answers.
    async fn send_with_others(
        &mut self,
        id: Option<&RawValue>,
        params: Option<&RawValue>,
    ) -> Option<Answer> {
        let (command, id) = match (self.read_send(params), id.map(RawValue::get)) {
            (Ok(command), Some(id)) => (command, id.to_owned()),
            (Err(error), Some(id)) => return Some(ready(wire::error_response(id, &error))),
            (Err(_), None) => return None,
            (Ok(command), None) => {
                self.broker.tell(self.caller, command).quietly().await;
                return None;
            }
        };
        Some(match self.broker.begin(self.caller, command).await {
            Ok(pending) => async move { convert::sent(&id, pending.wait().await) }.boxed(),
            Err(refusal) => ready(convert::sent(&id, Err(refusal))),
        })
    }

    fn read_send(&mut self, params: Option<&RawValue>) -> Result<Command, RpcError> {
        let (send, typed) = convert::send(params, self.types_payloads)?;
        if !typed && !std::mem::replace(&mut self.told_of_types, true) {
            tracing::warn!(topic = %send.address.topic(), "payloads without a type, from a client before 0.2");
        }
        Ok(Command::Send(send))
    }

    /// The peer answers a delivery. An answer to nothing is passed over, as late answers are.
    async fn response(&mut self, id: &RawValue, answer: Result<&RawValue, &RawValue>) {
        let Some(attempt) = convert::attempt_id(id) else {
            return;
        };
        let answer = match answer {
            Ok(result) => {
                self.peer.understood();
                convert::answer(result)
            }
            Err(error) if convert::is_unknown_method(error) => {
                if let Some(again) = self.peer.not_understood(attempt) {
                    return self.give(again).await;
                }
                convert::answer_to_error(error)
            }
            Err(error) => convert::answer_to_error(error),
        };
        self.tell(attempt, answer).await;
    }

    async fn tell(&mut self, attempt: AttemptId, answer: switchboard_model::Answer) {
        self.broker.tell(self.caller, Command::Answer { attempt, answer }).quietly().await;
    }

    async fn submit(&mut self, command: Command) -> Result<Reply, RpcError> {
        self.broker.submit(self.caller, command).await.map_err(|refusal| convert::refusal(&refusal))
    }

    async fn refuse(&mut self, id: &str, error: &RpcError) {
        self.give(wire::error_response(id, error)).await;
    }

    pub(crate) async fn give(&mut self, text: String) {
        self.put(ToPeer::Text(text)).await;
    }

    async fn put(&mut self, what: ToPeer) {
        if self.to_peer.send(Box::new(what)).await.is_err() {
            tracing::debug!("the writer has gone already");
        }
    }
}

fn answer_text(id: &str, answer: Result<Box<RawValue>, RpcError>) -> String {
    match answer {
        Ok(result) => wire::response(id, &result),
        Err(error) => wire::error_response(id, &error),
    }
}

fn ready(text: String) -> Answer {
    std::future::ready(text).boxed()
}

fn result(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(value)
        .map_err(|error| RpcError::new(-32603, "Internal error", error.to_string()))
}

/// The id of a request that is too large to be taken, so that its sender learns which it was.
fn id_within(text: &str) -> String {
    wire::split(text)
        .ok()
        .and_then(|parts| match parts {
            Parts::One(text) => wire::read(text).ok(),
            Parts::Batch(parts) => wire::read(parts.first()?.get()).ok(),
        })
        .and_then(|incoming| match incoming {
            Incoming::Request { id, .. } => id.map(|id| id.get().to_owned()),
            Incoming::Response { .. } => None,
        })
        .unwrap_or_else(|| "null".to_owned())
}
