//! The one task that owns all state: registry, subscriptions, queues, messages on their way.
//!
//! Each pass takes what has arrived, decides, hands messages to outboxes, and sends one write to
//! the disk. `accept` takes messages in, `deliver` brings them to recipients and hears answers.

mod accept;
mod deliver;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    AgentId, Command, ConnectionId, DeliveryId, Event, Join, Joined, Message, Pattern, Policy,
    Reply, SubscriptionId, Totals, Wait,
};
use switchboard_store::{Commit, Opened, QueueFull, Record, Store, SubscriptionRecord, Ticket};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;

use crate::broker::{Caller, Input, ReplyTo};
use crate::clock::Now;
use crate::deadlines::Deadlines;
use crate::dispatch::{Dispatch, Role};
use crate::parking::Parking;
use crate::receipts::Receipts;
use crate::registry::Registry;
use crate::subscriptions::{Subscription, Subscriptions};
use crate::{Refusal, Settings};

/// Inputs taken in one pass: enough to make writes large, few enough that answers are not late.
const PASS: usize = 256;
/// How often the views of agents whose figures changed are shown again.
const SHOW_AGENTS: Duration = Duration::from_millis(500);
/// Messages read at a time when the broker comes back.
const RECOVER: u32 = 500;

pub(crate) struct Core {
    settings: Settings,
    store: Store,
    commits: mpsc::Receiver<Commit>,
    events: broadcast::Sender<Event>,
    totals: Totals,
    totals_out: watch::Sender<Totals>,
    registry: Registry,
    subscriptions: Subscriptions,
    parking: Parking,
    /// Messages whose recipients are being asked, or whose sender has not been answered.
    journeys: HashMap<u64, Journey>,
    /// Deliveries that wait or are in flight.
    deliveries: HashMap<DeliveryId, Open>,
    deadlines: Deadlines,
    receipts: Receipts,
    /// What this pass writes: new messages, and what became of others.
    accepted: Vec<Record>,
    bookkeeping: Vec<Record>,
    next_seq: u64,
    next_delivery: u64,
    next_subscription: u64,
    now: Now,
    show_agents_at: Instant,
    stop_by: Option<Instant>,
    /// Nothing can be written any more.
    store_lost: bool,
}

/// A message on its way, and who waits to hear of it.
struct Journey {
    dispatch: Dispatch,
    on_disk: bool,
    /// Everyone has been asked once, or cannot be asked now.
    asked_once: bool,
    reply: Option<(ReplyTo, Wait)>,
}

/// A delivery that has not been answered.
struct Open {
    seq: u64,
    role: Role,
    to: Arc<Subscription>,
    message: Arc<Message>,
    started_at: Option<switchboard_model::Timestamp>,
}

impl Core {
    /// Takes up where the broker stopped: known agents are away, messages on their way wait.
    pub(crate) async fn restore(
        settings: Settings,
        opened: Opened,
        events: broadcast::Sender<Event>,
        totals_out: watch::Sender<Totals>,
    ) -> Self {
        let Opened { store, commits, restored } = opened;
        let now = Now::read();
        let mut core = Self {
            settings,
            store,
            commits,
            events,
            totals: restored.totals,
            totals_out,
            registry: Registry::restore(restored.agents),
            subscriptions: Subscriptions::default(),
            parking: Parking::default(),
            journeys: HashMap::new(),
            deliveries: HashMap::new(),
            deadlines: Deadlines::default(),
            receipts: Receipts::default(),
            accepted: Vec::new(),
            bookkeeping: Vec::new(),
            next_seq: restored.next_seq,
            next_delivery: restored.next_delivery,
            next_subscription: restored.next_subscription,
            now,
            show_agents_at: now.monotonic,
            stop_by: None,
            store_lost: false,
        };
        core.recover().await;
        core
    }

    /// Parks every message that was on its way when the broker ended. Those for an agent wait for
    /// it; those on a topic get one delivery time for somebody to come back.
    async fn recover(&mut self) {
        let mut after = 0;
        loop {
            let page = match self.store.waiting(after, RECOVER).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(%error, "could not read the messages that were on their way");
                    return;
                }
            };
            let Some(last) = page.last() else { return };
            after = last.seq;
            for message in page {
                let until = match message.address.agent() {
                    Some(_) => None,
                    None => Some(self.now.monotonic + self.settings.timeout),
                };
                self.parking.park(Arc::new(message), until);
            }
        }
    }

    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Input>) {
        let mut inputs = Vec::with_capacity(PASS);
        while !self.is_done() {
            let next_deadline = self.next_deadline();
            tokio::select! {
                biased;
                commit = self.commits.recv(), if !self.store_lost => match commit {
                    Some(commit) => self.committed(commit),
                    None => self.lose_the_store(),
                },
                taken = inbox.recv_many(&mut inputs, PASS) => if taken == 0 { break },
                () = tokio::time::sleep_until(next_deadline) => {}
            }
            self.now = Now::read();
            for input in inputs.drain(..) {
                self.handle(input);
            }
            self.enforce_deadlines();
            if self.show_agents_at <= self.now.monotonic {
                self.show_changed_agents();
                self.show_agents_at = self.now.monotonic + SHOW_AGENTS;
            }
            self.write().await;
            self.totals_out.send_replace(self.totals);
        }
        self.answer_everyone_left();
        self.see_everyone_off();
        self.write().await;
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Connect { id, door, outbox } => self.registry.connect(id, door, outbox),
            Input::Gone(id) => self.disconnect(id),
            Input::Submit { caller, command, reply } => self.command(caller, command, reply),
            Input::Agents(reply) => {
                if reply.send(self.registry.views(&self.parking)).is_err() {
                    tracing::debug!("who asked for the agents has gone");
                }
            }
            Input::Stop => self.stop_by = Some(self.now.monotonic + self.settings.drain),
        }
    }

    fn command(&mut self, caller: Caller, command: Command, reply: Option<ReplyTo>) {
        let result = match command {
            // Answered later: when the message is on disk and as far as its sender wants to wait.
            Command::Send(send) => return self.accept(caller, send, reply),
            Command::Join(join) => self.join(caller, join),
            Command::Leave => self.leave(caller),
            Command::Subscribe { pattern, policy } => self.subscribe(caller, pattern, policy),
            Command::Unsubscribe { pattern } => self.unsubscribe(caller, &pattern),
            Command::Answer { delivery, answer } => {
                self.hear(caller, delivery, answer);
                Ok(Reply::Done)
            }
            Command::Touch => self.touch(caller),
        };
        respond(reply, result);
    }

    fn join(&mut self, caller: Caller, join: Join) -> Result<Reply, Refusal> {
        let id = connection_of(caller)?;
        if let Some(agent) = self.registry.connection(id).and_then(|one| one.agent.clone()) {
            return Err(Refusal::AlreadyJoined(agent));
        }
        if join.agent.is_reserved() {
            return Err(Refusal::ReservedId(join.agent));
        }
        if self.stop_by.is_some() {
            return Err(Refusal::Stopping);
        }
        let record = self.registry.join(id, join, self.now.wall).ok_or(Refusal::NotJoined)?;
        self.bookkeeping.push(Record::Agent(record));
        self.show_changed_agents();
        Ok(Reply::Joined(Joined { server: AgentId::switchboard() }))
    }

    fn leave(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        self.disconnect(connection_of(caller)?);
        Ok(Reply::Done)
    }

    fn touch(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        let (_, agent) = self.speaker(caller)?;
        self.registry.touch(&agent, self.now.wall);
        Ok(Reply::Done)
    }

    fn subscribe(
        &mut self,
        caller: Caller,
        pattern: Pattern,
        policy: Option<Policy>,
    ) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let policy = policy.unwrap_or(self.settings.policy);
        let connection = self.registry.connection_mut(id).ok_or(Refusal::NotJoined)?;
        let same = connection.subscriptions.iter().position(|one| one.pattern == pattern);
        if same.is_some_and(|at| connection.subscriptions[at].policy == policy) {
            return Err(Refusal::AlreadySubscribed(pattern));
        }
        if same.is_none() && connection.subscriptions.len() >= self.settings.subscriptions {
            return Err(Refusal::TooManySubscriptions(self.settings.subscriptions));
        }
        let subscription = Arc::new(Subscription {
            id: SubscriptionId(self.next_subscription),
            connection: id,
            agent: agent.clone(),
            door: connection.door,
            pattern: pattern.clone(),
            policy,
            since: self.now.wall,
        });
        self.next_subscription += 1;
        let replaced = same.map(|at| connection.subscriptions.remove(at));
        connection.subscriptions.push(subscription.clone());
        if let Some(older) = replaced {
            self.forget_subscription(&older);
        }
        self.bookkeeping.push(Record::Subscribed(SubscriptionRecord {
            id: subscription.id,
            agent: agent.clone(),
            door: subscription.door,
            pattern: pattern.to_string(),
            policy,
            at: self.now.wall,
        }));
        let subscription_id = subscription.id;
        self.subscriptions.insert(subscription);
        self.registry.touch(&agent, self.now.wall);
        self.deliver_parked(&pattern, &agent);
        self.show_changed_agents();
        Ok(Reply::Subscribed(subscription_id))
    }

    fn unsubscribe(&mut self, caller: Caller, pattern: &Pattern) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let connection = self.registry.connection_mut(id).ok_or(Refusal::NotJoined)?;
        let Some(at) = connection.subscriptions.iter().position(|one| one.pattern == *pattern)
        else {
            return Err(Refusal::NotSubscribed(pattern.clone()));
        };
        let gone = connection.subscriptions.remove(at);
        self.forget_subscription(&gone);
        self.registry.touch(&agent, self.now.wall);
        self.show_changed_agents();
        Ok(Reply::Done)
    }

    fn forget_subscription(&mut self, gone: &Subscription) {
        self.subscriptions.remove(&gone.pattern, gone.id);
        self.bookkeeping.push(Record::Unsubscribed { id: gone.id, at: self.now.wall });
    }

    fn disconnect(&mut self, id: ConnectionId) {
        let Some(connection) = self.registry.disconnect(id, self.now.wall) else {
            return;
        };
        for subscription in &connection.subscriptions {
            self.forget_subscription(subscription);
        }
        for delivery in connection.line.all() {
            self.recipient_gone(delivery);
        }
        if let Some(agent) = connection.agent {
            self.bookkeeping.push(Record::AgentSeen { id: agent, at: self.now.wall });
        }
        self.show_changed_agents();
    }

    /// The agent that a caller speaks for.
    fn speaker(&self, caller: Caller) -> Result<(ConnectionId, AgentId), Refusal> {
        let id = connection_of(caller)?;
        let agent = self.registry.connection(id).and_then(|one| one.agent.clone());
        agent.map(|agent| (id, agent)).ok_or(Refusal::NotJoined)
    }

    fn show_changed_agents(&mut self) {
        for view in self.registry.take_changed(&self.parking) {
            self.tell(Event::Agent(Arc::new(view)));
        }
    }

    fn tell(&self, event: Event) {
        // Nobody watching is no fault.
        drop(self.events.send(event));
    }

    fn next_deadline(&self) -> Instant {
        let deadlines = [self.deadlines.next(), self.parking.next_deadline(), self.stop_by];
        deadlines.into_iter().flatten().fold(self.show_agents_at, Instant::min)
    }

    /// Sends this pass to the disk. New messages go first and apart, because they can be refused;
    /// what became of others cannot, and waits for room.
    async fn write(&mut self) {
        if !self.accepted.is_empty() {
            let pass = std::mem::take(&mut self.accepted);
            match self.store.try_write(pass) {
                Ok(ticket) => self.receipts.handed_over(ticket),
                Err(QueueFull) => {
                    let refused = self.receipts.take_unwritten();
                    self.withdraw(refused, &Refusal::DiskBusy);
                }
            }
        }
        if !self.bookkeeping.is_empty() {
            let pass = std::mem::take(&mut self.bookkeeping);
            if let Err(closed) = self.store.write(pass).await {
                tracing::error!(%closed, "the store closed before the broker");
            }
        }
    }

    fn committed(&mut self, commit: Commit) {
        match commit {
            Commit::Done { up_to } => {
                for seq in self.receipts.take_up_to(up_to) {
                    if let Some(journey) = self.journeys.get_mut(&seq) {
                        journey.on_disk = true;
                    }
                    self.answer_sender(seq);
                }
            }
            Commit::Failed { tickets, error } => {
                tracing::error!(%error, "messages could not be written to disk and were refused");
                for ticket in tickets {
                    let refused = self.receipts.take(ticket);
                    self.withdraw(refused, &Refusal::StorageFailed);
                }
            }
        }
    }

    /// Nothing more can be promised: whoever waits for the disk is told, and the broker stops.
    fn lose_the_store(&mut self) {
        tracing::error!("the store has ended; the broker stops");
        self.store_lost = true;
        let refused = self.receipts.take_up_to(Ticket(u64::MAX));
        self.withdraw(refused, &Refusal::StorageFailed);
        self.stop_by = Some(self.now.monotonic);
    }

    /// Whether a stopping broker has nothing left to wait for.
    fn is_done(&self) -> bool {
        let Some(stop_by) = self.stop_by else {
            return false;
        };
        let in_flight = self.deliveries.values().any(|open| open.started_at.is_some());
        let on_disk = self.receipts.outstanding() == 0;
        on_disk && (!in_flight || stop_by <= self.now.monotonic)
    }

    /// Whoever is connected now was seen until now, and listens no longer.
    fn see_everyone_off(&mut self) {
        let (agents, subscriptions) = self.registry.connected();
        for id in agents {
            self.bookkeeping.push(Record::AgentSeen { id, at: self.now.wall });
        }
        for id in subscriptions {
            self.bookkeeping.push(Record::Unsubscribed { id, at: self.now.wall });
        }
    }

    /// What is still on its way is on disk and goes on when the broker is back.
    fn answer_everyone_left(&mut self) {
        for (_, journey) in self.journeys.drain() {
            let receipt = journey.dispatch.receipt();
            respond(journey.reply.map(|(reply, _)| reply), Ok(Reply::Sent(receipt)));
        }
    }
}

fn connection_of(caller: Caller) -> Result<ConnectionId, Refusal> {
    match caller {
        Caller::Connection(id) => Ok(id),
        // The operator sends and administers, but is no agent: it joins and subscribes to nothing.
        Caller::Operator => Err(Refusal::NotJoined),
    }
}

fn respond(reply: Option<ReplyTo>, result: Result<Reply, Refusal>) {
    if reply.is_some_and(|reply| reply.send(result).is_err()) {
        tracing::debug!("who asked has gone");
    }
}
