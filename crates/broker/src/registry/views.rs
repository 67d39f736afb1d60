//! Agents as the operator sees them.

use switchboard_model::{AgentId, AgentView, Door, SubscriptionView, Topic};

use super::{Agent, Registry};
use crate::identity::Token;
use crate::parking::Parking;
use crate::subscriptions::Subscription;

impl Registry {
    /// Agents whose view has changed since this was last asked, with what is to be remembered.
    pub(crate) fn take_changed(&mut self, parking: &Parking) -> Vec<AgentView> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|id| Some(self.view(self.agents.get(id)?, parking))).collect()
    }

    pub(crate) fn views(&self, parking: &Parking) -> Vec<AgentView> {
        self.agents.values().map(|agent| self.view(agent, parking)).collect()
    }

    /// One agent as it is now.
    pub(crate) fn view_of(&self, id: &AgentId, parking: &Parking) -> Option<AgentView> {
        self.agents.get(id).map(|agent| self.view(agent, parking))
    }

    fn view(&self, agent: &Agent, parking: &Parking) -> AgentView {
        let live = || agent.connections.iter().filter_map(|id| self.connections.get(id));
        let mut doors: Vec<Door> = live().map(|connection| connection.door).collect();
        if agent.record.mailbox {
            doors.push(Door::Aacp);
        }
        if agent.announced {
            doors.push(Door::Discovery);
        }
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
            label: agent.record.label.as_ref().map(ToString::to_string),
            blocked: agent.record.blocked,
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
