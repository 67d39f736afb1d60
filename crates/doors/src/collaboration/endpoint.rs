//! The same door for agents that live in this program: no socket, the same messages.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_broker::{Broker, Link, Outgoing, Refusal};
use switchboard_model::{Door, Kind};
use uuid::Uuid;

use super::session::Session;
use super::wire::{ErrorInfo, ROUTER};
use crate::Limits;
use crate::talk::{Heard, Talker, tell_taken};

/// An agent in this program. Its messages are JSON as on the wire.
pub struct Endpoint {
    link: Link,
    session: Session,
    id: String,
    /// Answers that came while another was awaited, by their correlation.
    answers: HashMap<String, Value>,
    /// What else came meanwhile.
    inbox: std::collections::VecDeque<Value>,
}

/// Why something did not work.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The broker or the other agent said no.
    #[error(transparent)]
    Refused(#[from] ErrorInfo),
    /// The broker has ended.
    #[error("the broker has ended")]
    Ended,
}

impl From<Refusal> for EndpointError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

/// How often and how soon something is tried again, as the specification has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryConfig {
    /// How often it is tried at most.
    pub max_attempts: u32,
    /// The first delay.
    pub backoff: Duration,
    /// By how much each delay is longer than the one before.
    pub multiplier: f64,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self { max_attempts: 3, backoff: Duration::from_secs(1), multiplier: 2.0 }
    }
}

impl Endpoint {
    /// Registers an agent. `registration` is the specification's AgentRegistration without endpoints; a
    /// known id needs its `authToken`. Returns the registration with the token beside the endpoint.
    pub async fn register(
        broker: &Broker,
        registration: Value,
    ) -> Result<(Self, Value), EndpointError> {
        let link = broker.connect(Door::Collaboration, None).await?;
        let (submit, caller) = link.caller();
        let session = Session::new(submit, caller, Limits::default());
        let id = registration["id"].as_str().unwrap_or_default().to_owned();
        let (answers, inbox) = (HashMap::new(), std::collections::VecDeque::new());
        let mut endpoint = Self { link, session, id, answers, inbox };
        let told = endpoint.ask_router("register", registration).await?;
        Ok((endpoint, told))
    }

    /// Asks the broker itself.
    pub async fn ask_router(
        &mut self,
        action: &str,
        parameters: Value,
    ) -> Result<Value, EndpointError> {
        self.request(ROUTER, action, parameters, None).await
    }

    /// Asks another agent, and waits for its answer.
    pub async fn request(
        &mut self,
        to: &str,
        action: &str,
        parameters: Value,
        timeout: Option<Duration>,
    ) -> Result<Value, EndpointError> {
        let id = Uuid::now_v7().to_string();
        let mut payload = json!({ "action": action, "parameters": parameters });
        if let (Some(timeout), Some(payload)) = (timeout, payload.as_object_mut()) {
            let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            payload.insert("timeout".to_owned(), ms.into());
        }
        self.send(json!({
            "id": id, "type": Kind::Request, "from": self.id, "to": to, "payload": payload,
        }))
        .await?;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return outcome(&answer);
            }
            let message = self.receive().await?;
            self.keep(message);
        }
    }

    /// Does something again until it works, with longer and longer pauses.
    pub async fn with_retry<T>(
        &mut self,
        config: RetryConfig,
        mut attempt: impl AsyncFnMut(&mut Self) -> Result<T, EndpointError>,
    ) -> Result<T, EndpointError> {
        let mut pause = config.backoff;
        let mut made = 1;
        loop {
            match attempt(self).await {
                Err(EndpointError::Refused(_)) if made < config.max_attempts => {
                    tokio::time::sleep(pause).await;
                    pause = pause.mul_f64(config.multiplier.max(1.0));
                    made += 1;
                }
                done => return done,
            }
        }
    }

    /// Sends a message as it would be written on the wire.
    pub async fn send(&mut self, message: Value) -> Result<(), EndpointError> {
        let said = match self.session.hear(&message.to_string()).await {
            Heard::Say(texts) => texts,
            Heard::Later(pending) => pending.await,
            Heard::Last(text) => vec![text],
        };
        for text in said {
            let message = read(&text);
            self.keep(message);
        }
        Ok(())
    }

    /// The next message for this agent that no request waits for.
    pub async fn next(&mut self) -> Result<Value, EndpointError> {
        match self.inbox.pop_front() {
            Some(message) => Ok(message),
            None => self.receive().await,
        }
    }

    async fn receive(&mut self) -> Result<Value, EndpointError> {
        let next = self.link.next().await.ok_or(EndpointError::Ended)?;
        let Outgoing::Deliver { attempt, message } = next;
        let text = self.session.deliver(&message);
        if message.kind != Kind::Request {
            tell_taken(&self.link, attempt).await;
        }
        Ok(read(&text))
    }

    /// Puts an answer where its request looks for it, and anything else into the inbox.
    fn keep(&mut self, message: Value) {
        let correlation = message["correlationId"].as_str().map(str::to_owned);
        match correlation.filter(|_| message["type"] == "response") {
            Some(id) => drop(self.answers.insert(id, message)),
            None => self.inbox.push_back(message),
        }
    }
}

fn outcome(answer: &Value) -> Result<Value, EndpointError> {
    let payload = &answer["payload"];
    if payload["status"] == "error" {
        let text = |key: &str| payload["error"][key].as_str().unwrap_or_default().to_owned();
        return Err(ErrorInfo { code: text("code"), message: text("message") }.into());
    }
    Ok(payload["result"].clone())
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
