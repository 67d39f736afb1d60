//! Mailboxes: what waits for agents that have no connection.

use switchboard_model::{AgentId, ConnectionId, Door, Join};
use switchboard_store::AgentRecord;
use tokio::sync::watch;

use super::{Agent, Offers, Registry};
use crate::clock::Now;

impl Registry {
    /// A connection speaks for an agent, which is no more connected for it.
    pub(crate) fn visit(&mut self, id: ConnectionId, agent: &AgentId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.agent = Some(agent.clone());
            connection.visiting = true;
        }
    }

    /// Messages for this agent wait until it fetches them. Returns what is to be remembered, if that is
    /// new.
    pub(crate) fn open_mailbox(&mut self, id: &AgentId) -> Option<AgentRecord> {
        self.set_mailbox(id, true)
    }

    /// The agent is connected, and gets its messages there.
    pub(crate) fn close_mailbox(&mut self, id: &AgentId) -> Option<AgentRecord> {
        self.set_mailbox(id, false)
    }

    fn set_mailbox(&mut self, id: &AgentId, open: bool) -> Option<AgentRecord> {
        let agent = self.agents.get_mut(id).filter(|agent| agent.record.mailbox != open)?;
        agent.record.mailbox = open;
        self.changed.insert(id.clone());
        Some(agent.record.clone())
    }

    pub(crate) fn has_mailbox(&self, id: &AgentId) -> bool {
        self.agents.get(id).is_some_and(|agent| agent.record.mailbox)
    }

    /// Someone has announced this agent and is believed, or is so no longer. Returns whether that is new.
    pub(crate) fn set_announced(&mut self, id: &AgentId, announced: bool) -> bool {
        let Some(agent) = self.agents.get_mut(id).filter(|one| one.announced != announced) else {
            return false;
        };
        agent.announced = announced;
        self.changed.insert(id.clone());
        true
    }

    /// Makes an announced agent known, or known better; by which door it came last stays as it was.
    pub(crate) fn introduce_announced(
        &mut self,
        join: &Join,
        offers: Offers,
        now: Now,
    ) -> AgentRecord {
        let known = self.agents.get(&join.agent).map(|agent| {
            let record = &agent.record;
            (record.door, record.name.clone(), record.version.clone())
        });
        let Some((door, name, version)) = known else {
            return self.introduce(join, Door::Discovery, Some(offers), now);
        };
        let join = Join { name, version, ..join.clone() };
        self.introduce(&join, door, Some(offers), now)
    }

    /// Whether an agent is connected, fetches its messages, or was announced.
    pub(crate) fn is_here(&self, id: &AgentId) -> bool {
        let here = |agent: &Agent| {
            !agent.connections.is_empty() || agent.record.mailbox || agent.announced
        };
        self.agents.get(id).is_some_and(here)
    }

    /// How many agents with mailboxes own no token.
    pub(crate) fn unowned_mailboxes(&self) -> usize {
        let unowned = |agent: &&Agent| agent.record.mailbox && agent.token.is_none();
        self.agents.values().filter(unowned).count()
    }

    /// What rings when something comes for an agent. One that nobody knows never rings.
    pub(crate) fn bell(&mut self, id: &AgentId) -> watch::Receiver<u64> {
        let bell = || watch::channel(0).0;
        match self.agents.get_mut(id) {
            Some(agent) => agent.bell.get_or_insert_with(bell).subscribe(),
            None => bell().subscribe(),
        }
    }

    /// Something has come for an agent.
    pub(crate) fn ring(&self, id: &AgentId) {
        if let Some(bell) = self.agents.get(id).and_then(|agent| agent.bell.as_ref()) {
            bell.send_modify(|rung| *rung += 1);
        }
    }
}
