//! The one task that owns all state: registry, subscriptions, queues, messages on their way.
//!
//! Each pass takes what has arrived, decides, hands messages to outboxes, and sends one write to
//! the disk. In the order of a message's life: `members` come and go, with `tokens`, or only visit their `mailbox`, or are heard of by `announcing`; `control` is what the operator does about one of them; `accept` takes
//! messages in where `permit` lets them; `deliver` brings them to recipients, `answers` hears what they
//! say, `calling` brings the answers of requests to those who asked, `again` asks again, `waiting` keeps what
//! nobody can take yet, `payloads` leaves on disk what has to wait long, `unrouted` is about what
//! nobody listens for, `settle` ends it; `letters`, `jobs` and `import` are what the operator does with dead letters; `rules` are
//! the operator's, `keeping` what the operator keeps, `find` and `sharing` what agents ask of the broker; `lifecycle` tells agents of each other,
//! `what_if` tells the operator what would happen, `disk` writes it all down, and `news` tells those who watch.

mod accept;
mod again;
mod announcing;
mod answers;
mod calling;
mod control;
mod deliver;
mod disk;
mod find;
mod import;
mod jobs;
mod keeping;
mod letters;
mod lifecycle;
mod mailbox;
mod members;
mod news;
mod payloads;
mod permit;
mod promises;
mod rules;
mod settle;
mod sharing;
mod stop;
mod tokens;
mod unrouted;
mod waiting;
mod what_if;

#[cfg(test)]
mod simulation;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_model::{
    AgentId, Announcement, Command, ConnectionId, DeliveryId, Event, Events, Message, Receipt,
    Reply, Timestamp, Topic, Totals, Wait,
};
use switchboard_store::{Commit, Opened, Record, Store};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;

use crate::agenda::Agenda;
use crate::announced::Announced;
use crate::broker::{Caller, Input};
use crate::calls::Calls;
use crate::clock::Now;
use crate::deadlines::Deadlines;
use crate::dispatch::{Dispatch, Role};
use crate::identity::Guesses;
use crate::numbers::{ByNumber, Numbers};
use crate::parking::Parking;
use crate::receipts::Receipts;
use crate::registry::Registry;
use crate::replies::ReplyTo;
use crate::sessions::Sessions;
use crate::subscriptions::{Subscription, Subscriptions};
use crate::{Metrics, Refusal, Rules, Settings};
use import::Imports;
use jobs::Jobs;
use letters::Replaced;
use mailbox::Bells;
use payloads::Held;
use promises::Promises;

pub(crate) use payloads::Loaded;

/// Inputs taken in one pass: enough to make writes large, few enough that answers are not late.
const PASS: usize = 256;
/// How often the views of agents whose figures changed are shown again, and how soon the next of them if
/// there are many.
const SHOW_AGENTS: Duration = Duration::from_millis(500);
const SHOW_MORE: Duration = Duration::from_millis(100);

pub(crate) struct Core {
    settings: Settings,
    store: Store,
    /// The way back for what is read from the store beside the core. Does not keep it running.
    inputs: mpsc::WeakSender<Input>,
    commits: mpsc::Receiver<Commit>,
    events: broadcast::Sender<Events>,
    /// What was not told yet, and when it has to be.
    news: Vec<Event>,
    tell_by: Option<Instant>,
    totals: Totals,
    totals_out: watch::Sender<Totals>,
    registry: Registry,
    subscriptions: Subscriptions,
    parking: Parking,
    /// Messages whose recipients are being asked, or whose sender has not been answered.
    journeys: ByNumber<u64, Journey>,
    /// Deliveries that wait, are in flight, or are to be tried again.
    deliveries: ByNumber<DeliveryId, Open>,
    deadlines: Deadlines,
    /// Deliveries to be tried again.
    retries: Agenda<(u64, DeliveryId)>,
    /// Those of them whose recipients have not come back since the restart, and when they are due.
    absent: HashMap<AgentId, Vec<(u64, DeliveryId, Instant)>>,
    /// Messages whose time runs out.
    expiries: Agenda<(u64, Topic)>,
    /// Messages that are held for busy agents, and when their senders are told so.
    held_until: Agenda<u64>,
    /// Connections that may be handed something.
    ready: Vec<ConnectionId>,
    /// What the messages on their way keep in memory.
    held: Held,
    /// How many deliveries to each agent are to be tried again.
    resting: HashMap<AgentId, usize>,
    /// Until then those who were connected before the restart have time to come back.
    back_by: Instant,
    receipts: Receipts,
    /// Replies that wait until what they tell of is on disk.
    promises: Promises,
    /// Agents that fetch their mail, once that is on disk.
    bells: Bells,
    /// Those who gave wrong tokens.
    guesses: Guesses,
    rules: Rules,
    /// Grows with every change of the rules; what was permitted by an older one is asked for again.
    rules_version: u64,
    next_rule: u64,
    next_rule_change: u64,
    /// Requests that wait for an answer.
    calls: Calls,
    sessions: Sessions,
    /// Those who were announced.
    announced: Announced,
    announcements: broadcast::Sender<Arc<Announcement>>,
    announced_on_bus: broadcast::Sender<Arc<Message>>,
    metrics: Metrics,
    /// When it is time to see who was not heard of.
    pulses_at: Instant,
    /// When it is time to write down that the broker runs.
    running_at: Instant,
    /// The messages of dead letters that nobody has dealt with, and of those thrown away.
    letters: Numbers,
    discarded: Numbers,
    letters_out: Arc<AtomicU64>,
    jobs: Jobs,
    imports: Imports,
    /// What has not gone to the disk: new messages, and what became of others; since when, and when it
    /// has to.
    accepted: Vec<Record>,
    bookkeeping: Vec<Record>,
    unwritten_since: Option<Instant>,
    write_by: Option<Instant>,
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
    /// It need not be written before its recipients have answered.
    unanswered: bool,
    /// What the sender is told: how things stood when everyone had been asked once, or could not be.
    receipt: Option<Receipt>,
    /// It waits for a subscription.
    parked: bool,
    reply: Option<(ReplyTo, Wait)>,
    /// The dead letter that it was sent in the place of.
    replaces: Option<Replaced>,
    /// The version of the rules that let it pass.
    permitted_by: u64,
}

impl Journey {
    /// Everyone has been asked once, or cannot be asked now. What comes later is not told any more.
    fn is_asked_once(&mut self) {
        if self.receipt.is_none() {
            self.receipt = Some(self.dispatch.receipt());
        }
    }

    /// All there is to tell of it is that it was taken in and handed on.
    fn is_about_to_be_answered(&self) -> bool {
        self.unanswered && self.replaces.is_none() && self.dispatch.awaits_first_answer()
    }
}

/// A delivery that has not come to its end.
struct Open {
    seq: u64,
    role: Role,
    to: Arc<Subscription>,
    message: Arc<Message>,
    /// Which attempt this is, 1 for the first.
    attempt: u32,
    phase: Phase,
    /// The version of the rules that let it pass.
    permitted_by: u64,
}

/// Where a delivery is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    InLine,
    /// Out of the line, while what it carries is read from disk.
    Loading,
    /// In the recipient's hands since then.
    Handed(Timestamp),
    /// Until it is tried again.
    Resting,
}

/// The ends of the core that others hold.
pub(crate) struct Ends {
    pub(crate) inputs: mpsc::WeakSender<Input>,
    pub(crate) events: broadcast::Sender<Events>,
    pub(crate) totals: watch::Sender<Totals>,
    pub(crate) announcements: broadcast::Sender<Arc<Announcement>>,
    pub(crate) announced_on_bus: broadcast::Sender<Arc<Message>>,
    pub(crate) open_letters: Arc<AtomicU64>,
    pub(crate) metrics: Metrics,
}

impl Core {
    /// Takes up where the broker stopped: known agents are away, messages on their way wait.
    pub(crate) async fn restore(settings: Settings, opened: Opened, ends: Ends, now: Now) -> Self {
        let Opened { store, commits, restored } = opened;
        let back_by = now.monotonic + settings.timeout;
        let announced = Announced::restore(
            settings.discovery.clone(),
            restored.announced,
            restored.replaced,
            restored.allow_list,
        );
        let mut core = Self {
            settings,
            store,
            inputs: ends.inputs,
            commits,
            events: ends.events,
            news: Vec::new(),
            tell_by: None,
            totals: restored.totals,
            totals_out: ends.totals,
            registry: Registry::restore(restored.agents, &restored.tokens),
            subscriptions: Subscriptions::default(),
            parking: Parking::default(),
            journeys: ByNumber::default(),
            deliveries: ByNumber::default(),
            deadlines: Deadlines::default(),
            retries: Agenda::default(),
            absent: HashMap::new(),
            expiries: Agenda::default(),
            held_until: Agenda::default(),
            ready: Vec::new(),
            held: Held::default(),
            resting: HashMap::new(),
            back_by,
            receipts: Receipts::default(),
            promises: Promises::default(),
            bells: Bells::default(),
            guesses: Guesses::default(),
            rules: Rules::of(restored.rules.rules),
            rules_version: 1,
            next_rule: restored.rules.last_rule + 1,
            next_rule_change: restored.rules.last_change + 1,
            calls: Calls::default(),
            sessions: Sessions::restore(restored.sessions),
            announced,
            announcements: ends.announcements,
            announced_on_bus: ends.announced_on_bus,
            metrics: ends.metrics,
            pulses_at: now.monotonic,
            running_at: now.monotonic,
            letters: restored.open_letters.into_iter().collect(),
            discarded: restored.discarded_letters.into_iter().collect(),
            letters_out: ends.open_letters,
            jobs: Jobs::restore(restored.jobs),
            imports: Imports::default(),
            accepted: Vec::new(),
            bookkeeping: Vec::new(),
            unwritten_since: None,
            write_by: None,
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

    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Input>) {
        let mut inputs = Vec::with_capacity(PASS);
        let mut alarm = pin!(tokio::time::sleep_until(self.next_deadline()));
        while !self.is_done() {
            // Never put off: to be woken for nothing now and then costs less than to set it for every pass.
            let next_deadline = self.next_deadline();
            if next_deadline < alarm.deadline() || alarm.is_elapsed() {
                alarm.as_mut().reset(next_deadline);
            }
            tokio::select! {
                biased;
                commit = self.commits.recv(), if !self.store_lost => match commit {
                    Some(commit) => self.committed(commit),
                    None => self.lose_the_store(),
                },
                taken = inbox.recv_many(&mut inputs, PASS) => if taken == 0 { break },
                () = &mut alarm => {}
            }
            self.look_at_the_clock(Now::read());
            self.pass(&mut inputs).await;
        }
        self.close_down().await;
    }

    /// It is now this late. That somebody sets the time of day moves no deadline; it is told, because what is recorded
    /// from then on looks as if it had been earlier or much later.
    fn look_at_the_clock(&mut self, now: Now) {
        let before = std::mem::replace(&mut self.now, now);
        if let Some(micros) = now.set_since(before) {
            let seconds = micros / 1_000_000;
            tracing::warn!(seconds, "the clock of this machine was set");
            self.parking.clock_set(micros);
            self.journeys.values_mut().for_each(|journey| journey.dispatch.clock_set(micros));
        }
    }

    /// One pass: takes what has arrived, and does all that follows from it and from the time it is.
    async fn pass(&mut self, inputs: &mut Vec<Input>) {
        for input in inputs.drain(..) {
            self.handle(input);
        }
        self.do_what_is_due();
        self.hand_over();
        if self.show_agents_at <= self.now.monotonic {
            self.show_changed_agents();
            self.show_changed_jobs();
            let more = self.registry.has_more_to_show();
            self.show_agents_at = self.now.monotonic + if more { SHOW_MORE } else { SHOW_AGENTS };
        }
        self.write().await;
        self.tell_news();
        self.show_figures();
    }

    /// The last pass: nobody is left waiting.
    async fn close_down(&mut self) {
        self.answer_everyone_left();
        self.see_everyone_off();
        self.write_now().await;
        self.tell_news_now();
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Connect { id, door, from, outbox, cut } => {
                self.registry.connect(id, door, from, outbox, cut);
            }
            Input::Gone(id) => self.disconnect(id),
            Input::Submit { caller, command, reply } => self.command(caller, command, reply),
            Input::Agents(reply) => give(reply, self.registry.views(&self.parking)),
            Input::Jobs(reply) => give(reply, self.jobs.views()),
            Input::Route(what_if, reply) => give(reply, self.what_if(what_if)),
            Input::Rules(reply) => give(reply, self.rules.clone()),
            Input::Directory(reply) => give(reply, self.directory()),
            Input::Announced(reply) => {
                let (views, away) =
                    (self.announced.views(self.now.wall), self.announced.turned_away());
                give(reply, (views, away));
            }
            Input::AllowList(reply) => give(reply, self.announced.allow_list()),
            Input::KeyOf(agent, reply) => {
                let agent = self.registry.resolve(&agent);
                give(reply, self.announced.key_of(&agent));
            }
            Input::Resolve(name, reply) => {
                let agent = self.registry.resolve(&name);
                give(reply, self.registry.knows(&agent).then_some(agent));
            }
            Input::Bell(agent, reply) => {
                let agent = self.registry.resolve(&agent);
                give(reply, self.registry.bell(&agent));
            }
            Input::Payloads(loaded) => self.loaded(*loaded),
            Input::Letters { job, letters } => self.letters_read(job, letters),
            Input::Figures(figures) => {
                let records = figures.into_iter().map(|one| Record::Figures(Box::new(one)));
                self.bookkeeping.extend(records);
            }
            Input::Settings(settings, reply) => {
                self.change_settings(*settings);
                give(reply, ());
            }
            Input::Stop => self.stop_by = Some(self.now.monotonic + self.settings.drain),
        }
    }

    fn change_settings(&mut self, settings: Settings) {
        self.announced.change_rules(settings.discovery.clone());
        // An outbox is as large as it was made; to hand over more than it holds would look like an end of it.
        let in_flight = settings.in_flight.min(self.settings.in_flight);
        self.settings = Settings { in_flight, ..settings };
        // The next look may have been planned for long after the new interval.
        self.pulses_at = self.now.monotonic;
    }

    fn command(&mut self, caller: Caller, command: Command, reply: Option<ReplyTo>) {
        let result = match command {
            // Answered later: when the message is on disk and as far as its sender wants to wait.
            Command::Send(send) => return self.accept(caller, send, reply),
            Command::Replay(replay) => return self.replay(caller, &replay, reply),
            Command::Import(letters) => return self.import(caller, letters, reply),
            Command::Join(join) => return self.join(caller, join, reply),
            Command::Register(join) => return self.register(caller, join, reply),
            Command::EditRules { edits, note, undoes } => {
                return self.edit_rules(caller, edits, note, undoes, reply);
            }
            Command::IssueToken { agent, ceiling } => {
                return self.issue_token(caller, &agent, ceiling, reply);
            }
            Command::RevokeToken { agent } => return self.revoke_token(caller, &agent, reply),
            Command::Declare { capabilities, withdrawn } => {
                return self.declare(caller, capabilities, &withdrawn, reply);
            }
            Command::OpenSession(new) => return self.open_session(caller, new, reply),
            Command::UpdateSession(update) => return self.update_session(caller, update, reply),
            Command::Disconnect(agent) => return self.disconnect_agent(caller, &agent, reply),
            Command::Block { agent, blocked } => {
                return self.block_agent(caller, &agent, blocked, reply);
            }
            Command::NameAgent { agent, label } => {
                return self.name_agent(caller, &agent, label, reply);
            }
            Command::Appear(said, arrival) => return self.appear(caller, *said, &arrival, reply),
            Command::Admit { agent, fingerprint } => {
                return self.admit_agent(caller, &agent, fingerprint.as_deref(), reply);
            }
            Command::RefuseAgent(agent) => return self.refuse_agent(caller, &agent, reply),
            Command::ForgetAgent(agent) => return self.forget_agent(caller, &agent, reply),
            Command::EditAllowList { add, remove } => {
                return self.edit_allow_list(caller, add, remove, reply);
            }
            Command::Keep { kind, name, text } => {
                return self.keep(caller, kind, name, text, reply);
            }
            Command::Note { action, subjects } => {
                return self.note(caller, action, subjects, reply);
            }
            Command::TurnAway(away) => {
                self.turn_away(away);
                Ok(Reply::Done)
            }
            Command::Vanish { agent, mechanism } => self.vanish(&agent, mechanism),
            Command::Collect(messages) => return self.collect(caller, messages, reply),
            Command::Mark(mark) => return self.mark(caller, mark, reply),
            Command::Visit(visit) => return self.visit(caller, visit, reply),
            Command::Prove(token) => self.prove(caller, &token),
            Command::SetStatus(status) => self.set_status(caller, status),
            Command::Find(find) => self.find(caller, &find),
            Command::Leave => self.leave(caller),
            Command::Subscribe { pattern, policy, filter } => {
                self.subscribe(caller, pattern, policy, filter)
            }
            Command::Unsubscribe { pattern } => self.unsubscribe(caller, &pattern),
            Command::Answer { attempt, answer } => {
                self.hear(caller, attempt, answer);
                Ok(Reply::Done)
            }
            Command::Touch => self.touch(caller),
            Command::StartJob(new) => self.start_job(caller, new),
            Command::Announce { event, agent, detail } => operator_only(caller).map(|()| {
                self.announce(event, &agent, Some(&detail));
                Reply::Done
            }),
            Command::StopJob(id) => self.stop_job(caller, id),
            Command::ResumeJob(id) => self.resume_job(caller, id),
        };
        respond(reply, result);
    }

    /// What must be done because its time has come.
    fn do_what_is_due(&mut self) {
        self.end_calls();
        self.time_out();
        self.tell_of_held();
        self.ask_again();
        self.give_up_waiting();
        self.expire();
        self.work_on_jobs();
        self.check_pulses();
        self.end_announcements();
        self.say_that_it_runs();
    }

    fn next_deadline(&self) -> Instant {
        let deadlines = [
            self.deadlines.next(),
            self.retries.next(),
            self.parking.next_deadline(),
            self.expiries.next(),
            self.jobs.next(),
            self.calls.next_deadline(),
            self.held_until.next(),
            self.announced.next_deadline(),
            self.write_by,
            self.tell_by,
            self.stop_by,
        ];
        deadlines.into_iter().flatten().fold(self.show_agents_at, Instant::min)
    }

    fn show_changed_agents(&mut self) {
        let presences = self.registry.take_presences(self.now.wall);
        self.bookkeeping.extend(presences.into_iter().map(Record::Presence));
        for view in self.registry.take_changed(&self.parking) {
            self.tell(Event::Agent(Arc::new(view)));
        }
    }

    fn show_figures(&self) {
        self.totals_out.send_if_modified(|shown| {
            let is_news = *shown != self.totals;
            *shown = self.totals;
            is_news
        });
        self.metrics.show_depth(self.deliveries.len(), self.calls.len());
        self.letters_out.store(self.letters.len() as u64, Ordering::Relaxed);
    }
}

fn operator_only(caller: Caller) -> Result<(), Refusal> {
    match caller {
        Caller::Operator => Ok(()),
        Caller::Connection(_) => Err(Refusal::OperatorOnly),
    }
}

fn respond(reply: Option<ReplyTo>, result: Result<Reply, Refusal>) {
    if let Some(reply) = reply {
        reply.send(result);
    }
}

fn give<T>(reply: tokio::sync::oneshot::Sender<T>, answer: T) {
    if reply.send(answer).is_err() {
        tracing::debug!("who asked has gone");
    }
}
