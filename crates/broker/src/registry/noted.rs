//! What is written down of who was there, so that it can be asked about later.

use std::time::Duration;

use switchboard_model::{AgentStatus, Timestamp};
use switchboard_store::PresenceRecord;

use super::{Agent, Registry};

/// One agent is not written down more often than this, however often it comes and goes.
const SELDOM: Duration = Duration::from_secs(1);

impl Agent {
    /// What it says of itself while it can be reached. That more waits than it may hold is told by its
    /// queue, and changes too often to be written down.
    fn standing(&self) -> AgentStatus {
        if self.is_available() { self.status } else { AgentStatus::Unavailable }
    }

    fn note(&mut self, status: AgentStatus, at: Timestamp) -> PresenceRecord {
        self.noted = (status, at);
        PresenceRecord { agent: self.record.id.clone(), at, status }
    }
}

impl Registry {
    /// What is to be written down of agents that have changed.
    pub(crate) fn take_presences(&mut self, now: Timestamp) -> Vec<PresenceRecord> {
        self.unnoted.extend(self.changed.iter().cloned());
        let mut records = Vec::new();
        let agents = &mut self.agents;
        self.unnoted.retain(|id| {
            let Some(agent) = agents.get_mut(id) else { return false };
            let (status, (before, at)) = (agent.standing(), agent.noted);
            if status == before {
                return false;
            }
            let is_too_soon = now < at.plus(SELDOM);
            if !is_too_soon {
                records.push(agent.note(status, now));
            }
            is_too_soon
        });
        records
    }

    /// Nobody is there any more.
    pub(crate) fn all_gone(&mut self, now: Timestamp) -> Vec<PresenceRecord> {
        let gone = AgentStatus::Unavailable;
        let here = self.agents.values_mut().filter(|agent| agent.noted.0 != gone);
        here.map(|agent| agent.note(gone, now)).collect()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_model::{AgentId, Door, Join};
    use tokio::time::Instant;

    use super::*;
    use crate::clock::Now;

    fn statuses(records: Vec<PresenceRecord>) -> Vec<AgentStatus> {
        records.into_iter().map(|record| record.status).collect()
    }

    #[tokio::test]
    async fn who_flickers_is_written_down_once_a_second_and_in_the_end_as_it_is() {
        let mut registry = Registry::default();
        let id = AgentId::parse("a").unwrap();
        let now = Now { wall: Timestamp(10_000_000), monotonic: Instant::now() };
        registry.introduce(&Join::of(id.clone(), "a", "1"), Door::Aacp, None, now);
        assert_eq!(registry.take_presences(now.wall), [], "it is known, and was never there");
        registry.open_mailbox(&id);
        assert_eq!(statuses(registry.take_presences(now.wall)), [AgentStatus::Ready]);
        for flicker in 1..10_i64 {
            registry.set_blocked(&id, flicker % 2 == 1);
            let at = Timestamp(now.wall.0 + flicker);
            assert_eq!(registry.take_presences(at), [], "too soon");
        }
        let later = now.wall.plus(SELDOM);
        assert_eq!(statuses(registry.take_presences(later)), [AgentStatus::Unavailable]);
        assert_eq!(registry.all_gone(later), [], "it is gone already");
    }
}
