//! Agents as the operator sees them.

use std::collections::VecDeque;

use switchboard_model::{AgentId, AgentView, Door, SubscriptionView, Topic};

use super::{Agent, Registry};
use crate::identity::Token;
use crate::parking::Parking;
use crate::subscriptions::Subscription;

/// So many agents are shown again at a time because something was counted. A screen that is given
/// hundreds at once stops for as long as it takes to read them.
const COUNTED_AT_ONCE: usize = 50;

impl Agent {
    /// Something was counted: its view is to be shown again, when it is its turn.
    pub(super) fn count(&mut self, line: &mut VecDeque<AgentId>) {
        if !std::mem::replace(&mut self.counted, true) {
            line.push_back(self.record.id.clone());
        }
    }
}

impl Registry {
    /// Agents whose view has changed since this was last asked, and a few of those of which something was
    /// counted.
    pub(crate) fn take_changed(&mut self, parking: &Parking) -> Vec<AgentView> {
        let mut changed = std::mem::take(&mut self.changed);
        for id in self.counted.drain(..COUNTED_AT_ONCE.min(self.counted.len())) {
            if let Some(agent) = self.agents.get_mut(&id) {
                agent.counted = false;
                changed.insert(id);
            }
        }
        changed.iter().filter_map(|id| Some(self.view(self.agents.get(id)?, parking))).collect()
    }

    /// How much waits for an agent has changed.
    pub(crate) fn count_waiting(&mut self, id: &AgentId) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.count(&mut self.counted);
        }
    }

    /// Whether something was counted that has not been shown.
    pub(crate) fn has_more_to_show(&self) -> bool {
        !self.counted.is_empty()
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

#[cfg(test)]
mod tests {
    use switchboard_model::{Join, Timestamp};
    use tokio::time::Instant;

    use super::*;
    use crate::clock::Now;

    #[test]
    fn those_who_only_talked_are_shown_a_few_at_a_time_and_each_gets_its_turn() {
        let (mut registry, parking) = (Registry::default(), Parking::default());
        let now = Now { wall: Timestamp(1), monotonic: Instant::now() };
        let all: Vec<AgentId> =
            (0..120).map(|n| AgentId::parse(&format!("agent-{n}")).unwrap()).collect();
        for id in &all {
            registry.introduce(&Join::of(id.clone(), "a", "1"), Door::Bus, None, now);
        }
        assert_eq!(registry.take_changed(&parking).len(), 120, "those who come are shown at once");
        let mut shown = std::collections::HashSet::new();
        for turn in [50, 50, 20] {
            // The first go on talking, and do not get in before the others.
            for id in &all[..if turn == 50 { 120 } else { 0 }] {
                registry.count_sent(id, now);
            }
            let views = registry.take_changed(&parking);
            assert!(views.len() <= 50);
            shown.extend(views.into_iter().map(|view| view.id));
        }
        assert_eq!(shown.len(), 120);
        assert!(registry.has_more_to_show());
        registry.set_status(&all[7], switchboard_model::AgentStatus::Busy);
        let views = registry.take_changed(&parking);
        assert!(views.iter().any(|view| view.id == all[7]), "what is more than a count, at once");
    }
}
