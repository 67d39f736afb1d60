//! One agent of this door: what it says, and what it is told.

use futures_util::FutureExt;
use switchboard_broker::{Broker, Caller, Refusal, now};
use switchboard_model::{
    AgentId, Code, Command, Kind, Message, Pattern, Payload, Policy, Reply, Topic, fail_here,
};

use super::convert::{self, fault, wrong};
use super::router::{self, Action};
use super::wire::{ErrorInfo, Fragment, Incoming};
use crate::Limits;
use crate::talk::{Heard, Talker};

/// A broadcast reaches everyone who listens to topics that begin so; all of this door do.
const BROADCASTS: &str = "broadcast:*";

pub(crate) struct Session {
    broker: Broker,
    caller: Caller,
    limits: Limits,
    agent: Option<AgentId>,
}

impl Session {
    pub(crate) fn new(broker: Broker, caller: Caller, limits: Limits) -> Self {
        Self { broker, caller, limits, agent: None }
    }

    fn name(&self) -> &str {
        self.agent.as_ref().map_or("", AgentId::as_str)
    }

    /// Answers a message, under the name that its sender gives itself if it has no other.
    fn answer(&self, message: &Incoming, result: Result<Payload, ErrorInfo>) -> Heard {
        let claimed = message.from.as_deref().unwrap_or_default();
        let to = self.agent.as_ref().map_or(claimed, AgentId::as_str);
        Heard::say(convert::answer(to, message.id.as_deref(), result))
    }

    pub(crate) async fn take(&mut self, message: &Incoming) -> Heard {
        fail_here("collaboration");
        let kind = match convert::kind(message) {
            Ok(kind) => kind,
            Err(error) => return self.answer(message, Err(error)),
        };
        if kind == Kind::Request && convert::is_for_router(message) {
            let result = self.action(message).await;
            return self.answer(message, result);
        }
        if let Err(error) = self.is_itself(message) {
            return self.answer(message, Err(error));
        }
        match convert::sends(message, kind) {
            Ok(sends) => self.send(message.id.as_deref(), sends).await,
            Err(error) => self.answer(message, Err(error)),
        }
    }

    fn is_itself(&self, message: &Incoming) -> Result<(), ErrorInfo> {
        let Some(agent) = &self.agent else {
            return Err(fault(
                Code::NotJoined,
                "register first: send a request to router with action \"register\"",
            ));
        };
        match message.from.as_deref() {
            Some(from) if from != agent.as_str() && from != agent.alias().to_string() => {
                let words = format!(
                    "from is {from}, but this connection speaks for {agent}: nobody can speak for another"
                );
                Err(fault(Code::Unauthorized, words))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Submits what one message comes to. Nothing is said of what is accepted; of what is not, for each
    /// recipient.
    async fn send(&mut self, id: Option<&str>, sends: Vec<switchboard_model::Send>) -> Heard {
        let mut begun = Vec::with_capacity(sends.len());
        for send in sends {
            begun.push(self.broker.begin(self.caller, Command::Send(send)).await);
        }
        let (name, id) = (self.name().to_owned(), id.map(str::to_owned));
        Heard::Later(
            async move {
                let mut refused = Vec::new();
                for one in begun {
                    let outcome = match one {
                        Ok(pending) => pending.wait().await.map(drop),
                        Err(refusal) => Err(refusal),
                    };
                    if let Err(refusal) = outcome {
                        refused.push(convert::answer(&name, id.as_deref(), Err(refusal.into())));
                    }
                }
                refused
            }
            .boxed(),
        )
    }

    async fn submit(&self, command: Command) -> Result<Reply, ErrorInfo> {
        Ok(self.broker.submit(self.caller, command).await?)
    }

    async fn action(&mut self, message: &Incoming) -> Result<Payload, ErrorInfo> {
        let payload = message.payload.as_ref().ok_or_else(|| wrong("payload is missing"))?;
        let name = payload.text("action").ok_or_else(|| wrong("payload.action is missing"))?;
        let action = Action::parse(&name)?;
        let empty = Payload::trusted("{}");
        let parameters = payload.get("parameters").unwrap_or(&empty);
        if action == Action::Register {
            return self.register(parameters).await;
        }
        self.is_itself(message)?;
        let Some(agent) = self.agent.clone() else { return Err(Refusal::NotJoined.into()) };
        match action {
            // Taken care of above.
            Action::Register => Err(Refusal::AlreadyJoined(agent).into()),
            Action::Subscribe => {
                let topics = router::topics(parameters, &agent)?;
                for command in topics.subscribe() {
                    match self.broker.submit(self.caller, command).await {
                        // To say the same twice changes nothing.
                        Ok(_) | Err(Refusal::AlreadySubscribed(_)) => {}
                        Err(refusal) => return Err(refusal.into()),
                    }
                }
                topics.written(&agent)
            }
            Action::Unsubscribe => {
                let topics = router::topics(parameters, &agent)?;
                for command in topics.unsubscribe() {
                    self.submit(command).await?;
                }
                topics.written(&agent)
            }
            Action::FindAgents => {
                let found = self.submit(router::find(parameters)?).await?.found();
                router::found(&found.unwrap_or_default())
            }
            Action::Heartbeat => {
                self.submit(Command::Touch).await?;
                router::written(&serde_json::json!({ "id": agent, "timestamp": now() }))
            }
            Action::SetStatus => {
                let status = router::set_status(parameters)?;
                self.submit(Command::SetStatus(status)).await?;
                router::written(&serde_json::json!({ "id": agent, "status": status }))
            }
            Action::UpdateCapabilities => {
                self.submit(router::declare(parameters)?).await?;
                router::written(&serde_json::json!({ "id": agent }))
            }
            Action::OpenSession => {
                router::session(self.submit(router::open_session(parameters)?).await?)
            }
            Action::UpdateSession => {
                router::session(self.submit(router::update_session(parameters)?).await?)
            }
            Action::CloseSession => {
                router::session(self.submit(router::close_session(parameters)?).await?)
            }
        }
    }

    async fn register(&mut self, parameters: &Payload) -> Result<Payload, ErrorInfo> {
        let join = router::register(parameters)?;
        let reply = self.submit(Command::Join(join.clone())).await?;
        let joined = reply.joined().ok_or(Refusal::NotJoined)?;
        let own = Pattern::exact(&Topic::of_agent(&joined.agent));
        self.submit(Command::Subscribe { pattern: own, policy: None, filter: None }).await?;
        if let Ok(pattern) = Pattern::parse(BROADCASTS) {
            let policy = Some(Policy::ContinueAll);
            self.submit(Command::Subscribe { pattern, policy, filter: None }).await?;
        }
        let told = router::registered(&join, &joined.agent, joined.token.as_ref());
        self.agent = Some(joined.agent);
        told
    }
}

impl Talker for Session {
    fn has_joined(&self) -> bool {
        self.agent.is_some()
    }

    async fn hear(&mut self, text: &str) -> Heard {
        let is_stranger = !self.has_joined();
        let most = if is_stranger { self.limits.register_bytes } else { self.limits.message_bytes };
        let too_large = |most: usize| {
            let words = format!("{} bytes are more than the {most} allowed here", text.len());
            fault(Code::TooLarge, words)
        };
        if text.len() > most {
            let answer = convert::answer(self.name(), None, Err(too_large(most)));
            return if is_stranger { Heard::Last(answer) } else { Heard::say(answer) };
        }
        let message: Incoming = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => {
                let error = wrong(format!("this is no message of this protocol: {error}"));
                let Fragment { id, from } = Fragment::of(text);
                let to = self.agent.as_ref().map(AgentId::to_string).or(from).unwrap_or_default();
                return Heard::say(convert::answer(&to, id.as_deref(), Err(error)));
            }
        };
        // Only a registration, with its schemas, may be longer.
        let registers = convert::is_for_router(&message);
        if is_stranger && !registers && text.len() > self.limits.preauth_bytes {
            let error = too_large(self.limits.preauth_bytes);
            return Heard::Last(convert::answer("", message.id.as_deref(), Err(error)));
        }
        self.take(&message).await
    }

    fn not_text(&self) -> String {
        convert::answer(self.name(), None, Err(wrong("the frame is not UTF-8 text")))
    }

    fn deliver(&self, message: &Message) -> String {
        convert::deliver(message, self.name())
    }
}
