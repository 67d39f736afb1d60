//! The one way in: every door, the operator and discovered peers submit commands here.

mod link;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};

use switchboard_model::{
    AgentId, AgentView, AllowEntry, AnnouncedView, Announcement, AttemptId, Command, ConnectionId,
    DeadMessage, Door, Events, JobId, JobView, Message, Reply, RouteView, Totals, TurnedAway,
    WhatIf,
};
use switchboard_store::{FigureRecord, Opened, Store};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use tokio::task::JoinHandle;

use crate::clock::Now;
use crate::core::{Core, Ends, Loaded};
use crate::figures::Figures;
use crate::replies::{PendingReply, ReplyLine, ReplyTo};
use crate::{Listed, Metrics, Refusal, Rules, Settings};
pub use link::{Link, Scissors};

/// Commands waiting for the core. When full, the door that brings one more waits, and with it the
/// socket it reads from.
const INPUTS: usize = 4096;
/// What was told at a time and waits for a watcher; what waits is kept in memory, messages and all. When full,
/// the watcher loses the oldest, is told so, and starts over from a snapshot; the core never waits.
const EVENTS: usize = 256;
/// Announcements waiting for a watcher. When full, it misses the oldest; each is made again soon.
const ANNOUNCEMENTS: usize = 1024;

/// Something on its way into the core. Nothing is lost by waiting for it late; to let go of one that waits takes it back.
#[must_use = "what finds no room waits for it only while this is waited for"]
pub enum Putting {
    /// It is there, or nobody is there to take it.
    Done(Result<(), Refusal>),
    /// As much waits there as may. Boxed, so that what is usual need not be as large as what is rare.
    Waits(Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>>),
}

impl Putting {
    /// Waits for it, and does not mind if the broker has stopped.
    pub async fn quietly(self) {
        if self.await.is_err() {
            tracing::debug!("told a broker that has stopped");
        }
    }

    fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

impl Future for Putting {
    type Output = Result<(), Refusal>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Done(result) => Poll::Ready(std::mem::replace(result, Ok(()))),
            Self::Waits(waiting) => waiting.as_mut().poll(context),
        }
    }
}

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
    Route(WhatIf, oneshot::Sender<RouteView>),
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
    shared: Arc<Shared>,
}

/// What all handles have in common. Not the way into the core: that is counted, so that it ends with the last handle.
struct Shared {
    events: broadcast::Sender<Events>,
    announcements: broadcast::Sender<Arc<Announcement>>,
    announced_on_bus: broadcast::Sender<Arc<Message>>,
    totals: watch::Receiver<Totals>,
    next_connection: AtomicU64,
    live: AtomicU32,
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
        let core = Core::restore(settings, opened, ends, Now::read()).await;
        let task = tokio::spawn(core.run(inbox));
        let shared = Arc::new(Shared {
            events,
            announcements,
            announced_on_bus,
            totals,
            next_connection: AtomicU64::new(1),
            live: AtomicU32::new(0),
            open_letters,
            in_flight,
            metrics,
            figures,
            store,
        });
        (Self { inputs, shared }, task)
    }

    /// Opens a connection that does not speak for anyone yet. It ends when the link is dropped.
    /// `from` is where the other end is; none if it is in this program.
    pub async fn connect(&self, door: Door, from: Option<IpAddr>) -> Result<Link, Refusal> {
        let id = ConnectionId(self.shared.next_connection.fetch_add(1, Ordering::Relaxed));
        // As much as the core hands over before it hears of one. It overflows only where the door
        // writes nothing for longer than a delivery may take; the core treats that as a door gone.
        let (outbox, deliveries) = mpsc::channel(self.shared.in_flight.max(1));
        let (cut, is_cut) = watch::channel(None);
        let ends = (outbox.clone(), deliveries);
        self.put(Input::Connect { id, door, from, outbox, cut }).await?;
        Ok(Link::new(Caller::Connection(id), self.clone(), ends, is_cut))
    }

    /// Submits a command and waits for its reply: for a message, until it is on disk.
    pub async fn submit(&self, caller: Caller, command: Command) -> Result<Reply, Refusal> {
        self.begin(caller, command).await?.wait().await
    }

    /// Submits a command and returns at once with the way to its reply. Commands begun one after
    /// the other are taken in that order.
    pub async fn begin(&self, caller: Caller, command: Command) -> Result<PendingReply, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.put(Input::Submit { caller, command, reply: Some(ReplyTo::Waiting(reply)) }).await?;
        Ok(PendingReply(answer))
    }

    /// Submits a command whose reply comes by this line, with this tag. It is on its way before this is waited for.
    pub fn begin_in(
        &self,
        line: &ReplyLine,
        tag: Box<str>,
        caller: Caller,
        command: Command,
    ) -> Putting {
        self.put(Input::Submit { caller, command, reply: Some(line.promise(tag)) })
    }

    /// Submits a command whose reply nobody waits for, such as an answer to a delivery.
    pub fn tell(&self, caller: Caller, command: Command) -> Putting {
        self.put(Input::Submit { caller, command, reply: None })
    }

    /// Gives the core something to do: at once where there is room, and there nearly always is.
    fn put(&self, input: Input) -> Putting {
        match self.inputs.try_send(input) {
            Ok(()) => Putting::Done(Ok(())),
            Err(TrySendError::Closed(_)) => Putting::Done(Err(Refusal::Stopping)),
            Err(TrySendError::Full(input)) => {
                let inputs = self.inputs.clone();
                Putting::Waits(Box::pin(async move {
                    inputs.send(input).await.map_err(|_| Refusal::Stopping)
                }))
            }
        }
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

    /// Who would get this message now.
    pub async fn route(&self, what_if: WhatIf) -> Result<RouteView, Refusal> {
        self.ask(|reply| Input::Route(what_if, reply)).await.ok_or(Refusal::Stopping)
    }

    /// Announcements from now on, as they are believed.
    pub fn announcements(&self) -> broadcast::Receiver<Arc<Announcement>> {
        self.shared.announcements.subscribe()
    }

    /// What agents say on the discovery topic of the bus, from now on.
    pub fn announced_on_bus(&self) -> broadcast::Receiver<Arc<Message>> {
        self.shared.announced_on_bus.subscribe()
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
        &self.shared.store
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
        self.shared.events.subscribe()
    }

    /// Where every message is now.
    pub fn totals(&self) -> Totals {
        *self.shared.totals.borrow()
    }

    /// Dead letters that nobody has dealt with.
    pub fn open_letters(&self) -> u64 {
        self.shared.open_letters.load(Ordering::Relaxed)
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.shared.figures
    }

    /// What has been counted and measured since the start.
    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// Live connections, by whichever door.
    pub fn connections(&self) -> u32 {
        self.shared.live.load(Ordering::Relaxed)
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
        let counted = Input::Figures(self.shared.figures.close());
        if self.inputs.send(counted).await.is_err() || self.inputs.send(Input::Stop).await.is_err()
        {
            tracing::debug!("the core has stopped already");
        }
    }
}
