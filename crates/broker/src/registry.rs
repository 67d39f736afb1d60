//! Who is known, who is connected, and what each connection holds. `offers` is what they can do.

mod offers;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    AgentId, AgentStatus, AgentView, ConnectionId, DeliveryId, Door, Join, SubscriptionId,
    SubscriptionView, Timestamp, Topic,
};
use switchboard_store::{AgentRecord, TokenRecord};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use uuid::Uuid;

use crate::broker::{Cut, Outgoing};
use crate::clock::Now;
use crate::identity::Token;
use crate::parking::Parking;
use crate::queue::Line;
use crate::subscriptions::Subscription;
pub(crate) use offers::{Offer, Offers};

/// Everyone the broker ever heard of, and every live connection.
#[derive(Default)]
pub(crate) struct Registry {
    agents: BTreeMap<AgentId, Agent>,
    connections: HashMap<ConnectionId, Connection>,
    /// Agents whose view has changed since it was last shown.
    changed: HashSet<AgentId>,
    /// Agents by their other names.
    aliases: HashMap<Uuid, AgentId>,
}

/// An agent, connected or not.
struct Agent {
    record: AgentRecord,
    offers: Offers,
    connections: Vec<ConnectionId>,
    /// It registered without a connection: what is for it waits, and it counts as there.
    mailbox: bool,
    /// Since when it is connected.
    since: Timestamp,
    sent: u64,
    received: u64,
    token: Option<Token>,
    /// Whether it takes requests, as it last said.
    status: AgentStatus,
    pulse: Pulse,
}

/// Whether an agent is heard of as it promised.
#[derive(Clone, Copy, Default)]
struct Pulse {
    promised: bool,
    heard: Option<(Instant, Timestamp)>,
    /// It has not been heard of for too long, or left a request unanswered.
    lost: bool,
}

impl Agent {
    fn known(record: AgentRecord) -> Self {
        Self {
            since: record.last_seen,
            record,
            offers: Offers::default(),
            connections: Vec::new(),
            mailbox: false,
            sent: 0,
            received: 0,
            token: None,
            status: AgentStatus::Ready,
            pulse: Pulse::default(),
        }
    }

    fn hear(&mut self, now: Now) {
        self.record.last_seen = now.wall;
        self.pulse.heard = Some((now.monotonic, now.wall));
        self.pulse.lost = false;
    }
}

/// An agent that can be found.
pub(crate) struct Available<'a> {
    pub(crate) record: &'a AgentRecord,
    pub(crate) offers: &'a Offers,
    pub(crate) status: AgentStatus,
    pub(crate) since: Timestamp,
}

/// A live connection.
pub(crate) struct Connection {
    pub(crate) door: Door,
    /// Where the other end is; none if it is in this program.
    pub(crate) from: Option<IpAddr>,
    pub(crate) agent: Option<AgentId>,
    pub(crate) outbox: mpsc::Sender<Outgoing>,
    cut: watch::Sender<Option<Cut>>,
    pub(crate) subscriptions: Vec<Arc<Subscription>>,
    pub(crate) line: Line,
    /// What it gets next is being read from disk.
    pub(crate) loading: bool,
    /// Requests that wait until it is no longer busy, in their order.
    pub(crate) held: Vec<DeliveryId>,
}

impl Connection {
    /// Deliveries that wait for their turn here.
    pub(crate) fn waiting(&self) -> usize {
        self.line.waiting() + self.held.len()
    }

    /// Everything that is in its line, in its hands, or held back.
    pub(crate) fn all(&self) -> Vec<DeliveryId> {
        let mut all = self.line.all();
        all.extend(&self.held);
        all.sort_unstable();
        all
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
            registry.add(agent);
        }
        for token in tokens {
            if let Some(agent) = registry.agents.get_mut(&token.agent) {
                agent.token = Some(Token::restore(token));
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
        let alias = Uuid::parse_str(id.as_str()).ok();
        alias.and_then(|alias| self.aliases.get(&alias)).unwrap_or(id).clone()
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
        agent.status = join.status.unwrap_or(AgentStatus::Ready);
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
            known.mailbox = false;
            known.pulse.promised |= promised;
            known.connections.push(id);
        }
        self.changed.insert(agent.clone());
    }

    /// An agent has registered and nobody speaks for it: its messages wait for it.
    pub(crate) fn open_mailbox(&mut self, id: &AgentId) {
        if let Some(agent) = self.agents.get_mut(id).filter(|agent| agent.connections.is_empty()) {
            agent.mailbox = true;
            self.changed.insert(id.clone());
        }
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

    /// What an agent can do.
    pub(crate) fn offers(&self, id: &AgentId) -> Option<&Offers> {
        self.agents.get(id).map(|agent| &agent.offers)
    }

    /// The door by which an agent said what it can do.
    pub(crate) fn declared_by(&self, id: &AgentId) -> Option<Door> {
        self.agents.get(id)?.record.declared_by
    }

    pub(crate) fn token(&self, id: &AgentId) -> Option<&Token> {
        self.agents.get(id)?.token.as_ref()
    }

    /// Gives an agent a token. Returns whether it had one that worked.
    pub(crate) fn set_token(&mut self, id: &AgentId, token: Token) -> bool {
        let Some(agent) = self.agents.get_mut(id) else { return false };
        self.changed.insert(id.clone());
        agent.token.replace(token).is_some_and(|old| !old.is_revoked())
    }

    /// Takes an agent's token away. Returns whether there was one that worked.
    pub(crate) fn revoke_token(&mut self, id: &AgentId, now: Timestamp) -> bool {
        let token = self.agents.get_mut(id).and_then(|agent| agent.token.as_mut());
        match token.filter(|token| !token.is_revoked()) {
            Some(token) => {
                token.revoke(now);
                self.changed.insert(id.clone());
                true
            }
            None => false,
        }
    }

    /// The connections that speak for an agent.
    pub(crate) fn connections_of(&self, id: &AgentId) -> Vec<ConnectionId> {
        self.agents.get(id).map_or_else(Vec::new, |agent| agent.connections.clone())
    }

    /// Tells the door of a connection to end it.
    pub(crate) fn cut(&self, id: ConnectionId, why: Cut) {
        if let Some(connection) = self.connections.get(&id) {
            connection.cut.send_replace(Some(why));
        }
    }

    /// What an agent says of itself. Returns what it said before.
    pub(crate) fn set_status(&mut self, id: &AgentId, status: AgentStatus) -> Option<AgentStatus> {
        let agent = self.agents.get_mut(id)?;
        self.changed.insert(id.clone());
        Some(std::mem::replace(&mut agent.status, status))
    }

    /// Whether an agent said that it is busy.
    pub(crate) fn says_busy(&self, id: &AgentId) -> bool {
        self.agents.get(id).is_some_and(|agent| agent.status == AgentStatus::Busy)
    }

    /// An agent has left a request unanswered: it counts as unavailable until it is heard of.
    pub(crate) fn lose(&mut self, id: &AgentId) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.pulse.lost = true;
            self.changed.insert(id.clone());
        }
    }

    /// Those who promised to be heard of and were not for so long count as unavailable.
    pub(crate) fn check_pulses(&mut self, patience: Duration, now: Instant) -> Vec<AgentId> {
        let mut lost = Vec::new();
        for (id, agent) in &mut self.agents {
            let pulse = &mut agent.pulse;
            let silent = pulse.heard.is_some_and(|(at, _)| at + patience <= now);
            if pulse.promised && !pulse.lost && silent && !agent.connections.is_empty() {
                pulse.lost = true;
                lost.push(id.clone());
            }
        }
        self.changed.extend(lost.iter().cloned());
        lost
    }

    /// Agents that can be found now, with what is known of them.
    pub(crate) fn available(&self) -> impl Iterator<Item = Available<'_>> {
        self.agents.values().filter_map(|agent| {
            let status = self.status(agent);
            (status != AgentStatus::Unavailable).then_some(Available {
                record: &agent.record,
                offers: &agent.offers,
                status,
                since: agent.since,
            })
        })
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

    /// An agent was heard of.
    pub(crate) fn touch(&mut self, id: &AgentId, now: Now) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.hear(now);
            self.mark_changed(id);
        }
    }

    pub(crate) fn count_sent(&mut self, id: &AgentId, now: Now) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.hear(now);
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
        let in_line: usize = live().map(|one| one.waiting() + one.line.in_flight()).sum();
        let parked = parking.count(&Topic::of_agent(&agent.record.id));
        AgentView {
            id: agent.record.id.clone(),
            name: agent.record.name.clone(),
            version: agent.record.version.clone(),
            doors,
            status: self.status(agent),
            capabilities: agent.offers.capabilities(),
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
            alias: agent.record.id.alias().to_string(),
            token: agent.token.as_ref().map(Token::view),
            heartbeat_at: agent.pulse.heard.filter(|_| agent.pulse.promised).map(|(_, at)| at),
        }
    }

    /// What it says of itself; busy is also an agent with more waiting than it may hold.
    fn status(&self, agent: &Agent) -> AgentStatus {
        let is_away = agent.connections.is_empty() && !agent.mailbox;
        if is_away || agent.pulse.lost {
            return AgentStatus::Unavailable;
        }
        let waits =
            |id| self.connections.get(id).is_some_and(|one: &Connection| one.line.waiting() > 0);
        let is_loaded = agent.connections.iter().any(waits);
        if is_loaded && agent.status == AgentStatus::Ready {
            AgentStatus::Busy
        } else {
            agent.status
        }
    }
}

fn subscription_view(subscription: &Subscription) -> SubscriptionView {
    SubscriptionView {
        id: subscription.id,
        pattern: subscription.pattern.to_string(),
        policy: subscription.policy,
        filter: subscription.filter.as_deref().cloned(),
        since: subscription.since,
    }
}
