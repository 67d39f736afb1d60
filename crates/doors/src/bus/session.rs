//! One client's requests, in the order in which they come.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_broker::{Broker, Caller, Refusal, now};
use switchboard_model::{AttemptId, Command, Reply};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::convert::{self, SendResult};
use super::peer::Peer;
use super::server::ToPeer;
use super::wire::{self, Incoming, RpcError};
use crate::Limits;

/// Requests of one connection whose answers are on their way. Beyond it requests are refused: busy.
/// What the connection answers is always heard.
const PENDING: usize = 10_000;

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    GoOn,
    Over,
}

/// An answer that is there, or on its way; none to a notification.
type Answer = BoxFuture<'static, Option<String>>;

pub(crate) struct Session {
    broker: Broker,
    caller: Caller,
    peer: Arc<Peer>,
    to_peer: mpsc::Sender<ToPeer>,
    /// Each with how many requests it answers.
    pending: FuturesUnordered<BoxFuture<'static, (usize, Option<String>)>>,
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
        to_peer: mpsc::Sender<ToPeer>,
        limits: Limits,
    ) -> Self {
        Self {
            broker,
            caller,
            peer,
            to_peer,
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
    pub(crate) async fn next_answer(&mut self) -> Option<String> {
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
                Ok(Some(text)) => self.give(text).await,
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    pub(crate) async fn close(&mut self, code: u16, reason: &'static str) {
        if self.to_peer.send(ToPeer::Close { code, reason }).await.is_err() {
            tracing::debug!("the writer has gone already");
        }
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
        let (parts, is_batch) = match wire::split(text) {
            Ok(parts) => parts,
            Err(error) => {
                self.refuse("null", &error).await;
                return Heard::GoOn;
            }
        };
        let mut answers = Vec::with_capacity(parts.len());
        for part in parts {
            let answer = self.one(part).await;
            if self.peer.is_held() && !is_batch {
                // The confirmation of a subscription, which is there already.
                if let Some(text) = async { answer?.await }.await {
                    self.give(text).await;
                }
            } else {
                answers.extend(answer);
            }
            self.peer.release();
        }
        let count = answers.len();
        self.unanswered += count;
        match count {
            0 => {}
            _ if is_batch => self.pending.push(counted(count, batch(answers))),
            _ => self.pending.extend(answers.into_iter().map(|answer| counted(1, answer))),
        }
        Heard::GoOn
    }

    /// Takes one envelope. The answer to a request is begun here, so that requests are carried
    /// out in the order in which they came.
    async fn one(&mut self, raw: &RawValue) -> Option<Answer> {
        let (id, method, params) = match wire::read(raw) {
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
        let answer = if self.unanswered >= PENDING {
            at_once(Err(RpcError::busy(format!("{PENDING} requests are not answered yet"))))
        } else {
            self.request(&method, params).await
        };
        // A notification is carried out; nobody waits for its answer.
        let Some(id) = id.map(|id| id.get().to_owned()) else {
            return Some(answer.map(|_| None).boxed());
        };
        Some(
            answer
                .map(move |answer| {
                    Some(match answer {
                        Ok(result) => wire::response(&id, &result),
                        Err(error) => wire::error_response(&id, &error),
                    })
                })
                .boxed(),
        )
    }

    async fn request(
        &mut self,
        method: &str,
        params: Option<&RawValue>,
    ) -> BoxFuture<'static, Result<Box<RawValue>, RpcError>> {
        if !self.joined && method != "initialize" {
            return at_once(Err(convert::refusal(&Refusal::NotJoined)));
        }
        match method {
            "initialize" => at_once(self.initialize(params).await),
            "subscribe" => at_once(self.subscribe(params).await),
            "unsubscribe" => at_once(self.unsubscribe(params).await),
            "ping" => at_once(self.ping().await),
            "sendMessage" => self.send_message(params).await,
            unknown => at_once(Err(RpcError::unknown_method(unknown))),
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
        let joined = self.submit(Command::Join(join)).await?.joined().ok_or_else(unexpected)?;
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
        let id = reply.subscribed().ok_or_else(unexpected)?;
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

    async fn send_message(
        &mut self,
        params: Option<&RawValue>,
    ) -> BoxFuture<'static, Result<Box<RawValue>, RpcError>> {
        let (send, typed) = match convert::send(params, self.types_payloads) {
            Ok(read) => read,
            Err(error) => return at_once(Err(error)),
        };
        if !typed && !std::mem::replace(&mut self.told_of_types, true) {
            tracing::warn!(topic = %send.address.topic(), "payloads without a type, from a client before 0.2");
        }
        match self.broker.begin(self.caller, Command::Send(send)).await {
            Err(refusal) => at_once(Err(convert::refusal(&refusal))),
            Ok(pending) => async move {
                let reply = pending.wait().await.map_err(|refusal| convert::refusal(&refusal))?;
                result(&SendResult::from(reply.sent().ok_or_else(unexpected)?))
            }
            .boxed(),
        }
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
        self.broker.tell(self.caller, Command::Answer { attempt, answer }).await;
    }

    async fn submit(&mut self, command: Command) -> Result<Reply, RpcError> {
        self.broker.submit(self.caller, command).await.map_err(|refusal| convert::refusal(&refusal))
    }

    async fn refuse(&mut self, id: &str, error: &RpcError) {
        self.give(wire::error_response(id, error)).await;
    }

    pub(crate) async fn give(&mut self, text: String) {
        if self.to_peer.send(ToPeer::Text(text)).await.is_err() {
            tracing::debug!("the writer has gone already");
        }
    }
}

fn counted(count: usize, answer: Answer) -> BoxFuture<'static, (usize, Option<String>)> {
    answer.map(move |text| (count, text)).boxed()
}

/// The answers of a batch, as one array once all are there.
fn batch(answers: Vec<Answer>) -> Answer {
    join_all(answers)
        .map(|texts| {
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")))
        })
        .boxed()
}

fn ready(text: String) -> Answer {
    std::future::ready(Some(text)).boxed()
}

fn at_once(
    result: Result<Box<RawValue>, RpcError>,
) -> BoxFuture<'static, Result<Box<RawValue>, RpcError>> {
    std::future::ready(result).boxed()
}

fn result(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(value)
        .map_err(|error| RpcError::new(-32603, "Internal error", error.to_string()))
}

fn unexpected() -> RpcError {
    RpcError::new(-32603, "Internal error", "the broker gave an answer of another kind")
}

/// The id of a request that is too large to be taken, so that its sender learns which it was.
fn id_within(text: &str) -> String {
    wire::split(text)
        .ok()
        .and_then(|(parts, _)| wire::read(parts.first()?).ok())
        .and_then(|incoming| match incoming {
            Incoming::Request { id, .. } => id.map(|id| id.get().to_owned()),
            Incoming::Response { .. } => None,
        })
        .unwrap_or_else(|| "null".to_owned())
}
