//! One agent at the lobby: what it says, and what it is told.

use futures_util::FutureExt;
use subtle::ConstantTimeEq;
use switchboard_broker::{Broker, Caller, Refusal};
use switchboard_model::{
    AgentId, Code, Command, Join, Joined, Kind, Message, Object, Pattern, Secret, Send, Topic,
    fail_here,
};

use super::convert::{self, Fault};
use super::wire::{Incoming, LOBBY};
use crate::Limits;
use crate::talk::{Heard, Talker};

/// What an agent is told whose token is missing or wrong, in the words of the protocol.
const AUTHENTICATION_FAILED: &str = "Authentication failed for message to lobby.";

pub(crate) struct Session {
    broker: Broker,
    caller: Caller,
    limits: Limits,
    /// Who this is, once it has said so.
    member: Option<Member>,
    /// Whether each message must carry the token; not where the connection was opened with it.
    token_in_messages: bool,
}

struct Member {
    agent: AgentId,
    token: Secret,
}

impl Session {
    pub(crate) fn new(broker: Broker, caller: Caller, limits: Limits) -> Self {
        Self { broker, caller, limits, member: None, token_in_messages: true }
    }

    /// For a connection that was opened with a token.
    pub(crate) async fn joined(mut self, joined: Joined) -> Result<Self, Refusal> {
        self.token_in_messages = false;
        self.become_member(joined).await?;
        Ok(self)
    }

    /// From here on it gets what is addressed to it.
    async fn become_member(&mut self, joined: Joined) -> Result<(), Refusal> {
        let Joined { agent, token, .. } = joined;
        let pattern = Pattern::exact(&Topic::of_agent(&agent));
        let subscribe = Command::Subscribe { pattern, policy: None, filter: None };
        self.broker.submit(self.caller, subscribe).await?;
        self.member = Some(Member { agent, token: token.unwrap_or_else(|| Secret::new("")) });
        Ok(())
    }

    /// The name under which it is answered.
    fn name<'a>(&'a self, message: Option<&'a Incoming<'_>>) -> &'a str {
        let claimed = message.and_then(|message| message.sender_id.as_deref());
        self.member.as_ref().map(|member| member.agent.as_str()).or(claimed).unwrap_or("")
    }

    fn fault(&self, fault: &Fault, message: &Incoming<'_>) -> Heard {
        Heard::say(convert::error(self.name(Some(message)), fault, Some(message)))
    }

    async fn register(&mut self, message: &Incoming<'_>) -> Result<String, Fault> {
        let mut join = convert::join(message)?;
        let again = self.member.is_some();
        if again {
            self.is_itself(message)?;
            if join.token.is_none() && !self.token_in_messages {
                join.token = self.member.as_ref().map(|member| member.token.clone());
            }
        }
        let command = if again { Command::Register(join) } else { Command::Join(join) };
        let reply = self.broker.submit(self.caller, command).await?;
        let joined = reply.joined().ok_or(Refusal::NotJoined)?;
        let ack = convert::ack(
            &joined.agent,
            "success_registered_finalized",
            joined.token.as_ref(),
            message.conversation_id.as_deref(),
        );
        if !again {
            self.become_member(joined).await?;
        }
        Ok(ack)
    }

    /// Whether a message comes from whom it says, with the right token.
    async fn authenticate(&mut self, message: &Incoming<'_>) -> Result<(), Fault> {
        let given = message.auth_token.as_deref();
        if self.member.is_none() {
            // Who has a token may begin with any message.
            let (Ok(agent), Some(token)) = (convert::sender(message), given) else {
                return Err(not_authenticated());
            };
            let token = Some(Secret::new(token));
            let join =
                switchboard_model::Join { token, ..switchboard_model::Join::of(agent, "", "") };
            let reply = self.broker.submit(self.caller, Command::Join(join)).await;
            let joined = reply
                .map_err(|refusal| authentication_fault(&refusal))?
                .joined()
                .ok_or(Refusal::NotJoined)?;
            return Ok(self.become_member(joined).await?);
        }
        self.is_itself(message)?;
        let Some(member) = &self.member else { return Err(not_authenticated()) };
        match given {
            None if self.token_in_messages => Err(not_authenticated()),
            None => Ok(()),
            Some(given) => {
                let known = member.token.reveal().as_bytes();
                if given.as_bytes().ct_eq(known).into() {
                    return Ok(());
                }
                let prove = Command::Prove(Secret::new(given));
                let proved = self.broker.submit(self.caller, prove).await;
                proved.map(drop).map_err(|refusal| authentication_fault(&refusal))
            }
        }
    }

    fn is_itself(&self, message: &Incoming<'_>) -> Result<(), Fault> {
        let Some(member) = &self.member else { return Ok(()) };
        let claimed = convert::sender(message)?;
        if claimed == member.agent || claimed.as_str() == member.agent.alias().to_string() {
            return Ok(());
        }
        let words = format!(
            "sender_id is {claimed}, but this connection speaks for {}: nobody can speak for another",
            member.agent
        );
        Err(Fault { code: Code::Unauthorized, words })
    }

    async fn take(&mut self, message: &Incoming<'_>) -> Heard {
        fail_here("lobby");
        let Some(kind) = message.message_type.as_deref() else {
            return self.fault(&Fault::wrong("message_type is missing"), message);
        };
        if kind == "REGISTER" {
            return match self.register(message).await {
                Ok(ack) => Heard::say(ack),
                Err(fault) => self.fault(&fault, message),
            };
        }
        if let Err(fault) = self.authenticate(message).await {
            return self.fault(&fault, message);
        }
        match kind {
            "DISCOVER_SERVICES" => self.discover(message).await,
            "REQUEST" => self.request(message).await,
            "RESPONSE" => match convert::send(message, Kind::Response) {
                Ok(send) => self.send(send, message, convert_error).await,
                Err(fault) => self.fault(&fault, message),
            },
            "ERROR" => self.error(message).await,
            "CAPABILITY_UPDATE" => self.update(message).await,
            "UNREGISTER" => self.leave(message).await,
            other => {
                let known = "REGISTER, DISCOVER_SERVICES, REQUEST, RESPONSE, ERROR, \
                             CAPABILITY_UPDATE, UNREGISTER";
                let words = format!("message_type {other:?} is not one of: {known}");
                self.fault(&Fault { code: Code::UnknownMethod, words }, message)
            }
        }
    }

    async fn discover(&mut self, message: &Incoming<'_>) -> Heard {
        let (find, asked_for) = match convert::find(message) {
            Ok(find) => find,
            Err(fault) => return self.fault(&fault, message),
        };
        let found = match self.broker.submit(self.caller, Command::Find(find)).await {
            Ok(reply) => reply.found().unwrap_or_default(),
            Err(refusal) => return self.fault(&refusal.into(), message),
        };
        let Some(member) = &self.member else { return Heard::nothing() };
        let conversation = message.conversation_id.as_deref();
        Heard::say(convert::services(&member.agent, asked_for.as_deref(), &found, conversation))
    }

    async fn request(&mut self, message: &Incoming<'_>) -> Heard {
        match convert::send(message, Kind::Request) {
            Ok(send) => self.send(send, message, convert::request_refused).await,
            Err(fault) => {
                let name = self.name(Some(message));
                Heard::say(convert::request_refused(name, &fault, message))
            }
        }
    }

    /// An ERROR for the lobby is only noted; one for another agent answers what that one asked.
    async fn error(&mut self, message: &Incoming<'_>) -> Heard {
        let to_lobby = message.receiver_id.as_deref().is_none_or(|id| id == LOBBY || id == "lobby");
        if to_lobby {
            tracing::info!(from = %self.name(Some(message)), "an agent reports an error");
            return Heard::nothing();
        }
        // It has no status of its own, and is no answer without a question.
        let read = convert::send(message, Kind::Event).and_then(convert::error_as_answer);
        match read {
            Ok(send) => self.send(send, message, convert_error).await,
            Err(fault) => self.fault(&fault, message),
        }
    }

    /// Submits a message. Nothing is said of one that is accepted; its answer comes by itself.
    async fn send(
        &mut self,
        send: Send,
        message: &Incoming<'_>,
        refused: fn(&str, &Fault, &Incoming<'_>) -> String,
    ) -> Heard {
        let name = self.name(Some(message)).to_owned();
        let about = Owned::of(message);
        match self.broker.begin(self.caller, Command::Send(send)).await {
            Err(refusal) => Heard::say(refused(&name, &refusal.into(), message)),
            Ok(pending) => Heard::Later(
                async move {
                    let refusal = pending.wait().await.err();
                    let told = |refusal: Refusal| refused(&name, &refusal.into(), &about.message());
                    refusal.map(told).into_iter().collect()
                }
                .boxed(),
            ),
        }
    }

    async fn update(&mut self, message: &Incoming<'_>) -> Heard {
        let (capabilities, withdrawn) = match convert::update(message) {
            Ok(update) => update,
            Err(fault) => return self.fault(&fault, message),
        };
        let declare = Command::Declare { capabilities, withdrawn };
        match self.broker.submit(self.caller, declare).await {
            Ok(_) => self.acknowledge("success_capabilities_updated", message),
            Err(refusal) => self.fault(&refusal.into(), message),
        }
    }

    /// It offers nothing any more, and goes. Its name stays its own.
    async fn leave(&mut self, message: &Incoming<'_>) -> Heard {
        let ack = self.acknowledge("success_unregistered", message);
        let Some(member) = &self.member else { return Heard::nothing() };
        let nothing = Join {
            capabilities: Some(Vec::new()),
            token: Some(member.token.clone()),
            ..Join::of(member.agent.clone(), "", "")
        };
        for command in [Command::Register(nothing), Command::Leave] {
            if let Err(refusal) = self.broker.submit(self.caller, command).await {
                return self.fault(&refusal.into(), message);
            }
        }
        match ack {
            Heard::Say(mut texts) => Heard::Last(texts.pop().unwrap_or_default()),
            other @ (Heard::Later(_) | Heard::Last(_)) => other,
        }
    }

    fn acknowledge(&self, status: &str, message: &Incoming<'_>) -> Heard {
        let Some(member) = &self.member else { return Heard::nothing() };
        let conversation = message.conversation_id.as_deref();
        Heard::say(convert::ack(&member.agent, status, None, conversation))
    }
}

impl Talker for Session {
    fn has_joined(&self) -> bool {
        self.member.is_some()
    }

    async fn hear(&mut self, text: &str) -> Heard {
        let (most, is_stranger) = match self.has_joined() {
            true => (self.limits.message_bytes, false),
            false => (self.limits.register_bytes, true),
        };
        let too_large = |most: usize| Fault {
            code: Code::TooLarge,
            words: format!("{} bytes are more than the {most} allowed here", text.len()),
        };
        if text.len() > most {
            let error = convert::error(self.name(None), &too_large(most), None);
            return if is_stranger { Heard::Last(error) } else { Heard::say(error) };
        }
        let message: Incoming<'_> = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => {
                let fault = Fault::wrong(format!("this is no message of the lobby: {error}"));
                let about = Owned::fragment(text);
                let about = about.as_ref().map(Owned::message);
                return Heard::say(convert::error(self.name(None), &fault, about.as_ref()));
            }
        };
        // Only a registration, with its schemas, may be longer.
        let registers = message.message_type.as_deref() == Some("REGISTER");
        if is_stranger && !registers && text.len() > self.limits.preauth_bytes {
            let fault = too_large(self.limits.preauth_bytes);
            return Heard::Last(convert::error(self.name(Some(&message)), &fault, Some(&message)));
        }
        self.take(&message).await
    }

    fn not_text(&self) -> String {
        let fault = Fault::wrong("the frame is not UTF-8 text");
        convert::error(self.name(None), &fault, None)
    }

    fn deliver(&self, message: &Message) -> String {
        convert::deliver(message, self.name(None))
    }
}

/// What an answer has to say of the message that it answers, kept until it is given.
struct Owned {
    message_type: Option<String>,
    conversation_id: Option<String>,
}

impl Owned {
    fn of(message: &Incoming<'_>) -> Self {
        Self {
            message_type: message.message_type.as_deref().map(str::to_owned),
            conversation_id: message.conversation_id.as_deref().map(str::to_owned),
        }
    }

    /// What can be read of a message that cannot be taken.
    fn fragment(text: &str) -> Option<Self> {
        let object = Object::parse(text).ok()?;
        let (message_type, conversation_id) =
            (object.text("message_type"), object.text("conversation_id"));
        Some(Self { message_type, conversation_id })
    }

    fn message(&self) -> Incoming<'_> {
        Incoming {
            sender_id: None,
            receiver_id: None,
            message_type: self.message_type.as_deref().map(Into::into),
            payload: None,
            conversation_id: self.conversation_id.as_deref().map(Into::into),
            auth_token: None,
            priority: None,
        }
    }
}

fn convert_error(receiver: &str, fault: &Fault, about: &Incoming<'_>) -> String {
    convert::error(receiver, fault, Some(about))
}

fn not_authenticated() -> Fault {
    Fault { code: Code::Unauthorized, words: AUTHENTICATION_FAILED.to_owned() }
}

/// A wrong token is told in the protocol's words; what else is in the way in its own.
fn authentication_fault(refusal: &Refusal) -> Fault {
    match refusal.code() {
        Code::Unauthorized => {
            let words = format!("{AUTHENTICATION_FAILED} ({refusal})");
            Fault { code: Code::Unauthorized, words }
        }
        code => Fault { code, words: refusal.to_string() },
    }
}
