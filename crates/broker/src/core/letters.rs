//! What the operator does with one dead letter.

use switchboard_model::{
    Address, DeadMessage, DeadReason, Event, JobId, Kind, LetterStatus, MessageId, MessageState,
    Replay, Send, Wait,
};
use switchboard_store::{LetterRecord, Record};

use super::accept::Origin;
use super::permit::Said;
use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::replies::ReplyTo;
use crate::route::Plan;

/// A dead letter that another message was sent in the place of; it is open again if the disk does
/// not take that message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replaced {
    seq: u64,
    reason: DeadReason,
    job: Option<JobId>,
}

impl Replaced {
    /// The job that did it.
    pub(super) fn job(&self) -> Option<JobId> {
        self.job
    }
}

impl Core {
    pub(super) fn replay(&mut self, caller: Caller, replay: &Replay, reply: Option<ReplyTo>) {
        let outcome = operator_only(caller).and_then(|()| self.may_replay(replay));
        match outcome {
            Ok(planned) => self.send_in_place(planned, None, reply),
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    /// Whether the letter is still open, and the message that replaces it can be taken in: rules and
    /// schemas are asked as they are now.
    pub(super) fn may_replay(&self, replay: &Replay) -> Result<PlannedReplay, Refusal> {
        let message = &replay.letter.message;
        if !self.letters.contains(&message.seq) {
            return Err(Refusal::NoSuchLetter(message.id));
        }
        let (mut origin, mut send) = again(replay.clone());
        self.prepare(&origin, &mut send);
        self.permit(&mut origin, &send)?;
        let said = Said::new(&origin, &send);
        let plan = self.plan(&said);
        self.may_be_heard(&said, &plan)?;
        let topic = send.address.topic();
        self.has_room_for(&plan, &topic)?;
        Ok(PlannedReplay {
            seq: message.seq,
            reason: replay.letter.letter.reason,
            origin,
            send,
            plan,
        })
    }

    /// Sends a new message in the place of a letter. The letter is closed in the same write as the
    /// message: neither is on disk without the other.
    pub(super) fn send_in_place(
        &mut self,
        planned: PlannedReplay,
        job: Option<JobId>,
        reply: Option<ReplyTo>,
    ) {
        let PlannedReplay { seq, reason, origin, send, plan } = planned;
        let wait = send.wait;
        let new = self.take_in(origin, send);
        let replaced = Replaced { seq, reason, job };
        if let Some(job) = job {
            self.jobs.sent_one(job, new.seq);
        }
        self.close_replaced(&replaced, new.id);
        self.open_call(&new, &plan);
        self.set_off(new, plan, reply.map(|reply| (reply, wait)), Some(replaced));
    }

    fn close_replaced(&mut self, replaced: &Replaced, new: MessageId) {
        let Replaced { seq, reason, job } = *replaced;
        let from = state_of(reason);
        let closed = LetterRecord {
            message: seq,
            status: LetterStatus::Replayed,
            at: self.now.wall,
            replayed_as: Some(new),
            note: None,
            job,
        };
        // It is taken care of: its place is taken by a message that is accounted for by itself.
        let moved = self.moved(seq, from, MessageState::Processed);
        self.accepted.extend([Record::Letter(closed), moved]);
        self.letters.remove(&seq);
    }

    /// The disk did not take the message that was to replace it, which had come so far.
    pub(super) fn reopen_replaced(&mut self, replaced: Replaced, new: u64, came_to: MessageState) {
        let state = state_of(replaced.reason);
        // Nothing of it was written, so there is nothing to take back on disk.
        drop(self.moved(replaced.seq, MessageState::Processed, state));
        self.letters.insert(replaced.seq);
        if let Some(job) = replaced.job {
            self.jobs.undo_one(job, new, came_to, self.now.monotonic);
        }
    }

    /// Throws a letter away, if it is open.
    pub(super) fn discard(&mut self, letter: &DeadMessage, note: &str, job: JobId) -> bool {
        let seq = letter.message.seq;
        if !self.letters.remove(&seq) {
            return false;
        }
        self.discarded.insert(seq);
        let from = state_of(letter.letter.reason);
        self.change_letter(seq, LetterStatus::Discarded, Some(note), job);
        let moved = self.moved(seq, from, MessageState::Discarded);
        self.bookkeeping.push(moved);
        true
    }

    /// Takes back a letter that was thrown away.
    pub(super) fn restore_letter(&mut self, letter: &DeadMessage, job: JobId) -> bool {
        let seq = letter.message.seq;
        // What was read may be older than what has been done with it since.
        if !self.discarded.remove(&seq) {
            return false;
        }
        self.letters.insert(seq);
        let state = state_of(letter.letter.reason);
        self.change_letter(seq, LetterStatus::Open, None, job);
        let moved = self.moved(seq, MessageState::Discarded, state);
        self.bookkeeping.push(moved);
        true
    }

    fn change_letter(
        &mut self,
        message: u64,
        status: LetterStatus,
        note: Option<&str>,
        job: JobId,
    ) {
        self.bookkeeping.push(Record::Letter(LetterRecord {
            message,
            status,
            at: self.now.wall,
            replayed_as: None,
            note: note.map(str::to_owned),
            job: Some(job),
        }));
    }

    /// Moves a message from one state to another: in the totals, for those who watch, and in the
    /// record to be written.
    fn moved(&mut self, seq: u64, from: MessageState, state: MessageState) -> Record {
        for (state, more) in [(from, false), (state, true)] {
            let count = match state {
                MessageState::Waiting => &mut self.totals.waiting,
                MessageState::Processed => &mut self.totals.processed,
                MessageState::Dead | MessageState::Refused => &mut self.totals.dead,
                MessageState::Discarded => &mut self.totals.discarded,
                MessageState::Expired => &mut self.totals.expired,
            };
            *count = if more { *count + 1 } else { count.saturating_sub(1) };
        }
        let (to, took_micros, error, retry_at) = (None, None, None, None);
        self.tell(Event::Moved { seq, state, to, last_asked: None, took_micros, error, retry_at });
        let at = self.now.wall;
        Record::Settled { message: seq, from, state, at, to: None, error: None }
    }
}

/// The state of a message that died of this.
pub(super) fn state_of(reason: DeadReason) -> MessageState {
    match reason {
        DeadReason::Expired => MessageState::Expired,
        DeadReason::NobodySubscribed
        | DeadReason::DeclinedByAll
        | DeadReason::TimedOut
        | DeadReason::GaveUp
        | DeadReason::AgentGone
        | DeadReason::QueueFull
        | DeadReason::InvalidAnswer
        | DeadReason::Forbidden => MessageState::Dead,
    }
}

/// A letter that may be sent again, and how.
pub(super) struct PlannedReplay {
    seq: u64,
    reason: DeadReason,
    origin: Origin,
    send: Send,
    plan: Plan,
}

/// The message that is sent in the place of a letter.
pub(super) fn again(replay: Replay) -> (Origin, Send) {
    let Replay { letter: DeadMessage { message: old, .. }, topic, payload } = replay;
    let (address, kind) = match topic.map(Address::from) {
        None => (old.address, old.kind),
        Some(address @ Address::Agent(_)) => (address, Kind::Request),
        Some(address @ Address::Topic(_)) => (address, Kind::Event),
    };
    let payload = payload.unwrap_or(old.payload);
    // What it asks for is what its recipient will read, which need not be what it was.
    let capability = match kind {
        Kind::Request => old.dialect.read_call(payload.as_str()).capability.or(old.capability),
        Kind::Response | Kind::Event | Kind::Broadcast => old.capability,
    };
    let send = Send {
        capability: address.agent().and(capability),
        address,
        kind,
        priority: old.priority,
        correlation: old.correlation,
        conversation: old.conversation,
        payload,
        dialect: old.dialect,
        context: old.context,
        answer_within: None,
        // It was late once; it need not be again.
        expires_at: None,
        wait: Wait::FirstAttempts,
    };
    (Origin { replaces: Some(old.id), ..Origin::of(old.from, old.door) }, send)
}
