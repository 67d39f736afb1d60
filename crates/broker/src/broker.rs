//! The one way in: every door, the operator and discovered peers submit commands here.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use switchboard_model::{
    AgentId, AgentView, AllowEntry, AnnouncedView, Announcement, AttemptId, Command, ConnectionId,
    DeadMessage, Door, Events, JobId, JobView, Message, Reply, RouteView, Topic, Totals,
    TurnedAway,
};
use switchboard_store::{FigureRecord, Opened, Store};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::core::{Core, Ends, Loaded};
use crate::figures::Figures;
use crate::replies::{PendingReply, ReplyLine, ReplyTo};
use crate::{Listed, Metrics, Refusal, Rules, Settings};

/// Commands waiting for the core. When full, the door that brings one more waits, and with it the
/// socket it reads from.
const INPUTS: usize = 4096;
/// What was told at a time and waits for a watcher; what waits is kept in memory, messages and all. When full,
/// the watcher loses the oldest, is told so, and starts over from a snapshot; the core never waits.
const EVENTS: usize = 256;
/// Announcements waiting for a watcher. When full, it misses the oldest; each is made again soon.
const ANNOUNCEMENTS: usize = 1024;

/// Who brings a command. The core knows which agent a connection speaks for; nobody can say it
/// in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The agent at the other end of a connection.
    Connection(ConnectionId),
    /// The person at the console.
    Operator,
}

/// What the core sends to a connection's door.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// A message to hand to the agent. Its answer comes back as `Command::Answer`.
    Deliver {
        /// What to name in the answer.
        attempt: AttemptId,
        /// The message.
        message: Arc<Message>,
    },
}

/// Why the broker ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The agent's token was taken away or replaced.
    TokenRevoked,
    /// The operator ended it; the agent may come back.
    Disconnected,
    /// The operator keeps the agent out.
    Blocked,
}

impl Cut {
    /// The reason in words, for the other end.
    pub fn words(self) -> &'static str {
        match self {
            Self::TokenRevoked => "the token was revoked or replaced",
            Self::Disconnected => "disconnected by the operator",
            Self::Blocked => "blocked by the operator",
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "most are commands; a box for each would cost more")]
pub(crate) enum Input {
    Connect {
        id: ConnectionId,
        door: Door,
        from: Option<IpAddr>,
        outbox: mpsc::Sender<Outgoing>,
        cut: watch::Sender<Option<Cut>>,
    },
    Gone(ConnectionId),
    Submit {
        caller: Caller,
        command: Command,
        reply: Option<ReplyTo>,
    },
    Agents(oneshot::Sender<Vec<AgentView>>),
    Jobs(oneshot::Sender<Vec<JobView>>),
    Route(Topic, oneshot::Sender<RouteView>),
    Rules(oneshot::Sender<Rules>),
    /// Everyone who can be found.
    Directory(oneshot::Sender<Vec<Listed>>),
    /// Everyone who was announced, and who was turned away.
    Announced(oneshot::Sender<(Vec<AnnouncedView>, Vec<TurnedAway>)>),
    AllowList(oneshot::Sender<Vec<AllowEntry>>),
    /// The key that an announced agent is known by.
    KeyOf(AgentId, oneshot::Sender<Option<String>>),
    /// The agent of that name, if it is known.
    Resolve(AgentId, oneshot::Sender<Option<AgentId>>),
    /// Rings when something comes for an agent's mailbox.
    Bell(AgentId, oneshot::Sender<watch::Receiver<u64>>),
    /// What was left on disk of messages that are to be handed to this connection.
    Payloads(Box<Loaded>),
    /// Dead letters that a job asked for.
    Letters {
        job: JobId,
        letters: Result<(Vec<DeadMessage>, bool), switchboard_store::Error>,
    },
    /// What was counted, to be written.
    Figures(Vec<FigureRecord>),
    /// What the operator has set, from now on.
    Settings(Box<Settings>, oneshot::Sender<()>),
    Stop,
}

/// A handle to the running core. Cheap to clone.
#[derive(Clone)]
pub struct Broker {
    inputs: mpsc::Sender<Input>,
    events: broadcast::Sender<Events>,
    announcements: broadcast::Sender<Arc<Announcement>>,
    announced_on_bus: broadcast::Sender<Arc<Message>>,
    totals: watch::Receiver<Totals>,
    next_connection: Arc<AtomicU64>,
    live: Arc<AtomicU32>,
    open_letters: Arc<AtomicU64>,
    in_flight: usize,
    metrics: Metrics,
    figures: Figures,
    store: Store,
}

impl Broker {
    /// Starts the core on an opened store. The task ends after [`Broker::stop`], when everything
    /// accepted is on disk.
    pub async fn start(settings: Settings, opened: Opened) -> (Self, JoinHandle<()>) {
        let (inputs, inbox) = mpsc::channel(INPUTS);
        let (events, _) = broadcast::channel(EVENTS);
        let (announcements, _) = broadcast::channel(ANNOUNCEMENTS);
        let (announced_on_bus, _) = broadcast::channel(ANNOUNCEMENTS);
        let (totals_out, totals) = watch::channel(opened.restored.totals);
        let (in_flight, store) = (settings.in_flight, opened.store.clone());
        let open_letters = Arc::new(AtomicU64::new(0));
        let metrics = Metrics::default();
        let ends = Ends {
            inputs: inputs.downgrade(),
            events: events.clone(),
            announcements: announcements.clone(),
            announced_on_bus: announced_on_bus.clone(),
            totals: totals_out,
            open_letters: open_letters.clone(),
            metrics: metrics.clone(),
        };
        let figures = Figures::new(totals.clone(), metrics.clone(), open_letters.clone());
        figures.start(events.subscribe(), inputs.downgrade(), store.clone());
        let core = Core::restore(settings, opened, ends).await;
        let task = tokio::spawn(core.run(inbox));
        let next_connection = Arc::new(AtomicU64::new(1));
        let live = Arc::new(AtomicU32::new(0));
        let broker = Self {
            inputs,
            events,
            announcements,
            announced_on_bus,
            totals,
            next_connection,
            live,
            open_letters,
            in_flight,
            metrics,
            figures,
            store,
        };
        (broker, task)
    }

    /// Opens a connection that does not speak for anyone yet. It ends when the link is dropped.
    /// `from` is where the other end is; none if it is in this program.
    pub async fn connect(&self, door: Door, from: Option<IpAddr>) -> Result<Link, Refusal> {
        let id = ConnectionId(self.next_connection.fetch_add(1, Ordering::Relaxed));
        // As much as the core hands over before it hears of one. It overflows only where the door
        // writes nothing for longer than a delivery may take; the core treats that as a door gone.
        let (outbox, deliveries) = mpsc::channel(self.in_flight.max(1));
        let watched = outbox.clone();
        let (cut, is_cut) = watch::channel(None);
        self.inputs
            .send(Input::Connect { id, door, from, outbox, cut })
            .await
            .map_err(|_| Refusal::Stopping)?;
        // However the door's task ends, its end of the outbox goes, and the core hears of it.
        let (inputs, live) = (self.inputs.clone(), self.live.clone());
        live.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            watched.closed().await;
            live.fetch_sub(1, Ordering::Relaxed);
            if inputs.send(Input::Gone(id)).await.is_err() {
                tracing::debug!(connection = id.0, "closed after the core stopped");
            }
        });
        Ok(Link { caller: Caller::Connection(id), broker: self.clone(), deliveries, is_cut })
    }

    /// Submits a command and waits for its reply: for a message, until it is on disk.
    pub async fn submit(&self, caller: Caller, command: Command) -> Result<Reply, Refusal> {
        self.begin(caller, command).await?.wait().await
    }

    /// Submits a command and returns at once with the way to its reply. Commands begun one after
    /// the other are taken in that order.
    pub async fn begin(&self, caller: Caller, command: Command) -> Result<PendingReply, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.input(caller, command, Some(ReplyTo::Waiting(reply))).await?;
        Ok(PendingReply(answer))
    }

    /// Submits a command whose reply comes by this line, with this tag.
    pub async fn begin_in(
        &self,
        line: &ReplyLine,
        tag: Box<str>,
        caller: Caller,
        command: Command,
    ) -> Result<(), Refusal> {
        self.input(caller, command, Some(line.promise(tag))).await
    }

    /// Submits a command whose reply nobody waits for, such as an answer to a delivery.
    pub async fn tell(&self, caller: Caller, command: Command) {
        if self.input(caller, command, None).await.is_err() {
            tracing::debug!("told a broker that has stopped");
        }
    }

    async fn input(
        &self,
        caller: Caller,
        command: Command,
        reply: Option<ReplyTo>,
    ) -> Result<(), Refusal> {
        let input = Input::Submit { caller, command, reply };
        self.inputs.send(input).await.map_err(|_| Refusal::Stopping)
    }

    /// Everyone the registry knows, in order of their ids.
    pub async fn agents(&self) -> Vec<AgentView> {
        self.ask(Input::Agents).await.unwrap_or_default()
    }

    /// The jobs that run or can go on, and the last ones that ended; newest first.
    pub async fn jobs(&self) -> Vec<JobView> {
        self.ask(Input::Jobs).await.unwrap_or_default()
    }

    /// The rules in force.
    pub async fn rules(&self) -> Result<Rules, Refusal> {
        self.ask(Input::Rules).await.ok_or(Refusal::Stopping)
    }

    /// Who would get a message on this topic now.
    pub async fn route(&self, topic: Topic) -> Result<RouteView, Refusal> {
        self.ask(|reply| Input::Route(topic, reply)).await.ok_or(Refusal::Stopping)
    }

    /// Announcements from now on, as they are believed.
    pub fn announcements(&self) -> broadcast::Receiver<Arc<Announcement>> {
        self.announcements.subscribe()
    }

    /// What agents say on the discovery topic of the bus, from now on.
    pub fn announced_on_bus(&self) -> broadcast::Receiver<Arc<Message>> {
        self.announced_on_bus.subscribe()
    }

    /// Everyone who can be found now, by whichever door they came.
    pub async fn directory(&self) -> Result<Vec<Listed>, Refusal> {
        self.ask(Input::Directory).await.ok_or(Refusal::Stopping)
    }

    /// Everyone who was announced, and the last who were turned away.
    pub async fn announced(&self) -> Result<(Vec<AnnouncedView>, Vec<TurnedAway>), Refusal> {
        self.ask(Input::Announced).await.ok_or(Refusal::Stopping)
    }

    /// Who may announce themselves; everyone may try if it is empty.
    pub async fn allow_list(&self) -> Result<Vec<AllowEntry>, Refusal> {
        self.ask(Input::AllowList).await.ok_or(Refusal::Stopping)
    }

    /// The key that an announced agent is known by, as PEM.
    pub async fn key_of(&self, agent: AgentId) -> Result<Option<String>, Refusal> {
        self.ask(|reply| Input::KeyOf(agent, reply)).await.ok_or(Refusal::Stopping)
    }

    /// The agent of this name, which may be its alias; none if nobody knows it.
    pub async fn resolve(&self, name: AgentId) -> Result<Option<AgentId>, Refusal> {
        self.ask(|reply| Input::Resolve(name, reply)).await.ok_or(Refusal::Stopping)
    }

    /// Rings when something comes for this agent's mailbox and is on disk.
    pub async fn bell(&self, agent: AgentId) -> Result<watch::Receiver<u64>, Refusal> {
        self.ask(|reply| Input::Bell(agent, reply)).await.ok_or(Refusal::Stopping)
    }

    /// What is remembered; the core is not asked for it.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> Input,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(question(reply)).await.ok()?;
        answer.await.ok()
    }

    /// What happens from now on. A watcher that falls behind is told so.
    pub fn events(&self) -> broadcast::Receiver<Events> {
        self.events.subscribe()
    }

    /// Where every message is now.
    pub fn totals(&self) -> Totals {
        *self.totals.borrow()
    }

    /// Dead letters that nobody has dealt with.
    pub fn open_letters(&self) -> u64 {
        self.open_letters.load(Ordering::Relaxed)
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// What has been counted and measured since the start.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Live connections, by whichever door.
    pub fn connections(&self) -> u32 {
        self.live.load(Ordering::Relaxed)
    }

    /// Other settings hold from now on. What was begun keeps the times it was given, and those who are connected may
    /// hold as many deliveries as when they came.
    pub async fn change_settings(&self, settings: Settings) -> Result<(), Refusal> {
        let settings = Box::new(settings);
        self.ask(|reply| Input::Settings(settings, reply)).await.ok_or(Refusal::Stopping)
    }

    /// Refuses new messages, waits a little for open answers, and ends the core. What has not been
    /// delivered stays on disk.
    pub async fn stop(&self) {
        let counted = Input::Figures(self.figures.close());
        if self.inputs.send(counted).await.is_err() || self.inputs.send(Input::Stop).await.is_err()
        {
            tracing::debug!("the core has stopped already");
        }
    }
}

/// A door's end of a connection.
pub struct Link {
    caller: Caller,
    broker: Broker,
    deliveries: mpsc::Receiver<Outgoing>,
    is_cut: watch::Receiver<Option<Cut>>,
}

/// Tells a door that the broker has ended its connection.
#[derive(Clone)]
pub struct Scissors(watch::Receiver<Option<Cut>>);

impl Scissors {
    /// Resolves when the connection is cut; never, if that does not happen.
    pub async fn cut(&mut self) -> Cut {
        let cut = self.0.wait_for(Option::is_some).await.ok().and_then(|cut| *cut);
        match cut {
            Some(cut) => cut,
            // The core let go of it without a word, as at its own end.
            None => std::future::pending().await,
        }
    }
}

impl Link {
    /// Submits a command in the name of whoever is at the other end.
    pub async fn submit(&self, command: Command) -> Result<Reply, Refusal> {
        self.broker.submit(self.caller, command).await
    }

    /// The way to submit from another task while this one waits for deliveries.
    pub fn caller(&self) -> (Broker, Caller) {
        (self.broker.clone(), self.caller)
    }

    /// Tells when the broker ends this connection.
    pub fn scissors(&self) -> Scissors {
        Scissors(self.is_cut.clone())
    }

    /// Whether the broker has ended this connection: nothing more is to be written to it.
    pub fn is_cut(&self) -> bool {
        self.is_cut.borrow().is_some()
    }

    /// The next thing to write, if there is one already.
    pub fn try_next(&mut self) -> Option<Outgoing> {
        self.deliveries.try_recv().ok()
    }

    /// The next thing to write to the other end.
    pub async fn next(&mut self) -> Option<Outgoing> {
        self.deliveries.recv().await
    }
}
