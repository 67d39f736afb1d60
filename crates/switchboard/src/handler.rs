//! The default handler: an agent of the broker's own on `system:unrouted`. For a topic that nobody
//! listens to it starts the configured program, which subscribes and then gets the message.

mod child;
mod limits;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use switchboard_broker::{Broker, Caller, Link, Outgoing, Refusal, now};
use switchboard_console::api::{SpawnedAgent, SpawnedList};
use switchboard_model::{
    Again, AgentId, AgentView, Answer, AttemptOutcome, Command, DeliveryId, Door, Event, Join,
    Lifecycle, Message, Pattern, Topic,
};
use tokio::sync::{broadcast, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::secrets::random_hex;
use child::{Child, Ended};
use limits::Limits;

/// How long an answer waits for the program to subscribe, or to fail at once; less where answers
/// must come sooner.
const WATCHED: Duration = Duration::from_secs(2);
/// After how long one is tried again for whom no program could be started.
const FULL: Duration = Duration::from_secs(2);
/// Programs that ended and are still shown.
const REMEMBERED: usize = 50;

/// What the handler is to do.
pub(crate) struct Orders {
    pub(crate) command: Vec<String>,
    pub(crate) max_children: usize,
    /// How long an answer may take.
    pub(crate) timeout: Duration,
    pub(crate) url: String,
    pub(crate) data_dir: PathBuf,
}

/// The running handler.
pub(crate) struct DefaultHandler {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl DefaultHandler {
    /// Where programs leave what they wrote.
    pub(crate) fn output_folder(data_dir: &std::path::Path) -> PathBuf {
        data_dir.join("spawned")
    }

    /// Starts to handle, if there is a command.
    pub(crate) async fn start(
        orders: Orders,
        broker: Broker,
        shown: watch::Sender<SpawnedList>,
    ) -> Result<Self, Refusal> {
        let stop = CancellationToken::new();
        if orders.command.is_empty() {
            return Ok(Self { stop, task: None });
        }
        shown.send_modify(|list| list.enabled = true);
        let link = join(&broker).await?;
        let handler = Handler {
            limits: Limits::new(orders.max_children),
            orders,
            events: broker.events(),
            broker,
            link,
            shown,
            running: HashMap::new(),
            ends: JoinSet::new(),
            asked: Vec::new(),
        };
        let task = tokio::spawn(handler.run(stop.clone()));
        Ok(Self { stop, task: Some(task) })
    }

    /// Ends every program that was started.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        if let Some(task) = self.task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the default handler failed");
        }
    }
}

async fn join(broker: &Broker) -> Result<Link, Refusal> {
    let link = broker.connect(Door::Bus).await?;
    let Ok(agent) = AgentId::parse("default-handler") else { return Err(Refusal::NotJoined) };
    let name = "Default handler".to_owned();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    link.submit(Command::Join(Join { agent, name, version, capabilities: None })).await?;
    if let Ok(pattern) = Pattern::parse("system:unrouted") {
        link.submit(Command::Subscribe { pattern, policy: None }).await?;
    }
    Ok(link)
}

struct Handler {
    orders: Orders,
    broker: Broker,
    link: Link,
    events: broadcast::Receiver<Event>,
    shown: watch::Sender<SpawnedList>,
    limits: Limits,
    /// By topic: one program for each.
    running: HashMap<Topic, Running>,
    ends: JoinSet<(AgentId, Ended)>,
    /// Messages whose handler has not been answered for, while their programs are watched.
    asked: Vec<Asked>,
}

struct Running {
    agent: AgentId,
    stop: CancellationToken,
}

struct Asked {
    delivery: DeliveryId,
    topic: Topic,
    answer_by: Instant,
}

/// What `system:unrouted` says.
#[derive(Deserialize)]
struct Unrouted {
    topic: String,
}

impl Handler {
    async fn run(mut self, stop: CancellationToken) {
        loop {
            let answer_by = self.asked.iter().map(|one| one.answer_by).min();
            let answer_by = answer_by.unwrap_or_else(|| Instant::now() + WATCHED);
            tokio::select! {
                () = stop.cancelled() => break,
                outgoing = self.link.next() => match outgoing {
                    Some(Outgoing::Deliver { delivery, message }) => {
                        self.take(delivery, &message).await;
                    }
                    None => break,
                },
                Some(ended) = self.ends.join_next() => match ended {
                    Ok((agent, ended)) => self.ended(&agent, ended).await,
                    Err(error) => tracing::error!(%error, "a started program was lost sight of"),
                },
                event = self.events.recv() => {
                    if let Ok(Event::Agent(view)) = event {
                        self.subscribed(&view).await;
                    }
                }
                () = sleep_until(answer_by) => self.answer_those_due().await,
            }
        }
        for running in self.running.values() {
            running.stop.cancel();
        }
        while self.ends.join_next().await.is_some() {}
    }

    async fn take(&mut self, delivery: DeliveryId, message: &Message) {
        let unrouted: Option<Unrouted> = serde_json::from_str(message.payload.as_str()).ok();
        let Some(topic) = unrouted.and_then(|one| Topic::parse(&one.topic).ok()) else {
            return self.answer(delivery, declined("this is not about a topic")).await;
        };
        if !self.running.contains_key(&topic) {
            if let Err((why, delay)) = self.limits.may_start(self.running.len(), Instant::now()) {
                return self.answer(delivery, later(why, delay)).await;
            }
            if let Err(error) = self.spawn(&topic).await {
                let why = format!("{} cannot be started: {error}", self.orders.command[0]);
                return self.answer(delivery, declined(why)).await;
            }
        }
        let answer_by = Instant::now() + WATCHED.min(self.orders.timeout / 2);
        self.asked.push(Asked { delivery, topic, answer_by });
    }

    async fn spawn(&mut self, topic: &Topic) -> std::io::Result<()> {
        let agent = format!("agent-{}", random_hex::<6>()?);
        let agent = AgentId::parse(&agent).map_err(std::io::Error::other)?;
        let stop = CancellationToken::new();
        let child = Child::start(&self.orders, &agent, topic)?;
        self.limits.started(Instant::now());
        let (pid, started_at, ended_at, ended) = (child.pid(), now(), None, None);
        tracing::info!(%agent, %topic, pid, "started by the default handler");
        self.show(|agents| {
            let topic = topic.as_str().to_owned();
            let spawned =
                SpawnedAgent { agent: agent.clone(), topic, pid, started_at, ended_at, ended };
            agents.insert(0, spawned);
            let mut kept = 0;
            agents.retain(|one| {
                kept += usize::from(one.ended.is_some());
                one.ended.is_none() || kept <= REMEMBERED
            });
        });
        let (of, until) = (agent.clone(), stop.clone());
        self.ends.spawn(async move { (of, child.run(until).await) });
        self.running.insert(topic.clone(), Running { agent: agent.clone(), stop });
        self.announce(Lifecycle::Spawned, agent, format!("for {topic}")).await;
        Ok(())
    }

    async fn ended(&mut self, agent: &AgentId, ended: Ended) {
        let Some(topic) = self
            .running
            .iter()
            .find(|(_, one)| one.agent == *agent)
            .map(|(topic, _)| topic.clone())
        else {
            return;
        };
        self.running.remove(&topic);
        tracing::info!(%agent, %topic, how = %ended.words, "a started program ended");
        let words = ended.words.clone();
        self.show(|agents| {
            if let Some(one) = agents.iter_mut().find(|one| one.agent == *agent) {
                (one.ended_at, one.ended) = (Some(now()), Some(words));
            }
        });
        let event = if ended.well { Lifecycle::Completed } else { Lifecycle::Error };
        self.announce(event, agent.clone(), ended.words.clone()).await;
        for one in self.take_asked(|one| one.topic == topic) {
            let answer = if ended.well {
                taken(format!("{agent} was started, and ended"))
            } else {
                declined(format!("{agent} was started, but {}", ended.words))
            };
            self.answer(one.delivery, answer).await;
        }
    }

    /// Somebody listens now; whoever was asked for on such a topic is there.
    async fn subscribed(&mut self, view: &AgentView) {
        if self.asked.is_empty() {
            return;
        }
        let parse = |text: &str| Pattern::parse(text).ok();
        let patterns: Vec<Pattern> =
            view.subscriptions.iter().filter_map(|one| parse(&one.pattern)).collect();
        let here = |one: &Asked| patterns.iter().any(|pattern| pattern.matches(&one.topic));
        for one in self.take_asked(here) {
            self.answer(one.delivery, taken(format!("{} listens now", view.id))).await;
        }
    }

    async fn answer_those_due(&mut self) {
        let now = Instant::now();
        for one in self.take_asked(|one| one.answer_by <= now) {
            let agent = self.running.get(&one.topic).map_or("a program", |it| it.agent.as_str());
            let answer = taken(format!("{agent} was started"));
            self.answer(one.delivery, answer).await;
        }
    }

    fn take_asked(&mut self, which: impl Fn(&Asked) -> bool) -> Vec<Asked> {
        let (taken, rest) = std::mem::take(&mut self.asked).into_iter().partition(which);
        self.asked = rest;
        taken
    }

    async fn answer(&self, delivery: DeliveryId, answer: Answer) {
        let (broker, caller) = self.link.caller();
        broker.tell(caller, Command::Answer { delivery, answer }).await;
    }

    async fn announce(&self, event: Lifecycle, agent: AgentId, detail: String) {
        let command = Command::Announce { event, agent, detail };
        self.broker.tell(Caller::Operator, command).await;
    }

    fn show(&self, change: impl FnOnce(&mut Vec<SpawnedAgent>)) {
        self.shown.send_modify(|list| change(&mut list.agents));
    }
}

fn taken(words: String) -> Answer {
    answer(AttemptOutcome::Processed, Again::NotAsked, words)
}

fn declined(words: impl Into<String>) -> Answer {
    answer(AttemptOutcome::Declined, Again::NotAsked, words.into())
}

fn later(words: String, delay: Duration) -> Answer {
    answer(AttemptOutcome::Declined, Again::After(delay), words)
}

fn answer(outcome: AttemptOutcome, again: Again, words: String) -> Answer {
    Answer {
        outcome,
        stop: false,
        stops_only_on_request: false,
        again,
        message: Some(words),
        payload: None,
    }
}
