//! Who is known, who is connected, and what each connection holds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentStatus, AgentView, Capability, ConnectionId, Door, Join, SubscriptionId,
    SubscriptionView, Timestamp, Topic,
};
use switchboard_store::AgentRecord;
use tokio::sync::mpsc;

use crate::broker::Outgoing;
use crate::parking::Parking;
use crate::queue::Line;
use crate::subscriptions::Subscription;

/// Everyone the broker ever heard of, and every live connection.
#[derive(Default)]
pub(crate) struct Registry {
    agents: BTreeMap<AgentId, Agent>,
    connections: HashMap<ConnectionId, Connection>,
    /// Agents whose view has changed since it was last shown.
    changed: HashSet<AgentId>,
}

/// An agent, connected or not.
struct Agent {
    record: AgentRecord,
    capabilities: Vec<Capability>,
    connections: Vec<ConnectionId>,
    sent: u64,
    received: u64,
}

/// A live connection.
pub(crate) struct Connection {
    pub(crate) door: Door,
    pub(crate) agent: Option<AgentId>,
    pub(crate) outbox: mpsc::Sender<Outgoing>,
    pub(crate) subscriptions: Vec<Arc<Subscription>>,
    pub(crate) line: Line,
    /// What it gets next is being read from disk.
    pub(crate) loading: bool,
}

impl Registry {
    /// Everyone who was known when the broker last ran.
    pub(crate) fn restore(records: Vec<AgentRecord>) -> Self {
        let agents = records.into_iter().map(|mut record| {
            let capabilities = record.capabilities.take().unwrap_or_default();
            let agent =
                Agent { capabilities, connections: Vec::new(), sent: 0, received: 0, record };
            (agent.record.id.clone(), agent)
        });
        Self { agents: agents.collect(), ..Self::default() }
    }

    pub(crate) fn connect(&mut self, id: ConnectionId, door: Door, outbox: mpsc::Sender<Outgoing>) {
        let subscriptions = Vec::new();
        let line = Line::default();
        let (agent, loading) = (None, false);
        self.connections
            .insert(id, Connection { door, agent, outbox, subscriptions, line, loading });
    }

    /// Makes a connection speak for an agent. Returns what is to be remembered of the agent.
    pub(crate) fn join(
        &mut self,
        id: ConnectionId,
        join: Join,
        now: Timestamp,
    ) -> Option<AgentRecord> {
        let connection = self.connections.get_mut(&id)?;
        connection.agent = Some(join.agent.clone());
        let door = connection.door;
        let agent = self.agents.entry(join.agent.clone()).or_insert_with(|| Agent {
            record: AgentRecord {
                id: join.agent.clone(),
                name: String::new(),
                version: String::new(),
                door,
                capabilities: None,
                first_seen: now,
                last_seen: now,
            },
            capabilities: Vec::new(),
            connections: Vec::new(),
            sent: 0,
            received: 0,
        });
        agent.record.name = join.name;
        agent.record.version = join.version;
        agent.record.door = door;
        agent.record.last_seen = now;
        agent.connections.push(id);
        if let Some(capabilities) = &join.capabilities {
            agent.capabilities.clone_from(capabilities);
        }
        self.changed.insert(join.agent);
        Some(AgentRecord { capabilities: join.capabilities, ..agent.record.clone() })
    }

    /// Forgets a connection. Its agent stays known.
    pub(crate) fn disconnect(&mut self, id: ConnectionId, now: Timestamp) -> Option<Connection> {
        let connection = self.connections.remove(&id)?;
        if let Some(agent) = connection.agent.as_ref().and_then(|id| self.agents.get_mut(id)) {
            agent.connections.retain(|one| *one != id);
            agent.record.last_seen = now;
            self.changed.insert(agent.record.id.clone());
        }
        Some(connection)
    }

    pub(crate) fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id)
    }

    pub(crate) fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(&id)
    }

    /// Who is connected, and by which subscriptions they listen.
    pub(crate) fn connected(&self) -> (Vec<AgentId>, Vec<SubscriptionId>) {
        let live = || self.connections.values();
        let agents = live().filter_map(|one| one.agent.clone()).collect();
        let subscriptions = live().flat_map(|one| &one.subscriptions).map(|one| one.id).collect();
        (agents, subscriptions)
    }

    pub(crate) fn knows(&self, id: &AgentId) -> bool {
        self.agents.contains_key(id)
    }

    /// Whether any connection speaks for this agent.
    pub(crate) fn is_connected(&self, id: &AgentId) -> bool {
        self.agents.get(id).is_some_and(|agent| !agent.connections.is_empty())
    }

    /// What an agent is called, and by which door it last came.
    pub(crate) fn introduction(&self, id: &AgentId) -> Option<(&str, Door)> {
        self.agents.get(id).map(|agent| (agent.record.name.as_str(), agent.record.door))
    }

    /// The newest live subscription of an agent that is wanted.
    pub(crate) fn subscription_of(
        &self,
        id: &AgentId,
        wanted: impl Fn(&Subscription) -> bool,
    ) -> Option<&Arc<Subscription>> {
        let live =
            self.agents.get(id)?.connections.iter().filter_map(|id| self.connections.get(id));
        let listens = live.flat_map(|one| &one.subscriptions).filter(|one| wanted(one));
        listens.max_by_key(|one| one.id)
    }

    pub(crate) fn touch(&mut self, id: &AgentId, now: Timestamp) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.record.last_seen = now;
            self.mark_changed(id);
        }
    }

    pub(crate) fn count_sent(&mut self, id: &AgentId, now: Timestamp) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.record.last_seen = now;
            agent.sent += 1;
            self.mark_changed(id);
        }
    }

    pub(crate) fn count_received(&mut self, id: &AgentId) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.received += 1;
            self.mark_changed(id);
        }
    }

    /// Its view is to be shown again.
    pub(crate) fn mark_changed(&mut self, id: &AgentId) {
        if !self.changed.contains(id) {
            self.changed.insert(id.clone());
        }
    }

    /// Agents whose view has changed since this was last asked, with what is to be remembered.
    pub(crate) fn take_changed(&mut self, parking: &Parking) -> Vec<AgentView> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|id| Some(self.view(self.agents.get(id)?, parking))).collect()
    }

    pub(crate) fn views(&self, parking: &Parking) -> Vec<AgentView> {
        self.agents.values().map(|agent| self.view(agent, parking)).collect()
    }

    fn view(&self, agent: &Agent, parking: &Parking) -> AgentView {
        let live = || agent.connections.iter().filter_map(|id| self.connections.get(id));
        let mut doors: Vec<Door> = live().map(|connection| connection.door).collect();
        doors.sort_unstable();
        doors.dedup();
        if doors.is_empty() {
            doors.push(agent.record.door);
        }
        let in_line: usize = live().map(|one| one.line.waiting() + one.line.in_flight()).sum();
        let parked = parking.count(&Topic::of_agent(&agent.record.id));
        AgentView {
            id: agent.record.id.clone(),
            name: agent.record.name.clone(),
            version: agent.record.version.clone(),
            doors,
            status: self.status(agent),
            capabilities: agent.capabilities.clone(),
            subscriptions: live()
                .flat_map(|one| &one.subscriptions)
                .map(|one| subscription_view(one))
                .collect(),
            connections: u32::try_from(agent.connections.len()).unwrap_or(u32::MAX),
            first_seen: agent.record.first_seen,
            last_seen: agent.record.last_seen,
            sent: agent.sent,
            received: agent.received,
            queued: (in_line + parked) as u64,
        }
    }

    /// Busy is an agent with more waiting than it may hold.
    fn status(&self, agent: &Agent) -> AgentStatus {
        if agent.connections.is_empty() {
            return AgentStatus::Unavailable;
        }
        let waits =
            |id| self.connections.get(id).is_some_and(|one: &Connection| one.line.waiting() > 0);
        if agent.connections.iter().any(waits) { AgentStatus::Busy } else { AgentStatus::Ready }
    }
}

fn subscription_view(subscription: &Subscription) -> SubscriptionView {
    SubscriptionView {
        id: subscription.id,
        pattern: subscription.pattern.to_string(),
        policy: subscription.policy,
        since: subscription.since,
    }
}
