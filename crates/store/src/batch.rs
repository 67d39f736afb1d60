//! What a set of writes comes to. Facts about a row that is itself new in the batch change the row
//! before it is inserted, so that a message which is settled at once costs one insert and no update.
//!
//! Pure: the outcome on disk is the same as if each record were written by itself, in order.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

use switchboard_model::{
    AgentId, AttemptOutcome, DeliveryId, DeliveryState, JobId, Message, MessageState, Timestamp,
    fail_here,
};

use crate::record::{
    AgentRecord, AttemptRecord, DeliveryRecord, FigureRecord, JobRecord, LetterRecord, MailChange,
    PresenceRecord, Record, RulesRecord, SavedChange, SessionRecord, SubscriptionRecord,
    TokenChange, TrustChange,
};
use crate::total::Delta;

/// The number of the first attempt, which is kept with its delivery.
pub(crate) const FIRST: u32 = 1;
/// What a row may carry and still be in one page, whatever its names.
const ONE_PAGE: usize = 2_000;

/// The rows to insert and change in one transaction.
#[derive(Default)]
pub(crate) struct Batch<'a> {
    pub(crate) agents: Vec<AgentChange>,
    pub(crate) subscriptions: Vec<SubscriptionChange>,
    pub(crate) messages: Vec<NewMessage<'a>>,
    /// Changes to messages that are on disk already, in order.
    pub(crate) settles: Vec<Settle<'a>>,
    pub(crate) deliveries: Vec<NewDelivery<'a>>,
    /// Changes to deliveries that are on disk already, each at most once.
    pub(crate) changes: Vec<DeliveryChange<'a>>,
    /// Attempts after the first.
    pub(crate) attempts: Vec<&'a AttemptRecord>,
    pub(crate) dead_letters: Vec<NewDeadLetter>,
    /// What became of dead letters, in order.
    pub(crate) letters: Vec<LetterRecord>,
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) audits: Vec<NewAudit>,
    pub(crate) tokens: Vec<TokenChange>,
    pub(crate) mail: Vec<MailChange>,
    pub(crate) trust: Vec<TrustChange>,
    pub(crate) rules: Vec<RulesRecord>,
    pub(crate) sessions: Vec<SessionRecord>,
    pub(crate) presences: Vec<PresenceRecord>,
    /// The broker runs, at least until then.
    pub(crate) running: Option<Timestamp>,
    pub(crate) figures: Vec<FigureRecord>,
    pub(crate) saved: Vec<SavedChange>,
    /// What is known of the totals before anything is updated.
    pub(crate) delta: Delta,
    places: Places,
}

/// Where in the batch a thing is.
#[derive(Default)]
struct Places {
    agent: HashMap<AgentId, usize>,
    message: HashMap<u64, usize, Spread>,
    delivery: HashMap<DeliveryId, usize, Spread>,
    change: HashMap<DeliveryId, usize, Spread>,
    job: HashMap<JobId, usize>,
    /// Messages that are known to have come to a mailbox. There is one for each.
    mail: HashSet<u64, Spread>,
}

/// Hashes our own numbers, which nobody outside chooses, by one multiplication.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio; the upper half of the product is where the bits are mixed best.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl BuildHasher for Spread {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self::default()
    }
}

/// What happens to the registry.
pub(crate) enum AgentChange {
    Known(AgentRecord),
    Seen { id: AgentId, at: Timestamp },
}

/// What happens to the history of subscriptions.
pub(crate) enum SubscriptionChange {
    Began(SubscriptionRecord),
    Ended { id: u64, at: Timestamp },
}

/// A message to insert, as it is at the end of the batch.
pub(crate) struct NewMessage<'a> {
    pub(crate) message: &'a Message,
    pub(crate) state: MessageState,
    pub(crate) settled_at: Option<Timestamp>,
    pub(crate) taken_by: Option<&'a AgentId>,
    pub(crate) error: Option<&'a str>,
    /// How many deliveries of it are in the batch, and where the last of them is.
    asked: usize,
    last_asked: usize,
    /// Its only delivery and how that went, where both are kept in the message's own row.
    pub(crate) taken: Option<(&'a DeliveryRecord, &'a AttemptRecord)>,
}

impl NewMessage<'_> {
    /// The addressed agent, or else the one that took it.
    pub(crate) fn recipient(&self) -> Option<&AgentId> {
        self.message.address.agent().or(self.taken_by)
    }
}

/// A change to a message that is on disk already.
pub(crate) struct Settle<'a> {
    pub(crate) message: u64,
    pub(crate) from: MessageState,
    pub(crate) state: MessageState,
    pub(crate) settled_at: Option<Timestamp>,
    pub(crate) to: Option<&'a AgentId>,
    pub(crate) error: Option<&'a str>,
}

/// A delivery to insert, as it is at the end of the batch.
pub(crate) struct NewDelivery<'a> {
    pub(crate) record: &'a DeliveryRecord,
    /// Its message is new too, so that nobody need look whether it is there.
    pub(crate) of_new_message: bool,
    pub(crate) standing: Standing,
    pub(crate) first: Option<&'a AttemptRecord>,
    /// It is kept in the row of its message.
    pub(crate) in_message: bool,
}

impl<'a> NewDelivery<'a> {
    /// The one attempt at it, if that is all there is to say and the message's own row can say it.
    fn fits_into(&self, message: &NewMessage<'_>) -> Option<&'a AttemptRecord> {
        let attempt = self.first?;
        let is_over = self.standing == Standing { state: DeliveryState::Processed, due_at: None };
        let answer = attempt.payload.as_ref().map_or(0, |answer| answer.bytes());
        let words = attempt.message.as_ref().map_or(0, String::len);
        let fits = message.asked == 1
            && message.state == MessageState::Processed
            && is_over
            && attempt.outcome == AttemptOutcome::Processed
            && !self.record.observer
            && self.record.at == message.message.accepted_at
            && message.recipient() == Some(&self.record.agent)
            && message.message.payload.bytes() + answer + words <= ONE_PAGE;
        fits.then_some(attempt)
    }
}

/// A change to a delivery that is on disk already.
pub(crate) struct DeliveryChange<'a> {
    pub(crate) id: DeliveryId,
    pub(crate) standing: Standing,
    pub(crate) first: Option<&'a AttemptRecord>,
}

/// Where a delivery is, and when its recipient is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: DeliveryState,
    pub(crate) due_at: Option<Timestamp>,
}

/// A dead letter to insert or open again.
pub(crate) struct NewDeadLetter {
    pub(crate) message: u64,
    pub(crate) reason: &'static str,
    pub(crate) at: Timestamp,
}

/// Something to be asked about later.
pub(crate) struct NewAudit {
    pub(crate) at: Timestamp,
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) subject: String,
    pub(crate) detail: Option<String>,
}

impl<'a> Batch<'a> {
    /// What these records come to, in their order.
    pub(crate) fn of(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut batch = Self::default();
        for record in records {
            batch.add(record);
        }
        batch.put_into_messages();
        if !batch.messages.is_empty() {
            fail_here("writer");
        }
        batch
    }

    /// Whether all that it adds to the totals stands in the rows of its new messages.
    pub(crate) fn is_told_by_its_messages(&self) -> bool {
        let more_deliveries = self.deliveries.iter().any(|delivery| !delivery.in_message)
            || !(self.changes.is_empty() && self.attempts.is_empty());
        self.settles.is_empty() && !more_deliveries && self.delta.last_subscription == 0
    }

    /// A delivery about which there is no more to say than its message's row can is part of that.
    fn put_into_messages(&mut self) {
        for message in self.messages.iter_mut().filter(|message| message.asked == 1) {
            let Some(delivery) = self.deliveries.get_mut(message.last_asked) else { continue };
            if let Some(attempt) = delivery.fits_into(message) {
                message.taken = Some((delivery.record, attempt));
                delivery.in_message = true;
            }
        }
    }

    fn add(&mut self, record: &'a Record) {
        match record {
            Record::Agent(agent) => {
                self.places.agent.insert(agent.id.clone(), self.agents.len());
                self.agents.push(AgentChange::Known(agent.clone()));
            }
            Record::AgentSeen { id, at } => self.seen(id, *at),
            Record::Presence(presence) => self.presences.push(presence.clone()),
            Record::Running(at) => self.running = self.running.max(Some(*at)),
            Record::Subscribed(subscription) => {
                self.delta.last_subscription = self.delta.last_subscription.max(subscription.id.0);
                self.subscriptions.push(SubscriptionChange::Began(subscription.clone()));
            }
            Record::Unsubscribed { id, at } => {
                self.subscriptions.push(SubscriptionChange::Ended { id: id.0, at: *at });
            }
            Record::Message(message) => self.accept(message),
            Record::Refused { message, error } => self.refuse(message, error),
            Record::Token(change) => self.tokens.push(change.clone()),
            Record::Mail(change) => self.mail(change),
            Record::Trust(change) => self.trust.push(change.clone()),
            Record::Rules(rules) => self.rules.push((**rules).clone()),
            Record::Session(session) => self.sessions.push((**session).clone()),
            Record::Figures(figures) => self.figures.push((**figures).clone()),
            Record::Saved(change) => self.saved.push(change.clone()),
            Record::Delivery(delivery) => self.deliver(delivery),
            Record::Attempt(attempt) => self.attempted(attempt),
            Record::DeliveryEnded(id) => {
                self.stands(*id, Standing { state: DeliveryState::Failed, due_at: None }, None);
            }
            Record::Settled { message, from, state, at, to, error } => self.settle(Settle {
                message: *message,
                from: *from,
                state: *state,
                settled_at: Some(*at),
                to: to.as_ref(),
                error: error.as_deref(),
            }),
            Record::DeadLetter { message, reason, at } => self.dead_letters.push(NewDeadLetter {
                message: *message,
                reason: reason.as_str(),
                at: *at,
            }),
            Record::Letter(letter) => self.letters.push(letter.clone()),
            Record::Job(job) => match self.places.job.get(&job.view.id) {
                Some(place) => self.jobs[*place] = (**job).clone(),
                None => {
                    self.places.job.insert(job.view.id, self.jobs.len());
                    self.jobs.push((**job).clone());
                }
            },
            Record::Audit { at, actor, action, subject, detail } => self.audits.push(NewAudit {
                at: *at,
                actor: actor.clone(),
                action: action.clone(),
                subject: subject.clone(),
                detail: detail.clone(),
            }),
        }
    }

    fn seen(&mut self, id: &AgentId, at: Timestamp) {
        let place = self.places.agent.get(id).copied();
        match place.and_then(|place| self.agents.get_mut(place)) {
            Some(AgentChange::Known(agent)) => agent.last_seen = agent.last_seen.max(at),
            Some(AgentChange::Seen { at: last, .. }) => *last = (*last).max(at),
            None => {
                self.places.agent.insert(id.clone(), self.agents.len());
                self.agents.push(AgentChange::Seen { id: id.clone(), at });
            }
        }
    }

    /// That a message lies in a mailbox is said when it comes, and again when it waits there.
    fn mail(&mut self, change: &MailChange) {
        let is_news = match change {
            MailChange::Arrived { message, .. } => self.places.mail.insert(*message),
            MailChange::Removed { message, .. } => {
                self.places.mail.remove(message);
                true
            }
            MailChange::Read { .. } | MailChange::Said { .. } => true,
        };
        if is_news {
            self.mail.push(change.clone());
        }
    }

    fn accept(&mut self, message: &'a Message) {
        self.delta.last_seq = self.delta.last_seq.max(message.seq);
        self.delta.accepted += 1;
        self.delta.enter(MessageState::Waiting, 1);
        self.places.message.insert(message.seq, self.messages.len());
        self.messages.push(NewMessage {
            message,
            state: MessageState::Waiting,
            settled_at: None,
            taken_by: None,
            error: None,
            asked: 0,
            last_asked: 0,
            taken: None,
        });
    }

    /// Its number is used up, but it counts nowhere.
    fn refuse(&mut self, message: &'a Message, error: &'a str) {
        self.delta.last_seq = self.delta.last_seq.max(message.seq);
        self.messages.push(NewMessage {
            message,
            state: MessageState::Refused,
            settled_at: Some(message.accepted_at),
            taken_by: None,
            error: Some(error),
            asked: 0,
            last_asked: 0,
            taken: None,
        });
    }

    fn deliver(&mut self, delivery: &'a DeliveryRecord) {
        self.delta.last_delivery = self.delta.last_delivery.max(delivery.id.0);
        let place = self.deliveries.len();
        self.places.delivery.insert(delivery.id, place);
        let message = self.places.message.get(&delivery.message).copied();
        if let Some(message) = message.and_then(|place| self.messages.get_mut(place)) {
            message.asked += 1;
            message.last_asked = place;
        }
        self.deliveries.push(NewDelivery {
            record: delivery,
            of_new_message: message.is_some(),
            standing: Standing { state: DeliveryState::Waiting, due_at: None },
            first: None,
            in_message: false,
        });
    }

    fn attempted(&mut self, attempt: &'a AttemptRecord) {
        let id = attempt.delivery;
        // Its delivery may have been refused with its message; its number is used up all the same.
        self.delta.last_delivery = self.delta.last_delivery.max(id.0);
        let is_first = attempt.number == FIRST;
        let standing = Standing { state: attempt.state, due_at: attempt.due_at };
        self.stands(id, standing, Some(attempt).filter(|_| is_first));
        if !is_first {
            self.attempts.push(attempt);
        }
    }

    /// What is said of a first attempt once stays.
    fn stands(&mut self, id: DeliveryId, standing: Standing, first: Option<&'a AttemptRecord>) {
        let fresh = self.places.delivery.get(&id);
        if let Some(delivery) = fresh.and_then(|place| self.deliveries.get_mut(*place)) {
            delivery.standing = standing;
            delivery.first = delivery.first.or(first);
            return;
        }
        let changed = self.places.change.get(&id);
        if let Some(change) = changed.and_then(|place| self.changes.get_mut(*place)) {
            change.standing = standing;
            change.first = change.first.or(first);
            return;
        }
        self.places.change.insert(id, self.changes.len());
        self.changes.push(DeliveryChange { id, standing, first });
    }

    fn settle(&mut self, mut settle: Settle<'a>) {
        let at = settle.settled_at.take();
        if settle.state != MessageState::Waiting {
            settle.settled_at = at;
        }
        let fresh = self.places.message.get(&settle.message).copied();
        match fresh.and_then(|place| self.messages.get_mut(place)) {
            Some(message) if message.state != settle.from => {}
            Some(message) => {
                message.state = settle.state;
                message.settled_at = settle.settled_at;
                // What went wrong once stays known, whatever became of the message since.
                message.error = settle.error.or(message.error);
                message.taken_by = message.taken_by.or(settle.to);
                self.delta.moved(settle.from, settle.state, 1);
            }
            None => self.settles.push(settle),
        }
    }
}
