//! Who is known and who is connected. `connection` is what one holds, `control` what the operator says of an agent, `mailboxes` what waits for those who have none,
//! `offers` what an agent can do, `presence` whether it is there, `noted` what is written down of that, `tokens` how it proves who it is, `views` what the operator sees.

mod connection;
mod control;
mod mailboxes;
mod noted;
mod offers;
mod presence;
mod tokens;
mod views;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentStatus, ConnectionId, Door, Join, SubscriptionId, Timestamp,
};
use switchboard_store::{AgentRecord, TokenRecord};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::broker::{Cut, Outgoing};
use crate::clock::Now;
use crate::identity::Token;
use crate::numbers::ByNumber;
use crate::queue::Line;
use crate::subscriptions::Subscription;
pub(crate) use connection::Connection;
pub(crate) use offers::{Offer, Offers};
pub(crate) use presence::Available;
use presence::Pulse;

/// What the schemas of all agents may come to, as text: compiled they are many times larger.
const ALL_SCHEMA_BYTES: usize = 8 << 20;

/// Everyone the broker ever heard of, and every live connection.
#[derive(Default)]
pub(crate) struct Registry {
    agents: BTreeMap<AgentId, Agent>,
    connections: ByNumber<ConnectionId, Connection>,
    /// Agents whose view has changed since it was last shown.
    changed: HashSet<AgentId>,
    /// Agents of which only something was counted since, in the order in which they will be shown again.
    counted: VecDeque<AgentId>,
    /// Agents of which it may not be written down yet whether they can take messages.
    unnoted: HashSet<AgentId>,
    /// Agents by their other names.
    aliases: HashMap<Uuid, AgentId>,
    /// Agents by the hashes of their tokens.
    owners: HashMap<[u8; 32], AgentId>,
}

/// An agent, connected or not.
struct Agent {
    record: AgentRecord,
    offers: Offers,
    connections: Vec<ConnectionId>,
    /// Since when it is connected.
    since: Timestamp,
    sent: u64,
    received: u64,
    token: Option<Token>,
    /// Someone has announced it lately, and is believed.
    announced: bool,
    /// Rings when something comes for its mailbox.
    bell: Option<watch::Sender<u64>>,
    /// Whether it takes requests, as it last said.
    status: AgentStatus,
    pulse: Pulse,
    /// Whether it could take messages, as that was last written down, and when.
    noted: (AgentStatus, Timestamp),
    /// Whether it stands in the line of those of which something was counted.
    counted: bool,
}

impl Agent {
    fn known(record: AgentRecord) -> Self {
        Self {
            since: record.last_seen,
            record,
            offers: Offers::default(),
            connections: Vec::new(),
            sent: 0,
            received: 0,
            token: None,
            announced: false,
            bell: None,
            status: AgentStatus::Ready,
            pulse: Pulse::default(),
            // Nobody was there while the broker did not run.
            noted: (AgentStatus::Unavailable, Timestamp(0)),
            counted: false,
        }
    }
}

impl Registry {
    /// Everyone who was known when the broker last ran.
    pub(crate) fn restore(records: Vec<AgentRecord>, tokens: &[TokenRecord]) -> Self {
        let mut registry = Self::default();
        for mut record in records {
            let capabilities = record.capabilities.take().unwrap_or_default();
            let mut agent = Agent::known(record);
            agent.offers = Offers::restore(capabilities);
            if agent.record.mailbox {
                registry.unnoted.insert(agent.record.id.clone());
            }
            registry.add(agent);
        }
        for token in tokens {
            if let Some(agent) = registry.agents.get_mut(&token.agent) {
                agent.token = Some(Token::restore(token));
                registry.owners.insert(token.hash, token.agent.clone());
            }
        }
        registry
    }

    /// The agent of that id; this one if there is none.
    fn add(&mut self, agent: Agent) -> &mut Agent {
        let id = agent.record.id.clone();
        self.aliases.insert(id.alias(), id.clone());
        self.agents.entry(id).or_insert(agent)
    }

    pub(crate) fn connect(
        &mut self,
        id: ConnectionId,
        door: Door,
        from: Option<IpAddr>,
        outbox: mpsc::Sender<Outgoing>,
        cut: watch::Sender<Option<Cut>>,
    ) {
        let connection = Connection {
            door,
            from,
            agent: None,
            visiting: false,
            outbox,
            cut,
            subscriptions: Vec::new(),
            line: Line::default(),
            loading: false,
            held: Vec::new(),
        };
        self.connections.insert(id, connection);
    }

    /// The agent of this name, which may be its alias.
    pub(crate) fn resolve(&self, id: &AgentId) -> AgentId {
        if self.agents.contains_key(id) {
            return id.clone();
        }
        let Ok(alias) = Uuid::parse_str(id.as_str()) else { return id.clone() };
        // The broker's own names have aliases too.
        let own = || {
            [AgentId::operator(), AgentId::switchboard()]
                .into_iter()
                .find(|own| own.alias() == alias)
        };
        self.aliases.get(&alias).cloned().or_else(own).unwrap_or_else(|| id.clone())
    }

    /// Whether this name is the other name of an agent that is known by its first.
    pub(crate) fn is_named_by_another(&self, id: &AgentId) -> bool {
        self.aliases.get(&id.alias()).is_some_and(|known| known != id)
    }

    /// Makes an agent known, or known better. Returns what is to be remembered of it.
    pub(crate) fn introduce(
        &mut self,
        join: &Join,
        door: Door,
        offers: Option<Offers>,
        now: Now,
    ) -> AgentRecord {
        let wall = now.wall;
        self.changed.insert(join.agent.clone());
        let agent = self.add(Agent::known(AgentRecord {
            id: join.agent.clone(),
            name: String::new(),
            version: String::new(),
            door,
            declared_by: None,
            mailbox: false,
            label: None,
            blocked: false,
            capabilities: None,
            first_seen: wall,
            last_seen: wall,
        }));
        // Who comes back with no more than its token is known already.
        if !join.name.is_empty() {
            agent.record.name.clone_from(&join.name);
            agent.record.version.clone_from(&join.version);
        }
        agent.record.door = door;
        agent.hear(now);
        // Another connection says nothing of whether it is busy, unless it does.
        if join.status.is_some() || agent.connections.is_empty() {
            agent.status = join.status.unwrap_or(AgentStatus::Ready);
        }
        let capabilities = offers.map(|offers| {
            agent.record.declared_by = Some(door);
            let capabilities = offers.capabilities();
            agent.offers = offers;
            capabilities
        });
        AgentRecord { capabilities, ..agent.record.clone() }
    }

    /// Makes a connection speak for an agent that is known.
    pub(crate) fn bind(
        &mut self,
        id: ConnectionId,
        agent: &AgentId,
        promised: bool,
        now: Timestamp,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.agent = Some(agent.clone());
        if let Some(known) = self.agents.get_mut(agent) {
            if known.connections.is_empty() {
                known.since = now;
                known.pulse.promised = false;
            }
            known.pulse.promised |= promised;
            known.connections.push(id);
        }
        self.changed.insert(agent.clone());
    }

    /// Remembers what an agent can do from now on.
    pub(crate) fn declare(
        &mut self,
        id: &AgentId,
        door: Door,
        offers: Offers,
    ) -> Option<AgentRecord> {
        let agent = self.agents.get_mut(id)?;
        agent.record.declared_by = Some(door);
        let capabilities = Some(offers.capabilities());
        agent.offers = offers;
        self.changed.insert(id.clone());
        Some(AgentRecord { capabilities, ..agent.record.clone() })
    }

    /// Whether there is room for what an agent would declare, beside what all others have.
    pub(crate) fn has_room_for(&self, id: &AgentId, offers: &Offers) -> bool {
        let others = self.agents.values().filter(|agent| agent.record.id != *id);
        let bytes: usize = others.map(|agent| agent.offers.schema_bytes()).sum();
        offers.schema_bytes() == 0 || bytes + offers.schema_bytes() <= ALL_SCHEMA_BYTES
    }

    /// What an agent can do.
    pub(crate) fn offers(&self, id: &AgentId) -> Option<&Offers> {
        self.agents.get(id).map(|agent| &agent.offers)
    }

    /// The door by which an agent said what it can do.
    pub(crate) fn declared_by(&self, id: &AgentId) -> Option<Door> {
        self.agents.get(id)?.record.declared_by
    }

    /// The connections that speak for an agent.
    pub(crate) fn connections_of(&self, id: &AgentId) -> Vec<ConnectionId> {
        self.agents.get(id).map_or_else(Vec::new, |agent| agent.connections.clone())
    }

    /// The same, with those that only visit.
    pub(crate) fn all_connections_of(&self, id: &AgentId) -> Vec<ConnectionId> {
        let speaks = |one: &Connection| one.agent.as_ref() == Some(id);
        self.connections.iter().filter(|(_, one)| speaks(one)).map(|(id, _)| *id).collect()
    }

    /// Tells the door of a connection to end it.
    pub(crate) fn cut(&self, id: ConnectionId, why: Cut) {
        if let Some(connection) = self.connections.get(&id) {
            connection.cut.send_replace(Some(why));
        }
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

    pub(crate) fn count_received(&mut self, id: &AgentId) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.received += 1;
            agent.count(&mut self.counted);
        }
    }
}
