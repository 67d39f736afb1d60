//! One agent's connection to the bus door: JSON-RPC 2.0 over WebSocket, in both directions.
//!
//! `wire` is what travels, `delivery` what arrives and how it is answered, `calls` the table of
//! questions in flight, `link` the task that moves frames between all of these and the socket.

mod calls;
mod delivery;
mod link;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use switchboard_model::{AgentId, Capability, Payload, Policy};
use tokio::sync::{Mutex, mpsc, watch};
use tokio_tungstenite::tungstenite::Message as Frame;

use crate::{Error, TlsFiles};
use calls::Calls;
pub use delivery::{Answer, Delivery};
pub(crate) use link::explain;
pub use wire::{Ack, SendOptions, SendResult};

/// How long a broker may take to let us in.
const WELCOME: Duration = Duration::from_secs(10);
/// How long it may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// Frames waiting to be written. When full, callers wait: the far end sets the pace.
const OUTBOX: usize = 256;
/// Deliveries waiting to be taken. More than the broker leaves unanswered to one recipient; when
/// full all the same, a delivery is declined at once with a request to try again.
const INBOX: usize = 1024;

/// What a program says of itself.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What the agent can be asked to do; empty leaves what it declared before.
    pub capabilities: Vec<Capability>,
}

impl ClientInfo {
    /// A program that declares no capabilities.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), capabilities: Vec::new() }
    }
}

/// A connection that speaks for one agent. Clones share it, any number of calls may be in flight,
/// and it closes politely when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Bus {
    calls: Arc<Calls>,
    outbox: mpsc::Sender<Frame>,
    inbox: Arc<Mutex<mpsc::Receiver<Delivery>>>,
    ended: watch::Receiver<()>,
}

impl Bus {
    /// Connects to the bus at `url`, which is plain (`ws://`), and introduces itself as `agent`.
    pub async fn connect(
        url: &str,
        agent: &AgentId,
        info: ClientInfo,
        auth_token: Option<&str>,
    ) -> Result<Self, Error> {
        Self::connect_with(url, agent, info, auth_token, &TlsFiles::default()).await
    }

    /// As [`connect`](Self::connect), also where `url` is one of TLS.
    pub async fn connect_with(
        url: &str,
        agent: &AgentId,
        info: ClientInfo,
        auth_token: Option<&str>,
        files: &TlsFiles,
    ) -> Result<Self, Error> {
        let joining = async {
            let bus = Self::over(link::open(url, files).await?);
            bus.initialize(agent, &info, auth_token).await?;
            Ok(bus)
        };
        let silent = || Error::Silent { url: url.to_owned(), seconds: WELCOME.as_secs() };
        tokio::time::timeout(WELCOME, joining).await.unwrap_or_else(|_| Err(silent()))
    }

    fn over(socket: link::Socket) -> Self {
        let calls = Arc::new(Calls::default());
        let (outbox, to_write) = mpsc::channel(OUTBOX);
        let (arrived, inbox) = mpsc::channel(INBOX);
        let (running, ended) = watch::channel(());
        // Weak, so that the connection ends when nobody holds the bus any more.
        let mailroom = link::Mailroom::new(calls.clone(), arrived, outbox.downgrade());
        tokio::spawn(link::run(socket, to_write, mailroom, running));
        Self { calls, outbox, inbox: Arc::new(Mutex::new(inbox)), ended }
    }

    async fn initialize(
        &self,
        agent: &AgentId,
        info: &ClientInfo,
        auth_token: Option<&str>,
    ) -> Result<(), Error> {
        let params = wire::Initialize::new(agent, info, auth_token);
        self.call("initialize", &params).await.map(drop)
    }

    /// Listens to every topic that `pattern` matches; the bus's own policy if none is given.
    pub async fn subscribe(&self, pattern: &str, policy: Option<Policy>) -> Result<(), Error> {
        self.call("subscribe", &wire::Subscribe { topic: pattern, policy }).await.map(drop)
    }

    /// Stops listening; `pattern` is the one given to [`subscribe`](Self::subscribe).
    pub async fn unsubscribe(&self, pattern: &str) -> Result<(), Error> {
        self.call("unsubscribe", &wire::Unsubscribe { topic: pattern }).await.map(drop)
    }

    /// Publishes a message, and waits until every recipient had its first chance. The message is
    /// on the broker's disk when this returns; whether anyone took it, the result says.
    pub async fn send(&self, topic: &str, payload: &Payload) -> Result<SendResult, Error> {
        self.send_with(topic, payload, &SendOptions::default()).await
    }

    /// As [`send`](Self::send), with a say in who is served first and until when.
    pub async fn send_with(
        &self,
        topic: &str,
        payload: &Payload,
        options: &SendOptions,
    ) -> Result<SendResult, Error> {
        let params = wire::send_params(topic, payload, options);
        let result = self.ask("sendMessage", &params).await?;
        SendResult::read(result).map_err(|source| unreadable("sendMessage", source))
    }

    /// Asks the bus for a sign of life.
    pub async fn ping(&self) -> Result<(), Error> {
        self.ask("ping", "{}").await.map(drop)
    }

    /// The next message for this agent; none once the connection has ended. Where several tasks
    /// wait, each delivery goes to one of them.
    pub async fn next_delivery(&self) -> Option<Delivery> {
        self.inbox.lock().await.recv().await
    }

    /// Why the connection ended; none while it lives.
    pub fn ended(&self) -> Option<Error> {
        self.calls.ended()
    }

    /// Writes what is still to be written, says goodbye and waits for the bus to do the same.
    pub async fn close(mut self) {
        if self.outbox.send(Frame::Close(None)).await.is_ok() {
            // Either it ends or we stop waiting; both mean that we are done.
            drop(tokio::time::timeout(GOODBYE, self.ended.changed()).await);
        }
    }

    async fn call(&self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, Error> {
        let params = serde_json::to_string(params).map_err(|source| unreadable(method, source))?;
        self.ask(method, &params).await
    }

    async fn ask(&self, method: &str, params: &str) -> Result<Box<RawValue>, Error> {
        let question = self.calls.open()?;
        let frame = Frame::text(wire::request(question.id(), method, params));
        // A link that is gone has left its reason with the question.
        drop(self.outbox.send(frame).await);
        question.answer().await
    }
}

fn unreadable(method: &str, source: serde_json::Error) -> Error {
    Error::Unreadable { method: method.to_owned(), source }
}

#[cfg(test)]
mod tests;
