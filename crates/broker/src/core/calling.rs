//! Requests and their answers, whichever doors they come by. Who asked hears once: what the provider
//! answered, or why there is no answer.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    Address, Again, AgentId, Answer, AttemptOutcome, ConnectionId, Context, ConversationId,
    DeadReason, DeliveryId, Dialect, Door, Failure, Kind, Message, MessageState, Outcome, Payload,
    Priority, Send, Timestamp, Topic, Wait,
};
use tokio::time::Instant;

use super::accept::Origin;
use super::permit::Said;
use super::{Core, Phase, respond};
use crate::Refusal;
use crate::calls::Call;
use crate::dispatch::{Role, Verdict};
use crate::registry::Offer;
use crate::replies::ReplyTo;
use crate::route::Plan;

/// For how long after their time askers are still told that there was no answer, where the broker was down.
const UNTOLD: Duration = Duration::from_secs(60 * 60);
/// For how long news of a failure are kept for an asker that is away.
const NEWS_OF_FAILURE: Duration = Duration::from_secs(300);

impl Core {
    /// Remembers a request whose answer has to find its way back by itself. Between two peers of the
    /// bus the acknowledgement carries it.
    pub(super) fn open_call(&mut self, message: &Arc<Message>, plan: &Plan) {
        let Some(provider) = message.address.agent() else { return };
        if message.kind != Kind::Request {
            return;
        }
        let by_message = message.door.answers_by_message();
        let checked = self.offer_of(provider, message).is_some_and(|one| !one.output.accepts_all());
        let on_the_bus = |plan: &Plan| {
            !plan.chain.is_empty() && plan.chain.iter().all(|one| !one.door.answers_by_message())
        };
        if by_message || checked || !self.rules.is_empty() || !on_the_bus(plan) {
            let deadline = self.answer_deadline(message);
            self.calls.open(message, by_message, deadline);
        }
    }

    /// A request goes to someone who answers by a message of its own.
    pub(super) fn await_answer(&mut self, message: &Arc<Message>) {
        if message.kind == Kind::Request && self.calls.get(message.seq).is_none() {
            // Its asker hears by the acknowledgement, or has heard already.
            self.calls.open(message, false, None);
        }
    }

    /// A request that was on its way when the broker ended.
    pub(super) fn reopen_call(&mut self, message: &Arc<Message>) {
        if message.kind == Kind::Request && message.address.agent().is_some() {
            let deadline = self.answer_deadline(message);
            self.calls.open(message, message.door.answers_by_message(), deadline);
        }
    }

    /// Requests that somebody had taken, and whose askers still wait, or were never told that there is no
    /// answer.
    pub(super) async fn recover_calls(&mut self) {
        let micros = i64::try_from(UNTOLD.as_micros()).unwrap_or(i64::MAX);
        let since = Timestamp(self.now.wall.0.saturating_sub(micros));
        let unanswered = self.store.unanswered(since).await.unwrap_or_else(|error| {
            tracing::error!(%error, "could not read which requests wait for an answer");
            Vec::new()
        });
        for message in unanswered.into_iter().map(Arc::new) {
            self.reopen_call(&message);
            if let Some(provider) = message.address.agent() {
                self.note_taken(message.seq, provider);
            }
        }
    }

    /// Someone took a request without an answer. There is room for so many of those; of the oldest it is said
    /// that there is none.
    pub(super) fn note_taken(&mut self, seq: u64, by: &AgentId) {
        let Some(oldest) = self.calls.taken(seq, by) else { return };
        match self.calls.get(oldest).is_some_and(|call| call.by_message) {
            true => self.call_failed(oldest, "TIMEOUT", "it was taken, and not answered for long"),
            false => drop(self.calls.close(oldest)),
        }
    }

    fn answer_deadline(&self, message: &Message) -> Option<Instant> {
        let by = message.answer_by?;
        // Never longer than it was to be in the beginning, though the clock may have been set back since.
        let left = by.micros_since(self.now.wall).min(by.micros_since(message.accepted_at));
        Some(self.now.monotonic + Duration::from_micros(left))
    }

    fn offer_of(&self, provider: &AgentId, message: &Message) -> Option<&Offer> {
        self.registry.offers(provider)?.get(message.capability.as_deref()?)
    }

    /// The open request that this answers: from one that was asked, to the one that did ask.
    pub(super) fn call_answered_by(&self, from: &AgentId, send: &Send) -> Option<u64> {
        if send.kind != Kind::Response {
            return None;
        }
        let (caller, key) = (send.address.agent()?, send.correlation.as_deref()?);
        let was_asked = |seq: &u64| {
            let took_it =
                self.calls.get(*seq).and_then(|call| call.taken_by.as_ref()) == Some(from);
            took_it
                || self.in_the_hands_of(*seq, from).is_some()
                || self.waits_in_mailbox(*seq, from)
        };
        self.calls.under(caller, key).into_iter().find(was_asked)
    }

    /// An answer to nothing that was asked would be taken for one by those who know answers by their
    /// correlation alone. Peers of the bus correlate among themselves as they like.
    pub(super) fn may_answer_nothing(&self, origin: &Origin, send: &Send) -> Result<(), Refusal> {
        let (Kind::Response, Some(to)) = (send.kind, send.address.agent()) else { return Ok(()) };
        let takes_answers = |id: &ConnectionId| {
            self.registry.connection(*id).is_some_and(|one| one.door.answers_by_message())
        };
        let live = self.registry.connections_of(to);
        let known_by_answers = match live.is_empty() {
            // How it came last is how it will come back.
            true => {
                self.registry.introduction(to).is_some_and(|(_, door)| door.answers_by_message())
            }
            false => live.iter().any(takes_answers),
        };
        // In a mailbox each message names its sender, and nothing is taken for what it is not.
        let by_mail = origin.door == Door::Aacp && live.is_empty() && self.registry.has_mailbox(to);
        if by_mail || (!origin.door.answers_by_message() && !known_by_answers) {
            return Ok(());
        }
        Err(Refusal::NothingToAnswer {
            asker: to.clone(),
            correlation: send.correlation.clone().unwrap_or_default(),
        })
    }

    /// Whether this message lies in this agent's mailbox.
    fn waits_in_mailbox(&self, seq: u64, agent: &AgentId) -> bool {
        self.registry.has_mailbox(agent) && self.parking.get(&Topic::of_agent(agent), seq).is_some()
    }

    /// The delivery of this message that this agent has not decided.
    pub(super) fn in_the_hands_of(&self, seq: u64, agent: &AgentId) -> Option<DeliveryId> {
        let undecided = self.journeys.get(&seq)?.dispatch.undecided();
        undecided.into_iter().find(|id| {
            let open = self.deliveries.get(id);
            open.is_some_and(|open| open.role == Role::Handler && open.to.agent == *agent)
        })
    }

    /// A provider answers a request by a message of its own.
    pub(super) fn answer_call(
        &mut self,
        seq: u64,
        origin: Origin,
        mut send: Send,
        reply: Option<ReplyTo>,
    ) {
        let Some(call) = self.calls.get(seq) else { return };
        self.inherit(seq, &mut send);
        let topic = send.address.topic();
        let plan = self.plan(&Said::new(&origin, &send));
        if let Err(refusal) = self.has_room_for(&plan, &topic) {
            return respond(reply, Err(refusal));
        }
        let outcome = send.dialect.read_outcome(send.payload.as_str());
        let delivery = self.in_the_hands_of(seq, &origin.from);
        let answer = match outcome {
            Outcome::Partial { .. } => {
                self.calls.extend(seq, self.now.monotonic + self.settings.timeout);
                self.registry.touch(&origin.from, self.now);
                return self.pass_on(origin, send, plan, reply);
            }
            Outcome::Success(output) => {
                if let Err(refusal) = self.fits(&origin.from, call.capability(), &output) {
                    let from = origin.from.clone();
                    self.refuse(origin, send, refusal.clone(), None);
                    self.answer_is_bad(seq, &from, delivery, &refusal);
                    // What follows from it is on disk before its sender looks.
                    return self.promise(reply, Err(refusal));
                }
                answer(AttemptOutcome::Processed, None, Some(output))
            }
            Outcome::Failure(why) => answer(AttemptOutcome::Declined, Some(why.message), None),
        };
        let absorbed = !call.by_message && self.is_listening_to_acks(seq);
        if !absorbed {
            // The message itself is what the asker hears.
            self.calls.close(seq);
        }
        match delivery {
            Some(delivery) => self.take_answer(delivery, answer, true),
            None if self.waits_in_mailbox(seq, &origin.from) => {
                self.calls.close(seq);
                self.answered_from_mailbox(seq, &origin.from, answer);
            }
            None => {}
        }
        self.calls.close(seq);
        if absorbed || send.address.agent() == Some(&AgentId::operator()) {
            let Some(caller) = send.address.agent().cloned() else { return };
            let wait = send.wait;
            let message = self.take_in(origin, send);
            self.set_off_settled(&message, caller, reply.map(|reply| (reply, wait)));
        } else {
            self.pass_on(origin, send, plan, reply);
        }
    }

    /// The owner of a mailbox has answered a request that lay there.
    fn answered_from_mailbox(&mut self, seq: u64, by: &AgentId, answer: Answer) {
        let verdict = match answer.outcome {
            AttemptOutcome::Processed => Verdict::Processed(by.clone()),
            AttemptOutcome::Declined
            | AttemptOutcome::InvalidAnswer
            | AttemptOutcome::TimedOut
            | AttemptOutcome::Disconnected
            | AttemptOutcome::QueueFull
            | AttemptOutcome::Forbidden => Verdict::Dead {
                reason: DeadReason::DeclinedByAll,
                error: answer.message.unwrap_or_default(),
            },
        };
        self.conclude(seq, &Topic::of_agent(by), verdict);
    }

    fn pass_on(&mut self, origin: Origin, send: Send, plan: Plan, reply: Option<ReplyTo>) {
        let wait = send.wait;
        let message = self.take_in(origin, send);
        self.set_off(message, plan, reply.map(|reply| (reply, wait)), None);
    }

    /// An answer belongs to the conversation and the trace of its question.
    fn inherit(&self, seq: u64, send: &mut Send) {
        let Some(call) = self.calls.get(seq) else { return };
        let key = call.key();
        let asked = || ConversationId::parse(&key);
        send.conversation = call.conversation().cloned().or_else(asked);
        send.capability = call.capability().map(str::to_owned);
        send.correlation = Some(key);
        let mut context = send.context.as_deref().cloned().unwrap_or_default();
        if context.trace.is_none() {
            context.trace = Some(call.trace().child());
        }
        context.depth = context.depth.max(call.depth());
        send.context = Some(Arc::new(context));
    }

    /// Whether the asker still waits for the acknowledgement of its request.
    fn is_listening_to_acks(&self, seq: u64) -> bool {
        self.journeys.get(&seq).is_some_and(|journey| {
            let waits = matches!(&journey.reply, Some((_, Wait::FirstAttempts)));
            waits && journey.receipt.is_none()
        })
    }

    /// Whether what a provider gives back is what it said it would give back.
    fn fits(
        &self,
        provider: &AgentId,
        capability: Option<&str>,
        output: &Payload,
    ) -> Result<(), Refusal> {
        let offer = capability.and_then(|name| self.registry.offers(provider)?.get(name));
        let Some(offer) = offer.filter(|offer| !offer.output.accepts_all()) else { return Ok(()) };
        let capability = offer.capability.name.clone();
        let checked = offer.output.check(output.as_str());
        checked.map_err(|faults| Refusal::BadOutput { capability, faults })
    }

    /// The same for what comes back with an acknowledgement. Returns whether it fits; what does not
    /// counts as no answer.
    pub(super) fn check_output(
        &self,
        seq: u64,
        role: Role,
        agent: &AgentId,
        answer: &mut Answer,
    ) -> bool {
        if role != Role::Handler || answer.outcome != AttemptOutcome::Processed {
            return true;
        }
        let message = self.journeys.get(&seq).map(|one| &one.dispatch.message);
        let Some(message) = message.filter(|one| one.kind == Kind::Request) else { return true };
        let Some(output) = &answer.payload else { return true };
        match self.fits(agent, message.capability.as_deref(), output) {
            Ok(()) => true,
            Err(refusal) => {
                *answer =
                    self::answer(AttemptOutcome::InvalidAnswer, Some(refusal.to_string()), None);
                false
            }
        }
    }

    /// A bad answer reaches nobody: its sender has been told, and so is the one that asked.
    fn answer_is_bad(
        &mut self,
        seq: u64,
        from: &AgentId,
        delivery: Option<DeliveryId>,
        why: &Refusal,
    ) {
        match delivery {
            Some(delivery) => {
                let words = Some(why.to_string());
                let answer = answer(AttemptOutcome::InvalidAnswer, words, None);
                self.take_answer(delivery, answer, false);
            }
            None if self.waits_in_mailbox(seq, from) => {
                let (reason, error) = (DeadReason::InvalidAnswer, why.to_string());
                self.say_failed(seq, from, &error);
                self.conclude(seq, &Topic::of_agent(from), Verdict::Dead { reason, error });
            }
            None => self.call_failed(seq, "INVALID_ANSWER", &why.to_string()),
        }
    }

    /// Someone took a request, with or without an answer.
    pub(super) fn call_taken(
        &mut self,
        seq: u64,
        by: &AgentId,
        door: Door,
        output: Option<&Payload>,
    ) {
        let Some(call) = self.calls.get(seq) else { return };
        match output {
            None => self.note_taken(seq, by),
            Some(output) if call.by_message => {
                let Some(call) = self.calls.close(seq) else { return };
                let origin = Origin::of(by.clone(), door);
                self.tell_asker(&call, origin, &Outcome::Success(output.clone()));
            }
            Some(_) => drop(self.calls.close(seq)),
        }
    }

    /// A request has come to its end. One that died is news for whoever waits for the answer.
    pub(super) fn call_settled(&mut self, message: &Message, verdict: &Verdict) {
        match verdict {
            Verdict::Processed(_) => {}
            Verdict::Dead { reason, error } => {
                self.call_failed(message.seq, code_of(*reason), error);
            }
            Verdict::Expired => {
                self.call_failed(message.seq, "EXPIRED", "its time ran out before it was answered");
            }
        }
    }

    /// Tells whoever waits for a message that there is none to come. To a peer of the bus that has been
    /// told by its acknowledgement, one that was only slow may still answer.
    fn call_failed(&mut self, seq: u64, code: &str, words: &str) {
        let may_come = |call: &Call| !call.by_message && call.taken_by.is_some();
        if self.calls.get(seq).is_some_and(may_come) {
            return;
        }
        let Some(call) = self.calls.close(seq).filter(|call| call.by_message) else { return };
        let failure = Failure { code: code.to_owned(), message: words.to_owned(), details: None };
        let origin = Origin::of(AgentId::switchboard(), Door::Console);
        self.tell_asker(&call, origin, &Outcome::Failure(failure));
    }

    /// The provider itself said that it failed: whoever asked hears it, by whichever door.
    pub(super) fn say_failed(&mut self, seq: u64, by: &AgentId, words: &str) {
        let Some(call) = self.calls.close(seq) else { return };
        let failure =
            Failure { code: "DECLINED".to_owned(), message: words.to_owned(), details: None };
        let origin = Origin::of(by.clone(), Door::Aacp);
        self.tell_asker(&call, origin, &Outcome::Failure(failure));
    }

    /// Sends an answer in the place of one who answered in another way, or not at all.
    fn tell_asker(&mut self, call: &Call, origin: Origin, outcome: &Outcome) {
        let (trace, depth) = (Some(call.trace().child()), call.depth());
        let context = Some(Arc::new(Context { trace, depth, ..Context::default() }));
        let failed = matches!(outcome, Outcome::Failure(_));
        let dialect = Dialect::Collaboration;
        let send = Send {
            address: Address::Agent(call.caller().clone()),
            kind: Kind::Response,
            capability: call.capability().map(str::to_owned),
            priority: Priority::Normal,
            correlation: Some(call.key()),
            conversation: call.conversation().cloned(),
            payload: dialect.write_outcome(call.capability(), outcome),
            dialect,
            context,
            answer_within: None,
            // Who fetches its messages hears of it when it does.
            expires_at: (failed && !self.registry.has_mailbox(call.caller()))
                .then(|| self.now.wall.plus(NEWS_OF_FAILURE)),
            wait: Wait::Accepted,
        };
        let plan = self.plan(&Said::new(&origin, &send));
        self.pass_on(origin, send, plan, None);
    }

    /// Requests whose askers have waited long enough.
    pub(super) fn end_calls(&mut self) {
        while let Some(seq) = self.calls.take_due(self.now.monotonic) {
            let Some(call) = self.calls.get(seq) else { continue };
            let (topic, seconds) = (call.topic(), call.within().as_secs_f64());
            self.lose_silent(seq);
            self.conclude(seq, &topic, Verdict::not_answered(seconds));
            // Someone took it and never answered.
            self.call_failed(seq, "TIMEOUT", &format!("no answer within {seconds} s"));
        }
    }

    /// Those who have had a request in their hands all the time count as unavailable.
    fn lose_silent(&mut self, seq: u64) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        if journey.dispatch.state() != MessageState::Waiting {
            return;
        }
        for delivery in journey.dispatch.being_asked() {
            let Some(open) = self.deliveries.get(&delivery) else { continue };
            let silent = matches!(open.phase, Phase::Handed(_));
            if silent && open.to.door == Door::Collaboration {
                self.registry.lose(&open.to.agent.clone());
            }
        }
    }
}

fn answer(outcome: AttemptOutcome, message: Option<String>, payload: Option<Payload>) -> Answer {
    let again = Again::NotAsked;
    Answer { outcome, stop: false, stops_only_on_request: false, again, message, payload }
}

/// What an asker is told of a request that died.
fn code_of(reason: DeadReason) -> &'static str {
    match reason {
        DeadReason::TimedOut => "TIMEOUT",
        DeadReason::NobodySubscribed | DeadReason::AgentGone => "UNAVAILABLE",
        DeadReason::DeclinedByAll => "DECLINED",
        DeadReason::GaveUp => "FAILED",
        DeadReason::Expired => "EXPIRED",
        DeadReason::QueueFull => "BUSY",
        DeadReason::InvalidAnswer => "INVALID_ANSWER",
        DeadReason::Forbidden => "FORBIDDEN",
    }
}
