//! What an agent can ask of the broker itself: requests to `router`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use switchboard_broker::now;
use switchboard_model::{
    AgentId, AgentStatus, Code, Command, ConversationId, Declared, Expression, Find, Found, Join,
    ListenFilter, MessageSummary, NewSession, Object, Pattern, Payload, Policy, Reply, Secret,
    Session, SessionStatus, SessionUpdate, Timestamp,
};

use super::convert::{fault, priority, wrong};
use super::wire::{ErrorInfo, PriorityText};

/// An action that the broker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Register,
    Subscribe,
    Unsubscribe,
    FindAgents,
    Heartbeat,
    SetStatus,
    OpenSession,
    UpdateSession,
    CloseSession,
    UpdateCapabilities,
}

impl Action {
    const ALL: [(Self, &'static str); 10] = [
        (Self::Register, "register"),
        (Self::Subscribe, "subscribe"),
        (Self::Unsubscribe, "unsubscribe"),
        (Self::FindAgents, "findAgents"),
        (Self::Heartbeat, "heartbeat"),
        (Self::SetStatus, "setStatus"),
        (Self::OpenSession, "openSession"),
        (Self::UpdateSession, "updateSession"),
        (Self::CloseSession, "closeSession"),
        (Self::UpdateCapabilities, "updateCapabilities"),
    ];

    pub(crate) fn parse(text: &str) -> Result<Self, ErrorInfo> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(action, _)| action).ok_or_else(|| {
            let known = Self::ALL.map(|(_, name)| name).join(", ");
            let words = format!("the router has no action {text:?}; it has: {known}");
            fault(Code::UnknownMethod, words)
        })
    }
}

fn read<'a, T: Deserialize<'a>>(parameters: &'a Payload) -> Result<T, ErrorInfo> {
    serde_json::from_str(parameters.as_str())
        .map_err(|error| wrong(format!("payload.parameters: {error}")))
}

/// A result as JSON.
pub(crate) fn written(result: &impl Serialize) -> Result<Payload, ErrorInfo> {
    let text = serde_json::to_string(result);
    text.map(Payload::trusted).map_err(|error| fault(Code::Internal, error.to_string()))
}

/// The specification's AgentRegistration, without endpoints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registration {
    id: String,
    name: Option<String>,
    capabilities: Option<Vec<Declared>>,
    status: Option<String>,
    #[serde(default)]
    metadata: Object,
    auth_token: Option<String>,
}

pub(crate) fn register(parameters: &Payload) -> Result<Join, ErrorInfo> {
    let given: Registration = read(parameters)?;
    let agent = AgentId::parse(&given.id).map_err(|error| wrong(format!("id: {error}")))?;
    let token = given.auth_token.or_else(|| given.metadata.text("authToken"));
    let version = given.metadata.text("version").unwrap_or_default();
    let name = given.name.unwrap_or_else(|| agent.to_string());
    Ok(Join {
        capabilities: given.capabilities,
        token: token.map(Secret::new),
        wants_token: true,
        status: given.status.as_deref().map(status).transpose()?,
        heartbeats: true,
        ..Join::of(agent, name, version)
    })
}

fn status(text: &str) -> Result<AgentStatus, ErrorInfo> {
    AgentStatus::parse(text).ok_or_else(|| {
        let known = AgentStatus::ALL.map(AgentStatus::as_str).join(", ");
        wrong(format!("status {text:?} is not one of: {known}"))
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegistrationView<'a> {
    id: &'a str,
    name: &'a str,
    capabilities: Vec<&'a str>,
    status: AgentStatus,
    metadata: RegistrationMetadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegistrationMetadata<'a> {
    version: &'a str,
    started_at: Timestamp,
}

/// What a registered agent is told, with the token that it needs the next time.
pub(crate) fn registered(
    join: &Join,
    agent: &AgentId,
    token: Option<&Secret>,
) -> Result<Payload, ErrorInfo> {
    let capabilities = join.capabilities.iter().flatten().map(Declared::name);
    written(&RegistrationView {
        id: agent.as_str(),
        name: &join.name,
        capabilities: capabilities.collect(),
        status: join.status.unwrap_or(AgentStatus::Ready),
        metadata: RegistrationMetadata { version: &join.version, started_at: now() },
        auth_token: token.map(Secret::reveal),
    })
}

/// The specification's SubscriptionRequest.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Subscription {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subscriber_id: Option<String>,
    topics: Vec<String>,
    #[serde(default, skip_serializing)]
    filter: Option<Filter>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Filter {
    from_agents: Option<Vec<AgentId>>,
    priority: Option<Vec<PriorityText>>,
    content_match: Option<String>,
}

/// Topics to listen to, and which messages on them.
pub(crate) struct Topics {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) filter: Option<Arc<ListenFilter>>,
}

pub(crate) fn topics(parameters: &Payload, agent: &AgentId) -> Result<Topics, ErrorInfo> {
    let given: Subscription = read(parameters)?;
    let alias = agent.alias().to_string();
    if given.subscriber_id.as_ref().is_some_and(|id| id != agent.as_str() && *id != alias) {
        let words = "subscriberId names another agent: nobody can subscribe for another";
        return Err(fault(Code::Forbidden, words));
    }
    if given.topics.is_empty() {
        return Err(wrong("topics is empty: name at least one"));
    }
    let pattern = |text: &String| {
        Pattern::parse(text).map_err(|error| wrong(format!("topic {text:?}: {error}")))
    };
    let patterns = given.topics.iter().map(pattern).collect::<Result<_, _>>()?;
    Ok(Topics { patterns, filter: given.filter.map(filter).transpose()?.map(Arc::new) })
}

fn filter(given: Filter) -> Result<ListenFilter, ErrorInfo> {
    let read = |list: Vec<PriorityText>| list.iter().map(|one| priority(Some(one))).collect();
    let content_match = given.content_match.as_deref().map(Expression::parse).transpose();
    Ok(ListenFilter {
        from_agents: given.from_agents,
        priority: given.priority.map(read).transpose()?,
        content_match: content_match.map_err(|error| wrong(error.to_string()))?,
    })
}

impl Topics {
    /// Observers, because an event is told to everyone who listens.
    pub(crate) fn subscribe(&self) -> Vec<Command> {
        let one = |pattern: &Pattern| Command::Subscribe {
            pattern: pattern.clone(),
            policy: Some(Policy::ContinueAll),
            filter: self.filter.clone(),
        };
        self.patterns.iter().map(one).collect()
    }

    pub(crate) fn unsubscribe(&self) -> Vec<Command> {
        let one = |pattern: &Pattern| Command::Unsubscribe { pattern: pattern.clone() };
        self.patterns.iter().map(one).collect()
    }

    /// The request, as it stands from now on.
    pub(crate) fn written(&self, agent: &AgentId) -> Result<Payload, ErrorInfo> {
        let topics: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
        let filter = self.filter.as_deref();
        let mut view = serde_json::json!({ "subscriberId": agent, "topics": topics });
        if let (Some(filter), Some(map)) = (filter, view.as_object_mut()) {
            map.insert("filter".to_owned(), serde_json::to_value(filter).unwrap_or_default());
        }
        written(&view)
    }
}

/// The specification's CapabilityQuery.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapabilityQuery {
    #[serde(default)]
    required_capabilities: Vec<String>,
    #[serde(default)]
    preferred_capabilities: Vec<String>,
    #[serde(default)]
    keywords: Vec<String>,
}

pub(crate) fn find(parameters: &Payload) -> Result<Command, ErrorInfo> {
    let query: CapabilityQuery = read(parameters)?;
    Ok(Command::Find(Find {
        required: query.required_capabilities,
        preferred: query.preferred_capabilities,
        keywords: query.keywords,
    }))
}

pub(crate) fn found(agents: &[Found]) -> Result<Payload, ErrorInfo> {
    let view = |one: &'_ Found| {
        serde_json::json!({
            "id": one.agent,
            "name": one.name,
            "capabilities": one.capabilities.iter().map(|capability| &capability.name).collect::<Vec<_>>(),
            "status": one.status,
            "metadata": { "version": one.version, "startedAt": one.since },
        })
    };
    written(&agents.iter().map(view).collect::<Vec<_>>())
}

#[derive(Deserialize)]
struct StatusChange {
    status: String,
}

pub(crate) fn set_status(parameters: &Payload) -> Result<AgentStatus, ErrorInfo> {
    let change: StatusChange = read(parameters)?;
    status(&change.status)
}

#[derive(Deserialize)]
struct CapabilityChange {
    #[serde(default)]
    capabilities: Vec<Declared>,
    #[serde(default)]
    withdrawn: Vec<String>,
}

pub(crate) fn declare(parameters: &Payload) -> Result<Command, ErrorInfo> {
    let change: CapabilityChange = read(parameters)?;
    let CapabilityChange { capabilities, withdrawn } = change;
    Ok(Command::Declare { capabilities, withdrawn })
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SessionText {
    id: Option<String>,
    session_id: Option<String>,
    participants: Vec<AgentId>,
    context: Option<SessionContext>,
    topic: Option<String>,
    shared_state: Option<Object>,
    status: Option<String>,
    #[serde(alias = "version")]
    expected_version: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SessionContext {
    topic: Option<String>,
    shared_state: Option<Object>,
}

impl SessionText {
    fn id(&self) -> Result<Option<ConversationId>, ErrorInfo> {
        let text = self.session_id.as_ref().or(self.id.as_ref());
        let parse = |text: &String| {
            ConversationId::parse(text).ok_or_else(|| wrong("sessionId is no id of a session"))
        };
        text.map(parse).transpose()
    }

    fn needed_id(&self) -> Result<ConversationId, ErrorInfo> {
        self.id()?.ok_or_else(|| wrong("sessionId is missing"))
    }
}

pub(crate) fn open_session(parameters: &Payload) -> Result<Command, ErrorInfo> {
    let given: SessionText = read(parameters)?;
    let id = given.id()?;
    let context = given.context.unwrap_or_default();
    Ok(Command::OpenSession(NewSession {
        id,
        participants: given.participants,
        topic: context.topic.or(given.topic).unwrap_or_default(),
        shared_state: context.shared_state.or(given.shared_state).unwrap_or_default(),
    }))
}

pub(crate) fn update_session(parameters: &Payload) -> Result<Command, ErrorInfo> {
    let given: SessionText = read(parameters)?;
    let id = given.needed_id()?;
    let status = given.status.as_deref().map(|text| {
        SessionStatus::parse(text).ok_or_else(|| {
            let known = SessionStatus::ALL.map(SessionStatus::as_str).join(", ");
            wrong(format!("status {text:?} is not one of: {known}"))
        })
    });
    let context = given.context.unwrap_or_default();
    Ok(Command::UpdateSession(SessionUpdate {
        id,
        shared_state: given.shared_state.or(context.shared_state).unwrap_or_default(),
        status: status.transpose()?,
        participants: given.participants,
        expected_version: given.expected_version,
    }))
}

pub(crate) fn close_session(parameters: &Payload) -> Result<Command, ErrorInfo> {
    let given: SessionText = read(parameters)?;
    Ok(Command::UpdateSession(SessionUpdate {
        id: given.needed_id()?,
        shared_state: Object::default(),
        status: Some(SessionStatus::Completed),
        participants: Vec::new(),
        expected_version: given.expected_version,
    }))
}

/// The specification's ConversationSession, with the version that a careful writer gives back.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionView<'a> {
    id: &'a ConversationId,
    participants: &'a [AgentId],
    started_at: Timestamp,
    context: SessionContextView<'a>,
    status: SessionStatus,
    version: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionContextView<'a> {
    topic: &'a str,
    shared_state: &'a Object,
    message_history: &'a [MessageSummary],
}

pub(crate) fn session(reply: Reply) -> Result<Payload, ErrorInfo> {
    let session: Session =
        reply.session().ok_or_else(|| fault(Code::Internal, "an answer of another kind"))?;
    written(&SessionView {
        id: &session.id,
        participants: &session.participants,
        started_at: session.started_at,
        context: SessionContextView {
            topic: &session.topic,
            shared_state: &session.shared_state,
            message_history: &session.history,
        },
        status: session.status,
        version: session.version,
    })
}
