//! The programs that the default handler started: one for each topic, and what is shown of them.

use std::collections::HashMap;
use std::io;

use switchboard_broker::now;
use switchboard_console::api::{SpawnedAgent, SpawnedList};
use switchboard_model::{AgentId, Topic};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Orders;
use super::child::{Child, Ended};
use super::limits::{Limits, Obstacle};
use crate::secrets::random_hex;

/// Programs that ended and are still shown.
const REMEMBERED: usize = 50;

pub(super) struct Programs {
    orders: Orders,
    limits: Limits,
    running: HashMap<Topic, Running>,
    ends: JoinSet<(AgentId, Ended)>,
    shown: watch::Sender<SpawnedList>,
}

struct Running {
    agent: AgentId,
    stop: CancellationToken,
}

impl Programs {
    pub(super) fn new(orders: Orders, shown: watch::Sender<SpawnedList>) -> Self {
        shown.send_modify(|list| list.enabled = true);
        let limits = Limits::new(orders.max_children);
        Self { orders, limits, running: HashMap::new(), ends: JoinSet::new(), shown }
    }

    /// The agent that was started for a topic and runs.
    pub(super) fn on(&self, topic: &Topic) -> Option<&AgentId> {
        self.running.get(topic).map(|one| &one.agent)
    }

    /// Whether one more may be started.
    pub(super) fn may_start(&self, now: Instant) -> Result<(), Obstacle> {
        self.limits.may_start(self.running.len(), now)
    }

    /// Starts one for a topic; else says why it cannot be.
    pub(super) fn start(&mut self, topic: &Topic) -> Result<AgentId, String> {
        let why = |error| format!("{} cannot be started: {error}", self.orders.command[0]);
        let (agent, child) = self.spawn(topic).map_err(why)?;
        self.limits.started(Instant::now());
        let (pid, started_at, ended_at, ended) = (child.pid(), now(), None, None);
        tracing::info!(%agent, %topic, pid, "started by the default handler");
        self.show(|agents| {
            let (agent, topic) = (agent.clone(), topic.as_str().to_owned());
            agents.insert(0, SpawnedAgent { agent, topic, pid, started_at, ended_at, ended });
            let mut kept = 0;
            agents.retain(|one| {
                kept += usize::from(one.ended.is_some());
                one.ended.is_none() || kept <= REMEMBERED
            });
        });
        let stop = CancellationToken::new();
        let (of, until) = (agent.clone(), stop.clone());
        self.ends.spawn(async move { (of, child.run(until).await) });
        self.running.insert(topic.clone(), Running { agent: agent.clone(), stop });
        Ok(agent)
    }

    fn spawn(&self, topic: &Topic) -> io::Result<(AgentId, Child)> {
        let agent = format!("agent-{}", random_hex::<6>()?);
        let agent = AgentId::parse(&agent).map_err(io::Error::other)?;
        let child = Child::start(&self.orders, &agent, topic)?;
        Ok((agent, child))
    }

    /// Waits until one ends; none while none runs.
    pub(super) async fn next_end(&mut self) -> Option<(AgentId, Ended)> {
        match self.ends.join_next().await? {
            Ok(ended) => Some(ended),
            Err(error) => {
                tracing::error!(%error, "a started program was lost sight of");
                None
            }
        }
    }

    /// One that has ended runs no more: the topic that it was for.
    pub(super) fn ended(&mut self, agent: &AgentId, ended: &Ended) -> Option<Topic> {
        let found = self.running.iter().find(|(_, one)| one.agent == *agent);
        let topic = found.map(|(topic, _)| topic.clone())?;
        self.running.remove(&topic);
        tracing::info!(%agent, %topic, how = %ended.words, "a started program ended");
        self.show(|agents| {
            if let Some(one) = agents.iter_mut().find(|one| one.agent == *agent) {
                (one.ended_at, one.ended) = (Some(now()), Some(ended.words.clone()));
            }
        });
        Some(topic)
    }

    /// Ends all of them, and waits until they are gone.
    pub(super) async fn stop(mut self) {
        for running in self.running.values() {
            running.stop.cancel();
        }
        while self.ends.join_next().await.is_some() {}
    }

    fn show(&self, change: impl FnOnce(&mut Vec<SpawnedAgent>)) {
        self.shown.send_modify(|list| change(&mut list.agents));
    }
}
