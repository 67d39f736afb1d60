//! Who is there: heard of as promised, ready or busy, to be found or not.

use std::time::Duration;

use switchboard_model::{AgentId, AgentStatus, Timestamp};
use switchboard_store::AgentRecord;
use tokio::time::Instant;

use super::{Agent, Connection, Offers, Registry};
use crate::clock::Now;

/// Whether an agent is heard of as it promised.
#[derive(Clone, Copy, Default)]
pub(super) struct Pulse {
    pub(super) promised: bool,
    pub(super) heard: Option<(Instant, Timestamp)>,
    /// It has not been heard of for too long, or left a request unanswered.
    pub(super) lost: bool,
}

/// An agent that can be found.
pub(crate) struct Available<'a> {
    pub(crate) record: &'a AgentRecord,
    pub(crate) offers: &'a Offers,
    pub(crate) status: AgentStatus,
    pub(crate) since: Timestamp,
}

impl Agent {
    pub(super) fn hear(&mut self, now: Now) {
        self.record.last_seen = now.wall;
        self.pulse.heard = Some((now.monotonic, now.wall));
        self.pulse.lost = false;
    }

    /// Whether it can be reached at all, however busy it is.
    pub(super) fn is_available(&self) -> bool {
        let is_here = !self.connections.is_empty() || self.record.mailbox || self.announced;
        is_here && !self.pulse.lost && !self.record.blocked
    }
}

impl Registry {
    /// An agent was heard of.
    pub(crate) fn touch(&mut self, id: &AgentId, now: Now) {
        if let Some(agent) = self.agents.get_mut(id) {
            if agent.pulse.lost {
                self.changed.insert(id.clone());
            }
            agent.hear(now);
            agent.count(&mut self.counted);
        }
    }

    pub(crate) fn count_sent(&mut self, id: &AgentId, now: Now) {
        self.touch(id, now);
        if let Some(agent) = self.agents.get_mut(id) {
            agent.sent += 1;
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

    /// What it says of itself; busy is also an agent with more waiting than it may hold.
    pub(super) fn status(&self, agent: &Agent) -> AgentStatus {
        if !agent.is_available() {
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
