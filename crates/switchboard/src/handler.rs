//! The default handler: an agent of the broker's own on `system:unrouted`. For a topic that nobody
//! listens to it starts the configured program, which subscribes and then gets the message.
//!
//! A message for which no program may be started now waits in the `line`; the `limits` say when one
//! may. `programs` are those that run, `child` is one of them, `answers` what is said about a
//! message. `tidy` clears away what earlier ones left behind.

mod answers;
mod child;
mod limits;
mod line;
mod programs;
mod tidy;

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::Deserialize;
use switchboard_broker::{Broker, Caller, Link, Outgoing, Refusal, now};
use switchboard_console::api::SpawnedList;
use switchboard_model::{
    AgentId, AgentView, Answer, AttemptId, Command, Door, Event, Events, Join, Lifecycle, Message,
    Pattern, Policy, SubscriptionView, Topic,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::tls::OwnAgents;
use answers::{declined, later, taken};
use child::Ended;
use limits::Obstacle;
use line::{Asked, Line, WaitsFor};
use programs::Programs;

/// After how long one is asked about again for whom no program could be started in time.
const LATER: Duration = Duration::from_secs(2);
/// How often the handler looks up when nothing is due.
const IDLE: Duration = Duration::from_secs(60);

/// What the handler is to do.
pub(crate) struct Orders {
    pub(crate) command: Vec<String>,
    pub(crate) max_children: usize,
    /// How long an answer may take.
    pub(crate) timeout: Duration,
    pub(crate) url: String,
    pub(crate) data_dir: PathBuf,
    /// How what it starts connects over TLS.
    pub(crate) own_agents: OwnAgents,
    /// For how long what a program wrote is kept.
    pub(crate) kept: Duration,
}

/// The running handler.
pub(crate) struct DefaultHandler {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl DefaultHandler {
    /// Where programs leave what they wrote.
    pub(crate) fn output_folder(data_dir: &Path) -> PathBuf {
        data_dir.join("spawned")
    }

    /// Where programs have folders of their own.
    fn workspaces(data_dir: &Path) -> PathBuf {
        data_dir.join("workspaces")
    }

    /// Starts to handle, if there is a command.
    pub(crate) async fn start(
        orders: Orders,
        broker: Broker,
        shown: watch::Sender<SpawnedList>,
    ) -> Result<Self, Refusal> {
        tidy_up(&orders).await;
        let stop = CancellationToken::new();
        if orders.command.is_empty() {
            return Ok(Self { stop, task: None });
        }
        let link = join(&broker).await?;
        let handler = Handler {
            events: broker.events(),
            broker,
            link,
            line: Line::new(orders.timeout),
            programs: Programs::new(orders, shown),
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

/// Before anything is started, so that nothing which is still used goes.
async fn tidy_up(orders: &Orders) {
    let output = DefaultHandler::output_folder(&orders.data_dir);
    let workspaces = DefaultHandler::workspaces(&orders.data_dir);
    let since_epoch = Duration::from_micros(u64::try_from(now().0).unwrap_or(0));
    let before = UNIX_EPOCH + since_epoch.saturating_sub(orders.kept);
    let tidied = spawn_blocking(move || tidy::tidy(&output, &workspaces, before));
    if let Err(error) = tidied.await {
        tracing::error!(%error, "what earlier programs left could not be tidied");
    }
}

async fn join(broker: &Broker) -> Result<Link, Refusal> {
    let link = broker.connect(Door::Bus, None).await?;
    let Ok(agent) = AgentId::parse("default-handler") else { return Err(Refusal::NotJoined) };
    let join = Join::of(agent, "Default handler", env!("CARGO_PKG_VERSION"));
    link.submit(Command::Join(join)).await?;
    if let Ok(pattern) = Pattern::parse("system:unrouted") {
        link.submit(Command::Subscribe { pattern, policy: None, filter: None }).await?;
    }
    Ok(link)
}

struct Handler {
    broker: Broker,
    link: Link,
    events: broadcast::Receiver<Events>,
    line: Line,
    programs: Programs,
}

/// What `system:unrouted` says.
#[derive(Deserialize)]
struct Unrouted {
    topic: String,
}

impl Handler {
    async fn run(mut self, stop: CancellationToken) {
        loop {
            let look_up = self.next_look();
            tokio::select! {
                // In this order: whoever subscribes after a message came is heard of after it.
                biased;
                () = stop.cancelled() => break,
                Some((agent, ended)) = self.programs.next_end() => self.ended(&agent, &ended).await,
                () = sleep_until(look_up) => self.answer_those_due().await,
                outgoing = self.link.next() => match outgoing {
                    Some(Outgoing::Deliver { attempt, message }) => {
                        self.take(attempt, &message).await;
                    }
                    None => break,
                },
                events = self.events.recv() => self.heard(events).await,
            }
            self.start_those_next().await;
        }
        self.programs.stop().await;
    }

    /// When something is to be done, if nothing happens before.
    fn next_look(&self) -> Instant {
        let now = Instant::now();
        let due = self.line.next_due().unwrap_or(now + IDLE);
        match self.line.next_topic().map(|_| self.programs.may_start(now)) {
            Some(Ok(())) => now,
            Some(Err(Obstacle::Rate(free))) => due.min(free),
            // A child that ends is heard of.
            Some(Err(Obstacle::Children(_))) | None => due,
        }
    }

    async fn take(&mut self, attempt: AttemptId, message: &Message) {
        let unrouted: Option<Unrouted> = serde_json::from_str(message.payload.as_str()).ok();
        let topic = unrouted.and_then(|one| Topic::parse(&one.topic).ok());
        let Some(topic) = topic else {
            return self.answer(attempt, declined("this is not about a topic")).await;
        };
        let (asked, now) = (Asked { attempt, topic, at: now() }, Instant::now());
        if self.programs.on(&asked.topic).is_some() {
            self.line.watch(asked, now);
        } else if let Err(asked) = self.line.wait(asked, now) {
            // By then those who wait now have been started for, or have left.
            let answer = later("too many wait for a program".to_owned(), self.line.held());
            self.answer(asked.attempt, answer).await;
        }
    }

    /// Starts programs for those who wait, as many as may be now.
    async fn start_those_next(&mut self) {
        while let Some(topic) = self.line.next_topic().cloned()
            && self.programs.may_start(Instant::now()).is_ok()
        {
            match self.programs.start(&topic) {
                Ok(agent) => {
                    self.line.started(&topic, Instant::now());
                    self.announce(Lifecycle::Spawned, agent, format!("for {topic}")).await;
                }
                Err(why) => {
                    for one in self.line.take(|one| one.topic == topic) {
                        self.answer(one.attempt, declined(why.as_str())).await;
                    }
                }
            }
        }
    }

    async fn ended(&mut self, agent: &AgentId, ended: &Ended) {
        let Some(topic) = self.programs.ended(agent, ended) else { return };
        let event = if ended.well { Lifecycle::Completed } else { Lifecycle::Error };
        self.announce(event, agent.clone(), ended.words.clone()).await;
        for one in self.line.take(|one| one.topic == topic) {
            let answer = if ended.well {
                taken(format!("{agent} was started, and ended"))
            } else {
                declined(format!("{agent} was started, but {}", ended.words))
            };
            self.answer(one.attempt, answer).await;
        }
    }

    async fn heard(&mut self, events: Result<Events, RecvError>) {
        if self.line.is_empty() {
            return;
        }
        match events {
            Ok(events) => {
                for event in &*events {
                    if let Event::Agent(view) = event {
                        self.subscribed(view).await;
                    }
                }
            }
            // Among what was missed may be a subscription.
            Err(RecvError::Lagged(_)) => {
                for view in self.broker.agents().await {
                    self.subscribed(&view).await;
                }
            }
            Err(RecvError::Closed) => {}
        }
    }

    /// Somebody listens now; whoever was asked for on such a topic is there. An observer that was there
    /// before is not whom the message needs.
    async fn subscribed(&mut self, view: &AgentView) {
        let pattern = |one: &SubscriptionView| Pattern::parse(&one.pattern).ok();
        let all = view.subscriptions.iter().filter_map(|one| Some((pattern(one)?, one)));
        let all: Vec<_> = all.collect();
        let here = |asked: &Asked| {
            all.iter().any(|(pattern, one)| {
                let new = one.policy != Policy::ContinueAll || one.since >= asked.at;
                new && pattern.matches(&asked.topic)
            })
        };
        for one in self.line.take(here) {
            self.answer(one.attempt, taken(format!("{} listens now", view.id))).await;
        }
    }

    async fn answer_those_due(&mut self) {
        let now = Instant::now();
        for (one, waited_for) in self.line.take_due(now) {
            let answer = match (waited_for, self.programs.may_start(now)) {
                (WaitsFor::Start, Err(obstacle)) => later(obstacle.to_string(), LATER),
                (WaitsFor::Start, Ok(())) => later("others came first".to_owned(), LATER),
                (WaitsFor::Program, _) => {
                    let agent = self.programs.on(&one.topic).map_or("a program", AgentId::as_str);
                    taken(format!("{agent} was started"))
                }
            };
            self.answer(one.attempt, answer).await;
        }
    }

    async fn answer(&self, attempt: AttemptId, answer: Answer) {
        let (broker, caller) = self.link.caller();
        broker.tell(caller, Command::Answer { attempt, answer }).quietly().await;
    }

    async fn announce(&self, event: Lifecycle, agent: AgentId, detail: String) {
        let command = Command::Announce { event, agent, detail };
        self.broker.tell(Caller::Operator, command).quietly().await;
    }
}
